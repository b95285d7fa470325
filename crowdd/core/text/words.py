"""Small helpers for texts: CSV cells safe in spreadsheets, page positions, relative times, one-letter typing errors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final, TypedDict

import orjson

from crowdd.kinds.types import iso

_ACTIVE = re.compile(r"[\s\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n|%]")
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")


def escape_formula(text: str) -> str:
    """The text, with an apostrophe before what a spreadsheet takes for the beginning of a formula; numbers stay."""
    return f"'{text}" if _ACTIVE.match(text) and not _NUMBER.fullmatch(text) else text


def csv_cell(value: object, *, raw: bool = False) -> str:
    """A JSON value or a time as the text of a cell; ``raw`` leaves texts as they are."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case str():
            return value if raw else escape_formula(value)
        case datetime():
            return iso(value)
        case int() | float():
            return str(value)
    return orjson.dumps(value, default=str).decode()


class PlacePagination(TypedDict):
    """A page that has a number, or that begins at a row: then ``page`` is None. ``prev`` and ``next`` as below."""

    page: int | None
    per_page: int
    total: int
    prev: bool
    next: bool


class Pagination(TypedDict):
    """The page number must be 1 or more. ``prev`` and ``next`` say whether there is a page on that side."""

    page: int
    per_page: int
    total: int
    prev: bool
    next: bool


_STEPS = (
    (60, "second", 1),
    (3600, "minute", 60),
    (86400, "hour", 3600),
    (604800, "day", 86400),
    (2592000, "week", 604800),
)


def ago(moment: datetime | None, now: datetime | None = None) -> str | None:
    """ "2 hours ago" for a moment; None for none."""
    if moment is None:
        return None
    seconds = max(0, int(((now or datetime.now(UTC)) - moment).total_seconds()))
    for below, unit, size in _STEPS:
        if seconds < below:
            return _count(seconds // size, unit)
    if seconds < 31536000:
        return _count(seconds // 2592000, "month")
    return _count(seconds // 31536000, "year")


def _count(number: int, unit: str) -> str:
    return f"{number} {unit}{'' if number == 1 else 's'} ago"


MIN_SWAPPED: Final = 4  # characters of a word that is looked for with letters in another order
MIN_LENGTH: Final = 5  # and of one with a letter missing, too many or wrong; shorter ones come close to too many words
MAX_LENGTH: Final = 20


def slip_pattern(word: str) -> str:
    """What a word with one slip may mean: alternatives of a regular expression, for PostgreSQL and Python alike.

    Two neighbouring letters in the other order, a letter missing (not the first), one too many, or another one. "" for
    a very short or long word, and one that is not letters and digits alone.
    """
    if not MIN_SWAPPED <= len(word) <= MAX_LENGTH or not word.isalnum():
        return ""
    return "|".join(other for other in dict.fromkeys(_alternatives(word)) if other != word)


def _alternatives(word: str) -> Iterator[str]:
    for at in range(len(word) - 1):
        yield word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    if len(word) < MIN_LENGTH:
        return
    for at in range(len(word)):
        yield rf"{word[:at]}\w{word[at + 1 :]}"
        yield word[:at] + word[at + 1 :]
        if at:
            yield rf"{word[:at]}\w{word[at:]}"


def column_letters(nth: int) -> str:
    """What spreadsheets call the nth column, from 0: A, B … Z, AA …"""
    name = ""
    nth += 1
    while nth:
        nth, place = divmod(nth - 1, 26)
        name = chr(ord("A") + place) + name
    return name
