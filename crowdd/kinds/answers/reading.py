"""Reads the values of answer fields from stored answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from crowdd.kinds.answers.fields import AnswerField, Choice, folded, is_choice, key
from crowdd.kinds.questions.options import is_number

MARKS: Final = frozenset({"boxes", "points", "spans"})
"""Types whose values are marks, which may have labels."""
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
    if field.type == "labels":
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


def _marks(*names: str) -> Callable[[AnswerField, object], bool]:
    def fit(field: AnswerField, value: object) -> bool:
        return isinstance(value, list) and all(
            _has(each, *names) and ("label" not in each or _is_label(field, each["label"])) for each in value
        )

    return fit


_FITS: Final[dict[str, Callable[[AnswerField, object], bool]]] = {
    "label": _is_label,
    "labels": _are_labels,
    "number": _is_number,
    "text": lambda field, value: isinstance(value, str),
    "boxes": _marks("x", "y", "width", "height"),
    "points": _marks("x", "y"),
    "polygon": _is_polygon,
    "spans": _marks("start", "end"),
}
