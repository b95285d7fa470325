"""All rows of a project in one download, as they are at one moment, and what has changed since."""

from __future__ import annotations

import codecs
import io
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from crowdd_client.errors import IncompleteError, InvalidValueError
from crowdd_client.optional import optional
from crowdd_client.table import Record, Table
from crowdd_client.transport import Transport
from crowdd_client.values import exact_number

if TYPE_CHECKING:
    import pandas
    import polars

TYPES = {"tasks": "task", "answers": "task_run", "results": "result"}
"""What can be followed, and what it is called in addresses."""
FILES = TYPES | {"consensus": "consensus", "volunteers": "volunteer", "events": "event", "marks": "task_run"}
What = Literal["tasks", "answers", "results"]
WhatFile = Literal["tasks", "answers", "results", "consensus", "volunteers", "events", "marks"]
Format = Literal["csv", "json", "ndjson", "parquet", "arrow", "xlsx"]
_BETWEEN = " \t\r\n,["


class Export(Table):
    """The export of a project: its rows while they arrive, or a file.

    Owners may export always, others if the project is open (``zip_download``). Iterating keeps one part of the download
    in memory, whatever its size. DataFrames are made of the Parquet file, so their types are those of the server.
    """

    def __init__(self, transport: Transport, project_id: int, what: WhatFile) -> None:
        if what not in FILES:
            raise ValueError(f"An export has one of {', '.join(FILES)} (got {what!r}).")
        self._transport, self.name = transport, what
        self._path = f"/api/project/{project_id}/export"
        self._query: dict[str, object] = {"type": FILES[what], "rows": "mark" if what == "marks" else None}

    def _read(self) -> Iterator[Record]:
        with self._transport.stream(self._path, {**self._query, "format": "json"}) as parts:
            yield from elements(parts)

    def to_pandas(self) -> pandas.DataFrame:
        """The file as a DataFrame of pandas, whose types know missing values. Needs ``crowdd-client[pandas]``.

        A server without Parquet sends rows, of which columns are made as by ``Table.to_pandas``.
        """
        library = optional("pandas", "pandas")
        optional("pyarrow", "pandas")
        file = self._parquet()
        if file is None:
            return super().to_pandas()
        frame: pandas.DataFrame = library.read_parquet(file, dtype_backend="numpy_nullable")
        return frame

    def to_polars(self) -> polars.DataFrame:
        """The same as a DataFrame of polars. Needs ``crowdd-client[polars]``."""
        library = optional("polars", "polars")
        file = self._parquet()
        if file is None:
            return super().to_polars()
        frame: polars.DataFrame = library.read_parquet(file)
        return frame

    def _parquet(self) -> io.BytesIO | None:
        """The file; None where the server lacks the libraries."""
        try:
            with self._transport.stream(self._path, {**self._query, "format": "parquet"}) as parts:
                return io.BytesIO(b"".join(parts))
        except InvalidValueError as error:
            if error.error_code != "not_installed":
                raise
            return None

    def save(self, path: str | Path, format: Format = "csv", *, raw: bool = False) -> int:
        """Writes the file, and returns how many bytes it has. The file is there only when it is complete.

        In CSV, texts that a spreadsheet would read as formulas begin with an apostrophe, unless ``raw``.
        """
        target, size = Path(path), 0
        draft = target.with_name(f"{target.name}.part")
        query = {**self._query, "format": format, "raw": 1 if raw else None}
        try:
            with self._transport.stream(self._path, query) as parts, draft.open("wb") as file:
                for part in parts:
                    size += file.write(part)
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)
        return size


class Changes:
    """New and changed rows, and ``{"id": …, "deleted": True}`` for each deleted row, from ``cursor`` on.

    Iterating reads them once, in constant memory. After the last one, ``cursor`` is the place behind them. Iterating
    again reads what has changed since. If it ends with an error, ``cursor`` is as before.
    """

    def __init__(self, transport: Transport, project_id: int, what: What, cursor: str = "") -> None:
        if what not in TYPES:
            raise ValueError(f"Changes are those of {', '.join(TYPES)} (got {what!r}).")
        self._transport, self._path, self._type = transport, f"/api/project/{project_id}/export", TYPES[what]
        self.cursor = cursor

    def __iter__(self) -> Iterator[Record]:
        query = {"type": self._type, "format": "ndjson", "since": self.cursor}
        cursor = ""
        with self._transport.stream(self._path, query) as parts:
            for line in lines(parts):
                row = json.loads(line, parse_float=exact_number)
                if "cursor" in row:
                    cursor = row["cursor"]
                else:
                    yield row
        if not cursor:
            raise IncompleteError("The response ended before its last line. Read the changes again.")
        self.cursor = cursor

    def apply(self, rows: dict[int, Record]) -> int:
        """Brings a copy of the rows, by their ids, up to date; returns how many lines there were.

        With an empty ``cursor`` the copy is emptied first.
        """
        n = 0
        if not self.cursor:
            rows.clear()
        for row in self:
            n += 1
            if row.get("deleted") is True:
                rows.pop(row["id"], None)
            else:
                rows[row["id"]] = row
        return n


def lines(parts: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of a response that arrives in parts; one without its end is left out."""
    rest = b""
    for part in parts:
        *whole, rest = (rest + part).split(b"\n")
        yield from filter(None, whole)


def elements(parts: Iterable[bytes]) -> Iterator[Record]:
    """The objects of a JSON array that arrives in parts. Raises IncompleteError when its end is missing."""
    decoder, text, utf8 = json.JSONDecoder(parse_float=exact_number), "", codecs.getincrementaldecoder("utf-8")()
    for part in parts:
        text += utf8.decode(part)
        at = 0
        while True:
            at = _begin(text, at)
            if at == len(text) or text[at] == "]":
                break
            try:
                row, at = decoder.raw_decode(text, at)
            except ValueError:
                break
            yield row
        text = text[at:]
    if text.strip() != "]":
        raise IncompleteError("The download ended before the file did. Start it again.")


def _begin(text: str, at: int) -> int:
    """Where the next element begins, or the end of the text."""
    while at < len(text) and text[at] in _BETWEEN:
        at += 1
    return at
