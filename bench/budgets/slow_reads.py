"""What volunteers notice while eight clients read what costs most: full-text, other orders, large offsets, exports.

    python -m bench.budgets.slow_reads [--tasks 1000000] [--turns 10]

A server with two projects: one has so many tasks, and in the other volunteers work at 300 pairs a second. Clients on
networks of their own read lists and the first pages of exports of the former, each as fast as it is answered, in every
other turn. Gate: p99 of newtask in these turns at most 1.5 times that in the calm ones.
"""

from __future__ import annotations

import argparse
import http.client
import itertools
import multiprocessing
import sys
from collections import Counter
from multiprocessing.synchronize import Event
from typing import Any

from support.servers.live import LiveServer

from bench import hot
from bench.support import testbed
from bench.support.beside import Beside
from bench.support.figures import table
from bench.support.filled import Filling, fill
from bench.support.pairs import Rush
from bench.support.testbed import Postgres, Project, Sql
from bench.support.volunteers import address

CLIENTS = 8
TURN_SECONDS, WARM_SECONDS = 3.0, 5.0
FIRST_PAGE = 65_536  # bytes of an export that are read
_CONTEXT = multiprocessing.get_context("spawn")


def addresses(project: Project, tasks: int) -> list[str]:
    """What clients read, one after the other."""
    of_project = f"/api/task?project_id={project.id}"
    return [
        f"{of_project}&info=question::bird%26nowhere&fulltextsearch=1",
        f"{of_project}&info=url::nowhere",
        f"{of_project}&orderby=created&desc=true",
        f"{of_project}&offset={tasks - 100}",
        "/api/task?orderby=n_answers",
        f"/project/{project.short_name}/tasks/export?type=task&format=json",
        f"/project/{project.short_name}/tasks/export?type=task&format=csv",
    ]


def read(port: int, number: int, paths: list[str], go: Event, end: Event, seen: Any) -> None:
    """A client, in a process of its own; puts what it was answered into ``seen``."""
    statuses: Counter[str] = Counter()
    headers = {"X-Forwarded-For": address(100_000 + number)}
    for path in itertools.cycle(paths[number % len(paths) :] + paths[: number % len(paths)]):
        while not go.wait(0.1):
            if end.is_set():
                seen.put(dict(statuses))
                return
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        answer.read(FIRST_PAGE)
        connection.close()
        statuses[f"{path.partition('&')[2] or path.rpartition('?')[2]}: {answer.status}"] += 1


class Crowd:
    """All clients; they read between ``begin`` and ``pause``."""

    def __init__(self, port: int, paths: list[str]) -> None:
        self._go, self._end, self._seen = _CONTEXT.Event(), _CONTEXT.Event(), _CONTEXT.Queue()
        arguments = paths, self._go, self._end, self._seen
        self._clients = [_CONTEXT.Process(target=read, args=(port, number, *arguments)) for number in range(CLIENTS)]
        for client in self._clients:
            client.start()

    def begin(self) -> None:
        """Reads from now on."""
        self._go.set()

    def pause(self) -> None:
        """Begins no further request."""
        self._go.clear()

    def close(self) -> Counter[str]:
        """How often each path was answered how."""
        self._end.set()
        counts: Counter[str] = Counter()
        for _ in self._clients:
            counts.update(self._seen.get(timeout=120))
        for client in self._clients:
            client.join()
        return counts


def measure(
    server: LiveServer, database: Postgres, tasks: int, turns: int
) -> tuple[list[tuple[str, object]], list[str]]:
    """Lines of the table, and the gate if it is broken."""
    sql = Sql(database.dsn)
    project, other = (testbed.project(server, tasks=1, n_answers=1) for _ in range(2))
    fill(sql, project.id, Filling(tasks, tasks, n_answers=2))
    fill(sql, other.id, Filling(1000, 10_000, n_answers=1000))
    database.checkpoint()
    rush = Rush(server.port, other.id, hot.people(server, other, sql))
    crowd = Crowd(server.port, addresses(project, tasks))
    beside = Beside(rush, hot.PACE, ["slow reads"])
    beside.pass_by(WARM_SECONDS)
    for _ in range(turns):
        crowd.begin()
        beside.pass_by(0.2)
        beside.run("slow reads", TURN_SECONDS)
        crowd.pause()
        beside.pass_by(TURN_SECONDS)  # what waits in turns ends
        beside.run("calm", TURN_SECONDS)
    rush.close()
    lines: list[tuple[str, object]] = [(name, f"{count} times") for name, count in sorted(crowd.close().items())]
    return lines + beside.lines(), beside.broken()


def main() -> int:
    """Runs it and prints a table; 1 when the gate is broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=1_000_000)
    parser.add_argument("--turns", type=int, default=10)
    options = parser.parse_args()
    with (
        testbed.folder() as place,
        testbed.postgres(place) as database,
        testbed.crowdd(database.dsn, place, **hot.SETTINGS) as server,
    ):
        lines, wrong = measure(server, database, options.tasks, options.turns)
    print(table("Volunteers beside slow reads", lines, wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
