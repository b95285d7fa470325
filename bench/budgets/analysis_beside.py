"""What volunteers notice while a million answers of another project are analysed by the method of Dawid and Skene.

    python -m bench.budgets.analysis_beside [--tasks 100000] [--analyses 3]

A server with two projects: one has so many tasks with ten answers each, and in the other volunteers work at 300 pairs
a second. Slices with an analysis, from its request until it is stored, and calm ones follow each other. Gate: p99 of
newtask in the former at most 1.5 times that in the latter.
"""

from __future__ import annotations

import argparse
import sys
import time

from support.servers.live import LiveServer

from bench import hot
from bench.support import testbed
from bench.support.beside import Beside
from bench.support.figures import table
from bench.support.filled import Filling, fill
from bench.support.pairs import Rush
from bench.support.testbed import Postgres, Project, Sql

EACH = 10
SLICE_SECONDS, WARM_SECONDS = 1.0, 5.0
CHOICES = ("fox", "owl", "cat", "dog")
_LABEL = {"answers": [{"name": "animal", "at": "/answer", "type": "label", "choices": list(CHOICES)}]}


def filled(server: LiveServer, sql: Sql, tasks: int) -> Project:
    """A project with answers to analyse."""
    project = testbed.project(server, tasks=1, n_answers=1)
    info = project.owner.api("GET", f"project/{project.id}")["info"]
    project.owner.api("PUT", f"project/{project.id}", {"info": info | _LABEL})
    fill(sql, project.id, Filling(tasks, EACH * tasks, n_answers=EACH, choices=CHOICES))
    return project


def run_analysis(project: Project, beside: Beside) -> float:
    """Volunteers work until an analysis is stored; the seconds it took."""
    began = time.monotonic()
    made = project.owner.api("POST", f"project/{project.id}/analysis", {"method": "dawid_skene"})
    while True:
        beside.run("analysis", SLICE_SECONDS)
        row = project.owner.api("GET", f"project/{project.id}/analysis/{made['id']}")
        if row["state"] not in ("waiting", "running"):
            assert row["state"] == "done", row
            return time.monotonic() - began


def measure(
    server: LiveServer, database: Postgres, tasks: int, analyses: int
) -> tuple[list[tuple[str, object]], list[str]]:
    """Lines of the table, and the gate if it is broken."""
    sql = Sql(database.dsn)
    project, other = filled(server, sql, tasks), testbed.project(server, tasks=1, n_answers=1)
    fill(sql, other.id, Filling(1000, 10_000, n_answers=1000))
    database.checkpoint()
    rush = Rush(server.port, other.id, hot.people(server, other, sql))
    beside = Beside(rush, hot.PACE, ["analysis"])
    beside.pass_by(WARM_SECONDS)
    seconds = []
    for _ in range(analyses):
        seconds.append(run_analysis(project, beside))
        beside.run("calm", seconds[-1])
    rush.close()
    lines: list[tuple[str, object]] = [
        (f"{EACH * tasks:,} answers analysed in", ", ".join(f"{each:.0f} s" for each in seconds))
    ]
    return lines + beside.lines(), beside.broken()


def main() -> int:
    """Runs it and prints a table; 1 when the gate is broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=100_000)
    parser.add_argument("--analyses", type=int, default=3)
    options = parser.parse_args()
    with (
        testbed.folder() as place,
        testbed.postgres(place) as database,
        testbed.crowdd(database.dsn, place, **hot.SETTINGS) as server,
    ):
        lines, wrong = measure(server, database, options.tasks, options.analyses)
    print(table("Volunteers beside an analysis", lines, wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
