"""Lists of a project with a million answers beside one with two thousand, and 100,000 tasks through bulk POST.

    python -m bench.lists [--runs 1000000] [--requests 200]

Hard gates: pages of 100 rows of every kind touch the same number of buffers in both projects (within BUFFER_SLACK), CPU
of crowdd and PostgreSQL per request is at most 1.1 times that in the small one (median of nine interleaved rounds), and
100,000 tasks load within 60 s.
"""

from __future__ import annotations

import argparse
import contextlib
import statistics
import sys
import time
from collections.abc import Mapping
from typing import Any

import psycopg2

from bench.support import testbed
from bench.support.cpu import Cpu
from bench.support.figures import table
from crowdd import kinds
from crowdd.core.records import listing_statements
from crowdd.database import connector
from crowdd.database.access import Prepared
from crowdd.http import queries
from crowdd.kernel.requester import Requester

KINDS = ("task", "taskrun", "result", "blogpost", "helpingmaterial")
LIMIT = 100
SMALL = 2000  # answers, and a tenth as many rows of the other kinds: a whole page follows the one in the middle
BUFFER_SLACK = 40
MAX_CPU = 1.1
ROUNDS = 9

TABLES = ("task_run", "result", "blogpost", "helpingmaterial")
ROWS = "FROM generate_series(1, {tasks}) i"
FILL = (
    "INSERT INTO task (id, project_id, created, info)"
    " SELECT {base} + i, {project}, now(), jsonb_build_object('url', 'https://example.org/' || i) " + ROWS,
    "INSERT INTO task_ledger (project_id, task_id, ordinal, n_answers, answers, done)"
    " SELECT {project}, {base} + i, {base} + i, 10, 10, true " + ROWS,
    "INSERT INTO task_run (project_id, task_id, actor, created, finish_time, counted, info)"
    """ SELECT {project}, {base} + i, 'c:' || k, now(), now(), true, '{{"answer": "yes"}}' """
    + ROWS + ", generate_series(1, 10) k",
    "INSERT INTO result (project_id, task_id, created, version, last_version, task_run_ids)"
    " SELECT {project}, {base} + i, now(), 1, true, ARRAY[{base} + i] " + ROWS,
    "INSERT INTO blogpost (created, updated, project_id, title, body, published)"
    " SELECT now(), now(), {project}, 'News ' || i, 'Text', true " + ROWS,
    "INSERT INTO helpingmaterial (created, project_id) SELECT now(), {project} " + ROWS,
)  # fmt: skip


