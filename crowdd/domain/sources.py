"""Files that people bring, row by row: CSV, JSON (an array of objects), NDJSON (an object in each line).

Nothing is read whole: a row has at most MOST_BYTES, over however many lines it goes, and what cannot be used of it is
an error of that row. Only what makes every row doubtful refuses the file (InvalidValueError). Everything here waits for
the disk: call it in a thread.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import attrs
import orjson

from crowdd.errors import InvalidValueError
from crowdd.languages import _

FORMATS = ("csv", "json", "ndjson")
MOST_BYTES = 1_000_000  # of one row
MOST_COLUMNS = 500
_PIECE = 65_536
_SHOWN = 200  # characters of a refused row that are kept
_BOM = b"\xef\xbb\xbf"
_DELIMITERS = (",", ";", "\t")
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|["\[\]{},]', re.DOTALL)
_OTHERS = (
    (b"\xff\xfe", _("The file is UTF-16. Save it as UTF-8.")),
    (b"\xfe\xff", _("The file is UTF-16. Save it as UTF-8.")),
    (b"PK\x03\x04", _("The file is a workbook or an archive. Save its table as CSV.")),
    (b"\xd0\xcf\x11\xe0", _("The file is an old workbook. Save its table as CSV.")),
    (b"\x1f\x8b", _("The file is compressed. Unpack it first.")),
    (b"%PDF", _("The file is a PDF. Tasks come as CSV or JSON.")),
)


@attrs.frozen
class Line:
    """One row: where it begins (a line of the file, or which element of the array), its values by column, or why not.

    ``text`` is how a refused one begins.
    """

    number: int
    values: dict[str, Any] | None = None
    error: str = ""
    text: str = ""


@attrs.frozen
class Inspected:
    """What a file holds: its columns in order, its first rows, and how many rows it has, refused ones too."""

    format: str
    columns: list[str]
    sample: list[dict[str, Any]]
    rows: int


def format_of(head: bytes) -> str:
    """The format of a file that begins like this. Raises InvalidValueError for what is none of ours."""
    for begin, words in _OTHERS:
        if head.startswith(begin):
            raise InvalidValueError(words)
    text = head.removeprefix(_BOM).lstrip()
    if not text:
        raise InvalidValueError(_("The file is empty."))
    if b"\x00" in text[:100]:
        raise InvalidValueError(_("The file is no text in UTF-8. Save it as UTF-8."))
    return {b"[": "json", b"{": "ndjson"}.get(text[:1], "csv")


def inspect(path: Path, most_shown: int) -> Inspected:
    """Reads a file once from end to end. Raises InvalidValueError when nothing of it can be used."""
    with path.open("rb") as file:
        format_ = format_of(file.read(4096))
        file.seek(0)
        columns: dict[str, None] = {}
        sample: list[dict[str, Any]] = []
        rows, last = 0, Line(0)
        for line in lines(format_, file):
            rows += 1
            last = line if line.error else last
            if line.values is not None and (len(sample) < most_shown or len(columns) < MOST_COLUMNS):
                columns |= dict.fromkeys(islice(line.values, MOST_COLUMNS))
                sample += [line.values] if len(sample) < most_shown else []
    if not rows:
        raise InvalidValueError(_("The file has no rows."))
    if not sample:
        raise InvalidValueError(_("No row of the file can be used. The last one: %(reason)s", reason=last.error))
    return Inspected(format_, list(columns)[:MOST_COLUMNS], sample, rows)


def lines(format_: str, file: BinaryIO) -> Iterator[Line]:
    """The rows of a file that is at its beginning."""
    if file.read(3) != _BOM:
        file.seek(0)
    return {"csv": _csv, "json": _json, "ndjson": _ndjson}[format_](file)


def _csv(file: BinaryIO) -> Iterator[Line]:
    texts = _Texts(file)
    try:
        first = next(texts, "")
    except _RefusedError as refused:
        raise InvalidValueError(_("The first line %(reason)s.", reason=refused.args[0])) from None
    delimiter = max(_DELIMITERS, key=re.sub('"[^"]*"', "", first).count)
    names = _names(next(csv.reader([first], delimiter=delimiter), []))
    table = csv.reader(texts, delimiter=delimiter)
    while True:
        begun = texts.begin_row()
        try:
            cells = next(table)
        except StopIteration:
            return
        except _RefusedError as refused:
            texts.pass_row()
            yield Line(begun, error=_("It %(reason)s.", reason=refused.args[0]))
        except csv.Error as error:
            yield Line(
                begun,
                error=_("It cannot be read (%(reason)s). Is a quotation mark missing?", reason=str(error)),
                text=texts.last[:_SHOWN],
            )
        else:
            if cells and len(cells) != len(names):
                words = _("It has %(cells)s cells, the first line %(columns)s.", cells=len(cells), columns=len(names))
                yield Line(begun, error=words, text=delimiter.join(cells)[:_SHOWN])
            elif cells:
                yield Line(begun, dict(zip(names, cells, strict=True)))


def _names(cells: list[str]) -> list[str]:
    names = [cell.strip() for cell in cells]
    if not any(names):
        raise InvalidValueError(_("The first line names no columns."))
    if "" in names:
        raise InvalidValueError(_("Column %(number)s has no name in the first line.", number=names.index("") + 1))
    if len({*names}) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidValueError(_("Two columns are called %(name)s.", name=twice[:100]))
    if len(names) > MOST_COLUMNS:
        raise InvalidValueError(_("The file has more than %(most)s columns.", most=MOST_COLUMNS))
    return names


class _RefusedError(Exception):
    """A line of a file is no text, or too long."""


class _Texts:
    """The lines of a file as texts; one that is none raises, and the next call goes on behind it.

    Quotation marks make several lines one row. It is bounded here, before the parser keeps it: a row that gets longer
    than MOST_BYTES raises as well.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._lines = _bounded(file)
        self.number, self.last = 0, ""
        self._bytes, self._quotes, self._too_long = 0, 0, False  # of the row so far

    def __iter__(self) -> Iterator[str]:
        return self

    def begin_row(self) -> int:
        """The line at which the next row begins."""
        self._bytes, self._quotes, self._too_long = 0, 0, False
        return self.number + 1

    def pass_row(self) -> None:
        """Passes over the rest of a row that was too long: to the line that closes its last quotation mark."""
        while self._too_long and self._quotes % 2 and (piece := next(self._lines, b"")) != b"":
            self.number += 1
            self._quotes += piece.count(b'"') if piece is not None else 0

    def __next__(self) -> str:
        piece = next(self._lines)
        self.number += 1
        if piece is not None:
            self._bytes += len(piece)
            self._quotes += piece.count(b'"')
            self._too_long = self._bytes > MOST_BYTES
        if piece is None or self._too_long:
            raise _RefusedError(_("is longer than %(most)s bytes", most=f"{MOST_BYTES:,}"))
        try:
            self.last = piece.decode()
        except UnicodeDecodeError:
            raise _RefusedError(_("is not UTF-8")) from None
        return self.last


