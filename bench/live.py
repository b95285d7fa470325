"""Thousands watch a project by streams while people answer; an owner follows its events over kills of the server."""

from __future__ import annotations

import asyncio
import bisect
import json
import math
import multiprocessing
import os
import random
import resource
import sys
import time
from pathlib import Path
from typing import Any

import attrs
import click
from support.servers.live import LiveServer

from bench.support import testbed
from bench.support.figures import table
from bench.support.testbed import Project, Sql, until
from bench.support.wire import Client

MAX_MEMORY = 400e6  # bytes at 5,000 clients
MAX_READS = 2.0  # of the state, a second
_RUNS = b'"n_task_runs":'
MANY = {"CROWDD_LIVE_MAX_STREAMS": "20000", "CROWDD_LIVE_MAX_STREAMS_PER_ADDRESS": "20000"}


@attrs.frozen
class Plan:
    """How many watch and follow, how long and how often (a second) people answer, how often the server is killed."""

    clients: int = 5000
    owners: int = 20
    seconds: float = 20
    rate: float = 3
    kills: int = 3
    max_state: float = 600  # milliseconds from before the answer to the client, p95
    max_event: float = 250


class Watcher(asyncio.Protocol):
    """Watches the state; ``seen`` notes when it first told of so many answers."""

    def __init__(self, head: bytes) -> None:
        self._head, self.seen, self.begun, self.ended = head, {}, False, False
        self._rest = b""

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        transport.write(self._head)

    def data_received(self, data: bytes) -> None:
        self._rest += data
        *blocks, self._rest = self._rest.split(b"\n\n")
        for block in blocks:
            at = block.find(_RUNS)
            if at >= 0:
                self.begun = True
                runs = int(block[at + len(_RUNS) : block.index(b",", at)])
                self.seen.setdefault(runs, time.monotonic())

    def connection_lost(self, error: Exception | None) -> None:
        self.ended = True


class Follower(Watcher):
    """Follows the events; ``seen`` notes when each task was told to be complete, ``order`` the numbers as they came."""

    def __init__(self, head: bytes) -> None:
        super().__init__(head)
        self.order: list[int] = []

    def data_received(self, data: bytes) -> None:
        self._rest += data
        *blocks, self._rest = self._rest.split(b"\n\n")
        for block in blocks:
            fields = dict(line.partition(b": ")[::2] for line in block.split(b"\n"))
            self.begun = self.begun or fields.get(b"event") == b"position"
            if fields.get(b"event") == b"task_completed":
                self.order.append(int(fields[b"id"]))
                self.seen.setdefault(json.loads(fields[b"data"])["task_id"], time.monotonic())


