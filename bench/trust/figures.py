"""The figures of a crowd, what is promised of them, and the tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import attrs
import numpy as np

from bench.trust.crowds import Attack, Shape
from bench.trust.fixed import NUMBERS, Curve, accuracies
from bench.trust.play import Outcome

SAVED, CROWDS_THAT_SAVE = 0.35, 14  # share of answers, in so many of the eighteen crowds with gold tasks
CALIBRATION_ERROR = 0.03
NOISE = 0.03  # of the share of captured tasks; two standard errors of the mean where these are more


@attrs.frozen
class Saving:
    """Means over the seeds. ``answers`` with those to gold tasks and those of unreliable volunteers, also listed apart.

    ``accuracy`` is that of the labels as they were decided, ``afterwards`` that of the better of one coin and
    Dawid-Skene on the same answers, if it is greater. ``needed``: the fixed number of answers with which the best of
    three methods is as accurate as that, ``needed_at_once``: as the labels themselves. Infinite: more than 15.
    """

    crowd: str
    gold_tasks: bool
    answers: float
    gold: float
    refused: float
    accuracy: float
    afterwards: float
    calibration_error: float
    needed: float
    needed_at_once: float

    @property
    def saved(self) -> float:
        """The share of answers that is saved; at least, if more than were tried would be needed."""
        return 1 - self.answers / min(self.needed, NUMBERS[-1])

    @property
    def saved_at_once(self) -> float:
        """The same without an analysis afterwards, although fixed numbers have one."""
        return 1 - self.answers / min(self.needed_at_once, NUMBERS[-1])


def saving(shape: Shape, outcomes: Sequence[Outcome], curve: Curve) -> Saving:
    """Of some crowds of a shape."""
    mean = lambda values: float(np.mean(values))  # noqa: E731
    accuracy = mean([each.right.mean() for each in outcomes])
    afterwards = max(accuracy, *(mean(each) for each in zip(*map(_analysed, outcomes), strict=True)))
    tasks = shape.tasks
    return Saving(
        crowd=shape.name,
        gold_tasks=shape.gold > 0,
        answers=mean([each.answers for each in outcomes]),
        gold=mean([each.totals.gold / tasks for each in outcomes]),
        refused=mean([each.totals.refused / tasks for each in outcomes]),
        accuracy=accuracy,
        afterwards=afterwards,
        calibration_error=mean([each.calibration_error for each in outcomes]),
        needed=curve.needed(afterwards),
        needed_at_once=curve.needed(accuracy),
    )


def _analysed(outcome: Outcome) -> tuple[float, float]:
    """The accuracy of one coin and of Dawid-Skene on all answers of a crowd but those to gold tasks."""
    ordinary = [each for each in outcome.log if each is not None and each.task < outcome.crowd.shape.tasks]
    accuracy_by_method = accuracies(outcome.crowd, [(each.task, each.who, each.said) for each in ordinary])
    return accuracy_by_method["one coin"], accuracy_by_method["Dawid-Skene"]


def line(outcome: Saving) -> str:
    """For the table."""
    more = ">" if math.isinf(outcome.needed) else ""
    fixed = f"{more}{min(outcome.needed, NUMBERS[-1]):.1f}"
    parts = f"({outcome.gold:.2f} gold, {outcome.refused:.2f} refused)"
    return (
        f"{outcome.crowd:<16} {'gold' if outcome.gold_tasks else '-':<4} answers {outcome.answers:5.2f} {parts}"
        f"  accuracy {outcome.accuracy:.3f}, {outcome.afterwards:.3f}  fixed {fixed:>5}"
        f"  saved {more}{outcome.saved:.0%} ({outcome.saved_at_once:.0%} at once)"
        f"  calibration error {outcome.calibration_error:.3f}"
    )


def broken(savings: Sequence[Saving]) -> list[str]:
    """What the crowds violate. The number that must save is in proportion where not all eighteen were chosen."""
    promised = [each for each in savings if not each.crowd.endswith("confusing")]
    violations = [
        f"{each.crowd}: the calibration error is {each.calibration_error:.3f}, at most {CALIBRATION_ERROR} is promised"
        for each in promised
        if each.calibration_error > CALIBRATION_ERROR
    ]
    with_gold = [each for each in promised if each.gold_tasks]
    good = sum(each.saved >= SAVED for each in with_gold)
    wanted = math.floor(len(with_gold) * CROWDS_THAT_SAVE / 18)
    if good < wanted:
        violations.append(f"{good} of {len(with_gold)} crowds save {SAVED:.0%} with gold tasks, {wanted} are promised")
    return violations


@attrs.frozen
class Assault:
    """An attack on a mixed crowd with two classes, and the share of targeted tasks that may be captured."""

    name: str
    attack: Attack
    bound: float
    gold: bool = True


ASSAULTS = (
    Assault("30 % lie everywhere", Attack(0.3, everywhere=True, gold=1.0), 0.03),
    Assault("30 % lie everywhere, no gold", Attack(0.3, everywhere=True), 0.41, gold=False),
    Assault("30 % sybils lie everywhere", Attack(0.3, everywhere=True, sybils=True, gold=1.0), 0.04),
    Assault("30 % sybils lie on targets", Attack(0.3, sybils=True), 0.21),
    Assault("30 % sybils of one network", Attack(0.3, sybils=True, network=True), 0.11),
    Assault("10 % know gold, lie on targets", Attack(0.1), 0.06),
    Assault("30 % know gold, lie on targets", Attack(0.3), 0.57),
    Assault("30 % sleepers", Attack(0.3, sleepers=True), 0.02),
)
"""The bounds are means over eight crowds of the simulation in which the rule was chosen; newcomers got more gold tasks
there, and 24 crowds say more of some (bench/RESULTS.md)."""


@attrs.frozen
class Capture:
    """What an attack has come to: means over the seeds.

    ``majority`` and ``dawid_skene``: the same with seven answers to each task, without a rule.
    """

    name: str
    captured: float
    noise: float
    bound: float
    accuracy: float
    answers: float
    majority: float
    dawid_skene: float

    @property
    def line(self) -> str:
        """For the table."""
        return (
            f"{self.name:<32} captured {self.captured:.2f} ± {self.noise:.2f} (bound {self.bound:.2f})"
            f"  accuracy {self.accuracy:.3f}  answers {self.answers:.2f}"
            f"  of seven answers {self.majority:.2f} by majority, {self.dawid_skene:.2f} by Dawid-Skene"
        )


def capture(assault: Assault, outcomes: Sequence[Outcome], compared: Sequence[Mapping[str, float]]) -> Capture:
    """Of some crowds under one attack. ``compared``: what methods make of a fixed number of answers in each of them."""
    shares = [each.captured for each in outcomes]
    return Capture(
        assault.name,
        float(np.mean(shares)),
        max(NOISE, 2 * float(np.std(shares)) / len(shares) ** 0.5),
        assault.bound,
        float(np.mean([each.right.mean() for each in outcomes])),
        float(np.mean([each.answers for each in outcomes])),
        float(np.mean([each["majority"] for each in compared])),
        float(np.mean([each["Dawid-Skene"] for each in compared])),
    )


def captured_too_much(captures: Sequence[Capture]) -> list[str]:
    """The attacks that succeed more often than they may."""
    return [
        f"{each.name}: {each.captured:.2f} of the targeted tasks are captured, the bound is {each.bound:.2f}"
        for each in captures
        if each.captured > each.bound + each.noise
    ]
