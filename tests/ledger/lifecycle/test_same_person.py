"""One person counts once: what one of their actors has answered is answered for those linked with it (23_same_person.sql)."""

from __future__ import annotations

import pytest
from support.checks.shows import shows
from support.ledger import Meanwhile

from crowdd.database import schema

BOTH_WAYS = pytest.mark.parametrize(("first", "then"), [("c:tab", "u:1"), ("u:1", "c:tab")])
HOUR = 3600


def runs(ledger, task):
    return [
        (row["actor"], row["counted"], row["aside"])
        for row in ledger.rows("SELECT * FROM task_run WHERE task_id = %(t)s ORDER BY id", t=task)
    ]


def answered_by_both(ledger, *actors, n=2, tasks=1):
    """A project, and a task that each of these answered before anything was known of them."""
    project = ledger.project(tasks=tasks, n=n)
    task = ledger.tasks(project)[0]
    for actor in actors:
        ledger.hold(project, actor, task)
        ledger.answer(project, actor, task)
    return project, task


@shows("caller-one-person")
@BOTH_WAYS
@pytest.mark.parametrize("sched", schema.list_schedulers())
def test_what_one_has_answered_is_not_handed_out_to_the_other(ledger, first, then, sched):
    project = ledger.project(tasks=3, n=3, sched=sched)
    answered = ledger.contribute(project, first)
    ledger.link(first, then)
    assert sorted([answered, *ledger.all_of(project, then)]) == ledger.tasks(project)
    assert ledger.ask(project, first).state == "none"
    assert ledger.hold(project, then, answered) == "answered"


@shows("caller-one-person-shared")
def test_accounts_on_a_shared_browser_are_two_people(ledger):
    project = ledger.project(tasks=1, n=3)
    (task,) = ledger.tasks(project)
    ledger.link("c:kiosk", "u:1")
    ledger.link("c:kiosk", "u:2")
    assert ledger.contribute(project, "u:1") == ledger.contribute(project, "u:2") == task
    assert ledger.ask(project, "c:kiosk").state == "none"
    assert ledger.settle() == 0 and len(ledger.counted(task)) == 2


@pytest.mark.parametrize("wait", [True, False])
def test_link_is_made_by_the_request_that_proves_both(ledger, wait):
    project = ledger.project(tasks=2, n=2)
    first = ledger.contribute(project, "c:tab")
    (second,) = ledger.ask(project, "u:1", wait=wait, also="c:tab").tasks
    assert second != first
    assert ledger.answer(project, "u:1", second).state == "counted"
    assert ledger.ask(project, "c:tab").state == "none"


def test_answer_makes_the_link_too(ledger):
    project = ledger.project(tasks=1, n=2)
    task = ledger.take(project, "u:1")
    ledger.contribute(project, "c:tab")
    assert ledger.answer(project, "u:1", task, also="c:tab").state == "duplicate"
    assert ledger.value("SELECT count(*) FROM same_person") == 2
    assert runs(ledger, task) == [("c:tab", True, None)] and ledger.ledger(task)["leases"] == 0


def test_volunteers_known_by_their_network_are_never_linked(ledger):
    project = ledger.project(tasks=1, n=2)
    ledger.take(project, "i:10.0.0.1", also=None)
    ledger.contribute(project, "u:1")
    assert ledger.value("SELECT actors_of(%(p)s, 'i:10.0.0.1')", p=project) == ["i:10.0.0.1"]


@shows("caller-one-person-external")
def test_external_users_are_linked_in_their_project(ledger):
    project, other = ledger.project(tasks=1, n=2), ledger.project(tasks=1, n=2)
    ledger.contribute(project, "x:bob", also="c:tab")
    assert ledger.ask(project, "c:tab").state == "none"
    ledger.contribute(other, "x:bob")  # of another owner
    assert ledger.ask(other, "c:tab").state == "ok"


# Answers


@shows("caller-one-person")
@BOTH_WAYS
def test_second_answer_is_refused_and_its_place_is_free(ledger, first, then):
    project = ledger.project(tasks=1, n=2)
    task = ledger.take(project, then)
    run = ledger.answer(project, first, ledger.take(project, first)).run
    ledger.link(first, then)
    refused = ledger.answer(project, then, task)
    assert (refused.state, refused.run) == ("duplicate", run)
    assert ledger.ledger(task)["leases"] == 0
    assert ledger.answer(project, then, task).state == "duplicate"


