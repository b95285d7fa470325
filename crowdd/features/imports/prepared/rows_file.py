"""Write the file of rows that a workbook or data frame is turned into, and lengths of time in it as texts.

``crowdd.features.imports.files.reading`` reads this file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path

import orjson

from crowdd.features.imports.files.text import MAX_ROW_BYTES, SHOWN_CHARACTERS
from crowdd.kernel.errors import InvalidValueError
from crowdd.kernel.languages import _

MAX_BYTES = 500_000_000  # of all rows


class RowsFile:
    """A file of rows: a line about the file, and a line of JSON for each row, written in order."""

    def __init__(self, path: Path, about: Mapping[str, object], max_bytes: int = MAX_BYTES) -> None:
        self._file, self._bytes, self._max_bytes = path.open("wb"), 0, max_bytes
        self.write(orjson.dumps(about))

    def add(self, row: Mapping[str, object] | Sequence[object]) -> None:
        """A row: its values by column, or its cells. Raises InvalidValueError when the rows take too much space."""
        line = orjson.dumps(row, default=str, option=orjson.OPT_NON_STR_KEYS)
        if len(line) > MAX_ROW_BYTES:
            self.refuse(_("It is longer than %(maximum)s bytes.", maximum=f"{MAX_ROW_BYTES:,}"), line[:1000])
            return
        self.write(line)

    def refuse(self, reason: str, beginning: bytes = b"") -> None:
        """A row that cannot be used, with how it begins."""
        text = beginning.decode("utf-8", "replace")[:SHOWN_CHARACTERS]
        self.write(orjson.dumps({"": reason, "text": text}).replace(b"{", b"!{", 1))

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def write(self, line: bytes) -> None:
        """A line as it is, without its end."""
        self._bytes += len(line) + 1
        if self._bytes > self._max_bytes:
            raise InvalidValueError(_("The rows of the file take more than %(max)s bytes.", max=f"{self._max_bytes:,}"))
        self._file.write(line + b"\n")


def iso_duration(value: timedelta) -> str:
    """As ISO 8601 has durations, in hours, minutes and seconds: PT36H."""
    sign, seconds = ("-", -value.total_seconds()) if value < timedelta() else ("", value.total_seconds())
    hours, rest = divmod(seconds, 3600)
    minutes, seconds = divmod(rest, 60)
    parts = [f"{number:g}{unit}" for number, unit in ((hours, "H"), (minutes, "M"), (round(seconds, 3), "S")) if number]
    return f"{sign}PT{''.join(parts) or '0S'}"
