"""Cells of tables that a spreadsheet may open."""

from __future__ import annotations

import re
from datetime import datetime

import orjson

from crowdd.kinds.types import iso

_ACTIVE = re.compile(r"[\s\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n|%]")
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")


def harmless(text: str) -> str:
    """The text, with an apostrophe before what a spreadsheet takes for the beginning of a formula; numbers stay."""
    return f"'{text}" if _ACTIVE.match(text) and not _NUMBER.fullmatch(text) else text


def cell(value: object, *, raw: bool = False) -> str:
    """A JSON value or a time as the text of a cell; ``raw`` leaves texts as they are."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case str():
            return value if raw else harmless(value)
        case datetime():
            return iso(value)
        case int() | float():
            return str(value)
    return orjson.dumps(value, default=str).decode()
