"""Hours of an ordinary day in less than one: does anything grow, does anything slow down?

python -m bench.soak [--minutes 45 --rate 40 --workers 1]
"""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import attrs
import click
from support.servers.live import BIN, LiveServer
from support.servers.receiver import Receiver

from bench.support import testbed, vital
from bench.support.attacks import allow_files
from bench.support.figures import table
from bench.support.load import Load
from bench.support.testbed import Postgres, Project, Sql
from bench.support.wire import Client

SETTLED = 0.2  # of the time: caches, pools and PostgreSQL's sessions fill at the beginning
MAX_MEMORY = 20e6  # bytes an hour
MAX_DESCRIPTORS = 20.0  # an hour
MAX_SLOWER = 2.0  # p99 of the last fifth beside that of the one after settling
SETTINGS = {
    "MALLOC_ARENA_MAX": "2",  # as crowdctl serve, the unit of systemd and the image have it
    "CROWDD_OUTGOING_ALLOWED_HOSTS": "127.0.0.1:*",
    "CROWDD_WEBHOOKS_FIRST_DELAY": "0.5",
    "CROWDD_WEBHOOKS_TIMEOUT": "2",
}
EXPORTS = ("csv", "json")
STREAMS = 50
BAD = (500, 204, 503, 204, 404, 204, 204)  # what the receiver answers, in turn


@attrs.frozen
class Plan:
    """How long, how many turns a second, and how often a sample is taken, in seconds."""

    minutes: float = 45.0
    rate: float = 40.0
    sample: float = 15.0
    tasks: int = 150_000


@attrs.frozen
class Sample:
    """What was seen at a moment; ``p99`` is of the requests since the one before, in milliseconds."""

    seconds: float
    signs: vital.Signs
    sessions: int
    p99: float
    done: int


