"""Tasks that people skip: how many did, and what becomes of a task that many skip."""

from __future__ import annotations

from psycopg2.extras import Json
from support.checks.invariants import invariants
from support.checks.shows import shows
from support.ledger import Meanwhile


def skip(ledger, project, task, actor, reason="none"):
    return ledger.change("SELECT count_skip(%(p)s, %(a)s, %(t)s, %(r)s, clock())", p=project, a=actor, t=task, r=reason)


def limited(ledger, limit, **about):
    project = ledger.project(**about)
    ledger.run("UPDATE project SET info = info || %(i)s WHERE id = %(p)s", p=project, i=Json({"skip_limit": limit}))
    return project


def skips(ledger, task):
    rows = ledger.rows("SELECT reason, n FROM task_skip WHERE task_id = %(t)s ORDER BY reason", t=task)
    return {row["reason"]: row["n"] for row in rows}


@shows("lease-skip")
def test_a_person_counts_once_and_a_task_that_many_skip_is_retired(ledger):
    project = limited(ledger, 3, tasks=2, n=2)
    task = ledger.take(project, "u:1")
    assert [skip(ledger, project, task, actor) for actor in ("u:1", "u:1", "u:2")] == [False] * 3
    assert skip(ledger, project, task, "u:3", "broken") is True
    assert skips(ledger, task) == {"none": 2, "broken": 1}
    assert ledger.value("SELECT reason FROM retirement WHERE task_id = %(t)s", t=task) == "skipped"
    assert ledger.take(project, "u:4") != task
    assert skip(ledger, project, task, "u:5") is False
    ledger.reopen(project, [task])  # somebody has looked at it
    assert skips(ledger, task) == {}
    assert skip(ledger, project, task, "u:1") is False


def test_without_a_limit_and_with_all_its_answers_a_task_stays(ledger):
    for limit in (None, 0, 1):
        project = limited(ledger, limit, tasks=1, n=1)
        task = ledger.contribute(project, "u:1")
        assert skip(ledger, project, task, "u:2") is False
        assert ledger.ledger(task)["done"] and not ledger.ledger(task)["retired"]
    open_ = limited(ledger, None, tasks=1, n=1)
    (task,) = ledger.tasks(open_)
    assert skip(ledger, open_, task, "u:2") is False
    assert skip(ledger, open_, task + 1000, "u:2") is False


def test_last_skip_and_last_answer_at_once(ledger, beside):
    project = limited(ledger, 1, tasks=1, n=1)
    task = ledger.take(project, "u:1")
    here, other = beside(), beside()
    here.answer(project, "u:1", task)
    skipping = Meanwhile(skip, other, project, task, "u:2")
    ledger.wait_until_blocked(other)
    here.commit()
    assert skipping.result() is False
    other.commit()
    assert invariants(ledger.connection, 0) == []
    assert ledger.ledger(task)["done"] and not ledger.ledger(task)["retired"]


def test_giving_back_what_one_has_answered_takes_no_lease_of_a_linked_volunteer(ledger):
    project = ledger.project(tasks=1, n=3)
    task = ledger.take(project, "c:tab")
    ledger.contribute(project, "u:1")
    ledger.link("c:tab", "u:1")
    assert not ledger.release(project, "u:1", task)
    ledger.run("SELECT unlink_all('u:1')")
    assert ledger.answer(project, "u:1", task).state == "duplicate"
    assert ledger.answer(project, "c:tab", task).state == "counted"


def test_skipping_what_a_linked_volunteer_has_skipped_leaves_them_their_skip(ledger):
    project = ledger.project(tasks=2, n=2)
    skipped = ledger.take(project, "u:1")
    ledger.release(project, "u:1", skipped, skip=True)
    ledger.contribute(project, "u:1")
    ledger.link("c:tab", "u:1")
    assert not ledger.release(project, "c:tab", skipped, skip=True)
    assert ledger.take(project, "u:1") == skipped
