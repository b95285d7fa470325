"""Two or three sessions at once, interleaved on purpose: one holds its transaction open, another runs into it."""

from __future__ import annotations

import pytest
from psycopg2 import errors
from support.checks.invariants import invariants
from support.checks.shows import shows
from support.ledger import Meanwhile


def whole(ledger, *sessions, highest=0):
    """Everybody has committed, and everything is right."""
    for session in sessions:
        session.commit()
    assert invariants(ledger.connection, highest) == []


@shows("task-complete")
def test_two_last_answers_at_once_are_both_in_the_one_result(ledger, beside):
    project = ledger.project(tasks=1, n=2)
    task = ledger.take(project, "u:1")
    ledger.take(project, "u:2")
    first, second = beside(), beside()
    one = first.answer(project, "u:1", task)
    other = Meanwhile(second.answer, project, "u:2", task)
    ledger.wait_until_blocked(second)
    first.commit()
    two = other.result()
    whole(ledger, second)
    (result,) = ledger.results(task)
    assert result["task_run_ids"] == sorted([one.run, two.run])
    assert ledger.events(project) == [("task_completed", task)]


def test_of_two_late_answers_for_one_place_one_counts(ledger, beside):
    project = ledger.project(tasks=1, n=1)
    for actor in ("u:1", "u:2", "u:3"):
        task = ledger.take(project, actor)
        ledger.pass_time(3601)
    ledger.release(project, "u:3", task)
    first, second = beside(), beside()
    one = first.answer(project, "u:1", task)
    other = Meanwhile(second.answer, project, "u:2", task)
    ledger.wait_until_blocked(second)
    first.commit()
    assert (one.state, other.result().state) == ("counted", "late")
    whole(ledger, second)


def test_the_same_answer_sent_twice_at_once_is_stored_once(ledger, beside):
    project = ledger.project(tasks=1, n=2)
    task = ledger.take(project, "u:1")
    first, second = beside(), beside()
    run = first.answer(project, "u:1", task).run
    other = Meanwhile(second.answer, project, "u:1", task)
    ledger.wait_until_blocked(second)
    first.commit()
    again = other.result()
    assert (again.state, again.run) == ("duplicate", run)
    whole(ledger, second)


def test_an_answer_taken_back_leaves_the_lease_to_the_other(ledger, beside):
    project = ledger.project(tasks=1, n=1)
    task = ledger.take(project, "u:1")
    first, second = beside(), beside()
    first.answer(project, "u:1", task)
    other = Meanwhile(second.answer, project, "u:1", task)
    ledger.wait_until_blocked(second)
    first.connection.rollback()
    assert other.result().state == "counted"
    whole(ledger, second)


def test_the_same_volunteer_asking_twice_at_once_is_given_the_same_task(ledger, beside):
    project = ledger.project(tasks=5, n=2)
    first, second = beside(), beside()
    task = first.take(project, "u:1")
    other = Meanwhile(second.take, project, "u:1")
    ledger.wait_until_blocked(second)
    first.commit()
    assert other.result() == task
    whole(ledger, second)
    assert ledger.value("SELECT count(*) FROM lease") == 1


def test_offset_zero_and_one_asked_at_once_are_two_tasks(ledger, beside):
    project = ledger.project(tasks=5, n=2)
    first, second = beside(), beside()
    preloaded = first.take(project, "u:1", offset=1)
    other = Meanwhile(second.take, project, "u:1")
    ledger.wait_until_blocked(second)
    first.commit()
    assert {other.result(), preloaded} == set(ledger.tasks(project)[:2])
    whole(ledger, second)


def test_a_neighbour_at_work_on_a_task_is_passed_by(ledger, beside):
    project = ledger.project(tasks=2, n=2)
    a, b = ledger.tasks(project)
    neighbour = beside()
    assert neighbour.take(project, "u:1") == a
    assert ledger.take(project, "u:2") == b
    whole(ledger, neighbour)
    ledger.answer(project, "u:2", b)
    assert ledger.take(project, "u:2") == a, "his position stopped before what was locked"


def test_the_last_open_task_is_waited_for(ledger, beside):
    project = ledger.project(tasks=1, n=2)
    (task,) = ledger.tasks(project)
    neighbour, asking = beside(), beside()
    neighbour.take(project, "u:1")
    other = Meanwhile(asking.ask, project, "u:2", once=True)
    ledger.wait_until_blocked(asking)
    neighbour.commit()
    assert other.result().tasks == [task]
    whole(ledger, asking)


