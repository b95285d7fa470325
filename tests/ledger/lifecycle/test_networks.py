"""How many answers of a task count from one network, and which tasks its volunteers are given (22_networks.sql)."""

from __future__ import annotations

import pytest
from support.checks.proofs import examples
from support.checks.shows import shows
from support.ledger import Meanwhile

NET, OTHER = "192.0.2.1", "198.51.100.7"
SCHEDULERS = ["default", "breadth_first", "random", "incremental", "depth_first_all"]


def counted(ledger, task):
    return [
        row["actor"]
        for row in ledger.rows("SELECT actor FROM task_run WHERE task_id = %(t)s AND counted ORDER BY id", t=task)
    ]


def limit(ledger, project, maximum):
    """As for a site that changes its setting."""
    ledger.run("SELECT set_volunteer_rule(%(n)s)", n=maximum)


@shows("lease-network")
@pytest.mark.parametrize("sched", SCHEDULERS)
def test_task_is_handed_out_once_to_each_network(ledger, sched):
    project = ledger.project(tasks=3, n=3, sched=sched)
    first = {ledger.take(project, f"c:{n}", network=NET) for n in range(3)}
    assert len(first) == 3
    assert ledger.ask(project, "c:3", network=NET).tasks == []
    if sched != "incremental":  # where one volunteer at a time has a task
        assert ledger.take(project, "u:1", network=NET) in first
        assert ledger.take(project, "c:4", network=OTHER) in first


@pytest.mark.parametrize("sched", SCHEDULERS)
def test_network_that_answered_everything_is_told_so(ledger, sched):
    project = ledger.project(tasks=3, n=3, sched=sched)
    assert len(ledger.all_of(project, "c:1", network=NET)) == 3
    assert ledger.ask(project, "c:2", network=NET).state == "network"
    assert len(ledger.all_of(project, "c:2", network=OTHER)) == 3


def test_thirty_volunteers_of_a_network_make_one_counted_answer(ledger):
    project = ledger.project(tasks=1, n=30)
    (task,) = ledger.tasks(project)
    for n in range(30):
        ledger.ask(project, f"c:{n}", network=NET)
        ledger.hold(project, f"c:{n}", task, network=NET)
        ledger.answer(project, f"c:{n}", task, network=NET)
    assert counted(ledger, task) == ["c:0"]
    assert ledger.ledger(task)["uncounted"] == 29


@shows("taskrun-uncounted")
def test_answer_beyond_the_share_is_stored_but_not_counted(ledger):
    project = ledger.project(tasks=1, n=2)
    (task,) = ledger.tasks(project)
    assert ledger.hold(project, "c:1", task, network=NET) == "leased"
    assert ledger.hold(project, "c:2", task, network=NET) == "late"
    assert ledger.answer(project, "c:2", task, network=NET).state == "surplus"
    assert ledger.answer(project, "c:1", task, network=NET).state == "counted"
    assert counted(ledger, task) == ["c:1"]


def test_answer_counts_by_the_network_it_comes_from(ledger):
    project = ledger.project(tasks=1, n=3)
    task = ledger.contribute(project, "c:1")
    assert ledger.take(project, "c:2", network=OTHER) == task
    assert ledger.answer(project, "c:2", task, network="c:1").state == "surplus"
    assert ledger.take(project, "c:3", network=OTHER) == task
    assert ledger.answer(project, "c:3", task, network=OTHER).state == "counted"


def test_volunteer_who_changes_the_network_meets_what_the_other_network_had_answered(ledger):
    project = ledger.project(tasks=5, n=3)
    ledger.all_of(project, "c:1", network=NET)
    assert ledger.ask(project, "c:2", network=NET).state == "network"
    assert len(ledger.all_of(project, "c:2", network=OTHER)) == 5


def test_two_answers_of_a_network_at_once_one_counts(ledger, beside):
    project = ledger.project(tasks=1, n=3)
    (task,) = ledger.tasks(project)
    ledger.hold(project, "c:1", task, network=OTHER)
    ledger.hold(project, "c:2", task, network="203.0.113.3")
    here, other = beside(), beside()
    assert here.answer(project, "c:1", task, network=NET).state == "counted"
    answering = Meanwhile(other.answer, project, "c:2", task, network=NET)
    ledger.wait_until_blocked(other)
    here.commit()
    assert answering.result().state == "surplus"
    other.commit()
    assert counted(ledger, task) == ["c:1"]


