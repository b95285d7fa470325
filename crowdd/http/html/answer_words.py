"""What answers and task data say, as a text: JSON values as words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Final

import orjson
from babel import Locale

NOTHING: Final = "–"
"""What stands for null, an empty text, an empty array and an empty object."""
MAX_ITEMS: Final = 20  # of an array or object
_MAX_KEYS: Final = 8  # of answers, as columns
_MAX_CHARACTERS: Final = 200  # of a text among others
_COMMAS: Final[Mapping[str, str]] = {"ar": "، "}
_MAX_DEPTH: Final = 3  # arrays and objects in each other; what lies deeper is shown as JSON


def in_words(value: object, say: Callable[[str], str], locale: Locale) -> str:
    """A JSON value as people read it: "Yes" for true, "fox, owl" for an array, "kind: fox, age: 3" for an object.

    Texts and numbers stay as they are. ``say`` translates.
    """
    return value or NOTHING if isinstance(value, str) else _within(value, say, locale, 0)


def alone(info: object) -> object:
    """The value of an answer that has only one; otherwise the answer."""
    return next(iter(info.values())) if isinstance(info, dict) and len(info) == 1 else info


def answer_keys(infos: Iterable[object]) -> list[str]:
    """The keys of answers, in the order found, at most 8; none if an answer is not an object or all are empty."""
    found: dict[str, None] = {}
    for info in infos:
        if not isinstance(info, dict):
            return []
        found |= dict.fromkeys(info)
    return list(found)[:_MAX_KEYS]


def _within(value: object, say: Callable[[str], str], locale: Locale, depth: int) -> str:
    if value is None or value in ("", [], {}):
        return NOTHING
    if isinstance(value, bool):
        return say("Yes") if value else say("No")
    if isinstance(value, str):
        return _short(value)
    if not isinstance(value, (list, dict)):
        return str(value)
    if depth >= _MAX_DEPTH:
        return _short(orjson.dumps(value).decode())
    more = [] if len(value) <= MAX_ITEMS else ["…"]
    parts = [*islice(_parts(value, say, locale, depth), MAX_ITEMS), *more]
    joined = _COMMAS.get(locale.language, ", ").join(parts)
    return f"({joined})" if depth else joined


def _parts(
    value: list[object] | dict[str, object], say: Callable[[str], str], locale: Locale, depth: int
) -> Iterator[str]:
    if isinstance(value, list):
        return (_within(one, say, locale, depth + 1) for one in value)
    return (f"{_short(name)}: {_within(one, say, locale, depth + 1)}" for name, one in value.items())


def _short(text: str) -> str:
    return text if len(text) <= _MAX_CHARACTERS else f"{text[: _MAX_CHARACTERS - 1]}…"
