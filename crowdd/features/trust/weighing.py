"""Weigh answers and volunteers in memory by the rule of docs/trust.md, and measure whether confidence is right.

The server decides by definitions 2x in the database. This is the same rule for replays, which must not touch rows. The
calibration takes confidence in steps, each against the share that was right.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TypedDict

import attrs

from crowdd.features.results.consensus import share_interval

_MAX_MATRIX = 10  # classes up to which a volunteer's confusions are counted
_PRIOR, _MEAN, _MEAN_PRIOR = 8.0, 0.75, 50.0  # imagined answers of a volunteer; of the project, and how many are right
_SMOOTH, _FLOOR, _ERRORS = 20.0, 0.25, 10.0
_CAPS = (0.70, 0.90, 0.95)  # of somebody new, known from completed tasks, known from gold tasks
_KNOWN_GOLD, _KNOWN_PEERS = 5, 10
_MEMORY = 200.0  # evidence at which all of a volunteer's counts are halved
_GUARD, _GUARD_SEEN, _GUARD_GOLD = 0.3, 100, 100


@attrs.frozen
class Given:
    """An answer: by whom, its class from 0, and the network of an anonymous volunteer ("" for others)."""

    actor: int
    label: int
    network: str = ""


@attrs.define
class Evidence:
    """What is counted of a volunteer. ``own``: confusions, truth by answer."""

    gold_right: float = 0.0
    gold_seen: float = 0.0
    peer_right: float = 0.0
    peer_seen: float = 0.0
    own: list[list[float]] = attrs.Factory(list)

    @property
    def known(self) -> bool:
        """Whether enough is known that networks do not matter any more."""
        return self.gold_seen >= _KNOWN_GOLD or self.peer_seen >= _KNOWN_PEERS

    @property
    def cap(self) -> float:
        """How accurate the volunteer is taken to be at most."""
        new, peers, gold = _CAPS
        return gold if self.gold_seen >= _KNOWN_GOLD else peers if self.peer_seen >= _KNOWN_PEERS else new

    def halve(self) -> None:
        """Forgets half of it while there is much."""
        while self.gold_seen + self.peer_seen >= _MEMORY:
            self.gold_right, self.gold_seen = self.gold_right / 2, self.gold_seen / 2
            self.peer_right, self.peer_seen = self.peer_right / 2, self.peer_seen / 2
            self.own = [[count / 2 for count in row] for row in self.own]


class Weighing:
    """A project that learns while its tasks are completed one after the other."""

    def __init__(self, k: int) -> None:
        self._k = k
        self._people: dict[int, Evidence] = {}
        self._frequencies = [0.0] * k
        self._confusions = [[0.0] * k for _ in range(k)]
        self._right = self._seen = self._gold = 0.0
        self._spoken: dict[tuple[int, int], list[float]] = {}
        self.fold()

    def learn_gold(self, actor: int, right: float, seen: float) -> None:
        """What a volunteer did on gold tasks before."""
        one = self._people.setdefault(actor, Evidence())
        one.gold_right, one.gold_seen = one.gold_right + right, one.gold_seen + seen
        self._right, self._seen, self._gold = self._right + right, self._seen + seen, self._gold + seen

    def learn(self, answers: Iterable[Given], posterior: Sequence[float]) -> None:
        """What a completed task says of those who answered it. It counts from the next ``fold`` on."""
        for one in answers:
            known = self._people.setdefault(one.actor, Evidence())
            known.peer_right, known.peer_seen = known.peer_right + posterior[one.label], known.peer_seen + 1
            self._right, self._seen = self._right + posterior[one.label] / 2, self._seen + 0.5
            for truth, share in enumerate(posterior):
                self._confusions[truth][one.label] += share
            if self._k <= _MAX_MATRIX:
                known.own = known.own or [[0.0] * self._k for _ in range(self._k)]
                for truth, share in enumerate(posterior):
                    known.own[truth][one.label] += share
        for truth, share in enumerate(posterior):
            self._frequencies[truth] += share

    def fold(self) -> None:
        """Takes over what was learned."""
        for one in self._people.values():
            one.halve()
        k, total = self._k, sum(self._frequencies)
        prior = [max((f + _SMOOTH / k) / (total + _SMOOTH), _FLOOR / k) for f in self._frequencies]
        self._prior = [math.log(share / sum(prior)) for share in prior]
        mean = (_MEAN_PRIOR * _MEAN + self._right) / (_MEAN_PRIOR + self._seen)
        self.guarded = self._gold < _GUARD_GOLD and self._seen >= _GUARD_SEEN and mean < 1 / k + _GUARD * (1 - 1 / k)
        self._mean = min(max(mean, 1 / k + 0.02), 0.9)
        self._errors = [self._spread(truth) for truth in range(k)]
        self._spoken = {}

    def _spread(self, truth: int) -> list[float]:
        """Where errors go when this class is right."""
        row, k = self._confusions[truth], self._k
        total = sum(row) - row[truth] + _ERRORS
        return [0.0 if label == truth else (count + _ERRORS / (k - 1)) / total for label, count in enumerate(row)]

    def accuracy(self, actor: int) -> float:
        """How often a volunteer is taken to be right."""
        one = self._people.get(actor) or Evidence()
        right, seen = (0.0, 0.0) if self.guarded else (one.peer_right, one.peer_seen)
        share = (_PRIOR * self._mean + one.gold_right + right) / (_PRIOR + one.gold_seen + seen)
        return min(max(share, 1 / self._k), one.cap)

    def counts(self, actor: int) -> bool:
        """Whether answers of a volunteer take a place: not of those who are known to be no better than chance."""
        one = self._people.get(actor)
        if one is None or (one.gold_seen < _KNOWN_GOLD and (self.guarded or one.peer_seen < 2 * _KNOWN_PEERS)):
            return True
        return self.accuracy(actor) > 1 / self._k + 0.05

    def _says(self, actor: int, label: int) -> list[float]:
        """ln P(the volunteer answers this | class), for each class."""
        if (actor, label) not in self._spoken:
            self._spoken[actor, label] = [math.log(share) for share in self._column(actor, label)]
        return self._spoken[actor, label]

    def _odds(self, actor: int) -> float:
        """With many classes: ln of right against one wrong class."""
        if (actor, 0) not in self._spoken:
            accuracy = self.accuracy(actor)
            self._spoken[actor, 0] = [math.log(accuracy * (self._k - 1) / (1 - accuracy))]
        return self._spoken[actor, 0][0]

    def _column(self, actor: int, label: int) -> list[float]:
        one, k, accuracy = self._people.get(actor) or Evidence(), self._k, self.accuracy(actor)
        own = [] if self.guarded else one.own
        shares = [accuracy if truth == label else (1 - accuracy) * self._errors[truth][label] for truth in range(k)]
        if own:
            shares = [(_PRIOR * shares[truth] + own[truth][label]) / (_PRIOR + sum(own[truth])) for truth in range(k)]
        top, rest = min(shares[label], one.cap), (1 - one.cap) / (2 * (k - 1))
        return [top if truth == label else max(min(share, top), rest) for truth, share in enumerate(shares)]

    def posterior(self, answers: Sequence[Given]) -> list[float]:
        """How probable each class is, by answers in the order in which they came."""
        totals, strangers = list(self._prior), dict[str, int]()
        for one in answers:
            weight = 1.0
            if one.network and not (self._people.get(one.actor) or Evidence()).known:
                strangers[one.network] = strangers.get(one.network, 0) + 1
                weight = 1 / strangers[one.network]
            if self._k > _MAX_MATRIX:
                totals[one.label] += weight * self._odds(one.actor)
                continue
            for truth, log in enumerate(self._says(one.actor, one.label)):
                totals[truth] += weight * log
        top = max(totals)
        shares = [math.exp(max(total - top, -700)) for total in totals]
        total = sum(shares)
        return [share / total for share in shares]


STEPS = (0.0, 0.5, 0.8, 0.9, 0.95, 0.98)
HEADLINE = 0.95
"""The step that the headline is about."""
MIN_HEADLINE = 50
"""So many checked tasks are needed for a headline."""


class CalibrationStep(TypedDict):
    """Checked tasks with a confidence from ``minimum`` to below ``below`` (None: to 1).

    ``claimed`` is their mean confidence, ``share`` that of those that were right, ``low`` and ``high`` its interval.
    """

    minimum: float
    below: float | None
    tasks: int
    right: int
    claimed: float
    share: float
    low: float
    high: float


class Calibration(TypedDict):
    """Steps with tasks in them. ``error``: the mean distance of claimed and measured, over all ``tasks``."""

    tasks: int
    right: int
    steps: list[CalibrationStep]
    error: float | None


def calibration(checked: Iterable[tuple[float, bool]]) -> Calibration:
    """Of pairs of a confidence and whether the result was right."""
    pairs_by_step: dict[int, list[tuple[float, bool]]] = {}
    for confidence, right in checked:
        nth = max(n for n, minimum in enumerate(STEPS) if confidence >= minimum)
        pairs_by_step.setdefault(nth, []).append((confidence, right))
    steps = [_step(nth, pairs) for nth, pairs in sorted(pairs_by_step.items())]
    tasks = sum(step["tasks"] for step in steps)
    distance = sum(step["tasks"] * abs(step["share"] - step["claimed"]) for step in steps)
    return {
        "tasks": tasks,
        "right": sum(step["right"] for step in steps),
        "steps": steps,
        "error": distance / tasks if tasks else None,
    }


def _step(nth: int, pairs: list[tuple[float, bool]]) -> CalibrationStep:
    right, tasks = sum(right for _, right in pairs), len(pairs)
    low, high = share_interval(right, tasks)
    return {
        "minimum": STEPS[nth],
        "below": STEPS[nth + 1] if nth + 1 < len(STEPS) else None,
        "tasks": tasks,
        "right": right,
        "claimed": sum(confidence for confidence, _ in pairs) / tasks,
        "share": right / tasks,
        "low": low,
        "high": high,
    }
