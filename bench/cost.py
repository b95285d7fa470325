"""What a pair of newtask and answer costs, from a small project to one with a million tasks and ten million answers.

    python -m bench.cost [--size 1000 10000 --size 100000 1000000 --size 1000000 10000000] [--seconds 2]

Projects are filled by COPY, side by side in one database, each with veterans who have answered 50,000 and 500,000 of
its tasks, as far as it has so many. Hard gates: pages of memory for each ask and each answer bounded by the same
numbers for every size, scheduler and volunteer; CPU of crowdd and PostgreSQL per pair at the largest size at most 1.25
times that at the smallest (64 clients, median of interleaved runs after a CHECKPOINT; if it is more, the same without
full-page writes is shown and counts); a veteran at most 1.5 times a newcomer; p99 of newtask at most 10 ms with one
client. Beside that p99 stands what requests ran and what they waited for a processor: a busy machine is no slow server.
Stated apart are an answer that completes its task, which reads all that it got, and the first ask after a change of
scheduler, whose volunteer's position starts over: it may look at 5,000 tasks at a time, four times in a request.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import statistics
import sys
import time
from collections.abc import Iterator
from typing import Any

import attrs
import psycopg2
from psycopg2.extras import RealDictCursor

from bench import hot
from bench.support import testbed
from bench.support.cpu import Cpu, Meter
from bench.support.figures import table
from bench.support.filled import Filling, fill, set_scheduler
from bench.support.pairs import Identity, Rush
from bench.support.testbed import Postgres, Project, Sql
from crowdd.database import connector
from crowdd.database.access import Prepared
from crowdd.features.tasks import statements as task_statements
from crowdd.kernel.requester import Requester

SIZES = [(1_000, 10_000), (100_000, 1_000_000), (1_000_000, 10_000_000)]
VETERANS = (50_000, 500_000)
SCHEDULERS = ("default", "random", "depth_first_all", "incremental", "breadth_first")
N_ANSWERS = 60
# An ask looks at up to eight tasks that have returned to its order, ten pages each (32_candidate_scan.sql).
MAX_PAGES = {"ask": 100 + 8 * 10, "answer": 80, "completion": 80 + 2 * N_ANSWERS}
MAX_CPU, MAX_VETERAN, MAX_MILLISECONDS = 1.25, 1.5, 10.0
ROUNDS = 5
SETTINGS = dict.fromkeys(("CROWDD_RATELIMIT_LIMIT", "CROWDD_RATELIMIT_KEY_LIMIT"), "100000000")


@attrs.frozen
class Place:
    """A filled project; ``veterans`` are accounts with their keys by the number of their answers."""

    project: Project
    filling: Filling
    veterans: dict[int, tuple[int, str]]

    @property
    def name(self) -> str:
        """Its size in words."""
        return f"{self.filling.tasks:,} tasks, {self.filling.runs:,} answers"

    def everybody(self) -> Iterator[tuple[str, Requester]]:
        """A newcomer and the veterans."""
        yield "new", Requester(user_id=time.time_ns())
        for runs, (user_id, _) in self.veterans.items():
            yield f"{runs:,}", Requester(user_id=user_id)


class Explain:
    """A session like those of crowdd's pool, which counts the pages that a statement looks at."""

    def __init__(self, dsn: str) -> None:
        self._connection = psycopg2.connect(dsn, cursor_factory=RealDictCursor)
        self._connection.autocommit = True
        self._prepared: set[str] = set()
        for statement in connector.list_session_settings(10):
            self.rows(statement)

    def rows(self, sql: str, values: Any = None) -> list[dict[str, Any]]:
        """The rows of a statement."""
        with self._connection.cursor() as cursor:
            cursor.execute(sql, values)
            return [dict(row) for row in cursor.fetchall()] if cursor.description else []

    def pages(self, sql: Prepared, values: Any) -> int:
        """In memory or on disk."""
        if sql.name not in self._prepared:
            self.rows(sql.definition)
            self._prepared.add(sql.name)
        plan = self.rows(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {sql.call}", values)[0]["QUERY PLAN"][0]["Plan"]
        return int(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])

    def pair(self, project: int, who: Requester) -> dict[str, int]:
        """Pages for an ask and for the answer to it, under the name ``completion`` when it was the last of its task."""
        ask = task_statements.build_ask(who, project, 1, 0, "priority")
        asked = self.pages(task_statements.ASK, task_statements.ask_values([ask], "http://here", wait=True))
        (lease,) = self.rows("SELECT task_id FROM lease WHERE project_id = %s AND actor = %s", [project, who.actor])
        answer = task_statements.build_answer(who, {"project_id": project, **lease, "info": "yes"}, None)
        results = self._results(project, lease["task_id"])
        answered = self.pages(task_statements.SUBMIT, task_statements.submit_values([answer], hurry=False))
        last = self._results(project, lease["task_id"]) > results
        return {"ask": asked, "completion" if last else "answer": answered}

    def _results(self, project: int, task: int) -> int:
        rows = self.rows("SELECT count(*) FROM result WHERE project_id = %s AND task_id = %s", [project, task])
        return int(rows[0]["count"])

    def close(self) -> None:
        """Disconnects."""
        self._connection.close()


