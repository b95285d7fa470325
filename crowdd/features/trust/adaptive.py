"""Adaptive redundancy: its settings, what it saved and whether results are right, and replays with other settings.

It completes a task before it has its maximum of answers. A replay takes the last completed tasks answer by answer.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Final, TypedDict

import attrs

from crowdd.database.access import Database
from crowdd.features.tasks.change_bodies import RedundancyBody
from crowdd.features.tasks.changes import Changes, Effect
from crowdd.features.tasks.settings import StoppingBody
from crowdd.features.trust import fixed_number, review_statements, sample_statements
from crowdd.features.trust.fixed_number import FixedComparison
from crowdd.features.trust.recalibration import measured
from crowdd.features.trust.rows import GoldRun, Recalibration, ReplayedRun, TrustFigures
from crowdd.features.trust.weighing import Calibration, Given, Weighing, calibration
from crowdd.kernel.concurrency.worker_thread import WorkerThread
from crowdd.kernel.errors import FormError
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import parse_number
from crowdd.kinds.stopping import MAX_ANSWERS

_FOLD = 50  # completed tasks after which the replay takes over what it has learned


@attrs.frozen
class Policy:
    """When a task is complete: at ``maximum`` answers, or from ``min_answers`` on once one is this probable.

    ``recalibration``: how probable something is of which the model says so.
    """

    min_answers: int
    confidence: float
    maximum: int
    recalibration: Recalibration | None = None

    def is_sure(self, value: float) -> bool:
        """Whether the model says enough, by what was measured of it."""
        return measured(self.recalibration, value) >= self.confidence


@attrs.frozen
class PastTask:
    """A completed task: its counted answers in the order in which they came, and what its result says now.

    ``result`` is a class from 0, None for none; ``checked``: an expert has decided it. ``truth``: the class that an
    expert said without seeing the result, because it was drawn at random; None for others.
    """

    answers: Sequence[Given]
    result: int | None
    checked: bool = False
    truth: int | None = None


@attrs.frozen
class Replay:
    """What a policy would have done with ``tasks``, which had ``given`` answers.

    ``asked`` answers would have been enough. In ``early`` tasks fewer than were given, in ``short`` tasks the policy
    would have asked for more than there are. ``same`` of the ``compared`` tasks with a result would have the same one;
    ``right`` of the ``checked`` tasks what the expert decided. ``fixed``: what it saves against a fixed number that is
    as accurate, if enough of the tasks were drawn at random and decided.
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
    fixed: FixedComparison | None

    @property
    def fewer(self) -> float:
        """The share of the given answers that would not have been asked for."""
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
    stops, known = [], []
    for number, task in enumerate(tasks, 1):
        stop = _stopped(weighing, task.answers, policy)
        stops.append(stop)
        if task.truth is not None:
            known.append(fixed_number.judged(weighing, task.answers, task.truth, stop.answers, stop.label))
        if number % _FOLD == 0:
            weighing.fold()
    return _summary(tasks, stops, fixed_number.compare(known))


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
    return _Stop(passed, posterior.index(top), policy.is_sure(top), not ended)


def _ends(weighing: Weighing, taken: Sequence[Given], policy: Policy) -> bool:
    if len(taken) >= policy.maximum:
        return True
    return len(taken) >= policy.min_answers and policy.is_sure(max(weighing.posterior(taken)))


def _summary(tasks: Sequence[PastTask], stops: Sequence[_Stop], fixed: FixedComparison | None) -> Replay:
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
        fixed=fixed,
    )


CONFIDENCES: Final = (0.8, 0.9, 0.95, 0.98)
"""Confidences that are compared on the page."""
_GOLD_ANSWERS = 11  # to a gold task that are weighed, as many as a task would have


class CheckedShares(TypedDict):
    """Whether results are right: on gold tasks, and where experts have decided."""

    gold: Calibration
    experts: Calibration


