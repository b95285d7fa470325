"""Storing answers: exact redundancy, leases that lapse, late answers, duplicates, completion."""

from __future__ import annotations

import psycopg2
import pytest
from psycopg2 import errors
from support.checks.shows import shows

HOUR = 3600


@shows("lease-exact")
def test_a_task_is_handed_out_as_often_as_it_wants_answers(ledger):
    project = ledger.project(tasks=1, n=3)
    (task,) = ledger.tasks(project)
    volunteers = ["u:1", "c:2", "i:10.0.0.3"]
    assert [ledger.take(project, actor) for actor in volunteers] == [task] * 3
    assert ledger.ask(project, "u:4").state == "wait"
    assert [ledger.answer(project, actor, task).state for actor in volunteers] == ["counted"] * 3
    assert ledger.ask(project, "u:4").state == "none"


@shows("task-complete")
def test_the_last_answer_completes_with_one_result_and_one_event(ledger):
    project = ledger.project(tasks=2, n=2)
    first = ledger.tasks(project)[0]
    runs = []
    for actor in ("u:1", "u:2"):
        assert ledger.take(project, actor) == first
        assert not ledger.ledger(first)["done"]
        runs.append(ledger.answer(project, actor, first).run)
    assert ledger.ledger(first)["done"]
    (result,) = ledger.results(first)
    assert (result["task_run_ids"], result["version"], result["last_version"]) == (runs, 1, True)
    assert ledger.events(project) == [("task_completed", first)]
    data = ledger.value("SELECT data FROM event")
    assert data == {"user_ids": [1, 2]}


@shows("taskrun-lease")
def test_an_answer_needs_a_lease_and_a_task(ledger):
    project, other = ledger.project(tasks=1), ledger.project(tasks=1)
    (task,) = ledger.tasks(project)
    assert ledger.answer(project, "u:1", task).state == "no lease"
    ledger.take(project, "u:2")
    assert ledger.answer(project, "u:1", task).state == "no lease"
    assert ledger.answer(other, "u:2", task).state == "no task"
    assert ledger.answer(project, "u:2", task + 1000).state == "no task"
    assert ledger.value("SELECT count(*) FROM task_run") == 0


@shows("taskrun-once")
def test_a_second_answer_is_a_duplicate_and_names_the_first(ledger):
    project = ledger.project(tasks=1, n=2)
    task = ledger.take(project, "u:1")
    first = ledger.answer(project, "u:1", task)
    again = ledger.answer(project, "u:1", task, info="something else")
    assert (again.state, again.run) == ("duplicate", first.run)
    assert ledger.value("SELECT info FROM task_run") == "yes"


@shows("taskrun-once")
def test_one_person_cannot_have_two_runs_of_a_task_whatever_the_functions_do(ledger):
    project = ledger.project(tasks=1, n=2)
    task = ledger.contribute(project, "u:1")
    with pytest.raises(errors.UniqueViolation):
        ledger.run("INSERT INTO expired_lease VALUES (%(p)s, 'u:1', %(t)s, now(), now(), false)", p=project, t=task)
        ledger.answer(project, "u:1", task)
    ledger.run("DELETE FROM expired_lease")
    assert ledger.ledger(task)["answers"] == 1


@shows("taskrun-refused")
def test_a_refused_answer_does_not_use_up_the_lease(ledger):
    project, other = ledger.project(tasks=1), ledger.project(tasks=1)
    task = ledger.take(project, "u:1")
    assert ledger.answer(other, "u:1", task).state == "no task"
    with pytest.raises(psycopg2.Error):
        ledger.run("SELECT submit(%(p)s, 'u:1', %(t)s, NULL, NULL, NULL, NULL, NULL, NULL, clock())", p=project, t=task)
    assert ledger.ledger(task)["leases"] == 1
    assert ledger.answer(project, "u:1", task).state == "counted"


def test_answers_carry_when_the_task_was_handed_out_and_when_it_was_answered(ledger):
    project = ledger.project(tasks=1)
    task = ledger.take(project, "u:1")
    ledger.pass_time(90)
    ledger.answer(project, "u:1", task)
    run = ledger.row("SELECT finish_time - created AS took, timeout, user_id, trial FROM task_run")
    assert 90 <= run["took"].total_seconds() < 120
    assert (run["timeout"], run["user_id"], run["trial"]) == (None, 1, False)


