"""A Parquet file as rows, one row group at a time. Numbers keep all their digits. Dates and times become ISO 8601
texts, bytes base64.
"""

from __future__ import annotations

import math
from base64 import b64encode
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import orjson

from crowdd.features.imports.files.tables import column_names
from crowdd.features.imports.files.text import MAX_COLUMNS, MAX_ROWS
from crowdd.features.imports.prepared.rows_file import RowsFile, iso_duration
from crowdd.kernel.errors import InvalidValueError
from crowdd.kernel.languages import _
from crowdd.kernel.lazy import lazy

pyarrow = lazy("pyarrow", seldom=True, extra="data")
pyarrow_parquet = lazy("pyarrow.parquet", seldom=True, extra="data")

MAX_FOOTER = 16_000_000  # bytes that describe the file
MAX_GROUP = 300_000_000  # bytes of a row group, unpacked
BATCH = 500  # rows in Python at once
_END = 8  # bytes: the length of the footer, and a sign


def convert(source: Path, target: Path, about: dict[str, object], _sheet: str) -> None:
    """Writes the rows of a file.

    Raises InvalidValueError for one that cannot be read, and where pyarrow is not installed.
    """
    _require_small_footer(source)
    try:
        _write(source, target, about)
    except (OSError, ValueError, TypeError, NotImplementedError, KeyError, pyarrow.ArrowException) as error:
        if isinstance(error, InvalidValueError):
            raise
        raise InvalidValueError(_("The Parquet file is damaged or in a form that is not supported.")) from None


def _require_small_footer(source: Path) -> None:
    with source.open("rb") as file:
        file.seek(-_END, 2)
        if int.from_bytes(file.read(4), "little") > min(MAX_FOOTER, source.stat().st_size):
            raise InvalidValueError(_("The Parquet file is damaged or in a form that is not supported."))


def _write(source: Path, target: Path, about: dict[str, object]) -> None:
    file = pyarrow_parquet.ParquetFile(
        str(source), pre_buffer=False, thrift_string_size_limit=MAX_FOOTER, thrift_container_size_limit=1_000_000
    )
    _require_bounded(file)
    names = column_names(file.schema_arrow.names)
    if len(names) > MAX_COLUMNS:
        raise InvalidValueError(_("The file has more than %(maximum)s columns.", maximum=MAX_COLUMNS))
    out = RowsFile(target, about)
    for rows, row in enumerate(_rows(file), 1):
        if rows > MAX_ROWS:
            raise _too_many_rows(rows)
        out.add(dict(zip(names, row, strict=True)) if any(cell not in (None, "") for cell in row) else [])
    out.close()


def _require_bounded(file: Any) -> None:
    """Raises InvalidValueError for a file that says it is too large."""
    metadata = file.metadata
    if metadata.num_rows > MAX_ROWS:
        raise _too_many_rows(metadata.num_rows)
    for group in range(metadata.num_row_groups):
        size = metadata.row_group(group).total_byte_size
        if not 0 <= size <= MAX_GROUP:
            words = _(
                "A row group of the Parquet file has %(bytes)s bytes. At most %(max)s are read. Write it with smaller"
                " row groups.",
                bytes=f"{size:,}",
                max=f"{MAX_GROUP:,}",
            )
            raise InvalidValueError(words)


def _too_many_rows(rows: int) -> InvalidValueError:
    words = _(
        "The file has %(rows)s rows. At most %(max)s are imported. Split it.", rows=f"{rows:,}", max=f"{MAX_ROWS:,}"
    )
    return InvalidValueError(words)


def _rows(file: Any) -> Iterator[tuple[Any, ...]]:
    for group in range(file.metadata.num_row_groups):
        for batch in file.iter_batches(batch_size=BATCH, row_groups=[group], use_threads=False):
            yield from zip(*(_column(batch.column(n)) for n in range(batch.num_columns)), strict=True)


def _column(column: Any) -> list[Any]:
    """The values of a column as JSON; times in nanoseconds as texts, because Python has none."""
    types = pyarrow.types
    if types.is_timestamp(column.type) and column.type.unit == "ns":
        zone = "Z" if column.type.tz else ""
        return [None if ns is None else _moment(ns, zone) for ns in column.cast(pyarrow.int64()).to_pylist()]
    values: list[Any] = column.to_pylist()
    plain = types.is_string(column.type) or types.is_large_string(column.type) or types.is_boolean(column.type)
    return values if plain else [_value(value) for value in values]


def _moment(nanoseconds: int, zone: str) -> str:
    seconds, rest = divmod(nanoseconds, 10**9)
    text = datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None).isoformat()
    return f"{text}.{rest:09}".rstrip("0").rstrip(".") + zone if rest else text + zone


def _value(cell: object) -> Any:
    """A value as JSON."""
    if isinstance(cell, bool) or cell is None or isinstance(cell, str):
        return cell
    if isinstance(cell, int):
        return cell
    if isinstance(cell, Decimal):
        return orjson.Fragment(format(cell, "f")) if cell.is_finite() else None
    if isinstance(cell, float):
        return cell if math.isfinite(cell) else None
    if isinstance(cell, Mapping):
        return {str(name): _value(value) for name, value in cell.items()}
    if isinstance(cell, list | tuple):
        return [_value(each) for each in cell]
    return _text(cell)


def _text(cell: object) -> str:
    if isinstance(cell, datetime | date | time):
        text = cell.isoformat()
        return f"{text[:-6]}Z" if text.endswith("+00:00") else text
    if isinstance(cell, timedelta):
        return iso_duration(cell)
    return b64encode(cell).decode() if isinstance(cell, bytes) else str(cell)
