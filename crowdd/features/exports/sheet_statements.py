"""Cells of workbooks (SpreadsheetML), which PostgreSQL makes of the columns of a row t with its number ``sheet_row``.

An empty cell is left out. Texts are strings, whatever they begin with. Numbers of more than 15 digits, which a
spreadsheet would round, are texts.
"""

from __future__ import annotations

from typing import Final

from crowdd.core.text.words import column_letters
from crowdd.features.exports.column_statements import Column

HEADING, DAY, TIME, LINK = 1, 2, 3, 4
"""The styles of cells, by their numbers in the file."""
_EPOCH: Final = 25_569  # 1970-01-01, in days


def value(column: Column) -> str:
    """An expression: the value of a column that its cell is made of by a function; "" where none is needed.

    PostgreSQL puts the text of a function in place of its call where the argument is simple. It is made once, and
    looked at several times.
    """
    if column.type in ("timestamp", "boolean", "number"):
        return ""
    if column.type == "json":
        return f"({column.sql})::jsonb"
    return f"({column.text})::text" if column.type in ("integer", "decimal") else column.text


def cell(column: Column, nth: int, value: str) -> str:
    """An expression: the cell of a column that is the nth one, from 0; null for an empty one. ``value``: as above."""
    return f"""('<c r="{column_letters(nth)}' || t.sheet_row || '"' || {_rest(column, value)})"""


def _rest(column: Column, value: str) -> str:
    match column.type:
        case "timestamp":
            days = f"(extract(epoch FROM {column.sql})::float8 / 86400 + {_EPOCH})"
            return f"""' s="{TIME}"><v>' || {days}::text || '</v></c>'"""
        case "boolean":
            return f"""' t="b"><v>' || ({column.text})::boolean::int::text || '</v></c>'"""
        case "number":
            return f"'><v>' || {column.text} || '</v></c>'"
        case "integer" | "decimal":
            return f"sheet_number({value})"
        case "json":
            return f"sheet_value({value})"
    function = {"day": "sheet_day", "link": "sheet_link"}.get(column.shown, "sheet_text")
    return f"{function}({value})"