@shows("caller-one-person-lease")
@BOTH_WAYS
def test_answer_takes_the_lease_of_the_other_actor(ledger, first, then):
    project = ledger.project(tasks=1, n=1)
    task = ledger.take(project, first)
    granted = ledger.value("SELECT granted FROM lease")
    ledger.link(first, then)
    ledger.pass_time(60)
    assert ledger.answer(project, then, task).state == "counted"
    (run,) = ledger.rows("SELECT actor, created FROM task_run")
    assert (run["actor"], run["created"]) == (then, granted)
    assert ledger.answer(project, first, task).state == "duplicate"


@BOTH_WAYS
def test_answer_takes_the_expired_lease_of_the_other_actor(ledger, first, then):
    project = ledger.project(tasks=2, n=1)
    task = ledger.take(project, first)
    ledger.link(first, then)
    ledger.pass_time(HOUR + 60)
    ledger.take(project, "u:9")
    answered = ledger.answer(project, then, task)
    assert answered.state == "late" and 59 < answered.late < 62
    assert ledger.value("SELECT count(*) FROM expired_lease") == 0


def test_own_lease_is_used_and_that_of_the_other_actor_goes(ledger):
    project = ledger.project(tasks=1, n=2)
    task = ledger.take(project, "c:tab")
    ledger.pass_time(60)
    ledger.take(project, "u:1")
    granted = ledger.value("SELECT granted FROM lease WHERE actor = 'u:1'")
    ledger.link("c:tab", "u:1")
    assert ledger.answer(project, "u:1", task).state == "counted"
    assert ledger.value("SELECT created FROM task_run") == granted
    assert ledger.ledger(task)["leases"] == 0
    assert ledger.contribute(project, "u:2") == task


def test_lease_of_an_account_does_not_count_beyond_the_share_of_the_network(ledger):
    project = ledger.project(tasks=1, n=3)
    ledger.contribute(project, "c:mate", network="10.0.0.1")
    task = ledger.take(project, "u:1", network="10.0.0.1")
    ledger.link("u:1", "c:tab")
    assert ledger.answer(project, "c:tab", task, network="10.0.0.1").state == "surplus"


def test_lease_that_an_account_takes_gives_the_network_its_share_back(ledger):
    project = ledger.project(tasks=1, n=3)
    task = ledger.take(project, "c:tab", network="10.0.0.1")
    ledger.hold(project, "c:mate", task, network="10.0.0.1")
    assert ledger.answer(project, "c:mate", task, network="10.0.0.1").state == "surplus"
    ledger.link("u:1", "c:tab")
    assert ledger.answer(project, "u:1", task).state == "counted"
    assert len(ledger.counted(task)) == 2


def test_other_actor_keeps_and_gives_back_a_lease(ledger):
    project = ledger.project(tasks=2, n=1)
    task = ledger.take(project, "c:tab")
    ledger.link("c:tab", "u:1")
    renew = "SELECT state FROM renew_task(%(p)s, 'u:1', 1, false, '{}', %(t)s, clock())"
    assert ledger.value(renew, p=project, t=task) == "leased"
    assert ledger.release(project, "u:1", task, skip=True)
    other = ledger.contribute(project, "u:1")
    assert other != task
    assert ledger.take(project, "u:1") == task  # what they skipped comes last


def test_last_task_goes_on_with_the_other_actor(ledger):
    project = ledger.project(tasks=1, n=1)
    task = ledger.take(project, "c:tab")
    ledger.link("c:tab", "u:1")
    assert ledger.ask(project, "u:2").state == "wait"
    assert ledger.take(project, "u:1") == task
    assert ledger.answer(project, "u:1", task).state == "counted"


def test_page_of_a_task_takes_the_lease_of_the_other_actor(ledger):
    project = ledger.project(tasks=1, n=1)
    task = ledger.take(project, "c:tab")
    assert ledger.hold(project, "u:1", task) == "late"
    ledger.link("c:tab", "u:1")
    assert ledger.hold(project, "u:1", task) == "leased"
    assert ledger.ledger(task)["leases"] == 1


