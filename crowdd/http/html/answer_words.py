"""What answers and task data say, as a text: JSON values as words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Final

import orjson
from babel import Locale

from crowdd.kinds.questions.format import VERSION_KEY

NOTHING: Final = "–"
"""What stands for null, an empty text, an empty array and an empty object."""
MAX_ITEMS: Final = 20  # of an array or object
_MAX_KEYS: Final = 8  # of answers, as columns
_MAX_CHARACTERS: Final = 200  # of a text among others
_OF_MARKS: Final = ({"selector"}, {"x", "y"}, {"points"}, {"geometry"}, {"start", "end"})  # one of these is in each
_COMMAS: Final[Mapping[str, str]] = {"ar": "، "}
_MAX_DEPTH: Final = 3  # arrays and objects in each other; what lies deeper is shown as JSON


def in_words(value: object, say: Callable[[str], str], locale: Locale) -> str:
    """A JSON value as people read it: "Yes" for true, "fox, owl" for an array, "kind: fox, age: 3" for an object.

    Texts and numbers stay as they are. ``say`` translates.
    """
    return value or NOTHING if isinstance(value, str) else _within(value, say, locale, 0)


def alone(info: object) -> object:
    """The value of an answer that has only one; otherwise the answer. The version of its questions is no part of it."""
    if isinstance(info, dict) and VERSION_KEY in info:
        info = {key: value for key, value in info.items() if key != VERSION_KEY}
    return next(iter(info.values())) if isinstance(info, dict) and len(info) == 1 else info


def marks_of(value: object) -> list[str] | None:
    """What each mark of an answer says: its label or text, "" without one. None for what is no list of marks."""
    if not isinstance(value, list) or not value or not all(isinstance(one, dict) and _is_mark(one) for one in value):
        return None
    return [str(one.get("label") or one.get("text") or "") for one in value]


def lines_of(value: object) -> str | None:
    """The text of a transcription, its lines parted by slashes. None for what is no list of lines."""
    if not isinstance(value, list) or not value or not all(isinstance(one, dict) and _is_line(one) for one in value):
        return None
    return " / ".join(one["text"] for one in value)


def _is_line(one: dict[str, object]) -> bool:
    return isinstance(one.get("text"), str) and not {"start", "end"} & one.keys()


def _is_mark(one: dict[str, object]) -> bool:
    return any(names <= one.keys() for names in _OF_MARKS)


def asked_keys(info: Mapping[str, object] | None) -> list[str]:
    """The keys of a project's answers that its answer fields declare, in their order; null there says "can't tell"."""
    fields = (info or {}).get("answers")
    if not isinstance(fields, list):
        return []
    declared = [str(field.get("at", "")) for field in fields if isinstance(field, dict)]
    return [at[1:] for at in declared if at.count("/") == 1 and "~" not in at]


def answer_keys(infos: Iterable[object], first: Iterable[str] = ()) -> list[str]:
    """The keys of answers, at most 8: ``first``, as far as they are found, then the others in the order found.

    None if an answer is not an object or all are empty. The version of the questions is no key.
    """
    keys: dict[str, None] = {}
    for info in infos:
        if not isinstance(info, dict):
            return []
        keys |= dict.fromkeys(info)
    keys.pop(VERSION_KEY, None)
    known = [key for key in first if key in keys]
    return [*dict.fromkeys([*known, *keys])][:_MAX_KEYS]


def _within(value: object, say: Callable[[str], str], locale: Locale, depth: int) -> str:
    if value is None or value in ("", [], {}):
        return NOTHING
    if isinstance(value, bool):
        return say("Yes") if value else say("No")
    if isinstance(value, str):
        return _short(value)
    if not isinstance(value, (list, dict)):
        return orjson.dumps(value).decode()
    if depth >= _MAX_DEPTH:
        return _short(orjson.dumps(value).decode())
    more = [] if len(value) <= MAX_ITEMS else ["…"]
    parts = [*islice(_parts(value, say, locale, depth), MAX_ITEMS), *more]
    joined = _COMMAS.get(locale.language, ", ").join(parts)
    bare = depth == 0 or (isinstance(value, list) and len(parts) == 1)
    return joined if bare else f"({joined})"


def _parts(
    value: list[object] | dict[str, object], say: Callable[[str], str], locale: Locale, depth: int
) -> Iterator[str]:
    if isinstance(value, list):
        return (_within(one, say, locale, depth + 1) for one in value)
    return (f"{_short(name)}: {_within(one, say, locale, depth + 1)}" for name, one in value.items())


def _short(text: str) -> str:
    return text if len(text) <= _MAX_CHARACTERS else f"{text[: _MAX_CHARACTERS - 1]}…"
