"""A crowd answers a project until there is nothing left: exactly so many answers count, whatever happens to the server.

python -m bench.crowd [--kill-every 5]
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import attrs
import click
from support.servers.live import LiveServer

from bench.support import testbed, volunteers
from bench.support.figures import Times, table
from bench.support.testbed import Project, Sql
from bench.support.wire import Client, LostError, Response

AGAIN_SECONDS = 0.1  # how soon a volunteer who is told to wait comes back
PATIENCE_SECONDS = 30.0  # how long they do; a lease is much shorter where somebody may vanish
RETRY_SECONDS = 0.05  # how soon after a lost connection
RUSHES = 8  # a run with kills comes in so many rushes, each with a kill in its middle
DESERTED_AT = 0.85  # share of the answers after which everybody vanishes with what they hold
LEASE_SECONDS = 5.0  # of a run with kills
DAWDLERS = 0.03  # share of the tasks of a run with kills that are answered only after their lease


@attrs.frozen
class Plan:
    """What is to happen; ``kill_every`` 0: the server lives."""

    clients: int = 100
    tasks: int = 500
    n_answers: int = 3
    kill_every: float = 0.0
    rushes: int = RUSHES
    lease_seconds: float = LEASE_SECONDS

    @property
    def answers(self) -> int:
        """How many are to be counted in the end."""
        return self.tasks * self.n_answers


@attrs.define
class Outcome:
    """What was seen: ``lines`` for people, ``violations`` of what is promised."""

    lines: list[tuple[str, object]] = attrs.field(factory=list)
    violations: list[str] = attrs.field(factory=list)


class Turns:
    """Lets pairs of newtask and taskrun begin: all of them, or a rush at a time."""

    def __init__(self, limited: bool) -> None:
        self._left = asyncio.Semaphore(0) if limited else None

    async def take(self) -> None:
        """Waits for a turn."""
        if self._left is not None:
            await self._left.acquire()

    def give(self, count: int) -> None:
        """Lets so many more begin."""
        if self._left is not None:
            for _ in range(count):
                self._left.release()


class Crowd:
    """Everybody who answers, and what they have seen together."""

    def __init__(self, plan: Plan, project: Project, clients: list[Client]) -> None:
        self.plan, self.project, self.clients = plan, project, clients
        self.times, self.turns = Times(), Turns(limited=plan.kill_every > 0)
        self.pairs = self.lost = self.uncertain = self.waits = 0
        self.violations: list[str] = []
        self._at_work: list[asyncio.Task[None]] = []

    def begin(self) -> None:
        """Sends everybody to work."""
        self._at_work = [asyncio.create_task(self._work(client)) for client in self.clients]

    async def end(self) -> None:
        """Returns when nobody gets a task any more."""
        await asyncio.gather(*self._at_work)

    @property
    def finished(self) -> bool:
        """Whether nobody gets a task any more."""
        return all(work.done() for work in self._at_work)

    async def vanish(self) -> None:
        """Everybody goes without a word, in the middle of whatever they do."""
        for work, client in zip(self._at_work, self.clients, strict=True):
            work.cancel()
            client.close(reset=True)
        for ended in await asyncio.gather(*self._at_work, return_exceptions=True):
            if isinstance(ended, Exception):
                raise ended

    async def _work(self, client: Client) -> None:
        while True:
            await self.turns.take()
            task = await self.next_task(client)
            if task is None:
                return
            if self.plan.kill_every and random.random() < DAWDLERS:
                await asyncio.sleep(1.2 * self.plan.lease_seconds)
            await self.answer(client, task)
            self.pairs += 1

    async def next_task(self, client: Client) -> Any:
        """A task for the volunteer, None when they have done all; comes back while they are told to wait."""
        end = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < end:
            answer, _ = await self._insist(client, "newtask", "GET", f"/api/project/{self.project.id}/newtask")
            if answer.status == 200 and answer.json:
                return answer.json
            reason, again = answer.headers.get("x-no-task"), answer.headers.get("retry-after")
            if answer.status == 200 and reason in ("none", "network") and again is None:
                return None
            if (answer.status, reason) != (200, "wait") or again is None:
                self.violations.append(f"newtask: {answer}")
                return None
            self.waits += 1
            await asyncio.sleep(min(AGAIN_SECONDS, float(again)))
        self.violations.append(f"A volunteer was told to wait for {PATIENCE_SECONDS:g} s")
        return None

    async def answer(self, client: Client, task: Any) -> None:
        """Answers a task; "already answered" is as good when an earlier attempt may have arrived."""
        body = {"project_id": self.project.id, "task_id": task["id"], "info": {"seen": task["info"]["n"] % 2}}
        answer, repeated = await self._insist(client, "taskrun", "POST", "/api/taskrun", body)
        if repeated and answer.status == 403 and answer.json["exception_msg"] == "You have already answered this task.":
            self.uncertain += 1
        elif answer.status != 200 or answer.json["task_id"] != task["id"]:
            self.violations.append(f"The answer to task {task['id']} was refused: {answer}")

    async def _insist(self, client: Client, name: str, *request: Any) -> tuple[Response, bool]:
        """An answer, and whether an attempt before may have arrived: a server that is away comes back."""
        repeated = False
        while True:
            try:
                with self.times.of(name):
                    return await client.ask(*request), repeated
            except ConnectionError as error:
                if not self.plan.kill_every:
                    raise
                lost = isinstance(error, LostError)
                repeated, self.lost = repeated or lost, self.lost + lost
            await asyncio.sleep(RETRY_SECONDS)


async def play(plan: Plan, server: LiveServer, sql: Sql) -> Outcome:
    """The whole of it on a server; ``sql`` is its database."""
    project = testbed.project(server, tasks=plan.tasks, n_answers=plan.n_answers)
    mixed = enumerate(volunteers.kinds(plan.clients))
    clients = [await volunteers.make(kind, number, server.port, project) for number, kind in mixed]
    crowd, outcome = Crowd(plan, project, clients), Outcome()
    began = time.monotonic()
    kills = await (_with_kills(crowd, server, sql, outcome) if plan.kill_every else _undisturbed(crowd))
    seconds = time.monotonic() - began
    outcome.violations += crowd.violations
    outcome.lines += [
        ("seconds", f"{seconds:.1f}"),
        ("pairs", crowd.pairs),
        ("pairs per second", f"{crowd.pairs / seconds:.0f}"),
    ]
    outcome.lines += [
        ("kills", kills),
        ("connections lost in a request", crowd.lost),
        ("stored though the answer was lost", crowd.uncertain),
    ]
    outcome.lines += [("told to wait", crowd.waits), *crowd.times.lines()]
    judge(plan, project, sql, outcome)
    outcome.violations += [f"The server's log: {line}" for line in testbed.complaints(server)]
    return outcome


async def _undisturbed(crowd: Crowd) -> int:
    crowd.begin()
    await crowd.end()
    return 0


async def _with_kills(crowd: Crowd, server: LiveServer, sql: Sql, outcome: Outcome) -> int:
    """Rushes with a kill in each; once everybody vanishes, and comes back after a newcomer was there."""
    plan, kills = crowd.plan, 0
    sql.rows(
        "UPDATE project_ledger SET lease = %(s)s, preload = %(s)s WHERE project_id = %(id)s",
        {"s": timedelta(seconds=plan.lease_seconds), "id": crowd.project.id},
    )
    crowd.begin()
    while crowd.pairs < DESERTED_AT * plan.answers and not crowd.finished:
        kills += await _rush(crowd, server)
    await crowd.vanish()
    await _newcomer(crowd, server, sql, outcome)
    crowd.begin()
    while not crowd.finished:
        kills += await _rush(crowd, server)
    await crowd.end()
    return kills


async def _rush(crowd: Crowd, server: LiveServer) -> int:
    """Kills the server in the middle of a rush and starts it again; the next rush is due ``kill_every`` after this."""
    plan = crowd.plan
    due = time.monotonic() + plan.kill_every
    rush = max(1, plan.answers // plan.rushes)
    middle = crowd.pairs + int(rush * random.uniform(0.1, 0.9))
    crowd.turns.give(rush)
    await testbed.until(lambda: crowd.pairs >= middle or crowd.finished, plan.kill_every)
    await asyncio.to_thread(server.kill)
    await asyncio.to_thread(server.start)
    await testbed.until(lambda: crowd.finished, due - time.monotonic())
    return 1


async def _newcomer(crowd: Crowd, server: LiveServer, sql: Sql, outcome: Outcome) -> None:
    """Two lease times after everybody vanished somebody new is given every task that is not done.

    Except those that are done by then: when a lease lapses, a late answer that waits takes its place.
    """
    held = sql.one("SELECT count(*) FROM lease WHERE project_id = %s", [crowd.project.id])
    sql.rows("UPDATE clock_shift SET ahead = ahead + %s", [2 * timedelta(seconds=crowd.plan.lease_seconds)])
    wanted, assigned = _unfinished(crowd, sql), set()
    client = Client(server.port, {"X-Forwarded-For": "192.0.2.1"})
    while (task := await crowd.next_task(client)) is not None:
        assigned.add(task["id"])
        await crowd.answer(client, task)
    stuck = (wanted - assigned) & _unfinished(crowd, sql)
    outcome.lines.append(("left behind: tasks, leases", f"{len(wanted)}, {held}; a newcomer got {len(assigned)} tasks"))
    if stuck or assigned - wanted:
        outcome.violations.append(f"Two lease times later a newcomer misses {stuck} and gets {assigned - wanted}")


def _unfinished(crowd: Crowd, sql: Sql) -> set[int]:
    query = "SELECT task_id FROM task_ledger WHERE project_id = %s AND NOT done"
    return {row["task_id"] for row in sql.rows(query, [crowd.project.id])}


def judge(plan: Plan, project: Project, sql: Sql, outcome: Outcome) -> None:
    """Looks at what is in the database now that there is nothing left to do."""
    totals = sql.rows(_TOTALS, {"project": project.id})[0]
    wanted = {
        "counted answers": plan.answers,
        "last results": plan.tasks,
        "results with exactly their answers": plan.tasks,
        "task_completed events": plan.tasks,
        "other events of tasks": 0,
        "people twice on a task": 0,
        "leases left": 0,
    }
    outcome.lines += [(name, value) for name, value in totals.items()]
    outcome.violations += [f"{name}: {totals[name]} instead of {n}" for name, n in wanted.items() if totals[name] != n]
    if not plan.kill_every and totals["late answers"]:
        outcome.violations.append(f"{totals['late answers']} answers were for nothing")
    outcome.violations += sql.broken_rules()


_TOTALS = """
SELECT (SELECT count(*) FROM task_run WHERE project_id = %(project)s AND counted) AS "counted answers",
       (SELECT count(*) FROM task_run WHERE project_id = %(project)s AND NOT counted) AS "late answers",
       (SELECT count(*) FROM result WHERE project_id = %(project)s AND last_version) AS "last results",
       (SELECT count(*) FROM result r JOIN task_ledger l USING (project_id, task_id)
         WHERE project_id = %(project)s AND last_version AND cardinality(task_run_ids) = n_answers) AS "results with exactly their answers",
       (SELECT count(*) FROM event WHERE project_id = %(project)s AND kind = 'task_completed') AS "task_completed events",
       (SELECT count(*) FROM event WHERE project_id = %(project)s AND task_id IS NOT NULL AND kind <> 'task_completed') AS "other events of tasks",
       (SELECT count(*) FROM (SELECT FROM task_run WHERE project_id = %(project)s GROUP BY task_id, actor HAVING count(*) > 1) t) AS "people twice on a task",
       (SELECT count(*) FROM lease WHERE project_id = %(project)s) AS "leases left"
