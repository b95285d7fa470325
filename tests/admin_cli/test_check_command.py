"""``crowdctl check``: silent when all is right, in words or JSON when not."""

from __future__ import annotations

import pytest
from support.ledger import Ledger


@pytest.fixture
def project(dsn, key):
    ledger = Ledger(dsn)
    made = ledger.project(tasks=1, n=1)
    ledger.contribute(made, "u:1")
    ledger.fold()
    ledger.close()
    return made


def test_it_is_silent_when_all_is_right(crowdctl, project):
    ended = crowdctl("check")
    assert (ended.status, ended.output, ended.complaint) == (0, "", "")
    assert crowdctl.json("check") == []


def test_what_differs_is_printed_and_repaired_when_asked(crowdctl, rows, project):
    rows("UPDATE project_stat SET completed = 4")
    ended = crowdctl("check")
    sentence = f"project_stat.completed of project {project}: 4 instead of 1"
    assert (ended.status, ended.output) == (1, f"{sentence}\n")
    (difference,) = crowdctl("check", "--json").json
    assert difference == {
        "check": "figures of projects", "project_id": project, "what": "project_stat.completed", "key": "",
        "stored": 4, "counted": 1, "repaired": False, "more": 0,
    }  # fmt: skip
    ended = crowdctl("check", "--repair")
    assert (ended.status, ended.output) == (0, f"{sentence}, repaired\n")
    assert crowdctl.json("check") == []


def test_a_change_of_the_audit_log_is_named_and_stays(crowdctl, rows, key):
    crowdctl.json("jobs", "run", "chain_audit")
    rows(
        "INSERT INTO audit (at, user_name, via, action, kind) SELECT clock(), 'ada', 'web', 'update', 'project' FROM generate_series(1, 3)"
    )
    crowdctl.json("jobs", "run", "chain_audit")
    assert crowdctl.json("check") == []
    (edited,) = rows("UPDATE audit SET action = 'delete' WHERE position = 2 RETURNING id")
    ended = crowdctl("check", "--repair")
    sentence = f"audit log at position 2, row {edited['id']}: the row was changed, or it was added later"
    assert (ended.status, ended.output) == (1, f"{sentence}\n")
    (difference,) = crowdctl("check", "--json").json
    assert difference == {"check": "audit log", "id": edited["id"], "position": 2, "reason": "changed"}
    crowdctl.json("jobs", "run", "verify_audit")
    (job,) = [job for job in crowdctl.json("jobs", "list") if job["name"] == "verify_audit"]
    assert sentence in job["words"]
