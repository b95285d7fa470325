"""The process that compares answers, with little memory and processor time: ``ComparingProcess`` starts it.

    python -m crowdd.features.results.comparing_program

For each line of its input, an array of tasks (objects with ``fields``, ``answers``, ``first`` and ``seconds``), it
writes a line with an array: what ``compare_task`` says of each, or an object with ``error``. An object with ``fields``,
``tasks`` and ``seed`` in place of a task gets what ``measure_expected`` says, as ``expected``, and one with ``rule``,
``answers`` and ``value`` what ``gold_comparison.is_right`` says, as ``right``.
"""

from __future__ import annotations

import select
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, Final, TypeVar

import attrs
import orjson

from crowdd.features.results.comparing_process import compare_task, describe_failure, measure_expected
from crowdd.features.results.gold_comparison import is_right
from crowdd.kernel.concurrency.isolated import Limits, yield_to_requests
from crowdd.kernel.values import Values

MAX_MEMORY: Final = 1_000_000_000  # bytes of addresses
IDLE_SECONDS: Final = 60.0  # without a task, after which the memory is given back
_NICENESS: Final = 5  # requests go first

T = TypeVar("T")


@attrs.frozen
class ProcessorTime:
    """Calls what has so many seconds of processor time. Raises TimeoutError when it takes more.

    Time in which other programs have the processor does not count: nothing fails because a server is busy.
    """

    seconds: float

    def __call__(self, work: Callable[[], T]) -> T:
        signal.setitimer(signal.ITIMER_PROF, self.seconds)
        try:
            return work()
        except TimeoutError:
            raise TimeoutError(f"took more than {self.seconds:g} seconds of processor time") from None
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)


def expire(number: int, frame: FrameType | None) -> None:
    """The timer of ``ProcessorTime`` has run out (the handler of its signal, SIGPROF)."""
    raise TimeoutError


def reply_to(task: Values) -> Values:
    """What the answers to a task say, or why that could not be worked out."""
    limit = ProcessorTime(float(task["seconds"]))
    try:
        if "tasks" in task:
            return {"expected": measure_expected(task["fields"], task["tasks"], task["seed"], limit)}
        if "rule" in task:
            return {"right": limit(lambda: is_right(task["rule"], task["answers"], task["value"]))}
        return compare_task(task["fields"], task["answers"], task["first"], limit)
    except Exception as error:
        return {"error": describe_failure(error)}


def main() -> int:
    """Waits for tasks until the server closes the input, or brings none for a while."""
    yield_to_requests(_NICENESS)
    Limits(memory=MAX_MEMORY).apply()
    signal.signal(signal.SIGPROF, expire)
    while select.select([0], [], [], IDLE_SECONDS)[0]:
        line = sys.stdin.buffer.readline()
        if not line:
            break
        tasks: list[Any] = orjson.loads(line)
        sys.stdout.buffer.write(orjson.dumps([reply_to(task) for task in tasks]) + b"\n")
        sys.stdout.buffer.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