"""  # noqa: E501


@contextlib.contextmanager
def database(dsn: str, place: Path) -> Iterator[str]:
    """The given database, brought up to date, or one of our own."""
    if not dsn:
        with testbed.postgres(place) as made:
            yield made.dsn
        return
    testbed.upgrade(dsn, place)
    yield dsn


@click.command()
@click.option("--clients", default=100, show_default=True, help="How many answer.")
@click.option("--tasks", default=500, show_default=True, help="How many tasks there are.")
@click.option("--n-answers", default=3, show_default=True, help="How many answers each task wants.")
@click.option("--kill-every", default=0.0, metavar="SECONDS", help="Kill -9 and restart of the server; 0: never.")
@click.option("--dsn", default="", help="A database to use; without it a throw-away PostgreSQL is started.")
@click.option("--seed", default=None, type=int, help="For the same dice again.")
def main(clients: int, tasks: int, n_answers: int, kill_every: float, dsn: str, seed: int | None) -> None:
    """Answers a project with a crowd and looks whether everything is exact. Exit status 1: something is not."""
    random.seed(seed)
    plan = Plan(clients, tasks, n_answers, kill_every)
    with testbed.folder() as place, database(dsn, place) as used, testbed.crowdd(used, place) as server:
        outcome = testbed.run(play(plan, server, Sql(used)))
    title = f"{clients} volunteers, {tasks} tasks, {n_answers} answers each" + (
        f", killed every {kill_every:g} s" if kill_every else ""
    )
    click.echo(table(title, outcome.lines, outcome.violations))
    sys.exit(bool(outcome.violations))


if __name__ == "__main__":
    main()
