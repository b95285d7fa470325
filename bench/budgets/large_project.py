"""What the pages of a large project take: its results and its tables, as HTML for its owner.

    python -m bench.budgets.large_project [--tasks 100000] [--n-answers 5] [--requests 10] [--values 4] [--fields 1]

Each task has a place and a date, and each answer a value for every answer field. One server and its PostgreSQL, one
request after the other. Gates are on the CPU of crowdd and PostgreSQL together, on average: 150 ms for a page of
results, 100 ms for a table. The times that a client waits are shown beside them.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time

from bench.support import testbed
from bench.support.cpu import Cpu
from bench.support.figures import table

MAX_MS = {"results": 150, "tasks": 100, "volunteers": 100}
PAGES = (
    "results",
    "results?orderby=least_agreed",
    "results?min_agreement=50&max_agreement=74",
    "results?answer=none",
    "results?answer=%22value+1%22",
    "tasks/browse?per_page=100",
    "tasks/browse/500",
    "tasks/browse?orderby=agreement&desc=1&per_page=100",
    "tasks/browse?max_agreement=49",
    "tasks/browse?state=completed&orderby=n_task_runs",
    "volunteers",
)

# Answers to a task differ by its number: all agree in half of the tasks, all but one in a third, nobody in the others.
_ROWS = "FROM generate_series(1, {tasks}) i"
_FILL = (
    "INSERT INTO task (id, project_id, created, info)"
    " SELECT {base} + i, {project}, now(), jsonb_build_object('title', 'Sighting ' || i,"
    " 'image', 'https://example.org/' || i || '.jpg',"
    " 'latitude', round((sin(i) * 60)::numeric, 4), 'longitude', round((cos(i * 1.7) * 170)::numeric, 4),"
    " 'date', to_char(date '1900-01-01' + i % 20000, 'YYYY-MM-DD')) " + _ROWS,
    "INSERT INTO task_ledger (project_id, task_id, ordinal, n_answers, answers, done)"
    " SELECT {project}, {base} + i, i + 1, {n}, {n}, true " + _ROWS,
    "INSERT INTO task_run (project_id, task_id, actor, created, finish_time, counted, info)"
    " SELECT {project}, {base} + i, 'c:' || (i + k) % 2000, now(), now(), true, jsonb_build_object('answer',"
    " 'value ' || CASE WHEN i % 6 < 3 OR k > 1 AND i % 6 < 5 THEN i % {values} ELSE {values} + k END)"
    " || (SELECT coalesce(jsonb_object_agg('f' || f, 'value ' || (i + f + (i * k) % 3) % {values}), '{{}}')"
    " FROM generate_series(2, {fields}) f) " + _ROWS + ", generate_series(1, {n}) k",
    "INSERT INTO result (project_id, task_id, created, version, last_version, task_run_ids,"
    " consensus, consensus_hash, n_compared, agreement, confidence, further)"
    " SELECT {project}, {base} + i, now(), 1, true,"
    " ARRAY(SELECT id FROM task_run WHERE project_id = {project} AND task_id = {base} + i), c.* "
    + _ROWS + ", consensus_of({project}, {base} + i) c",
    "UPDATE project_ledger SET n_ordinals = {tasks} + 1 WHERE project_id = {project}",
    *(f"SELECT {name}({{project}}, clock())" for name in
      ("repair_outcomes", "repair_volunteers", "repair_recent", "repair_hours", "repair_figures", "repair_bytes")),
    "VACUUM ANALYZE",
)  # fmt: skip
_ANSWERS = (
    "UPDATE project SET info = info || jsonb_build_object('answers', (SELECT jsonb_agg(jsonb_build_object("
    "'name', 'field ' || f, 'at', CASE f WHEN 1 THEN '/answer' ELSE '/f' || f END, 'type', 'label') ORDER BY f)"
    " FROM generate_series(1, {fields}) f)) WHERE id = {project}",
)


def measure(project: testbed.Project, cpu: Cpu, page: str, requests: int) -> list[float]:
    """Milliseconds: what the client waits (median), CPU of crowdd and of PostgreSQL (means). The first is left out."""
    rows: list[tuple[float, float, float]] = []
    for _ in range(requests + 1):
        before, began = cpu.spent(), time.monotonic()
        headers = {"Content_Type": "text/html", "Accept": "text/html"}
        answer = project.owner.ask("GET", f"/project/{project.short_name}/{page}", **headers)
        took, spent = time.monotonic() - began, cpu.spent().since(before)
        assert answer.status == 200 and answer.text.startswith("<!"), (page, answer.status, answer.text[:200])
        rows.append((took * 1000, spent.crowdd * 1000, spent.postgres * 1000))
    return [
        statistics.mean(column) if nth else statistics.median(column)
        for nth, column in enumerate(zip(*rows[1:], strict=True))
    ]


def main() -> int:
    """Runs it and prints a table; 1 when a gate is broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=100_000)
    parser.add_argument("--n-answers", type=int, default=5)
    parser.add_argument("--requests", type=int, default=10)
    parser.add_argument("--fields", type=int, default=1, help="answer fields that the project declares")
    parser.add_argument("--values", type=int, default=4, help="different answers; as many as tasks: free texts")
    options = parser.parse_args()
    lines: list[tuple[str, object]] = []
    wrong: list[str] = []
    with testbed.folder() as place, testbed.postgres(place) as database, testbed.crowdd(database.dsn, place) as server:
        sql, cpu = testbed.Sql(database.dsn), Cpu(server.process.pid, database.pid)
        project = testbed.project(server, tasks=1, n_answers=1)
        words = {
            "base": 10_000_000,
            "project": project.id,
            "tasks": options.tasks,
            "n": options.n_answers,
            "values": options.values,
            "fields": options.fields,
        }
        for statement in (*_ANSWERS, *_FILL):
            sql.rows(statement.format(**words))
        for page in PAGES:
            took, web, postgres = measure(project, cpu, page, options.requests)
            lines.append((page, f"{took:.0f} ms; CPU: crowdd {web:.0f} ms, PostgreSQL {postgres:.0f} ms"))
            maximum = MAX_MS[page.partition("?")[0].partition("/")[0]]
            wrong += [f"{page}: {web + postgres:.0f} ms of CPU"] if web + postgres > maximum else []
    print(table("Pages of a large project", lines, wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
