"""A crowd answers a project of a running server, and what comes out."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import attrs
import numpy as np
from support.person import Person as Account
from support.servers.live import LiveServer

from bench.support.testbed import Sql
from bench.support.volunteers import address
from bench.support.wire import Client, Response
from bench.trust.crowds import COLLUDERS, Crowd, Person
from crowdd.domain.analyses.methods.estimate import Reals

MIN_ANSWERS, CONFIDENCE, MAX_ANSWERS = 2, 0.95, 11
BUSY = 30  # how many hold a task at the same time
STAYS = 0.9  # chance that the next one comes before anybody answers, while fewer hold one
FOLDED = 20  # answers between two folds
_PATIENCE = 2000  # people in a row who get no task, while nobody holds one, before the bench gives up
_JOB = "fold_counters"


@attrs.frozen
class Outcome:
    """What a crowd has come to. Classes are numbered from 0, -1 is none.

    ``counted`` answers of each task; ``gold`` and ``refused`` answers of all: to gold tasks, and of volunteers who are
    no better than chance. ``log`` has answers and folds in their order.
    """

    crowd: Crowd
    label: np.ndarray[Any, np.dtype[np.int64]]
    confidence: Reals
    counted: np.ndarray[Any, np.dtype[np.int64]]
    reasons: Counter[str]
    gold: int
    refused: int
    guarded: bool
    log: list[Given | None]

    @property
    def right(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Of each task whether its label is right."""
        return self.label == self.crowd.truth[: len(self.label)]

    @property
    def captured(self) -> float:
        """The share of the tasks that colluders care about which have the label that they want."""
        targeted = self.crowd.targeted[: len(self.label)]
        return float((self.label == self.crowd.lure[: len(self.label)])[targeted].mean()) if targeted.any() else 0.0

    @property
    def answers(self) -> float:
        """For each task, with those that do not count."""
        return (int(self.counted.sum()) + self.gold + self.refused) / len(self.label)

    @property
    def calibration_error(self) -> float:
        """How far confidence is from the share that was right, in ten steps from 0.5 on; by the number of tasks."""
        step = np.clip(((self.confidence - 0.5) * 20).astype(int), 0, 9)
        gaps = [
            abs(self.confidence[step == n].mean() - self.right[step == n].mean()) * (step == n).mean()
            for n in range(10)
            if (step == n).any()
        ]
        return float(sum(gaps))


@attrs.frozen
class Given:
    """An answer that the server took: by whom, to which task, and its class."""

    who: Person
    task: int
    said: int


@attrs.frozen
class Project:
    """A published project: its id, those of its tasks in the order of the crowd, and a token for external volunteers."""

    id: int
    tasks: list[int]
    token: str


def halt_folding(sql: Sql) -> None:
    """From now on the server folds no counters by itself: a crowd of this bench answers a hundred times too fast for that."""
    sql.rows(
        "INSERT INTO job AS j (name, due) VALUES (%(name)s, clock() + interval '1 year')"
        " ON CONFLICT (name) DO UPDATE SET due = excluded.due",
        {"name": _JOB},
    )


def fold(sql: Sql, project: int, *, everybody: bool = False) -> None:
    """Folds as the job does (crowdd/storage/projects/statistics.py). ``everybody``: all volunteers are worked out again."""
    if everybody:
        sql.rows("UPDATE trust_model SET published_upto = '' WHERE project_id = %(project)s", {"project": project})
    sql.rows("SELECT fold_evidence(%(project)s), fold_stats()", {"project": project})


def made(server: LiveServer, owner: Account, name: str, crowd: Crowd, **info: object) -> Project:
    """A new project with the tasks of a crowd, the gold ones among the others."""
    choices = [f"class {n}" for n in range(crowd.shape.classes)]
    declared = {
        "task_presenter": "<p>?</p>",
        "answers": [{"name": "class", "at": "/answer", "type": "label", "choices": choices}],
        "trust": {"min_answers": MIN_ANSWERS, "confidence": CONFIDENCE},
    }
    body = {"name": name, "short_name": name, "description": "Which class?", "info": {**declared, **info}}
    project = owner.api("POST", "project", body)["id"]
    order = np.random.default_rng(1).permutation(len(crowd.truth)).tolist()
    tasks = [0] * len(order)
    for first in range(0, len(order), 200):
        part = order[first : first + 200]
        rows = [{"project_id": project, "info": {"n": 0}, "n_answers": MAX_ANSWERS} for _ in part]
        for number, row in zip(part, owner.api("POST", "task", rows), strict=True):
            tasks[number] = row["id"]
    for number in range(crowd.shape.tasks, len(order)):
        right = {"task_id": tasks[number], "answer": choices[crowd.truth[number]]}
        owner.api("POST", f"project/{project}/gold", right)
    owner.publish(name)
    secret = owner.api("GET", f"project/{project}")["secret_key"]
    token = owner.ask("GET", f"/api/auth/project/{name}/token", Authorization=secret).text
    return Project(project, tasks, token)


