"""The volunteers' loop over HTTP beside the floor and the bare functions of the ledger, on one machine in one run.

    python -m bench.hot [--size 1000 10000] [--seconds 8] [--rounds 5]

16, 32, 64 and 128 connections (browsers, addresses, people with keys, external users) ask and answer as fast as they
can; each turn follows one of as many readers of the floor (``bench.reads.floor``: Twisted's plain ``Site``, one SELECT
by key). Then come 300 pairs a second, and the bare functions: 8 sessions of pgbench, each call a statement of its own.
Rounds alternate, and figures are medians of their turns. A row of the table has pairs for each request of the floor,
what the floor's CPU for a request is of that for a pair (the other programs of a machine change both alike), pairs a
second, and milliseconds of CPU for a pair.

Gates: SHARES and CPU_SHARES of the floor, which stays where it is, so that they see what many small changes cost
together; 64 connections at least 0.9 times the pairs of the bare functions; at 300 pairs a second 99 of 100 requests
within 10 ms.
"""

from __future__ import annotations

import argparse
import itertools
import os
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import attrs
from support.servers.live import LiveServer

from bench.reads.floor_process import FLOOR, floor_of
from bench.reads.readers import Readers
from bench.support import testbed, volunteers
from bench.support.cpu import Cpu, Spent
from bench.support.figures import Times, table
from bench.support.filled import Filling, fill
from bench.support.pairs import Identity, Rush
from bench.support.slices import wait_until_warm
from bench.support.testbed import Postgres, Project, Sql
from crowdd.core import secrets
from crowdd.http.auth.cookies import VOLUNTEER

CONNECTIONS, SESSIONS = 64, 8
# The lower of two measurements (RESULTS.md), less a seventh: by that much turns differ on a busy machine.
SHARES = {16: 0.19, 32: 0.26, 64: 0.28, 128: 0.47}  # connections, and their pairs for each request of the floor
CPU_SHARES = {16: 0.16, 32: 0.23, 64: 0.30, 128: 0.40}
PACE, MAX_MILLISECONDS, MIN_RATIO = 300, 10.0, 0.9
KEYS = 20_000  # each person answers with one for a while; a faster server meets more of them
SETTINGS = dict.fromkeys(("CROWDD_RATELIMIT_LIMIT", "CROWDD_RATELIMIT_KEY_LIMIT"), "100000000")
PLANS = "-c search_path=public,code -c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c jit=off"
SCRIPT = r"""
SELECT coalesce(tasks[1], 0) AS task
  FROM next_tasks({project}, 'bare{run}-' || :client_id::text, NULL, false, '{{}}', 1, 0, 'priority', clock()) \gset
SELECT state FROM submit({project}, 'bare{run}-' || :client_id::text, :task, NULL, '10.1.2.3', NULL,
  '{{"answer": "yes", "seconds": 7}}', NULL, NULL, clock()) \gset
"""


def people(server: LiveServer, project: Project, sql: Sql, connections: int = CONNECTIONS) -> list[Iterator[Identity]]:
    """For each connection those who use it, one after the other, all of one of the four kinds."""
    root = secrets.load(server.data)
    keys = (key for _, key in accounts(sql, server.data, KEYS))
    token = volunteers_token(server, project)
    numbers = itertools.count(time.time_ns() % 10**12)

    def of(kind: str) -> Iterator[Identity]:
        while True:
            number = next(numbers)
            match kind:
                case "browser":
                    cookie = root.sign(VOLUNTEER, f"bench-{number}")
                    yield Identity(f"Cookie: {VOLUNTEER}={cookie}\r\nX-Forwarded-For: {volunteers.address(number)}\r\n")
                case "address":
                    yield Identity(f"X-Forwarded-For: {volunteers.address(number)}\r\n")
                case "user":
                    yield Identity(query=f"api_key={next(keys)}")
                case _:
                    yield Identity(f"Authorization: Bearer {token}\r\n", f"external_uid=outside-{number}")

    return [of(kind) for kind in volunteers.kinds(connections)]


def accounts(sql: Sql, data: Path, count: int) -> list[tuple[int, str]]:
    """Ids and API keys of new accounts; their passwords nobody knows. ``data``: the server's folder."""
    root = secrets.load(data)
    keys = [f"key-{time.time_ns()}-{number}" for number in range(count)]
    made = sql.rows(
        "INSERT INTO account (created, name, fullname, email_addr, api_key_hash, api_key_encrypted)"
        " SELECT clock(), k, k, k, h, '' FROM unnest(%s::text[], %s::bytea[]) u(k, h) RETURNING id, name",
        [keys, [root.digest("api_key", key) for key in keys]],
    )
    return [(row["id"], row["name"]) for row in made]