@pytest.mark.parametrize("wait", [True, False])
def test_own_lease_of_a_task_that_is_answered_by_now_goes(ledger, wait):
    project = ledger.project(tasks=2, n=2)
    task = ledger.take(project, "u:1")
    ledger.contribute(project, "c:tab")
    ledger.link("c:tab", "u:1")
    if not wait:
        assert ledger.ask(project, "u:1", wait=False, once=True).state == "again"
    assert ledger.take(project, "u:1") != task
    assert ledger.ledger(task)["leases"] == 0


# At once


@BOTH_WAYS
def test_of_two_answers_at_once_one_counts(ledger, beside, first, then):
    project = ledger.project(tasks=1, n=2)
    task = ledger.take(project, first)
    ledger.take(project, then)
    ledger.link(first, then)
    one, two = beside(), beside()
    assert one.answer(project, first, task).state == "counted"
    meanwhile = Meanwhile(two.answer, project, then, task)
    ledger.wait_until_blocked(two)
    one.commit()
    assert meanwhile.result().state == "duplicate"
    two.commit()
    assert runs(ledger, task) == [(first, True, None)] and ledger.broken() == []


def test_of_two_answers_at_once_one_counts_where_one_of_them_makes_the_link(ledger, beside):
    project = ledger.project(tasks=1, n=2)
    task = ledger.take(project, "u:1")
    ledger.take(project, "c:tab")
    one, two = beside(), beside()
    assert one.answer(project, "u:1", task, also="c:tab").state == "counted"
    meanwhile = Meanwhile(two.answer, project, "c:tab", task)
    ledger.wait_until_blocked(two)
    one.commit()
    assert meanwhile.result().state == "duplicate"
    two.commit()
    assert ledger.broken() == []


def test_answer_that_was_under_way_when_the_link_was_made_is_found(ledger, beside):
    project = ledger.project(tasks=1, n=2)
    task = ledger.take(project, "u:1")
    ledger.contribute(project, "c:tab")
    slow = beside()
    assert slow.answer(project, "u:1", task).state == "counted"
    ledger.link("c:tab", "u:1")
    assert ledger.settle() == 0
    assert ledger.settle() == 0 and ledger.value("SELECT due IS NOT NULL FROM same_person WHERE actor = 'c:tab'")
    slow.commit()
    assert ledger.settle() == 1
    assert runs(ledger, task) == [("c:tab", True, None), ("u:1", False, 0)]
    assert ledger.rows("SELECT * FROM same_person WHERE due IS NOT NULL") == []


def test_link_never_waits_for_another_transaction(ledger, beside):
    project = ledger.project(tasks=3, n=2)
    one, two = beside(), beside()
    one.link("c:tab", "u:1")
    asked = two.ask(project, "u:1", also="c:tab", once=True)
    assert asked.state == "ok"
    assert two.answer(project, "u:1", asked.tasks[0], also="c:tab").state == "counted"
    one.commit()
    two.commit()
    assert ledger.value("SELECT count(*) FROM same_person") == 2


# Two answers before the link


@shows("caller-one-person-twice")
@BOTH_WAYS
def test_of_two_earlier_answers_the_first_one_counts(ledger, first, then):
    project, task = answered_by_both(ledger, first, then, n=3)
    ledger.link(first, then)
    assert ledger.settle() == 1
    assert runs(ledger, task) == [(first, True, None), (then, False, 0)]
    assert ledger.figures(project)["n_counted"] == 1
    ledger.hold(project, "u:2", task)
    ledger.answer(project, "u:2", task)
    assert runs(ledger, task)[1] == (then, False, 0)  # though a place is free


@shows("caller-one-person-twice")
def test_task_that_one_person_completed_is_open_again(ledger):
    project, task = answered_by_both(ledger, "c:tab", "u:1")
    assert ledger.ledger(task)["done"]
    ledger.link("c:tab", "u:1")
    assert ledger.settle() == 1
    assert not ledger.ledger(task)["done"]
    assert [row["last_version"] for row in ledger.results(task)] == [False]
    assert ledger.contribute(project, "u:2") == task
    assert [kind for kind, _ in ledger.events(project)] == ["task_completed", "result_updated"]
    assert len(ledger.results(task)[1]["task_run_ids"]) == 2


