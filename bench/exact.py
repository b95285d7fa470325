"""People come and go, answer late and are cut off while an owner edits: under every scheduler the ledger stays exact.

python -m bench.exact [--clients 200 --tasks 10000 --kills 20] [--scheduler random] [--adaptive]

With ``--adaptive`` tasks stop early where volunteers agree or rules of the owner say so, some tasks are gold tasks, and
the owner changes all three meanwhile.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import attrs
import click
import psycopg2
from support.checks.invariants import invariants
from support.servers.live import BIN, LiveServer

from bench.crowd import database
from bench.support import testbed
from bench.support.figures import table
from bench.support.testbed import Project, Sql
from bench.support.volunteers import address
from bench.support.wire import Client, Response
from crowdd.database import schema

EDIT_SECONDS = 0.3  # between two edits
AGAIN_SECONDS = 0.2  # seconds until a volunteer who is told to wait asks again
RAISE = 2  # by so many answers at most
CHOICES = ("fox", "owl", "cat")
RIGHT = 0.8  # share of the answers that are
MAX_GOLD = 40
_ANSWERS = [{"name": "animal", "at": "/answer", "type": "label", "choices": list(CHOICES)}]
_RULES = [
    {"name": "row", "when": [{"measure": "in_a_row", "choice": "fox", "min": 2}], "then": "complete"},
    {"name": "more", "when": [{"measure": "agreement", "max": 0.5}], "then": "more_answers", "answers": 2},
    {"name": "look", "when": [{"measure": "votes", "choice": "owl", "min": 1}], "then": "review"},
]
# Open tasks with who holds them and who has answered them.
STUCK = """
SELECT to_jsonb(l) || jsonb_build_object(
           'held_by', ARRAY(SELECT actor || ' until ' || expires FROM lease h WHERE h.task_id = l.task_id),
           'answered_by', ARRAY(SELECT actor FROM task_run r WHERE r.task_id = l.task_id ORDER BY id),
           'clock', clock()) AS task
  FROM task_ledger l WHERE project_id = %s AND NOT done AND NOT retired
