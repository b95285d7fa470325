"""A storm: 2,000 requests at once of which 200 are dropped at random moments, then a database that goes away for 10 s.

python -m bench.storm
"""

from __future__ import annotations

import asyncio
import random
import resource
import sys
import time
from pathlib import Path

import attrs
import click
from support.servers.live import LiveServer

from bench.support import testbed
from bench.support.figures import table
from bench.support.outage import Outage
from bench.support.requests import Expected, Requests, marks
from bench.support.testbed import Postgres, Project, Sql
from bench.support.wire import SECONDS, Client, LostError, Response, Wire

REST_SECONDS = 10.0  # how soon after the last answer everything is at rest
CALM_SECONDS = 0.1  # half of the requests of a server at rest are answered within this time
# Nobody is turned away for waiting in the storm; the outage has the settings of a real server.
PATIENT = {"CROWDD_DB_MAX_QUEUE": "5000", "CROWDD_DB_POOL_TIMEOUT": "60"}


@attrs.frozen
class Plan:
    """What is to happen; seconds are those of the database's absence. ``wait_seconds``: CROWDD_DB_POOL_TIMEOUT then."""

    requests: int = 2000
    dropped: int = 200
    away: float = 10.0
    pool_timeout: int = 5
    clients: int = 24


@attrs.define
class Shot:
    """One request of the storm and what became of it; ``drop``: how its client goes, "" for one that stays."""

    expected: Expected
    client: Client
    drop: str
    wire: Wire = attrs.field(init=False)
    answer: Response | None = None
    seconds: float = 0.0
    error: str = ""

    async def fire(self, at_most: float) -> None:
        """Sends it; a dropped one goes before its request is complete, or within ``at_most`` seconds after it."""
        request, began = self.client.request(*self.expected.request), time.monotonic()
        try:
            if self.drop == "half":
                self.wire.write(request[: random.randrange(1, len(request))])
                await asyncio.sleep(random.uniform(0, at_most))
                self.wire.close(reset=random.random() < 0.5)
            elif self.drop:
                await asyncio.wait_for(self._ask(request), random.uniform(0, at_most))
            else:
                await self._ask(request)
        except TimeoutError:
            self.error = "" if self.drop else f"no answer within {SECONDS:g} s"
            self.wire.close(reset=self.drop == "reset")
        except LostError as error:
            self.error = str(error)
        self.seconds = time.monotonic() - began

    async def _ask(self, request: bytes) -> None:
        self.answer = await self.wire.ask(request)

    @property
    def complaint(self) -> str:
        """What is wrong with its answer; "" when it is right, or nobody waited for it."""
        if self.answer is None:
            return self.error and f"{self.expected.name}: {self.error}"
        return self.expected.complaint(self.answer)

    def half_done(self, stored_marks: set[str]) -> str:
        """What is wrong with its rows: they are all there or none is, and those of a confirmed request are there."""
        rows = len(self.expected.marks)
        stored = sum(mark in stored_marks for mark in self.expected.marks)
        never, always = self.drop == "half", self.answer is not None
        if (stored == rows and not never) or (stored == 0 and not always):
            return ""
        return f"{self.expected.name}: {stored} of {rows} rows are there ({self.drop or 'stayed'})"


class Storm:
    """All requests at once."""

    def __init__(self, plan: Plan, server: LiveServer, project: Project) -> None:
        self.plan, self.server, self.project = plan, server, project
        self.shots: list[Shot] = []

    async def run(self) -> None:
        """Returns when all that stayed have their answers."""
        requests = Requests(self.server.port, self.project)
        ready = [await requests.make(number) for number in range(self.plan.requests)]
        dropped = set(random.sample(range(self.plan.requests), self.plan.dropped))
        ways = ("half", "close", "reset")
        self.shots = [Shot(*one, random.choice(ways) if n in dropped else "") for n, one in enumerate(ready)]
        for first in range(0, len(self.shots), 200):  # the connections wait for each other, the requests do not
            await asyncio.gather(*(self._connect(shot) for shot in self.shots[first : first + 200]))
        await asyncio.gather(*(shot.fire(self.plan.requests / 1000) for shot in self.shots))

    async def _connect(self, shot: Shot) -> None:
        shot.wire = await Wire.open(self.server.port)

    def lines(self, seconds: float) -> list[tuple[str, object]]:
        """For people."""
        answered = sorted(shot.seconds for shot in self.shots if not shot.drop)
        cut = sum(1 for shot in self.shots if shot.drop and shot.answer is None)
        spread = [f"{answered[int((len(answered) - 1) * p / 100)]:.2f} s" for p in (50, 99, 100)]
        return [
            ("requests at once", len(self.shots)),
            ("dropped before the answer", f"{cut} of {self.plan.dropped}"),
            ("answered per second", f"{len(answered) / seconds:.0f}"),
            ("time to the answer", "p50 {}, p99 {}, max {}".format(*spread)),
        ]

    def violations(self, sql: Sql) -> list[str]:
        """Wrong answers, and requests that were carried out by half."""
        stored_marks = marks(sql)
        halves = [shot.half_done(stored_marks) for shot in self.shots]
        return [sentence for sentence in [shot.complaint for shot in self.shots] + halves if sentence]


