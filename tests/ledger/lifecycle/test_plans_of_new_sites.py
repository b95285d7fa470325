"""Rows are found by their keys, also where plans are made while a site is new and has few rows."""

from __future__ import annotations

import json

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


@pytest.mark.usefixtures("planned_again")
@pytest.mark.parametrize("results", [1, 30, 300])
def test_rows_are_found_by_their_keys_in_a_new_site(ledger: Ledger, results: int) -> None:
    ledger.check = False
    project = ledger.project(tasks=results)
    ledger.run(RESULTS, p=project, n=results)
    ledger.run("SET enable_seqscan = off")  # what is chosen of a table that fits a page is kept while it grows
    plans = {key: json.dumps(ledger.value(f"EXPLAIN (FORMAT JSON) {look}", p=project)) for key, look in LOOKS.items()}
    ledger.run("RESET enable_seqscan")
    assert [key for key, plan in plans.items() if f'"{key}"' not in plan] == []
