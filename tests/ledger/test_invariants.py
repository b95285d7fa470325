"""The rules notice when they are broken: each statement below breaks one."""

from __future__ import annotations

import pytest
from support.checks.invariants import invariants

BREAKING = {
    "I1 answers": "UPDATE task_ledger SET answers = answers + 1 WHERE n_answers = 2 AND answers = 0",
    "I1 nothing": "INSERT INTO expired_lease SELECT project_id, 'u:9', 99999, now(), now(), false FROM project_ledger",
    "I2": "UPDATE task_ledger SET n_answers = 1, done = true WHERE answers = 1 AND leases = 1",
    "I3 no lease": "INSERT INTO expired_lease SELECT project_id, actor, task_id, now(), now(), false FROM task_run",
    "I3 one run": "ALTER TABLE task_run DROP CONSTRAINT one_run_per_person;"
    " INSERT INTO task_run (project_id, task_id, actor, created, finish_time, counted, info)"
    " SELECT project_id, task_id, actor, created, finish_time, false, info FROM task_run LIMIT 1",
    "I4 done": "UPDATE task_ledger SET done = false WHERE done",
    "I4 a done": "UPDATE result SET task_run_ids = task_run_ids[1:1]",
    "I4 versions": "UPDATE result SET version = 3",
    "I5 an event": "UPDATE event SET kind = 'result_updated'",
    "I5 one event": "INSERT INTO event (project_id, kind, task_id, result_id, at)"
    " SELECT project_id, kind, task_id, result_id, at FROM event",
    "I6": "UPDATE task_ledger SET n_answers = 3, done = false WHERE uncounted > 0",
    "I7": "UPDATE position SET k2 = 99999 WHERE actor = 'u:1' AND scan LIKE 'priority/_'",
    "figures": "UPDATE stat_delta SET counted = counted + 1",
    "answers of each volunteer": "UPDATE stat_delta SET actor = 'u:8' WHERE actor = 'u:3'",
    "scores": "UPDATE stat_delta SET user_id = 8 WHERE user_id = 3",
    "answers of each hour": "UPDATE stat_delta SET hour = hour - interval '1 hour'",
    "completed": "UPDATE stat_delta SET completed = completed + 1",
}


@pytest.fixture
def lively(ledger):
    """A project with a done task that has a late answer, one half done, and one that nobody has seen."""
    project = ledger.project(tasks=3, n=2)
    done, half, _ = ledger.tasks(project)
    for actor in ("u:1", "u:2"):
        ledger.take(project, actor)
    ledger.pass_time(3601)
    for actor in ("u:3", "c:4"):
        ledger.contribute(project, actor)
    assert ledger.answer(project, "u:2", done).state == "late"
    assert ledger.contribute(project, "u:3") == half
    assert ledger.take(project, "u:1") == half
    return ledger


@pytest.mark.parametrize("rule", BREAKING)
def test_every_rule_sees_when_it_is_broken(lively, rule):
    assert invariants(lively.connection) == []
    lively.run(BREAKING[rule])
    assert [violation for violation in invariants(lively.connection) if violation.startswith(rule)]