def build(server: Any, sql: Sql, tasks: int, runs: int) -> Place:
    """A project of this size, with its veterans."""
    project = testbed.project(server, tasks=1, n_answers=1)
    wanted = [count for count in VETERANS if count < tasks and 2 * count <= runs]
    keys = hot.accounts(sql, server.data, len(wanted))
    veterans = dict(zip(wanted, keys, strict=True))
    people = {f"u:{user_id}": count for count, (user_id, _) in veterans.items()}
    filling = Filling(tasks, runs, n_answers=N_ANSWERS, veterans=people)
    fill(sql, project.id, filling)
    return Place(project, filling, veterans)


def newcomers() -> Iterator[Identity]:
    """One after the other: in a small project somebody may have answered every task before the time is over."""
    return (Identity(f"X-Forwarded-For: 10.99.0.{number}\r\n") for number in range(1, 255))


def count_pages(dsn: str, place: Place, sched: str) -> tuple[str, list[str]]:
    """A line for a scheduler at a size: the most pages of several pairs of each volunteer."""
    page_counts: dict[str, dict[str, int]] = {}
    with contextlib.closing(Explain(dsn)) as explain:
        explain.pair(place.project.id, Requester(user_id=time.time_ns()))  # the first reads the catalogue, too
        for name, who in place.everybody():
            pairs = [explain.pair(place.project.id, who) for _ in range(4)]
            page_counts[name] = {what: max(pair.get(what, 0) for pair in pairs[1:]) for what in MAX_PAGES}
            page_counts[name]["first"] = pairs[0]["ask"]
    wrong = [
        f"{place.name}, {sched}, {name}: {pages[what]} pages for each {what}"
        for name, pages in page_counts.items()
        for what, maximum in MAX_PAGES.items()
        if pages[what] > maximum
    ]
    shown = "; ".join(
        f"{name} {p['ask']} + {p['answer']} (first {p['first']}"
        + (f", completing a task {p['completion']})" if p["completion"] else ")")
        for name, p in page_counts.items()
    )
    return f"pages of ask + answer: {shown}", wrong


