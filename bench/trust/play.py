"""A crowd answers a project, wherever that is, and what comes out."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Protocol

import attrs
import numpy as np

from bench.trust.crowds import Crowd, Person

if TYPE_CHECKING:
    from numpy.typing import NDArray

MIN_ANSWERS, CONFIDENCE, MAX_ANSWERS = 2, 0.95, 11
BUSY = 30  # how many hold a task at the same time
STAYS = 0.9  # chance that the next one comes before anybody answers, while fewer hold one
FOLDED = 20  # answers between two folds
_PATIENCE = 2000  # people in a row who get no task, while nobody holds one, before the bench gives up


@attrs.frozen
class Given:
    """An answer: by whom, to which task, and its class."""

    who: Person
    task: int
    said: int


@attrs.frozen
class Result:
    """Of a task: its class from 0 (-1: none), how sure that is, how many answers count, and why it was complete."""

    label: int
    confidence: float
    counted: int
    reason: str


@attrs.frozen
class Totals:
    """Answers that do not count: to gold tasks, and of volunteers who are no better than chance.

    ``guarded``: volunteers teach nothing about each other any more.
    """

    gold: int
    refused: int
    guarded: bool


class Place(Protocol):
    """Where a project is answered. Tasks are numbered as in its crowd."""

    async def task_for(self, who: Person) -> int | None:
        """Hands somebody a task, who then holds it; None: there is none for them at the moment."""

    async def take(self, answer: Given) -> None:
        """Takes the answer to a task that somebody holds."""

    async def fold(self) -> bool:
        """Lets count what has been learned; whether there are open tasks."""

    async def results(self) -> tuple[list[Result], Totals]:
        """Of all tasks, gold ones excepted, when they are complete."""


@attrs.frozen
class Outcome:
    """What a crowd has come to. ``log`` has answers and folds (None) in their order."""

    crowd: Crowd
    results: list[Result]
    totals: Totals
    log: list[Given | None]

    @property
    def labels(self) -> NDArray[np.int64]:
        """Of each task."""
        return np.array([each.label for each in self.results])

    @property
    def right(self) -> NDArray[np.bool_]:
        """Of each task whether its label is right."""
        return self.labels == self.crowd.truth[: len(self.results)]

    @property
    def captured(self) -> float:
        """The share of the tasks that colluders care about which have the label that they want."""
        targeted = self.crowd.targeted[: len(self.results)]
        return float((self.labels == self.crowd.lure[: len(self.results)])[targeted].mean()) if targeted.any() else 0.0

    @property
    def answers(self) -> float:
        """For each task, with those that do not count."""
        counted = sum(each.counted for each in self.results)
        return (counted + self.totals.gold + self.totals.refused) / len(self.results)

    @property
    def calibration_error(self) -> float:
        """How far confidence is from the share that was right, in ten steps from 0.5 on; by the number of tasks."""
        confidence = np.array([each.confidence for each in self.results])
        step = np.clip(((confidence - 0.5) * 20).astype(int), 0, 9)
        gaps = [
            abs(confidence[step == n].mean() - self.right[step == n].mean()) * (step == n).mean()
            for n in range(10)
            if (step == n).any()
        ]
        return float(sum(gaps))


class Play:
    """One crowd answers one project, one after the other.

    A person who comes gives the answer that they owe, then asks for a task. While ``BUSY`` people hold one, one of them
    answers before the next one comes.
    """

    def __init__(self, crowd: Crowd, place: Place) -> None:
        self._crowd, self._place = crowd, place
        self._holds: dict[Person, int] = {}
        self._log: list[Given | None] = []
        self._given = self._idle = 0

    async def run(self) -> Outcome:
        """Returns when every task is complete."""
        left = True
        while left or self._holds:
            folded = self._given // FOLDED
            if left:
                await self._next()
            if self._holds and (not left or len(self._holds) >= BUSY or self._crowd.chance.random() >= STAYS):
                await self._answer(self._somebody())
            if self._given // FOLDED > folded or not self._holds:
                left = await self._place.fold()
                self._log.append(None)
        return Outcome(self._crowd, *await self._place.results(), self._log)

    def _somebody(self) -> Person:
        return list(self._holds)[int(self._crowd.chance.integers(len(self._holds)))]

    async def _next(self) -> None:
        """The next one comes."""
        who = self._crowd.comes()
        if who in self._holds:
            await self._answer(who)
        task = await self._place.task_for(who)
        if task is not None:
            self._holds[who], self._idle = task, 0
            return
        self._idle += 1
        if self._holds:
            await self._answer(self._somebody())
        elif self._idle > _PATIENCE:
            raise AssertionError(f"Nobody gets a task any more; {Counter(answer is None for answer in self._log)}")

    async def _answer(self, who: Person) -> None:
        task = self._holds.pop(who)
        answer = Given(who, task, self._crowd.answers(who, task))
        await self._place.take(answer)
        self._log.append(answer)
        self._given += 1
