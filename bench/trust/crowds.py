"""Made-up crowds: who comes, how they err, what is right, and volunteers who lie together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]

MIXES = {
    "good": {"good": 0.60, "medium": 0.35, "random": 0.05},
    "mixed": {"good": 0.35, "medium": 0.40, "weak": 0.10, "random": 0.10, "lazy": 0.05},
    "poor": {"good": 0.15, "medium": 0.45, "weak": 0.15, "random": 0.15, "lazy": 0.05, "contrary": 0.05},
}
"""The shares of sorts of volunteers. Random ones draw their answer, lazy ones give the same answer in nine of ten."""
SKEWS = ("even", "skewed")
ACTIVITY = 1.2  # the spread of a lognormal distribution: few volunteers give most of the answers
NEIGHBOURS = 3.0  # an error goes so many times as often to the next classes as to others
SPREAD = 0.04  # of how often volunteers of one sort are right
COLLUDERS = 25
SYBIL_ANSWERS = 5  # after which a sybil comes back as somebody new
SLEEPS = 60  # answers after which a sleeper begins to lie
TARGETS = 0.2  # share of the tasks that colluders care about, unless they lie everywhere


@attrs.frozen
class Attack:
    """Some of all answers are by colluders, who all give the same wrong one.

    ``everywhere``: to all tasks, otherwise to a fifth of them, and they are right in 92 % of the others.
    ``sybils`` come under a new name after five answers, ``sleepers`` begin after sixty answers. ``gold``: the share of
    the gold tasks to which they lie. ``network``: they are anonymous and of one network.
    """

    share: float
    everywhere: bool = False
    sybils: bool = False
    sleepers: bool = False
    gold: float = 0.0
    network: bool = False


@attrs.frozen
class Shape:
    """What a crowd is like. ``confusing``: the share of tasks that lead half of all volunteers to the same error."""

    mix: str
    classes: int
    skew: str = "even"
    tasks: int = 900
    volunteers: int = 120
    gold: int = 60
    confusing: float = 0.0
    attack: Attack | None = None

    @property
    def name(self) -> str:
        """For tables and the option --crowds."""
        return f"{self.mix}-{self.classes}-{'confusing' if self.confusing else self.skew}"


def _frequencies(shape: Shape) -> NDArray[np.float64]:
    k = shape.classes
    if shape.skew == "even":
        return np.full(k, 1 / k)
    return np.array([0.8, *[0.2 / (k - 1)] * (k - 1)])


def _table(sort: str, k: int, chance: np.random.Generator) -> NDArray[np.float64]:
    """How often a volunteer of a sort gives each answer (columns), by what is right (rows)."""
    if sort == "random":
        return np.full((k, k), 1 / k)
    if sort == "lazy":
        table = np.full((k, k), 0.1 / (k - 1))
        table[:, chance.integers(k)] = 0.9
        return table
    right = {"good": 0.92, "medium": 0.75, "weak": (0.75 + 1 / k) / 2, "contrary": min(0.2, 0.5 / k)}[sort]
    return np.array([_row(truth, right, k, chance) for truth in range(k)])


def _row(truth: int, right: float, k: int, chance: np.random.Generator) -> NDArray[np.float64]:
    here = float(np.clip(chance.normal(right, SPREAD), 0.02, 0.99))
    errors = np.ones(k)
    errors[[(truth - 1) % k, (truth + 1) % k]] = NEIGHBOURS
    errors[truth] = 0
    row: NDArray[np.float64] = (1 - here) * errors / errors.sum()
    row[truth] = here
    return row


@attrs.frozen
class Person:
    """A person who answers: a volunteer, or a colluder under one of their names (``life`` counts them)."""

    number: int
    colludes: bool = False
    life: int = 0


class Crowd:
    """Tasks from 0 on, the gold ones behind the others, and the people who answer them. All by one seed."""

    def __init__(self, shape: Shape, seed: int) -> None:
        self.shape, self.chance = shape, np.random.default_rng(seed)
        k, chance = shape.classes, self.chance
        ordinary = chance.choice(k, shape.tasks, p=_frequencies(shape))
        aside = np.random.default_rng([seed, 1])  # a crowd is the same with gold tasks and without
        gold = aside.permutation(np.arange(shape.gold) % k)  # owners choose as many of each class
        wrong = np.concatenate([chance.integers(1, k, shape.tasks), aside.integers(1, k, shape.gold)])
        none = np.zeros(shape.gold, dtype=bool)
        self.truth: Integers = np.concatenate([ordinary, gold])
        self.lure: Integers = (self.truth + wrong) % k
        self.confusing = np.concatenate([chance.random(shape.tasks) < shape.confusing, none])
        shares = MIXES[shape.mix]
        sorts = chance.choice(list(shares), shape.volunteers, p=list(shares.values()))
        self._tables = [_table(str(sort), k, chance).cumsum(axis=1) for sort in sorts]
        activity = chance.lognormal(0, ACTIVITY, shape.volunteers)
        self._activity = (activity / activity.sum()).cumsum()
        attack = shape.attack
        share = 0.0 if attack is None else 1.0 if attack.everywhere else TARGETS
        self.targeted = np.concatenate([chance.random(shape.tasks) < share, none])
        self._lives = [0] * COLLUDERS
        self._given: dict[Person, int] = {}

    def comes(self) -> Person:
        """Who comes next."""
        attack = self.shape.attack
        if attack is None or self.chance.random() >= attack.share:
            return Person(min(int(np.searchsorted(self._activity, self.chance.random())), self.shape.volunteers - 1))
        number = int(self.chance.integers(COLLUDERS))
        if attack.sybils and self._given.get(Person(number, True, self._lives[number]), 0) >= SYBIL_ANSWERS:
            self._lives[number] += 1
        return Person(number, True, self._lives[number])

    def answers(self, who: Person, task: int) -> int:
        """What somebody answers to a task."""
        self._given[who] = self._given.get(who, 0) + 1
        truth = int(self.truth[task])
        if who.colludes:
            if self._lies(who, task):
                return int(self.lure[task])
            return truth if self.chance.random() < 0.92 else int(self.chance.integers(self.shape.classes))
        if self.confusing[task] and self.chance.random() < 0.5:
            return int(self.lure[task])
        answer = int(np.searchsorted(self._tables[who.number][truth], self.chance.random()))
        return min(answer, self.shape.classes - 1)

    def _lies(self, who: Person, task: int) -> bool:
        attack = self.shape.attack
        assert attack is not None
        if attack.sleepers and self._given[who] <= SLEEPS:
            return False
        if task >= self.shape.tasks:
            return bool(self.chance.random() < attack.gold)
        return bool(self.targeted[task])


SHAPES = tuple(Shape(mix, k, skew) for k in (2, 4, 10) for mix in MIXES for skew in SKEWS)
"""The eighteen crowds."""
CONFUSED = tuple(Shape(mix, k, confusing=0.15) for k in (2, 4, 10) for mix in MIXES)
"""Crowds about which nothing is promised: no rule knows that everybody errs in the same way."""
