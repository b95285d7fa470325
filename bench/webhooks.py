"""Webhooks while the server is killed again and again and receivers behave badly: every completion arrives, in order.

python -m bench.webhooks [--completions 10000 --kills 50]
"""

from __future__ import annotations

import contextlib
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import click
from standardwebhooks import Webhook, WebhookVerificationError
from support.ledger import Ledger
from support.servers.live import LiveServer
from support.servers.receiver import CLOSE, HANG, Receiver, Request

from bench.crowd import database
from bench.support import testbed
from bench.support.figures import table
from bench.support.testbed import Sql

BAD = (500, HANG, CLOSE, (302, {"Location": "http://127.0.0.1:9/"}))
ROLLED_BACK = 0.05  # of the completions, beside those that count
COMPLETED_TWICE = 0.1  # tasks that are opened once more and completed again
QUIET_SECONDS = 120.0  # without a single delivery: something is lost
_RESULT = "SELECT result_id FROM event WHERE project_id = %(p)s AND task_id = %(t)s"
_SWITCH_ON = """
UPDATE webhook SET active = true, failures = 0, next_at = NULL, failed_at = NULL WHERE NOT active RETURNING 1 AS one"""
_ONCE_MORE = """
UPDATE delivery SET state = 'waiting', attempts = 0, finished = NULL, next_at = clock()
 WHERE state = 'failed' RETURNING 1 AS one"""
SETTINGS = {
    "CROWDD_OUTGOING_ALLOWED_HOSTS": "127.0.0.1:*",
    "CROWDD_WEBHOOKS_FIRST_DELAY": "0.002",
    "CROWDD_WEBHOOKS_TIMEOUT": "0.5",
}


@attrs.frozen
class Plan:
    """What is to happen. ``bad`` is the share of requests that receivers do not take."""

    completions: int = 10_000
    kills: int = 50
    projects: int = 8
    bad: float = 1 / 3


class Told:
    """A project, its receiver, and what that has heard; requests that cannot be verified are violations."""

    def __init__(self, server: LiveServer, tasks: int, bad: float) -> None:
        self._bad = bad
        self.receiver = Receiver(self._behave)
        made = testbed.project(server, tasks=tasks, n_answers=1)
        self.project = made.id
        made.owner.api("PUT", f"project/{made.id}", {"webhook": self.receiver.url})
        self.secret = made.owner.ask("GET", f"/project/{made.short_name}/webhook").json["secret"]
        self.violations: list[str] = []
        self.answers: Counter[str] = Counter()

    def _behave(self, request: Request) -> Any:
        try:
            body = Webhook(self.secret).verify(request.body, request.headers)
        except WebhookVerificationError as error:
            self.violations.append(f"Project {self.project}: {error}")
            return 400
        if body["project_id"] != self.project:
            self.violations.append(f"Project {self.project} hears of {body['project_id']}")
        answer = random.choice(BAD) if random.random() < self._bad else 204
        self.answers[str(answer[0] if isinstance(answer, tuple) else answer)] += 1
        return answer

    @property
    def heard(self) -> set[int | None]:
        """The numbers that were taken."""
        return {request.seq for request in [*self.receiver.taken]}


class Workers:
    """Completes tasks beside the server, as any other process may: most are committed, some rolled back."""

    def __init__(self, plan: Plan, listeners: list[Told], dsn: str) -> None:
        self._plan, self._told, self._dsn = plan, listeners, dsn
        self.completed: Counter[int] = Counter()  # by project
        self.undone: set[int] = set()  # ids of results that never were
        self._thread = threading.Thread(target=self._work, daemon=True)
        self.begin = self._thread.start

    @property
    def working(self) -> bool:
        """Whether more is to be completed."""
        return self._thread.is_alive()

    def _work(self) -> None:
        ledger = Ledger(self._dsn, autocommit=False)
        for number in range(self._plan.completions):
            project = self._told[number % len(self._told)].project
            if random.random() < ROLLED_BACK:
                task = self._complete(ledger, project)
                self.undone |= {row["result_id"] for row in ledger.rows(_RESULT, p=project, t=task)}
                ledger.connection.rollback()
            task = self._complete(ledger, project)
            ledger.commit()
            self.completed[project] += 1
            if random.random() < COMPLETED_TWICE:
                self._complete_again(ledger, project, task)
        ledger.close()

    def _complete(self, ledger: Ledger, project: int) -> int:
        task = ledger.ask(project, "u:1").tasks[0]
        ledger.answer(project, "u:1", task)
        return task

    def _complete_again(self, ledger: Ledger, project: int, task: int) -> None:
        ledger.value("SELECT set_redundancy(%(p)s, ARRAY[%(t)s::bigint], 2, clock())", p=project, t=task)
        ledger.commit()
        ledger.value("SELECT lease_task(%(p)s, 'u:2', NULL, false, '{}', %(t)s, clock())", p=project, t=task)
        ledger.answer(project, "u:2", task)
        ledger.commit()


