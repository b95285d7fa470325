"""Imports of many tasks: how long, how much memory, what others notice; and what a kill half-way leaves.

    python -m bench.transfer.imports [--rows 100000] [--kills 5] [--format csv|ndjson|json|parquet]

A file in each of FORMATS, one after the other. Gates: within SECONDS for a million rows and in proportion for fewer,
of the clock or, where others use the machine, of the CPU of crowdd and PostgreSQL together (without that of the looks
at pages meanwhile, which is what as many take before the import); the memory of the server grows by at most
MAX_MEMORY; a page meanwhile takes at most MAX_WAIT (p99). Then a file of the first format: killed (-9) at random
moments, the import goes on within MAX_PAUSE of the restart and ends with exactly the rows of the file. How long
newtask of another project takes meanwhile stands beside what it takes before and after.
"""

from __future__ import annotations

import argparse
import io
import random
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import attrs
import pyarrow
import pyarrow.parquet
import requests
from support.servers.live import LiveServer

from bench.support import testbed
from bench.support.cpu import Cpu, Spent, Taken
from bench.support.figures import Times, table

SECONDS = 60.0  # for a million rows
NOTHING = Spent(0.0, 0.0, 0.0)
FORMATS = ("csv", "ndjson", "parquet")
MAX_MEMORY = 64e6  # bytes
MAX_WAIT = 1.0  # seconds
PAUSE = 0.2  # seconds between two looks
MAX_PAUSE = 5.0  # seconds from a server's being there again until its import moves
_BAD_EVERY = 1000  # rows
_COLUMNS = ("url", "place", "n_answers")


@attrs.frozen
class Plan:
    """How many rows, in which format, and how often the server is killed meanwhile."""

    rows: int = 100_000
    format: str = "csv"
    kills: int = 5
    seconds: float = SECONDS
    calm: int = 100  # times that a page and newtask are asked for before an import, and again after
    max_memory: float = MAX_MEMORY
    max_wait: float = MAX_WAIT
    max_pause: float = MAX_PAUSE


def content(plan: Plan, mark: str) -> bytes:
    """A file of so many tasks, every thousandth of which is no good."""
    return _parquet(plan, mark) if plan.format == "parquet" else b"".join(_pieces(plan, mark))


def _parquet(plan: Plan, mark: str) -> bytes:
    columns = zip(*(_row(n, mark) for n in range(plan.rows)), strict=True)
    table = pyarrow.table(dict(zip(_COLUMNS, map(list, columns), strict=True)))
    out = io.BytesIO()
    pyarrow.parquet.write_table(table, out, row_group_size=100_000)
    return out.getvalue()


def _row(n: int, mark: str) -> tuple[str, str, str]:
    answers = "none" if n % _BAD_EVERY == 7 else "3"
    return f"https://pictures.example/{mark}/{n:07}.jpg", f"gate {n % 40}, north side", answers


def _pieces(plan: Plan, mark: str) -> Iterator[bytes]:
    begin, end, between = {
        "csv": (f"{','.join(_COLUMNS)}\n", "", ""),
        "ndjson": ("", "", ""),
        "json": ("[\n", "\n]", ","),
    }[plan.format]
    yield begin.encode()
    for n in range(plan.rows):
        url, place, answers = _row(n, mark)
        if plan.format == "csv":
            yield f'{url},"{place}",{answers}\n'.encode()
        else:
            text = f'{{"url":"{url}","place":"{place}","n_answers":"{answers}"}}'
            yield f"{between if n else ''}{text}\n".encode()
    yield end.encode()


def refused_of(plan: Plan) -> int:
    """How many rows of the file are no good."""
    return len(range(7, plan.rows, _BAD_EVERY))


def memory(server: LiveServer) -> tuple[float, float]:
    """What the server has in memory, now and at most so far, in bytes."""
    assert server.process is not None
    lines = Path(f"/proc/{server.process.pid}/status").read_text().splitlines()
    fields = dict(line.split(":", 1) for line in lines if ":" in line)
    now, maximum = (1024.0 * int(fields[name].split()[0]) for name in ("VmRSS", "VmHWM"))
    return now, maximum


class Looking(threading.Thread):
    """Asks for addresses, by name, all the while and notes how long each takes."""

    def __init__(self, asked: dict[str, str]) -> None:
        super().__init__(daemon=True)
        self.times, self.turns, self._asked, self._over = Times(), 0, asked, threading.Event()
        self.start()

    def run(self) -> None:
        with requests.Session() as session:
            while not self._over.wait(PAUSE):
                look(session, self._asked, self.times)
                self.turns += 1

    def end(self) -> Times:
        """What it has noted."""
        self._over.set()
        self.join()
        return self.times


def look(session: requests.Session, asked: dict[str, str], times: Times) -> None:
    """Asks for each address once."""
    for name, address in asked.items():
        with times.of(name):
            session.get(address, timeout=60)


