"""Rows are found by their keys, also where plans are made while a site is new and has few rows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from support.ledger import Ledger

RESULTS = """
INSERT INTO result (project_id, task_id, version, last_version, task_run_ids, created, consensus, consensus_hash, agreement, n_compared, reason)
SELECT %(p)s, n, 1, true, '{}', clock(), '"yes"', 1, 0.5, 2, 'sure' FROM generate_series(1, %(n)s) n"""
LOOKS = {
    "result_project_id_task_id_version_key": "SELECT id FROM result WHERE project_id = %(p)s AND task_id = 1 AND last_version",
    "task_ledger_pkey": "SELECT leases FROM task_ledger WHERE project_id = %(p)s AND task_id = 1",
    "one_run_per_person": "SELECT id FROM task_run WHERE project_id = %(p)s AND task_id = 1 AND actor = 'u:1'",
}


@pytest.fixture
def new_site(postgres: Any) -> Iterator[Ledger]:
    """A database of its own: what others leave behind in the pages of a table changes its plans."""
    dsn = postgres.make()
    ledger = Ledger(dsn)
    yield ledger
    ledger.close()
    postgres.drop(dsn)


@pytest.mark.parametrize("results", [1, 30, 300])
def test_rows_are_found_by_their_keys_in_a_new_site(new_site: Ledger, results: int) -> None:
    project = new_site.project(tasks=results)
    new_site.run(RESULTS, p=project, n=results)
    new_site.run("SET enable_seqscan = off")  # what is chosen of a table that fits a page is kept while it grows
    plans = {key: json.dumps(new_site.value(f"EXPLAIN (FORMAT JSON) {look}", p=project)) for key, look in LOOKS.items()}
    assert [key for key, plan in plans.items() if f'"{key}"' not in plan] == []
