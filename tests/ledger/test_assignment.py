"""Asking for tasks: one's own leases, windows, preloading, skipping, named tasks, who is barred."""

from __future__ import annotations

from support.checks.invariants import invariants
from support.checks.shows import shows

HOUR, PRELOAD = 3600, 600


@shows("newtask-lease")
def test_the_same_volunteer_is_given_the_same_task_until_he_answers(ledger):
    project = ledger.project(tasks=3)
    task = ledger.take(project, "u:1")
    assert ledger.take(project, "u:1") == task
    assert ledger.ledger(task)["leases"] == 1
    ledger.answer(project, "u:1", task)
    assert ledger.take(project, "u:1") != task


@shows("newtask-offset")
def test_limit_and_offset_are_a_window_on_one_sequence(ledger):
    project = ledger.project(tasks=6)
    tasks = ledger.tasks(project)
    assert ledger.ask(project, "u:1", limit=2).tasks == tasks[:2]
    assert ledger.ask(project, "u:1", offset=1).tasks == tasks[1:2]
    assert ledger.ask(project, "u:1", limit=2, offset=2).tasks == tasks[2:4]
    assert ledger.ask(project, "u:1", limit=4).tasks == tasks[:4], "the same call gives the same tasks"
    assert ledger.value("SELECT count(*) FROM lease") == 4


def test_offset_one_before_offset_zero_gives_different_tasks(ledger):
    project = ledger.project(tasks=3)
    second, first = ledger.take(project, "u:1", offset=1), ledger.take(project, "u:1")
    assert [first, second] == ledger.tasks(project)[:2]


def test_who_loses_his_first_task_to_another_finds_the_second_in_its_place(ledger):
    """The one way in which offset 1 and offset 0 name the same task: a lease between them has lapsed and was taken."""
    project = ledger.project(tasks=3, n=1)
    first, second, _ = ledger.tasks(project)
    assert ledger.take(project, "u:1", offset=1) == second
    ledger.pass_time(3601)
    assert ledger.take(project, "u:2") == first
    assert ledger.take(project, "u:1") == second


def test_a_lapsed_lease_that_nobody_took_is_renewed(ledger):
    project = ledger.project(tasks=2)
    task = ledger.take(project, "u:1")
    ledger.pass_time(HOUR + 1)
    assert ledger.take(project, "u:1") == task
    assert ledger.answer(project, "u:1", task).late is None


@shows("lease-time")
def test_a_preloaded_task_is_held_for_a_shorter_time(ledger):
    project = ledger.project(tasks=3, n=1)
    first, second = ledger.ask(project, "u:1", limit=2).tasks
    ledger.pass_time(PRELOAD + 1)
    assert ledger.take(project, "u:2") == second
    assert ledger.ask(project, "u:1").tasks == [first]


@shows("lease-preload-last")
def test_nothing_is_preloaded_when_the_places_are_no_more_than_the_volunteers(ledger):
    project = ledger.project(tasks=5, n=1)
    for number in (1, 2):
        ledger.take(project, f"u:{number}")
    assert len(ledger.ask(project, "u:1", offset=1).tasks) == 1, "3 places, 2 volunteers"
    assert ledger.ask(project, "u:2", offset=1).tasks == [], "2 places, 2 volunteers"
    assert len(ledger.ask(project, "u:3", limit=2).tasks) == 1, "the first task is no preload"


@shows("lease-preload-last")
def test_places_count_for_preloading_not_tasks(ledger):
    project = ledger.project(tasks=2, n=30)
    for number in range(5):
        ledger.take(project, f"u:{number}")
    assert len(ledger.ask(project, "u:1", offset=1).tasks) == 1


def test_everybody_may_preload_where_everybody_may_answer(ledger):
    project = ledger.project(tasks=2, n=1, sched="depth_first_all")
    for number in range(5):
        ledger.take(project, f"u:{number}")
    assert len(ledger.ask(project, "u:1", offset=1).tasks) == 1


@shows("lease-most")
def test_two_hundred_leases_are_the_most(ledger):
    project = ledger.project(tasks=220)
    assert len(ledger.ask(project, "u:1", limit=100).tasks) == 100
    assert len(ledger.ask(project, "u:1", limit=100, offset=150).tasks) == 50
    assert ledger.ask(project, "u:1", limit=10, offset=200).state == "none"
    assert ledger.hold(project, "u:1", ledger.tasks(project)[210]) == "late"
    assert ledger.value("SELECT count(*) FROM lease") == 200


@shows("newtask-none")
def test_when_all_open_places_are_leased_the_answer_says_until_when(ledger):
    project = ledger.project(tasks=1, n=1)
    ledger.take(project, "u:1")
    ledger.pass_time(1000)
    asked = ledger.ask(project, "u:2")
    assert asked.state == "wait"
    assert HOUR - 1030 < asked.retry_in <= HOUR - 1000


def test_there_is_nothing_to_wait_for_when_others_hold_what_one_has_answered(ledger):
    project = ledger.project(tasks=1, n=2)
    ledger.contribute(project, "u:1")
    ledger.take(project, "u:2")
    assert ledger.ask(project, "u:1").state == "none"