def calm(asked: dict[str, str], number: int, times: Times) -> None:
    """Asks while nothing else is done."""
    with requests.Session() as session:
        for _ in range(number):
            look(session, asked, times)
            time.sleep(0.02)


def bring(server: LiveServer, project: testbed.Project, body: bytes, name: str) -> dict[str, Any]:
    """Uploads a file, to be imported at once."""
    address = f"{server.url}/project/{project.short_name}/tasks/import?response_format=json"
    key = {"Authorization": project.owner.key}
    answer = requests.post(address, headers=key, files={"file": (name, body)}, data={"on_error": "skip"}, timeout=120)
    assert answer.status_code == 200 and answer.json()["status"] == "success", answer.text[:500]
    document: dict[str, Any] = answer.json()
    return document


def until_done(sql: testbed.Sql, item: int, seconds: float) -> dict[str, Any]:
    """The item when it has ended. Raises TimeoutError."""
    end = time.monotonic() + seconds
    with sql.session() as rows:
        while time.monotonic() < end:
            (row,) = rows("SELECT state, error, result FROM queue_item WHERE id = %s", (item,))
            if row["state"] not in ("waiting", "running"):
                return row
            time.sleep(0.05)
    raise TimeoutError(f"The import did not end within {seconds:g} seconds.")


def straight(
    plan: Plan, server: LiveServer, sql: testbed.Sql, cpu: Cpu | None
) -> tuple[list[tuple[str, object]], list[str]]:
    """One import on a warm server, while a page follows its progress."""
    project, other = (testbed.project(server, tasks=1, n_answers=1) for _ in range(2))
    warm = attrs.evolve(plan, rows=2000)
    until_done(sql, bring(server, project, content(warm, "warm"), f"warm.{plan.format}")["queue_item"], 120)
    asked = {
        "a page": f"{server.url}/project/{project.short_name}/tasks/",
        "newtask": f"{server.url}/api/project/{other.id}/newtask",
    }
    quiet = Times()
    calm(asked, plan.calm, quiet)  # what is only done once
    had = cpu.spent() if cpu else NOTHING
    calm(asked, plan.calm, quiet)
    look_costs = (cpu.spent() if cpu else NOTHING).since(had).times(1 / plan.calm)
    body = content(plan, "cold")
    before, _ = memory(server)
    had = cpu.spent() if cpu else NOTHING
    looking, began = Looking(asked), time.monotonic()
    begun = bring(server, project, body, f"tasks.{plan.format}")
    brought = time.monotonic() - began
    ended = until_done(sql, begun["queue_item"], 1800)
    clock, meanwhile = time.monotonic() - began, looking.end()
    grown = memory(server)[1] - before
    used = (cpu.spent() if cpu else NOTHING).since(had).since(look_costs.times(looking.turns))
    taken = Taken(clock, used.server if cpu else 0.0)
    calm(asked, plan.calm, quiet)
    expected = {"added": plan.rows - refused_of(plan), "present": 0, "refused": refused_of(plan)}
    wrong = _judged(plan, ended, expected, sql, project.id, 1 + 2000 - refused_of(warm) + expected["added"])
    if taken.seconds > plan.seconds * max(plan.rows / 1e6, 0.1):
        wrong.append(f"{taken.seconds:.1f} s for {plan.rows:,} rows of {plan.format}")
    if grown > plan.max_memory:
        wrong.append(f"memory grew by {grown / 1e6:.0f} MB for {plan.format}")
    if (wait := meanwhile.percentile("a page", 99)) > plan.max_wait:
        wrong.append(f"a page took {wait:.2f} s (p99) meanwhile")
    lines: list[tuple[str, object]] = [
        (f"{plan.rows:,} rows", f"{len(body) / 1e6:.1f} MB of {plan.format}"),
        ("seconds", f"{clock:.1f}, of these {brought:.1f} until it is there; {plan.rows / clock:,.0f} rows/s"),
        ("CPU", _spent(used, plan.rows) if cpu else "not looked at"),
        ("memory", f"+{grown / 1e6:.0f} MB above {before / 1e6:.0f} MB"),
        *((f"{name} meanwhile", _times(name, meanwhile, quiet)) for name in asked),
    ]
    return lines, wrong


def _spent(used: Spent, rows: int) -> str:
    each = 1e6 / rows
    return (
        f"crowdd {used.crowdd:.1f} s ({each * used.crowdd:.0f} µs a row), PostgreSQL {used.postgres:.1f} s"
        f" ({each * used.postgres:.0f} µs a row), without what the looks took"
    )


def _times(name: str, meanwhile: Times, quiet: Times) -> str:
    percentiles = [
        f"p{p} {1000 * meanwhile.percentile(name, p):.0f} ms ({1000 * quiet.percentile(name, p):.0f})" for p in (50, 99)
    ]
    return f"{', '.join(percentiles)}; in brackets before and after"


