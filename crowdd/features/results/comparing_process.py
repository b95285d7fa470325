"""Compare the answers to a task field by field, in a process with little memory and time, and their part in alpha.

One huge answer does not stop others. The disagreement that chance alone would give is computed here where it does not
follow from sums. The functions are pure.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import combinations
from math import comb
from typing import Any, Final, Protocol, TypeVar

import attrs
import orjson

from crowdd.features.results import (
    alpha_sums,
    comparing_lines,
    comparing_marks,
    comparing_orders,
    comparing_shapes,
    comparing_texts,
)
from crowdd.features.results.comparing import Answer, Compared
from crowdd.kernel.concurrency.isolated import HelperProcess
from crowdd.kernel.concurrency.worker_thread import WorkerThread
from crowdd.kernel.values import Values
from crowdd.kinds.answers import AnswerField, fits, with_choices
from crowdd.kinds.questions.options import OPINION

COMPARED: Final[Mapping[str, Callable[[AnswerField, Sequence[Answer]], Compared]]] = {
    "text": comparing_texts.compare_texts,
    "boxes": comparing_marks.compare_boxes,
    "points": comparing_marks.compare_points,
    "polygon": comparing_marks.compare_polygons,
    "spans": comparing_texts.compare_spans,
    "transcript": comparing_lines.compare_transcripts,
    "areas": comparing_shapes.compare_areas,
    "lines": comparing_shapes.compare_lines,
    "places": comparing_shapes.compare_places,
    "date": comparing_orders.compare_dates,
    "ranking": comparing_orders.compare_rankings,
}
"""Types that are compared after the commit."""
SINGLE: Final = frozenset({"text", "polygon", "date", "ranking"})
"""Those of them whose answers have one value."""


T = TypeVar("T")
Answers = Sequence[Sequence[Sequence[Answer]]]
"""To a task: each has for each field [value], or [] without one."""


class Limit(Protocol):
    """Calls something, and may raise what comes of taking too long."""

    def __call__(self, work: Callable[[], T], /) -> T:
        """What it returns."""


def _unlimited(work: Callable[[], T], /) -> T:
    return work()


def compare_task(
    fields: Sequence[Values],
    answers: Answers,
    first: int | None,
    limit: Limit = _unlimited,
) -> Values:
    """``said``, ``alpha`` and, if a field could not be compared, ``failure``, as ``store_comparisons`` takes them.

    Each field has the whole ``limit``; one that fails harms no other. See ``DueComparison``.
    """
    comparisons: list[Values | None] = []
    sums: list[Mapping[str, str] | None] = []
    failures = []
    for nth, declaration in enumerate(fields):
        values = [answer[nth] for answer in answers]
        try:
            comparison, alpha = limit(partial(_compare_field, read_field(declaration), values, first))
        except Exception as error:
            comparison = alpha = None
            failures.append(f"answer field {nth + 1} ({declaration['type']}): {describe_failure(error)}")
        comparisons.append(comparison)
        sums.append(alpha)
    compared: dict[str, object] = {"said": comparisons, "alpha": sums}
    return {**compared, "failure": "; ".join(failures)} if failures else compared


def _compare_field(
    field: AnswerField, answers: Sequence[Sequence[Answer]], first: int | None
) -> tuple[Values | None, Mapping[str, str] | None]:
    """What the answers say at a field (None: that was found out when the task was completed), and its sums of alpha."""
    if field.opinion:
        return None, None
    values = fitting_values(field, answers)
    comparison, distance = None, None
    if field.type in COMPARED:
        valued = _compare_values(field, values)
        comparison = _with_unsaid(field, valued, answers).as_json
        if first is None and len(values) > 1:
            distance = 1 - (valued.agreement or 0)
    early = values if first is None else fitting_values(field, answers[:first])
    return comparison, alpha_sums.of_values(field, early, distance)


def _compare_values(field: AnswerField, values: Sequence[Answer]) -> Compared:
    """What values say together. If all are the same, exactly that."""
    if values and all(value == values[0] for value in values):
        return Compared(len(values), True, values[0], 1.0, 1.0)
    return COMPARED[field.type](field, values)


def describe_failure(error: Exception) -> str:
    """Why something could not be worked out."""
    if isinstance(error, TimeoutError):
        return str(error)
    if isinstance(error, MemoryError):
        return "took too much memory"
    return f"{type(error).__name__}: {error}"[:200]


def _with_unsaid(field: AnswerField, valued: Compared, said: Sequence[Sequence[Answer]]) -> Compared:
    """What values say, with the answers that say "nothing there" (``[]``) or "can't tell" (null) in their place.

    The rule of ``with_unsaid`` in SQL (28_answer_fields.sql). Of marks, nothing is a value.
    """
    nothing = said.count([[]]) if field.type in SINGLE else 0
    unsure, n = said.count([None]), valued.n + nothing
    if not nothing and unsure <= n:
        return valued
    pairs = (valued.agreement or 0) * comb(valued.n, 2) + comb(nothing, 2)
    if unsure > n:
        n, pairs = n + unsure, pairs + comb(unsure, 2)
        valued = Compared(n, True, None, confidence=unsure / n)
    elif nothing > valued.n:
        valued = Compared(n, True, [], confidence=nothing / n)
    elif nothing == valued.n:
        valued = Compared(n)
    else:
        share = None if valued.confidence is None else valued.confidence * valued.n / n
        valued = attrs.evolve(valued, n=n, confidence=share)
    return attrs.evolve(valued, agreement=pairs / comb(n, 2) if n > 1 else 1.0)


def is_slow(fields: Sequence[Values]) -> bool:
    """Whether comparing them takes longer than the server may wait."""
    return any(field["type"] in COMPARED for field in fields)


def read_field(declaration: Values) -> AnswerField:
    """A field of ``project.answer_fields`` that reads values themselves."""
    choices = declaration.get("choices")
    return AnswerField(
        name="",
        path=(),
        type=declaration["type"],
        opinion=declaration["type"] == OPINION,
        choices=None if choices is None else tuple(choices),
        min=declaration.get("min"),
        max=declaration.get("max"),
        tolerance=declaration.get("tolerance"),
    )


def fitting_values(field: AnswerField, values: Sequence[Sequence[Answer]]) -> list[Answer]:
    """The values of a field that fit, of ``[value]`` or ``[]`` for each answer, with choices as they are declared."""
    return [with_choices(field, value[0]) for value in values if value and fits(field, value[0])]


_PAIRS: Final = 2000


def measure_expected(
    fields: Sequence[Values | None], tasks: Sequence[Answers], seed: int, limit: Limit = _unlimited
) -> list[float | str | None]:
    """The expected disagreement of each field: the mean distance of 2,000 pairs of answers, or of all if fewer.

    None of those in whose place is None, where it follows from sums, and where there are no two values. A text says why
    it could not be worked out. Each field has the whole ``limit``. The answers are those to tasks with two or more.
    """
    measured: list[float | str | None] = []
    for nth, declaration in enumerate(fields):
        if declaration is None:
            measured.append(None)
            continue
        chance = random.Random(seed)  # noqa: S311
        try:
            measured.append(limit(partial(_measure_expected, read_field(declaration), nth, tasks, chance)))
        except Exception as error:
            measured.append(describe_failure(error))
    return measured


def _measure_expected(field: AnswerField, nth: int, tasks: Sequence[Answers], chance: random.Random) -> float | None:
    if alpha_sums.is_exact(field):
        return None
    by_task = (fitting_values(field, [answer[nth] for answer in answers]) for answers in tasks)
    values = [value for task_values in by_task if len(task_values) > 1 for value in task_values]
    if len(values) < 2:
        return None
    read, distance = alpha_sums.measure(field, values)
    known = [read(value) for value in values]
    pairs = list(combinations(known, 2)) if len(known) * (len(known) - 1) <= 2 * _PAIRS else None
    drawn = pairs or [tuple(chance.sample(known, 2)) for _ in range(_PAIRS)]
    return sum(distance(one, other) for one, other in drawn) / len(drawn)


_PROGRAM: Final = "crowdd.features.results.comparing_program"
SECONDS: Final = 5.0
"""Of processor time, for each field of a task at the first try; each further try has twice as many."""
_MAX_DOUBLED: Final = 4
RETRY_SECONDS: Final = (30.0, 120.0)
"""When what has failed is tried again: so long after the first failure, and after the second."""
_START_SECONDS: Final = 30.0


def seconds_of_try(tries: int) -> float:
    """The processor time of what has failed so many times before."""
    return SECONDS * 2.0 ** min(tries, _MAX_DOUBLED)


def seconds_to_retry(tries: int) -> float | None:
    """When what had failed so many times before and fails again is tried again; None: when its owner asks for it."""
    return RETRY_SECONDS[tries] if tries < len(RETRY_SECONDS) else None


def _new_process() -> HelperProcess:
    return HelperProcess(_PROGRAM)


@attrs.frozen
class ComparingProcess:
    """Compares tasks: objects with ``fields``, ``answers`` (JSON), ``first`` (``compare_task``) and ``seconds``."""

    worker_thread: WorkerThread
    _process: HelperProcess = attrs.field(factory=_new_process)

    async def compare(self, tasks: Sequence[Values]) -> list[Values]:
        """What is said of each task, in order; an object with ``error`` where that could not be worked out."""
        slow = [_unread(task) for task in tasks if is_slow(task["fields"])]
        slow_comparisons = iter(await self.worker_thread.do(self._said, slow) if slow else ())
        quick = [task for task in tasks if not is_slow(task["fields"])]
        others = iter(await self.worker_thread.do_soon(_quickly, quick) if quick else ())
        return [next(slow_comparisons if is_slow(task["fields"]) else others) for task in tasks]

    async def expected(
        self, fields: Sequence[Values | None], tasks: Sequence[Answers], seed: int, seconds: float = SECONDS
    ) -> list[float | str | None]:
        """The expected disagreement of each field (``measure_expected``); a text: why it could not be worked out."""
        if all(field is None or alpha_sums.is_exact(read_field(field)) for field in fields):
            return [None] * len(fields)
        question = {"fields": fields, "tasks": tasks, "seed": seed, "seconds": seconds}
        (reply,) = await self.worker_thread.do(self._said, [question])
        measured: list[float | str | None] = reply.get("expected") or [reply["error"]] * len(fields)
        return measured

    async def judged(self, answers: Sequence[Values]) -> list[bool | str]:
        """Whether answers to gold tasks are right, or why that could not be worked out.

        Each has its ``rule``, its ``seconds`` and, as JSON text, the right ``answers`` and its ``value``.
        """
        unread = [{**each, **{name: orjson.Fragment(each[name]) for name in ("answers", "value")}} for each in answers]
        replies = await self.worker_thread.do(self._said, unread) if unread else []
        return [reply["right"] if "right" in reply else str(reply["error"]) for reply in replies]

    def _said(self, tasks: Sequence[Values]) -> list[Values]:
        seconds = _START_SECONDS + sum(task["seconds"] * len(task.get("fields", "1")) for task in tasks)
        answer, ended = self._process.ask(orjson.dumps(tasks) + b"\n", seconds, of_processor=True)
        if answer:
            reply: list[Any] = orjson.loads(answer)
            return reply
        if len(tasks) == 1:
            return [{"error": f"the process ended ({ended})"}]
        return [reply for task in tasks for reply in self._said([task])]


def _unread(task: Values) -> Values:
    return {**task, "answers": orjson.Fragment(task["answers"])}


def _quickly(tasks: Sequence[Values]) -> list[Values]:
    return [_compared(task) for task in tasks]


def _compared(task: Values) -> Values:
    try:
        return compare_task(task["fields"], orjson.loads(task["answers"]), task["first"])
    except Exception as error:
        return {"error": describe_failure(error)}
