"""Placeless leases: where there are gold tasks, a full task is leased as a gold task is, and nobody loses a place by it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from ledger.trust.test_mixing_gold import always, end, make
from support.ledger import Ledger, Meanwhile

LEASE = 3600


@pytest.fixture
def full(ledger: Ledger) -> tuple[int, int, list[int]]:
    """A project with a gold task that is never drawn: the project, a task that is finished, and the open ones."""
    project = ledger.project(tasks=5, n=1, sched="depth_first")
    gold, done, *others = ledger.tasks(project)
    make(ledger, project, gold)
    always(ledger, project, 0)
    ledger.hold(project, "u:9", done)
    assert ledger.answer(project, "u:9", done).state == "counted"
    return project, done, others


def placeless(ledger: Ledger) -> list[tuple[str, int]]:
    rows = ledger.rows("SELECT actor, task_id FROM expired_lease WHERE placeless ORDER BY 1, 2")
    return [(row["actor"], row["task_id"]) for row in rows]


def renew(ledger: Ledger, project: int, actor: str, task: int) -> str:
    call = "SELECT state FROM renew_task(%(p)s, %(a)s, 1, false, '{}', %(t)s, clock())"
    return str(ledger.change(call, p=project, a=actor, t=task))


def test_it_is_leased_renewed_given_again_and_answered_and_takes_no_place(
    ledger: Ledger, full: tuple[int, int, list[int]]
) -> None:
    project, done, others = full
    assert ledger.hold(project, "u:1", done) == "leased" == ledger.hold(project, "u:1", done)
    assert ledger.ledger(done)["leases"] == 0 and placeless(ledger) == [("u:1", done)]
    assert ledger.take(project, "u:1") == done == ledger.take(project, "u:1")
    assert ledger.ask(project, "u:1", 2).tasks == [done, others[0]]
    assert ledger.ask(project, "u:1", wait=False, once=True).state == "again", "not beside others in one transaction"
    assert renew(ledger, project, "u:1", done) == "leased"
    ledger.pass_time(LEASE - 1)
    assert ledger.answer(project, "u:1", done).late is None
    assert placeless(ledger) == [] and len(ledger.results(done)) == 1


def test_it_lapses_like_a_lease(ledger: Ledger, full: tuple[int, int, list[int]]) -> None:
    project, done, others = full
    ledger.hold(project, "u:1", done)
    ledger.pass_time(LEASE + 1)
    assert ledger.take(project, "u:1") == done, "nobody has asked meanwhile: it is prolonged"
    ledger.pass_time(LEASE + 1)
    assert ledger.take(project, "u:2") == others[0]
    assert placeless(ledger) == [] and ledger.take(project, "u:1") == others[1]
    assert ledger.answer(project, "u:1", done).late >= 1
    # After six lease times it is over, until the task is named again.
    ledger.hold(project, "u:3", done)
    for _ in range(7):
        ledger.pass_time(LEASE - 60)
        state = renew(ledger, project, "u:3", done)
    assert state == "late" == renew(ledger, project, "u:3", done) == ledger.hold(project, "u:3", done)
    assert ledger.hold(project, "u:3", done) == "leased"


def test_it_is_given_back_and_skipped(ledger: Ledger, full: tuple[int, int, list[int]]) -> None:
    project, done, others = full
    for skip in (False, True):
        ledger.hold(project, "u:1", done)
        assert ledger.release(project, "u:1", done, skip=skip) is True
        assert ledger.release(project, "u:1", done) is False
    assert placeless(ledger) == [] and ledger.take(project, "u:1") == others[0]
    assert renew(ledger, project, "u:1", done) == "none"


def test_it_takes_a_place_that_has_become_free(ledger: Ledger, full: tuple[int, int, list[int]]) -> None:
    project, done, others = full
    ledger.hold(project, "u:1", done)
    ledger.pass_time(60)
    assert ledger.take(project, "u:1") == done
    ledger.set_n(project, [done], 2)
    assert ledger.ask(project, "u:1", 2).tasks == [done, others[0]], "in the order in which they were given"
    assert placeless(ledger) == [] and ledger.ledger(done)["leases"] == 1
    assert ledger.answer(project, "u:1", done).state == "counted"


def test_who_finds_the_place_locked_meets_the_task_again(
    ledger: Ledger, full: tuple[int, int, list[int]], beside: Callable[[], Ledger]
) -> None:
    project, done, _others = full
    ledger.hold(project, "u:1", done)
    ledger.set_n(project, [done], 2)
    other = beside()
    other.run("SELECT FROM task_ledger WHERE task_id = %(t)s FOR UPDATE", t=done)
    assert ledger.ask(project, "u:1", once=True).state in ("ok", "again")
    other.commit()
    for _ in range(4):
        ledger.contribute(project, "u:1")
    assert ledger.ledger(done)["answers"] == 2


def test_it_is_answered_while_its_holder_asks(
    ledger: Ledger, full: tuple[int, int, list[int]], beside: Callable[[], Ledger]
) -> None:
    project, done, others = full
    ledger.hold(project, "u:1", done)
    ledger.pass_time(LEASE + 1)
    answering, asking = beside(), beside()
    answering.answer(project, "u:1", done)
    asked = Meanwhile(asking.take, project, "u:1")
    ledger.wait_until_blocked(asking)
    answering.commit()
    assert asked.result() == others[0]
    asking.commit()
    assert ledger.broken() == []


def test_soft_lease_that_somebody_takes_over_stays_with_its_holder(ledger: Ledger) -> None:
    project = ledger.project(tasks=4, n=1, sched="depth_first")
    gold, *others = ledger.tasks(project)
    make(ledger, project, gold)
    always(ledger, project, 0)
    for task in others:
        assert ledger.hold(project, "u:1", task) == "leased"
    assert ledger.take(project, "u:2") == others[2], "beyond the firm ones"
    assert placeless(ledger) == [("u:1", others[2])]
    assert ledger.ask(project, "u:1", 3).tasks == others
    assert ledger.answer(project, "u:2", others[2]).state == "counted"
    assert ledger.answer(project, "u:1", others[2]).state == "late"


def test_holders_of_a_gold_task_that_ends_keep_it_while_there_are_others(ledger: Ledger) -> None:
    project = ledger.project(tasks=4, n=1)
    first, second, *_others = ledger.tasks(project)
    for task in (first, second):
        make(ledger, project, task)
        ledger.hold(project, "u:1", task)
    assert end(ledger, project, first)
    assert ledger.ask(project, "u:1", 2).tasks == [first, second]
    assert ledger.ledger(first)["leases"] == 1, "it takes a place now"
    assert end(ledger, project, second)
    assert placeless(ledger) == [] and ledger.take(project, "u:1") == first


def test_two_hundred_tasks_are_leased_at_most(ledger: Ledger, full: tuple[int, int, list[int]]) -> None:
    project, done, others = full
    ledger.run(
        "INSERT INTO expired_lease SELECT %(p)s, 'u:1', -n, clock(), clock() + interval '1 hour', false, true"
        " FROM generate_series(1, 200) n",
        p=project,
    )
    ledger.check = False
    for task in (done, others[0]):
        assert ledger.hold(project, "u:1", task) == "late"


def test_all_that_have_lapsed_are_prolonged(ledger: Ledger) -> None:
    project = ledger.project(tasks=4, n=1, sched="depth_first")
    gold, first, second, _other = ledger.tasks(project)
    make(ledger, project, gold)
    always(ledger, project, 0)
    for task in (first, second):
        ledger.hold(project, "u:9", task)
        ledger.answer(project, "u:9", task)
        assert ledger.hold(project, "u:1", task) == "leased"
    ledger.pass_time(LEASE + 1)
    assert ledger.ask(project, "u:1", 2).tasks == [first, second]
    assert ledger.answer(project, "u:1", second).late is None


@pytest.mark.parametrize("kind", ["full", "gold"])
def test_it_is_one_with_those_of_other_actors_of_the_person(ledger: Ledger, kind: str) -> None:
    project = ledger.project(tasks=5, n=1, sched="depth_first")
    gold, done, *others = ledger.tasks(project)
    make(ledger, project, gold)
    always(ledger, project, 0)
    ledger.contribute(project, "u:9")
    task = gold if kind == "gold" else done
    ledger.link("c:tab", "u:1")
    assert ledger.hold(project, "c:tab", task) == "leased" == renew(ledger, project, "u:1", task)
    assert ledger.hold(project, "u:1", task) == "leased", "it makes room"
    assert renew(ledger, project, "c:tab", task) == "leased"
    assert ledger.ask(project, "u:1", 2).tasks == [task, others[0]]
    assert ledger.take(project, "c:tab") == others[1], "its own has ended"
    ledger.pass_time(60)
    assert ledger.release(project, "c:tab", task) is True
    assert ledger.ask(project, "u:1").tasks == [others[0]]
    # Who has an expired one answers in time by that of the other.
    assert ledger.hold(project, "c:tab", task) == "leased"
    assert ledger.answer(project, "u:1", task).late is None
    assert placeless(ledger) == []
    # What one had before both were known to be one person is not handed out once the other has answered.
    for actor in ("u:2", "c:two"):
        assert ledger.hold(project, actor, task) == "leased"
    ledger.answer(project, "u:2", task)
    ledger.link("c:two", "u:2")
    assert ledger.take(project, "c:two") == others[2]
    assert ledger.hold(project, "c:two", task) == "answered"


def test_nobody_waits_in_a_circle_for_a_place_and_the_lease_that_would_take_it(
    ledger: Ledger, full: tuple[int, int, list[int]], beside: Callable[[], Ledger]
) -> None:
    """Who asks holds their placeless leases; who answers, or names the task, holds the task and waits for the lease."""
    project, done, others = full
    ledger.hold(project, "u:1", done)
    for task in others:
        ledger.hold(project, "u:9", task)
        ledger.answer(project, "u:9", task)
    ledger.set_n(project, [done], 2)
    for asker in ("u:1", "u:2"):  # the holder, and somebody who ends what has lapsed
        ledger.pass_time(LEASE + 1)
        answering, asking = beside(), beside()
        answering.run("SELECT FROM task_ledger WHERE task_id = %(t)s FOR UPDATE", t=done)
        assert asking.ask(project, asker, once=True).state == "again"
        assert asking.value("SELECT count(*) FROM expired_lease WHERE placeless AND expires <= clock()") == 0
        answered = Meanwhile(answering.answer, project, "u:1", done)
        ledger.wait_until_blocked(answering)
        asking.commit()
        assert answered.result().state == "counted"
        answering.run("ROLLBACK")
    assert ledger.broken() == []
