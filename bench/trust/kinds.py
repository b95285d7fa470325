"""Crowds of five kinds, not used while the rule was built: shared confusion, spam, drift, easy and hard tasks."""

from __future__ import annotations

from typing import Final

import attrs
import numpy as np

from bench.trust.crowds import Person

ACTIVITY: Final = 1.2
COPIERS: Final = 5  # per cent of the volunteers, where there are some


@attrs.frozen
class Kind:
    """Accuracies are beta distributed. ``spam``: the share of volunteers who do not look, twice as active.

    ``copies``: some copy one sheet. ``drift``: some become worse or better. ``hard``: the share of tasks that are 1.5
    logits harder; the others are half a logit easier. ``skew``: classes are not even.
    """

    name: str
    classes: int
    beta: tuple[float, float]
    spam: float = 0.0
    copies: bool = False
    drift: bool = False
    hard: float = 0.0
    skew: bool = False
    tasks: int = 500
    volunteers: int = 100
    gold: int = 0
    attack: None = None


KINDS: Final = (
    Kind("A", 3, (8, 2)),
    Kind("B", 4, (5, 2), spam=0.1),
    Kind("C", 5, (6, 2), spam=0.1, copies=True, drift=True),
    Kind("D", 3, (6, 2), spam=0.1, hard=0.3),
    Kind("E", 6, (4, 2), spam=0.1, copies=True, hard=0.2, skew=True),
)


class KindCrowd:
    """A crowd of a kind, as ``crowds.Crowd`` is one. Gold tasks, behind the others, are drawn as they are."""

    def __init__(self, kind: Kind, seed: int) -> None:
        self.shape, self.chance = kind, np.random.default_rng(seed)
        k, chance, n = kind.classes, self.chance, kind.volunteers
        shares = chance.dirichlet(np.full(k, 2.0)) if kind.skew else np.full(k, 1 / k)
        total = kind.tasks + kind.gold
        self.truth = chance.choice(k, total, p=shares)
        hard = chance.random(total) < kind.hard
        self._easy = np.where(hard, -1.5, 0.5) if kind.hard else np.zeros(total)
        self._logit = _logit(chance.beta(*kind.beta, n))
        self._of_class = chance.normal(0, 0.5, k)
        shared = chance.dirichlet(np.full(k, 0.7), k)
        self._errors = np.array(
            [[_error(0.7 * shared[t] + 0.3 * chance.dirichlet(np.full(k, 0.7)), t) for t in range(k)] for _ in range(n)]
        )
        self._spam = chance.random(n) < kind.spam
        self._sort = chance.integers(0, 3, n)  # of spam: at random, always the same, by frequency
        self._favourite = chance.integers(0, k, n)
        self._shares = shares
        copiers = chance.permutation(n)[: n * COPIERS // 100] if kind.copies else []
        self._copies = np.isin(np.arange(n), copiers)
        self._sheet = chance.integers(0, k, total)
        self._drift = chance.choice([-2.0, 0.0, 1.0], n) if kind.drift else np.zeros(n)
        self._given = np.zeros(n)
        activity = chance.lognormal(0, ACTIVITY, n) * np.where(self._spam, 2, 1)
        self._activity = (activity / activity.sum()).cumsum()

    def comes(self) -> Person:
        """Who comes next."""
        return Person(min(int(np.searchsorted(self._activity, self.chance.random())), self.shape.volunteers - 1))

    def answers(self, who: Person, task: int) -> int:
        """What somebody answers to a task."""
        i, k, truth, chance = who.number, self.shape.classes, int(self.truth[task]), self.chance
        self._given[i] += 1
        if self._spam[i]:
            return int((chance.integers(k), self._favourite[i], chance.choice(k, p=self._shares))[self._sort[i]])
        if self._copies[i]:
            return int(self._sheet[task])
        drift = self._drift[i] * min(self._given[i] / 100, 1)
        right = 1 / (1 + np.exp(-(self._logit[i] + self._of_class[truth] + self._easy[task] + drift)))
        return truth if chance.random() < right else int(chance.choice(k, p=self._errors[i, truth]))


def _logit(share: np.ndarray) -> np.ndarray:
    share = np.clip(share, 0.02, 0.98)
    return np.asarray(np.log(share / (1 - share)))


def _error(row: np.ndarray, truth: int) -> np.ndarray:
    row = np.array(row)
    row[truth] = 0
    return row / row.sum()
