"""A busy machine loses no consensus: ten fields are answered while programs take the processors and kills come.

python -m bench.busy [--seconds 180 --tasks 120 --kills 5]

Two programs compute all the time. Within five minutes after it each result must have the consensus of each field, the
project alpha of all of them, and each answer that was confirmed must be there.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import click
from support.servers.live import LiveServer

from bench.crowd import database
from bench.support import testbed
from bench.support.figures import table
from bench.support.testbed import Project, Sql
from bench.support.volunteers import address
from bench.support.wire import Client

CHOICES = ("fox", "owl", "cat")
N_ANSWERS = 3
WAITS = 300.0  # seconds after the load, until all must be compared
TYPES = ("label", "labels", "number", "text", "boxes", "points", "polygon", "spans", "date", "transcript")
_FIELDS = [
    {
        "name": each,
        "at": f"/{each}",
        "type": each,
        **({"choices": list(CHOICES)} if each in ("label", "labels") else {}),
    }
    for each in TYPES
]


@attrs.frozen
class Plan:
    """What is to happen."""

    seconds: float = 180.0
    tasks: int = 120
    kills: int = 5
    people: int = 12
    programs: int = 2  # that take processors


def answer_of(task: int) -> dict[str, Any]:
    """An answer to a task; others differ a little."""

    def near(value: float) -> float:
        return round(value + random.gauss(0, 2), 1)

    def often(value: Any, other: Any) -> Any:
        return value if random.random() < 0.85 else other

    corners = [math.tau * n / 12 for n in range(12)]
    words = f"the old barn, plate {task}"
    return {
        "label": often(CHOICES[task % 3], random.choice(CHOICES)),
        "labels": sorted({CHOICES[task % 3], often(CHOICES[0], CHOICES[2])}),
        "number": task % 50 + often(0, 1),
        "text": often(words, words.replace("old", "odd")),
        "boxes": [{"x": near(200 * n), "y": near(task % 90), "width": 100, "height": 50} for n in range(3)],
        "points": [{"x": near(100 * n), "y": near(task % 90)} for n in range(4)],
        "polygon": [{"x": near(300 + 100 * math.cos(one)), "y": near(300 + 80 * math.sin(one))} for one in corners],
        "spans": [{"start": task % 20, "end": task % 20 + often(9, 12)}],
        "date": f"18{10 + task % 90}-{often('05', '06')}",
        "transcript": [{"text": often(words, words[:-1]), "x": near(10), "y": near(10), "width": 300, "height": 30}],
    }


@contextlib.contextmanager
def busy(programs: int) -> Iterator[None]:
    """So many programs that compute."""
    running = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(programs)]
    try:
        yield
    finally:
        for each in running:
            each.kill()
            each.wait()


class Run:
    """One project whose tasks are answered on a busy machine."""

    def __init__(self, plan: Plan, server: LiveServer, sql: Sql) -> None:
        self.plan, self.server, self.sql = plan, server, sql
        self.confirmed: set[int] = set()
        self.kills = self.lost = 0
        self.violations: list[str] = []
        self.project: Project = testbed.project(server, tasks=plan.tasks, n_answers=N_ANSWERS)
        info = {"task_presenter": "<p>?</p>", "answers": _FIELDS}
        self.project.owner.api("PUT", f"project/{self.project.id}", {"info": info})

    async def play(self) -> float:
        """Answers under load; the seconds until all was compared after it."""
        began = time.monotonic()
        with busy(self.plan.programs):
            people = [self._person(number) for number in range(self.plan.people)]
            await asyncio.gather(*people, self._kill())
            while self._open():  # what somebody held whose server was killed
                self.sql.rows("UPDATE lease SET expires = clock() WHERE project_id = %s", [self.project.id])
                await self._person(self.plan.people)
            await asyncio.sleep(max(0.0, began + self.plan.seconds - time.monotonic()))
        ended = time.monotonic()
        for _ in range(int(WAITS)):
            if not missing(self.project, self.plan.tasks):
                break
            await asyncio.sleep(1)
        self.violations += missing(self.project, self.plan.tasks)
        rows = self.sql.rows("SELECT id FROM task_run WHERE project_id = %s", [self.project.id])
        stored = {row["id"] for row in rows}
        self.violations += [f"Answer {each} was confirmed and is lost" for each in sorted(self.confirmed - stored)]
        return time.monotonic() - ended

    def _open(self) -> int:
        count = "SELECT count(*) FROM task_ledger WHERE project_id = %s AND NOT done"
        return int(self.sql.one(count, [self.project.id]))

    async def _person(self, number: int) -> None:
        client = Client(self.server.port, {"X-Forwarded-For": address(number)})
        pause = 0.8 * self.plan.seconds * self.plan.people / (self.plan.tasks * N_ANSWERS)
        while True:
            answer = await self._insist(client, "GET", f"/api/project/{self.project.id}/newtask")
            if not answer.json:
                break
            await asyncio.sleep(random.expovariate(1 / pause))
            body = {"project_id": self.project.id, "task_id": answer.json["id"], "info": answer_of(answer.json["id"])}
            sent = await self._insist(client, "POST", "/api/taskrun", body)
            if sent.status == 200:
                self.confirmed.add(sent.json["id"])
        client.close()

    async def _insist(self, client: Client, *request: Any) -> Any:
        while True:
            try:
                answer = await client.ask(*request)
                if answer.status != 503:
                    return answer
            except OSError:
                self.lost += 1
            await asyncio.sleep(0.1)

    async def _kill(self) -> None:
        """kill -9, evenly over the time."""
        for _ in range(self.plan.kills):
            await asyncio.sleep(0.8 * self.plan.seconds / (self.plan.kills + 1))
            await asyncio.to_thread(self.server.kill)
            await asyncio.to_thread(self.server.start, WAITS)  # seconds
            self.kills += 1


def missing(project: Project, tasks: int) -> list[str]:
    """Which results lack the consensus of a field, and which fields alpha, as their owner reads it."""
    results, last = [], 0
    while page := project.owner.api("GET", "result", project_id=project.id, limit=100, last_id=last):
        results += [row for row in page if row["last_version"]]
        last = page[-1]["id"]
    lacking = [] if len(results) == tasks else [f"{len(results)} of {tasks} tasks have a result"]
    for row in results:
        compared = row["consensus"] or {}
        without = [each for each in TYPES if (compared.get(each) or {}).get("answers") != N_ANSWERS]
        lacking += [f"Task {row['task_id']} has no consensus of {', '.join(without)}"] if without else []
    alpha = {one["name"]: one["alpha"] for one in project.owner.api("GET", f"project/{project.id}/agreement")}
    return lacking + [f"There is no alpha of {each}" for each in TYPES if alpha.get(each) is None]


def play(plan: Plan, dsn: str, place: Path) -> tuple[list[tuple[str, object]], list[str]]:
    """What was done, and what was wrong."""
    with testbed.crowdd(dsn, place, CROWDD_RATELIMIT_LIMIT="0") as server:
        run = Run(plan, server, Sql(dsn))
        seconds = testbed.run(run.play())
    lines: list[tuple[str, object]] = [
        ("answers", f"{len(run.confirmed)} confirmed, {run.kills} kills, {run.lost} lost requests"),
        ("compared", f"{seconds:.0f} s after the load"),
    ]
    return lines, run.violations


@click.command()
@click.option("--seconds", default=Plan().seconds, show_default=True, help="How long the machine is busy.")
@click.option("--tasks", default=Plan().tasks, show_default=True, help="How many tasks there are.")
@click.option("--kills", default=Plan().kills, show_default=True, help="How often the server is killed (-9).")
@click.option("--programs", default=Plan().programs, show_default=True, help="How many programs compute beside it.")
@click.option("--dsn", default="", help="A database to use; without it a throw-away PostgreSQL is started.")
@click.option("--seed", default=None, type=int, help="For the same dice again.")
def main(seconds: float, tasks: int, kills: int, programs: int, dsn: str, seed: int | None) -> None:
    """Looks whether all fields of all tasks are compared on a busy machine. Exit status 1: something is missing."""
    random.seed(seed)
    plan = Plan(seconds=seconds, tasks=tasks, kills=kills, programs=programs)
    with testbed.folder() as place, database(dsn, place) as used:
        lines, violations = play(plan, used, place)
    title = f"{tasks} tasks of {len(TYPES)} fields, {programs} busy programs for {seconds:.0f} s"
    click.echo(table(f"{title} (load {os.getloadavg()[0]:.0f})", lines, violations))
    sys.exit(bool(violations))


if __name__ == "__main__":
    main()
