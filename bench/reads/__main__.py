"""Reads of API and pages, each as a share of what the stack can do at all.

    python -m bench.reads [--only task] [--small] [--json FILE] [--workers 2]

The floor is Twisted's plain ``Site`` with one SELECT of one row on the product's pool (``bench.reads.floor``). It and
crowdd serve one database; 32 clients ask for one address after the other, in turns, five rounds. Gates: the median of
each address reaches its share of the floor of the same round. A read that has another one *beside* it is also compared
with that, in short turns, and the median reaches its multiple. ``CPU`` is that of a request, of the web and of
PostgreSQL together, in times of the floor. Statements are counted by PostgreSQL's log.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
import urllib.request
from pathlib import Path

import attrs
from support.servers.live import LiveServer

from bench.reads.floor_process import FLOOR, SETTINGS, floor_of
from bench.reads.readers import Outcome, Read, Readers
from bench.reads.site import SMALL, Filled, Size, fill
from bench.support import testbed
from bench.support.cpu import Cpu

CLIENTS, ROUNDS, SECONDS = 32, 5, 1.5
_SHORT_TURNS = 5
OTHERS = "20 tasks, others for each client"
_SAME = "If-None-Match: {etag}\r\n"
_JSON, _HTML, _GZIP = "Accept: application/json\r\n", "Accept: text/html\r\n", "Accept-Encoding: gzip\r\n"


def reads(site: Filled) -> list[Read]:
    """What is measured, with the goals of the floor."""
    project, key = f"project_id={site.project}", f"api_key={site.owner.key}"
    page, others = f"/project/{site.short_name}", f"/api/task?{project}&limit=20&offset={{n}}"
    return [
        Read("health", "/health", 2.0),
        Read("task", f"/api/task/{site.task}", 0.85),
        Read("task with key", f"/api/task/{site.task}?{key}", 0.75),
        Read("20 tasks", f"/api/task?{project}&limit=20", 0.50),
        Read(OTHERS, others, 0.0),
        Read("20 tasks, others, the same", others, 1.5, _SAME, 304, beside=OTHERS),
        Read("100 tasks", f"/api/task?{project}&limit=100", 0.25),
        Read("10 answers of a task", f"/api/taskrun?{project}&task_id={site.task}", 0.50),
        Read("20 results", f"/api/result?{project}&limit=20", 0.50),
        Read("20 results, the same", f"/api/result?{project}&limit=20", 0.0, _SAME, 304),
        Read("project", f"/api/project/{site.project}", 0.75),
        Read("20 projects", "/api/project?limit=20", 0.40),
        Read("userprogress", f"/api/project/{site.project}/userprogress", 0.80),
        Read("projectstats", f"/api/projectstats/{site.project}", 0.70),
        Read("project page, JSON", f"{page}/", 0.50, _JSON),
        Read("project page", f"{page}/", 0.70, _HTML),
        Read("project page, the same", f"{page}/", 1.5, _HTML + _SAME, 304, beside="project page"),
        Read("statistics page", f"{page}/stats", 0.50, _HTML),
        Read("statistics page, the same", f"{page}/stats", 1.5, _HTML + _SAME, 304, beside="statistics page"),
        Read("tasks page", f"{page}/tasks/", 0.50, _HTML),
        Read("list of tasks", f"{page}/tasks/browse", 0.50, _HTML),
        Read("list of tasks, the same", f"{page}/tasks/browse", 1.5, _HTML + _SAME, 304, beside="list of tasks"),
        Read("task page, first visit", f"{page}/newtask", 0.50, _HTML),
        Read("task page, first visit, gzip", f"{page}/newtask", 0.50, _HTML + _GZIP),
        Read("volunteer's page", f"/account/{site.person}/", 0.50, _HTML),
        Read("home", "/", 0.80, _HTML),
        Read("home, the same", "/", 1.5, _HTML + _SAME, 304, beside="home"),
        Read("home, JSON", "/", 0.50, _JSON),
        Read("leaderboard", "/leaderboard/", 0.70, _HTML),
        Read("leaderboard, the same", "/leaderboard/", 1.5, _HTML + _SAME, 304, beside="leaderboard"),
        Read("category", "/project/category/thinking/", 0.70, _HTML),
        Read("sign-in page", "/account/signin", 0.70, _HTML),
    ]


@attrs.frozen
class Slice:
    """One turn of an address: answers a second, and CPU milliseconds of an answer."""

    rate: float
    web: float
    postgres: float


@attrs.define
class Line:
    """A line of the table."""

    read: Read
    slices: list[Slice] = attrs.field(factory=list)
    shares: list[float] = attrs.field(factory=list)
    times: list[float] = attrs.field(factory=list)  # how many times the rate of the read beside it, in each round
    body_bytes: int = 0
    statements: float = 0.0
    wrong: str = ""

    @property
    def share(self) -> float:
        """Of the floor, the median."""
        return statistics.median(self.shares)

    @property
    def broken(self) -> str:
        """The gate that does not hold, or nothing."""
        if self.wrong:
            return f"{self.read.name}: {self.wrong}"
        missed = self.read.goal and not self.read.beside and self.share < self.read.goal
        return f"{self.read.name}: {self.share:.2f} of the floor instead of {self.read.goal:.2f}" if missed else ""

    @property
    def beside(self) -> str:
        """How it stands beside another read, or nothing."""
        return f"{self.read.name}: {statistics.median(self.times):.2f} times {self.read.beside}" if self.times else ""

    @property
    def too_slow(self) -> str:
        """The gate beside another read that does not hold, or nothing."""
        missed = self.times and statistics.median(self.times) < self.read.goal
        return f"{self.beside} instead of {self.read.goal}" if missed else ""

    def middle(self, name: str) -> float:
        """The median of a figure of the slices."""
        return statistics.median(getattr(each, name) for each in self.slices)


class Contest:
    """The floor and a server in turns."""

    def __init__(self, floor: tuple[int, Cpu], server: tuple[int, Cpu], seconds: float) -> None:
        self._floor, self._server = floor, server
        self._readers = Readers(floor[0], CLIENTS), Readers(server[0], CLIENTS)
        self._seconds = seconds

    def close(self) -> None:
        """Disconnects."""
        for readers in self._readers:
            readers.close()

    def turn(self, line: Line) -> Slice:
        """One turn of an address."""
        here = line.read.floor
        (_, cpu), readers = (self._floor, self._readers[0]) if here else (self._server, self._readers[1])
        read = line.read if here else with_etags(line.read, self._server[0])
        before = cpu.spent()
        outcome = readers.run(read, self._seconds)
        spent = cpu.spent().since(before)
        _note(line, outcome)
        per = 1000 / outcome.answers
        measurement = Slice(outcome.rate, spent.crowdd * per, spent.postgres * per)
        line.slices.append(measurement)
        return measurement

    def round(self, floor: Line, lines: list[Line]) -> None:
        """Each address once, each between two turns of the floor."""
        before = self.turn(floor).rate
        for line in lines:
            rate = self.turn(line).rate
            after = self.turn(floor).rate
            line.shares.append(2 * rate / (before + after))
            before = after
            other = next((each for each in lines if each.read.name == line.read.beside), None)
            if other is not None:
                line.times.append(self._times(line.read, other.read))

    def _times(self, read: Read, other: Read) -> float:
        """How many times the rate of another read: short turns, since the machine is not equally fast for long."""
        mine = theirs = 0.0
        for _ in range(_SHORT_TURNS):
            theirs += self._readers[1].run(other, self._seconds / _SHORT_TURNS).rate
            mine += self._readers[1].run(with_etags(read, self._server[0]), self._seconds / _SHORT_TURNS).rate
        return mine / theirs


def _note(line: Line, outcome: Outcome) -> None:
    line.body_bytes = outcome.body_bytes
    others = {status.decode(): n for status, n in outcome.statuses.items() if status != b"%d" % line.read.status}
    if others:
        line.wrong = f"answered {others}"


class Statements:
    """Counts statements by the log of PostgreSQL."""

    def __init__(self, database: testbed.Postgres, place: Path, port: int) -> None:
        self._database, self._place, self._port = database, place, port

    def count(self, read: Read) -> float:
        """Statements of one request, the mean of some."""
        readers, read = Readers(self._port, 1), with_etags(read, self._port)
        readers.run(read, 0.1)  # prepares what is prepared
        self._database.set("log_statement", "'all'")
        time.sleep(0.3)
        before = self._lines()
        answers = readers.run(read, 1.0).answers
        time.sleep(0.1)
        statement_count = self._lines() - before
        self._database.set("log_statement", "'none'")
        readers.close()
        return statement_count / answers

    def _lines(self) -> int:
        logs = self._place.rglob("postgresql-*.log")
        return sum(log.read_text(errors="replace").count("LOG:  statement: ") for log in logs)


def with_etags(read: Read, port: int) -> Read:
    """The read with the entity tags that the server has for its clients now."""
    if not read.conditional:
        return read
    several = range(CLIENTS) if "{n}" in read.path else range(1)
    return attrs.evolve(read, etags=tuple(_etag(read, number, port) for number in several))


def _etag(read: Read, number: int, port: int) -> str:
    accept = {"Accept": "application/json" if _JSON in read.headers else "text/html"}
    request = urllib.request.Request(f"http://127.0.0.1:{port}{read.address(number)}", headers=accept)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return str(answer.headers["ETag"])


def table(floor: Line, lines: list[Line]) -> str:
    """The table in Markdown."""
    base = floor.middle("web") + floor.middle("postgres")
    rows = [
        "| Read | per second | of floor | goal | CPU web, ms | CPU PostgreSQL, ms | × floor | statements | bytes |",
        "| --- | --: | --: | --: | --: | --: | --: | --: | --: |",
    ]
    for line in [floor, *lines]:
        web, postgres = line.middle("web"), line.middle("postgres")
        share = line.share if line.shares else 1.0
        goal = f"{line.read.goal:.2f}" if line.read.goal and not line.read.beside else ""
        rows.append(
            f"| {line.read.name} | {line.middle('rate'):,.0f} | {share:.2f} | {goal} | {web:.3f} | {postgres:.3f}"
            f" | {(web + postgres) / base:.1f} | {line.statements:.1f} | {line.body_bytes:,} |"
        )
    return "\n".join(rows)


def measure(
    server: LiveServer, database: testbed.Postgres, place: Path, options: argparse.Namespace
) -> tuple[Line, list[Line]]:
    """The floor's line and those of the addresses."""
    size = SMALL if options.small else Size(options.projects, options.people, options.answers)
    began = time.monotonic()
    site = fill(server, testbed.Sql(database.dsn), size)
    database.checkpoint()
    taken = time.monotonic() - began
    print(f"{size.projects} projects, {size.people:,} people, {size.answers:,} answers in {taken:.0f} s", flush=True)
    chosen = [read for read in reads(site) if not options.only or any(word in read.name for word in options.only)]
    floor, lines = Line(FLOOR), [Line(read) for read in chosen]
    process = server.process
    assert process is not None
    with floor_of(database, place) as base:
        contest = Contest(base, (server.port, Cpu(process.pid, database.pid, server.workers())), options.seconds)
        contest.round(floor, lines)  # for warming up
        for line in (floor, *lines):
            line.slices.clear()
            line.shares.clear()
            line.times.clear()
        for _ in range(options.rounds):
            contest.round(floor, lines)
        contest.close()
        counting = Statements(database, place, server.port)
        for line in lines:
            line.statements = counting.count(line.read)
    return floor, lines


