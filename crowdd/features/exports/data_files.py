"""Parquet and Arrow files, made of lines in pieces, and their data dictionary.

No row becomes a Python object: pyarrow reads each piece as CSV with the types of the columns and writes it as a batch.
What a file has in memory is one row group. The dictionary says of each column what it is, and where its name and type
come from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import orjson

from crowdd.features.exports.column_statements import Column
from crowdd.features.exports.formats import ExportFile
from crowdd.features.exports.output import Output
from crowdd.features.exports.statements import Table
from crowdd.kernel.lazy import lazy
from crowdd.kernel.values import Values
from crowdd.kinds.answers import AnswerField

pyarrow = lazy("pyarrow", seldom=True, extra="data")
pyarrow_csv = lazy("pyarrow.csv", seldom=True)
pyarrow_ipc = lazy("pyarrow.ipc", seldom=True)
pyarrow_parquet = lazy("pyarrow.parquet", seldom=True)

_GROUP_BYTES: Final = 16_000_000  # of lines, after which a row group ends
_MAX_LINES: Final = 2**30  # bytes of one piece
MAGIC: Final[Mapping[str, bytes]] = {"parquet": b"PAR1", "arrow": b"ARROW1\0\0"}
"""What a file of a format begins with."""


def require_pyarrow() -> None:
    """Passes where pyarrow is installed. Raises InvalidValueError. The first call imports it, so it is for a thread."""
    pyarrow.schema([])


class DataFile:
    """A file of a format that is written in batches. Its functions are called in a thread, one at a time."""

    def __init__(self, format_: str, columns: Sequence[Column]) -> None:
        self._schema = pyarrow.schema(
            [_field(column, name) for column, name in zip(columns, _names(columns), strict=True)]
        )
        self._out = Output()
        self._format = format_
        self._writer: Any = None
        self._waiting: list[object] = []
        self._bytes = 0

    def begin(self) -> bytes:
        """The first bytes."""
        if self._format == "parquet":
            self._writer = pyarrow_parquet.ParquetWriter(
                self._out, self._schema, compression="zstd", write_statistics=True
            )
        else:
            options = pyarrow_ipc.IpcWriteOptions(compression="zstd")
            self._writer = pyarrow_ipc.new_file(self._out, self._schema, options=options)
        return self._out.taken()

    def add(self, lines: bytes) -> bytes:
        """Takes further lines; what can be written now."""
        self._waiting.append(self._read(lines))
        self._bytes += len(lines)
        if self._bytes >= _GROUP_BYTES:
            self._write()
        return self._out.taken()

    def end(self) -> bytes:
        """The last bytes."""
        self._write()
        self._writer.close()
        return self._out.taken()

    def _read(self, lines: bytes) -> object:
        names = [str(n) for n in range(len(self._schema))]
        types = {name: field.type for name, field in zip(names, self._schema, strict=True)}
        read = pyarrow_csv.read_csv(
            pyarrow.BufferReader(lines),
            read_options=pyarrow_csv.ReadOptions(
                column_names=names, block_size=min(len(lines) + 1, _MAX_LINES), use_threads=False
            ),
            parse_options=pyarrow_csv.ParseOptions(newlines_in_values=True, double_quote=True),
            convert_options=pyarrow_csv.ConvertOptions(
                column_types=types,
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
                true_values=["true"],
                false_values=["false"],
                timestamp_parsers=[pyarrow_csv.ISO8601],
            ),
        )
        return read.rename_columns(self._schema.names).cast(self._schema)

    def _write(self) -> None:
        if not self._waiting:
            return
        group = pyarrow.concat_tables(self._waiting)
        self._waiting, self._bytes = [], 0
        if self._format == "parquet":
            self._writer.write_table(group, row_group_size=len(group))
        else:
            self._writer.write_table(group)


def _names(columns: Sequence[Column]) -> list[str]:
    """The names of the columns, each once."""
    names: dict[str, None] = {}
    for column in columns:
        name, n = column.name, 1
        while name in names:
            n += 1
            name = f"{column.name}_{n}"
        names[name] = None
    return list(names)


def _field(column: Column, name: str) -> object:
    types = {
        "integer": pyarrow.int64(),
        "number": pyarrow.float64(),
        "boolean": pyarrow.bool_(),
        "timestamp": pyarrow.timestamp("us", tz="UTC"),
    }
    about = {"crowdd.type": column.type, **({"description": column.about} if column.about else {})}
    return pyarrow.field(name, types.get(column.type, pyarrow.string()), metadata=about)


TYPES: Final[Mapping[str, str]] = {
    "integer": "A whole number of at most 64 bits.",
    "number": "A number that a double (IEEE 754) has exactly.",
    "decimal": "A number as text, because no other type has all values exactly.",
    "boolean": "true or false.",
    "text": "A text.",
    "timestamp": "A time in UTC (ISO 8601).",
    "json": "Any JSON value, as text.",
}
ORIGINS: Final[Mapping[str, str]] = {
    "attribute": "An attribute of the API.",
    "declared": "A declared answer field, with the type that is declared.",
    "values": "A key of info. The type is that of all values.",
    "computed": "Made for the file.",
}


def dictionary(file: ExportFile, table: Table) -> bytes:
    """It as JSON."""
    fields = {field.path[0]: field for field in file.fields if len(field.path) == 1}
    columns = [
        {
            "name": column.name,
            "type": column.type,
            "description": column.about,
            "origin": column.origin,
            **_declared(fields.get(column.name.removeprefix("info_")) if column.name.startswith("info_") else None),
        }
        for column in table.columns
    ]
    used = {column.type for column in table.columns}
    about: Values = {
        "project_id": file.chosen.project_id,
        "rows": file.options.rows,
        "description": file.kind.doc,
        "columns": columns,
        "types": {name: words for name, words in TYPES.items() if name in used},
        "origins": ORIGINS,
    }
    return orjson.dumps(about, option=orjson.OPT_INDENT_2) + b"\n"


def _declared(field: AnswerField | None) -> Values:
    """What the declaration of an answer field says."""
    if field is None:
        return {}
    choices: Values = {} if field.choices is None else {"choices": list(field.choices)}
    limits = {name: value for name, value in (("min", field.min), ("max", field.max)) if value is not None}
    return {"answer_field": field.name, "answer_type": field.type, **choices, **limits}