def test_late_answer_of_somebody_else_counts_instead(ledger):
    project = ledger.project(tasks=1, n=2)
    (task,) = ledger.tasks(project)
    for actor in ("c:tab", "u:1", "u:2"):
        ledger.hold(project, actor, task)
        ledger.answer(project, actor, task)
    ledger.link("c:tab", "u:1")
    assert ledger.settle() == 1
    assert runs(ledger, task) == [("c:tab", True, None), ("u:1", False, 0), ("u:2", True, None)]


def test_answer_that_was_set_aside_stays_so_when_its_volunteer_is_let_in_again(ledger):
    project, task = answered_by_both(ledger, "c:tab", "u:1", n=3)
    bar = ledger.value("SELECT bar(%(p)s, 'u:1', NULL, 1, '', clock())", p=project)
    ledger.effect("set_aside(%(p)s, %(t)s, %(b)s, clock())", p=project, t=[task], b=bar)
    ledger.link("c:tab", "u:1")
    assert ledger.settle() == 1
    ledger.value("SELECT bring_back(%(p)s, %(b)s, 0, 10, clock())", p=project, b=bar)
    ledger.change("SELECT unbar(%(p)s, %(b)s)", p=project, b=bar)
    assert runs(ledger, task) == [("c:tab", True, None), ("u:1", False, 0)]


def test_double_answers_of_an_external_user_are_found(ledger):
    project, task = answered_by_both(ledger, "u:1", "x:bob")
    ledger.link("x:bob", "u:1", project)
    assert ledger.settle() == 1
    assert runs(ledger, task) == [("u:1", True, None), ("x:bob", False, 0)]


def test_claimed_answers_leave_no_two_of_one_person(ledger):
    project, task = answered_by_both(ledger, "c:phone", "c:tab", n=3)
    ledger.link("c:phone", "u:1")
    ledger.link("c:tab", "u:1")
    ledger.settle()
    move = "SELECT move_runs(%(p)s, 'c:tab', NULL, 'u:1', 1, NULL, %(t)s, clock())"
    assert ledger.change(move, p=project, t=[task]) == 0
    assert ledger.settle() == 0


def test_who_is_linked_meets_a_task_again_when_its_answer_is_claimed_by_somebody_else(ledger):
    project = ledger.project(tasks=2, n=3)
    task = ledger.contribute(project, "c:kiosk")
    for account in ("u:1", "u:2"):
        ledger.link("c:kiosk", account)
    ledger.all_of(project, "u:2")
    ledger.change("SELECT move_runs(%(p)s, 'c:kiosk', NULL, 'u:1', 1, NULL, %(t)s, clock())", p=project, t=[task])
    assert ledger.take(project, "u:2") == task


def test_check_finds_and_repairs_two_counted_answers(ledger):
    project, task = answered_by_both(ledger, "c:tab", "u:1")
    ledger.check = False
    ledger.run("INSERT INTO same_person VALUES ('c:tab', 0, 'u:1', clock()), ('u:1', 0, 'c:tab', clock())")
    assert len(ledger.broken()) == 1
    differences = ledger.rows("SELECT key FROM check_links(%(p)s, clock())", p=project)
    assert differences == [{"key": f"task {task}"}]
    ledger.run("SELECT repair_links(%(p)s, clock())", p=project)
    assert ledger.broken() == [] and ledger.rows("SELECT * FROM check_links(%(p)s, clock())", p=project) == []


# What is counted, and what goes


@shows("userprogress")
def test_progress_counts_tasks_not_answers(ledger):
    project, _task = answered_by_both(ledger, "c:tab", "u:1", tasks=3)
    ledger.contribute(project, "c:tab")
    ledger.link("c:tab", "u:1")
    ledger.settle()
    answered = "SELECT answered_in(%(p)s, %(a)s)"
    assert [ledger.value(answered, p=project, a=actor) for actor in ("c:tab", "u:1", "u:2")] == [2, 2, 0]
    ledger.fold()
    assert ledger.value(answered, p=project, a="u:1") == 2


