"""Clients that mean harm, while others work: connections without end, and the requests that cost the most.

python -m bench.hostile [--idle 10000 --seconds 15 --only "lists of big answers"]
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import attrs
import click
from support.person import Person
from support.servers.live import LiveServer

from bench.support import attacks, dear_attacks, testbed, vital
from bench.support.cpu import Meter, of_threads
from bench.support.figures import table
from bench.support.load import Load
from bench.support.testbed import Project
from bench.support.volunteers import address
from bench.support.wire import Client, LostError, Wire

MAX_SLOWER = 3.0  # times the p99 of calm
MIN_P99 = 50.0  # milliseconds; below that a machine's own noise is more than any attack
MAX_MEMORY = 50e6  # bytes more than before
MAX_MEMORY_LATER = 30e6  # the same a minute after the attacks
MAX_HEALTH = 500.0  # milliseconds until /health is answered, whatever is going on
MAX_CPU = 1.5  # times that of calm for a turn, while connections are idle; their arrival is in it
MAX_REFUSED = 20.0  # milliseconds of CPU for a request that is refused, beside receiving it
_TRIES = 4  # of a request that costs more: something else may have run meanwhile
_CLIENTS_FAULT, _SERVERS_FAULT = 400, 500  # the first status of each kind
_BOXES = [{"name": "marks", "at": "/marks", "type": "boxes"}]
BIG_ANSWERS, BIG_ANSWER = 60, 250_000  # answers of the attackers' project, and bytes of each
SETTINGS = {"CROWDD_HTTP_MAX_CONNECTIONS": "20000"}


@attrs.frozen
class Plan:
    """How many of each kind there are, how long each attack takes, and how many turns of others begin a second."""

    idle: int = 10_000
    trickles: int = 1000
    bodies: int = 20
    headers: int = 50
    seconds: float = 15.0
    rate: float = 40.0
    max_slower: float = MAX_SLOWER
    max_cpu: float = MAX_CPU
    max_health: float = MAX_HEALTH
    max_refused: float = MAX_REFUSED
    max_memory: float = MAX_MEMORY
    max_memory_later: float = MAX_MEMORY_LATER
    only: str = ""  # the attacks whose names contain this


@attrs.frozen
class Served:
    """How others were served: p50 and p99 in milliseconds, crowdd's CPU for one of their turns, the slowest /health."""

    p50: float
    p99: float
    cpu: float
    health: float