@shows("lease-expired")
def test_a_lapsed_lease_comes_back_without_a_sweep(ledger):
    project = ledger.project(tasks=1, n=1)
    task = ledger.take(project, "u:1")
    waiting = ledger.ask(project, "u:2")
    assert waiting.state == "wait"
    assert HOUR - 60 < waiting.retry_in <= HOUR
    ledger.pass_time(HOUR + 1)
    assert ledger.take(project, "u:2") == task
    assert ledger.answer(project, "u:2", task).state == "counted"


@shows("lease-time")
def test_leases_last_as_long_as_the_project_says(ledger):
    project = ledger.project(tasks=1, n=1, lease="5 minutes")
    ledger.take(project, "u:1")
    ledger.pass_time(290)
    assert ledger.ask(project, "u:2").state == "wait"
    ledger.pass_time(20)
    assert ledger.ask(project, "u:2").state == "ok"


def test_lapsed_leases_come_back_twenty_at_a_time(ledger):
    project = ledger.project(tasks=50, n=1)
    assert len(ledger.ask(project, "u:1", limit=50).tasks) == 50
    ledger.pass_time(HOUR + 1)
    asked = ledger.ask(project, "u:2", limit=30)
    assert len(asked.tasks) == 20
    assert ledger.value("SELECT count(*) FROM expired_lease") == 20
    assert len(ledger.all_of(project, "u:2")) == 50


@shows("lease-expired")
def test_an_answer_after_the_lapse_counts_while_nobody_took_the_place(ledger):
    project = ledger.project(tasks=1, n=1)
    task = ledger.take(project, "u:1")
    ledger.pass_time(HOUR + 100)
    answered = ledger.answer(project, "u:1", task)
    assert answered.state == "counted"
    assert 100 <= answered.late < 130
    assert ledger.ledger(task)["done"]


def test_an_answer_after_the_place_was_given_away_is_kept_and_does_not_count(ledger):
    project = ledger.project(tasks=1, n=1)
    task = ledger.take(project, "u:1")
    ledger.pass_time(HOUR + 100)
    ledger.contribute(project, "u:2")
    answered = ledger.answer(project, "u:1", task)
    assert (answered.state, answered.late >= 100) == ("late", True)
    row = ledger.ledger(task)
    assert (row["answers"], row["uncounted"], row["done"]) == (1, 1, True)
    assert len(ledger.results(task)) == 1
    assert ledger.answer(project, "u:1", task).state == "duplicate"


@shows("taskrun-late")
def test_the_oldest_late_answer_counts_when_n_answers_rises(ledger):
    project = ledger.project(tasks=1, n=1)
    (task,) = ledger.tasks(project)
    for actor in ("u:1", "u:2", "u:3"):
        assert ledger.take(project, actor) == task
        ledger.pass_time(HOUR + 1)
    ledger.contribute(project, "u:4")
    late = [ledger.answer(project, actor, task).run for actor in ("u:1", "u:2", "u:3")]
    assert ledger.set_n(project, [task], 3) == 1
    assert ledger.counted(task) == sorted([*late[:2], *ledger.results(task)[0]["task_run_ids"]])
    assert ledger.events(project) == [("task_completed", task), ("result_updated", task)]
    assert ledger.ask(project, "u:5").state == "none", "a late answer comes before a new lease"


@shows("taskrun-late")
def test_a_late_answer_counts_when_a_lease_is_given_back(ledger):
    project = ledger.project(tasks=1, n=1)
    task = ledger.take(project, "u:1")
    ledger.pass_time(HOUR + 1)
    ledger.take(project, "u:2")
    late = ledger.answer(project, "u:1", task)
    assert late.state == "late"
    assert ledger.release(project, "u:2", task)
    assert ledger.counted(task) == [late.run]
    assert ledger.ledger(task)["done"]


def test_a_late_answer_counts_when_another_lease_lapses(ledger):
    project = ledger.project(tasks=1, n=1)
    task = ledger.take(project, "u:1")
    ledger.pass_time(HOUR + 1)
    ledger.take(project, "u:2")
    late = ledger.answer(project, "u:1", task)
    ledger.pass_time(HOUR + 1)
    assert ledger.ask(project, "u:3").state == "none"
    assert ledger.counted(task) == [late.run]
    assert ledger.events(project) == [("task_completed", task)]


