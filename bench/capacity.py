"""How many machines a site takes: what an answer and a page cost here, and a simulated day of a very large site.

    python -m bench.capacity [--volunteers 10000000] [--projects 100000]

First it measures on this machine: CPU for a page of a project, CPU of crowdd and PostgreSQL for a task given out and
its answer, and bytes of PostgreSQL's log and bytes kept for an answer. Then it draws a day: projects are popular by
Zipf's law, people give answers by a Pareto distribution, and each project has its own time of day. Projects are laid
onto clusters, the largest first, each where the fewest answers are. It has no gates: it shows what is needed under
"Assumed".
"""

from __future__ import annotations

import heapq
import itertools
import math
import random
import sys
from collections.abc import Iterator, Sequence
from typing import Final

import attrs
import click
import requests

from bench.hot import SETTINGS, over_http, people
from bench.support import testbed
from bench.support.cpu import Cpu
from bench.support.figures import table
from bench.support.filled import Filling, fill
from bench.support.pairs import Rush
from bench.support.testbed import Sql

HOURS: Final = 24
_EXACT: Final = 50  # people; the answers of more are drawn from the normal distribution
_KEPT = "SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c WHERE c.relkind = 'r'"
_WRITTEN = "SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint"


@attrs.frozen
class Cost:
    """Seconds of CPU and bytes: of a pair (a task given out and its answer) and of a page that is shown again."""

    crowdd: float
    postgres: float
    log: float
    kept: float
    page: float


@attrs.frozen
class Day:
    """What people do: each gives ``answers`` and opens ``pages``, in the mean. ``tail``: of Pareto, above 1."""

    volunteers: int = 10_000_000
    projects: int = 100_000
    answers: float = 12.0
    pages: float = 8.0
    tail: float = 1.5
    max_answers: int = 2_000  # of one person
    zipf: float = 1.0  # the second project has half the people of the first, the third a third
    swing: float = 0.8  # the busiest hour has 1.8 times the mean
    burst: float = 1.5  # the busiest minute of an hour


@attrs.frozen
class Machine:
    """What one cluster of PostgreSQL runs on, and how much of it is used at the busiest minute."""

    cores: int = 16
    used: float = 0.6
    log_rate: float = 200e6  # bytes per second
    disk: float = 8e12  # bytes
    core_price: float = 12.0  # a month
    disk_price: float = 60.0  # a month for 1e12 bytes


Hours = list[float]


def measure(tasks: int = 100_000, runs: int = 1_000_000, seconds: float = 8.0) -> Cost:
    """On this machine, in a project of so many tasks and answers."""
    with (
        testbed.folder() as place,
        testbed.postgres(place) as database,
        testbed.crowdd(database.dsn, place, **SETTINGS) as server,
    ):
        assert server.process is not None
        sql, cpu = Sql(database.dsn), Cpu(server.process.pid, database.pid)
        project = testbed.project(server, tasks=1, n_answers=1)
        fill(sql, project.id, Filling(tasks, runs, n_answers=100))
        sql.rows("VACUUM ANALYZE")  # or autovacuum does so meanwhile, and its CPU counts as theirs
        database.checkpoint()
        address, number = f"{server.url}/project/{project.short_name}/", 1000
        with requests.Session() as session:
            for _ in range(100):  # what is only done once
                session.get(address, timeout=30).raise_for_status()
            before = cpu.spent()
            for _ in range(number):
                session.get(address, timeout=30)
            page = cpu.spent().since(before).server / number
        rush = Rush(server.port, project.id, people(server, project, sql))
        rush.run(2)
        stored_bytes, written, pairs = int(sql.one(_KEPT)), int(sql.one(_WRITTEN)), rush.pairs
        spent = over_http(rush, cpu, seconds)
        pairs = rush.pairs - pairs
        rush.close()
        stored_bytes, written = int(sql.one(_KEPT)) - stored_bytes, int(sql.one(_WRITTEN)) - written
    return Cost(spent.crowdd / 1000, spent.postgres / 1000, written / pairs, stored_bytes / pairs, page)


def draw(day: Day, dice: random.Random) -> list[Hours]:
    """Answers of each project in each hour of a day, the most popular project first."""
    whole = math.fsum(1 / rank**day.zipf for rank in range(1, day.projects + 1))
    return [
        _spread(_answers(day.volunteers / whole / rank**day.zipf, day, dice), day.swing, dice)
        for rank in range(1, day.projects + 1)
    ]


def _answers(mean_people: float, day: Day, dice: random.Random) -> float:
    """Of about so many people."""
    smallest = day.answers * (day.tail - 1) / day.tail
    count = max(0.0, dice.gauss(mean_people, math.sqrt(mean_people)))
    if count > _EXACT:
        return count * day.answers * max(0.5, dice.gauss(1, 3 / math.sqrt(count)))
    return math.fsum(min(day.max_answers, smallest * dice.paretovariate(day.tail)) for _ in range(round(count)))


