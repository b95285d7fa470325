"""Figures that are true at once: many clients answer, change and delete, and every figure served is then recounted.

    python -m bench.truth [--clients 64] [--operations 10000]

While the clients are at work nobody folds counters: the lock that this takes is held from here. Then every figure that
the server tells of projects, people and the site has to be what the rows say, ``crowdctl check`` has to be silent, and
all of it once more after folding.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import json
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import psycopg2
from support.servers.live import BIN, LiveServer

from bench.support import testbed, volunteers
from bench.support.figures import Times, table
from bench.support.wire import Client, Response

PROJECTS = 2
# Of a hundred operations.
MIX = {
    "answer": 72,
    "correct": 6,
    "delete answer": 8,
    "redundancy": 5,
    "delete task": 2,
    "add tasks": 3,
    "fill result": 4,
}


def pattern() -> list[str]:
    """A hundred operations, in any order."""
    operations = [name for name, share in MIX.items() for _ in range(share)]
    return random.sample(operations, len(operations))


@attrs.frozen
class Plan:
    """How many take part, and how much they do."""

    clients: int = 64
    operations: int = 10_000
    tasks: int = 2_000
    n_answers: int = 3


@attrs.define
class Crowd:
    """Those who take part, and what they have seen."""

    plan: Plan
    server: LiveServer
    projects: list[testbed.Project]
    pattern: list[str] = attrs.field(factory=pattern)
    times: Times = attrs.field(factory=Times)
    done: Counter[str] = attrs.field(factory=Counter)
    refused: Counter[str] = attrs.field(factory=Counter)
    wrong: list[str] = attrs.field(factory=list)
    people: list[tuple[Client, testbed.Project, str]] = attrs.field(factory=list)

    async def work(self) -> None:
        """Everybody works until so many operations are done."""
        numbers = itertools.count()
        makers = [self._volunteer(n, kind) for n, kind in enumerate(volunteers.kinds(self.plan.clients))]
        self.people = [await maker for maker in makers]
        await asyncio.gather(*(Worker(self, *each).run(numbers) for each in self.people))

    async def _volunteer(self, number: int, kind: str) -> tuple[Client, testbed.Project, str]:
        project = self.projects[number % len(self.projects)]
        return await volunteers.make(kind, number, self.server.port, project), project, kind


class Worker:
    """One client, which also acts as the owner of its project."""

    def __init__(self, crowd: Crowd, client: Client, project: testbed.Project, kind: str) -> None:
        self._crowd, self._client, self._project, self._kind = crowd, client, project, kind
        self._owner = Client(crowd.server.port, query=f"api_key={project.owner.key}")
        self._mine: list[int] = []
        self._tasks: list[int] = []

    async def run(self, numbers: Iterator[int]) -> None:
        """Works until the operations are used up."""
        ways: dict[str, Callable[[], Awaitable[Response | None]]] = {
            "answer": self._answer,
            "correct": self._correct,
            "delete answer": self._delete_answer,
            "redundancy": self._redundancy,
            "delete task": self._delete_task,
            "add tasks": self._add_tasks,
            "fill result": self._fill_result,
        }
        while (number := next(numbers)) < self._crowd.plan.operations:
            name = self._crowd.pattern[number % len(self._crowd.pattern)]
            with self._crowd.times.of(name):
                answer = await ways[name]()
            self._judge(name, answer)
        self._owner.close()

    def _judge(self, name: str, answer: Response | None) -> None:
        if answer is not None and answer.status >= 500:
            self._crowd.wrong.append(f"{name}: {answer.status} {answer.body[:200]!r}")
        done = answer is not None and answer.status < 300
        (self._crowd.done if done else self._crowd.refused)[name] += 1

    async def _answer(self) -> Response | None:
        answer = await self._answer_as(self._client)
        if answer is not None and answer.status == 200:
            self._mine.append(answer.json["id"])
            self._tasks.append(answer.json["task_id"])
        return answer

    async def _answer_as(self, who: Client) -> Response | None:
        asked = await who.ask("GET", f"/api/{self._project.id}/newtask")
        if not (asked.status == 200 and asked.json):
            return asked if asked.status >= 500 else None
        body = {"project_id": self._project.id, "task_id": asked.json["id"], "info": random.randint(0, 9)}
        if who is self._client and self._kind == "external":
            body["external_uid"] = self._client.query.partition("=")[2]
        return await who.ask("POST", "/api/taskrun", body)

    async def _correct(self) -> Response | None:
        """An answer, and at once what it should have been; only people with an account can, until it is in a result."""
        who = self._client if self._kind == "user" else self._owner
        answer = await self._answer_as(who)
        if answer is None or answer.status != 200:
            return answer
        return await who.ask("PUT", f"/api/taskrun/{answer.json['id']}", {"info": "changed"})

    async def _delete_answer(self) -> Response | None:
        if not self._mine:
            return None
        run = self._mine.pop(random.randrange(len(self._mine)))
        who = self._client if self._kind == "user" and random.random() < 0.5 else self._owner
        return await who.ask("DELETE", f"/api/taskrun/{run}")

    async def _redundancy(self) -> Response | None:
        if not self._tasks:
            return None
        path = f"/api/task/{random.choice(self._tasks)}"
        return await self._owner.ask("PUT", path, {"n_answers": random.randint(1, 5)})

    async def _delete_task(self) -> Response | None:
        if not self._tasks:
            return None
        return await self._owner.ask("DELETE", f"/api/task/{self._tasks.pop(random.randrange(len(self._tasks)))}")

    async def _add_tasks(self) -> Response:
        return await self._owner.ask("POST", "/api/task", [{"project_id": self._project.id, "n_answers": 2}] * 3)

    async def _fill_result(self) -> Response | None:
        path = f"/api/result?project_id={self._project.id}&orderby=id&desc=true&limit=5"
        response = await self._owner.ask("GET", path)
        if not (response.status == 200 and response.json):
            return response if response.status >= 500 else None
        result = random.choice(response.json)["id"]
        return await self._owner.ask("PUT", f"/api/result/{result}", {"info": random.choice([None, 1, {"a": 2}])})


# Recounting -----------------------------------------------------------------------------------------------------------

_PROJECT = """
SELECT (SELECT count(*) FROM task WHERE project_id = p.id) AS n_tasks, count(r.id) AS n_task_runs,
       count(DISTINCT r.actor) AS n_volunteers, l.done AS n_completed_tasks,
       least(CASE WHEN l.done >= l.tasks THEN 100 ELSE 99 END,
             count(r.id) FILTER (WHERE counted) * 100 / greatest(l.wanted, 1))::int AS overall_progress,
       coalesce(avg(extract(epoch FROM finish_time - r.created)), 0)::float8 AS average_time,
       (SELECT count(*) FROM result x WHERE x.project_id = p.id AND last_version AND info <> 'null') AS n_results,
       count(DISTINCT r.actor) FILTER (WHERE actor NOT LIKE 'u:%%') AS n_anon,
       count(DISTINCT r.actor) FILTER (WHERE actor LIKE 'u:%%') AS n_auth,
       count(r.id) FILTER (WHERE actor LIKE 'u:%%') AS runs_auth
  FROM project p LEFT JOIN task_run r ON r.project_id = p.id,
       LATERAL (SELECT count(*) AS tasks, count(*) FILTER (WHERE done) AS done, sum(n_answers) AS wanted
                  FROM task_ledger WHERE project_id = p.id) l
 WHERE p.id = %(id)s GROUP BY p.id, l.tasks, l.done, l.wanted"""
_TOP = """
SELECT a.name, count(*) AS tasks FROM task_run r JOIN account a ON a.id = r.user_id
 WHERE r.project_id = %(id)s GROUP BY a.id ORDER BY 2 DESC, 'u:' || a.id LIMIT 5"""
_SCORES = """
SELECT name, score, rank() OVER (ORDER BY score DESC) AS rank
  FROM (SELECT a.id, a.name, count(r.id) AS score
          FROM account a JOIN task_run r ON r.user_id = a.id JOIN project p ON p.id = r.project_id
         WHERE a.id <> ALL (p.owners_ids) GROUP BY a.id) s
 WHERE score > 0 ORDER BY score DESC, id LIMIT 20"""
_SITE = """
SELECT (SELECT count(*) FROM task_run) AS n_task_runs, (SELECT sum(n_answers) FROM task_ledger)::bigint AS n_tasks,
       (SELECT count(*) FROM account)
       + (SELECT count(DISTINCT (project_id, actor)) FROM task_run WHERE actor NOT LIKE 'u:%%') AS n_users"""


async def compare(crowd: Crowd, sql: testbed.Sql, when: str) -> list[str]:
    """What the server tells and the rows do not bear out."""
    asked = Client(crowd.server.port, {"Content-Type": "application/json"})
    differences = [line async for line in _differences(crowd, sql, asked)]
    asked.close()
    return [f"{when}: {line}" for line in differences]


async def _differences(crowd: Crowd, sql: testbed.Sql, asked: Client) -> AsyncIterator[str]:
    for project in crowd.projects:
        async for name, reported, counted in _of_project(crowd, sql, asked, project):
            if reported != counted:
                yield f"{project.short_name} {name}: {reported} instead of {counted}"
    board = (await asked.ask("GET", "/leaderboard/")).json["top_users"]
    if (reported := [{key: user[key] for key in ("name", "score", "rank")} for user in board]) != sql.rows(_SCORES):
        yield f"leaderboard: {reported} instead of {sql.rows(_SCORES)}"
    (site,) = sql.rows(_SITE)
    reported = (await asked.ask("GET", "/api/globalstats")).json
    if {name: reported[name] for name in site} != site:
        yield f"globalstats: {reported} instead of {site}"
    for client, project, _ in crowd.people:
        answer = await client.ask("GET", f"/api/project/{project.id}/userprogress")
        done, counted = answer.json["done"], _own(sql, client, project)
        if counted is not None and done != counted:
            yield f"userprogress: {done} instead of {counted}"


async def _of_project(
    crowd: Crowd, sql: testbed.Sql, asked: Client, project: testbed.Project
) -> AsyncIterator[tuple[str, Any, Any]]:
    """Each figure of a project: its name, what is told, what is counted. The same figure is told in several places."""
    (rows,) = sql.rows(_PROJECT, {"id": project.id})
    (record,) = (await asked.ask("GET", f"/api/projectstats?project_id={project.id}&full=1")).json
    owner = Client(crowd.server.port, query=f"api_key={project.owner.key}")
    whole = (await owner.ask("GET", f"/api/project/{project.id}")).json
    owner.close()
    page = (await asked.ask("GET", f"/project/{project.short_name}/stats")).json
    for name in set(rows) - {"n_anon", "n_auth", "runs_auth", "average_time"}:
        reported = {record[name], int(whole.get(name, record[name])), page.get(name, record[name])}
        yield name, reported, {rows[name]}
    users, hours, days = (record["info"][f"{name}_stats"] for name in ("users", "hours", "dates"))
    signed = page["projectStats"]["authenticated"]
    top = [{"name": one["name"], "tasks": one["tasks"]} for one in users["auth"]["top5"]]
    yield "average_time", round(record["average_time"], 3), round(rows["average_time"], 3)
    yield "n_anon", users["n_anon"], rows["n_anon"]
    yield "n_auth", (users["n_auth"], signed["users"]), (rows["n_auth"], rows["n_auth"])
    yield "runs_auth", signed["taskruns"], rows["runs_auth"]
    yield "hours", sum(value[1] for value in hours[0]["values"]), rows["n_task_runs"]
    yield "days", sum(value[1] for value in days[0]["values"]), rows["n_task_runs"]
    yield "completed", days[3]["values"][-1][1], rows["n_completed_tasks"]
    yield "top", top, [dict(row) for row in sql.rows(_TOP, {"id": project.id})]


def _own(sql: testbed.Sql, client: Client, project: testbed.Project) -> int | None:
    """The answers of an external user; what others are called in the rows is not known here."""
    name, _, uid = client.query.partition("=")
    if name != "external_uid":
        return None
    values = {"project": project.id, "actor": f"x:{uid}"}
    return int(sql.one("SELECT count(*) FROM task_run WHERE project_id = %(project)s AND actor = %(actor)s", values))


def check(dsn: str, place: Path) -> list[str]:
    """What ``crowdctl check`` finds."""
    environment = {**os.environ, "CROWDD_DB_DSN": dsn, "CROWDD_DATA_DIR": str(place / "data")}
    done = subprocess.run(
        [BIN / "crowdctl", "check", "--json"], env=environment, cwd=place, capture_output=True, check=False
    )
    return (
        [f"crowdctl check: {difference}" for difference in json.loads(done.stdout)]
        if done.stdout
        else [done.stderr.decode()]
    )


@contextlib.contextmanager
def nobody_folds(dsn: str) -> Iterator[None]:
    """Holds the lock of the folding job."""
    with contextlib.closing(psycopg2.connect(dsn, options="-c search_path=public,code")) as connection:
        with connection.cursor() as cursor:
            cursor.execute("SELECT lock_stats()")
        yield


async def play(
    plan: Plan, server: LiveServer, sql: testbed.Sql, place: Path
) -> tuple[list[tuple[str, object]], list[str]]:
    """What was done, and what was wrong."""
    projects = [
        testbed.project(server, tasks=plan.tasks // PROJECTS, n_answers=plan.n_answers) for _ in range(PROJECTS)
    ]
    # Depth first, a task is soon completed, and its answers can hardly be corrected before that: here they can.
    projects[0].owner.api(
        "PUT", f"project/{projects[0].id}", {"info": {"task_presenter": "<p>?</p>", "sched": "breadth_first"}}
    )
    crowd = Crowd(plan, server, projects)
    with nobody_folds(sql.dsn):
        unfolded = sql.one("SELECT count(*) FROM stat_delta")
        await crowd.work()
        unfolded = sql.one("SELECT count(*) FROM stat_delta") - unfolded
        wrong = crowd.wrong + await compare(crowd, sql, "unfolded") + check(sql.dsn, place)
    sql.rows("SELECT fold_stats()")
    wrong += await compare(crowd, sql, "half folded")
    while sql.one("SELECT fold_stats()"):
        pass
    wrong += await compare(crowd, sql, "folded") + check(sql.dsn, place)
    for client, *_ in crowd.people:
        client.close()
    done = [(name, f"{crowd.done[name]} done, {crowd.refused[name]} refused or nothing to do") for name in MIX]
    return [*done, ("unfolded rows", unfolded), *crowd.times.lines()], wrong


def main() -> int:
    """Runs it and prints a table; 1 when something is violated."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=Plan().clients)
    parser.add_argument("--operations", type=int, default=Plan().operations)
    options = parser.parse_args()
    plan = Plan(clients=options.clients, operations=options.operations)
    with contextlib.ExitStack() as stack:
        place = stack.enter_context(testbed.folder())
        database = stack.enter_context(testbed.postgres(place))
        server = stack.enter_context(testbed.crowdd(database.dsn, place, CROWDD_RATELIMIT_LIMIT="0"))
        lines, violations = asyncio.run(play(plan, server, testbed.Sql(database.dsn), place))
    print(table("Figures that are true at once", lines, violations))
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