def volunteers_token(server: LiveServer, project: Project) -> str:
    """The project's token for external users."""
    answer = project.owner.ask(
        "GET", f"/api/auth/project/{project.short_name}/token", Authorization=project.secret_key, Accept="text/plain"
    )
    assert answer.status == 200, answer
    return str(answer.text)


@attrs.frozen
class Outcome:
    """Pairs a second, and CPU milliseconds per pair."""

    rate: float
    crowdd: float
    postgres: float
    client: float

    @classmethod
    def of(cls, pairs: int, seconds: float, spent: Spent) -> Outcome:
        """From what was counted."""
        per = 1000 / max(pairs, 1)
        return cls(pairs / seconds, spent.crowdd * per, spent.postgres * per, spent.client * per)

    @classmethod
    def middle(cls, outcomes: list[Outcome]) -> Outcome:
        """The median of each figure."""
        return cls(*(statistics.median(figures) for figures in zip(*map(attrs.astuple, outcomes), strict=True)))

    @property
    def server(self) -> float:
        """CPU of crowdd and PostgreSQL together."""
        return self.crowdd + self.postgres

    def __str__(self) -> str:
        cpu = f"CPU per pair: crowdd {self.crowdd:.2f}, PostgreSQL {self.postgres:.2f}, client {self.client:.2f} ms"
        return f"{self.rate:6.0f} pairs/s; {cpu}"


def over_http(rush: Rush, cpu: Cpu, seconds: float, pace: float = 0.0, *, prefers_next: bool = False) -> Outcome:
    """The volunteers at work."""
    before, pairs = cpu.spent(), rush.pairs
    took = rush.run(seconds, pace, prefers_next=prefers_next)
    return Outcome.of(rush.pairs - pairs, took, cpu.spent().since(before))