async def play(plan: Plan, server: LiveServer, project: Project) -> tuple[list[tuple[str, object]], list[str]]:
    """Lines for people, and what is broken. CPU is that of crowdd, which tells a slow server from a busy machine."""
    pid = server.process.pid
    attackers = await _prepared(plan, server, project)
    await _served(plan, server, project)  # the first requests of a process are slow
    violations: list[str] = []
    before = vital.signs(pid)
    lines: list[tuple[str, object]] = [("", "p50, p99, CPU for a turn, slowest /health: calm -> attacked")]
    for name, attack in attackers.items():
        if isinstance(attack, attacks.Flood) and attack.refused:
            dearest, wrong = await _refusals(plan, server, attack)
            lines.append((f"{name}: a refusal", f"at most {dearest:.1f} ms of CPU beside receiving"))
            violations += [f"{name}: {words}" for words in wrong]
        # Right before each attack, since what else the machine does changes in the course of a run.
        calm, wrong = await _served(plan, server, project)
        violations += [f"calm before {name}: {words}" for words in wrong]
        with attacks.going_on(attack):
            await _begun(pid, before.sockets + attack.number // 2)
            load, wrong = await _served(plan, server, project)
            now = vital.signs(pid)
        grown = now.memory - before.memory
        lines.append(
            (name, f"{_words(calm)} -> {_words(load)}, {grown / 1e6:+.0f} MB, {now.sockets} sockets at its end")
        )
        violations += [f"{name}: {words}" for words in [*wrong, *_broken(plan, name, calm, load, grown)]]
        click.echo(": ".join(map(str, lines[-1])), err=True)  # all of them take a quarter of an hour
    rests = await testbed.until(lambda: vital.signs(pid).descriptors <= before.descriptors + 20, 60)
    given_back = await testbed.until(lambda: vital.signs(pid).memory <= before.memory + plan.max_memory_later, 60)
    after = vital.signs(pid)
    lines.append(("descriptors before and after", f"{before.descriptors} and {after.descriptors}"))
    lines.append(("memory afterwards", f"{(after.memory - before.memory) / 1e6:+.0f} MB"))
    violations += [] if rests else ["Connections are left"]
    return lines, violations + ([] if given_back else ["Memory is not given back within a minute"])


def _broken(plan: Plan, name: str, calm: Served, load: Served, grown: int) -> list[str]:
    """What others or the server suffered more than they may."""
    broken = []
    if name == attacks.IDLE and load.cpu > plan.max_cpu * calm.cpu:
        broken.append(f"{load.cpu:.2f} ms of CPU for a turn instead of {calm.cpu:.2f}")
    if load.p99 > max(MIN_P99, plan.max_slower * calm.p99):
        broken.append(f"p99 {load.p99:.0f} ms instead of {calm.p99:.0f}")
    if load.health > plan.max_health:
        broken.append(f"/health took {load.health:.0f} ms")
    if grown > plan.max_memory:
        broken.append(f"{grown / 1e6:.0f} MB more")
    return broken


async def _prepared(plan: Plan, server: LiveServer, project: Project) -> dict[str, attacks.Attack]:
    """Each attack by its name, with an account and a project for those that need one."""
    mallory = await asyncio.to_thread(_account, server.url)
    mine = await asyncio.to_thread(_project, server, mallory, "long")
    await _answer_at_length(server.port, mine)
    gold = await _mark_gold(server, mallory)
    connections = attacks.on_connections(server.port, plan.idle, plan.trickles, plan.bodies, plan.headers)
    requests = attacks.of_requests(server.port, mine, mallory.key, project, await _form(server.port))
    dear = dear_attacks.of_dear_requests(server.port, mine, mallory.key, project, gold)
    return {name: attack for name, attack in {**connections, **requests, **dear}.items() if plan.only in name}


def _account(url: str) -> Person:
    return Person(url).register(f"mallory{time.time_ns() // 1_000_000}")


def _project(server: LiveServer, mallory: Person, name: str, **info: Any) -> Project:
    """A published project with one task that wants many answers."""
    name = f"{name}-of-{mallory.name}"
    body = {"name": name, "short_name": name, "description": "?", "info": {"task_presenter": "<p>?</p>", **info}}
    made = mallory.api("POST", "project", body)
    mallory.api("POST", "task", {"project_id": made["id"], "info": {}, "n_answers": BIG_ANSWERS + 1})
    mallory.publish(name)
    return Project(made["id"], name, "", mallory)


async def _answer_at_length(port: int, project: Project) -> None:
    for number in range(BIG_ANSWERS):
        client = Client(port, {"X-Forwarded-For": address(900_000 + number)})
        task = (await client.ask("GET", f"/api/project/{project.id}/newtask")).json
        run = {"project_id": project.id, "task_id": task["id"], "info": "x" * BIG_ANSWER}
        stored = await client.ask("POST", "/api/taskrun", run)
        if stored.status != 200:
            raise AssertionError(f"The answer of {BIG_ANSWER} bytes was refused: {stored.body[:300]!r}")
        client.close()


async def _mark_gold(server: LiveServer, mallory: Person) -> dear_attacks.GoldTask:
    """A gold task with as many boxes as the server takes, which volunteers may answer."""
    project = await asyncio.to_thread(_project, server, mallory, "gold", answers=_BOXES)
    (task,) = await asyncio.to_thread(mallory.api, "GET", "task", project_id=project.id)
    for boxes in (dear_attacks.MARKS, 1000):
        right = {"task_id": task["id"], "answer": dear_attacks.overlapping(boxes), "rule": {"type": "boxes"}}
        made = await Client(server.port, {"Authorization": mallory.key}).ask(
            "POST", f"/api/project/{project.id}/gold", right
        )
        if made.status == 200:
            break
    gold = dear_attacks.GoldTask(project.id, task["id"], boxes)
    answered = await dear_attacks.answer(server.port, gold, -1, 1)
    if made.status != 200 or answered.status != 200:
        raise AssertionError(f"No gold task can be answered: {made.body[:300]!r}, {answered.body[:300]!r}")
    return gold


async def _refusals(plan: Plan, server: LiveServer, flood: attacks.Flood) -> tuple[float, list[str]]:
    """What its dearest request costs in milliseconds of CPU beside receiving it, and what is wrong with each."""
    dearest, wrong = 0.0, []
    for number, request in enumerate(flood.requests):
        status, cost = await _cost(server, request, number)
        for _ in range(_TRIES):
            if cost > plan.max_refused:
                _, receiving = await _cost(server, attrs.evolve(request, method="POST", path="/api/nowhere"), number)
                status, again = await _cost(server, request, number)
                cost = min(cost, again - receiving)
        dearest = max(dearest, cost)
        what = f"{request.method} {request.path} with {len(request.body):,} bytes, {request.body[:40]!r}"
        wrong += [f"{what}: {cost:.0f} ms of CPU"] if cost > plan.max_refused else []
        wrong += [f"{what}: {status}"] if not _CLIENTS_FAULT <= status < _SERVERS_FAULT else []
    return dearest, wrong


async def _cost(server: LiveServer, request: attacks.Request, number: int) -> tuple[int, float]:
    """The status, and milliseconds of CPU that crowdd used meanwhile. A body may be refused by its head."""
    wire = await Wire.open(server.port)
    before = of_threads(server.process.pid)
    try:
        status = (await wire.ask(request.render(server.port, number, address(910_000 + number)))).status
    except LostError:
        status = 413
    finally:
        wire.close()
    return status, 1000 * (of_threads(server.process.pid) - before)


async def _form(port: int) -> dict[str, str]:
    """The headers with which a form of a stranger is sent: a cookie and its token."""
    client = Client(port)
    page = await client.ask("GET", "/account/signin", Accept="application/json")
    client.close()
    return {"Cookie": "; ".join(page.cookies), "X-CSRFToken": page.json["form"]["csrf"]}


async def _begun(pid: int, sockets: int) -> None:
    """Returns when an attack is there; one that is cut off soon may never be so many at once."""
    await testbed.until(lambda: vital.signs(pid).sockets > sockets, 10)


async def _served(plan: Plan, server: LiveServer, project: Project) -> tuple[Served, list[str]]:
    load, spent = Load(server.port, project, plan.rate), Meter(server.process.pid)
    before, _ = spent()
    watching = asyncio.create_task(_slowest_health(server.port, plan.seconds))
    await load.run(plan.seconds)
    wrong = load.violations[:3] + ([f"{load.left_out} turns could not begin"] if load.left_out else [])
    cpu = 1000 * (spent()[0] - before) / max(1, load.done)
    return Served(load.percentile(50), load.percentile(99), cpu, await watching), wrong


async def _slowest_health(port: int, seconds: float) -> float:
    """The longest time that /health took, asked every 100 ms; in milliseconds."""
    wire, slowest, end = await Wire.open(port), 0.0, time.monotonic() + seconds
    while (began := time.monotonic()) < end:
        await wire.ask(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        slowest = max(slowest, time.monotonic() - began)
        await asyncio.sleep(max(0.0, began + 0.1 - time.monotonic()))
    wire.close()
    return 1000 * slowest


def _words(load: Served) -> str:
    return f"{load.p50:.0f}, {load.p99:.0f}, {load.cpu:.1f}, {load.health:.0f} ms"


def on_a_stage(
    plan: Plan, play_: Callable[[Plan, LiveServer, Project], Awaitable[Any]], place: Path
) -> tuple[list[tuple[str, object]], list[str]]:
    """The whole of it on a PostgreSQL and a server of its own."""
    with testbed.postgres(place) as postgres, testbed.crowdd(postgres.dsn, place, **SETTINGS) as server:
        project = testbed.project(server, tasks=20_000, n_answers=3)
        lines, violations = testbed.run(play_(plan, server, project))
        return lines, violations + testbed.complaints(server)


@click.command()
@click.option("--idle", default=Plan().idle, show_default=True, help="Idle connections.")
@click.option("--seconds", default=Plan().seconds, show_default=True, help="Of each attack.")
@click.option("--rate", default=Plan().rate, show_default=True, help="Turns of others that begin a second.")
@click.option("--only", default="", help="Only the attacks whose names contain this.")
def main(idle: int, seconds: float, rate: float, only: str) -> None:
    """Attack a crowdd of its own."""
    attacks.allow_files()
    with testbed.folder() as place:
        plan = Plan(idle=idle, seconds=seconds, rate=rate, only=only)
        lines, violations = on_a_stage(plan, play, place)
    print(table("hostile", lines, violations))
    sys.exit(bool(violations))


if __name__ == "__main__":
    main()
