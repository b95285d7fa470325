"""What volunteers notice while 64 clients load pages as fast as they can, and how much memory that takes.

    python -m bench.budgets.page_flood [--small] [--minutes 2]

The site and the floor of ``bench.reads``. Volunteers work at 300 pairs a second in another project. Turns follow each
other: calm; 64 clients load home, the page of a project and its statistics, as HTML; 64 clients load home alone;
another program computes and asks crowdd for nothing, which shows what any load does on this machine; and the floor,
without volunteers. Then 10,000 different addresses are asked for.

Gates: p99 of newtask and of answers at most 10 ms or 1.5 times that of calm turns, home beside the volunteers at least
half of the floor, at most 150 MB for the process in all turns, and the cache of pages never above its setting.
"""

from __future__ import annotations

import argparse
import multiprocessing
import re
import statistics
import sys
import urllib.request
from collections.abc import Sequence
from multiprocessing.connection import Connection

from support.servers.live import LiveServer

from bench import hot
from bench.reads.floor_process import FLOOR, SETTINGS, floor_of
from bench.reads.readers import Outcome, Read, Readers
from bench.reads.site import SMALL, Filled, Size, fill
from bench.support import filled, testbed
from bench.support.beside import Beside
from bench.support.figures import table
from bench.support.pairs import Rush
from bench.support.testbed import Postgres, Sql
from bench.support.vital import signs

CLIENTS, ADDRESSES = 64, 10_000
TURN_SECONDS, WARM_SECONDS = 3.0, 5.0
MAX_SECONDS, MIN_HOME, MAX_MEMORY = 0.010, 0.5, 150e6
_HTML = "Accept: text/html\r\n"
_CONTEXT = multiprocessing.get_context("spawn")
_CACHED = re.compile(r"^crowdd_page_cache_bytes(?:\{[^}]*\})? (\S+)$", re.MULTILINE)
Lines = list[tuple[str, object]]


def _load(port: int, clients: int, orders: Connection) -> None:
    """The clients, in a process of their own: takes reads and seconds, gives the outcome, until it gets None."""
    readers = Readers(port, clients)
    while (order := orders.recv()) is not None:
        orders.send(readers.run_several(*order))
    readers.close()


def _compute() -> None:
    """Takes a processor."""
    while True:
        sum(range(1000))


class Flood:
    """Clients of one port that load pages when told to."""

    def __init__(self, port: int) -> None:
        self._orders, theirs = _CONTEXT.Pipe()
        self._process = _CONTEXT.Process(target=_load, args=(port, CLIENTS, theirs))
        self._process.start()

    def begin(self, reads: Sequence[Read], seconds: float) -> None:
        """Each client asks for one of them from now on."""
        self._orders.send((reads, seconds))

    def end(self) -> Outcome:
        """Waits until the last answer."""
        outcome: Outcome = self._orders.recv()
        return outcome

    def close(self) -> None:
        """Disconnects."""
        self._orders.send(None)
        self._process.join()