def bare(sql: Sql, place: Path, project: int, cpu: Cpu, seconds: int) -> Outcome:
    """pgbench on the functions alone."""
    script = place / "pair.sql"
    script.write_text(SCRIPT.format(project=project, run=time.time_ns()))
    command = ["pgbench", "-n", "-M", "prepared", "-c", str(SESSIONS), "-j", "2", "-T", str(seconds), "-f", str(script)]
    runs = "SELECT count(*) FROM task_run WHERE project_id = %s AND actor LIKE 'bare%%'"
    counted, before, began = sql.one(runs, [project]), cpu.spent(), time.perf_counter()
    client = sum(os.times()[2:4])
    done = subprocess.run(
        [*command, sql.dsn], env={**os.environ, "PGOPTIONS": PLANS}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    took, spent = time.perf_counter() - began, cpu.spent().since(before)
    spent = attrs.evolve(spent, client=sum(os.times()[2:4]) - client)
    return Outcome.of(sql.one(runs, [project]) - counted, took, spent)


@attrs.frozen
class Floor:
    """Where the floor answers, and the meter of its CPU."""

    port: int
    cpu: Cpu


@attrs.frozen
class Crowd:
    """So many volunteers and as many readers of the floor, and what came of their turns."""

    rush: Rush
    readers: Readers
    turns: list[tuple[Outcome, Outcome]] = attrs.field(factory=list)  # the floor's, where a pair is a request, and ours

    def turn(self, floor: Cpu, cpu: Cpu, seconds: float) -> None:
        """The floor, then the volunteers."""
        before = floor.spent()
        read = self.readers.run(FLOOR, seconds / 4)
        below = Outcome.of(read.answers, read.seconds, floor.spent().since(before))
        self.turns.append((below, over_http(self.rush, cpu, seconds)))

    @property
    def outcome(self) -> Outcome:
        """The median of the volunteers' turns."""
        return Outcome.middle([mine for _, mine in self.turns])

    @property
    def shares(self) -> tuple[float, float]:
        """Pairs for each request of the floor, and its CPU for that of a pair: medians of the turns."""
        return (
            statistics.median(mine.rate / below.rate for below, mine in self.turns),
            statistics.median(below.server / mine.server for below, mine in self.turns),
        )

    def close(self) -> None:
        """Disconnects."""
        self.rush.close()
        self.readers.close()


class Loop:
    """The volunteers' loop on a server, beside the floor and the bare functions."""

    def __init__(self, server: LiveServer, database: Postgres, place: Path, floor: Floor) -> None:
        self._server, self._database, self._place, self._floor = server, database, place, floor
        self._sql, self._cpu = Sql(database.dsn), Cpu(server.process.pid, database.pid)

    def measure(self, filling: Filling, seconds: int, rounds: int) -> tuple[list[tuple[str, object]], list[str]]:
        """Lines of the table for one size, and the gates that are broken."""
        project = testbed.project(self._server, tasks=1, n_answers=1)
        fill(self._sql, project.id, filling)
        self._database.checkpoint()
        wait_until_warm(self._server.process.pid)
        crowds, calm, bares = {number: self._crowd(project, number) for number in SHARES}, [], []
        ahead = list[Outcome]()
        rush = crowds[CONNECTIONS].rush
        rush.run(2)
        times = Times()
        for _ in range(rounds):
            for crowd in crowds.values():
                crowd.turn(self._floor.cpu, self._cpu, seconds)
            rush.times.clear()
            calm.append(over_http(rush, self._cpu, seconds, PACE))
            times.extend(rush.times)
            ahead.append(over_http(rush, self._cpu, seconds, PACE, prefers_next=True))
            bares.append(bare(self._sql, self._place, project.id, self._cpu, seconds))
        for crowd in crowds.values():
            crowd.close()
        name = f"{filling.tasks:,} tasks, {filling.runs:,} answers"
        lines: list[tuple[str, object]] = [
            (name, "of floor its CPU  pairs/s   crowdd PostgreS     both   client"),
            *((f"  {number} connections", _row(crowd.outcome, *crowd.shares)) for number, crowd in crowds.items()),
            (f"  at {PACE} pairs/s", _row(Outcome.middle(calm))),
            ("  by Prefer: next", _row(Outcome.middle(ahead))),
            ("  bare functions", _row(Outcome.middle(bares))),
            *times.lines(),
        ]
        ratio = crowds[CONNECTIONS].outcome.rate / Outcome.middle(bares).rate
        wrong = [f"{name}: over HTTP {ratio:.2f} times the bare functions"] if ratio < MIN_RATIO else []
        for number, crowd in crowds.items():
            for of, share, minimum in zip(
                ("pairs", "CPU"), crowd.shares, (SHARES[number], CPU_SHARES[number]), strict=True
            ):
                if share < minimum:
                    wrong.append(f"{name}: {of} of {number} connections {share:.2f} of the floor, not {minimum:.2f}")
        late = {what: times.percentile(what, 99) * 1000 for what in ("newtask", "taskrun")}
        wrong += [f"{name}: p99 of {what} {ms:.1f} ms" for what, ms in late.items() if ms > MAX_MILLISECONDS]
        refused = sum((crowd.rush.refused for crowd in crowds.values()), Counter[bytes]())
        wrong += [f"{name}: {count} times {what!r}" for what, count in refused.items()]
        return lines, wrong

    def _crowd(self, project: Project, connections: int) -> Crowd:
        """Volunteers of a project; each number of connections has its own."""
        rush = Rush(self._server.port, project.id, people(self._server, project, self._sql, connections))
        return Crowd(rush, Readers(self._floor.port, connections))


def _row(outcome: Outcome, *shares: float) -> str:
    """A row of the table: shares of the floor, where there are any, before the figures."""
    cpu = (outcome.crowdd, outcome.postgres, outcome.server, outcome.client)
    return f"{''.join(f'{share:8.2f}' for share in shares):16}{outcome.rate:9.0f}{''.join(f'{ms:9.2f}' for ms in cpu)}"


def main() -> int:
    """Runs it and prints a table; 1 when a gate is broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", nargs=2, type=int, action="append", metavar=("TASKS", "RUNS"))
    parser.add_argument("--seconds", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    lines: list[tuple[str, object]] = []
    wrong: list[str] = []
    with (
        testbed.folder() as place,
        testbed.postgres(place) as database,
        testbed.crowdd(database.dsn, place, **SETTINGS) as server,
        floor_of(database, place) as floor,
    ):
        loop = Loop(server, database, place, Floor(*floor))
        for tasks, runs in options.size or [(1000, 10_000), (100_000, 1_000_000)]:
            filling = Filling(tasks, runs, n_answers=100)
            more, broken = loop.measure(filling, options.seconds, options.rounds)
            lines += more
            wrong += broken
        wrong += [f"The server's log: {line}" for line in testbed.complaints(server)[:3]]
    print(table("The loop over HTTP", lines, wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