async def at_rest(server: LiveServer, sql: Sql) -> list[str]:
    """Waits until nothing goes on; what is not as it should be then."""
    rests = await testbed.until(lambda: _sessions(sql).keys() == {"idle"}, REST_SECONDS)
    violations = [] if rests else [f"The pools do not come to rest: {_sessions(sql)}"]
    client, taken = Client(server.port), []
    for _ in range(40):
        began = time.monotonic()
        answer = await client.ask("GET", "/api/task?limit=1")
        taken.append(time.monotonic() - began)
        violations += [] if answer.status == 200 else [f"The server at rest answers {answer.status}"]
    half = sorted(taken)[20]
    return violations + ([f"The server at rest needs {half * 1000:.0f} ms"] if half > CALM_SECONDS else [])


def _sessions(sql: Sql) -> dict[str, int]:
    rows = sql.rows(
        "SELECT state, count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database()"
        " AND pid <> pg_backend_pid() AND backend_type = 'client backend' GROUP BY 1"
    )
    return {row["state"]: row["n"] for row in rows}


async def many_at_once(plan: Plan, server: LiveServer, sql: Sql) -> tuple[list[tuple[str, object]], list[str]]:
    """The first half: lines for people, and violations."""
    project = testbed.project(server, tasks=max(plan.requests // 4, 200), n_answers=10)
    storm, began = Storm(plan, server, project), time.monotonic()
    await storm.run()
    lines = storm.lines(time.monotonic() - began)
    violations = await at_rest(server, sql)
    return lines, violations + storm.violations(sql) + complaints(server)


async def database_away(
    plan: Plan, server: LiveServer, sql: Sql, postgres: Postgres
) -> tuple[list[tuple[str, object]], list[str]]:
    """The second half: lines for people, and violations."""
    project = testbed.project(server, tasks=500, n_answers=10)
    process = server.process
    outage = Outage(server, project, postgres, clients=plan.clients, away=plan.away)
    await outage.run()
    violations = await at_rest(server, sql)
    if process is None or process.poll() is not None:
        violations.append("The server's process has ended")
    return outage.lines(), violations + outage.violations(plan.pool_timeout, sql) + complaints(server)


def complaints(server: LiveServer) -> list[str]:
    """What the server's log has against it."""
    return [f"The server's log: {line}" for line in testbed.complaints(server)]


def play(plan: Plan, place: Path) -> tuple[list[tuple[str, object]], list[str]]:
    """Both halves on a PostgreSQL below ``place``: lines for people, and violations."""
    _, maximum = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (maximum, maximum))  # a connection per request, here and in the server
    with testbed.postgres(place) as postgres:
        sql = Sql(postgres.dsn)
        with testbed.crowdd(postgres.dsn, place, **PATIENT) as server:
            lines, violations = testbed.run(many_at_once(plan, server, sql))
        waiting = {"CROWDD_DB_POOL_TIMEOUT": str(plan.pool_timeout)}
        with testbed.crowdd(postgres.dsn, place, **waiting) as server:
            more, worse = testbed.run(database_away(plan, server, sql, postgres))
        violations += sql.broken_rules()
    return lines + more, violations + worse


@click.command()
@click.option("--requests", default=2000, show_default=True, help="How many at once.")
@click.option("--dropped", default=200, show_default=True, help="How many of them go before their answer.")
@click.option("--away", default=10.0, show_default=True, help="Seconds without a database.")
@click.option("--seed", default=None, type=int, help="For the same dice again.")
def main(requests: int, dropped: int, away: float, seed: int | None) -> None:
    """Many requests at once, rude clients, a database that goes away. Exit status 1: somebody else had to suffer."""
    random.seed(seed)
    with testbed.folder() as place:
        lines, violations = play(Plan(requests, dropped, away), place)
    click.echo(table(f"{requests} requests at once, {dropped} dropped; no database for {away:g} s", lines, violations))
    sys.exit(bool(violations))


if __name__ == "__main__":
    main()