def test_a_skipped_task_in_a_neighbours_hands_is_waited_for(ledger, beside):
    project = ledger.project(tasks=1, n=2)
    task = ledger.take(project, "u:1")
    ledger.release(project, "u:1", task, skip=True)
    neighbour, asking = beside(), beside()
    neighbour.take(project, "u:2")
    other = Meanwhile(asking.ask, project, "u:1", once=True)
    ledger.wait_until_blocked(asking)
    neighbour.commit()
    assert other.result().tasks == [task]
    whole(ledger, asking)


def test_a_scheduler_changed_meanwhile_is_no_end_of_the_tasks(ledger, beside):
    project = ledger.project(tasks=3, sched="breadth_first")
    first, second = beside(), beside()
    first.run("SELECT pg_advisory_xact_lock(hashtextextended('u:1', %(p)s))", p=project)
    other = Meanwhile(second.ask, project, "u:1", once=True)
    ledger.wait_until_blocked(second)
    ledger.schedule(project, "default")
    first.commit()
    assert other.result().state == "again"
    whole(ledger, second, highest=ledger.highest)


def test_who_waited_for_a_task_that_filled_up_is_told_to_ask_again(ledger, beside):
    project = ledger.project(tasks=1, n=1)
    neighbour, asking = beside(), beside()
    neighbour.take(project, "u:1")
    other = Meanwhile(asking.ask, project, "u:2", once=True)
    ledger.wait_until_blocked(asking)
    neighbour.commit()
    assert other.result().state == "again"
    asking.commit()
    assert ledger.ask(project, "u:2").state == "wait"


def test_nobody_waits_while_he_holds_a_task_himself(ledger, beside):
    project = ledger.project(tasks=2, n=1)
    lapsed = ledger.take(project, "u:1")
    ledger.pass_time(3601)
    neighbour = beside()
    assert neighbour.hold(project, "u:2", ledger.tasks(project)[1]) == "leased"
    assert ledger.take(project, "u:3") == lapsed
    ledger.pass_time(3601)
    blocked = beside()
    blocked.run("SELECT FROM task_ledger WHERE task_id = %(t)s FOR UPDATE", t=lapsed)
    whole(ledger, neighbour)
    ledger.pass_time(3601)
    assert ledger.ask(project, "u:4", limit=2, once=True).tasks == [ledger.tasks(project)[1]]
    blocked.commit()


def test_who_has_taken_a_lapsed_lease_back_waits_for_nobody(ledger, beside):
    project = ledger.project(tasks=1, n=2)
    answered = ledger.contribute(project, "u:4")
    assert ledger.take(project, "u:1") == answered
    (other,) = ledger.add(project, [0.0], n=1)
    ledger.pass_time(3601)
    busy = beside()
    busy.run("SELECT FROM task_ledger WHERE task_id = %(t)s FOR UPDATE", t=other)
    assert ledger.ask(project, "u:4", once=True).state == "again"
    busy.commit()
    assert ledger.take(project, "u:4") == other


def test_a_task_freed_behind_a_volunteer_by_a_transaction_that_ends_late_is_met(ledger, beside):
    project = ledger.project(tasks=3, n=1)
    a, b, c = ledger.tasks(project)
    assert [ledger.take(project, actor) for actor in ("u:7", "u:8")] == [a, b]
    slow = beside()
    slow.release(project, "u:7", a)
    ledger.release(project, "u:8", b)
    assert ledger.contribute(project, "u:1") in (b, c)
    ledger.all_of(project, "u:1")
    slow.commit()
    assert ledger.take(project, "u:1") == a, "its stamp is older than what he has passed"


def test_a_position_on_returns_stays_before_the_oldest_transaction(ledger, beside):
    project = ledger.project(tasks=40, n=1)
    tasks = [ledger.take(project, "u:7"), *ledger.ask(project, "u:8", limit=39).tasks]
    slow = beside()
    slow.release(project, "u:7", tasks[0])
    for task in tasks[1:]:
        ledger.release(project, "u:8", task)
    assert sorted(ledger.all_of(project, "u:1", limit=8)) == tasks[1:]
    assert ledger.ask(project, "u:2").state == "wait"
    slow.commit()
    assert ledger.take(project, "u:2") == tasks[0], "nor did the floor pass it"


