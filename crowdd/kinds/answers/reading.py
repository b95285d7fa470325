"""Reads the values of answer fields from stored answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeGuard

from crowdd.kernel.values import Values
from crowdd.kinds.answers.fields import AnswerField, Choice, folded, is_choice, key
from crowdd.kinds.questions.options import is_day, is_number

MARKS: Final = frozenset({"boxes", "points", "spans", "areas", "lines", "places"})
"""Types whose values are marks, which may have labels."""
_DATE: Final = re.compile(r"[0-9]{4}(-[0-9]{2}){0,2}")
MISSING: Final = object()
"""What stands at a place that an answer does not have."""


def value_at(info: object, path: Sequence[str]) -> object:
    """The value that a JSON pointer leads to, or MISSING. Parts are keys of objects and places in arrays."""
    for part in path:
        if isinstance(info, dict) and part in info:
            info = info[part]
        elif isinstance(info, list) and part.isascii() and part.isdecimal() and int(part) < len(info):
            info = info[int(part)]
        else:
            return MISSING
    return info


def fits(field: AnswerField, info: object) -> bool:
    """Whether an answer has a value of the field's type, and one of its choices.

    A null or an empty array on the way to the value is one there: "can't tell" and "nothing there" stand in place of
    all marks.
    """
    value = value_at(info, field.path)
    if value is MISSING:
        above = (value_at(info, field.path[:depth]) for depth in range(1, len(field.path)))
        value = next((each for each in above if each is None or (field.nothing and each == [])), MISSING)
    return is_unsure(field, value) or (field.nothing and value == []) or _FITS[field.type](field, value)


def is_unsure(field: AnswerField, value: object) -> bool:
    """Whether a value means "I can't tell"."""
    return is_choice(value) and any(key(value) == key(one) for one in field.unsure)


def class_of(field: AnswerField, info: object) -> int | None:
    """The number of the choice, from 1, that an answer names; None if it does not fit. For labels with choices."""
    return number_of(field.choices or (), value_at(info, field.path))


def number_of(choices: Sequence[Choice], value: object) -> int | None:
    """The number of the choice, from 1, that a value is; None if it is none of them.

    A text may differ in its case, in spaces at its ends and in the form of characters from the only choice that it is.
    """
    if not is_choice(value):
        return None
    wanted = key(value)
    exact = next((nth for nth, choice in enumerate(choices, 1) if key(choice) == wanted), None)
    if exact is not None or not isinstance(value, str):
        return exact
    near = [nth for nth, choice in enumerate(choices, 1) if isinstance(choice, str) and folded(choice) == folded(value)]
    return near[0] if len(near) == 1 else None


def with_choices(field: AnswerField, value: Any) -> Any:
    """A value that fits, with the choices that it names as they are declared."""
    choices = field.choices
    if choices is None:
        return value

    def declared(named: Choice) -> Choice:
        nth = number_of(choices, named)
        return named if nth is None else choices[nth - 1]

    if field.type == "label":
        return declared(value)
    if field.type in ("labels", "ranking"):
        return [declared(each) for each in value]
    if field.type in MARKS:
        return [{**mark, "label": declared(mark["label"])} if "label" in mark else mark for mark in value]
    return value


def _is_label(field: AnswerField, value: object) -> bool:
    return is_choice(value) and (field.choices is None or number_of(field.choices, value) is not None)


def _are_labels(field: AnswerField, value: object) -> bool:
    if not isinstance(value, list) or not all(_is_label(field, each) for each in value):
        return False
    return len({number_of(field.choices, each) if field.choices else key(each) for each in value}) == len(value)


def _is_number(field: AnswerField, value: object) -> bool:
    if not is_number(value):
        return False
    return (field.min is None or value >= field.min) and (field.max is None or value <= field.max)


def _is_polygon(field: AnswerField, value: object) -> bool:
    return isinstance(value, list) and len(value) > 2 and all(_is_corner(each) for each in value)


def _is_corner(value: object) -> bool:
    """As ``{x, y}``, or as ``[x, y]`` like those of questions as data."""
    return _has(value, "x", "y") or (isinstance(value, list) and len(value) == 2 and all(map(is_number, value)))


def _has(value: object, *names: str) -> bool:
    return isinstance(value, dict) and all(is_number(value.get(name)) for name in names)


def _is_ranking(field: AnswerField, value: object) -> bool:
    return _are_labels(field, value) and isinstance(value, list) and len(value) == len(field.choices or value) > 0


def _is_transcript(field: AnswerField, value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(each, dict) and isinstance(each.get("text"), str) for each in value
    )


def _is_date(field: AnswerField, value: object) -> bool:
    if not isinstance(value, str) or not _DATE.fullmatch(value):
        return False
    return is_day(value + "-01-01"[len(value) - 10 :] if len(value) < 10 else value)


def _is_position(value: object) -> TypeGuard[list[float]]:
    return isinstance(value, list) and len(value) in (2, 3) and all(map(is_number, value))


def _is_path(value: object, minimum: int) -> bool:
    return isinstance(value, list) and len(value) >= minimum and all(map(_is_corner, value))


def _geometry(mark: Values, kind: str) -> object:
    """The coordinates of a geometry of this kind; None for another one."""
    geometry = mark.get("geometry")
    return geometry.get("coordinates") if isinstance(geometry, dict) and geometry.get("type") == kind else None


def _is_area(mark: Values) -> bool:
    if "geometry" not in mark:
        return _is_path(mark.get("points"), 3)
    rings = _geometry(mark, "Polygon")
    return (
        isinstance(rings, list)
        and bool(rings)
        and isinstance(rings[0], list)
        and len(rings[0]) > 3
        and all(map(_is_position, rings[0]))
    )


def _is_place(mark: Values) -> bool:
    at = _geometry(mark, "Point")
    return _is_position(at) and abs(at[0]) <= 180 and abs(at[1]) <= 90


def _all(is_one: Callable[[Values], bool]) -> Callable[[AnswerField, object], bool]:
    """Marks of one kind, whose labels are choices."""

    def fit(field: AnswerField, value: object) -> bool:
        return isinstance(value, list) and all(
            isinstance(each, dict) and is_one(each) and ("label" not in each or _is_label(field, each["label"]))
            for each in value
        )

    return fit


_FITS: Final[dict[str, Callable[[AnswerField, object], bool]]] = {
    "label": _is_label,
    "labels": _are_labels,
    "number": _is_number,
    "text": lambda field, value: isinstance(value, str),
    "boxes": _all(lambda mark: _has(mark, "x", "y", "width", "height")),
    "points": _all(lambda mark: _has(mark, "x", "y")),
    "polygon": _is_polygon,
    "spans": _all(lambda mark: _has(mark, "start", "end")),
    "date": _is_date,
    "ranking": _is_ranking,
    "transcript": _is_transcript,
    "areas": _all(_is_area),
    "lines": _all(lambda mark: _is_path(mark.get("points"), 2)),
    "places": _all(_is_place),
}
