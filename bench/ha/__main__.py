"""Three PostgreSQL servers under Patroni, two crowdd servers and HAProxy; the primary fails while volunteers answer.

python -m bench.ha [--rounds 10] [--rate 100] [--clients 40] [--limit 30] [--only kill] [--json]

In turn the primary is killed (-9, with everything on its machine), cut off from the network, and demoted by a
switchover. Nobody does anything then but what an init system does: what was killed is started again. Every answer that
a volunteer was told is stored must be there, once, and answers must be taken again within the limit.

Each machine is a network namespace, which needs root. Otherwise it is an address of the loopback, and a machine that is
cut off stands still (SIGSTOP). ``--asynchronous`` shows what is not promised: the primary waits for no other server.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import attrs
import click
from support.servers.live import LiveServer

from bench.crowd import _TOTALS
from bench.ha.load import Volunteers
from bench.ha.machine import Cluster, cluster
from bench.nodes.proxy import Proxy, proxy
from bench.support import testbed, volunteers
from bench.support.figures import table
from bench.support.testbed import Sql

FAULTS = ("kill", "cut off", "switchover")
NODES = ("a", "b")
KINDS = ("browser", "user", "user", "external")
N_ANSWERS = 3
CALM_SECONDS = 5.0
SECONDS_PER_ROUND = 90  # for the number of tasks
GIVE_UP_SECONDS = 300.0
TOGETHER_SECONDS = 600.0
DATABASE = ("CREATE ROLE crowdd LOGIN PASSWORD 'crowdd-password'", "CREATE DATABASE crowdd OWNER crowdd")


@attrs.frozen
class Plan:
    """What is to happen. ``rate``: pairs of newtask and answer per second. ``limit``: seconds without answers."""

    rounds: int
    rate: float
    clients: int
    limit: float
    faults: tuple[str, ...] = FAULTS

    @property
    def tasks(self) -> int:
        """More than can be answered meanwhile."""
        return int(self.rate * (self.rounds + 1) * SECONDS_PER_ROUND / N_ANSWERS)


@attrs.frozen
class Round:
    """What was seen: answers per second before, seconds without a confirmed one, and until all three ran again."""

    number: int
    fault: str
    old: str
    new: str
    rate: float
    silence: float
    together: float


_TOO_MANY = """
SELECT count(*) FROM task_ledger
 WHERE project_id = %s AND (answers > n_answers OR done <> (answers >= n_answers))