def test_by_level_too_the_oldest_transaction_is_not_passed(ledger, beside):
    project = ledger.project(tasks=3, n=1, sched="breadth_first")
    held, others = ledger.take(project, "u:7"), ledger.ask(project, "u:8", limit=2).tasks
    slow = beside()
    slow.release(project, "u:7", held)
    for task in others:
        ledger.release(project, "u:8", task)
    assert sorted(ledger.all_of(project, "u:1")) == sorted(others)
    slow.commit()
    assert ledger.all_of(project, "u:1") == [held]


def stop_at_first_lease(ledger, beside, actor):
    """A volunteer stands still while he is given his first lease, until the session that comes back commits."""
    ledger.run(
        "CREATE FUNCTION public.stand_still() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " PERFORM pg_advisory_xact_lock(42); RETURN NEW; END $$;"
        " CREATE TRIGGER stand_still BEFORE INSERT ON lease FOR EACH ROW"
        f" WHEN (NEW.actor = '{actor}') EXECUTE FUNCTION public.stand_still()"
    )
    holding = beside()
    holding.run("SELECT pg_advisory_xact_lock(42)")
    return holding


def test_a_level_found_is_looked_at_again_under_the_lock(ledger, beside):
    project = ledger.project(tasks=3, n=2, sched="breadth_first")
    a, b, c = ledger.tasks(project)
    stop, walking = stop_at_first_lease(ledger, beside, "u:1"), beside()
    other = Meanwhile(walking.ask, project, "u:1", limit=2)
    ledger.wait_until_blocked(walking)
    assert ledger.take(project, "u:2") == b
    stop.commit()
    assert other.result().tasks == [a, c], "b has an answer on its way, c has none"
    whole(ledger, walking)


def test_a_task_that_the_caller_answers_at_this_moment_is_not_leased_to_him(ledger, beside):
    project = ledger.project(tasks=3, n=2)
    a, b, c = ledger.tasks(project)
    assert ledger.ask(project, "u:1", limit=2).tasks == [a, b]
    for task in (a, b):
        ledger.release(project, "u:1", task)
    stop, walking = stop_at_first_lease(ledger, beside, "u:1"), beside()
    other = Meanwhile(walking.ask, project, "u:1", limit=2)
    ledger.wait_until_blocked(walking)
    assert ledger.answer(project, "u:1", b).state == "counted"
    stop.commit()
    assert other.result().tasks == [a, c]
    whole(ledger, walking)


def test_tasks_added_by_a_transaction_that_ends_late_are_met(ledger, beside):
    project = ledger.project(tasks=2)
    slow, later = beside(), beside()
    (urgent,) = slow.add(project, [5.0])
    other = Meanwhile(later.add, project, [0.0])
    ledger.wait_until_blocked(later)
    ledger.all_of(project, "u:1")
    slow.commit()
    (last,) = other.result()
    whole(ledger, later)
    assert last > urgent
    assert sorted(ledger.all_of(project, "u:1")) == [urgent, last]


def test_an_import_and_a_lowered_priority_agree_on_the_end_of_the_order(ledger, beside):
    project = ledger.project(tasks=2)
    lowering, adding = beside(), beside()
    lowering.set_priority(project, ledger.tasks(project)[:1], -5.0)
    other = Meanwhile(adding.add, project, [-3.0])
    ledger.wait_until_blocked(adding)
    lowering.commit()
    ledger.all_of(project, "u:1")
    (between,) = other.result()
    whole(ledger, adding)
    assert ledger.all_of(project, "u:1") == [between]


def test_publishing_waits_for_an_answer_that_is_being_stored(ledger, beside):
    project = ledger.project(tasks=1, n=1, published=False)
    task = ledger.take(project, "u:1")
    answering, publishing = beside(), beside()
    answering.answer(project, "u:1", task)
    other = Meanwhile(publishing.publish, project)
    ledger.wait_until_blocked(publishing)
    answering.commit()
    assert other.result()
    whole(ledger, publishing)
    assert ledger.value("SELECT count(*) FROM task_run") == 0
    assert ledger.figures(project)["n_counted"] == 0


