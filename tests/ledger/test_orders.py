"""orderby and desc: every promised order, under every scheduler, also for tasks that come or change later."""

from __future__ import annotations

import pytest
from support.checks.invariants import invariants
from support.checks.shows import shows
from support.ledger import Meanwhile

PRIORITIES = [0.0, 1.0, 0.5, 1.0, 0.0]
# Positions in PRIORITIES in the order that each scan gives them.
ORDERS = {
    "priority": [1, 3, 2, 0, 4],
    "priority-up": [0, 4, 2, 1, 3],
    "id": [0, 1, 2, 3, 4],
    "id-down": [4, 3, 2, 1, 0],
    "sort/n_answers/asc": [2, 0, 1, 3, 4],
    "sort/n_answers/desc": [3, 4, 0, 1, 2],
    "sort/info/desc": [4, 3, 2, 1, 0],
}
INDEXED = ["priority", "priority-up", "id", "id-down"]


@pytest.fixture
def five(ledger):
    """Tasks with PRIORITIES under a scheduler; the third wants two answers, the last two want four."""

    def make(sched):
        project = ledger.project(sched=sched)
        tasks = ledger.add(project, PRIORITIES, n=3)
        ledger.set_n(project, tasks[2:3], 2)
        ledger.set_n(project, tasks[3:], 4)
        return project, tasks

    return make


@shows("newtask-order")
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("sched", ["depth_first", "depth_first_all", "incremental"])
def test_tasks_come_in_the_order_asked_for(ledger, five, sched, order):
    project, tasks = five(sched)
    assert ledger.all_of(project, "u:1", order=order) == [tasks[k] for k in ORDERS[order]]


@pytest.mark.parametrize("order", ORDERS)
def test_limit_and_offset_go_along_the_order(ledger, five, order):
    project, tasks = five("default")
    expected = [tasks[k] for k in ORDERS[order]]
    assert ledger.ask(project, "u:1", limit=2, offset=1, order=order).tasks == expected[1:3]
    assert ledger.ask(project, "u:1", limit=3, order=order).tasks == expected[:3]
    assert ledger.ask(project, "u:2", limit=5, order=order).tasks == expected


@pytest.mark.parametrize("order", ["priority", "id", "id-down", "sort/n_answers/desc"])
def test_a_level_is_gone_through_in_the_order(ledger, five, order):
    project, tasks = five("breadth_first")
    expected = [tasks[k] for k in ORDERS[order]]
    assert [ledger.contribute(project, f"u:{n}", order=order) for n in range(5)] == expected
    assert ledger.contribute(project, "u:9", order=order) == expected[0]


def test_the_lowest_priority_first_within_a_level(ledger, five):
    project, tasks = five("breadth_first")
    answered = [ledger.contribute(project, f"u:{n}", order="priority-up") for n in range(5)]
    assert [PRIORITIES[tasks.index(task)] for task in answered] == sorted(PRIORITIES)


@pytest.mark.parametrize("order", INDEXED)
def test_what_is_added_later_takes_its_place_in_the_order(ledger, five, order):
    project, tasks = five("default")
    for _ in range(3):
        ledger.contribute(project, "u:1", order=order)
    more = ledger.add(project, [0.7, -2.0, 3.0, 0.7])
    rest = {task: PRIORITIES[tasks.index(task)] for task in [tasks[k] for k in ORDERS[order][3:]]}
    left = rest | dict(zip(more, [0.7, -2.0, 3.0, 0.7], strict=True))
    key = {
        "priority": lambda task: (-left[task], task),
        "priority-up": lambda task: (left[task], task),
        "id": lambda task: task,
        "id-down": lambda task: -task,
    }[order]
    assert ledger.all_of(project, "u:1", order=order) == sorted(left, key=key)


@pytest.mark.parametrize("order", INDEXED)
def test_orders_do_not_disturb_each_other(ledger, five, order):
    project, tasks = five("default")
    for other in INDEXED:
        ledger.contribute(project, "u:1", order=other)
    assert len(ledger.all_of(project, "u:1", order=order)) == 1
    assert sorted(ledger.all_of(project, "u:2", order=order)) == tasks
    assert ledger.ask(project, "u:1", order=order).state == "none"


def test_nobody_else_pays_for_descending_orders_before_they_are_used(ledger):
    project = ledger.project()
    ledger.add(project, [0.0, 0.0])
    stamped = "SELECT count(*) FROM task_ledger WHERE requeued_xid IS NOT NULL"
    ledger.add(project, [0.0])
    assert ledger.value(stamped) == 0
    ledger.take(project, "u:1", order="id-down")
    ledger.add(project, [0.0])
    assert ledger.value(stamped) == 1


def test_an_import_that_waits_for_the_first_descending_order_is_met_too(ledger, beside):
    project = ledger.project(tasks=2)
    asking, adding = beside(), beside()
    asking.take(project, "u:1", order="id-down")
    other = Meanwhile(adding.add, project, [0.0])
    ledger.wait_until_blocked(adding)
    asking.commit()
    (added,) = other.result()
    adding.commit()
    assert invariants(ledger.connection) == []
    ledger.answer(project, "u:1", ledger.tasks(project)[1])
    assert ledger.take(project, "u:1", order="id-down") == added


def test_ids_follow_the_times_of_creation(ledger, beside):
    """Why created is the order of ids: who waited for another import began earlier than it."""
    project = ledger.project()
    times = "SELECT created FROM task WHERE project_id = %(p)s ORDER BY id"
    ledger.add(project, [0.0])
    ledger.run("UPDATE task SET created = created + interval '1 hour'")
    ledger.add(project, [0.0, 0.0])
    created = [row["created"] for row in ledger.rows(times, p=project)]
    assert created == sorted(created)