def fill(sql: testbed.Sql, project: int, base: int, runs: int) -> None:
    """Rows of a project that is done, straight into the tables.

    Answers, results, posts and files are counted nowhere: lists do not read counters.
    """
    with sql.session() as asked:
        for table_ in TABLES:
            asked(f"ALTER TABLE {table_} DISABLE TRIGGER USER")
        for template in FILL:
            asked(template.format(project=project, base=base, tasks=runs // 10))
        for table_ in TABLES:
            asked(f"ALTER TABLE {table_} ENABLE TRIGGER USER")


def middle(sql: testbed.Sql, kind: str, project: int) -> int:
    """An id half-way through a project's rows."""
    names = {"taskrun": "task_run"}
    return int(sql.one(f"SELECT (min(id) + max(id)) / 2 FROM {names.get(kind, kind)} WHERE project_id = {project}"))


def cpu_per_request(cpu: Cpu, reader: Any, address: str, requests: int) -> float:
    """Milliseconds."""
    before = cpu.spent()
    for _ in range(requests):
        answer = reader.ask("GET", address)
        assert answer.status == 200 and len(answer.json) >= LIMIT - 1, (address, answer.text[:200])
    return cpu.spent().since(before).server / requests * 1000


def buffers(sql: testbed.Sql, prepared: Prepared, values: Mapping[str, object]) -> int:
    """Buffers that a statement touches when it has been planned and run before."""
    with contextlib.closing(psycopg2.connect(sql.dsn)) as connection, connection.cursor() as cursor:
        for each in (*connector.list_session_settings(600), prepared.definition):
            cursor.execute(each)
        for _ in range(2):
            cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {prepared.call}", values)
            plan = cursor.fetchone()[0][0]["Plan"]
    return int(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])


def statement(kind: str, project: int, last_id: int) -> tuple[Prepared, Mapping[str, object]]:
    """The statement of a list page, as the server makes it, and its values."""
    made: list[tuple[Prepared, Mapping[str, object]]] = []

    class Recorder:
        async def fetch(self, prepared: Prepared, values: Mapping[str, object]) -> list[Any]:
            made.append((prepared, values))
            return [{"whole": False}]

    asked = {"project_id": str(project), "last_id": str(last_id), "limit": str(LIMIT), "all": "1"}
    query = queries.parse_query(kinds.KINDS[kind], asked, Requester())
    work = listing_statements.select_text(Recorder(), query, Requester(), "http://localhost", b"")  # type: ignore[arg-type]
    with contextlib.suppress(StopIteration):
        work.send(None)
    return made[0]


def load(owner: Any, project: int, tasks: int) -> float:
    """Seconds for so many tasks through bulk POST, 1,000 at a time."""
    began = time.monotonic()
    for first in range(0, tasks, 1000):
        rows = [
            {"project_id": project, "info": {"n": n, "url": f"https://example.org/{n}.jpg"}}
            for n in range(first, first + 1000)
        ]
        assert owner.ask("POST", f"/api/task?api_key={owner.key}", rows).status == 200
    return time.monotonic() - began


def compare(
    sql: testbed.Sql, cpu: Cpu, reader: Any, kind: str, small: Any, large: Any, requests: int
) -> tuple[str, list[str]]:
    """A line of the table for a kind, and what is wrong with it."""
    last = {project.id: middle(sql, kind, project.id) for project in (small, large)}
    touched = {id_: buffers(sql, *statement(kind, id_, last[id_])) for id_ in last}
    spent: dict[int, list[float]] = {id_: [] for id_ in last}
    for _ in range(ROUNDS):
        for id_, middle_ in last.items():
            address = f"/api/{kind}?project_id={id_}&last_id={middle_}&limit={LIMIT}"
            spent[id_].append(cpu_per_request(cpu, reader, address, requests))
    low, high = (statistics.median(spent[project.id]) for project in (small, large))
    wrong = []
    if touched[large.id] > touched[small.id] + BUFFER_SLACK:
        wrong.append(f"{kind}: {touched[large.id]} buffers instead of {touched[small.id]}")
    if high > MAX_CPU * low:
        wrong.append(f"{kind}: {high / low:.2f} times the CPU")
    buffers_ = f"buffers {touched[small.id]} / {touched[large.id]}"
    return f"{buffers_}, CPU {low:.2f} / {high:.2f} ms = {high / low:.2f}", wrong


def main() -> int:
    """Runs it and prints a table; 1 when a gate is broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1_000_000)
    parser.add_argument("--requests", type=int, default=200)
    options = parser.parse_args()
    lines: list[tuple[str, object]] = []
    violations: list[str] = []
    with testbed.folder() as place, testbed.postgres(place) as database, testbed.crowdd(database.dsn, place) as server:
        sql, cpu = testbed.Sql(database.dsn), Cpu(server.process.pid, database.pid)
        small, large = (testbed.project(server, tasks=1, n_answers=1) for _ in range(2))
        # A recount of millions of answers would go on beside the requests, and count as theirs.
        sql.rows("UPDATE job SET due = clock() + interval '3 hours' WHERE name = 'check_counters'")
        fill(sql, small.id, 10_000_000, SMALL)
        fill(sql, large.id, 20_000_000, options.runs)
        sql.rows("ANALYZE")
        for kind in KINDS:
            line, wrong = compare(sql, cpu, testbed.Person(server.url), kind, small, large, options.requests)
            lines.append((kind, line))
            violations += wrong
        seconds = load(small.owner, small.id, 100_000)
        lines.append(("100,000 tasks by bulk POST", f"{seconds:.1f} s"))
        violations += ["loading took longer than 60 s"] if seconds > 60 else []
    print(table("Lists", lines, violations))
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
