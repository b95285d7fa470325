"""Two servers behind HAProxy are restarted and upgraded while volunteers answer and owners follow: nobody may notice.

python -m bench.nodes [--rounds 5] [--rate 200] [--drain 4] [--clients 40]

Each round upgrades the database to a later version while both servers run the earlier one, and then restarts one server
after the other with the later version. Before the last round an upgrade that takes something away must be refused.
``--kill`` breaks what is promised: the run must then fail. ``--drain 0`` leaves it to HAProxy to
try again what was refused.
"""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import attrs
import click
from support.servers.live import BIN, LiveServer

from bench.crowd import _TOTALS, Crowd, Turns
from bench.crowd import Plan as CrowdPlan
from bench.nodes.follower import Follower
from bench.nodes.proxy import Proxy, proxy
from bench.nodes.versions import later
from bench.support import testbed, volunteers
from bench.support.figures import table
from bench.support.testbed import Sql
from bench.support.wire import LostError, Response

NAMES = ("a", "b")
KINDS = ("browser", "user", "user", "external")
FOLLOWERS = 3
N_ANSWERS = 3
AGAIN_SECONDS = 0.05
CONTRACTING = "-- contracts: a column\nALTER TABLE project DROP COLUMN IF EXISTS later_1;\n"
ENDED = (0, -signal.SIGTERM)  # twistd ends by the signal that it got


@attrs.frozen
class Plan:
    """What is to happen. ``rate``: pairs of newtask and answer per second. ``kill``: servers are killed (-9)."""

    rounds: int = 5
    rate: float = 200.0
    clients: int = 40
    drain: int = 4
    kill: bool = False
    seconds_per_restart: float = 15.0

    @property
    def tasks(self) -> int:
        """As many as the restarts leave time for, and some more."""
        return int(self.rate * self.rounds * len(NAMES) * self.seconds_per_restart / N_ANSWERS)


class Node(LiveServer):
    """One of the servers. It shares files and its key with the other one."""

    def __init__(self, name: str, dsn: str, place: Path, plan: Plan) -> None:
        data = testbed.node_folder(place, name)
        settings = {
            "CROWDD_DAEMON_NODE": name,
            "CROWDD_HTTP_DRAIN_DELAY": str(plan.drain),
            "CROWDD_RATELIMIT_SHARED": "on",
            "CROWDD_VOLUNTEERS_COUNTED_PER_NETWORK": "0",  # all volunteers of this run come from one address
        }
        super().__init__(dsn, data, **testbed.SETTINGS, **settings)
        self.name = name

    def use(self, version: Path) -> None:
        """Run this version from the next start on."""
        self.environment["PYTHONPATH"] = str(version)