def _bounded(file: BinaryIO) -> Iterator[bytes | None]:
    """Each line; None for one that is too long, which is passed over."""
    while piece := file.readline(MOST_BYTES + 1):
        if len(piece) <= MOST_BYTES or piece.endswith(b"\n"):
            yield piece
            continue
        while (rest := file.readline(_PIECE)) and not rest.endswith(b"\n"):
            pass
        yield None


def _ndjson(file: BinaryIO) -> Iterator[Line]:
    for number, piece in enumerate(_bounded(file), 1):
        if piece is None:
            yield Line(number, error=_("It is longer than %(most)s bytes.", most=f"{MOST_BYTES:,}"))
        elif piece.strip():
            yield _object(number, piece)


def _json(file: BinaryIO) -> Iterator[Line]:
    for number, piece in enumerate(elements(file), 1):
        yield _object(number, piece)


def _object(number: int, piece: bytes) -> Line:
    text = piece[: 4 * _SHOWN].decode("utf-8", "replace").strip()[:_SHOWN]
    try:
        value = orjson.loads(piece)
    except orjson.JSONDecodeError as error:
        return Line(number, error=_("It is not JSON: %(reason)s.", reason=str(error)), text=text)
    if not isinstance(value, dict):
        return Line(number, error=_("It is no JSON object."), text=text)
    return Line(number, value)


def elements(file: BinaryIO) -> Iterator[bytes]:
    """The elements of the JSON array that a file holds, as they stand there; what is in them is not judged.

    Raises InvalidValueError for a file that is no array, or whose element is longer than MOST_BYTES.
    """
    buffer = file.read(_PIECE).lstrip()
    if not buffer.startswith(b"["):
        raise InvalidValueError(_("The file is no JSON array."))
    start, at, depth, seen = 1, 1, 0, False
    while True:
        found = _TOKEN.search(buffer, at)
        if found is None or found[0] == b'"':  # the buffer may end within a text
            at = len(buffer) if found is None else found.start()
            more = file.read(_PIECE)
            if not more:
                raise InvalidValueError(_("The file ends before its array does."))
            if len(buffer) - start > MOST_BYTES:
                raise InvalidValueError(_("An element is longer than %(most)s bytes.", most=f"{MOST_BYTES:,}"))
            buffer, at, start = buffer[start:] + more, at - start, 0
            continue
        at, token = found.end(), found[0][:1]
        if token in b"[{":
            depth += 1
        elif depth and token in b"]}":
            depth -= 1
        elif not depth and token in b",]}":
            piece = buffer[start : found.start()]
            if seen or token == b"," or piece.strip():
                seen = True
                yield piece
            if token != b",":
                return _require_end(token, buffer[at:], file)
            start = at


def _require_end(token: bytes, rest: bytes, file: BinaryIO) -> None:
    if token != b"]" or rest.strip() or file.read(_PIECE).strip():
        raise InvalidValueError(_("Something stands behind the JSON array."))