"""


class Run:
    """Everything together."""

    def __init__(self, plan: Plan, postgres_cluster: Cluster, front: Proxy, nodes: list[LiveServer], sql: Sql) -> None:
        self.plan, self.cluster, self.front, self.nodes, self.sql = plan, postgres_cluster, front, nodes, sql
        self.rounds: list[Round] = []
        self.violations: list[str] = []
        self.figures: dict[str, object] = {}
        self.times: list[tuple[str, str]] = []

    async def play(self) -> None:
        """From the first answer to the last, and the judgement."""
        project = await asyncio.to_thread(testbed.project, self.front, tasks=self.plan.tasks, n_answers=N_ANSWERS)
        kinds = [KINDS[number % len(KINDS)] for number in range(self.plan.clients)]
        clients = [await volunteers.make(kind, number, self.front.port, project) for number, kind in enumerate(kinds)]
        people = Volunteers(project, clients, self.plan.rate)
        people.begin()
        for number in range(1, self.plan.rounds + 1):
            await self._round(number, people)
        await asyncio.sleep(CALM_SECONDS)
        await people.end()
        self._judge(people, project.id)

    async def _round(self, number: int, people: Volunteers) -> None:
        began = time.monotonic()
        await asyncio.sleep(CALM_SECONDS)
        calm = time.monotonic() - began - people.stood_still(began, time.monotonic())
        rate = people.confirmed_since(began) / max(calm, 0.1)
        if rate < self.plan.rate / 2:
            self.violations.append(f"round {number}: only {rate:.0f} answers per second before the failure")
        fault, old = (
            self.plan.faults[(number - 1) % len(self.plan.faults)],
            await asyncio.to_thread(self.cluster.leader),
        )
        moment = time.monotonic()
        await asyncio.to_thread(self._fail, fault, old)
        new = await self._taken_over(old, people, moment)
        silence = people.silence(moment)
        healed = time.monotonic()
        await asyncio.to_thread(self._heal, fault, old)
        await asyncio.to_thread(self.cluster.await_whole, TOGETHER_SECONDS)
        done = Round(number, fault, old, new, rate, silence, time.monotonic() - healed)
        self.rounds.append(done)
        click.echo(f"{number} of {self.plan.rounds}: {fault} {old} -> {new}, {silence:.1f} s without answers", err=True)
        if silence > self.plan.limit:
            self.violations.append(f"round {number}: no answers for {silence:.1f} s")

    def _fail(self, fault: str, old: str) -> None:
        machine = self.cluster.machines[old]
        match fault:
            case "kill":
                machine.kill()
            case "cut off":
                machine.cut_off()
            case _:
                self.cluster.switch_over()

    def _heal(self, fault: str, old: str) -> None:
        machine = self.cluster.machines[old]
        match fault:
            case "kill":
                machine.start()
            case "cut off":
                machine.reconnect()

    async def _taken_over(self, old: str, people: Volunteers, moment: float) -> str:
        """The new primary, once it has been there for a moment and answers are confirmed."""
        end = time.monotonic() + GIVE_UP_SECONDS
        while time.monotonic() < end:
            new = await asyncio.to_thread(self.cluster.leader, but=old)
            seen = time.monotonic()
            if new:
                await asyncio.sleep(CALM_SECONDS)
                if people.confirmed_since(seen):
                    return new
            await asyncio.sleep(0.2)
        answers = people.confirmed_since(moment)
        raise RuntimeError(f"{old} failed {GIVE_UP_SECONDS:g} s ago; {answers} answers since. {self.cluster.seen()}")

    def _judge(self, people: Volunteers, project: int) -> None:
        stored = self.sql.rows("SELECT id, task_id FROM task_run WHERE project_id = %s", [project])
        runs = {row["id"]: row["task_id"] for row in stored}
        lost = [each for each in people.confirmed if each.run is not None and runs.get(each.run) != each.task]
        doubled = len(people.confirmed) - len({(each.run or each) for each in people.confirmed})
        totals = self.sql.rows(_TOTALS, {"project": project})[0]
        wanted: dict[str, tuple[object, object]] = {
            "confirmed answers that are lost": (len(lost), 0),
            "answers that were confirmed, and are stored": (len(runs), len(people.confirmed)),
            "answers confirmed twice": (doubled, 0),
            "people twice on a task": (totals["people twice on a task"], 0),
            "tasks with too many answers": (self.sql.one(_TOO_MANY, [project]), 0),
            "results and their events": (totals["task_completed events"], totals["last results"]),
        }
        self.violations += [
            f"{name}: {got} instead of {right}" for name, (got, right) in wanted.items() if got != right
        ]
        self.violations += people.violations[:5] + self.sql.broken_rules()
        for node in self.nodes:
            self.violations += [f"The server's log: {line}" for line in testbed.complaints(node)[:5]]
        self.figures |= {
            "machines": "network namespaces"
            if next(iter(self.cluster.machines.values())).network.apart
            else "addresses",
            "confirmed answers": len(people.confirmed),
            "sent again and confirmed": people.repeated + people.recognised,
            "of these stored by an earlier attempt": people.found_stored + people.recognised,
            "leases lost with the primary": people.lost_leases,
            **{name: got for name, (got, _) in wanted.items()},
            "late answers": totals["late answers"],
            "seconds that this machine stood still": round(people.stood_still(0.0, time.monotonic())),
            **{f"sent again: {what}": count for what, count in sorted(people.failed.items())},
        }
        self.times = [*people.times.lines()]


def _node(name: str, dsn: str, place: Path) -> LiveServer:
    data = testbed.node_folder(place, name)
    settings = {
        "CROWDD_DAEMON_NODE": name,
        "CROWDD_RATELIMIT_SHARED": "on",
        "CROWDD_VOLUNTEERS_COUNTED_PER_NETWORK": "0",  # all volunteers of this run come from one address
    }
    return LiveServer(dsn, data, **testbed.SETTINGS, **settings)


def _lines(run: Run) -> list[tuple[str, Any]]:
    rounds: list[tuple[str, Any]] = [
        (
            f"{each.number}: {each.fault} {each.old}",
            f"{each.new} after {each.silence:.1f} s; together {each.together:.0f} s later; {each.rate:.0f}/s before",
        )
        for each in run.rounds
    ]
    return [*rounds, *run.figures.items(), *run.times]


@click.command()
@click.option("--rounds", default=10, show_default=True, help="How often the primary fails.")
@click.option("--rate", default=100.0, show_default=True, help="Pairs of newtask and answer per second.")
@click.option("--clients", default=40, show_default=True, help="How many answer.")
@click.option("--limit", default=30.0, show_default=True, help="Seconds in which answers must be taken again.")
@click.option("--only", type=click.Choice(FAULTS), help="Only this failure.")
@click.option("--asynchronous", is_flag=True, help="Switch synchronous_mode off: confirmed answers may be lost.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def main(
    rounds: int, rate: float, clients: int, limit: float, only: str | None, asynchronous: bool, as_json: bool
) -> None:
    """Lets the primary of three servers fail under load. Exit status 1: something was lost, or took too long."""
    plan = Plan(rounds, rate, clients, limit, (only,) if only else FAULTS)
    with ExitStack() as stack:
        place = stack.enter_context(testbed.folder())
        try:
            postgres_cluster = stack.enter_context(cluster(place, synchronous=not asynchronous))
            for statement in DATABASE:
                Sql(postgres_cluster.dsn("postgres", "superuser-password", "postgres")).rows(statement)
            dsn = postgres_cluster.dsn("crowdd", "crowdd-password", "crowdd")
            testbed.upgrade(dsn, place)
            nodes = [_node(name, dsn, place) for name in NODES]
            front = stack.enter_context(proxy(place, dict(zip(NODES, (node.port for node in nodes), strict=True))))
        except FileNotFoundError as error:
            raise click.ClickException(str(error)) from None
        for name, node in zip(NODES, nodes, strict=True):
            stack.callback(node.stop)
            node.start()
            front.await_up(name)
        run = Run(plan, postgres_cluster, front, nodes, Sql(dsn))
        testbed.run(run.play())
    title = f"The primary of three PostgreSQL servers failed {rounds} times at {rate:g} pairs per second"
    if as_json:
        seen = {"rounds": [attrs.asdict(each) for each in run.rounds], **run.figures, "violations": run.violations}
        click.echo(json.dumps(seen, indent=2))
    else:
        click.echo(table(title, _lines(run), run.violations))
    sys.exit(bool(run.violations))


if __name__ == "__main__":
    main()