def head(path: str, **headers: str) -> bytes:
    """A request for a stream."""
    lines = [f"GET {path} HTTP/1.1", "Host: localhost", "Accept: text/event-stream"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode()


async def open_many(port: int, make: Any, count: int, at_once: int = 100) -> list[Any]:
    """So many connections, some at a time; each has been told something."""
    made: list[Any] = []
    loop = asyncio.get_running_loop()
    while len(made) < count:
        part = range(min(at_once, count - len(made)))
        opened = await asyncio.gather(*(loop.create_connection(make, "127.0.0.1", port) for _ in part))
        made += [protocol for _, protocol in opened]
        begun = await until(lambda: all(one.begun for one in made[-at_once:]), 60)  # noqa: B023
        if not begun:
            raise RuntimeError("The server does not answer.")
    return made


def memory(server: LiveServer) -> tuple[float, float]:
    """What the server's process holds now and held at most, in bytes."""
    assert server.process is not None
    lines = Path(f"/proc/{server.process.pid}/status").read_text().splitlines()
    fields = dict(line.split(":", 1) for line in lines if ":" in line)
    return tuple(1024.0 * int(fields[name].split()[0]) for name in ("VmRSS", "VmHWM"))  # type: ignore[return-value]


def cpu_seconds(server: LiveServer) -> float:
    """What the server's process has used."""
    assert server.process is not None
    fields = Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Answers:
    """An owner who answers their own project by HTTP, a task each time; each answer completes its task."""

    def __init__(self, server: LiveServer, project: Project) -> None:
        self._server, self._project = server, project
        self.sent: list[tuple[float, int]] = []  # when the answer that was stored went out, and its task

    async def one(self, client: Client) -> None:
        """Asks, and answers."""
        task = (await client.ask("GET", f"/api/{self._project.id}/newtask")).json
        at = time.monotonic()
        body = {"project_id": self._project.id, "task_id": task["id"], "info": 1}
        answer = await client.ask("POST", "/api/taskrun", body)
        if answer.status != 200:
            raise RuntimeError(f"An answer was refused: {answer.body!r}")
        self.sent.append((at, task["id"]))

    async def many(self, seconds: float, rate: float) -> None:
        """At random moments, so often a second."""
        client = Client(self._server.port, query=f"api_key={self._project.owner.key}")
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            await asyncio.sleep(random.expovariate(rate))
            await self.one(client)
        client.close()


def percentile(values: list[float], percent: int) -> float:
    """The value that so many per cent do not exceed, in milliseconds."""
    return 1000 * sorted(values)[int(len(values) * percent / 100)] if values else math.inf


class Watchers:
    """Those who watch, in a process of their own: what they cost does not delay those who answer."""

    def __init__(self, port: int, path: str, count: int) -> None:
        self._here, child_end = multiprocessing.Pipe()
        self._process = multiprocessing.get_context("spawn").Process(target=watch, args=(child_end, port, path, count))
        self._process.start()

    async def ready(self) -> None:
        """Returns when each has been told something."""
        await asyncio.to_thread(self._here.recv)

    async def seen(self, runs: int) -> tuple[list[dict[int, float]], bool]:
        """What each has seen when all were told of so many answers, or some time later; whether a stream ended."""
        self._here.send(runs)
        report: tuple[list[dict[int, float]], bool] = await asyncio.to_thread(self._here.recv)
        self._process.join()
        return report


def watch(pipe: Any, port: int, path: str, count: int) -> None:
    """The process of ``Watchers``."""

    async def work() -> None:
        watchers = await open_many(port, lambda: Watcher(head(path)), count)
        pipe.send(None)
        runs = await asyncio.to_thread(pipe.recv)
        await until(lambda: all(max(one.seen) >= runs for one in watchers), 10)
        pipe.send(([one.seen for one in watchers], any(one.ended for one in watchers)))

    raise_limit()
    asyncio.run(work())


async def watched(plan: Plan, server: LiveServer, project: Project) -> tuple[list[tuple[str, object]], list[str]]:
    """The first part: everybody watches while people answer."""
    (before, _), cpu = memory(server), cpu_seconds(server)
    followers = await open_many(server.port, lambda: Follower(events(project)), plan.owners)
    watchers = Watchers(server.port, f"/project/{project.short_name}/live", plan.clients)
    await watchers.ready()
    opened, cpu = cpu_seconds(server) - cpu, cpu_seconds(server)
    answers = Answers(server, project)
    await answers.many(plan.seconds, plan.rate)
    seen, ended = await watchers.seen(len(answers.sent))
    all_received = await until(lambda: all(len(one.order) == len(answers.sent) for one in followers), 10)
    (_, maximum), cpu = memory(server), cpu_seconds(server) - cpu
    states, logs = late(answers, seen), late_events(answers, followers)
    a_second = max(len(times) - 1 for times in seen) / (plan.seconds + 1)  # the last comes later
    violations = [] if all_received and math.isfinite(max(states)) else ["Somebody was not told the last"]
    violations += ["A stream ended"] if ended or any(one.ended for one in followers) else []
    checks = (
        ("memory", maximum, MAX_MEMORY),
        ("p95 of the state", percentile(states, 95), plan.max_state),
        ("p95 of an event", percentile(logs, 95), plan.max_event),
        ("states a second", a_second, MAX_READS),
    )
    violations += [f"{name}: {value:,.1f} above {limit:,.1f}" for name, value, limit in checks if value > limit]
    for one in followers:
        one.transport.abort()
    lines: list[tuple[str, object]] = [
        ("answers", len(answers.sent)),
        ("memory", f"{before / 1e6:.0f} MB before, {maximum / 1e6:.0f} MB at most, {plan.clients} clients"),
        (
            "CPU",
            f"{1e6 * opened / plan.clients:.0f} µs for each that came,"
            f" {1e6 * cpu / sum(map(len, seen)):.0f} µs for each that was told, answers and all",
        ),
        ("load average", f"{os.getloadavg()[0]:.1f}"),
        ("state", f"p50 {percentile(states, 50):.0f} ms, p95 {percentile(states, 95):.0f} ms; {a_second:.1f} a second"),
        ("event", f"p50 {percentile(logs, 50):.0f} ms, p95 {percentile(logs, 95):.0f} ms, {plan.owners} followers"),
    ]
    return lines, violations


def late(answers: Answers, seen: list[dict[int, float]]) -> list[float]:
    """How long each watcher waited for each answer, from before it was sent."""
    delays = []
    for times in seen:
        known = list(times)  # they only grow
        for number, (at, _) in enumerate(answers.sent, 1):
            place = bisect.bisect_left(known, number)
            delays.append(times[known[place]] - at if place < len(known) else math.inf)
    return delays


def late_events(answers: Answers, followers: list[Follower]) -> list[float]:
    """How long each follower waited for each event."""
    return [one.seen.get(task, math.inf) - at for one in followers for at, task in answers.sent]


def events(project: Project, **headers: str) -> bytes:
    """A request for the events."""
    return head(f"/project/{project.short_name}/events?after=0", Authorization=project.owner.key, **headers)


async def resumed(plan: Plan, server: LiveServer, project: Project, sql: Sql) -> tuple[list[Any], list[str]]:
    """The second part: a follower comes back after each kill of the server."""
    order: list[int] = []
    for round_ in range(plan.kills + 1):
        last = order[-1] if order else 0
        (follower,) = await open_many(
            server.port, lambda last=last: Follower(events(project, Last_Event_ID=str(last))), 1
        )
        answers = Answers(server, project)
        await answers.many(min(plan.seconds, 2), 2 * plan.rate)
        if round_ < plan.kills:
            server.kill()
            await until(lambda: follower.ended, 10)  # noqa: B023
            server.start()
        else:
            want = sql.one("SELECT count(*) FROM event WHERE kind = 'task_completed'")
            await until(lambda: len(order) + len(follower.order) >= want, 15)  # noqa: B023
        order += follower.order
    numbers = [row["seq"] for row in sql.rows("SELECT seq FROM event WHERE kind = 'task_completed' ORDER BY seq")]
    violations = [] if order == numbers else [f"{len(order)} events came, {len(numbers)} happened, or in another order"]
    return [("followed", f"{len(order)} events over {plan.kills} kills")], violations


async def play(plan: Plan, server: LiveServer, sql: Sql) -> tuple[list[tuple[str, object]], list[str]]:
    """Both parts: lines for people, and violations."""
    tasks = int(plan.rate * (2 * plan.seconds + 8 * (plan.kills + 1))) + 100
    project = testbed.project(server, tasks=tasks, n_answers=1)
    lines, violations = await watched(plan, server, project)
    more, worse = await resumed(plan, server, project, sql)
    violations += [f"The server's log: {line}" for line in testbed.complaints(server)]
    return lines + more, violations + worse


def raise_limit() -> None:
    """As many connections as the system allows."""
    _, maximum = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (maximum, maximum))


@click.command()
@click.option("--clients", default=5000, show_default=True, help="How many watch the state.")
@click.option("--owners", default=20, show_default=True, help="How many follow the events.")
@click.option("--seconds", default=20.0, show_default=True, help="How long people answer.")
@click.option("--rate", default=3.0, show_default=True, help="Answers a second.")
@click.option("--kills", default=3, show_default=True, help="How often the server is killed under a follower.")
def main(clients: int, owners: int, seconds: float, rate: float, kills: int) -> None:
    """Streams to many, and how late they are. Exit status 1: too late, too large, or something was lost."""
    raise_limit()
    plan = Plan(clients, owners, seconds, rate, kills)
    with (
        testbed.folder() as place,
        testbed.postgres(place) as postgres,
        testbed.crowdd(postgres.dsn, place, **MANY) as server,
    ):
        lines, violations = asyncio.run(play(plan, server, Sql(postgres.dsn)))
    click.echo(table(f"{clients} watch, {owners} follow", lines, violations))
    sys.exit(bool(violations))


if __name__ == "__main__":
    main()
