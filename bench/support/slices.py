"""The child of bench.compare: a live server of the tree in the working directory, and volunteers who work when told to.

    cd TREE && .venv/bin/python .../bench/support/slices.py TASKS RUNS

Writes "ready" when the server works. For each line on its input, seconds and pairs a second (0: as many as possible),
it writes pairs a second and CPU milliseconds per pair of crowdd and of PostgreSQL. It only uses what old trees have.
"""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def main() -> None:
    """Works until its input ends."""
    sys.path[0] = str(Path.cwd())  # in place of this folder: modules are those of the tree
    hot = importlib.import_module("bench.hot")
    cpu, filled, pairs, volunteers = (used_by_hot(name) for name in ("cpu", "filled", "pairs", "volunteers"))
    testbed = used_by_hot("testbed", "stage")
    with (
        testbed.folder() as place,
        testbed.postgres(place) as database,
        testbed.crowdd(database.dsn, place, **hot.SETTINGS) as server,
    ):
        sql, meter = testbed.Sql(database.dsn), cpu.Cpu(server.process.pid, database.pid)
        project = testbed.project(server, tasks=1, n_answers=1)
        tasks, runs = map(int, sys.argv[1:])
        filled.fill(sql, project.id, filled.Filling(tasks, runs, n_answers=100))
        database.checkpoint()
        people = [apart(each, pairs.Identity, volunteers.address) for each in hot.people(server, project, sql)]
        rush = pairs.Rush(server.port, project.id, people)
        rush.run(2)
        wait_until_warm(server.process.pid)
        print("ready", flush=True)
        for line in sys.stdin:
            seconds, pace = map(float, line.split())
            outcome = hot.over_http(rush, meter, seconds, pace)
            print(outcome.rate, outcome.crowdd, outcome.postgres, flush=True)
        rush.close()


def wait_until_warm(pid: int) -> None:
    """Returns when no thread of a server but its first works: after a first start one compiles templates for a while.

    What that costs grows with the number of templates and has nothing to do with pairs.
    """
    own, places = str(pid), Path(f"/proc/{pid}/task")
    while True:
        before = {place.name: _ran(place) for place in places.iterdir() if place.name != own}
        time.sleep(0.5)
        if all(_ran(places / name) - ran < 0.002 for name, ran in before.items() if (places / name).exists()):
            return


def _ran(thread: Path) -> float:
    """Seconds of CPU that a thread has had."""
    return int((thread / "schedstat").read_text().split()[0]) / 1e9


def used_by_hot(*names: str) -> Any:
    """A module of the measurements, wherever the tree has it and whatever it is called there."""
    places = [f"{package}.{name}" for package in ("bench.support", "bench") for name in names]
    return next(sys.modules[place] for place in places if place in sys.modules)


def apart(people: Iterator[Any], identity: Any, address: Any) -> Iterator[Any]:
    """The same requests for every tree: browsers are on networks of their own, which old trees did not ask for."""
    for number, person in enumerate(people):
        bare = person.headers.startswith("Cookie:") and "X-Forwarded-For" not in person.headers
        yield identity(f"{person.headers}X-Forwarded-For: {address(number)}\r\n", person.query) if bare else person


if __name__ == "__main__":
    main()