def test_two_asks_of_a_network_at_once_get_different_tasks(ledger, beside):
    project = ledger.project(tasks=2, n=3)
    here, other = beside(), beside()
    first = here.take(project, "c:1", network=NET)
    asked = other.ask(project, "c:2", network=NET, once=True)
    here.commit()
    other.commit()
    assert asked.tasks and asked.tasks != [first]
    assert ledger.ask(project, "c:3", network=NET).tasks == []


def test_share_is_free_again_when_an_answer_is_deleted(ledger):
    project = ledger.project(tasks=2, n=3)
    task, _ = ledger.all_of(project, "c:1", network=NET)
    assert ledger.ask(project, "c:2", network=NET).state == "network"
    ledger.delete_run(project, ledger.counted(task)[0])
    assert ledger.take(project, "c:2", network=NET) == task


@shows("taskrun-uncounted")
def test_deleted_answer_lets_one_of_its_network_count_instead(ledger):
    project = ledger.project(tasks=1, n=3)
    task = ledger.contribute(project, "c:1", network=NET)
    ledger.hold(project, "c:2", task, network=NET)
    assert ledger.answer(project, "c:2", task, network=NET).state == "surplus"
    ledger.delete_run(project, ledger.counted(task)[0])
    assert counted(ledger, task) == ["c:2"]


def test_share_is_free_again_when_a_lease_is_given_back(ledger):
    project = ledger.project(tasks=1, n=3)
    task = ledger.take(project, "c:1", network=NET)
    assert ledger.ask(project, "c:2", network=NET).state == "wait"
    ledger.release(project, "c:1", task)
    assert ledger.take(project, "c:2", network=NET) == task


def test_share_is_free_again_when_the_answer_is_claimed_by_an_account(ledger):
    project = ledger.project(tasks=1, n=3)
    task = ledger.take(project, "c:1", network=NET)
    ledger.answer(project, "c:1", task, network=NET)
    ledger.hold(project, "c:2", task, network=NET)
    ledger.answer(project, "c:2", task, network=NET)
    assert counted(ledger, task) == ["c:1"]
    move = "SELECT move_runs(%(p)s, 'c:1', NULL, 'u:7', 7, NULL, %(t)s, clock())"
    assert ledger.change(move, p=project, t=[task]) == 1
    assert counted(ledger, task) == ["u:7", "c:2"]


def test_share_is_free_again_when_a_lease_is_claimed_by_an_account(ledger):
    project = ledger.project(tasks=1, n=3)
    task = ledger.take(project, "c:1", network=NET)
    assert ledger.ask(project, "c:2", network=NET).tasks == []
    ledger.change("SELECT move_rights(%(p)s, 'c:1', 'u:7', clock())", p=project)
    assert ledger.take(project, "c:2", network=NET) == task


@shows("taskrun-uncounted")
def test_late_answer_of_a_network_without_share_counts_when_a_place_is_free(ledger):
    project = ledger.project(tasks=1, n=1)
    task = ledger.take(project, "c:1", network=NET)
    ledger.hold(project, "c:2", task, network=OTHER)
    assert ledger.answer(project, "c:2", task, network=OTHER).state == "late"
    ledger.release(project, "c:1", task)
    assert counted(ledger, task) == ["c:2"]


def test_surplus_answer_does_not_count_when_n_answers_rises(ledger):
    project = ledger.project(tasks=1, n=1)
    task = ledger.take(project, "c:1", network=NET)
    ledger.answer(project, "c:1", task, network=NET)
    ledger.hold(project, "c:2", task, network=NET)
    ledger.answer(project, "c:2", task, network=NET)
    preview = ledger.effect("preview_redundancy(%(p)s, NULL, 3)", p=project)
    assert ledger.effect("set_redundancy(%(p)s, %(t)s, 3, clock())", p=project, t=[task]) == preview == (1, 0, 1, 0)
    assert counted(ledger, task) == ["c:1"]


