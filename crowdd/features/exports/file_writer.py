"""Write files of exports: CSV, JSON, GeoJSON, Parquet, workbooks, what other programs read, and what has changed."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from functools import partial
from typing import Final

import attrs
import orjson

from crowdd.core.text.words import csv_cell
from crowdd.database.access import Database, Reading
from crowdd.database.copying import Copies, Piece
from crowdd.features.exports import changes, data_files, statements, table_statements, workbook_contents, workbooks
from crowdd.features.exports.annotations.annotation_format import Answer
from crowdd.features.exports.annotations.registry import annotation_formats
from crowdd.features.exports.changes import NOT_FOLLOWED, Cursor
from crowdd.features.exports.column_statements import Column
from crowdd.features.exports.data_files import DataFile, dictionary
from crowdd.features.exports.exported_columns import Tables, nobody
from crowdd.features.exports.formats import (
    DATA_FORMATS,
    DICTIONARY,
    GEOJSON,
    SEPARATORS,
    ExportFile,
)
from crowdd.features.exports.spools import DownloadLimits, KeptSpools
from crowdd.kernel.concurrency.throttling import Turns
from crowdd.kernel.concurrency.worker_thread import WorkerThread
from crowdd.kinds.result import RESULT

EARLY: Final = 0.1  # seconds after which the beginning leaves alone
Sink = Callable[[bytes, int], None]
"""Takes a part of a file and how many rows are in it."""
Known = Callable[[Sequence[Column]], Awaitable[bytes]]
"""What a file begins with whose first columns are these, whatever comes behind them."""
PART, PART_BYTES = 10_000, 250_000  # rows of one write at most, and bytes after which it ends
_BOM = b"\xef\xbb\xbf"


class Head:
    """A sink for a file whose columns may take long to find out."""

    def __init__(self, known: Known, sink: Sink) -> None:
        self._known, self._sink = known, sink
        self._until = time.monotonic() + EARLY
        self._first: Sequence[Column] = ()
        self._is_out = False
        self._sent = b""  # of the parts that are still to come

    async def wait(self, columns: Sequence[Column]) -> None:
        """Sends the beginning if it has taken long. ``columns`` are the first ones; [] if they were told before."""
        self._first = self._first or columns
        if self._is_out or not self._first or time.monotonic() <= self._until:
            return
        self._is_out = True
        self._sent = await self._known(self._first)
        self._sink(self._sent, 0)

    def write(self, part: bytes, rows: int) -> None:
        """Takes the whole file, and passes on what has not left. Raises RuntimeError if it begins otherwise."""
        if self._sent:
            n = min(len(part), len(self._sent))
            if part[:n] != self._sent[:n]:
                raise RuntimeError("The file does not begin with the bytes that were sent.")
            part, self._sent = part[n:], self._sent[n:]
        self._sink(part, rows)


@attrs.frozen
class Resources:
    """What all downloads of a process share."""

    reading: Reading
    copies: Copies
    turns: Turns
    limits: DownloadLimits
    kept: KeptSpools

    async def pieces(self, tx: Database, lines: statements.Lines) -> AsyncGenerator[Piece, None]:
        """The lines of a file as of the moment of a transaction; each piece has its turn."""
        copy = await lines.open(self.copies, tx)
        try:
            while (piece := await self.turns.run("", partial(copy.next, PART, PART_BYTES))) is not None:
                yield piece
        finally:
            copy.close()


class FileWriter:
    """Writes a file in a transaction, in parts. ``worker_thread``: where Parquet, Arrow and workbooks are made."""

    def __init__(self, resources: Resources, base_url: str, worker_thread: WorkerThread) -> None:
        self._resources, self._base_url, self._worker_thread = resources, base_url, worker_thread
        self._tables = Tables(resources.turns)

    async def write(self, tx: Database, file: ExportFile, sink: Sink) -> None:
        """Writes a file. Raises InvalidValueError when a table would have too many columns."""
        await statements.begin(tx)
        if file.since is not None:
            await self._changes(tx, file, file.since, sink)
        elif file.format in DATA_FORMATS:
            await self._data(tx, file, sink)
        elif file.format == "csv":
            await self._csv(tx, file, sink)
        elif file.format == "xlsx":
            await self._workbook(tx, file, sink)
        elif file.format == GEOJSON:
            await self._geojson(tx, file, sink)
        elif file.format in annotation_formats():
            await self._annotations(tx, file, sink)
        elif file.format == DICTIONARY:
            sink(dictionary(file, await self._tables.of(tx, file, typed=True)), 0)
        else:
            await self._json(tx, file, sink)

    async def _geojson(self, tx: Database, file: ExportFile, sink: Sink) -> None:
        begin, table = b'{"type":"FeatureCollection","features":[\n', await self._tables.of(tx, file, typed=False)
        rows = await self._lines(tx, table.as_features(b",\n"), sink, begin)
        sink(b"\n]}\n" if rows else begin + b"]}\n", 0)

    async def _json(self, tx: Database, file: ExportFile, sink: Sink) -> None:
        array = file.format == "json"
        begin, between = (b"[\n", b",\n") if array else (b"", b"\n")

        async def known(columns: Sequence[Column]) -> bytes:
            line = await statements.table(file.kind, file.chosen, columns).begins(tx)
            return begin + line if line else b""

        if file.is_flat:
            head = Head(known, sink)
            lines, sink = (await self._tables.of(tx, file, typed=False, waits=head.wait)).as_json(between), head.write
        else:
            lines = statements.as_json(file.kind, file.roles, self._base_url, file.chosen, between)
        rows = await self._lines(tx, lines, sink, begin)
        sink((b"\n]\n" if rows else b"[]\n") if array else b"\n" if rows else b"", 0)

    async def _changes(self, tx: Database, file: ExportFile, cursor: Cursor, sink: Sink) -> None:
        async def write_lines(lines: statements.Lines) -> int:
            return await self._lines(tx, lines, sink)

        def rows(chosen: statements.Chosen) -> statements.Lines:
            return statements.as_json(file.kind, file.roles, self._base_url, chosen, b"\n", NOT_FOLLOWED)

        sink(await changes.write(tx, cursor, file.chosen, rows, write_lines), 0)

    async def _csv(self, tx: Database, file: ExportFile, sink: Sink) -> None:
        async def known(columns: Sequence[Column]) -> bytes:
            return _names(file, columns)

        head = Head(known, sink)
        table = await self._tables.of(tx, file, typed=False, waits=head.wait)
        head.write(_names(file, table.columns) + b"\r\n", 0)
        if await self._lines(
            tx, table.as_csv(raw=file.options.raw, separator=SEPARATORS[file.options.separator]), head.write
        ):
            sink(b"\r\n", 0)

    async def _data(self, tx: Database, file: ExportFile, sink: Sink) -> None:
        await self._worker_thread.do(data_files.require_pyarrow)

        async def known(columns: Sequence[Column]) -> bytes:
            return data_files.MAGIC[file.format]

        head, do = Head(known, sink), self._worker_thread.do
        table = await self._tables.of(tx, file, typed=True, waits=head.wait)
        out = DataFile(file.format, table.columns)
        head.write(await do(out.begin), 0)

        def add(piece: Piece) -> tuple[bytes, int]:
            return out.add(piece.content + b"\n"), piece.rows

        async with (
            aclosing(self._resources.pieces(tx, table.as_exact_csv())) as pieces,
            aclosing(self._worker_thread.do_each(add, pieces)) as parts,
        ):
            async for part, rows in parts:
                head.write(part, rows)
        sink(await do(out.end), 0)

    async def _annotations(self, tx: Database, file: ExportFile, sink: Sink) -> None:
        out, do = annotation_formats()[file.format].writer(file.asked), self._worker_thread.do
        sink(await do(out.begin), 0)

        def add(piece: Piece) -> tuple[bytes, int]:
            return b"".join(out.add(Answer.of(orjson.loads(line))) for line in piece.content.split(b"\n")), piece.rows

        lines = table_statements.select_said(file.chosen, results=file.kind is RESULT).as_json(b"\n")
        async with (
            aclosing(self._resources.pieces(tx, lines)) as pieces,
            aclosing(self._worker_thread.do_each(add, pieces)) as parts,
        ):
            async for part, rows in parts:
                sink(part, rows)
        last = out.end()
        while part := await do(next, last, b""):
            sink(part, 0)

    async def _workbook(self, tx: Database, file: ExportFile, sink: Sink) -> None:
        await self._worker_thread.do(workbooks.require_xlsxwriter)

        async def known(columns: Sequence[Column]) -> bytes:
            return workbooks.MAGIC

        head, do = Head(known, sink), self._worker_thread.do
        book, sheets = workbooks.Workbook(), list[tuple[str, statements.Table]]()
        for each in file.sheets or [file]:
            waits = nobody if sheets else head.wait
            table = workbook_contents.arranged(each, await self._tables.of(tx, each, typed=True, waits=waits))
            name = workbook_contents.name_of(each)
            sheets.append((name, table))
            head.write(await do(book.begin_sheet, name, table.columns), 0)

            def add(piece: Piece) -> tuple[bytes, int]:
                return book.add(piece.content, piece.rows), piece.rows

            async with (
                aclosing(self._resources.pieces(tx, table.as_sheet(workbooks.MAX_ROWS))) as pieces,
                aclosing(self._worker_thread.do_each(add, pieces)) as parts,
            ):
                async for part, rows in parts:
                    head.write(part, rows)
        sink(await do(book.end, [workbook_contents.questions(file), workbook_contents.columns(sheets)]), 0)

    async def _lines(self, tx: Database, lines: statements.Lines, sink: Sink, begin: bytes = b"") -> int:
        rows = 0
        async with aclosing(self._resources.pieces(tx, lines)) as pieces:
            async for piece in pieces:
                sink((lines.between if rows else begin) + piece.content, piece.rows)
                rows += piece.rows
        return rows


def _names(file: ExportFile, columns: Sequence[Column]) -> bytes:
    """What a CSV file begins with: the headings of its columns."""
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=SEPARATORS[file.options.separator]).writerow(
        [csv_cell(column.heading, raw=file.options.raw) for column in columns]
    )
    # The mark says UTF-8 to spreadsheets; programs that read "utf-8-sig" do not see it.
    return (_BOM if file.options.bom else b"") + text.getvalue().removesuffix("\r\n").encode()
