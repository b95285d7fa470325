"""Another answer in the place of one's own: what a result, its versions and the counters make of it."""

from __future__ import annotations

import json

import pytest
from support.checks.invariants import invariants
from support.checks.shows import shows
from support.ledger import Meanwhile

MINUTES = 60


def correct(session, project, actor, task, info):
    """What ``amend_answer`` said, and the invariants after it."""
    values = {"p": project, "a": actor, "t": task, "info": json.dumps(info)}
    row = session.row("SELECT state, run FROM amend_answer(%(p)s, %(a)s, %(t)s, %(info)s, clock())", **values)
    if session.check:
        assert invariants(session.connection, session.highest) == []
    return row["state"]


def infos(session, task):
    rows = session.rows("SELECT info FROM task_run WHERE task_id = %(t)s ORDER BY id", t=task)
    return [row["info"] for row in rows]


def test_an_answer_is_changed_while_its_task_is_open_however_late(ledger):
    project = ledger.project(tasks=1, n=2)
    task = ledger.contribute(project, "c:tab")
    before = ledger.figures(project)
    ledger.pass_time(600 * MINUTES)
    assert correct(ledger, project, "c:tab", task, {"answer": None}) == "changed"
    assert infos(ledger, task) == [{"answer": None}]
    assert ledger.figures(project) == before
    assert ledger.results(task) == [] == ledger.events(project)


@shows("taskrun-correct")
def test_the_answer_that_completed_its_task_makes_a_new_version_of_the_result(ledger):
    project = ledger.project(tasks=1, n=1)
    task = ledger.contribute(project, "u:1")
    before = ledger.figures(project)
    assert correct(ledger, project, "u:1", task, "no") == "changed"
    one, two = ledger.results(task)
    assert (one["last_version"], two["last_version"], two["version"]) == (False, True, 2)
    assert one["task_run_ids"] == two["task_run_ids"] == ledger.counted(task)
    assert ledger.events(project) == [("task_completed", task), ("result_updated", task)]
    assert infos(ledger, task) == ["no"]
    assert ledger.figures(project) == before, "counted once"


def test_the_same_answer_once_more_changes_nothing(ledger):
    project = ledger.project(tasks=1, n=1)
    task = ledger.contribute(project, "u:1")
    assert correct(ledger, project, "u:1", task, "yes") == "same"
    assert len(ledger.results(task)) == 1


def test_a_filled_result_is_no_longer_counted_when_it_is_replaced(ledger):
    project = ledger.project(tasks=1, n=1)
    task = ledger.contribute(project, "u:1")
    ledger.run("""UPDATE result SET info = '"seen"' WHERE task_id = %(t)s""", t=task)
    assert correct(ledger, project, "u:1", task, "no") == "changed"
    assert [result["info"] for result in ledger.results(task)] == ["seen", None]


def test_five_minutes_after_it_was_stored_a_result_stays(ledger):
    project = ledger.project(tasks=1, n=1)
    task = ledger.contribute(project, "u:1")
    ledger.pass_time(4 * MINUTES)
    assert correct(ledger, project, "u:1", task, "no") == "changed"
    ledger.pass_time(2 * MINUTES)
    assert correct(ledger, project, "u:1", task, "perhaps") == "in result"
    assert infos(ledger, task) == ["no"] and len(ledger.results(task)) == 2


def test_a_late_answer_that_counts_for_nothing_is_changed_without_a_word(ledger):
    project = ledger.project(tasks=1, n=1)
    task = ledger.take(project, "u:1")
    ledger.pass_time(3601)
    assert ledger.take(project, "u:2") == task
    ledger.answer(project, "u:2", task)
    assert ledger.answer(project, "u:1", task).state == "late"
    ledger.pass_time(600 * MINUTES)
    assert correct(ledger, project, "u:1", task, "no") == "changed"
    assert len(ledger.results(task)) == 1 and ledger.events(project) == [("task_completed", task)]


def test_a_trial_tells_nobody(ledger):
    project = ledger.project(tasks=1, n=1, published=False)
    task = ledger.contribute(project, "u:1")
    assert correct(ledger, project, "u:1", task, "no") == "changed"
    assert len(ledger.results(task)) == 2 and ledger.events(project) == []


@pytest.mark.parametrize("actor", ["u:2", "c:other", "i:10.0.0.1"])
def test_nobody_changes_what_another_has_answered(ledger, actor):
    project = ledger.project(tasks=1, n=2)
    task = ledger.contribute(project, "u:1")
    assert ledger.take(project, actor) == task  # he holds it, and has not answered
    assert correct(ledger, project, actor, task, "no") == "none"
    assert infos(ledger, task) == ["yes"]


def test_a_change_that_meets_the_completion_is_in_a_version_of_its_own(ledger, beside):
    project = ledger.project(tasks=1, n=2)
    task = ledger.contribute(project, "u:1")
    ledger.take(project, "u:2")
    first, second = beside(), beside()
    first.answer(project, "u:2", task)
    other = Meanwhile(correct, second, project, "u:1", task, "no")
    ledger.wait_until_blocked(second)
    first.commit()
    assert other.result() == "changed"
    second.commit()
    assert invariants(ledger.connection, 0) == []
    assert ledger.events(project) == [("task_completed", task), ("result_updated", task)]


def test_a_completion_that_meets_a_change_has_what_was_changed(ledger, beside):
    project = ledger.project(tasks=1, n=2)
    task = ledger.contribute(project, "u:1")
    ledger.take(project, "u:2")
    first, second = beside(), beside()
    assert correct(first, project, "u:1", task, "no") == "changed"
    other = Meanwhile(second.answer, project, "u:2", task)
    ledger.wait_until_blocked(second)
    first.commit()
    assert other.result().state == "counted"
    second.commit()
    assert invariants(ledger.connection, 0) == []
    assert len(ledger.results(task)) == 1 and infos(ledger, task) == ["no", "yes"]
