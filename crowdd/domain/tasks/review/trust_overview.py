"""What a project has saved by stopping early, whether its results are right, and replays with other settings."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Final, TypedDict

from crowdd.concurrency.worker_thread import WorkerThread
from crowdd.domain.tasks.review.calibration import Calibration, calibration
from crowdd.domain.tasks.review.policy_simulator import PastTask, Policy, Replay, replay
from crowdd.domain.tasks.review.weighing import Given
from crowdd.storage.database import Database
from crowdd.storage.tasks.review import trust_figures
from crowdd.storage.tasks.review.rows import GoldRun, ReplayedRun, TrustFigures

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
        return await trust_figures.figures(self._db, project_id)

    async def checked(self, project_id: int) -> CheckedShares:
        """Confidence against the share that was right."""
        experts = await trust_figures.checked(self._db, project_id)
        gold = await trust_figures.gold_runs(self._db, project_id, _GOLD_ANSWERS)
        figures = await self.figures(project_id)
        rule = policy_of(figures)
        return {
            "gold": calibration(_gold_pairs(gold, len(figures["choices"]) if figures else 2, rule)),
            "experts": calibration((one["confidence"], one["right"]) for one in experts),
        }

    async def replays(self, project_id: int, k: int, policies: Sequence[Policy]) -> list[Replay]:
        """What each policy would have done with the tasks that were completed last. ``k``: the number of classes."""
        tasks, gold = past(await trust_figures.replayed(self._db, project_id))
        return [await self._worker_thread.do(replay, tasks, max(k, 2), policy, gold) for policy in policies]


def policy_of(figures: TrustFigures | None) -> Policy:
    """When tasks stop now; where redundancy is not adaptive, after all answers."""
    if figures is None or figures["min_answers"] is None:
        return Policy(_GOLD_ANSWERS, 1.0, _GOLD_ANSWERS)
    return Policy(figures["min_answers"], figures["confidence"] or 1.0, _GOLD_ANSWERS)


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
        result = runs[0]["result_class"]
        tasks.append(PastTask(answers, None if result is None else result - 1, runs[0]["expert"]))
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
            if max(posterior) >= rule.confidence:
                break
        pairs.append((max(posterior), posterior.index(max(posterior)) + 1 == runs[0]["truth"]))
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
