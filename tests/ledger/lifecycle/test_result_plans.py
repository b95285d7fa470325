"""The last result of a task is found by its key, also where plans are made while a site is new and has few results."""

from __future__ import annotations

import json

import pytest
from support.ledger import Ledger

RESULTS = """
INSERT INTO result (project_id, task_id, version, last_version, task_run_ids, created, consensus, consensus_hash, agreement, n_compared, reason)
SELECT %(p)s, n, 1, true, '{}', clock(), '"yes"', 1, 0.5, 2, 'sure' FROM generate_series(1, %(n)s) n"""
LOOK = "EXPLAIN (FORMAT JSON) SELECT id FROM result WHERE project_id = %(p)s AND task_id = 1 AND last_version"


@pytest.mark.usefixtures("planned_again")
@pytest.mark.parametrize("results", [1, 30, 300])
def test_last_result_is_found_by_its_key_in_a_new_site(ledger: Ledger, results: int) -> None:
    ledger.check = False
    project = ledger.project()
    ledger.run(RESULTS, p=project, n=results)
    ledger.run("SET enable_seqscan = off")  # what is chosen of a table that fits a page is kept while it grows
    (plan,) = ledger.value(LOOK, p=project)
    ledger.run("RESET enable_seqscan")
    assert "result_project_id_task_id_version_key" in json.dumps(plan)