class TrustOverview:
    """For owners: the caller has checked it."""

    def __init__(self, db: Database, worker_thread: WorkerThread) -> None:
        self._db, self._worker_thread = db, worker_thread

    async def figures(self, project_id: int) -> TrustFigures | None:
        """How tasks stopped; None where the first answer field is no label."""
        return await review_statements.read_trust_figures(self._db, project_id)

    async def checked(self, project_id: int) -> CheckedShares:
        """Confidence against the share that was right."""
        experts = await review_statements.list_checked_results(self._db, project_id)
        gold = await review_statements.list_gold_runs(self._db, project_id, _GOLD_ANSWERS)
        figures = await self.figures(project_id)
        rule = policy_of(figures, await sample_statements.find_recalibration(self._db, project_id))
        return {
            "gold": calibration(_gold_pairs(gold, len(figures["choices"]) if figures else 2, rule)),
            "experts": calibration((one["confidence"], one["right"]) for one in experts),
        }

    async def replays(self, project_id: int, k: int, policies: Sequence[Policy]) -> list[Replay]:
        """What each policy would have done with the tasks that were completed last. ``k``: the number of classes."""
        tasks, gold = past(await review_statements.list_replayed_runs(self._db, project_id))
        curve = await sample_statements.find_recalibration(self._db, project_id)
        policies = [attrs.evolve(policy, recalibration=curve) for policy in policies]
        return [await self._worker_thread.do(replay, tasks, max(k, 2), policy, gold) for policy in policies]


def policy_of(figures: TrustFigures | None, recalibration: Recalibration | None = None) -> Policy:
    """When tasks stop now; where redundancy is not adaptive, after all answers."""
    if figures is None or figures["min_answers"] is None:
        return Policy(_GOLD_ANSWERS, 1.0, _GOLD_ANSWERS)
    return Policy(figures["min_answers"], figures["confidence"] or 1.0, _GOLD_ANSWERS, recalibration)


def past(rows: Iterable[ReplayedRun]) -> tuple[list[PastTask], dict[int, tuple[float, float]]]:
    """Tasks for a replay, and what volunteers did on gold tasks, with numbers for volunteers."""
    numbers: dict[str, int] = {}
    gold: dict[int, tuple[float, float]] = {}
    tasks = []
    for _task, task_runs in groupby(rows, lambda one: one["task_id"]):
        runs = list(task_runs)
        answers = []
        for run in runs:
            number = numbers.setdefault(run["actor"], len(numbers))
            if run["gold_seen"]:
                gold[number] = (run["gold_right"], run["gold_seen"])
            answers.append(Given(number, run["class_"] - 1, run["network"] or ""))
        result, truth = (None if each is None else each - 1 for each in (runs[0]["result_class"], runs[0]["truth"]))
        tasks.append(PastTask(answers, result, runs[0]["expert"], truth))
    return tasks, gold


def _gold_pairs(rows: Iterable[GoldRun], k: int, rule: Policy) -> list[tuple[float, bool]]:
    """Confidence and whether it is right of each gold task, whose answers run through the rule without the truth."""
    pairs = []
    for _task, task_runs in groupby(rows, lambda one: one["task_id"]):
        runs = list(task_runs)
        posterior: list[float] = []
        for n in range(1, len(runs) + 1):
            if n < min(rule.min_answers, len(runs)):
                continue
            posterior = weighed(runs[:n], k)
            if rule.is_sure(max(posterior)):
                break
        pairs.append((max(posterior), posterior.index(max(posterior)) + 1 in runs[0]["truths"]))
    return pairs


def weighed(runs: Sequence[GoldRun], k: int) -> list[float]:
    """How probable each class is, by what is known of the volunteers now. Before, each class is as probable."""
    totals, strangers = [0.0] * k, dict[str, int]()
    for run in runs:
        weight = 1.0
        if run["network"] and not run["known"]:
            strangers[run["network"]] = strangers.get(run["network"], 0) + 1
            weight = 1 / strangers[run["network"]]
        says, at = run["says"], (run["class_"] - 1) * k
        if len(says) == 1:
            totals[run["class_"] - 1] += weight * says[0]
        else:
            totals = [total + weight * says[at + truth] for truth, total in enumerate(totals)]
    shares = [math.exp(max(total - max(totals), -700)) for total in totals]
    return [share / sum(shares) for share in shares]


