"""Which fields an owner could declare, found in stored answers. Nothing is declared by itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

import attrs

from crowdd.kernel.values import Values
from crowdd.kinds.answers.fields import MAX_CHOICES, AnswerField, Choice, is_choice, key
from crowdd.kinds.answers.reading import fits
from crowdd.kinds.questions.options import at, is_number

MAX_SUGGESTIONS: Final = 20
_MAX_DEPTH: Final = 3
_MAX_PARTS: Final = 50  # of an object
_MAX_CHOICE: Final = 200  # characters
_RECURRENCE: Final = 2  # values of a label come back: so many answers for each of them, on average
_OWN_KEYS: Final = frozenset({"questions_version", "unseen", "original_width", "original_height"})


@attrs.frozen
class Suggestion:
    """A field that could be declared: where, as what, with the values that were found, the most frequent first.

    ``n_present`` of the answers that were looked at have a value there, ``n_fitting`` one that fits.
    """

    name: str
    at: str
    type: str
    choices: list[Choice] | None
    n_present: int
    n_fitting: int

    def declaration(self) -> Values:
        """As an entry of ``info.answers``."""
        choices = {} if self.choices is None else {"choices": self.choices}
        return {"name": self.name, "at": self.at, "type": self.type, **choices}


def suggest(infos: Sequence[object]) -> list[Suggestion]:
    """Fields for answers like these, those that most answers have first."""
    places: dict[tuple[str, ...], list[object]] = {}
    for info in infos:
        for path, value in _values(info, ()):
            places.setdefault(path, []).append(value)
    suggestions = [_suggestion(path, values) for path, values in places.items()]
    suggestions.sort(key=lambda one: (-one.n_fitting, one.at))
    return suggestions[:MAX_SUGGESTIONS]


def _values(info: object, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], object]]:
    """The values in an answer that are not objects, with their places; an answer without objects is its own value."""
    if isinstance(info, dict):
        if len(path) < _MAX_DEPTH:
            for name, value in list(info.items())[:_MAX_PARTS]:
                if path or name not in _OWN_KEYS:
                    yield from _values(value, (*path, name))
    elif path or info is not None:
        yield path, info


def _suggestion(path: tuple[str, ...], values: list[object]) -> Suggestion:
    kind = max(_TYPES, key=lambda name: sum(_TYPES[name](value) for value in values))
    choices: list[Choice] | None = None
    if kind in ("label", "labels"):
        members = values if kind == "label" else [one for value in values if isinstance(value, list) for one in value]
        choices = _frequent(members)
        if kind == "label" and _is_prose(choices, values):
            kind, choices = ("number" if all(map(is_number, values)) else "text"), None
    field = AnswerField(path[-1] if path else "answer", path, kind, None if choices is None else tuple(choices))
    n_fitting = sum(fits(attrs.evolve(field, path=()), value) for value in values)
    return Suggestion(field.name[:100], at("", *path), kind, choices, len(values), n_fitting)


def _frequent(values: Iterable[object]) -> list[Choice]:
    """Different values that can be choices, the most frequent first."""
    usable = [one for one in values if is_choice(one) and not (isinstance(one, str) and len(one) > _MAX_CHOICE)]
    counts = Counter(map(key, usable))
    first = {key(one): one for one in reversed(usable)}
    return [first[one] for one, _ in counts.most_common(MAX_CHOICES)]


def _is_prose(choices: Sequence[object], values: Sequence[object]) -> bool:
    """Whether values hardly recur, so that they are no choices."""
    return len(choices) * _RECURRENCE > len(values) or len(choices) == MAX_CHOICES


def _list_of(*names: str) -> Callable[[object], bool]:
    def fit(value: object) -> bool:
        marks = value if isinstance(value, list) else []
        return bool(marks) and all(
            isinstance(one, dict) and all(is_number(one.get(name)) for name in names) for one in marks
        )

    return fit


_TYPES: Final[Mapping[str, Callable[[object], bool]]] = {
    "boxes": _list_of("x", "y", "width", "height"),
    "spans": _list_of("start", "end"),
    "points": _list_of("x", "y"),
    "labels": lambda value: isinstance(value, list) and all(map(is_choice, value)),
    "label": is_choice,
}
"""What a value may be, the narrowest first: the first of those that most values fit is chosen."""