"""
KILLED = "code=None restart_in"  # what the log says of a worker that was killed; one that fails has a status
SHARE_FOR_ALL = 100  # where everybody answers everything there are so many times fewer tasks


@attrs.frozen
class Plan:
    """What is to happen in the run of one scheduler."""

    clients: int = 200
    tasks: int = 10_000
    n_answers: int = 2
    kills: int = 20
    think_seconds: float = 0.05  # on average
    leaving: float = 0.10  # share of the people who leave for good with a task in their hands
    late: float = 0.05  # share of the answers that come after the lease
    lease_seconds: float = 5.0
    adaptive: bool = False


@attrs.define
class Seen:
    """What people saw, and what they should not have."""

    pairs: int = 0
    late: int = 0
    lost: int = 0
    left: int = 0
    edits: int = 0
    kills: int = 0
    refused: int = 0
    violations: list[str] = attrs.field(factory=list)


class Run:
    """One project under one scheduler."""

    def __init__(self, plan: Plan, sched: str, server: LiveServer, sql: Sql) -> None:
        self.plan, self.sched, self.server, self.sql = plan, sched, server, sql
        self.seen = Seen()
        self.lowered: set[int] = set()
        self.tasks = max(5, plan.tasks // SHARE_FOR_ALL) if sched == "depth_first_all" else plan.tasks
        self.project: Project = testbed.project(server, tasks=self.tasks, n_answers=plan.n_answers)
        self._choose()
        each = 2 if plan.adaptive else plan.n_answers
        self._wanted = self.tasks * (plan.clients if sched == "depth_first_all" else each)
        self._editing = True

    def _choose(self) -> None:
        info = {"sched": self.sched, "task_presenter": "<p>?</p>"}
        if self.plan.adaptive:
            info |= {"answers": _ANSWERS, "trust": {"min_answers": 2, "confidence": 0.95}, "task_rules": _RULES}
        self.project.owner.api("PUT", f"project/{self.project.id}", {"info": info})
        if self.plan.adaptive:
            ids = self._task_ids()
            for task in random.sample(ids, min(MAX_GOLD, len(ids) // 5)):
                self._make_gold(task)
        lease = timedelta(seconds=self.plan.lease_seconds)
        self.sql.rows(
            "UPDATE project_ledger SET lease = %s, preload = %s WHERE project_id = %s", [lease, lease, self.project.id]
        )

    async def play(self) -> Seen:
        """Everybody at once; then, two lease times later, newcomers finish what is left."""
        people = [asyncio.create_task(self._volunteer(number)) for number in range(self.plan.clients)]
        others = [asyncio.create_task(self._edit()), asyncio.create_task(self._kill(people))]
        await asyncio.gather(*people)
        self._editing = False
        await asyncio.gather(*others)
        self.sql.rows("UPDATE clock_shift SET ahead = ahead + %s", [timedelta(seconds=2 * self.plan.lease_seconds)])
        for number in range(self.plan.n_answers + RAISE + 2):
            await self._finish(1_000_000 + number)
        self._judge()
        return self.seen

    async def _volunteer(self, number: int) -> None:
        client = Client(self.server.port, {"X-Forwarded-For": address(number)})
        leaves = random.random() < self.plan.leaving
        goes_after = random.randint(1, max(1, self._wanted // self.plan.clients))
        done = 0
        while True:
            task = await self._next(client)
            if task is None:
                return
            if leaves and done >= goes_after:
                self.seen.left += 1
                client.close(reset=True)
                return
            late = random.random() < self.plan.late
            await asyncio.sleep(
                1.2 * self.plan.lease_seconds if late else random.expovariate(1 / self.plan.think_seconds)
            )
            await self._answer(client, task, late)
            done += 1

    async def _next(self, client: Client) -> Any:
        """A task, None when nothing is left."""
        order = random.choice(["", "?limit=2", "?offset=1", "?orderby=id&desc=true", "?orderby=created"])
        nothing = 0
        while True:
            path = f"/api/project/{self.project.id}/newtask{order}"
            answer, _ = await self._insist(client, "GET", path)
            reason = answer.headers.get("x-no-task")
            if answer.status == 200 and answer.json:
                return answer.json[0] if isinstance(answer.json, list) else answer.json
            if answer.status == 200 and reason in ("none", "network") and not (order == "?offset=1" and nothing == 0):
                return None
            order, nothing = "", nothing + 1
            if not (
                (answer.status == 200 and reason in ("wait", "none", "network"))
                or answer.status == 503
                or _code(answer) == "paused"
            ):
                self._wrong(f"newtask: {answer}")
                return None
            await asyncio.sleep(AGAIN_SECONDS * random.uniform(0.5, 1.5))

    async def _answer(self, client: Client, task: Any, late: bool) -> None:
        label = _truth(task["id"]) if random.random() < RIGHT else random.choice(CHOICES)
        body = {"project_id": self.project.id, "task_id": task["id"], "info": {"seen": 1, "answer": label}}
        while True:
            answer, repeated = await self._insist(client, "POST", "/api/taskrun", body)
            if answer.status != 503:
                break
            await asyncio.sleep(AGAIN_SECONDS)
        code = _code(answer)
        if answer.status == 200:
            self.seen.pairs += 1
            self.seen.late += late
        elif code in ("invalid_task", "no_lease") or (code == "duplicate" and repeated):
            self.seen.refused += 1  # deleted or withdrawn meanwhile; or stored by an attempt whose answer was lost
        else:
            self._wrong(f"The answer to task {task['id']}: {answer}")

    async def _insist(self, client: Client, *request: Any) -> tuple[Response, bool]:
        repeated = False
        while True:
            try:
                return await client.ask(*request), repeated
            except (ConnectionError, OSError):
                self.seen.lost += 1
                repeated = True
            await asyncio.sleep(0.05)

    async def _kill(self, people: list[asyncio.Task[None]]) -> None:
        """kill -9, evenly over the answers; what was killed comes back at once."""
        for number in range(self.plan.kills):
            due = self._wanted * (number + 1) / (self.plan.kills + 1)
            await testbed.until(lambda due=due: self.seen.pairs >= due or all(p.done() for p in people), 3600)
            if all(person.done() for person in people):
                return
            await asyncio.to_thread(self._crash, number)
            self.seen.kills += 1

    def _crash(self, number: int) -> None:
        """All of the server; where it has several processes, every second time one of them alone."""
        if number % 2 and self.server.workers():
            self.server.kill_worker()
        else:
            self.server.kill()
            self.server.start()

    async def _edit(self) -> None:
        while self._editing and self.seen.pairs < 0.9 * self._wanted:
            with contextlib.suppress(OSError):  # the server is away
                await asyncio.to_thread(self._edit_once)
                self.seen.edits += 1
            await asyncio.sleep(EDIT_SECONDS)
        while self._editing:  # or a pause would last for ever, if the server is killed just now
            with contextlib.suppress(OSError):
                await asyncio.to_thread(self.project.owner.publish, self.project.short_name)
                self._editing = False
            await asyncio.sleep(0.05)

    def _edit_once(self) -> None:
        ids = self._task_ids()
        some = random.sample(ids, min(5, len(ids)))
        project, task = f"project/{self.project.id}", f"task/{some[0]}"
        edits = ["raise", "lower", "priority", "import", "delete", "retire", "reopen", "withdraw", "pause"]
        match random.choice(edits + ["stopping", "rules", "gold", "end gold"] * self.plan.adaptive):
            case "raise":
                self._say(
                    "POST",
                    f"{project}/redundancy",
                    {"n_answers": random.randint(self.plan.n_answers, self.plan.n_answers + RAISE), "task_ids": some},
                )
                self.lowered |= set(some)
            case "lower":
                self.lowered |= set(some)
                self._say("POST", f"{project}/redundancy", {"n_answers": 1, "task_ids": some})
            case "priority":
                self._say(
                    "POST", f"{project}/priority", {"priority_0": random.choice([0, 0.5, 1, -1]), "task_ids": some}
                )
            case "import":
                rows = [
                    {"project_id": self.project.id, "info": {"n": 0}, "n_answers": self.plan.n_answers, "priority_0": p}
                    for p in (0, 1)
                ]
                self._say("POST", "task", rows)
            case "delete":
                self._say("DELETE", task)
            case "retire" | "reopen" as verb:
                self._say("POST", f"{task}/{verb}", {})
            case "withdraw":
                run = self.sql.one("SELECT max(id) FROM task_run WHERE project_id = %s", [self.project.id])
                if run and random.random() < 0.2:
                    self._say("POST", f"{project}/withdraw", {"taskrun_id": run})
            case "stopping":
                confidence = random.choice([0.7, 0.9, 0.95, 0.99, None])
                minimum = None if confidence is None else random.randint(1, 3)
                body = {"min_answers": minimum, "confidence": confidence, "completed": random.random() < 0.3}
                self._say("POST", f"{project}/stopping", body)
            case "rules":
                rules = random.sample(_RULES, random.randint(0, len(_RULES)))
                self._say("POST", f"{project}/rules", {"rules": rules})
            case "gold":
                if not self.sql.rows(
                    "SELECT FROM gold_task WHERE (project_id, task_id) = (%s, %s)", [self.project.id, some[0]]
                ):
                    self._make_gold(some[0])
            case "end gold":
                rows = self.sql.rows("SELECT task_id FROM gold_task WHERE project_id = %s", [self.project.id])
                if rows:
                    self._say("DELETE", f"{project}/gold/{random.choice(rows)['task_id']}")
            case "pause":
                self._say("POST", f"/project/{self.project.short_name}/pause", {})
                self.project.owner.publish(self.project.short_name)

    def _task_ids(self) -> list[int]:
        return [row["id"] for row in self.sql.rows("SELECT id FROM task WHERE project_id = %s", [self.project.id])]

    def _make_gold(self, task: int) -> None:
        body = {"task_id": task, "answer": _truth(task)}
        self._say("POST", f"project/{self.project.id}/gold", body)

    def _say(self, method: str, path: str, body: Any = None) -> None:
        """The owner's request; it may find the task gone, or the server busy."""
        address_ = path if path.startswith("/") else f"/api/{path}"
        answer = self.project.owner.ask(method, address_, body, Authorization=self.project.owner.key)
        if answer.status not in (200, 204, 302, 404, 503):
            self._wrong(f"{method} {path}: {answer.status} {answer.text[:300]}")

    async def _finish(self, number: int) -> None:
        client = Client(self.server.port, {"X-Forwarded-For": address(number)})
        while (task := await self._next(client)) is not None:
            await self._answer(client, task, late=False)
        client.close()

    def _judge(self) -> None:
        where = [self.project.id, [0, *self.lowered]]
        wanted = "coalesce(max_answers, n_answers)"
        above = f"SELECT count(*) FROM task_ledger WHERE project_id = %s AND answers > {wanted} AND task_id <> ALL (%s)"
        if more := self.sql.one(above, where):
            self._wrong(f"{more} tasks have more answers than they want")
        for row in self.sql.rows(STUCK, [self.project.id])[:5]:
            self._wrong(f"A task is stuck: {row['task']}")
        with contextlib.closing(psycopg2.connect(self.sql.dsn, options="-c search_path=public,code")) as connection:
            self.seen.violations += invariants(connection, self.plan.clients)
        checked = subprocess.run(
            [BIN / "crowdctl", "check"], env=self.server.environment, capture_output=True, text=True, check=False
        )
        if checked.returncode:
            self._wrong(f"crowdctl check: {checked.stdout[-500:]}")
        complaints = [line for line in testbed.complaints(self.server) if KILLED not in line]
        self.seen.violations += [f"The server's log: {line}" for line in complaints]

    def _wrong(self, sentence: str) -> None:
        self.seen.violations.append(f"{self.sched}: {sentence}")