class Day:
    """Load, streams, exports and a receiver that fails, on one server."""

    def __init__(self, plan: Plan, server: LiveServer, project: Project, sql: Sql) -> None:
        self._plan, self._server, self._project, self._sql = plan, server, project, sql
        self._load = Load(server.port, project, plan.rate)
        self._said = 0
        self._over = False
        self.receiver = Receiver(self._behave)
        self.samples: list[Sample] = []
        self.exports = self.told = 0
        self.violations: list[str] = []

    def _behave(self, request: Any) -> int:
        self._said += 1
        if len(self.receiver.requests) > 1000:  # ours must not grow either
            self.receiver.requests.clear()
            self.receiver.taken.clear()
        return BAD[self._said % len(BAD)]

    async def run(self) -> None:
        """All of it."""
        self._project.owner.api("PUT", f"project/{self._project.id}", {"webhook": self.receiver.url})
        others = [asyncio.create_task(self._watch()) for _ in range(STREAMS)]
        others += [asyncio.create_task(self._export())]
        load = asyncio.create_task(self._load.run(self._plan.minutes * 60))
        await self._sample(load)
        self._over = True
        for other in others:
            other.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        self.violations += self._load.violations[:5]
        if self._load.left_out > self._load.done / 100:
            self.violations.append(f"{self._load.left_out} turns could not begin: the rate is too high here")

    async def _sample(self, load: asyncio.Task[None]) -> None:
        began = time.monotonic()
        while not load.done():
            await asyncio.wait({load}, timeout=self._plan.sample)
            sessions = await asyncio.to_thread(
                self._sql.one, "SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database()"
            )
            signs = vital.signs(self._server.process.pid)
            now = Sample(time.monotonic() - began, signs, sessions, self._load.percentile(99), self._load.done)
            self._load.times.clear()
            self.samples.append(now)

    async def _watch(self) -> None:
        """Follows the state, for a minute at a time."""
        path = f"/project/{self._project.short_name}/live"
        while not self._over:
            with contextlib.suppress(OSError, TimeoutError):
                reader, writer = await asyncio.open_connection("127.0.0.1", self._server.port)
                writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
                try:
                    async with asyncio.timeout(60):
                        while line := await reader.readline():
                            self.told += line.startswith(b"event: state")
                finally:
                    writer.transport.abort()

    async def _export(self) -> None:
        """The tasks and the answers, one after the other, with a pause."""
        owner = Client(self._server.port, query=f"api_key={self._project.owner.key}")
        while not self._over:
            for form in EXPORTS:
                path = f"/project/{self._project.short_name}/tasks/export?type=task_run&format={form}"
                status = await self._download(owner.request("GET", path))
                self.exports += 1
                if status != 200:
                    self.violations.append(f"export: {status}")
                await asyncio.sleep(10)

    async def _download(self, request: bytes) -> int:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._server.port, limit=2**20)
        try:
            writer.write(request.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1))
            head = await reader.readuntil(b"\r\n")
            while await reader.read(2**18):
                pass
            return int(head.split()[1])
        finally:
            writer.close()

    def lines(self) -> list[tuple[str, object]]:
        """For people."""
        first, last, sessions = self._settled()[0], self.samples[-1], [one.sessions for one in self.samples]
        before, after = first.signs, last.signs
        grown = f"{before.memory / 1e6:.0f} to {after.memory / 1e6:.0f} MB, {self._memory() / 1e6:+.1f} an hour"
        open_ = f"{before.descriptors} to {after.descriptors}, {self._descriptors():+.1f} an hour"
        return [
            ("turns", f"{last.done} in {last.seconds / 60:.1f} min"),
            ("exports, states told, requests to the receiver", f"{self.exports}, {self.told}, {self._said}"),
            ("memory", grown),
            ("descriptors", open_),
            ("sessions with PostgreSQL", f"{min(sessions)} to {max(sessions)}"),
            ("p99 at the beginning and the end", "{:.0f} and {:.0f} ms".format(*self._p99())),
        ]

    def judge(self) -> list[str]:
        """What is broken."""
        violations = list(self.violations)
        if self._memory() > MAX_MEMORY:
            violations.append(f"Memory grows by {self._memory() / 1e6:.0f} MB an hour")
        if self._descriptors() > MAX_DESCRIPTORS:
            violations.append(f"Descriptors grow by {self._descriptors():.0f} an hour")
        early, late = self._p99()
        if late > MAX_SLOWER * max(early, 20.0):
            violations.append(f"p99 goes from {early:.0f} to {late:.0f} ms")
        return violations

    def _settled(self) -> list[Sample]:
        return self.samples[int(len(self.samples) * SETTLED) :]

    def _memory(self) -> float:
        return vital.slope([(s.seconds, float(s.signs.memory)) for s in self._settled()])

    def _descriptors(self) -> float:
        return vital.slope([(s.seconds, float(s.signs.descriptors)) for s in self._settled()])

    def _p99(self) -> tuple[float, float]:
        settled = self._settled()
        part = max(1, len(settled) // 5)
        first, last = settled[:part], settled[-part:]
        return sum(s.p99 for s in first) / len(first), sum(s.p99 for s in last) / len(last)


def play(plan: Plan, place: Path, **settings: str) -> tuple[list[tuple[str, object]], list[str]]:
    """The whole of it on a PostgreSQL and a server of its own."""
    with testbed.postgres(place) as postgres, testbed.crowdd(postgres.dsn, place, **SETTINGS, **settings) as server:
        return _on(plan, postgres, server)


def _on(plan: Plan, postgres: Postgres, server: LiveServer) -> tuple[list[tuple[str, object]], list[str]]:
    sql = Sql(postgres.dsn)
    day = Day(plan, server, testbed.project(server, tasks=plan.tasks, n_answers=2), sql)
    try:
        testbed.run(day.run())
    finally:
        day.receiver.close()
    return day.lines(), [*day.judge(), *testbed.complaints(server), *recounted(server)]


def recounted(server: LiveServer) -> list[str]:
    """What ``crowdctl check`` finds: counters that are not what the rows say."""
    done = subprocess.run(
        [BIN / "crowdctl", "check"], env=server.environment, capture_output=True, text=True, check=False
    )
    return [] if done.returncode == 0 else [f"crowdctl check: {(done.stdout + done.stderr).strip()[-500:]}"]


@click.command()
@click.option("--minutes", default=Plan().minutes, show_default=True, help="How long.")
@click.option("--rate", default=Plan().rate, show_default=True, help="Turns a second; half of what the machine can do.")
@click.option("--tasks", default=Plan().tasks, show_default=True, help="Tasks of the project, each for two answers.")
@click.option("--workers", default=1, show_default=True, help="Processes of the server.")
def main(minutes: float, rate: float, tasks: int, workers: int) -> None:
    """Let a crowdd of its own work."""
    allow_files()
    with testbed.folder() as place:
        plan = Plan(minutes=minutes, rate=rate, tasks=tasks, sample=min(15.0, minutes * 60 / 20))
        lines, violations = play(plan, place, CROWDD_DAEMON_WORKERS=str(workers))
    print(table("soak", lines, violations))
    sys.exit(bool(violations))


if __name__ == "__main__":
    main()
