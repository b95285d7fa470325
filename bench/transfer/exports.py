"""Exports of many answers: the first byte, the whole, memory; a reader that leaves; four files at once; long lists.

    python -m bench.transfer.exports [--answers 100000] [--tasks 1000000] [--crowd 1000000]

Gates: the first byte within MAX_FIRST (median of five), the server's memory grows by at most MAX_MEMORY, for a reader
who has gone nothing more is read, every answer is in the file once; pages of the list of tasks by id, by state and far
inside within MAX_PAGE. A file of ``--crowd`` answers in each of NDJSON, CSV and Parquet takes at most MAX_SECONDS,
with the first byte within MAX_FIRST and at most MAX_LARGE of memory; NDJSON and CSV come at MIN_RATE of the rate (rows
per second) of plain COPY of the same rows, which is measured before and after them in the same run. Seconds and rates
are of the clock or, where others use the machine, of CPU: of crowdd and PostgreSQL, and for plain COPY of PostgreSQL
and the client. A CSV file with the columns of tasks takes at most MAX_BESIDE times what it takes without, and a
workbook at most MAX_WORKBOOK_SECONDS and MAX_WORKBOOK of memory. While four files of ``--crowd`` answers are made at
once, the median time of a page of the project and the p99 of newtask are at most MAX_SLOWER times what they are without
them, before and after, in the same run.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import io
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import psycopg2
import requests
from support.servers.live import LiveServer

from bench.support import testbed
from bench.support.cpu import Cpu, Spent, Taken
from bench.support.figures import Times, table
from bench.transfer.imports import memory
from crowdd.kinds.task_run import TASK_RUN

MAX_FIRST = 0.3  # seconds
MAX_MEMORY = 32e6  # bytes
MAX_PAGE = 0.3  # seconds
MAX_SECONDS = 10.0  # for a million answers; in proportion for others
MAX_LARGE = {"ndjson": 64e6, "csv": 64e6, "parquet": 200e6}  # bytes
MIN_RATE = 0.5  # of plain COPY
MAX_SLOWER = 1.5
MAX_BESIDE = 1.5
MAX_WORKBOOK_SECONDS = 45.0  # for a million answers; in proportion for others
MAX_WORKBOOK = 200e6  # bytes
THINK = 0.02  # seconds between two pages
TOO_MANY = 429
FILL = (
    "INSERT INTO task (id, project_id, created, info) SELECT {base} + i, {project}, now(),"
    " jsonb_build_object('url', 'https://pictures.example/' || i || '.jpg') FROM generate_series(1, {tasks}) i",
    "INSERT INTO task_ledger (project_id, task_id, ordinal, n_answers, answers, done)"
    " SELECT {project}, {base} + i, 1 + i, 10, CASE WHEN i <= {done} THEN 10 ELSE 0 END, i <= {done}"
    " FROM generate_series(1, {tasks}) i",
    "INSERT INTO task_run (project_id, task_id, actor, created, finish_time, counted, info)"
    " SELECT {project}, {base} + i, 'c:' || k, now(), now(), true,"
    " jsonb_build_object('answer', 'Pine marten', 'sure', k)"
    " FROM generate_series(1, {done}) i, generate_series(1, 10) k",
    "INSERT INTO volunteer_word SELECT {project}, 'c:' || k, md5('c:' || k) FROM generate_series(1, 10) k",
    "INSERT INTO stat_delta (project_id, hour, runs, counted, completed, tasks, wanted)"
    " SELECT {project}, date_trunc('hour', now()), {done} * 10, {done} * 10, {done}, {tasks}, {tasks}::bigint * 10",
    "UPDATE project_ledger SET n_ordinals = 1 + {tasks} WHERE project_id = {project}",
    "SELECT fold_stats()",
)


@attrs.frozen
class Plan:
    """How many answers, how many tasks; what is allowed."""

    answers: int = 100_000
    tasks: int = 1_000_000
    crowd: int = 1_000_000
    max_first: float = MAX_FIRST
    max_memory: float = MAX_MEMORY
    max_page: float = MAX_PAGE
    max_slower: float = MAX_SLOWER
    min_rate: float = MIN_RATE
    calm_pages: int = 300  # that are asked for before four files are made, and again after


def fill(sql: testbed.Sql, project: int, plan: Plan, base: int = 10_000_000) -> None:
    """Rows straight into the tables: a tenth as many finished tasks as answers, the others open."""
    for statement in FILL:
        sql.rows(statement.format(project=project, base=base, tasks=plan.tasks, done=plan.answers // 10))
    sql.rows("VACUUM ANALYZE")  # or autovacuum does so while files are measured, and its CPU counts as theirs


def first_byte(address: str) -> float:
    """Seconds until the first bytes of the body are there."""
    began = time.monotonic()
    with requests.get(address, stream=True, timeout=60) as answer:
        next(answer.raw.stream(1, decode_content=False))
        return time.monotonic() - began


def whole(address: str) -> tuple[float, bytes]:
    """Seconds, and the file. Readers before it who have left are counted until the server has noticed."""
    end = time.monotonic() + 60
    while True:
        began = time.monotonic()
        answer = requests.get(address, timeout=300)
        if answer.status_code != TOO_MANY or began > end:
            answer.raise_for_status()
            return time.monotonic() - began, answer.content
        time.sleep(0.1)


def _nothing() -> Spent:
    return Spent(0.0, 0.0, 0.0)


def copied(sql: testbed.Sql, project: int, as_json: bool, spent: Callable[[], Spent]) -> Taken:
    """What plain COPY takes for the answers of a project."""
    columns = ", ".join(f'"{field.name}"' for field in TASK_RUN.fields)
    rows = f"SELECT {columns} FROM task_run_record WHERE project_id = {project} ORDER BY project_id, id"
    text = f"SELECT row_to_json(t) FROM ({rows}) t" if as_json else rows
    with contextlib.closing(psycopg2.connect(sql.dsn, options="-c search_path=public,code -c jit=off")) as connection:
        before, began = spent(), time.monotonic()
        with connection.cursor() as cursor, open(os.devnull, "wb") as nowhere:
            cursor.execute("SET enable_seqscan = off")
            cursor.copy_expert(f"COPY ({text}) TO STDOUT (FORMAT csv)", nowhere)
        used = spent().since(before)
        return Taken(time.monotonic() - began, used.postgres + used.client)


def large(
    plan: Plan, server: LiveServer, sql: testbed.Sql, project: testbed.Project, spent: Callable[[], Spent]
) -> tuple[list[tuple[str, object]], list[str]]:
    """A file of many answers in each format, beside plain COPY of the same rows."""
    lines: list[tuple[str, object]] = []
    wrong: list[str] = []
    for format_, max_memory in MAX_LARGE.items():
        address = f"{server.url}/api/project/{project.id}/export?type=task_run&format={format_}&info=columns"
        plain = [copied(sql, project.id, format_ == "ndjson", spent)]
        before, had, began = memory(server)[0], spent(), time.monotonic()
        with requests.get(
            address,
            stream=True,
            timeout=600,
            headers={"Accept-Encoding": "identity", "Authorization": project.owner.key},
        ) as answer:
            first, size, n = None, 0, 0
            for part in answer.raw.stream(1_000_000, decode_content=False):
                first = first or time.monotonic() - began
                size, n = size + len(part), n + part.count(b"\n")
        seconds, grown, used = time.monotonic() - began, memory(server)[1] - before, spent().since(had)
        taken = Taken(seconds, used.server)
        plain.append(copied(sql, project.id, format_ == "ndjson", spent))
        alone = Taken(statistics.mean(each.clock for each in plain), statistics.mean(each.cpu for each in plain))
        rate = taken.rate(alone)
        summary = f"first byte {1000 * (first or 0):.0f} ms, {size / 1e6:.0f} MB in {taken.clock:.1f} s (CPU: crowdd"
        summary += f" {used.crowdd:.1f} s, PostgreSQL {used.postgres:.1f} s), memory +{grown / 1e6:.0f} MB; COPY alone"
        summary += f" {alone.clock:.1f} s (CPU {alone.cpu:.1f} s): {rate:.2f} of its rate"
        lines.append((f"{plan.crowd:,} answers as {format_}, alone", summary))
        if taken.seconds > MAX_SECONDS * max(plan.crowd / 1e6, 0.1):
            wrong.append(f"{format_} takes {taken.seconds:.1f} s")
        if first is None or (first > plan.max_first and format_ != "parquet"):
            wrong.append(f"the first byte of {format_} after {first} s")
        if grown > max_memory:
            wrong.append(f"memory grew by {grown / 1e6:.0f} MB for {format_}")
        if rate < plan.min_rate and format_ != "parquet":
            wrong.append(f"{format_} comes at {rate:.2f} of the rate of COPY")
        if format_ != "parquet" and abs(n - plan.crowd) > 1:
            wrong.append(f"{n} lines of {format_} instead of {plan.crowd}")
    return lines, wrong


def stand_alone(
    plan: Plan, server: LiveServer, project: testbed.Project, spent: Callable[[], Spent]
) -> tuple[list[tuple[str, object]], list[str]]:
    """Tables with the columns of tasks, and a workbook."""
    took = {}
    lines: list[tuple[str, object]] = []
    wrong: list[str] = []
    for query in ("format=csv&info=columns", "format=csv&info=columns&task=columns", "format=xlsx&task=columns"):
        before, had, began = memory(server)[0], spent(), time.monotonic()
        address = f"{server.url}/api/project/{project.id}/export?type=task_run&{query}"
        headers = {"Accept-Encoding": "identity", "Authorization": project.owner.key}
        with requests.get(address, stream=True, timeout=1200, headers=headers) as answer:
            size = sum(map(len, answer.raw.stream(1_000_000, decode_content=False)))
        clock, used, grown = time.monotonic() - began, spent().since(had), memory(server)[1] - before
        took[query] = Taken(clock, used.server).seconds
        summary = f"{size / 1e6:.0f} MB in {clock:.1f} s (CPU: crowdd {used.crowdd:.1f} s, PostgreSQL"
        lines.append(
            (f"{plan.crowd:,} answers, {query}", f"{summary} {used.postgres:.1f} s), memory +{grown / 1e6:.0f} MB")
        )
        if "xlsx" in query and grown > MAX_WORKBOOK:
            wrong.append(f"memory grew by {grown / 1e6:.0f} MB for a workbook")
    plain, beside, workbook = took.values()
    if beside > MAX_BESIDE * plain:
        wrong.append(f"with columns of tasks a file takes {beside / plain:.2f} times as long")
    if workbook > MAX_WORKBOOK_SECONDS * max(plan.crowd / 1e6, 0.1):
        wrong.append(f"a workbook takes {workbook:.1f} s")
    return lines, wrong


def rude(sql: testbed.Sql, address: str, answers: int) -> list[str]:
    """Somebody reads a little and leaves: most of the answers are never read from the table."""
    before = _read(sql)
    answer = requests.get(address, stream=True, timeout=60)
    next(answer.raw.stream(1000, decode_content=False))
    answer.close()
    return ["rows are still read for a client that has gone"] if _read(sql) - before > answers / 2 else []


def crowd(
    plan: Plan, server: LiveServer, short_name: str, other: testbed.Project
) -> tuple[list[tuple[str, object]], list[str]]:
    """Four files at once, two as tables and two as JSON, from two networks.

    A page of the project meanwhile, and newtask of another one, which has tasks left.
    """
    times = Times()
    at = f"{server.url}/project/{short_name}/tasks/export?type=task_run"
    asked = {
        "page": f"{server.url}/project/{short_name}/",
        "newtask": f"{server.url}/api/project/{other.id}/newtask",
    }
    with requests.Session() as session:
        _ask(session, asked, Times(), lambda n: n < 50)  # what is only done once
        _ask(session, asked, times, lambda n: n < plan.calm_pages, "calm")
        before, began = memory(server)[1], time.monotonic()
        loads = [_download(f"{at}&format={format_}", f"198.51.100.{n}") for n in (1, 2) for format_ in ("csv", "json")]
        _ask(session, asked, times, lambda n: any(load.poll() is None for load in loads), "loaded")
        seconds, grown = time.monotonic() - began, memory(server)[1] - before
        _ask(session, asked, times, lambda n: n < plan.calm_pages, "calm")
    lines = [load.communicate()[0].split() for load in loads]
    wrong = [f"a file has {n} lines" for (n,) in lines if abs(int(n) - plan.crowd) > 2]
    slower = {
        name: times.percentile(f"{name}, loaded", percent) / times.percentile(f"{name}, calm", percent)
        for name, percent in (("page", 50), ("newtask", 99))
    }
    wrong += [
        f"the {name} takes {factor:.2f} times as long while files are made"
        for name, factor in slower.items()
        if factor > plan.max_slower
    ]
    if grown > plan.max_memory:
        wrong.append(f"memory grew by {grown / 1e6:.0f} MB for four files")
    time_lines = [(f"meanwhile: {name}", figures) for name, figures in times.lines()]
    whole = f"{seconds:.0f} s, memory +{grown / 1e6:.0f} MB, the page {slower['page']:.2f} times as long (median)"
    whole += f", newtask {slower['newtask']:.2f} times (p99)"
    return [(f"four files of {plan.crowd:,} answers at once", whole), *time_lines], wrong


def _ask(
    session: requests.Session, asked: dict[str, str], times: Times, goes_on: Callable[[int], bool], name: str = ""
) -> None:
    """Asks for each address again and again; ``times`` are by its name and this one."""
    turns = 0
    while goes_on(turns):
        for what, address in asked.items():
            with times.of(f"{what}, {name}"):
                assert session.get(address, timeout=60).status_code == 200
        turns += 1
        time.sleep(THINK)


def _download(address: str, network: str) -> subprocess.Popen[str]:
    """A file on its way to a program beside this one, which says how many lines it has. A broken one has none."""
    command = f"set -o pipefail; curl -sf -H 'X-Forwarded-For: {network}' '{address}' | wc -l || echo -1"
    return subprocess.Popen(["bash", "-c", command], stdout=subprocess.PIPE, text=True)


def _read(sql: testbed.Sql) -> int:
    """How many answers have been read from the table, once nobody has asked for any for a second."""
    newest, since, end = 0.0, time.monotonic(), time.monotonic() + 30
    while time.monotonic() < min(since + 1, end):
        time.sleep(0.1)
        if (now := _last_asked(sql)) > newest:
            newest, since = now, time.monotonic()
    _end_sessions(sql)
    return int(
        sql.one("SELECT coalesce(idx_tup_fetch, 0) + seq_tup_read FROM pg_stat_user_tables WHERE relname = 'task_run'")
    )


_OTHERS = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"


def _last_asked(sql: testbed.Sql) -> float:
    """When a session last began to read answers; 0: none of them has."""
    return float(sql.one(f"SELECT coalesce(max(extract(epoch FROM query_start)), 0) {_OTHERS} AND query ~ 'task_run'"))


def _end_sessions(sql: testbed.Sql) -> None:
    """A session that has nothing to do tells what it has read after ten seconds, or when it ends."""
    ended = sql.rows(f"SELECT pid, pg_terminate_backend(pid) {_OTHERS} AND state = 'idle'")
    pids = [row["pid"] for row in ended]
    end = time.monotonic() + 30
    while sql.one(f"SELECT count(*) {_OTHERS} AND pid = ANY (%s)", [pids]) and time.monotonic() < end:
        time.sleep(0.05)


def files(plan: Plan, server: LiveServer, sql: testbed.Sql, at: str) -> tuple[list[tuple[str, object]], list[str]]:
    """What leaves."""
    lines: list[tuple[str, object]] = []
    wrong: list[str] = []
    for format_ in ("json", "csv"):
        address = f"{at}/export?type=task_run&format={format_}"
        first_byte(address)
        before, _ = memory(server)
        first = statistics.median(first_byte(address) for _ in range(5))
        seconds, content = whole(address)
        grown = memory(server)[1] - before
        rows = len(_rows(format_, content))
        sizes = f"{len(content) / 1e6:.1f} MB in {seconds:.1f} s, memory +{grown / 1e6:.0f} MB"
        lines.append((f"{rows:,} answers as {format_}", f"first byte {1000 * first:.0f} ms, {sizes}"))
        if rows != plan.answers:
            wrong.append(f"{rows} rows of {format_} instead of {plan.answers}")
        if first > plan.max_first:
            wrong.append(f"the first byte of {format_} after {first:.2f} s")
        if grown > plan.max_memory:
            wrong.append(f"memory grew by {grown / 1e6:.0f} MB for {format_}")
    return lines, wrong + rude(sql, f"{at}/export?type=task_run&format=json", plan.answers)


def _rows(format_: str, content: bytes) -> set[Any]:
    if format_ == "json":
        return {row["id"] for row in requests.models.complexjson.loads(content)}
    return {row["id"] for row in csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline=""))}


def pages(plan: Plan, at: str, key: str) -> tuple[list[tuple[str, object]], list[str]]:
    """Pages of the list."""
    last, done = plan.tasks // 10, plan.answers // 100
    asked = {
        "first": "", "page 500": f"/{min(500, last)}", "in the middle": f"/{last // 2}", "last": f"/{last}",
        "falling": "?desc=1", "finished": "?state=completed", "finished, last": f"/{done}?state=completed",
        "open": "?state=ongoing", "open, far": f"/{(last - done) // 2}?state=ongoing",
        "words that no task has": "?words=nowhere-at-all",
        "by priority": "?orderby=priority_0&desc=1",
        "by priority, far": f"/{min(1000, last)}?orderby=priority_0",
    }  # fmt: skip
    lines: list[tuple[str, object]] = []
    wrong = []
    for name, query in asked.items():
        taken = []
        for _ in range(5):
            began = time.monotonic()
            headers = {"Accept": "application/json"} | ({"Authorization": key} if "orderby" in query else {})
            answer = requests.get(f"{at}/browse{query}", headers=headers, timeout=60)
            taken.append(time.monotonic() - began)
            has_tasks = answer.status_code == 200 and (answer.json()["tasks"] or name.startswith("words"))
            assert has_tasks, (name, answer.text[:300])
        middle = statistics.median(taken)
        lines.append((f"list of {plan.tasks:,}, {name}", f"{1000 * middle:.0f} ms"))
        if middle > plan.max_page:
            wrong.append(f"the list, {name}: {middle:.2f} s")
    return lines, wrong


def play(
    plan: Plan, dsn: str, place: Path, postmaster: int = 0, settled: Callable[[], None] = lambda: None
) -> tuple[list[tuple[str, object]], list[str]]:
    """The lines of the table, and what is violated.

    ``postmaster``: whose CPU counts, if any does. ``settled`` returns when what was filled in is on the disk.
    """
    sql = testbed.Sql(dsn)
    with testbed.crowdd(dsn, place) as server:
        project = testbed.project(server, tasks=1, n_answers=1)
        fill(sql, project.id, plan)
        at = f"{server.url}/project/{project.short_name}/tasks"
        lines, wrong = files(plan, server, sql, at)
        more, worse = pages(plan, at, project.owner.key)
        crowded = testbed.project(server, tasks=1, n_answers=1)
        fill(sql, crowded.id, attrs.evolve(plan, answers=plan.crowd, tasks=plan.crowd // 10), base=100_000_000)
        settled()
        assert server.process is not None
        spent = Cpu(server.process.pid, postmaster).spent if postmaster else _nothing
        single, worst = large(plan, server, sql, crowded, spent)
        tables, beside = stand_alone(plan, server, crowded, spent)
        maximum, crowds = crowd(plan, server, crowded.short_name, project)
    return lines + more + single + tables + maximum, wrong + worse + worst + beside + crowds


def main() -> int:
    """Runs it and prints a table; 1 when a gate is broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=int, default=Plan().answers)
    parser.add_argument("--tasks", type=int, default=Plan().tasks)
    parser.add_argument("--crowd", type=int, default=Plan().crowd)
    options = parser.parse_args()
    with testbed.folder() as place, testbed.postgres(place) as database:
        lines, wrong = play(
            Plan(options.answers, options.tasks, options.crowd),
            database.dsn,
            place,
            database.pid,
            database.checkpoint,
        )
    print(table("Exports and lists", lines, wrong))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
