"""Writes the file of rows that a workbook, a data frame and the like are turned into (``task_files.prepared_rows``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import orjson

from crowdd.domain.transfer.task_files.limits import MAX_ROW_BYTES, SHOWN_CHARACTERS
from crowdd.errors import InvalidValueError
from crowdd.languages import _

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