def test_an_answer_that_waits_for_publishing_is_no_trial(ledger, beside):
    project = ledger.project(tasks=1, n=1, published=False)
    task = ledger.take(project, "u:1")
    answering, publishing = beside(), beside()
    publishing.publish(project)
    other = Meanwhile(answering.answer, project, "u:1", task)
    ledger.wait_until_blocked(answering)
    publishing.commit()
    assert other.result().state == "counted"
    whole(ledger, answering)
    assert ledger.events(project) == [("task_completed", task)]


def test_lowering_redundancy_while_an_answer_is_being_stored(ledger, beside):
    project = ledger.project(tasks=1, n=2)
    task = ledger.take(project, "u:1")
    answering, editing = beside(), beside()
    run = answering.answer(project, "u:1", task).run
    other = Meanwhile(editing.set_n, project, [task], 1)
    ledger.wait_until_blocked(editing)
    answering.commit()
    assert other.result() == 1
    whole(ledger, editing)
    assert [result["task_run_ids"] for result in ledger.results(task)] == [[run]]


def test_an_answer_that_waits_for_a_lowered_redundancy_comes_late(ledger, beside):
    project = ledger.project(tasks=1, n=2)
    (task,) = ledger.tasks(project)
    ledger.contribute(project, "u:1")
    ledger.take(project, "u:2")
    answering, editing = beside(), beside()
    editing.set_n(project, [task], 1)
    other = Meanwhile(answering.answer, project, "u:2", task)
    ledger.wait_until_blocked(answering)
    editing.commit()
    assert other.result().state == "late"
    whole(ledger, answering)


def test_two_who_take_back_the_same_lapsed_leases_share_them(ledger, beside):
    project = ledger.project(tasks=4, n=1)
    tasks = ledger.ask(project, "u:1", limit=4).tasks
    ledger.pass_time(3601)
    first, second = beside(), beside()
    mine = first.take(project, "u:2")
    theirs = second.ask(project, "u:3", once=True)
    assert theirs.state == "again", "all of them are in the first one's hands"
    whole(ledger, first, second)
    assert mine in tasks
    assert ledger.ask(project, "u:3").tasks == [task for task in tasks if task != mine][:1]
    assert ledger.value("SELECT count(*) FROM expired_lease") == 4


def test_a_lease_being_taken_back_and_answered_at_once(ledger, beside):
    project = ledger.project(tasks=1, n=1)
    task = ledger.take(project, "u:1")
    ledger.pass_time(3601)
    taking, answering = beside(), beside()
    assert taking.take(project, "u:2") == task
    other = Meanwhile(answering.answer, project, "u:1", task)
    ledger.wait_until_blocked(answering)
    taking.commit()
    assert other.result().state == "late"
    whole(ledger, answering)


def test_a_lapsed_lease_being_renewed_while_another_takes_it_back(ledger, beside):
    project = ledger.project(tasks=1, n=1)
    ledger.take(project, "u:1")
    ledger.pass_time(3601)
    taking, renewing = beside(), beside()
    taking.take(project, "u:2")
    other = Meanwhile(renewing.ask, project, "u:1", once=True)
    ledger.wait_until_blocked(renewing)
    taking.commit()
    assert other.result().state == "wait"
    whole(ledger, renewing)


def test_an_answer_to_a_task_that_is_being_deleted_finds_no_task(ledger, beside):
    project = ledger.project(tasks=2, n=1)
    task = ledger.take(project, "u:1")
    deleting, answering = beside(), beside()
    deleting.delete_tasks(project, [task])
    other = Meanwhile(answering.answer, project, "u:1", task)
    ledger.wait_until_blocked(answering)
    deleting.commit()
    assert other.result().state == "no task"
    whole(ledger, answering)


def test_deleting_a_task_waits_for_its_answer_and_takes_it_along(ledger, beside):
    project = ledger.project(tasks=2, n=1)
    task = ledger.take(project, "u:1")
    deleting, answering = beside(), beside()
    answering.answer(project, "u:1", task)
    other = Meanwhile(deleting.delete_tasks, project, [task])
    ledger.wait_until_blocked(deleting)
    answering.commit()
    assert other.result() == 1
    whole(ledger, deleting)
    assert ledger.value("SELECT count(*) FROM task_run") == 0