def main() -> int:
    """Runs it and prints a table; 1 when a gate is broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", help="reads whose name has this in it")
    parser.add_argument("--small", action="store_true", help="20 projects and 20,000 answers, for trying")
    parser.add_argument("--projects", type=int, default=Size().projects)
    parser.add_argument("--people", type=int, default=Size().people)
    parser.add_argument("--answers", type=int, default=Size().answers)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of each turn")
    parser.add_argument("--json", type=Path, help="write the figures here, too")
    parser.add_argument("--workers", type=int, default=1, help="processes of crowdd; the floor always is one")
    options = parser.parse_args()
    with (
        testbed.folder() as place,
        testbed.postgres(place) as database,
        testbed.crowdd(database.dsn, place, **SETTINGS, CROWDD_DAEMON_WORKERS=str(options.workers)) as server,
    ):
        testbed.Sql(database.dsn).rows("ALTER DATABASE crowdd SET search_path = public, code")
        floor, lines = measure(server, database, place, options)
        complaints = [f"The server's log: {line}" for line in testbed.complaints(server)[:3]]
    print("\n".join([table(floor, lines), "", *filter(None, (line.beside for line in lines))]))
    broken = [sentence for line in lines for sentence in (line.broken, line.too_slow)]
    wrong = [sentence for sentence in broken if sentence] + complaints
    print("\n".join([f"VIOLATED: {sentence}" for sentence in wrong] or ["Nothing is violated."]))
    if options.json:
        figures = [{"name": line.read.name, **attrs.asdict(line)} for line in (floor, *lines)]
        options.json.write_text(json.dumps(figures, indent=2))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
