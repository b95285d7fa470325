"""Limits of one row of a file, which bound memory and how far damage can reach."""

from __future__ import annotations

import csv

MAX_ROW_BYTES = 1_000_000  # in UTF-8
MAX_ROW_LINES = 1_000
MAX_ROWS = 2_000_000  # of a file: what has been seen of it takes 16 bytes a row
MAX_COLUMNS = 500
SHOWN_CHARACTERS = 200  # of a refused row

# A setting of the whole process: a cell may be as long as its row.
csv.field_size_limit(max(csv.field_size_limit(), MAX_ROW_BYTES))


def size_of(text: str) -> int:
    """How many bytes a text takes in UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


class Credit:
    """How many characters may be read more than once in search of the end of a damaged row.

    It grows with what has been read, so that the time for a file is proportional to its length, whatever is in it.
    """

    START = 8_000_000
    RATE = 8

    def __init__(self) -> None:
        self._left = self.START

    def earn(self, characters: int) -> None:
        """Count characters that were read for the first time."""
        self._left = min(self.START, self._left + self.RATE * characters)

    def spend(self, characters: int) -> None:
        """Count characters that have to be read again."""
        self._left -= characters

    @property
    def exhausted(self) -> bool:
        """Whether nothing may be read again for now."""
        return self._left <= 0