class Play:
    """One crowd answers one project, one request at a time.

    Whoever comes gives the answer that they owe, then asks for a task. While ``BUSY`` people hold one, somebody of them
    answers before the next one comes.
    """

    def __init__(self, crowd: Crowd, project: Project, port: int, sql: Sql, *, everybody: bool = False) -> None:
        self._crowd, self._project, self._sql, self._everybody = crowd, project, sql, everybody
        self._client = Client(port)
        self._numbers = {task: number for number, task in enumerate(project.tasks)}
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
                left = await asyncio.to_thread(self._fold)
        self._client.close()
        return self._outcome()

    def _somebody(self) -> Person:
        return list(self._holds)[int(self._crowd.chance.integers(len(self._holds)))]

    async def _next(self) -> None:
        """The next one comes."""
        who = self._crowd.comes()
        if who in self._holds:
            await self._answer(who)
        asked = await self._ask(who, "GET", f"/api/project/{self._project.id}/newtask")
        if asked.json:
            self._holds[who], self._idle = self._numbers[asked.json["id"]], 0
            return
        self._idle += 1
        if self._holds:
            await self._answer(self._somebody())
        elif self._idle > _PATIENCE:
            raise AssertionError(f"Nobody gets a task any more: {asked}")

    async def _answer(self, who: Person) -> None:
        task = self._holds.pop(who)
        said = self._crowd.answers(who, task)
        body = {"project_id": self._project.id, "task_id": self._project.tasks[task], "info": {"answer": f"class {said}"}}
        await self._ask(who, "POST", "/api/taskrun", body)
        self._log.append(Given(who, task, said))
        self._given += 1

    async def _ask(self, who: Person, method: str, path: str, body: Any = None) -> Response:
        attack = self._crowd.shape.attack
        if who.colludes and attack is not None and attack.network:
            there = f"2001:db8:7:{COLLUDERS * who.life + who.number:x}::1"
            answer = await self._client.ask(method, path, body, X_Forwarded_For=there)
        else:
            path += f"?external_uid={int(who.colludes)}-{who.number}-{who.life}"
            answer = await self._client.ask(
                method, path, body, Authorization=f"Bearer {self._project.token}", X_Forwarded_For=address(who.number)
            )
        if answer.status != 200:
            raise AssertionError(f"{method} {path}: {answer}")
        return answer

    def _fold(self) -> bool:
        """Folds; whether there are open tasks."""
        fold(self._sql, self._project.id, everybody=self._everybody)
        self._log.append(None)
        found: bool = self._sql.one(
            "SELECT EXISTS (SELECT FROM task_ledger WHERE project_id = %(p)s AND NOT done AND NOT retired)",
            {"p": self._project.id},
        )
        return found

    def _outcome(self) -> Outcome:
        rows = {row["task_id"]: row for row in self._sql.rows(_RESULTS, {"p": self._project.id})}
        results = [rows[task] for task in self._project.tasks[: self._crowd.shape.tasks]]
        other = self._sql.rows(_OTHER, {"p": self._project.id})[0]
        return Outcome(
            self._crowd,
            np.array([row["class"] or 0 for row in results]) - 1,
            np.array([row["confidence"] for row in results], dtype=np.float64),
            np.array([row["counted"] for row in results]),
            Counter(row["reason"] for row in results),
            other["gold"],
            other["refused"],
            other["guarded"],
            self._log,
        )


_RESULTS = (
    "SELECT task_id, class, confidence, reason, cardinality(task_run_ids) AS counted FROM result"
    " WHERE project_id = %(p)s AND last_version"
)
_OTHER = """
SELECT (SELECT count(*) FROM task_run WHERE project_id = %(p)s AND gold) AS gold,
       (SELECT count(*) FROM task_run WHERE project_id = %(p)s AND NOT gold AND NOT counted) AS refused,
       (SELECT guarded FROM trust_model WHERE project_id = %(p)s) AS guarded"""
