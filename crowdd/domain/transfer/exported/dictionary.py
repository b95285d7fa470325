"""The data dictionary of a file: its columns, what each is, and where name and type come from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import orjson

from crowdd.domain.transfer.exported.export_file import ExportFile
from crowdd.kinds.answers import AnswerField
from crowdd.storage.transfer.exports import Table
from crowdd.values import Values

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
