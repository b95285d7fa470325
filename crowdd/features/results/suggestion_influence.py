"""Whether suggestions change answers: how often answers agree with one that was shown, and with one that was not.

Which tasks show none follows from their ids (``suggestions.js``), so that the two differ by chance alone otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypedDict

from crowdd.features.results.consensus import wilson_interval
from crowdd.features.results.gold_comparison import COMPARED_BY_RULE, is_right
from crowdd.features.results.rows import CheckedShare, SuggestedAnswer, SuggestionOutcomes
from crowdd.kernel.values import Json, Values
from crowdd.kinds.answers.fields import key
from crowdd.kinds.questions.suggested import suggestion_schema, usable
from crowdd.kinds.questions.types import TYPES

_NONE: Final = SuggestionOutcomes(name="", accepted=0, changed=0, rejected=0, seconds=None)


class Influence(TypedDict):
    """Of a question: what became of suggestions, and the answers that agree with them, shown and not shown.

    ``apart``: the intervals do not touch, so that suggestions change answers.
    """

    name: str
    outcomes: SuggestionOutcomes
    shown: CheckedShare
    hidden: CheckedShare
    apart: bool


def influences(
    questions: Sequence[Values], counted: Iterable[SuggestionOutcomes], answers: Iterable[SuggestedAnswer]
) -> list[Influence]:
    """Of each question that has suggestions, in their order."""
    outcomes = {each["name"]: each for each in counted}
    agreed = {question["name"]: _Agreement(question) for question in questions}
    for answer in answers:
        agreed[answer["name"]].add(answer)
    return [_influence(name, outcomes.get(name, _NONE), agreed[name].counts) for name in agreed]


class _Agreement:
    """Counts answers to a question: ``[agreeing, all]`` with a suggestion that was shown, and with others."""

    def __init__(self, question: Values) -> None:
        self._type, self._schema = TYPES[question["type"]].answer_type, suggestion_schema(question)
        self.counts: dict[bool, list[int]] = {True: [0, 0], False: [0, 0]}

    def add(self, answer: SuggestedAnswer) -> None:
        suggested = usable(self._schema, answer["suggested"])
        if suggested is not None:
            counts = self.counts[answer["shown"]]
            counts[0] += self._agrees(suggested, answer["answer"])
            counts[1] += 1

    def _agrees(self, suggested: Json, answer: Json) -> bool:
        if answer is None:
            return False
        if self._type in COMPARED_BY_RULE:
            return suggested == answer or is_right({"type": self._type}, [suggested], answer)
        if isinstance(suggested, list) and isinstance(answer, list):
            return set(map(key, suggested)) == set(map(key, answer))
        return key(suggested) == key(answer)


def _influence(name: str, outcomes: SuggestionOutcomes, counts: Mapping[bool, Sequence[int]]) -> Influence:
    shown, hidden = _share(*counts[True]), _share(*counts[False])
    apart = _is_below(shown, hidden) or _is_below(hidden, shown)
    return Influence(name=name, outcomes=outcomes, shown=shown, hidden=hidden, apart=apart)


def _is_below(one: CheckedShare, other: CheckedShare) -> bool:
    return one["high"] is not None and other["low"] is not None and one["high"] < other["low"]


def _share(right: int, n: int) -> CheckedShare:
    if not n:
        return CheckedShare(right=0, n=0, share=None, low=None, high=None)
    low, high = wilson_interval(right, n)
    return CheckedShare(right=right, n=n, share=right / n, low=max(low, 0.0), high=min(high, 1.0))