def play(plan: Plan, server: LiveServer, sql: Sql) -> tuple[list[tuple[str, object]], list[str]]:
    """The whole of it on a server; lines for people, and what is broken."""
    tasks = -(-plan.completions // plan.projects)
    listeners = [Told(server, tasks, plan.bad) for _ in range(plan.projects)]
    workers = Workers(plan, listeners, sql.dsn)
    began = time.monotonic()
    workers.begin()
    with _receivers(listeners):
        kills, switched_on, quiet = _until_all_is_heard(plan, server, sql, listeners, workers)
        violations = [*quiet, *(words for each in listeners for words in each.violations)]
        for each in listeners:
            rows = sql.rows("SELECT seq, kind, task_id FROM event WHERE project_id = %s", [each.project])
            bodies = [request.json for request in each.receiver.taken]
            project_violations = judge(rows, bodies, workers.completed[each.project], workers.undone)
            violations += [f"Project {each.project}: {words}" for words in project_violations]
    violations += [f"The server's log: {line}" for line in testbed.complaints(server)]
    answers = sum((each.answers for each in listeners), Counter())
    taken = answers.pop("204", 0)
    events = sum(len(each.heard) for each in listeners)
    lines: list[tuple[str, object]] = [
        ("seconds", f"{time.monotonic() - began:.0f}"),
        ("tasks completed, rolled back", f"{sum(workers.completed.values())}, {len(workers.undone)}"),
        ("events told", events),
        ("requests taken, of them again", f"{taken}, {taken - events}"),
        ("requests not taken", ", ".join(f"{name}: {count}" for name, count in sorted(answers.items()))),
        ("kills", kills),
        ("webhooks switched on again", switched_on),
    ]
    return lines, violations


@contextlib.contextmanager
def _receivers(listeners: list[Told]) -> Iterator[None]:
    try:
        yield
    finally:
        for each in listeners:
            each.receiver.close()


def _until_all_is_heard(
    plan: Plan, server: LiveServer, sql: Sql, listeners: list[Told], workers: Workers
) -> tuple[int, int, list[str]]:
    """Kills the server each time that another part has arrived. How often; how often owners helped; what is missing."""
    kills = switched_on = last = 0
    moved = time.monotonic()
    while True:
        heard = sum(len(each.heard) for each in listeners)
        if heard > last:
            last, moved = heard, time.monotonic()
        if kills < plan.kills and heard >= (kills + 1) * plan.completions / (plan.kills + 1):
            time.sleep(random.uniform(0, 0.05))
            server.kill()
            server.start()
            kills += 1
        elif not workers.working and heard >= _wanted(sql):  # what is wanted is counted when nothing more can come
            return kills, switched_on, []
        elif time.monotonic() > moved + QUIET_SECONDS:
            return (
                kills,
                switched_on,
                [f"{_wanted(sql) - heard} events are not told after {QUIET_SECONDS:g} s of quiet"],
            )
        switched_on += _as_owners_do(sql)
        time.sleep(0.05)


def _wanted(sql: Sql) -> int:
    return int(sql.one("SELECT count(*) FROM event"))


def _as_owners_do(sql: Sql) -> int:
    """Ten failures in a row happen by chance here: webhooks are switched on again, events that were given up sent."""
    rows = sql.rows(_SWITCH_ON)
    return len(rows) + len(sql.rows(_ONCE_MORE))


def judge(
    rows: Sequence[Mapping[str, Any]], bodies: Sequence[Mapping[str, Any]], completed: int, undone: set[int]
) -> list[str]:
    """What is not as promised for one project.

    ``rows`` are its events (seq, kind, task_id), ``bodies`` the bodies that its receiver took, as they came; so many
    tasks were ``completed``, and of the results ``undone`` nobody may hear.
    """
    seqs = sorted(row["seq"] for row in rows if row["seq"] is not None)
    heard = {body["sequence"] for body in bodies}
    firsts: dict[int | None, dict[int, None]] = {}
    for body in bodies:
        firsts.setdefault(body["task_id"], {}).setdefault(body["sequence"], None)
    broken = {
        "events without a number": len(rows) - len(seqs),
        "gaps in the sequence": seqs != list(range(1, len(seqs) + 1)),
        "events that never arrived": len(set(seqs) - heard),
        "events that never were": len(heard - set(seqs)),
        "tasks out of order": sum([*seen] != sorted(seen) for task, seen in firsts.items() if task is not None),
        "completions without an event": completed - sum(row["kind"] == "task_completed" for row in rows),
        "told of what was rolled back": len({body["result_id"] for body in bodies} & undone),
    }
    return [f"{what}: {count:d}" for what, count in broken.items() if count]


@click.command()
@click.option("--completions", default=10_000, show_default=True, help="How many tasks are completed.")
@click.option("--kills", default=50, show_default=True, help="Kill -9 and restart of the server.")
@click.option("--projects", default=8, show_default=True, help="Each has a receiver of its own.")
@click.option("--bad", default=1 / 3, show_default="a third", help="Share of the requests that are not taken.")
@click.option("--dsn", default="", help="A database to use; without it a throw-away PostgreSQL is started.")
@click.option("--seed", default=None, type=int, help="For the same dice again.")
def main(completions: int, kills: int, projects: int, bad: float, dsn: str, seed: int | None) -> None:
    """Completes tasks, kills the server, and looks at what receivers heard. Exit status 1: a promise is broken."""
    random.seed(seed)
    plan = Plan(completions, kills, projects, bad)
    with testbed.folder() as place, database(dsn, place) as used, _server(used, place) as server:
        lines, violations = play(plan, server, Sql(used))
    click.echo(table(f"{completions} completions, {kills} kills", lines, violations))
    sys.exit(bool(violations))


def _server(dsn: str, place: Path) -> contextlib.AbstractContextManager[LiveServer]:
    return testbed.crowdd(dsn, place, **SETTINGS)


if __name__ == "__main__":
    main()
