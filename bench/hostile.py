"""Clients that mean ill, while others work: idle connections, trickles, bodies and headers without end.

python -m bench.hostile [--idle 10000 --seconds 15]
"""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import resource
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import click
from support.live import LiveServer

from bench import stage, vital
from bench.cpu import Meter
from bench.figures import table
from bench.load import Load
from bench.stage import Project

MOST_SLOWER = 3.0  # times the p99 of calm
LEAST_P99 = 50.0  # milliseconds; below that a machine's own noise is more than any attack
MOST_MEMORY = 250e6  # bytes more than before
MOST_CPU = 1.5  # times that of calm for a turn, while connections are idle; their arrival is in it
IDLE = "idle connections"
_CHUNK = b"x" * 65_536
SETTINGS = {"CROWDD_HTTP_CONNECTIONS": "20000"}


@attrs.frozen
class Plan:
    """How many of each kind there are, how long each attack takes, and how many turns of others begin a second."""

    idle: int = 10_000
    trickles: int = 1000
    bodies: int = 20
    headers: int = 50
    seconds: float = 15.0
    rate: float = 40.0
    most_slower: float = MOST_SLOWER
    most_cpu: float = MOST_CPU


@attrs.frozen
class Served:
    """How others were served: p50 and p99 in milliseconds, and crowdd's CPU for one of their turns."""

    p50: float
    p99: float
    cpu: float


class Attack:
    """Connections that are opened, do something again and again, and are closed; in a process of their own, so that
    those who are measured do not wait for them on this side.
    """

    def __init__(self, port: int, number: int, head: bytes, more: bytes = b"", pause: float = 1.0) -> None:
        self._port, self.number, self._head, self._more, self._pause = port, number, head, more, pause

    @contextlib.contextmanager
    def going_on(self) -> Iterator[None]:
        """While in this block."""
        process = multiprocessing.get_context("spawn").Process(target=self.run, daemon=True)
        process.start()
        try:
            yield
        finally:
            process.terminate()
            process.join()

    def run(self) -> None:
        """Until this process is ended."""
        allow_files()
        asyncio.run(self._all())

    async def _all(self) -> None:
        tasks = []
        for first in range(0, self.number, 250):
            tasks += [asyncio.create_task(self._one()) for _ in range(min(250, self.number - first))]
            await asyncio.sleep(0.2)
        await asyncio.gather(*tasks)

    async def _one(self) -> None:
        while True:
            with contextlib.suppress(OSError):
                await self._connection()
            await asyncio.sleep(1.0)

    async def _connection(self) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        try:
            writer.write(self._head)
            if not self._more:
                # Without a timer: those of ten thousand would take a processor from the others.
                await reader.read(-1)
                return
            closed = asyncio.create_task(reader.read(-1))
            while not closed.done():
                writer.write(self._more)
                await writer.drain()
                await asyncio.wait({closed}, timeout=self._pause)
        finally:
            writer.transport.abort()


def attacks(plan: Plan, port: int) -> dict[str, Attack]:
    """Each by its name."""
    body = b"POST /api/task HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    return {
        IDLE: Attack(port, plan.idle, b""),
        "slowloris": Attack(port, plan.trickles, b"GET / HTTP/1.1\r\nHost: localhost\r\n", b"X-a: b\r\n", 2.0),
        "bodies of 100 MB": Attack(port, plan.bodies, body + b"Content-Length: 100000000\r\n\r\n", _CHUNK, 0.01),
        "endless bodies": Attack(
            port, plan.bodies, body + b"Transfer-Encoding: chunked\r\n\r\n", b"10000\r\n" + _CHUNK + b"\r\n", 0.01
        ),
        "endless headers": Attack(port, plan.headers, b"GET / HTTP/1.1\r\n", b"X-a: " + b"b" * 1000 + b"\r\n", 0.01),
    }


async def play(plan: Plan, server: LiveServer, project: Project) -> tuple[list[tuple[str, object]], list[str]]:
    """Lines for people, and what is broken. CPU is that of crowdd, which tells a slow server from a busy machine."""
    pid = server.process.pid
    await _served(plan, server, project)  # the first requests of a process are slow
    calm, violations = await _served(plan, server, project)
    before = vital.signs(pid)
    lines: list[tuple[str, object]] = [("calm: p50, p99, CPU for a turn", _words(calm))]
    for name, attack in attacks(plan, server.port).items():
        with attack.going_on():
            await _begun(pid, before.sockets + attack.number // 2)
            load, wrong = await _served(plan, server, project)
            now = vital.signs(pid)
        grown = now.memory - before.memory
        if name == IDLE and load.cpu > plan.most_cpu * calm.cpu:
            violations.append(f"{name}: {load.cpu:.2f} ms of CPU for a turn instead of {calm.cpu:.2f}")
        lines.append((name, f"{_words(load)}, {grown / 1e6:+.0f} MB, {now.sockets} sockets at its end"))
        violations += [f"{name}: {words}" for words in wrong]
        if load.p99 > max(LEAST_P99, plan.most_slower * calm.p99):
            violations.append(f"{name}: p99 {load.p99:.0f} ms instead of {calm.p99:.0f}")
        if grown > MOST_MEMORY:
            violations.append(f"{name}: {grown / 1e6:.0f} MB more")
    rests = await stage.until(lambda: vital.signs(pid).descriptors <= before.descriptors + 20, 60)
    after = vital.signs(pid)
    lines.append(("descriptors before and after", f"{before.descriptors} and {after.descriptors}"))
    return lines, violations + ([] if rests else ["Connections are left"])


async def _begun(pid: int, sockets: int) -> None:
    """Returns when an attack is there; one that is cut off soon may never be so many at once."""
    await stage.until(lambda: vital.signs(pid).sockets > sockets, 10)


async def _served(plan: Plan, server: LiveServer, project: Project) -> tuple[Served, list[str]]:
    load, spent = Load(server.port, project, plan.rate), Meter(server.process.pid)
    before, _ = spent()
    await load.run(plan.seconds)
    wrong = load.violations[:3] + ([f"{load.left_out} turns could not begin"] if load.left_out else [])
    cpu = 1000 * (spent()[0] - before) / max(1, load.done)
    return Served(load.percentile(50), load.percentile(99), cpu), wrong


def _words(load: Served) -> str:
    return f"{load.p50:.0f} and {load.p99:.0f} ms, {load.cpu:.1f} ms"


def allow_files() -> None:
    """As many as the system lets this process and its children have open."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def on_a_stage(
    plan: Plan, play_: Callable[[Plan, LiveServer, Project], Awaitable[Any]], place: Path
) -> tuple[list[tuple[str, object]], list[str]]:
    """The whole of it on a PostgreSQL and a server of its own."""
    with stage.postgres(place) as postgres, stage.crowdd(postgres.dsn, place, **SETTINGS) as server:
        project = stage.project(server, tasks=20_000, n_answers=3)
        lines, violations = stage.run(play_(plan, server, project))
        return lines, violations + stage.complaints(server)


@click.command()
@click.option("--idle", default=Plan().idle, show_default=True, help="Idle connections.")
@click.option("--seconds", default=Plan().seconds, show_default=True, help="Of each attack.")
@click.option("--rate", default=Plan().rate, show_default=True, help="Turns of others that begin a second.")
def main(idle: int, seconds: float, rate: float) -> None:
    """Attack a crowdd of its own."""
    allow_files()
    with stage.folder() as place:
        lines, violations = on_a_stage(Plan(idle=idle, seconds=seconds, rate=rate), play, place)
    print(table("hostile", lines, violations))
    sys.exit(bool(violations))


if __name__ == "__main__":
    main()