class Play:
    """All turns, and what was seen in them."""

    def __init__(self, server: LiveServer, site: Filled, beside: Beside, flood: Flood, floor: Flood) -> None:
        self._server, self._beside, self._flood, self._floor = server, beside, flood, floor
        assert server.process is not None
        self._process = server.process.pid
        page = f"/project/{site.short_name}"
        self._home = [Read("home", "/", headers=_HTML)]
        self._pages = [*self._home, *(Read("", path, headers=_HTML) for path in (f"{page}/", f"{page}/stats"))]
        self._rates: dict[str, list[float]] = {"pages": [], "home": [], "floor": []}
        self._memory: list[float] = []
        self._cached = 0.0
        self._wrong: set[str] = set()
        self.in_turns = 0.0

    def warm_up(self) -> None:
        """Pages are made for the first time, and statements planned; nothing of it counts."""
        for reads in (self._pages, self._home):
            self._flood.begin(reads, WARM_SECONDS / 2)
            self._beside.pass_by(WARM_SECONDS / 2)
            self._flood.end()
        self._beside.pass_by(WARM_SECONDS)

    def round(self) -> None:
        """Each turn once."""
        self._beside.run("calm", TURN_SECONDS)
        for kind, reads in (("pages", self._pages), ("home", self._home)):
            self._flood.begin(reads, TURN_SECONDS)
            self._beside.run(kind, TURN_SECONDS)
            self._note(kind, self._flood.end())
        computing = _CONTEXT.Process(target=_compute, daemon=True)
        computing.start()
        self._beside.run("computing", TURN_SECONDS)
        computing.kill()
        computing.join()
        self._floor.begin([FLOOR], TURN_SECONDS)
        self._rates["floor"].append(self._floor.end().rate)

    def many_addresses(self) -> None:
        """Pages of profiles, categories and lists of tasks that nobody has asked for."""
        self.in_turns = max(self._memory)
        readers = Readers(self._server.port, 1)
        for number in range(ADDRESSES):
            path = f"/account/p{number}/" if number % 2 else f"/project/project{number % 17}/tasks/{number // 2}"
            outcome = readers.run(Read("address", path, headers=_HTML), 0.0)
            if number % 500 == 0:
                self._look()
            if not outcome.statuses.keys() <= {b"200", b"404"}:
                self._wrong.add(f"{path} answered {dict(outcome.statuses)}")
        readers.close()
        self._look()

    def _note(self, kind: str, outcome: Outcome) -> None:
        self._rates[kind].append(outcome.rate)
        if outcome.statuses.keys() != {b"200"}:
            self._wrong.add(f"{kind}: answered {dict(outcome.statuses)}")
        self._look()

    def _look(self) -> None:
        self._memory.append(signs(self._process).memory)
        with urllib.request.urlopen(f"{self._server.url}/metrics", timeout=30) as answer:
            match = _CACHED.search(answer.read().decode())
        self._cached = max(self._cached, float(match[1]) if match else 0.0)

    def judge(self, max_cached: float) -> tuple[Lines, list[str]]:
        """Lines of the table, and the gates that are broken."""
        rates = {kind: statistics.median(each) for kind, each in self._rates.items()}
        share = rates["home"] / rates["floor"]
        lines = self._beside.lines()
        lines += [(f"{kind}: answers a second", f"{rate:,.0f}") for kind, rate in rates.items()]
        lines += [
            ("home beside volunteers", f"{share:.2f} of the floor"),
            ("memory", f"{self.in_turns / 1e6:.0f} MB at most, {max(self._memory) / 1e6:.0f} with many addresses"),
            ("cache of pages", f"{self._cached / 1e6:.1f} MB at most, of {max_cached / 1e6:.0f}"),
        ]
        wrong = self._beside.broken(("newtask", "taskrun"), kinds=("pages", "home"), seconds=MAX_SECONDS)
        wrong += sorted(self._wrong)
        if share < MIN_HOME:
            wrong.append(f"home has {share:.2f} of the floor")
        if self.in_turns > MAX_MEMORY:
            wrong.append(f"the process takes {self.in_turns / 1e6:.0f} MB")
        if not 0 < self._cached <= max_cached:
            wrong.append(f"the cache of pages has {self._cached / 1e6:.1f} MB")
        return lines, wrong


def main() -> int:
    """Runs it and prints a table; 1 when a gate is broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true", help="20 projects and 20,000 answers, for trying")
    parser.add_argument("--minutes", type=float, default=2.0, help="of all turns together")
    options = parser.parse_args()
    with (
        testbed.folder() as place,
        testbed.postgres(place) as database,
        testbed.crowdd(database.dsn, place, **SETTINGS) as server,
        floor_of(database, place) as (floor_port, _),
    ):
        lines, wrong = play(server, database, floor_port, SMALL if options.small else Size(), options.minutes)
        wrong += [f"The server's log: {line}" for line in testbed.complaints(server)[:3]]
    print(table("Volunteers beside many readers of pages", lines, wrong))
    return 1 if wrong else 0


def play(
    server: LiveServer, database: Postgres, floor_port: int, size: Size, minutes: float
) -> tuple[Lines, list[str]]:
    """Fills the site, and runs all turns."""
    sql = Sql(database.dsn)
    site = fill(server, sql, size)
    other = testbed.project(server, tasks=1, n_answers=1)
    filled.fill(sql, other.id, filled.Filling(1000, 10_000, n_answers=1000))
    database.checkpoint()
    rush = Rush(server.port, other.id, hot.people(server, other, sql))
    flood, floor = Flood(server.port), Flood(floor_port)
    beside = Beside(rush, hot.PACE, ["pages", "home", "computing"])
    benchmark = Play(server, site, beside, flood, floor)
    benchmark.warm_up()
    for _ in range(max(1, round(minutes * 60 / (5 * TURN_SECONDS)))):
        benchmark.round()
    rush.close()
    benchmark.many_addresses()
    flood.close()
    floor.close()
    return benchmark.judge(20e6)


if __name__ == "__main__":
    sys.exit(main())
