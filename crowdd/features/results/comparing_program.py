"""The process that compares answers, with little memory and time for each task: ``ComparingProcess`` starts it.

    python -m crowdd.features.results.comparing_program

For each line of its input, an array of tasks (objects with ``fields``, ``answers`` and ``first``), it writes a line
with an array: what ``compare_task`` says of each, or an object with ``error``. An object with ``fields``, ``tasks``
and ``seed`` in place of a task gets what ``measure_expected`` says, as ``expected``, and one with ``rule``,
``answers`` and ``value`` what ``gold_comparison.is_right`` says, as ``right``.
"""

from __future__ import annotations

import select
import signal
import sys
from types import FrameType
from typing import Any, Final

import orjson

from crowdd.features.results.comparing_process import compare_task, measure_expected
from crowdd.features.results.gold_comparison import is_right
from crowdd.kernel.concurrency.isolated import bound_process, yield_to_requests
from crowdd.kernel.values import Values

MAX_SECONDS: Final = 5.0
MAX_MEMORY: Final = 1_000_000_000  # bytes of addresses
IDLE_SECONDS: Final = 60.0  # without a task, after which the memory is given back
_NICENESS: Final = 5  # requests go first


def compare_or_explain(task: Values) -> Values:
    """What the answers to a task say, or why that could not be worked out."""
    signal.setitimer(signal.ITIMER_REAL, MAX_SECONDS)
    try:
        if "tasks" in task:
            return {"expected": measure_expected(task["fields"], task["tasks"], task["seed"])}
        if "rule" in task:
            return {"right": is_right(task["rule"], task["answers"], task["value"])}
        return compare_task(task["fields"], task["answers"], task["first"])
    except TimeoutError:
        return {"error": f"took more than {MAX_SECONDS:g} seconds"}
    except MemoryError:
        return {"error": "took too much memory"}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"[:200]}
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _late(number: int, frame: FrameType | None) -> None:
    raise TimeoutError


def main() -> int:
    """Waits for tasks until the server closes the input, or brings none for a while."""
    yield_to_requests(_NICENESS)
    bound_process(memory=MAX_MEMORY)
    signal.signal(signal.SIGALRM, _late)
    while select.select([0], [], [], IDLE_SECONDS)[0]:
        line = sys.stdin.buffer.readline()
        if not line:
            break
        tasks: list[Any] = orjson.loads(line)
        sys.stdout.buffer.write(orjson.dumps([compare_or_explain(task) for task in tasks]) + b"\n")
        sys.stdout.buffer.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