def killed(plan: Plan, server: LiveServer, sql: testbed.Sql) -> tuple[list[tuple[str, object]], list[str]]:
    """One import during which the server is killed."""
    project = testbed.project(server, tasks=1, n_answers=1)
    began = bring(server, project, content(plan, "kills"), f"kills.{plan.format}")
    halves, pauses, wrong = [], [], []
    for number in range(plan.kills):
        mark = plan.rows * (number + 1) // (plan.kills + 2) + random.randint(0, plan.rows // 50)
        if not _reached(sql, began["import"], mark):
            break
        server.kill()
        (row,) = sql.rows("SELECT added, refused FROM task_import WHERE id = %s", (began["import"],))
        task_count = sql.one("SELECT count(*) FROM task WHERE project_id = %s", (project.id,)) - 1
        rows = sql.one("SELECT (checkpoint->>'rows')::int FROM queue_item WHERE id = %s", (began["queue_item"],))
        halves.append(task_count)
        if not task_count == row["added"] == rows - row["refused"]:
            wrong.append(f"{task_count} tasks, {row} in figures, {rows} rows by the checkpoint after kill {number + 1}")
        server.start()
        pauses.append(_moved_within(sql, began, row["added"]))
        if pauses[-1] > plan.max_pause:
            wrong.append(f"{pauses[-1]:.1f} s until it went on after kill {number + 1}")
    ended = until_done(sql, began["queue_item"], 1800)
    expected = {"added": plan.rows - refused_of(plan), "present": 0, "refused": refused_of(plan)}
    wrong += _judged(plan, ended, expected, sql, project.id, 1 + expected["added"])
    lines: list[tuple[str, object]] = [
        ("killed", f"{len(halves)} times, at {', '.join(f'{n:,}' for n in halves)} tasks"),
        ("went on", f"within {max(pauses, default=0.0):.1f} s of the restart"),
    ]
    return lines, wrong


def _moved_within(sql: testbed.Sql, began: dict[str, Any], added: int) -> float:
    """Seconds until the import has added more."""
    start = time.monotonic()
    _reached(sql, began["import"], added + 1)
    return time.monotonic() - start


def _reached(sql: testbed.Sql, import_id: int, number: int) -> bool:
    end = time.monotonic() + 300
    with sql.session() as rows:
        while time.monotonic() < end:
            (row,) = rows("SELECT added, ended FROM task_import WHERE id = %s", (import_id,))
            if row["added"] >= number or row["ended"]:
                return not row["ended"]
            time.sleep(0.01)
    return False


def _judged(
    plan: Plan, ended: dict[str, Any], expected: dict[str, int], sql: testbed.Sql, project_id: int, tasks: int
) -> list[str]:
    wrong = []
    counts = {name: (ended["result"] or {}).get(name) for name in expected}
    if ended["state"] != "done" or counts != expected:
        wrong.append(f"ended as {ended['state']} {ended['error']} with {counts} instead of {expected}")
    sql_ = "SELECT count(*) AS n, count(DISTINCT info) AS kinds FROM task WHERE project_id = %s"
    (row,) = sql.rows(sql_, (project_id,))
    if row["n"] != tasks or row["kinds"] != tasks:
        wrong.append(f"{row['n']} tasks, {row['kinds']} different ones, instead of {tasks}")
    figure = sql.one("SELECT n_tasks FROM project_figures WHERE project_id = %s", (project_id,))
    return wrong if figure == tasks else [*wrong, f"the project's figure says {figure} tasks instead of {tasks}"]


def play(
    plans: Sequence[Plan], dsn: str, place: Path, postmaster: int = 0
) -> tuple[list[tuple[str, object]], list[str]]:
    """The lines of the table, and what is violated. The first plan also says how often the server is killed."""
    sql = testbed.Sql(dsn)
    lines: list[tuple[str, object]] = []
    wrong: list[str] = []
    with testbed.crowdd(dsn, place) as server:
        assert server.process is not None
        cpu = Cpu(server.process.pid, postmaster) if postmaster else None
        for plan in plans:
            more, worse = straight(plan, server, sql, cpu)
            lines, wrong = lines + more, wrong + worse
        if plans[0].kills:
            more, worse = killed(plans[0], server, sql)
            lines, wrong = lines + more, wrong + worse
    return lines, wrong


def main() -> int:
    """Runs it and prints a table; 1 when a gate is broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=Plan().rows)
    parser.add_argument("--kills", type=int, default=Plan().kills)
    parser.add_argument("--format", choices=("csv", "json", "ndjson", "parquet"), action="append")
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    random.seed(options.seed)
    plans = [Plan(options.rows, format_, options.kills) for format_ in options.format or FORMATS]
    with testbed.folder() as place, testbed.postgres(place) as database:
        lines, wrong = play(plans, database.dsn, place, database.pid)
    print(table("Imports", lines, wrong))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