def test_only_the_newest_links_remain(ledger):
    for n in range(103):
        ledger.run("SELECT link_actors('u:1', 'c:' || %(n)s, 0, clock())", n=n)
        ledger.pass_time(1)
    assert len(ledger.value("SELECT actors_of(1, 'u:1')")) == 101
    assert ledger.value("SELECT sweep_links(clock() - interval '1 year', 100)") == 3
    others = {row["other"] for row in ledger.rows("SELECT other FROM same_person WHERE actor = 'u:1'")}
    assert others == {f"c:{n}" for n in range(3, 103)} and ledger.broken() == []


def test_links_of_old_browsers_without_answers_go(ledger):
    project = ledger.project(tasks=3, n=2)
    ledger.contribute(project, "c:used")
    ledger.link("c:used", "u:1")
    ledger.link("c:idle", "u:1")
    ledger.link("x:bob", "u:1", project)
    ledger.pass_time(400 * 86400)
    ledger.link("c:new", "u:1")
    assert ledger.change("SELECT sweep_links(clock() - interval '1 year', 100)") == 1
    assert {*ledger.value("SELECT actors_of(%(p)s, 'u:1')", p=project)} == {"u:1", "c:used", "c:new", "x:bob"}


def test_volunteer_meets_again_what_only_an_unlinked_one_has_answered(ledger):
    project = ledger.project(tasks=3, n=2)
    task = ledger.contribute(project, "c:tab")
    ledger.link("c:tab", "u:1")
    ledger.all_of(project, "u:1")
    ledger.run("SELECT unlink_actors('u:1', 'c:tab', 0)")
    assert ledger.broken() == []
    assert ledger.take(project, "u:1") == task


def test_links_of_a_deleted_project_go(ledger):
    project = ledger.project(tasks=1)
    ledger.link("x:bob", "c:tab", project)
    ledger.delete_project(project)
    ledger.sweep(project)
    assert ledger.rows("SELECT * FROM same_person") == []


def test_restored_database_looks_for_double_answers_again(ledger):
    answered_by_both(ledger, "c:tab", "u:1")
    ledger.link("c:tab", "u:1")
    ledger.run("UPDATE same_person SET due = '4611686018427387904' WHERE due IS NOT NULL")  # of another server
    assert ledger.settle() == 0
    ledger.run("SELECT know_cluster(clock(), true)")
    assert ledger.settle() == 1


def test_unlinking_waits_for_who_is_at_the_link_and_holds_nothing_meanwhile(ledger, beside):
    project = ledger.project(tasks=2, n=2)
    for actor in ("c:a", "c:b"):
        ledger.link(actor, "u:1")
    ledger.contribute(project, "u:1")
    one, two = beside(), beside()
    one.run("SELECT pg_advisory_xact_lock(link_key('c:b', 'u:1', 0))")
    assert two.value("SELECT unlink_actors('c:b', 'u:1', 0)") is False
    meanwhile = Meanwhile(two.run, "SELECT unlink_all('u:1')")
    ledger.wait_until_blocked(two)
    ledger.run("SELECT FROM position WHERE actor = 'u:1' FOR UPDATE NOWAIT")
    one.commit()
    meanwhile.result()
    two.commit()
    assert ledger.rows("SELECT * FROM same_person") == []


def test_each_keeps_a_lease_of_their_own(ledger):
    project = ledger.project(tasks=1, n=2)
    task = ledger.take(project, "c:tab")
    ledger.take(project, "u:1")
    ledger.link("c:tab", "u:1")
    ledger.pass_time(60)
    renew = "SELECT state FROM renew_task(%(p)s, %(a)s, NULL, false, '{}', %(t)s, clock())"
    assert ledger.value(renew, p=project, a="u:1", t=task) == "leased"
    renewed = ledger.rows("SELECT actor FROM lease ORDER BY expires DESC")
    assert [row["actor"] for row in renewed] == ["u:1", "c:tab"]
    assert ledger.release(project, "u:1", task)
    assert [row["actor"] for row in ledger.rows("SELECT actor FROM lease")] == ["c:tab"]