def _truth(task: int) -> str:
    return CHOICES[task % len(CHOICES)]


def _code(answer: Response) -> str:
    return str(answer.json.get("error_code", "")) if isinstance(answer.json, dict) else ""


def play(plan: Plan, names: list[str], dsn: str, place: Path) -> tuple[list[tuple[str, object]], list[str]]:
    """A line per scheduler, and all that was wrong."""
    lines: list[tuple[str, object]] = []
    violations: list[str] = []
    with testbed.crowdd(dsn, place) as server:
        for sched in names:
            began = time.monotonic()
            seen = testbed.run(Run(plan, sched, server, Sql(dsn)).play())
            words = f"{seen.pairs} answers, {seen.late} late, {seen.left} people left, {seen.edits} edits"
            lines.append(
                (sched, f"{words}, {seen.kills} kills, {seen.lost} lost requests; {time.monotonic() - began:.0f} s")
            )
            violations += seen.violations
    return lines, violations


@click.command()
@click.option("--clients", default=Plan().clients, show_default=True, help="How many answer at once.")
@click.option(
    "--tasks",
    default=Plan().tasks,
    show_default=True,
    help="How many tasks there are; a hundredth for depth_first_all.",
)
@click.option(
    "--n-answers", type=int, default=None, help="How many answers each task wants: 2, with --adaptive at most 5."
)
@click.option("--kills", default=Plan().kills, show_default=True, help="How often the server is killed (-9).")
@click.option("--scheduler", "only", multiple=True, type=click.Choice(schema.list_schedulers()), help="Only this one.")
@click.option("--adaptive", is_flag=True, help="Tasks stop early where volunteers agree, and some are gold tasks.")
@click.option("--dsn", default="", help="A database to use; without it a throw-away PostgreSQL is started.")
@click.option("--seed", default=None, type=int, help="For the same dice again.")
def main(
    clients: int,
    tasks: int,
    n_answers: int | None,
    kills: int,
    only: tuple[str, ...],
    adaptive: bool,
    dsn: str,
    seed: int | None,
) -> None:
    """Looks whether the ledger stays exact under every scheduler. Exit status 1: something is not."""
    random.seed(seed)
    n_answers = n_answers or (5 if adaptive else Plan().n_answers)
    plan = Plan(clients, tasks, n_answers, kills, adaptive=adaptive)
    with testbed.folder() as place, database(dsn, place) as used:
        lines, violations = play(plan, list(only or schema.list_schedulers()), used, place)
    load = f"load {os.getloadavg()[0]:.0f}"
    click.echo(
        table(f"{clients} people, {tasks} tasks, {n_answers} answers each, {kills} kills ({load})", lines, violations)
    )
    sys.exit(bool(violations))


if __name__ == "__main__":
    main()
