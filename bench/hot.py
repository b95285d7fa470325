"""The volunteer's loop over HTTP beside the floor and the bare functions of the ledger, on one machine in one run.

    python -m bench.hot [--size 1000 10000] [--seconds 8] [--rounds 3]

16, 32, 64 and 128 connections (browsers, addresses, people with keys, external users) ask and answer as fast as they
can; each turn follows one of as many readers of the floor (``bench.reads.floor``: Twisted's plain ``Site``, one SELECT
by key). 8 sessions of pgbench do so, too, each call a statement of its own. Rounds alternate. Gates, on medians: so
many pairs for each request of the floor as SHARES says; 64 connections at least 0.9 times the pairs of the bare
functions; at a pace of 300 pairs a second 99 of 100 requests within 10 ms. What the clients cost is shown apart: it is
CPU that the server did not have. A gate against an earlier tree cannot see what many small changes cost together; the
floor stays where it is.
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
from bench.support.figures import table
from bench.support.filled import Filling, fill
from bench.support.pairs import Identity, Rush
from bench.support.slices import wait_until_warm
from bench.support.testbed import Postgres, Project, Sql
from crowdd.core import secrets
from crowdd.http.auth.cookies import VOLUNTEER

CONNECTIONS, SESSIONS = 64, 8
SHARES = {16: 0.0, 32: 0.30, 64: 0.36, 128: 0.40}  # connections, and their pairs for each request of the floor
PACE, MAX_MILLISECONDS, MIN_RATIO = 300, 10.0, 0.9
KEYS = 2000
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

    def __str__(self) -> str:
        cpu = f"CPU per pair: crowdd {self.crowdd:.2f}, PostgreSQL {self.postgres:.2f}, client {self.client:.2f} ms"
        return f"{self.rate:6.0f} pairs/s; {cpu}"


def over_http(rush: Rush, cpu: Cpu, seconds: float, pace: float = 0.0) -> Outcome:
    """The volunteers at work."""
    before, pairs = cpu.spent(), rush.pairs
    took = rush.run(seconds, pace)
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
class Crowd:
    """So many volunteers and as many readers of the floor, and what came of their turns."""

    connections: int
    rush: Rush
    floor: Readers
    outcomes: list[Outcome] = attrs.field(factory=list)
    floors: list[float] = attrs.field(factory=list)

    def turn(self, cpu: Cpu, seconds: float) -> None:
        """The floor, then the volunteers."""
        self.floors.append(self.floor.run(FLOOR, seconds / 4).rate)
        self.outcomes.append(over_http(self.rush, cpu, seconds))

    @property
    def rate(self) -> float:
        """Pairs a second, the median."""
        return statistics.median(outcome.rate for outcome in self.outcomes)

    @property
    def share(self) -> float:
        """Pairs for each request of the floor, the median of the turns."""
        return statistics.median(mine.rate / floor for mine, floor in zip(self.outcomes, self.floors, strict=True))

    def lines(self) -> Iterator[tuple[str, object]]:
        """Each turn, and the share."""
        name = f"  {self.connections} connections"
        yield from ((name, outcome) for outcome in self.outcomes)
        yield f"{name}, of the floor", f"{self.share:.2f} of {statistics.median(self.floors):.0f} requests a second"

    def close(self) -> None:
        """Disconnects."""
        self.rush.close()
        self.floor.close()


class Loop:
    """The volunteers' loop on a server, beside the floor and the bare functions."""

    def __init__(self, server: LiveServer, database: Postgres, place: Path, floor_port: int) -> None:
        self._server, self._database, self._place, self._floor_port = server, database, place, floor_port
        self._sql, self._cpu = Sql(database.dsn), Cpu(server.process.pid, database.pid)

    def measure(self, filling: Filling, seconds: int, rounds: int) -> tuple[list[tuple[str, object]], list[str]]:
        """Lines of the table for one size, and the gates that are broken."""
        project = testbed.project(self._server, tasks=1, n_answers=1)
        fill(self._sql, project.id, filling)
        self._database.checkpoint()
        wait_until_warm(self._server.process.pid)
        crowds, bares = {number: self._crowd(project, number) for number in SHARES}, []
        crowds[CONNECTIONS].rush.run(2)
        for _ in range(rounds):
            for crowd in crowds.values():
                crowd.turn(self._cpu, seconds)
            bares.append(bare(self._sql, self._place, project.id, self._cpu, seconds))
        rush = crowds[CONNECTIONS].rush
        rush.times.clear()
        calm = over_http(rush, self._cpu, seconds, PACE)
        for crowd in crowds.values():
            crowd.close()
        ratio = crowds[CONNECTIONS].rate / statistics.median(outcome.rate for outcome in bares)
        late = {name: rush.times.percentile(name, 99) * 1000 for name in ("newtask", "taskrun")}
        name = f"{filling.tasks:,} tasks, {filling.runs:,} answers"
        lines: list[tuple[str, object]] = [(name, ""), *(line for crowd in crowds.values() for line in crowd.lines())]
        lines += [("  bare functions", outcome) for outcome in bares]
        lines += [("  times the bare functions", f"{ratio:.2f}"), (f"  at {PACE} pairs/s", calm), *rush.times.lines()]
        wrong = [f"{name}: over HTTP {ratio:.2f} times the bare functions"] if ratio < MIN_RATIO else []
        wrong += [
            f"{name}: {number} connections have {crowd.share:.2f} of the floor instead of {SHARES[number]:.2f}"
            for number, crowd in crowds.items()
            if crowd.share < SHARES[number]
        ]
        wrong += [f"{name}: p99 of {what} {ms:.1f} ms" for what, ms in late.items() if ms > MAX_MILLISECONDS]
        refused = sum((crowd.rush.refused for crowd in crowds.values()), Counter[bytes]())
        wrong += [f"{name}: {count} times {what!r}" for what, count in refused.items()]
        return lines, wrong

    def _crowd(self, project: Project, connections: int) -> Crowd:
        """Volunteers of a project; each number of connections has its own."""
        rush = Rush(self._server.port, project.id, people(self._server, project, self._sql, connections))
        return Crowd(connections, rush, Readers(self._floor_port, connections))


def main() -> int:
    """Runs it and prints a table; 1 when a gate is broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", nargs=2, type=int, action="append", metavar=("TASKS", "RUNS"))
    parser.add_argument("--seconds", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    lines: list[tuple[str, object]] = []
    wrong: list[str] = []
    with (
        testbed.folder() as place,
        testbed.postgres(place) as database,
        testbed.crowdd(database.dsn, place, **SETTINGS) as server,
        floor_of(database, place) as (floor_port, _),
    ):
        loop = Loop(server, database, place, floor_port)
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
