"""Detect how a file is to be read, and what it holds."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import BinaryIO

import attrs
import orjson

from crowdd.features.imports.files.containers import (
    container_of,
    is_coco,
    is_geojson,
    is_gpx,
    is_iiif,
    object_words,
    require_not_binary,
    require_table,
    require_text,
)
from crowdd.features.imports.files.decimal_commas import CommaColumns
from crowdd.features.imports.files.dialect import PREPARED, TABLES, Dialect
from crowdd.features.imports.files.reading import read_about, read_rows
from crowdd.features.imports.files.rows import FileRow, undecodable
from crowdd.features.imports.files.tables import DELIMITER_LINE, detect_delimiter, header_line, looks_like_data
from crowdd.features.imports.files.text import MAX_COLUMNS, decode_pieces, detect_encoding
from crowdd.kernel import exact_json
from crowdd.kernel.errors import InvalidValueError
from crowdd.kernel.languages import _
from crowdd.kernel.values import Values

_HEAD = 65_536  # bytes whose beginning tells other kinds of files
_SAMPLE = 131_072  # characters
_LINES = 200
_ARRAY = re.compile(r"\s*\[\s*(?:[\[\]{\",\d-]|true\b|false\b|null\b|\Z)")


def detect(path: Path) -> Dialect:
    """How a file is to be read. Raises InvalidValueError for files of other kinds, with what to do instead.

    TooLargeError for a workbook that unpacks to too much.
    """
    if container := container_of(path):
        return Dialect(container)
    with path.open("rb") as file:
        head = file.read(_HEAD)
        require_text(head)
        if head.startswith((b"\xff\xfe\x00\x00", b"\x00\x00\xfe\xff")):
            raise InvalidValueError(_("The file is UTF-32. Save it as UTF-8."))
        encoding = detect_encoding(file)
        text = _beginning(file, encoding)
    require_not_binary(text)
    if not text.strip():
        raise InvalidValueError(_("The file is empty."))
    begin = text.lstrip()[:1]
    if begin == "[" and _is_array(text):
        return Dialect("json", encoding)
    if begin == "{":
        return _objects(text, encoding)
    if is_gpx(text):
        return Dialect("gpx")
    require_table(text)
    lines = _whole_lines(text)
    delimiter = detect_delimiter(lines)
    return Dialect("csv", encoding, delimiter, line=_named_line(lines, delimiter))


def _named_line(lines: Sequence[str], delimiter: str) -> int:
    """The line of a table with the names of its columns, if titles stand above it, or else 0."""
    named = header_line(cells for line in lines for cells in csv.reader([line], delimiter=delimiter))
    above = [line.strip(f" \t\r\n{delimiter}") for line in lines[: named - 1]]
    return named if any(above) and not any(map(DELIMITER_LINE.fullmatch, lines[:1])) else 0


def _beginning(file: BinaryIO, encoding: str) -> str:
    """The first characters of the file, blanks in front of them not counted."""
    file.seek(0)
    text = ""
    for piece in decode_pieces(file, encoding):
        text = text.lstrip(" \t\r\n") + piece if not text.strip() else text + piece
        if len(text) >= _SAMPLE and text.strip():
            break
    return text[:_SAMPLE]


def _whole_lines(text: str) -> Sequence[str]:
    """The first lines of the file, without one that the sample cuts off."""
    lines = list(islice(io.StringIO(text, newline=""), _LINES + 1))
    cut = len(lines) > 1 and len(text) >= _SAMPLE and len(lines) <= _LINES
    return lines[:-1] if cut else lines[:_LINES]


def _is_array(text: str) -> bool:
    """Whether what begins with a bracket is JSON, and not a table whose first column is called [something]."""
    return _ARRAY.match(text) is not None


def _objects(text: str, encoding: str) -> Dialect:
    """NDJSON, IIIF or COCO, unless the file is one object: over many lines, or on one, rather a document than a row."""
    lines = [line for line in _whole_lines(text) if line.strip()]
    good = sum(map(_is_object, lines))
    if good * (5 if _is_object(lines[0]) else 2) < len(lines) or (len(lines) == 1 and _is_document(lines[0])):
        if is_iiif(text):
            return Dialect("iiif")
        if is_geojson(text):
            return Dialect("geojson")
        if is_coco(text):
            return Dialect("coco")
        raise InvalidValueError(object_words(text))
    return Dialect("ndjson", encoding)


def _is_object(line: str) -> bool:
    """Whether a line is a JSON object, or would be one without NaN, which its row says."""
    try:
        return isinstance(orjson.loads(line), dict)
    except orjson.JSONDecodeError as error:
        return line.lstrip().startswith("{") and bool(exact_json.non_finite(error))


def _is_document(line: str) -> bool:
    """Whether an object holds rows itself: a list of objects, or what GeoJSON and IIIF have."""
    try:
        values = orjson.loads(line)
    except orjson.JSONDecodeError:
        return False
    lists = (value for value in values.values() if isinstance(value, list))
    return "features" in values or "@context" in values or any(isinstance(e, dict) for each in lists for e in each)


DOUBTS = ("one_column", "no_header", "encoding", "rows_in_cell", "decimal_commas")
"""What an owner is asked: whether a file with one column has another delimiter; whether the first line, which looks
like data, names the columns; whether the letters are right; whether a cell that looks like several rows is one; whether
numbers with a decimal comma become numbers."""
_CERTAIN = frozenset({"utf-8", "utf-8-sig", "utf-16"})


@attrs.frozen
class Inspected:
    """What a file holds: its columns in order, its first rows, and how many rows it has.

    ``rows`` are good and ``refused`` ones; ``empty`` ones are counted apart. ``doubts`` are some of DOUBTS, which the
    owner should look at before the import. ``sheets`` are those of a workbook: ``name``, ``hidden``, its ``rows``,
    and whether it is the one that was read (``chosen``). ``blank`` are columns without a name and a value.
    """

    dialect: Dialect
    columns: list[str]
    sample: list[Values]
    rows: int
    refused: int
    empty: int
    doubts: tuple[str, ...] = ()
    sheets: tuple[Values, ...] = ()
    blank: tuple[str, ...] = ()


class _Sum:
    """What has been seen of a file."""

    def __init__(self, dialect: Dialect, max_shown: int) -> None:
        self._dialect, self._max_shown = dialect, max_shown
        self.columns: dict[str, None] = {}
        self.blank = set[str]()
        self.sample: list[Values] = []
        self.good = self.refused = self.empty = 0
        self.last_error = ""
        self._undecodable = False
        self._commas = CommaColumns() if dialect.format in TABLES else None
        self._grows, self._may_hide_rows = dialect.format not in TABLES, dialect.format == "csv"

    def add(self, row: FileRow) -> None:
        """Counts a row."""
        if row.empty:
            self.empty += 1
        elif row.values is None:
            self.refused += 1
            self.last_error = row.error
            self._undecodable = self._undecodable or row.error == undecodable()
        else:
            self.good += 1
            self._look_at(row.values)

    def _look_at(self, values: Values) -> None:
        if len(self.sample) < self._max_shown:
            self.sample.append(values)
        if self.good == 1 or (
            self._grows and len(self.columns) < MAX_COLUMNS and not values.keys() <= self.columns.keys()
        ):
            self.columns |= dict.fromkeys(islice(values, MAX_COLUMNS))
            if self._dialect.format in TABLES:
                self.blank = {name for nth, name in enumerate(values, 1) if name == f"column_{nth}"}
        if self.blank:
            self.blank = {name for name in self.blank if values.get(name) in ("", None)}
        if self._commas is not None:
            self._commas.look_at(values)
        if self._may_hide_rows:
            self._may_hide_rows = not _hides_rows(values, self._dialect.delimiter)

    def commas(self) -> dict[str, bool]:
        """The columns with decimal commas, and whether they become numbers."""
        texts = dict.fromkeys(self._commas.names() if self._commas else (), False)
        return texts | {name: True for name, wanted in self._dialect.commas.items() if wanted and name in self.columns}

    def doubts(self, first: list[str]) -> Iterator[str]:
        """The doubts of a file; ``first`` are the cells of its first line, where it is a table."""
        if self._dialect.format == "csv" and len(self.columns) == 1:
            yield "one_column"
        if self._dialect.header and looks_like_data(first):
            yield "no_header"
        if self._dialect.encoding not in _CERTAIN or self._undecodable:
            yield "encoding"
        if self._dialect.format == "csv" and not self._may_hide_rows:
            yield "rows_in_cell"
        if not all(self.commas().values()):
            yield "decimal_commas"


def inspect(
    path: Path,
    max_shown: int,
    dialect: Dialect | None = None,
    each: Callable[[FileRow], None] | None = None,
) -> Inspected:
    """Reads a file once from end to end, calling ``each`` with every row. What is no text has been turned into rows.

    Raises InvalidValueError when nothing of it can be used.
    """
    dialect = dialect or detect(path)
    seen = _Sum(dialect, max_shown)
    with path.open("rb") as file:
        for row in read_rows(dialect, file):
            seen.add(row)
            if each is not None:
                each(row)
    if not seen.good + seen.refused:
        raise InvalidValueError(_("The file has no rows."))
    if not seen.good:
        raise InvalidValueError(_("No row of the file can be used. The last one: %(reason)s", reason=seen.last_error))
    columns = list(seen.columns)[:MAX_COLUMNS]
    rows, doubts = seen.good + seen.refused, tuple(seen.doubts(_first_cells(path, dialect)))
    description = read_about(path) if dialect.format in PREPARED else {}
    line = dialect.line or int(description.get("line", 0))
    read = attrs.evolve(dialect, sheet=description.get("sheet", ""), line=line, commas=seen.commas())
    sheets = tuple({**sheet, "chosen": sheet["name"] == read.sheet} for sheet in description.get("sheets", ()))
    return Inspected(
        read, columns, seen.sample, rows, seen.refused, seen.empty, doubts, sheets, tuple(sorted(seen.blank))
    )


def _first_cells(path: Path, dialect: Dialect) -> list[str]:
    """The cells of the first line, which may name the columns."""
    if dialect.format not in TABLES:
        return ["name"]
    with path.open("rb") as file:
        first = next(read_rows(attrs.evolve(dialect, header=False, names={}), file), None)
    return [str(value) for value in (first.values or {}).values()] if first else []


def _hides_rows(values: Mapping[str, object], delimiter: str) -> bool:
    """Whether a cell has the delimiters of as many rows as lines: a stray quotation mark may have joined them."""
    for value in values.values():
        if not isinstance(value, str):
            continue
        breaks = value.count("\n")
        if breaks and len(values) > 1 and value.count(delimiter) == breaks * (len(values) - 1):
            return True
    return False
