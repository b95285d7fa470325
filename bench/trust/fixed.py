"""What a fixed number of answers to each task comes to, by the best of three methods. No server takes part."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import attrs
import numpy as np

from bench.trust.crowds import Crowd, Person, Shape
from crowdd.features.analyses import methods
from crowdd.features.analyses.methods import Answers, Estimate, Reals

NUMBERS = (2, 3, 4, 5, 7, 9, 11, 15)
if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bools = NDArray[np.bool_]

Given = tuple[int, Person, int]
"""Task, who answered it, and their answer."""
_METHODS = {
    "majority": (methods.estimate_majority, {}),
    "one coin": (methods.estimate_one_coin, {"right": 2.0, "wrong": 1.0, "rounds": 100, "tolerance": 1e-6}),
    "Dawid-Skene": (methods.estimate_dawid_skene, {"rounds": 100, "tolerance": 1e-5}),
}


def accuracies(crowd: Crowd, answers: Sequence[Given]) -> dict[str, float]:
    """How often each method finds what is right in these answers, which name every task. Equal classes are drawn."""
    return {name: float(right.mean()) for name, right in _right(crowd, answers).items()}


def captured(crowd: Crowd, number: int) -> dict[str, float]:
    """The share of targeted tasks of which each method says what colluders want, with so many answers to each task."""
    targets = crowd.targeted[: crowd.shape.tasks]
    return {name: float(1 - right[targets].mean()) for name, right in _right(crowd, answered(crowd, number)).items()}


def _right(crowd: Crowd, crowd_answers: Sequence[Given]) -> dict[str, Bools]:
    """Of each method, for which tasks it finds what is right. Equal classes are drawn."""
    people: dict[Person, int] = {}
    rows = np.array(
        [(task, people.setdefault(who, len(people)), label) for task, who, label in crowd_answers], dtype=np.int32
    )
    answers = Answers(rows[:, 0], rows[:, 1], rows[:, 2], crowd.shape.tasks, len(people), crowd.shape.classes)
    return {name: _is_right(crowd, method(answers, parameters)) for name, (method, parameters) in _METHODS.items()}


def _is_right(crowd: Crowd, estimate: Estimate) -> Bools:
    chance = np.random.default_rng(0)
    drawn: Reals = estimate.posterior + chance.random(estimate.posterior.shape) * 1e-9
    right: Bools = drawn.argmax(axis=1) == crowd.truth[: crowd.shape.tasks]
    return right


def answered(crowd: Crowd, number: int) -> list[Given]:
    """So many answers to each task, by the volunteers who come first."""
    answers: list[Given] = []
    for task in range(crowd.shape.tasks):
        here: set[Person] = set()
        while len(here) < number:
            who = crowd.comes()
            if who not in here:
                here.add(who)
                answers.append((task, who, crowd.answers(who, task)))
    return answers


@attrs.frozen
class Curve:
    """The accuracy of the best method for each of NUMBERS, each at least that of fewer answers."""

    best: tuple[float, ...]

    def needed(self, accuracy: float) -> float:
        """How many answers to each task reach it, between two numbers in proportion; infinite: more than were tried."""
        if accuracy > self.best[-1]:
            return math.inf
        at = next(i for i, reached in enumerate(self.best) if reached >= accuracy)
        if at == 0:
            return float(NUMBERS[0])
        low, high = self.best[at - 1], self.best[at]
        return NUMBERS[at - 1] + (accuracy - low) / (high - low) * (NUMBERS[at] - NUMBERS[at - 1])


def curve(shape: Shape, seeds: Sequence[int]) -> Curve:
    """The mean of some crowds of one shape."""
    means = [_best(shape, seeds, number) for number in NUMBERS]
    return Curve(tuple(float(best) for best in np.maximum.accumulate(means)))


def _best(shape: Shape, seeds: Sequence[int], number: int) -> float:
    seed_accuracies = [accuracies(crowd, answered(crowd, number)) for crowd in (Crowd(shape, seed) for seed in seeds)]
    return max(float(np.mean([each[name] for each in seed_accuracies])) for name in _METHODS)