class Bench:
    """A server with its projects, and what their volunteers cost."""

    def __init__(self, server: Any, database: Postgres, budget: list[Place], seconds: float) -> None:
        self._server, self._database, self._places, self._seconds = server, database, budget, seconds
        self._sql, self._cpu = Sql(database.dsn), Cpu(server.process.pid, database.pid)
        self.lines: list[tuple[str, object]] = []
        self.wrong: list[str] = []

    def say(self, name: str, value: object) -> None:
        """A line of the table, printed at once: the whole takes long."""
        self.lines.append((name, value))
        print(f"{name}: {value}", flush=True)

    def schedulers(self) -> None:
        """Pages of each scheduler at each size, and a run of 64 clients."""
        for place in self._places:
            for sched in (*SCHEDULERS, "default"):
                set_scheduler(self._sql, place.project.id, place.filling, sched)
                line, wrong = count_pages(self._database.dsn, place, sched)
                self.say(f"{place.name}, {sched}", line)
                self.wrong += wrong
                with self._rush(place, hot.people(self._server, place.project, self._sql)) as rush:
                    rush.run(1)
                    self.say("  64 clients", hot.over_http(rush, self._cpu, self._seconds))

    def sizes(self, *, gate: bool) -> float:
        """How much more a pair costs at the largest size than at the smallest."""
        ends = self._places[0], self._places[-1]
        self._database.checkpoint()
        spent: dict[str, list[float]] = {place.name: [] for place in ends}
        with contextlib.ExitStack() as open_:
            crowds = [hot.people(self._server, place.project, self._sql) for place in ends]
            rushes = [open_.enter_context(self._rush(*both)) for both in zip(ends, crowds, strict=True)]
            for rush in rushes:
                rush.run(1)
            for _ in range(ROUNDS):
                for place, rush in zip(ends, rushes, strict=True):
                    outcome = hot.over_http(rush, self._cpu, self._seconds)
                    spent[place.name].append(outcome.crowdd + outcome.postgres)
        small, large = (statistics.median(spent[place.name]) for place in ends)
        ratio = large / small
        self.say("CPU per pair, largest / smallest", f"{large:.2f} / {small:.2f} ms = {ratio:.2f}")
        if gate and ratio > MAX_CPU:
            self.wrong.append(f"A pair costs {ratio:.2f} times the CPU at {ends[-1].name}")
        return ratio

    def alone(self) -> None:
        """One client at a time: newcomer and veterans in turn, at each size."""
        for place in self._places:
            people = {"new": newcomers()}
            for runs, (_, key) in place.veterans.items():
                people[f"{runs:,}"] = itertools.repeat(Identity(query=f"api_key={key}"))
            spent: dict[str, list[float]] = {name: [] for name in people}
            late: dict[str, float] = {}
            with contextlib.ExitStack() as open_:
                rushes = {
                    name: open_.enter_context(self._rush(place, [each], self._meter())) for name, each in people.items()
                }
                for _ in range(ROUNDS):
                    for name, rush in rushes.items():
                        outcome = hot.over_http(rush, self._cpu, self._seconds)
                        spent[name].append(outcome.crowdd + outcome.postgres)
                for name, rush in rushes.items():
                    late[name] = rush.times.percentile("newtask", 99) * 1000
            middle = {name: statistics.median(values) for name, values in spent.items()}
            shown = "; ".join(
                f"{name} {middle[name]:.2f} ms, p99 of newtask {late[name]:.1f} ms ({_why(rushes[name])})"
                for name in people
            )
            self.say(f"{place.name}, one client, CPU per pair", shown)
            dear = [name for name in people if middle[name] > MAX_VETERAN * middle["new"]]
            self.wrong += [f"{place.name}: a veteran of {name} costs too much" for name in dear]
            slow = [name for name, ms in late.items() if ms > MAX_MILLISECONDS]
            self.wrong += [f"{place.name}: p99 of newtask {late[name]:.1f} ms for {name}" for name in slow]

    def _meter(self) -> Meter:
        return Meter(self._server.process.pid, self._database.pid)

    @contextlib.contextmanager
    def _rush(self, place: Place, people: list[Iterator[Identity]], meter: Meter | None = None) -> Iterator[Rush]:
        rush = Rush(self._server.port, place.project.id, people, meter)
        yield rush
        rush.close()
        self.wrong += [f"{place.name}: {count} times {what!r}" for what, count in rush.refused.items()]


def _why(rush: Rush) -> str:
    """What the slowest had to do, and how long they only waited for a processor: that is the machine's, not ours."""
    ran, waited = (rush.times.percentile(f"newtask {what}", 99) * 1000 for what in ("ran", "waited"))
    return f"p99 of CPU {ran:.1f} ms, of waiting for a processor {waited:.1f} ms"


def main() -> int:
    """Runs it and prints a table; 1 when a gate is broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", nargs=2, type=int, action="append", metavar=("TASKS", "RUNS"))
    parser.add_argument("--seconds", type=float, default=2)
    options = parser.parse_args()
    with (
        testbed.folder() as place,
        testbed.postgres(place) as database,
        testbed.crowdd(database.dsn, place, **SETTINGS) as server,
    ):
        began, budget = time.monotonic(), []
        for tasks, runs in options.size or SIZES:
            budget.append(build(server, Sql(database.dsn), tasks, runs))
        bench = Bench(server, database, budget, options.seconds)
        bench.say("filled in", f"{time.monotonic() - began:.0f} s")
        bench.alone()
        if bench.sizes(gate=False) > MAX_CPU:
            database.set("full_page_writes", "off")
            bench.say("without full-page writes", "")
            bench.sizes(gate=True)
            database.set("full_page_writes", "on")
        bench.schedulers()
        bench.wrong += [f"The server's log: {line}" for line in testbed.complaints(server)[:3]]
    print(table("What a pair costs", bench.lines, bench.wrong))
    return 1 if bench.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
