"""How many marks an answer may have: elements of the arrays in which volunteers mark something."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import Final

import attrs
import orjson

from crowdd.kernel.errors import TooLargeError
from crowdd.kernel.languages import _
from crowdd.kernel.values import Values
from crowdd.kinds.answers.fields import declared
from crowdd.kinds.answers.reading import value_at
from crowdd.kinds.questions.format import QUESTIONS
from crowdd.kinds.questions.mark_types import MARK_TYPES, MAX_MARKS

OF_MARKS: Final = frozenset({"boxes", "points", "spans"})
"""Types of answer fields whose values are arrays of marks."""
_QUESTIONS: Final = frozenset(each.name for each in MARK_TYPES)
_MIN_BYTES: Final = 2  # of a mark and its comma


@attrs.frozen
class MarkLimit:
    """How many marks an answer of a project may have, and at which ``places`` of it marks are.

    ``first``: the first answer field has marks, so that right answers of gold tasks are arrays of them.
    """

    maximum: int
    places: frozenset[tuple[str, ...]]
    first: bool

    @classmethod
    def of(cls, info: Values) -> MarkLimit:
        """The limit of a project with this ``info``: its ``max_marks``, its answer fields and its questions."""
        questions = info.get(QUESTIONS)
        steps = questions.get("steps", ()) if isinstance(questions, dict) else ()
        asked = (question for step in steps for question in step.get("questions", ()))
        places: set[tuple[str, ...]] = {(question["name"],) for question in asked if question["type"] in _QUESTIONS}
        fields = declared(info)
        places |= {field.path for field in fields if field.type in OF_MARKS}
        first = bool(fields) and fields[0].type in OF_MARKS
        return cls(info.get("max_marks") or MAX_MARKS, frozenset(places), first)

    def require(self, answer: object) -> None:
        """Raises TooLargeError for an answer with more marks."""
        self.require_few(value_at(answer, place) for place in self.places)

    def require_right(self, cell: object) -> None:
        """The same for what a file has as the right answer to a task: an array of marks, or an answer with one."""
        if self.first:
            try:
                right = orjson.loads(cell) if isinstance(cell, str) else cell
            except orjson.JSONDecodeError:
                return
            self.require_few(_arrays(right))

    def require_few(self, values: Iterable[object]) -> None:
        """The same for values that are arrays of marks together."""
        count = sum(len(value) for value in values if isinstance(value, list))
        if count > self.maximum:
            words = _(
                "An answer may have at most %(maximum)s marks (got %(count)s).",
                maximum=f"{self.maximum:,}",
                count=f"{count:,}",
            )
            hint = "Mark fewer things. The owner of the project can raise info.max_marks."
            raise TooLargeError(words, code="too_many_marks", hint=hint)


def may_be_many(answer: object, size: int) -> bool:
    """Whether an answer of so many bytes may have more marks than a project allows that says nothing."""
    return size > _MIN_BYTES * MAX_MARKS and any(count > MAX_MARKS for count in accumulate(map(len, _arrays(answer))))


def _arrays(value: object) -> Iterator[list[object]]:
    """All arrays of a value."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, list):
            yield each
            waiting += each
        elif isinstance(each, dict):
            waiting += each.values()
