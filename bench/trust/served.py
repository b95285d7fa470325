"""A project of a running server, answered over HTTP."""

from __future__ import annotations

import asyncio
from typing import Any

import attrs
import numpy as np
import psycopg2
from support.person import Person as Account
from support.servers.live import LiveServer

from bench.support.testbed import Sql
from bench.support.volunteers import address
from bench.support.wire import Client, Response
from bench.trust.crowds import COLLUDERS, Crowd, Person
from bench.trust.play import CONFIDENCE, MAX_ANSWERS, MIN_ANSWERS, Given, Result, Totals

_JOB = "fold_counters"


def halt_folding(dsn: str) -> Any:
    """From now on the server folds no counters by itself: crowds of this bench answer a hundred times too fast.

    Waits for the end of a run. The connection that is returned holds the job's lock.
    """
    connection = psycopg2.connect(dsn, options="-c search_path=public,code")
    connection.autocommit = True
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(job_lock(%s))", [_JOB])
    return connection


class Folding:
    """Folds what a project has learned, as the job does (crowdd/features/statistics/statements.py).

    ``everybody``: all volunteers are worked out again each time.
    """

    def __init__(self, dsn: str, project: int, *, everybody: bool = False) -> None:
        self._connection = psycopg2.connect(dsn, options="-c search_path=public,code -c jit=off")
        self._connection.autocommit = True
        self._project, self._everybody = project, everybody

    def fold(self) -> bool:
        """Folds; whether the project has open tasks."""
        with self._connection.cursor() as cursor:
            if self._everybody:
                cursor.execute("UPDATE trust_model SET published_upto = '' WHERE project_id = %s", [self._project])
            cursor.execute("SELECT fold_evidence(%s), fold_stats()", [self._project])
            cursor.execute(
                "SELECT EXISTS (SELECT FROM task_ledger WHERE project_id = %s AND NOT done AND NOT retired)",
                [self._project],
            )
            (has_open_tasks,) = cursor.fetchone() or (False,)
            return bool(has_open_tasks)

    def close(self) -> None:
        """Disconnects."""
        self._connection.close()


@attrs.frozen
class Project:
    """A published project: its id, those of its tasks in the order of the crowd, a token for external volunteers."""

    id: int
    tasks: list[int]
    token: str


def made(server: LiveServer, owner: Account, name: str, crowd: Crowd) -> Project:
    """A new project with the tasks of a crowd, the gold ones among the others."""
    choices = [f"class {n}" for n in range(crowd.shape.classes)]
    info = {
        "task_presenter": "<p>?</p>",
        "answers": [{"name": "class", "at": "/answer", "type": "label", "choices": choices}],
        "trust": {"min_answers": MIN_ANSWERS, "confidence": CONFIDENCE},
    }
    body = {"name": name, "short_name": name, "description": "Which class?", "info": info}
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


class Served:
    """Volunteers are external users with the project's token, colluders of one network are anonymous."""

    def __init__(self, crowd: Crowd, project: Project, port: int, sql: Sql, *, everybody: bool = False) -> None:
        self._crowd, self._project, self._sql = crowd, project, sql
        self._folding = Folding(sql.dsn, project.id, everybody=everybody)
        self._client = Client(port)
        self._numbers = {task: number for number, task in enumerate(project.tasks)}

    async def task_for(self, who: Person) -> int | None:
        """Asks newtask."""
        asked = await self._ask(who, "GET", f"/api/project/{self._project.id}/newtask")
        return self._numbers[asked.json["id"]] if asked.json else None

    async def take(self, answer: Given) -> None:
        """Posts a task run."""
        task, info = self._project.tasks[answer.task], {"answer": f"class {answer.said}"}
        await self._ask(
            answer.who, "POST", "/api/taskrun", {"project_id": self._project.id, "task_id": task, "info": info}
        )

    async def _ask(self, who: Person, method: str, path: str, body: Any = None) -> Response:
        attack = self._crowd.shape.attack
        if who.colludes and attack is not None and attack.network:
            attacker_address = f"2001:db8:7:{COLLUDERS * who.life + who.number:x}::1"
            answer = await self._client.ask(method, path, body, X_Forwarded_For=attacker_address)
        else:
            path += f"?external_uid={int(who.colludes)}-{who.number}-{who.life}"
            answer = await self._client.ask(
                method, path, body, Authorization=f"Bearer {self._project.token}", X_Forwarded_For=address(who.number)
            )
        if answer.status != 200:
            raise AssertionError(f"{method} {path}: {answer}")
        return answer

    async def fold(self) -> bool:
        """As the job of the server does."""
        return await asyncio.to_thread(self._folding.fold)

    async def results(self) -> tuple[list[Result], Totals]:
        """From the tables."""
        self._client.close()
        self._folding.close()
        rows = {row["task_id"]: row for row in self._sql.rows(_RESULTS, {"p": self._project.id})}
        result_rows = [rows[task] for task in self._project.tasks[: self._crowd.shape.tasks]]
        (totals,) = self._sql.rows(_TOTALS, {"p": self._project.id})
        return [Result(r["label"], r["confidence"], r["counted"], r["reason"]) for r in result_rows], Totals(**totals)


_RESULTS = """
SELECT task_id, coalesce(class, 0) - 1 AS label, confidence, reason, cardinality(task_run_ids) AS counted
  FROM result WHERE project_id = %(p)s AND last_version"""
_TOTALS = """
SELECT (SELECT count(*) FROM task_run WHERE project_id = %(p)s AND gold) AS gold,
       (SELECT count(*) FROM task_run WHERE project_id = %(p)s AND NOT gold AND NOT counted) AS refused,
       (SELECT guarded FROM trust_model WHERE project_id = %(p)s) AS guarded"""