def _spread(answers: float, swing: float, dice: random.Random) -> Hours:
    """Over the hours, more by day than at night; projects are at home in different parts of the world."""
    noon = dice.random() * HOURS
    return [answers / HOURS * (1 + swing * math.cos(2 * math.pi * (hour - noon) / HOURS)) for hour in range(HOURS)]


def place(projects: Sequence[Hours], clusters: int) -> list[Hours]:
    """Answers of each cluster in each hour: the largest project first, each where the fewest answers of a day are."""
    loads = [[0.0] * HOURS for _ in range(clusters)]
    heap = [(0.0, number) for number in range(clusters)]
    for hours in sorted(projects, key=sum, reverse=True):
        fewest, number = heap[0]
        heapq.heapreplace(heap, (fewest + sum(hours), number))
        loads[number] = [had + more for had, more in zip(loads[number], hours, strict=True)]
    return loads


def peak(hours: Hours, day: Day) -> float:
    """Answers per second in the busiest minute."""
    return max(hours) / 3600 * day.burst


def needed(projects: Sequence[Hours], capacity: float, day: Day) -> int | None:
    """How many clusters keep within so many answers per second; None if one project alone does not."""
    if peak(max(projects, key=max), day) > capacity:
        return None
    whole = [math.fsum(hours) for hours in zip(*projects, strict=True)]
    return next(
        count
        for count in itertools.count(max(1, math.ceil(peak(whole, day) / capacity)))
        if max(peak(hours, day) for hours in place(projects, count)) <= capacity
    )


def report(cost: Cost, day: Day, machine: Machine, projects: Sequence[Hours]) -> Iterator[tuple[str, object]]:
    """Lines of the table."""
    whole = [math.fsum(hours) for hours in zip(*projects, strict=True)]
    answers, busiest, first = math.fsum(whole), peak(whole, day), projects[0]
    yield "answers of a day", f"{answers:,.0f}; {busiest:,.0f} per second in the busiest minute"
    share = f"{100 * sum(first) / answers:.1f} % of all; {peak(first, day):,.0f} per second"
    yield "the most popular project", share
    by_cpu, by_log = machine.cores * machine.used / cost.postgres, machine.log_rate * machine.used / cost.log
    year = 365 * answers * cost.kept
    counts = {
        "CPU of PostgreSQL": needed(projects, by_cpu, day),
        "writing PostgreSQL's log": needed(projects, by_log, day),
        "disk for the answers of a year": math.ceil(year / machine.disk),
    }
    yield "a cluster bears by its CPU", f"{by_cpu:,.0f} answers per second ({machine.cores} cores, {machine.used:.0%})"
    yield "a cluster bears by its log", f"{by_log:,.0f} answers per second ({machine.log_rate / 1e6:.0f} MB/s)"
    for what, count in counts.items():
        yield f"clusters for {what}", "a project alone is too large" if count is None else count
    clusters = max(count or 0 for count in counts.values())
    yield "first bottleneck", ", ".join(what for what, count in counts.items() if count in (None, clusters))
    pages = busiest * day.pages / day.answers
    cores = math.ceil((busiest * cost.crowdd + pages * cost.page) / machine.used)
    yield "pages", f"{pages:,.0f} per second in the busiest minute"
    yield "processors of crowdd", f"{cores}, each with a process"
    disks = clusters * machine.disk / 1e12
    price = (clusters * machine.cores + cores) * machine.core_price + disks * machine.disk_price
    yield "answers of a year", f"{year / 1e12:,.1f} TB"
    yield "a month, without replicas", f"{price:,.0f} at {machine.core_price:g} a core and {machine.disk_price:g} a TB"


@click.command()
@click.option("--volunteers", default=Day().volunteers, show_default=True, help="People of a day.")
@click.option("--projects", default=Day().projects, show_default=True, help="Projects that are open.")
@click.option("--cores", default=Machine().cores, show_default=True, help="Of a machine with PostgreSQL.")
@click.option("--seed", default=7, show_default=True, help="For the same dice again.")
def main(volunteers: int, projects: int, cores: int, seed: int) -> None:
    """Measures and simulates."""
    cost, day, machine = measure(), Day(volunteers, projects), Machine(cores)
    measured: list[tuple[str, object]] = [
        ("a pair", f"CPU: crowdd {1000 * cost.crowdd:.2f}, PostgreSQL {1000 * cost.postgres:.2f} ms"),
        ("an answer", f"{cost.log:,.0f} bytes of PostgreSQL's log, {cost.kept:,.0f} bytes kept"),
        ("a page of a project", f"{1000 * cost.page:.2f} ms of CPU"),
    ]
    print(table("Measured here", measured, []))
    assumed: list[tuple[str, object]] = [*attrs.asdict(day).items(), *attrs.asdict(machine).items()]
    print(table("Assumed", [(name, f"{value:,}") for name, value in assumed], []))
    print(table("A day", [*report(cost, day, machine, draw(day, random.Random(seed)))], []))


if __name__ == "__main__":
    sys.exit(main())
