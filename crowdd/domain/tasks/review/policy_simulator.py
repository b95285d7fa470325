"""What other settings of adaptive redundancy would have done: the last completed tasks, replayed answer by answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import attrs

from crowdd.domain.tasks.review.weighing import Given, Weighing

_FOLD = 50  # completed tasks after which the replay takes over what it has learned


@attrs.frozen
class Policy:
    """When a task is complete: at ``maximum`` answers, or from ``min_answers`` on once one is this probable."""

    min_answers: int
    confidence: float
    maximum: int


@attrs.frozen
class PastTask:
    """A completed task: its counted answers in the order in which they came, and what its result says now.

    ``result`` is a class from 0, None for none; ``checked``: an expert has decided it.
    """

    answers: Sequence[Given]
    result: int | None
    checked: bool = False


@attrs.frozen
class Replay:
    """What a policy would have done with ``tasks``, which had ``given`` answers.

    ``asked`` answers would have been enough. In ``early`` tasks fewer than were given, in ``short`` tasks the policy
    would have asked for more than there are. ``same`` of the ``compared`` tasks with a result would have the same one;
    ``right`` of the ``checked`` tasks what the expert decided.
    """

    tasks: int
    given: int
    asked: int
    early: int
    short: int
    same: int
    compared: int
    right: int
    checked: int
    reasons: Mapping[str, int]

    @property
    def saved(self) -> float:
        """The share of answers that would have been saved."""
        return 1 - self.asked / self.given if self.given else 0.0


@attrs.frozen
class _Stop:
    """Where a task would have stopped: after so many answers, with this class, and whether more were wanted."""

    answers: int
    label: int
    sure: bool
    short: bool


def replay(tasks: Sequence[PastTask], k: int, policy: Policy, gold: Mapping[int, tuple[float, float]]) -> Replay:
    """Replays tasks in the order in which they were completed. ``gold``: right and seen, by volunteer.

    Nothing else is known of the volunteers at the beginning; the replay learns from task to task, as the rule does.
    """
    weighing = Weighing(k)
    for actor, (right, seen) in gold.items():
        weighing.learn_gold(actor, right, seen)
    weighing.fold()
    stops = []
    for number, task in enumerate(tasks, 1):
        stops.append(_stopped(weighing, task.answers, policy))
        if number % _FOLD == 0:
            weighing.fold()
    return _summary(tasks, stops)


def _stopped(weighing: Weighing, answers: Sequence[Given], policy: Policy) -> _Stop:
    """Where a task stops. What the answers up to there say is learned."""
    taken, passed, ended = list[Given](), 0, False
    for one in answers:
        passed += 1
        if not weighing.counts(one.actor):
            continue
        taken.append(one)
        if ended := _ends(weighing, taken, policy):
            break
    posterior = weighing.posterior(taken)
    weighing.learn(taken, posterior)
    top = max(posterior)
    return _Stop(passed, posterior.index(top), top >= policy.confidence, not ended)


def _ends(weighing: Weighing, taken: Sequence[Given], policy: Policy) -> bool:
    if len(taken) >= policy.maximum:
        return True
    return len(taken) >= policy.min_answers and max(weighing.posterior(taken)) >= policy.confidence


def _summary(tasks: Sequence[PastTask], stops: Sequence[_Stop]) -> Replay:
    pairs = [(task, stop) for task, stop in zip(tasks, stops, strict=True) if task.result is not None]
    checked = [(task, stop) for task, stop in pairs if task.checked]
    return Replay(
        tasks=len(tasks),
        given=sum(len(task.answers) for task in tasks),
        asked=sum(stop.answers for stop in stops),
        early=sum(stop.answers < len(task.answers) for task, stop in zip(tasks, stops, strict=True)),
        short=sum(stop.short for stop in stops),
        same=sum(task.result == stop.label for task, stop in pairs),
        compared=len(pairs),
        right=sum(task.result == stop.label for task, stop in checked),
        checked=len(checked),
        reasons=Counter("short" if stop.short else "sure" if stop.sure else "full" for stop in stops),
    )