_MIN_PERCENT, _MAX_PERCENT = 50, 99.9  # per cent


@attrs.frozen
class TrustSettings:
    """``on``: tasks stop early. ``confidence`` is from 0.5 to 0.999; ``max_answers`` is n_answers of the tasks.

    ``completed``: also completed tasks follow, and may be open again.
    """

    on: bool
    min_answers: int
    confidence: float
    max_answers: int
    completed: bool = False

    @classmethod
    def parse(cls, form: Mapping[str, object]) -> TrustSettings:
        """The settings of a form, with the confidence in per cent. Raises FormError."""
        wrong: dict[str, list[str]] = {}
        minimum, maximum = _whole(form, "min_answers", wrong), _whole(form, "max_answers", wrong)
        percent = _percent(form, wrong)
        if not wrong and minimum > maximum:
            wrong["max_answers"] = [_("The maximum must be at least the minimum.")]
        if wrong:
            raise FormError(wrong)
        return cls(bool(form.get("on")), minimum, round(percent / 100, 4), maximum, bool(form.get("completed")))

    @property
    def info(self) -> dict[str, object] | None:
        """What stands in ``info.trust``; None while tasks do not stop early."""
        return {"min_answers": self.min_answers, "confidence": self.confidence} if self.on else None

    @property
    def change(self) -> StoppingBody:
        """The same for ``Changes.stopping``."""
        if not self.on:
            return StoppingBody(completed=self.completed)
        return StoppingBody(min_answers=self.min_answers, confidence=self.confidence, completed=self.completed)

    @property
    def policy(self) -> Policy:
        """The same for a replay."""
        return Policy(
            self.min_answers if self.on else self.max_answers, self.confidence if self.on else 1.0, self.max_answers
        )


@attrs.frozen
class StopEffect:
    """Open tasks that would be complete, complete ones that would be open; ``early`` of ``replayed`` ended before."""

    completed: int
    reopened: int
    early: int
    replayed: int


class AdaptiveRedundancy:
    """For owners: the caller has checked it."""

    def __init__(self, changes: Changes, overview: TrustOverview) -> None:
        self._changes, self._overview = changes, overview

    async def usual_answers(self, project_id: int) -> int | None:
        """How many answers a task of the project has at most."""
        return await self._changes.usual_answers(project_id)

    async def effect(self, who: Requester, project_id: int, settings: TrustSettings) -> StopEffect:
        """What saving the settings would do."""
        change = await self._changes.stopping(who, project_id, settings.change, dry_run=True)
        figures = await self._overview.figures(project_id)
        k = len(figures["choices"]) if figures else 2
        (replay,) = await self._overview.replays(project_id, k, [settings.policy])
        return StopEffect(change.completed, change.reopened, replay.early, replay.tasks)

    async def ask_again(self, who: Requester, project_id: int, named: Sequence[int]) -> Effect:
        """Reopens completed tasks that are no longer sure."""
        return await self._changes.ask_again(who, project_id, named)

    async def save(self, who: Requester, project_id: int, settings: TrustSettings) -> Effect:
        """Saves the settings, and has the tasks follow them."""
        done = await self._changes.stopping(who, project_id, settings.change)
        if await self.usual_answers(project_id) != settings.max_answers:
            done = await self._changes.redundancy(who, project_id, RedundancyBody(n_answers=settings.max_answers))
        return done


def _whole(form: Mapping[str, object], name: str, wrong: dict[str, list[str]]) -> int:
    text = str(form.get(name) or "").strip()
    if 1 <= (number := parse_number(text) or 0) <= MAX_ANSWERS:
        return number
    wrong[name] = [_("Enter a whole number from 1 to %(maximum)s.", maximum=MAX_ANSWERS)]
    return 0


def _percent(form: Mapping[str, object], wrong: dict[str, list[str]]) -> float:
    try:
        value = float(str(form.get("confidence") or "").strip().replace(",", "."))
    except ValueError:
        value = 0
    if _MIN_PERCENT <= value <= _MAX_PERCENT:
        return value
    wrong["confidence"] = [_("Enter a number from 50 to 99.9.")]
    return 0
