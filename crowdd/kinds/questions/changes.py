"""What a changed list of questions means for answers that exist. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, Literal

import attrs

from crowdd.kernel.values import Values
from crowdd.kinds.questions.options import values_of
from crowdd.kinds.questions.question_type import fits
from crowdd.kinds.questions.schemas import schema_of_answer
from crowdd.kinds.questions.types import TYPES

How = Literal["new", "removed", "type", "choices", "options", "words"]
_WORDS: Final = frozenset({"text", "help", "low", "high", "unit", "suggest"})
"""Options that volunteers see, and that the form of no answer depends on."""


@attrs.frozen
class Change:
    """A question that is new, removed or changed. ``gone`` are values of choices that are removed.

    ``words``: only what volunteers read has changed. ``type``: answers have another form.
    """

    name: str
    how: How
    gone: tuple[str, ...] = ()


@attrs.frozen
class Fit:
    """Of some answers: how many have a value for a question, and how many of these do not fit the new question."""

    name: str
    given: int
    unfit: int


def changes(before: Values, after: Values) -> list[Change]:
    """What is different between two valid lists of questions, in the order of the new list, removed ones last."""
    old, new = _by_name(before), _by_name(after)
    differences = [_change(old.get(name), question) for name, question in new.items()]
    differences += [Change(name, "removed") for name in old if name not in new]
    return [change for change in differences if change is not None]


def _by_name(document: Values) -> dict[str, Values]:
    return {question["name"]: question for step in document["steps"] for question in step.get("questions", [])}


def _change(old: Values | None, new: Values) -> Change | None:
    name = new["name"]
    if old is None:
        return Change(name, "new")
    if old["type"] != new["type"]:
        return Change(name, "type")
    gone = tuple(dict.fromkeys(value for value in _values(old) if value not in set(_values(new))))
    if gone:
        return Change(name, "choices", gone)
    if _meant(old) != _meant(new):
        return Change(name, "options")
    return Change(name, "words") if old != new else None


def _values(question: Values) -> list[str]:
    kind = TYPES[question["type"]]
    rows = values_of(question["rows"]) if "rows" in kind.options else []
    return [*(values_of(question.get(kind.choices)) if kind.choices else []), *rows]


def _meant(question: Values) -> Any:
    """The question without its words, and without the order and the words of its entries."""
    meaning: dict[str, Any] = {}
    for name, value in question.items():
        if name in _WORDS or value is None:
            continue
        if name == "each":
            meaning[name] = [_meant(each) for each in value]
        elif name in ("choices", "labels", "rows", "columns"):
            meaning[name] = sorted(values_of(value))
        else:
            meaning[name] = bool(value) if name in ("unsure", "nothing") else value
    return meaning


def count_fits(after: Values, answers: Iterable[object], names: Iterable[str]) -> list[Fit]:
    """How stored answers fit the questions of a valid list, for each of these names that an answer has.

    The values of a question that is not in the list do not fit.
    """
    questions = _by_name(after)
    rows = [answer for answer in answers if isinstance(answer, dict)]
    fit_counts = []
    for name in names:
        schema = schema_of_answer(questions[name]) if name in questions else None
        values = [answer[name] for answer in rows if name in answer]
        fit_counts.append(Fit(name, len(values), sum(schema is None or not fits(schema, value) for value in values)))
    return [fit for fit in fit_counts if fit.given]
