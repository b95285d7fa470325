"""The rule of the server against the same rule in memory: each task stops at the same answer, with the same class.

What a crowd did on the server (answers and folds in their order) is given to ``Memory``, where what is learned counts
from the next fold on. The server works a volunteer out again when something new is known of them, and everybody when
completed tasks have grown by 5 %. So one run has it work out everybody at each fold, which must give the same stops.
Another one, as it is, shows what being late with the others changes.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import attrs

from bench.trust.crowds import Crowd, Shape
from bench.trust.memory import Memory
from bench.trust.play import Outcome

SHAPE = Shape("mixed", 4, tasks=300, volunteers=50, gold=30)
SAME, SAME_LATE = 0.995, 0.95  # at least this share of stops


@attrs.frozen
class Comparison:
    """``same``: the share of tasks with the same number of answers and class. ``gap``: the greatest of confidence."""

    same: float
    gap: float


async def compared(outcome: Outcome) -> Comparison:
    """What the server decided against what its log gives."""
    memory = Memory(outcome.crowd)
    for entry in outcome.log:
        if entry is None:
            await memory.fold()
        else:
            await memory.take(entry)
    pairs = zip(memory.stops, outcome.results, strict=True)
    gaps = [
        abs(stop.confidence - result.confidence)
        for stop, result in pairs
        if stop is not None and (stop.counted, stop.label, stop.reason) == (result.counted, result.label, result.reason)
    ]
    return Comparison(len(gaps) / len(outcome.results), max(gaps))


async def proven(answered: Callable[[Crowd, bool], Awaitable[Outcome]]) -> tuple[str, list[str]]:
    """A sentence, and what is violated."""
    exact = await compared(await answered(Crowd(SHAPE, 1), True))
    late = await compared(await answered(Crowd(SHAPE, 2), False))
    sentence = (
        f"The rule in memory stops {exact.same:.1%} of {SHAPE.tasks} tasks as the server does (confidence within"
        f" {exact.gap:.0e}); {late.same:.1%} (within {late.gap:.0e}) while it works out only those who were active"
    )
    violations = [
        f"The server stops {share:.1%} of the tasks as the same rule in memory, {minimum:.1%} are promised"
        for share, minimum in ((exact.same, SAME), (late.same, SAME_LATE))
        if share < minimum
    ]
    return sentence, violations
