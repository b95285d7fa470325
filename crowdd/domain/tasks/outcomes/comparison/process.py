"""Has answers compared by a process with little memory and time. One huge answer does not stop others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import attrs
import orjson

from crowdd.concurrency.helper_process import HelperProcess
from crowdd.concurrency.worker_thread import WorkerThread
from crowdd.domain.tasks.outcomes.comparison import alpha_sums, of_task
from crowdd.values import Values

_PROGRAM: Final = "crowdd.domain.tasks.outcomes.comparison.program"
_SECONDS: Final = 6.0  # for each task, and so many more for the start
_START_SECONDS: Final = 30.0


def _new_process() -> HelperProcess:
    return HelperProcess(_PROGRAM)


@attrs.frozen
class ComparingProcess:
    """Compares tasks: objects with ``fields``, ``answers`` (JSON) and ``first`` (``of_task.compare``)."""

    worker_thread: WorkerThread
    _process: HelperProcess = attrs.field(factory=_new_process)

    async def compare(self, tasks: Sequence[Values]) -> list[Values]:
        """What is said of each task, in order; an object with ``error`` where that could not be worked out."""
        slow = [_unread(task) for task in tasks if of_task.is_slow(task["fields"])]
        slow_comparisons = iter(await self.worker_thread.do(self._said, slow) if slow else ())
        quick = [task for task in tasks if not of_task.is_slow(task["fields"])]
        others = iter(await self.worker_thread.do_soon(_quickly, quick) if quick else ())
        return [next(slow_comparisons if of_task.is_slow(task["fields"]) else others) for task in tasks]

    async def expected(self, fields: Sequence[Values], tasks: Sequence[Any], seed: int) -> list[float | None]:
        """The expected disagreement of each field (``expected.measured``); [] where it could not be worked out."""
        if all(alpha_sums.is_exact(of_task.read_field(field)) for field in fields):
            return [None] * len(fields)
        (reply,) = await self.worker_thread.do(self._said, [{"fields": fields, "tasks": tasks, "seed": seed}])
        return list(reply.get("expected", ()))

    async def judged(self, answers: Sequence[Values]) -> list[bool | str]:
        """Whether answers to gold tasks are right, or why that could not be worked out.

        Each has its ``rule`` and, as JSON text, the right ``answers`` and its ``value``.
        """
        unread = [{**each, **{name: orjson.Fragment(each[name]) for name in ("answers", "value")}} for each in answers]
        replies = await self.worker_thread.do(self._said, unread) if unread else []
        return [reply["right"] if "right" in reply else str(reply["error"]) for reply in replies]

    def _said(self, tasks: Sequence[Values]) -> list[Values]:
        answer, ended = self._process.ask(orjson.dumps(tasks) + b"\n", _START_SECONDS + _SECONDS * len(tasks))
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
        return of_task.compare(task["fields"], orjson.loads(task["answers"]), task["first"])
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"[:200]}
