"""A page of a list touches the same in a project with a thousand answers and in one with a hundred thousand."""

from __future__ import annotations

import contextlib

import pytest
import pytest_twisted
from support.checks.explained import Explained
from support.ledger import Ledger

from bench.support.filled import Filling, fill
from bench.support.testbed import Sql
from crowdd.core.records import listing_statements
from crowdd.http import queries
from crowdd.kernel.requester import Requester
from crowdd.kinds import KINDS

SIZES = {"small": Filling(250, 1_000, n_answers=5), "large": Filling(20_000, 100_000, n_answers=5)}
SLACK = 8  # pages: rows begin and end in the middle of one
LISTS = ("task", "taskrun", "result")


async def touched(explained: Explained, kind: str, **asked: object) -> int:
    """Pages that a list of 100 looks at."""
    words = {name: str(value) for name, value in {**asked, "limit": 100}.items()}
    with contextlib.suppress(IndexError):  # there are no rows
        query = queries.parse_query(KINDS[kind], words, Requester())
        await listing_statements.select_text(explained, query, Requester(), "http://here", b"")
    return explained.pages


@pytest.mark.proof
@pytest_twisted.ensureDeferred
async def test_a_page_of_100_costs_the_same_in_a_large_project(pool, dsn):
    ledger, sql = Ledger(dsn), Sql(dsn)
    projects = {name: ledger.project(tasks=1, n=1) for name in SIZES}
    for name, project in projects.items():
        fill(sql, project, SIZES[name])
    ledger.close()
    sql.rows(
        "INSERT INTO result (project_id, task_id, created, version, last_version, task_run_ids)"
        " SELECT project_id, id, clock(), 1, true, '{}' FROM task"
    )
    sql.rows("VACUUM ANALYZE")
    explained, costs = Explained(pool), {}
    for kind in LISTS:
        table = {"taskrun": "task_run"}.get(kind, kind)
        for name, project in projects.items():
            middle = sql.one(
                f"SELECT percentile_disc(0.3) WITHIN GROUP (ORDER BY id) FROM {table} WHERE project_id = %s", [project]
            )
            costs[kind, "first", name] = await touched(explained, kind, project_id=project)
            costs[kind, "middle", name] = await touched(explained, kind, project_id=project, last_id=middle)
    for kind, place, _ in [key for key in costs if key[2] == "small"]:
        small, large = costs[kind, place, "small"], costs[kind, place, "large"]
        assert 0 < large <= 1.1 * small + SLACK, costs