def test_one_lease_among_many_is_worth_waiting_for(ledger):
    project = ledger.project(tasks=30, n=2)
    ledger.check = False
    ledger.all_of(project, "u:1", limit=30)
    ledger.ask(project, "u:2", limit=30)
    assert ledger.ask(project, "u:1").state == "none"
    (rare,) = ledger.add(project, [0.0], n=1)
    ledger.hold(project, "u:3", rare)
    assert ledger.ask(project, "u:1").state == "wait"


def test_who_could_answer_none_of_two_hundred_leases_waits_for_the_last_of_these(ledger):
    project = ledger.project(tasks=210, n=2)
    ledger.check = False
    ledger.all_of(project, "u:1", limit=70)
    for other in ("u:2", "u:3"):
        ledger.pass_time(60)
        ledger.ask(project, other, limit=100)
    asked = ledger.ask(project, "u:1")  # what comes after the two hundred, nobody has looked at
    assert asked.state == "wait"
    assert HOUR - 30 < asked.retry_in <= HOUR


@shows("newtask-order")
def test_tasks_come_by_priority_then_by_age(ledger):
    project = ledger.project(published=False)
    low, high, same, middle = ledger.add(project, [0.1, 0.9, 0.9, 0.5])
    ledger.publish(project)
    assert ledger.all_of(project, "u:1") == [high, same, middle, low]
    assert ledger.all_of(project, "u:2", order="id") == [low, high, same, middle]


def test_priorities_changed_later_are_the_order_for_whoever_comes_new(ledger):
    project = ledger.project(tasks=4)
    a, b, c, d = ledger.tasks(project)
    ledger.set_priority(project, [b], 0.2)
    ledger.set_priority(project, [d], 0.9)
    ledger.set_priority(project, [a], 0.5)
    assert ledger.all_of(project, "u:1") == [d, a, b, c]
    assert ledger.all_of(project, "u:2", order="id") == [a, b, c, d]


def test_tasks_added_one_by_one_come_by_priority(ledger):
    project = ledger.project()
    low, high, middle = (ledger.add(project, [priority])[0] for priority in (0.3, 0.7, 0.5))
    assert ledger.all_of(project, "u:1") == [high, middle, low]
    assert ledger.all_of(project, "u:2", order="id") == [low, high, middle]


def test_tasks_that_sort_before_the_end_are_met_by_those_who_are_past(ledger):
    project = ledger.project(tasks=3)
    tasks = ledger.all_of(project, "u:1")
    (urgent,) = ledger.add(project, [1.0])
    assert ledger.contribute(project, "u:1") == urgent
    assert ledger.all_of(project, "u:2") == [urgent, *tasks]


def test_a_priority_lowered_beyond_the_end_moves_the_end(ledger):
    project = ledger.project(tasks=2)
    last = ledger.tasks(project)[0]
    ledger.set_priority(project, [last], -5.0)
    ledger.all_of(project, "u:1")
    (between,) = ledger.add(project, [-3.0])
    assert ledger.all_of(project, "u:1") == [between]


def test_a_task_moved_behind_a_volunteer_is_met_at_once(ledger):
    project = ledger.project(tasks=4)
    a, b, c, d = ledger.tasks(project)
    assert ledger.contribute(project, "u:1") == a
    ledger.set_priority(project, [d], 5.0)
    assert ledger.all_of(project, "u:1") == [d, b, c]


def test_a_task_moved_ahead_of_a_volunteer_is_met_once(ledger):
    project = ledger.project(tasks=4)
    a, b, c, d = ledger.tasks(project)
    assert ledger.contribute(project, "u:1") == a
    ledger.set_priority(project, [a, d], -1.0)
    assert ledger.all_of(project, "u:1") == [b, c, d]


def test_returned_tasks_ahead_of_a_volunteer_do_not_hide_those_behind_him(ledger):
    project = ledger.project(tasks=1, n=1)
    behind = ledger.take(project, "u:9")
    for _ in range(3):
        ledger.add(project, [-2.0, -1.0] * 100, n=1)
    assert ledger.take(project, "u:1") != behind
    ledger.release(project, "u:9", behind)
    ledger.check = False
    assert len(set(ledger.all_of(project, "u:1", limit=100))) == 601
    assert invariants(ledger.connection) == []


@shows("lease-skip")
def test_a_skipped_task_comes_last(ledger):
    project = ledger.project(tasks=3)
    a, b, c = ledger.tasks(project)
    assert ledger.take(project, "u:1") == a
    assert ledger.release(project, "u:1", a, skip=True)
    assert ledger.take(project, "u:2") == a, "his place is free for others"
    assert ledger.all_of(project, "u:1") == [b, c, a]


def test_a_task_skipped_before_its_turn_comes_last(ledger):
    project = ledger.project(tasks=4)
    a, b, c, d = ledger.tasks(project)
    assert ledger.contribute(project, "u:1") == a
    assert ledger.hold(project, "u:1", c) == "leased"
    assert ledger.release(project, "u:1", c, skip=True)
    assert ledger.all_of(project, "u:1") == [b, d, c]