class Visitors(Crowd):
    """Volunteers at a given pace who notice everything: a request that fails is counted, and sent again."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.turns = Turns(limited=True)
        self.failed: list[str] = []

    async def _insist(self, client: Any, name: str, *request: Any) -> tuple[Response, bool]:
        repeated = False
        while True:
            try:
                with self.times.of(name):
                    answer = await client.ask(*request)
            except OSError as error:
                self.failed.append(f"{name}: {type(error).__name__} {error}")
                repeated = repeated or isinstance(error, LostError)
            else:
                if answer.status < 500:
                    return answer, repeated
                self.failed.append(f"{name}: {answer.status} {answer.body[:200]!r}")
            await asyncio.sleep(AGAIN_SECONDS)


class Run:
    """Everything together. ``violations``: what should not have been."""

    def __init__(self, plan: Plan, place: Path, dsn: str, nodes: list[Node], front: Proxy) -> None:
        self.plan, self.place, self.sql, self.nodes, self.front = plan, place, Sql(dsn), nodes, front
        self.violations: list[str] = []
        self.lines: list[tuple[str, object]] = []

    async def play(self) -> None:
        """From the first task to the last, and the judgement."""
        plan = self.plan
        project = await asyncio.to_thread(testbed.project, self.front, tasks=plan.tasks, n_answers=N_ANSWERS)
        kinds = [KINDS[number % len(KINDS)] for number in range(plan.clients)]
        clients = [await volunteers.make(kind, number, self.front.port, project) for number, kind in enumerate(kinds)]
        path = f"/project/{project.short_name}/events"
        followers = [Follower(self.front.port, path, project.owner.key) for _ in range(FOLLOWERS)]
        crowd = Visitors(CrowdPlan(plan.clients, plan.tasks, N_ANSWERS), project, clients)
        began = time.monotonic()
        crowd.begin()
        pace = asyncio.create_task(self._pace(crowd))
        await asyncio.to_thread(self._restart_all)
        seconds, paced = time.monotonic() - began, crowd.pairs
        pace.cancel()
        crowd.turns.give(10 * plan.tasks * N_ANSWERS)
        await crowd.end()
        await self._judge(crowd, project, followers)
        self.lines += [
            ("seconds of restarts", f"{seconds:.0f}"),
            ("pairs meanwhile, per second", f"{paced}, {paced / seconds:.0f}"),
            *crowd.times.lines(),
        ]
        if paced / seconds < 0.8 * plan.rate:
            self.violations.append(f"The rate was {paced / seconds:.0f} pairs per second instead of {plan.rate:g}")

    async def _pace(self, crowd: Crowd) -> None:
        began, released = time.monotonic(), 0
        while True:
            due = int((time.monotonic() - began) * self.plan.rate)
            crowd.turns.give(due - released)
            released = due
            await asyncio.sleep(0.01)

    def _restart_all(self) -> None:
        for number in range(1, self.plan.rounds + 1):
            if number == self.plan.rounds:
                self._refused(number)
            version = later(self.place, number)
            done = self._upgrade(version)
            if done.returncode:
                self.violations.append(f"db upgrade to version {number}: {done.stderr.strip()[-500:]}")
            for node in self.nodes:
                self._restart(node, version)
            click.echo(f"round {number} of {self.plan.rounds}: both servers restarted", err=True)

    def _upgrade(self, version: Path) -> subprocess.CompletedProcess[str]:
        environment = {**self.nodes[0].environment, "PYTHONPATH": str(version)}
        command = [BIN / "crowdctl", "db", "upgrade"]
        return subprocess.run(command, env=environment, cwd=self.place, capture_output=True, text=True, check=False)

    def _refused(self, number: int) -> None:
        """Both servers use what this upgrade takes away."""
        done = self._upgrade(later(self.place, number, CONTRACTING))
        if done.returncode == 0 or not all(f"{name} (0.1.{number - 1}" in done.stderr for name in NAMES):
            self.violations.append(f"An upgrade that running servers cannot bear: {done.returncode} {done.stderr}")

    def _restart(self, node: Node, version: Path) -> None:
        self._stop(node)
        node.use(version)
        node.start()
        self.front.await_up(node.name)

    def _stop(self, node: Node) -> None:
        if self.plan.kill:
            node.kill()
            return
        assert node.process is not None
        node.process.terminate()
        if node.process.wait(120) not in ENDED:
            self.violations.append(f"Server {node.name} ended with status {node.process.returncode}")

    async def _judge(self, crowd: Visitors, project: Any, followers: list[Follower]) -> None:
        totals = self.sql.rows(_TOTALS, {"project": project.id})[0]
        wanted = {
            "counted answers": self.plan.tasks * N_ANSWERS,
            "late answers": 0,
            "last results": self.plan.tasks,
            "results with exactly their answers": self.plan.tasks,
            "task_completed events": self.plan.tasks,
            "people twice on a task": 0,
            "leases left": 0,
        }
        self.violations += [f"{name}: {totals[name]} instead of {n}" for name, n in wanted.items() if totals[name] != n]
        if crowd.pairs != wanted["counted answers"]:
            self.violations.append(f"{crowd.pairs} answers were confirmed, {totals['counted answers']} are counted")
        self.violations += crowd.violations + self.sql.broken_rules()
        await self._judge_events(project.id, followers)
        self._judge_servers()
        failed = crowd.failed
        self.violations += [f"{len(failed)} requests failed, for example {failed[0]}"] if failed else []
        self.lines += [(name, value) for name, value in totals.items()] + [("failed requests", len(failed))]

    async def _judge_events(self, project_id: int, followers: list[Follower]) -> None:
        numbered = "SELECT count(*) FROM event WHERE project_id = %s AND seq IS NULL"
        await testbed.until(lambda: self.sql.one(numbered, [project_id]) == 0, 30)
        sequences = "SELECT seq FROM event WHERE project_id = %s ORDER BY seq"
        events = [row["seq"] for row in self.sql.rows(sequences, [project_id])]
        if events != list(range(1, len(events) + 1)):
            self.violations.append("The numbers of events have gaps")
        for follower in followers:
            await asyncio.to_thread(follower.await_event, len(events), 30)
            await asyncio.to_thread(follower.stop)
            self.violations += follower.complaints(len(events))
            if follower.connections <= 1:
                self.violations.append("A follower was never sent to the other server")
        connections = ", ".join(str(follower.connections) for follower in followers)
        self.lines += [("events", len(events)), ("connections of each follower", connections)]

    def _judge_servers(self) -> None:
        for node in self.nodes:
            complaints = testbed.complaints(node)
            self.violations += [f"The log of server {node.name}: {line}" for line in complaints]
        for row in self.front.figures():
            self.lines.append((f"requests of server {row['svname']}", f"{row['stot']}, {row['wretr']} connected again"))
        if any(not int(row["stot"]) for row in self.front.figures()):
            self.violations.append("A server got no request")


@click.command()
@click.option("--rounds", default=5, show_default=True, help="How often each server is restarted and upgraded.")
@click.option("--rate", default=200.0, show_default=True, help="Pairs of newtask and answer per second.")
@click.option("--clients", default=40, show_default=True, help="How many answer.")
@click.option("--drain", default=4, show_default=True, help="[http] drain_delay of the servers.")
@click.option(
    "--restart-seconds", default=15.0, show_default=True, help="How long a restart takes: for the number of tasks."
)
@click.option("--kill", is_flag=True, help="Kill the servers (-9) instead of stopping them.")
def main(rounds: int, rate: float, clients: int, drain: int, restart_seconds: float, kill: bool) -> None:
    """Restarts and upgrades two servers behind HAProxy under load. Exit status 1: somebody noticed."""
    plan = Plan(rounds, rate, clients, drain, kill, restart_seconds)
    with ExitStack() as stack:
        place = stack.enter_context(testbed.folder())
        dsn = stack.enter_context(testbed.postgres(place)).dsn
        nodes = [Node(name, dsn, place, plan) for name in NAMES]
        try:
            front = stack.enter_context(proxy(place, {node.name: node.port for node in nodes}))
        except FileNotFoundError as error:
            raise click.ClickException(str(error)) from None
        for node in nodes:
            stack.callback(node.stop)
            node.start()
            front.await_up(node.name)
        run = Run(plan, place, dsn, nodes, front)
        testbed.run(run.play())
    how = "killed" if kill else "restarted"
    title = f"{len(nodes)} servers, each {how} and upgraded {rounds} times at {rate:g} pairs per second"
    click.echo(table(title, run.lines, run.violations))
    sys.exit(bool(run.violations))


if __name__ == "__main__":
    main()
