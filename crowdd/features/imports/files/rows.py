"""One row of a file, good or refused."""

from __future__ import annotations

from typing import NamedTuple

import orjson

from crowdd.features.imports.files.text import LONG_LINE, MAX_ROW_BYTES, SHOWN_CHARACTERS, UNDECODABLE
from crowdd.kernel import exact_json
from crowdd.kernel.languages import _
from crowdd.kernel.values import Values

_READABLE = {ord(UNDECODABLE): "\N{REPLACEMENT CHARACTER}", ord(LONG_LINE): None}


class FileRow(NamedTuple):
    """One row: where it begins (a line of the file, or which element of the array), its values by column, or why not.

    ``text`` is how a refused row begins. ``empty``: all its cells are empty, so it is left out. A tuple, because a file
    has many: an attrs class takes three times as long to make.
    """

    number: int
    values: Values | None = None
    error: str = ""
    text: str = ""
    empty: bool = False


def readable(text: str) -> str:
    """The text with the usual sign in place of bytes that could not be decoded."""
    return text.translate(_READABLE)


def refused(number: int, error: str, text: str = "") -> FileRow:
    """A row that is refused, with the beginning of its text."""
    return FileRow(number, error=error, text=readable(text[: 2 * SHOWN_CHARACTERS]).strip()[:SHOWN_CHARACTERS])


def undecodable() -> str:
    """The reason for a row in which bytes could not be decoded."""
    return _("It contains bytes that are not valid in the encoding of the file.")


def too_long() -> str:
    """The reason for a row that is too long."""
    return _("It is longer than %(maximum)s bytes.", maximum=f"{MAX_ROW_BYTES:,}")


def mark_of(text: str) -> str:
    """Why a text cannot be used: bytes that could not be decoded, a line that is too long; "" where it can."""
    if LONG_LINE in text:
        return too_long()
    return undecodable() if UNDECODABLE in text else ""


def object_row(number: int, text: str) -> FileRow:
    """The row of a JSON object."""
    if flaw := mark_of(text):
        return refused(number, flaw, text)
    try:
        value = exact_json.loads(text)
    except orjson.JSONDecodeError as error:
        return refused(number, _("It is not JSON: %(reason)s.", reason=exact_json.reason(error)), text)
    return FileRow(number, value) if isinstance(value, dict) else refused(number, _("It is not a JSON object."), text)