def test_a_task_given_back_by_another_comes_to_who_has_passed_it(ledger):
    project = ledger.project(tasks=4, n=1)
    a, b, c, d = ledger.tasks(project)
    assert ledger.take(project, "u:9") == a
    assert [ledger.contribute(project, "u:1") for _ in range(2)] == [b, c]
    ledger.release(project, "u:9", a)
    assert ledger.all_of(project, "u:1") == [a, d]


def test_skipped_tasks_that_filled_up_do_not_hide_others(ledger):
    project = ledger.project(tasks=205, n=1)
    tasks = ledger.tasks(project)
    ledger.ask(project, "u:1", limit=200)
    of_project = "FROM lease WHERE project_id = %(p)s"
    with_one_check = f"SELECT count(release_task(%(p)s, 'u:1', task_id, true, clock())) {of_project}"
    assert ledger.change(with_one_check, p=project) == 200
    ledger.ask(project, "u:1", limit=5)
    for task in tasks[200:]:
        ledger.release(project, "u:1", task, skip=True)
    ledger.ask(project, "u:2", limit=200)
    assert sorted(ledger.ask(project, "u:1", limit=5).tasks) == tasks[200:]


def test_one_session_skips_ahead_in_scans_of_every_kind(ledger):
    """PL/pgSQL keeps the plans of a session: the keys of all scans have to have the same types."""
    project = ledger.project(tasks=150, n=2)
    ledger.check = False
    for _ in range(140):
        ledger.contribute(project, "u:1")
    ledger.schedule(project, "random")  # everybody starts again, and passes what they have answered
    ledger.schedule(project, "default")
    assert len(ledger.ask(project, "u:1", limit=20).tasks) == 10
    test_skipped_tasks_that_filled_up_do_not_hide_others(ledger)


def test_a_task_given_back_when_the_page_closed_comes_again(ledger):
    project = ledger.project(tasks=2)
    task = ledger.take(project, "u:1")
    assert ledger.release(project, "u:1", task)
    assert not ledger.release(project, "u:1", task)
    assert ledger.take(project, "u:1") == task


def test_a_task_given_back_may_still_be_answered(ledger):
    project = ledger.project(tasks=1)
    task = ledger.take(project, "u:1")
    ledger.release(project, "u:1", task, skip=True)
    assert ledger.answer(project, "u:1", task).state == "counted"


@shows("lease-task")
def test_the_page_of_a_task_takes_a_lease(ledger):
    project = ledger.project(tasks=3, n=1)
    _, task, _ = ledger.tasks(project)
    assert ledger.hold(project, "u:1", task) == "leased"
    assert ledger.take(project, "u:1") == task
    assert ledger.hold(project, "u:2", task) == "late"
    assert ledger.answer(project, "u:1", task).state == "counted"
    assert ledger.hold(project, "u:1", task) == "answered"
    assert ledger.answer(project, "u:2", task).state == "late"


def test_the_page_of_a_task_opened_again_renews_the_lease(ledger):
    project = ledger.project(tasks=1, n=1)
    (task,) = ledger.tasks(project)
    ledger.hold(project, "u:1", task)
    ledger.pass_time(HOUR - 60)
    assert ledger.hold(project, "u:1", task) == "leased"
    ledger.pass_time(120)
    assert ledger.ask(project, "u:2").state == "wait"


def test_no_page_for_a_task_that_is_not_there(ledger):
    project, other = ledger.project(tasks=1), ledger.project(tasks=1)
    assert ledger.hold(project, "u:1", ledger.tasks(other)[0]) == "no task"
    assert ledger.hold(project + 100, "u:1", 1) == "no project"
    assert ledger.ask(project + 100, "u:1").state == "no project"


@shows("newtask-members")
def test_members_only_bars_anonymous_volunteers(ledger):
    project = ledger.project(tasks=1, n=9, members_only=True)
    (task,) = ledger.tasks(project)
    for actor in ("c:9f", "i:10.0.0.1"):
        assert ledger.ask(project, actor).state == "members only"
        assert ledger.hold(project, actor, task) == "members only"
    for actor in ("u:1", "x:pupil"):
        assert ledger.ask(project, actor).state == "ok"


def test_a_locked_project_opens_for_owners_admins_and_who_knows_the_password(ledger):
    project = ledger.project(tasks=1, n=9, lock_id="k1")
    owner = ledger.value("SELECT owner_id FROM project WHERE id = %(p)s", p=project)
    assert ledger.ask(project, "u:900").state == "locked"
    assert ledger.hold(project, "u:900", ledger.tasks(project)[0]) == "locked"
    assert ledger.ask(project, "u:900", unlocked=["other"]).state == "locked"
    assert ledger.ask(project, "u:900", unlocked=["k1"]).state == "ok"
    assert ledger.ask(project, f"u:{owner}").state == "ok"
    assert ledger.ask(project, "u:901", admin=True).state == "ok"
