"""Asks and answers of many volunteers in one transaction."""

from __future__ import annotations

import json

import pytest
from psycopg2 import errors
from support.checks.invariants import invariants
from support.ledger import Meanwhile

ASK = "SELECT nth, state, coalesce(tasks, '{}') AS tasks FROM ask_many(%(asks)s, %(wait)s, clock())"
ANSWER = "SELECT * FROM submit_many(%(answers)s, %(hurry)s, clock())"


def ask(ledger, *asks, wait=False):
    """What each is told, in their order; an ask is a volunteer and a project, and what else it says."""
    blank = {"me": None, "is_admin": False, "unlocked": [], "maximum": 1, "skip": 0, "scan": "priority"}
    rows = ledger.rows(ASK, asks=json.dumps([{**blank, **one} for one in asks]), wait=wait)
    return [(row["state"], row["tasks"]) for row in sorted(rows, key=lambda row: row["nth"])]


def submit(ledger, *answers, hurry=True):
    """What becomes of each answer, a triple of project, volunteer and task."""
    body = [{"project": p, "actor": a, "task": t, "info": {"by": a}} for p, a, t in answers]
    rows = ledger.rows(ANSWER, answers=json.dumps(body), hurry=hurry)
    return [row["state"] for row in sorted(rows, key=lambda row: row["nth"])]


def test_each_is_handed_what_he_would_be_handed_alone(ledger):
    project, other = ledger.project(tasks=3, n=1), ledger.project(tasks=1, n=5)
    first, second, third = ledger.tasks(project)
    (only,) = ledger.tasks(other)
    asks = [{"actor": actor, "project": project} for actor in ("u:3", "u:1", "u:3", "u:2", "u:4")]
    asks += [{"actor": "u:1", "project": other, "maximum": 5}, {"actor": "u:1", "project": 999}]
    assert ask(ledger, *asks) == [
        ("ok", [first]), ("ok", [second]), ("ok", [first]), ("ok", [third]), ("wait", []), ("ok", [only]), ("no project", []),
    ]  # fmt: skip


def test_a_refused_answer_is_not_its_neighbours_fault(ledger):
    project = ledger.project(tasks=3, n=2)
    first, second, third = ledger.tasks(project)
    for actor in ("u:1", "u:2"):
        assert ledger.take(project, actor) == first
    ledger.take(project, "u:3")
    states = submit(
        ledger,
        (project, "u:3", second), (project, "u:2", first), (project, "u:9", third), (project, "u:1", 999),
        (project, "u:1", first), (project, "u:2", first),
    )  # fmt: skip
    assert states == ["counted", "counted", "no lease", "no task", "counted", "duplicate"]
    assert invariants(ledger.connection) == []
    assert [row["info"] for row in ledger.rows("SELECT info FROM task_run WHERE task_id = %(t)s ORDER BY id", t=first)] == [
        {"by": "u:2"}, {"by": "u:1"},
    ]  # fmt: skip


def test_an_answer_of_null_is_an_answer(ledger):
    project = ledger.project(tasks=1)
    task = ledger.take(project, "u:1")
    body = json.dumps([{"project": project, "actor": "u:1", "task": task, "info": None}])
    ledger.rows(ANSWER, answers=body, hurry=False)
    assert ledger.rows("SELECT info::text AS info FROM task_run") == [{"info": "null"}]


def test_a_batch_in_a_hurry_gives_up_where_somebody_holds_a_task(ledger, beside):
    project = ledger.project(tasks=2, n=2)
    first, second = ledger.tasks(project)
    ledger.take(project, "u:1"), ledger.hold(project, "u:2", second)
    holding = beside()
    holding.hold(project, "u:9", first)
    with pytest.raises(errors.LockNotAvailable):
        submit(ledger, (project, "u:2", second), (project, "u:1", first))
    assert ledger.value("SHOW lock_timeout") == "0", "only its own transaction is in a hurry"
    assert submit(ledger, (project, "u:2", second)) == ["counted"], "all or nothing: it was not stored before"
    patient = beside()
    waiting = Meanwhile(submit, patient, (project, "u:1", first), hurry=False)
    ledger.wait_until_blocked(patient)
    holding.commit()
    assert waiting.result() == ["counted"]


def test_answers_and_asks_in_batches_do_not_lock_each_other_out(ledger, beside):
    project = ledger.project(tasks=2, n=5)
    a, b = ledger.tasks(project)
    for actor in ("u:1", "u:2", "u:7", "u:8"):
        ledger.hold(project, actor, a), ledger.hold(project, actor, b)
    ledger.answer(project, "u:7", a), ledger.release(project, "u:7", b)
    ledger.answer(project, "u:8", b), ledger.release(project, "u:8", a)
    asking, answering = beside(), beside()
    assert ask(asking, {"actor": "u:7", "project": project}) == [("ok", [b])]
    answers = Meanwhile(submit, answering, (project, "u:2", b), (project, "u:1", a), hurry=False)
    ledger.wait_until_blocked(answering)  # it holds a and waits for b
    assert ask(asking, {"actor": "u:8", "project": project}) == [("again", [])], "a is all there is for him"
    asking.commit()
    assert answers.result() == ["counted", "counted"]
    answering.commit()
    assert invariants(ledger.connection) == []
