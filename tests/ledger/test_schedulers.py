"""What each scheduler promises, as far as one session can see it."""

from __future__ import annotations

from collections import Counter

import pytest
from support.checks.shows import shows

from crowdd.database.schema import list_schedulers

ALL = list_schedulers()


@shows("scheduler-every-task")
@pytest.mark.parametrize("sched", ALL)
def test_every_volunteer_meets_every_task_once_and_no_task_gets_too_much(ledger, sched):
    project = ledger.project(tasks=5, n=2, sched=sched)
    tasks = ledger.tasks(project)
    assert sorted(ledger.all_of(project, "u:1")) == tasks
    assert sorted(ledger.all_of(project, "c:2")) == tasks
    assert all(ledger.ledger(task)["done"] for task in tasks)
    assert len(ledger.events(project)) == 5
    assert sorted(ledger.all_of(project, "u:3")) == (tasks if sched == "depth_first_all" else [])


@shows("scheduler-names")
@pytest.mark.parametrize("sched", ["default", "depth_first", "locked"])
def test_depth_first_finishes_one_task_after_the_other(ledger, sched):
    project = ledger.project(tasks=3, n=2, sched=sched)
    a, b, c = ledger.tasks(project)
    assert [ledger.contribute(project, f"u:{number}") for number in range(6)] == [a, a, b, b, c, c]


@shows("scheduler-names")
def test_breadth_first_gives_every_task_one_answer_before_any_has_two(ledger):
    project = ledger.project(tasks=3, n=2, sched="breadth_first")
    taken = [ledger.take(project, f"u:{number}") for number in range(3)]
    assert sorted(taken) == ledger.tasks(project)
    assert sorted(ledger.contribute(project, f"v:{number}") for number in range(3)) == ledger.tasks(project)


def test_breadth_first_returns_to_a_task_whose_lease_was_given_back(ledger):
    project = ledger.project(tasks=2, n=2, sched="breadth_first")
    first = ledger.take(project, "u:1")
    second = ledger.take(project, "u:2")
    ledger.release(project, "u:1", first)
    assert ledger.take(project, "u:3") == first
    assert first != second


def test_breadth_first_meets_tasks_added_later_first(ledger):
    project = ledger.project(tasks=2, n=3, sched="breadth_first")
    ledger.all_of(project, "u:1")
    (added,) = ledger.add(project, [0.0])
    assert ledger.take(project, "u:2") == added


@shows("scheduler-names")
def test_everybody_answers_everything_and_n_answers_of_them_count(ledger):
    project = ledger.project(tasks=2, n=2, sched="depth_first_all")
    for number in range(5):
        assert ledger.all_of(project, f"u:{number}") == ledger.tasks(project)
    for task in ledger.tasks(project):
        row = ledger.ledger(task)
        assert (row["answers"], row["uncounted"], row["done"]) == (2, 3, True)
    assert len(ledger.events(project)) == 2


@shows("scheduler-names")
def test_incremental_is_one_at_a_time(ledger):
    project = ledger.project(tasks=1, n=3, sched="incremental")
    task = ledger.take(project, "u:1")
    assert ledger.ask(project, "u:2").state == "wait"
    ledger.answer(project, "u:1", task)
    assert ledger.take(project, "u:2") == task
    assert ledger.ask(project, "u:3").state == "wait"
    ledger.release(project, "u:2", task, skip=True)
    assert ledger.contribute(project, "u:3") == task
    assert ledger.contribute(project, "u:2") == task
    assert ledger.ledger(task)["done"]


@shows("scheduler-names")
def test_random_is_spread_over_all_tasks(ledger):
    project = ledger.project(tasks=10, n=1000, sched="random")
    ledger.check = False
    ledger.run("SELECT setseed(0.5)")  # the same draws each time
    draws = Counter(ledger.take(project, f"u:{number}") for number in range(500))
    expected = 500 / 10
    chi_squared = sum((draws[task] - expected) ** 2 / expected for task in ledger.tasks(project))
    assert chi_squared < 39.3, "by chance less likely than 1 in 100,000 at 9 degrees of freedom"


@pytest.mark.proof
def test_random_finds_what_chance_does_not(ledger):
    project = ledger.project(tasks=300, n=1, sched="random")
    tasks = ledger.tasks(project)
    ledger.check = False
    first = ledger.ask(project, "u:1", limit=100).tasks + ledger.ask(project, "u:1", limit=100, offset=100).tasks
    rest = ledger.all_of(project, "u:2", limit=20)
    assert sorted({*first, *rest}) == tasks


def test_late_answers_find_a_place_when_leases_hold_none_any_more(ledger):
    project = ledger.project(tasks=1, n=2, sched="default")
    task = ledger.take(project, "u:1")
    ledger.take(project, "u:2")
    ledger.pass_time(3601)
    ledger.take(project, "u:3", limit=1)
    ledger.take(project, "u:4", limit=1)
    assert ledger.answer(project, "u:1", task).state == "late"
    ledger.schedule(project, "depth_first_all")
    assert len(ledger.counted(task)) == 1


@shows("scheduler-change")
def test_changing_the_scheduler_keeps_leases_and_answers(ledger):
    project = ledger.project(tasks=4, n=3)
    held = ledger.take(project, "u:1")
    ledger.contribute(project, "u:2")
    for sched in [*ALL[1:], "default"]:
        ledger.schedule(project, sched)
        assert ledger.take(project, "u:1") == held
    assert ledger.answer(project, "u:1", held).state == "counted"
    for sched in ALL:
        ledger.schedule(project, sched)
        assert ledger.answer(project, f"c:{sched}", ledger.take(project, f"c:{sched}")).state in ("counted", "late")
    ledger.schedule(project, "default")
    assert sorted(ledger.all_of(project, "u:6")) == [t for t in ledger.tasks(project) if 6 in answered_by(ledger, t)]
    assert all(ledger.ledger(task)["done"] or 6 in answered_by(ledger, task) for task in ledger.tasks(project))


def answered_by(ledger, task):
    """Whose answers a task has."""
    return [row["user_id"] for row in ledger.rows("SELECT user_id FROM task_run WHERE task_id = %(t)s", t=task)]