def test_an_answer_deleted_twice_at_once_is_deleted_once(ledger, beside):
    project = ledger.project(tasks=1, n=1)
    task = ledger.contribute(project, "u:1")
    (run,) = ledger.counted(task)
    first, second = beside(), beside()
    assert first.delete_run(project, run)
    other = Meanwhile(second.delete_run, project, run)
    ledger.wait_until_blocked(second)
    first.commit()
    assert not other.result()
    whole(ledger, second)


def batch(session, project, tasks):
    """Answers of u:1 or u:2 to several tasks in one transaction."""
    actor, order = tasks
    return [session.answer(project, actor, task).state for task in order]


def test_batches_of_answers_in_the_same_order_wait_and_do_not_lock_each_other_out(ledger, beside):
    project = ledger.project(tasks=3, n=2)
    a, b, c = ledger.ask(project, "u:1", limit=3).tasks
    ledger.ask(project, "u:2", limit=3)
    first, second = beside(), beside()
    batch(first, project, ("u:1", [a]))
    other = Meanwhile(batch, second, project, ("u:2", [a, b, c]))
    ledger.wait_until_blocked(second)
    assert batch(first, project, ("u:1", [b, c])) == ["counted", "counted"]
    first.commit()
    assert other.result() == ["counted"] * 3
    whole(ledger, second)
    assert len(ledger.events(project)) == 3


def test_batches_in_opposite_orders_would(ledger, beside):
    """Why answers of a batch are sorted by task."""
    project = ledger.project(tasks=2, n=2)
    a, b = ledger.ask(project, "u:1", limit=2).tasks
    ledger.ask(project, "u:2", limit=2)
    first, second = beside(), beside()
    batch(first, project, ("u:1", [a]))
    batch(second, project, ("u:2", [b]))
    other = Meanwhile(batch, first, project, ("u:1", [b]))
    ledger.wait_until_blocked(first)
    with pytest.raises(errors.DeadlockDetected):
        try:
            batch(second, project, ("u:2", [a]))
        except errors.DeadlockDetected:
            second.connection.rollback()
            other.result()
            raise
        other.result()
    first.connection.rollback()
    second.connection.rollback()
    whole(ledger)


def test_nobody_waits_for_a_position(ledger, beside):
    project = ledger.project(tasks=3)
    ledger.contribute(project, "u:1")
    asking = beside()
    asking.take(project, "u:1")
    ledger.schedule(project, "random")
    whole(ledger, asking, highest=ledger.highest)
    ledger.all_of(project, "u:1")


def test_publishing_and_changing_a_project_take_its_rows_in_one_order(ledger, beside):
    project = ledger.project(tasks=1, published=False)
    changing, publishing = beside(), beside()
    changing.run("SELECT FROM project WHERE id = %(p)s FOR UPDATE", p=project)
    other = Meanwhile(publishing.publish, project)
    ledger.wait_until_blocked(publishing)
    changing.run("UPDATE project_ledger SET members_only = true WHERE project_id = %(p)s", p=project)
    changing.commit()
    assert other.result()
    whole(ledger, publishing)


def test_an_answer_on_its_way_goes_with_its_deleted_project(ledger, beside):
    project = ledger.project(tasks=1, n=1)
    task = ledger.take(project, "u:7")
    answering = beside()
    answering.answer(project, "u:7", task)
    assert ledger.delete_project(project)
    other = Meanwhile(ledger.sweep, project)
    answering.wait_until_blocked(ledger)
    answering.commit()
    other.result()
    assert invariants(ledger.connection) == []
    for table in ("task_run", "result", "event", "task_ledger", "project_stat"):
        assert ledger.value(f"SELECT count(*) FROM {table}") == 0, table
    assert ledger.rows("SELECT * FROM score WHERE runs <> 0") == []


def test_a_project_is_deleted_after_an_answer_of_its_owner_that_is_on_its_way(ledger, beside):
    project = ledger.project(tasks=1, n=2)
    owner = f"u:{ledger.value('SELECT owner_id FROM project')}"
    task = ledger.take(project, owner)
    ledger.take(project, "u:7")
    answering, deleting = beside(), beside()
    answering.answer(project, owner, task)
    other = Meanwhile(deleting.delete_project, project)
    ledger.wait_until_blocked(deleting)
    answering.commit()
    assert other.result()
    assert answering.answer(project, owner, task).state == "duplicate"
    answering.commit()
    deleting.commit()
    assert answering.answer(project, owner, task).state == "no task"
    answering.commit()
    ledger.sweep(project)
    whole(ledger)
    assert ledger.rows("SELECT * FROM score WHERE runs <> 0") == []


