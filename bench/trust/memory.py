"""The same project without a server: the rule, the default scheduler and the mixing of gold tasks in memory.

It takes a tenth of the time, which is for trying other rules. ``equality`` shows that the server decides alike.
It leaves out that by default one answer of each network counts.
"""

from __future__ import annotations

import attrs

from bench.trust.crowds import Crowd, Person
from bench.trust.play import CONFIDENCE, MAX_ANSWERS, MIN_ANSWERS, Given, Result, Totals
from crowdd.features.trust import weighing
from crowdd.features.trust.recalibration import measured
from crowdd.features.trust.rows import Recalibration
from crowdd.kinds.gold_shares import GOLD_SHARES

GOLD_RATE, GOLD_START = (GOLD_SHARES[name].default for name in ("gold_rate", "gold_start"))
GOLD_HALVES = 3.0  # answers
NEIGHBOURS = 30  # among which the scheduler chooses, in crowdd/database/definitions/tasks/32_candidate_scan.sql


class Learning(weighing.Weighing):
    """The rule, which also learns from single answers to gold tasks."""

    def learn_gold_answer(self, actor: int, label: int, truth: int) -> None:
        """An answer to a gold task. It counts from the next fold on."""
        self.learn_gold(actor, float(label == truth), 1.0)
        known = self._people[actor]
        known.own = known.own or [[0.0] * self._k for _ in range(self._k)]
        known.own[truth][label] += 1


@attrs.define
class _Task:
    """A task: counted answers, who has answered or holds it, how many hold it, how many answers it wants so far."""

    taken: list[weighing.Given] = attrs.field(factory=list)
    seen: set[Person] = attrs.field(factory=set)
    held: int = 0
    wanted: int = MIN_ANSWERS
    result: Result | None = None


class Memory:
    """One project."""

    def __init__(self, crowd: Crowd) -> None:
        self._crowd, self._chance = crowd, crowd.chance
        self._rule = Learning(crowd.shape.classes)
        self._tasks = [_Task() for _ in range(crowd.shape.tasks)]
        self._first = 0
        self._numbers: dict[Person, int] = {}
        self._handed: dict[Person, int] = {}
        self._gold_seen: dict[Person, set[int]] = {}
        self._learned: list[Given] = []
        self._completed: list[tuple[list[weighing.Given], list[float]]] = []
        self._gold = self._refused = 0
        self.recalibration: Recalibration | None = None
        self._maximum = MAX_ANSWERS

    async def task_for(self, who: Person) -> int | None:
        """A gold task by chance, else the first open one."""
        task = self._open_for(who)
        if task is None:
            return None
        task_count = self._handed[who] = self._handed.get(who, 0) + 1
        gold = self._gold_for(who, task_count - 1)
        if gold is not None:
            return gold
        self._tasks[task].held += 1
        self._tasks[task].seen.add(who)
        return task

    @property
    def stops(self) -> list[Result | None]:
        """What was decided of each task so far."""
        return [task.result for task in self._tasks]

    def _open_for(self, who: Person) -> int | None:
        """With gold tasks that of some neighbours with most answers and holders; else, or without, the first."""
        if self._crowd.shape.gold:
            start, n = int(self._crowd.chance.integers(len(self._tasks))), len(self._tasks)
            neighbours = ((start + further) % n for further in self._crowd.chance.permutation(NEIGHBOURS).tolist())
            candidate = max(neighbours, key=lambda number: self._is_open(number, who) and self._under_way(number))
            if self._is_open(candidate, who):
                return int(candidate)
        while self._first < len(self._tasks) and self._tasks[self._first].result is not None:
            self._first += 1
        return next((n for n in range(self._first, len(self._tasks)) if self._is_open(n, who)), None)

    def _is_open(self, number: int, who: Person) -> bool:
        task = self._tasks[number]
        return task.result is None and len(task.taken) + task.held < task.wanted and who not in task.seen

    def _under_way(self, number: int) -> float:
        task = self._tasks[number]
        return len(task.taken) + task.held + 0.5  # above 0: also a task that nobody has begun comes before a closed one

    def _gold_for(self, who: Person, task_count: int) -> int | None:
        n_gold = self._crowd.shape.gold
        if not n_gold or self._chance.random() >= max(GOLD_RATE, GOLD_START * 2 ** (-task_count / GOLD_HALVES)):
            return None
        seen = self._gold_seen.setdefault(who, set())
        for _ in range(8):
            drawn = self._crowd.shape.tasks + int(self._chance.integers(n_gold))
            if drawn not in seen:
                seen.add(drawn)
                return drawn
        return None

    async def take(self, answer: Given) -> None:
        """Counts an answer, unless its volunteer is no better than chance, and decides whether its task is complete."""
        if answer.task >= len(self._tasks):
            self._gold += 1
            self._learned.append(answer)
            return
        task, who = self._tasks[answer.task], self._number(answer.who)
        task.held -= 1
        if not self._rule.counts(who):
            self._refused += 1
            return
        if task.result is not None:
            return
        task.taken.append(weighing.Given(who, answer.said, self._network(answer.who)))
        if len(task.taken) == task.wanted:
            self._decide(task)

    def _decide(self, task: _Task) -> None:
        posterior = self._rule.posterior(task.taken)
        top, n = max(posterior), len(task.taken)
        sure = measured(self.recalibration, top) >= CONFIDENCE
        if n < self._maximum and not sure:
            task.wanted += 1
            return
        task.result = Result(posterior.index(top), top, n, "sure" if sure else "full")
        self._completed.append((task.taken, posterior))

    def _network(self, who: Person) -> str:
        attack = self._crowd.shape.attack
        return "theirs" if who.colludes and attack is not None and attack.network else ""

    def _number(self, who: Person) -> int:
        return self._numbers.setdefault(who, len(self._numbers))

    async def fold(self) -> bool:
        """Learns from what was completed since the last fold."""
        for answer in self._learned:
            self._rule.learn_gold_answer(self._number(answer.who), answer.said, int(self._crowd.truth[answer.task]))
        for taken, posterior in self._completed:
            self._rule.learn(taken, posterior)
        self._learned.clear()
        self._completed.clear()
        self._rule.fold()
        return any(task.result is None for task in self._tasks[self._first :])

    async def results(self) -> tuple[list[Result], Totals]:
        """As far as they were decided."""
        decided = [result for result in self.stops if result is not None]
        return decided, Totals(self._gold, self._refused, self._rule.guarded)