def test_a_late_answer_counts_at_once_where_a_place_is_free(ledger):
    project = ledger.project(tasks=2, n=2)
    task = ledger.take(project, "u:1")
    ledger.pass_time(HOUR + 1)
    ledger.take(project, "u:2")
    assert ledger.answer(project, "u:1", task).state == "counted"


@shows("event-kinds", "result-versions", "task-reopen")
def test_deleting_a_counted_answer_re_opens_and_a_later_completion_is_a_new_version(ledger):
    project = ledger.project(tasks=1, n=2)
    (task,) = ledger.tasks(project)
    ledger.contribute(project, "u:1")
    second = ledger.take(project, "u:2") and ledger.answer(project, "u:2", task).run
    assert ledger.delete_run(project, second)
    assert not ledger.ledger(task)["done"]
    assert [result["last_version"] for result in ledger.results(task)] == [False]
    assert ledger.contribute(project, "u:3") == task
    assert [(r["version"], r["last_version"]) for r in ledger.results(task)] == [(1, False), (2, True)]
    assert ledger.events(project) == [("task_completed", task), ("result_updated", task)]
    assert ledger.results(task)[1]["task_run_ids"] == ledger.counted(task)


def test_deleting_a_counted_answer_lets_a_late_one_take_its_place(ledger):
    project = ledger.project(tasks=1, n=1)
    task = ledger.take(project, "u:1")
    ledger.pass_time(HOUR + 1)
    ledger.take(project, "u:2")
    counted = ledger.answer(project, "u:2", task).run
    late = ledger.answer(project, "u:1", task).run
    assert ledger.delete_run(project, counted)
    assert ledger.counted(task) == [late]
    assert [result["task_run_ids"] for result in ledger.results(task)] == [[counted], [late]]


def test_deleting_a_late_answer_changes_nothing_else(ledger):
    project = ledger.project(tasks=1, n=1)
    task = ledger.take(project, "u:1")
    ledger.pass_time(HOUR + 1)
    ledger.contribute(project, "u:2")
    late = ledger.answer(project, "u:1", task).run
    assert ledger.delete_run(project, late)
    assert len(ledger.results(task)) == 1
    assert ledger.ledger(task)["done"]
    assert not ledger.delete_run(project, late)
    assert not ledger.delete_run(project, None)


def test_whoever_lost_his_answer_may_answer_again(ledger):
    project = ledger.project(tasks=1, n=1)
    task = ledger.contribute(project, "u:1")
    (run,) = ledger.counted(task)
    assert ledger.delete_run(project, run)
    assert ledger.contribute(project, "u:1") == task


@shows("task-reopen")
def test_redundancy_lowered_completes_and_raised_re_opens(ledger):
    project = ledger.project(tasks=1, n=5)
    (task,) = ledger.tasks(project)
    for actor in ("u:1", "u:2", "u:3"):
        ledger.contribute(project, actor)
    assert ledger.set_n(project, [task], 2) == 1
    assert ledger.ledger(task)["done"]
    assert ledger.results(task)[0]["task_run_ids"] == ledger.counted(task)
    assert len(ledger.counted(task)) == 3, "an answer that counted goes on counting"
    assert ledger.set_n(project, [task], 2) == 0
    assert ledger.set_n(project, [task], 4) == 1
    assert not ledger.ledger(task)["done"]
    assert ledger.contribute(project, "u:4") == task
    assert ledger.events(project) == [("task_completed", task), ("result_updated", task)]


def test_leases_beyond_a_lowered_redundancy_are_answered_late(ledger):
    project = ledger.project(tasks=1, n=3)
    (task,) = ledger.tasks(project)
    for actor in ("u:1", "u:2", "u:3"):
        ledger.take(project, actor)
    ledger.set_n(project, [task], 1)
    states = [ledger.answer(project, actor, task).state for actor in ("u:1", "u:2", "u:3")]
    assert states == ["counted", "late", "late"]
    assert len(ledger.events(project)) == 1