def test_answer_without_a_lease_waits_for_nobody(ledger, beside):
    project = ledger.project(tasks=1, n=2)
    task = ledger.take(project, "u:1")
    first, second = beside(), beside()
    first.answer(project, "u:1", task)  # its row is locked until the commit
    with second.connection.cursor() as cursor:
        cursor.execute("SET lock_timeout = '2s'")
    assert second.answer(project, "u:9", task).state == "no lease"
    assert second.answer(project, "u:9", task + 1000).state == "no task"
    whole(ledger, first, second)


_WAITING_TAKE_OVER = """
ALTER FUNCTION take_over(project_ledger, asker, timestamptz) RENAME TO take_over_after_all;
CREATE FUNCTION take_over(p project_ledger, v asker, p_now timestamptz, OUT task bigint, OUT busy boolean, OUT ended int) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(42);
    SELECT * INTO task, busy, ended FROM take_over_after_all(p, v, p_now);
END $$;
"""


@pytest.mark.parametrize("sched", ["default", "breadth_first", "incremental"])
def test_a_task_given_back_while_somebody_looks_is_not_nothing_left(ledger, beside, sched):
    project = ledger.project(tasks=1, n=1)
    ledger.schedule(project, sched)
    task = ledger.take(project, "u:1")
    holding, asking = beside(), beside()
    holding.rows("SELECT pg_advisory_xact_lock(42)")
    asking.run(_WAITING_TAKE_OVER)  # after the scan, before it looks for leases
    other = Meanwhile(asking.ask, project, "u:2", once=True)
    ledger.wait_until_blocked(asking)
    ledger.release(project, "u:1", task)
    holding.commit()
    assert other.result().state == "again"
    assert asking.take(project, "u:2") == task
    asking.connection.rollback()
    whole(ledger)


def test_whoever_has_answered_what_came_back_is_told_that_nothing_is_left(ledger, beside):
    project = ledger.project(tasks=1, n=2)
    task = ledger.contribute(project, "u:2")
    ledger.take(project, "u:1")
    holding, asking = beside(), beside()
    holding.rows("SELECT pg_advisory_xact_lock(42)")
    asking.run(_WAITING_TAKE_OVER)
    other = Meanwhile(asking.ask, project, "u:2", once=True)
    ledger.wait_until_blocked(asking)
    ledger.release(project, "u:1", task)
    holding.commit()
    assert other.result().state == "none"
    asking.connection.rollback()
    whole(ledger)


def test_row_that_is_locked_in_vain_is_no_row_that_is_busy(ledger, beside):
    """Who holds the row of a task must not wait for another one: null says so, false that there is no such row."""
    project = ledger.project(tasks=3, n=1)
    full, busy, open_ = ledger.tasks(project)
    ledger.hold(project, "u:1", full)
    neighbour, asking = beside(), beside()
    neighbour.run("SELECT FROM task_ledger WHERE task_id = %(t)s FOR UPDATE", t=busy)
    grant = (
        "SELECT grant_lease(p, asker_of(p, ARRAY['u:9'], ''), %(t)s, 0, false, NULL, clock())"
        " FROM project_ledger p WHERE project_id = %(p)s"
    )
    assert [asking.value(grant, p=project, t=task) for task in (full, busy, open_)] == [None, False, True]
    whole(ledger, neighbour, asking)


@shows("scheduler-change")
def test_a_task_deleted_while_the_scheduler_changes_leaves_none_out(ledger, beside):
    project = ledger.project(tasks=4, n=1)
    tasks = ledger.tasks(project)
    ledger.run("SELECT begin_scheduler(%(p)s)", p=project)
    first, second = beside(), beside()
    first.delete_tasks(project, tasks[:1])
    step = "SELECT convert_tasks(%(p)s, 'breadth_first', %(a)s, 2, clock())"
    other = Meanwhile(second.change, step, p=project, a=0)
    ledger.wait_until_blocked(second)
    first.commit()
    last = other.result()
    second.commit()
    ledger.change("SELECT set_scheduler(%(p)s, 'breadth_first', clock(), %(a)s)", p=project, a=last)
    assert set(ledger.all_of(project, "u:1")) == set(tasks[1:])
    whole(ledger)