@pytest.mark.parametrize(("maximum", "expected"), [(2, 2), (0, 4)])
def test_owner_may_raise_the_limit_for_a_class_room(ledger, maximum, expected):
    project = ledger.project(tasks=1, n=9)
    (task,) = ledger.tasks(project)
    for n in range(4):
        ledger.hold(project, f"c:{n}", task, network=NET)
        ledger.answer(project, f"c:{n}", task, network=NET)
    assert ledger.ask(project, "c:5", network=NET).state == "network"
    limit(ledger, project, maximum)
    assert ledger.change("SELECT tasks FROM recount(%(p)s, %(t)s, clock())", p=project, t=[task]) == 1
    assert len(counted(ledger, task)) == expected
    assert ledger.ask(project, "c:5", network=NET).state == ("ok" if maximum == 0 else "network")


def test_raised_limit_hands_out_what_was_passed(ledger):
    project = ledger.project(tasks=30, n=5)
    ledger.all_of(project, "c:1", network=NET)
    assert ledger.ask(project, "c:2", network=NET).state == "network"
    limit(ledger, project, 2)
    assert len(ledger.all_of(project, "c:2", network=NET)) == 30
    assert ledger.ask(project, "c:3", network=NET).state == "network"


def test_lowered_limit_leaves_what_counts_and_stops_there(ledger):
    project = ledger.project(tasks=1, n=5, counted_per_network=3)
    ledger.run("UPDATE volunteer_rule SET counted_per_network = 3")
    (task,) = ledger.tasks(project)
    for n in range(2):
        assert ledger.take(project, f"c:{n}", network=NET) == task
        ledger.answer(project, f"c:{n}", task, network=NET)
    ledger.check = False
    limit(ledger, project, 1)
    assert len(counted(ledger, task)) == 2
    assert ledger.ask(project, "c:4", network=NET).state == "network"


def test_newcomer_of_a_network_starts_where_it_is(ledger):
    """Behind 12,000 tasks that the class room has answered; the next one looks at none of them."""
    ledger.check = False
    project = ledger.project(tasks=12_000, n=3)
    ledger.run(
        "INSERT INTO task_run (project_id, task_id, actor, user_ip, created, finish_time, counted, info)"
        " SELECT project_id, task_id, 'c:' || task_id %% 30, %(net)s, now(), now(), true, '1' FROM task_ledger"
        " WHERE ordinal <= 11990",
        net=NET,
    )
    ledger.run("UPDATE task_ledger SET answers = 1 WHERE ordinal <= 11990")
    assert ledger.take(project, "c:first", network=NET) == ledger.tasks(project)[11_990]
    floor = ledger.row("SELECT * FROM position WHERE actor = %(a)s", a=f"n:{NET}")
    assert floor["k2"] == ledger.tasks(project)[11_989]
    assert ledger.take(project, "c:second", network=NET) == ledger.tasks(project)[11_991]
    assert ledger.take(project, "c:third", network=OTHER) == ledger.tasks(project)[0]


@examples("default-priority", "breadth_first-id-down")
@pytest.mark.parametrize("order", ["priority", "id-down"])
@pytest.mark.parametrize("sched", ["default", "breadth_first"])
def test_class_room_meets_every_task_again_that_it_may_answer(ledger, sched, order):
    project = ledger.project(tasks=25, n=4, sched=sched)
    for n in range(3):
        for _ in range(5):
            ledger.ask(project, f"c:{n}", network=NET, order=order, limit=3)
            task = ledger.take(project, f"c:{n}", network=NET, order=order)
            if n == 1:
                ledger.release(project, f"c:{n}", task, skip=True)
            else:
                ledger.answer(project, f"c:{n}", task, network=NET)
    ledger.pass_time(8 * 3600)
    done = [t for n in range(3, 6) for t in ledger.all_of(project, f"c:{n}", network=NET, order=order)]
    done += ledger.all_of(project, "c:1", network=NET, order=order)
    runs = ledger.rows("SELECT task_id, count(*) AS n FROM task_run WHERE counted GROUP BY 1")
    assert {row["n"] for row in runs} == {1} and len(runs) == 25, done


@shows("lease-networks-accounts")
def test_network_rule_is_not_for_people_with_accounts(ledger):
    project = ledger.project(tasks=1, n=3)
    for n in range(3):
        task = ledger.take(project, f"u:{n}", network=NET)
        assert ledger.answer(project, f"u:{n}", task, network=NET).state == "counted"
