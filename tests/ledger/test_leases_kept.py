"""Leases prolonged and given back, alone and while somebody takes them back."""

from __future__ import annotations

from support.checks.invariants import invariants
from support.checks.shows import shows
from support.ledger import Ledger, Meanwhile, account

_RENEW = "SELECT state FROM renew_task(%(p)s, %(a)s, %(me)s, false, '{}', %(t)s, clock())"
_GIVE_BACK = "SELECT give_back(%(p)s, %(a)s, ARRAY[%(t)s]::bigint[], %(skip)s, clock()) > 0"


def renew(session: Ledger, project: int, actor: str, task: int) -> str:
    state: str = session.change(_RENEW, p=project, a=actor, me=account(actor), t=task)
    return state


def give_back(session: Ledger, project: int, actor: str, task: int, *, skip: bool) -> bool:
    done: bool = session.change(_GIVE_BACK, p=project, a=actor, t=task, skip=skip)
    return done


def let_lapse(session: Ledger) -> None:
    session.run("UPDATE lease SET expires = clock() - interval '1 second'")


@shows("lease-renew")
def test_whoever_renews_in_time_keeps_the_task_from_who_takes_it_back(ledger, beside):
    project = ledger.project(tasks=1, n=1)
    task = ledger.take(project, "u:1")
    let_lapse(ledger)
    first, second = beside(), beside()
    assert renew(first, project, "u:1", task) == "leased"
    other = Meanwhile(second.ask, project, "u:2", once=True)
    ledger.wait_until_blocked(second)
    first.commit()
    assert other.result().state in ("wait", "again")
    second.commit()
    assert ledger.value("SELECT actor FROM lease") == "u:1"
    assert invariants(ledger.connection) == []


def test_whoever_renews_too_late_is_told_and_takes_nothing_from_the_other(ledger, beside):
    project = ledger.project(tasks=1, n=1)
    task = ledger.take(project, "u:1")
    let_lapse(ledger)
    first, second = beside(), beside()
    assert first.take(project, "u:2") == task  # has taken it back, and holds it
    other = Meanwhile(renew, second, project, "u:1", task)
    ledger.wait_until_blocked(second)
    first.commit()
    assert other.result() == "late"
    second.commit()
    assert ledger.value("SELECT actor FROM lease") == "u:2"
    assert invariants(ledger.connection) == []


def test_a_lease_given_back_lets_a_late_answer_count(ledger):
    project = ledger.project(tasks=1, n=1)
    task = ledger.take(project, "u:1")
    let_lapse(ledger)
    assert ledger.take(project, "u:2") == task
    assert ledger.answer(project, "u:1", task).state == "late"
    assert give_back(ledger, project, "u:2", task, skip=False)
    assert ledger.events(project) == [("task_completed", task)]


def test_a_task_that_was_lost_can_still_be_skipped(ledger):
    project = ledger.project(tasks=2, n=1)
    first, second = ledger.tasks(project)
    assert ledger.take(project, "u:1") == first
    let_lapse(ledger)
    assert ledger.take(project, "u:2") == first
    assert give_back(ledger, project, "u:1", first, skip=True)
    assert give_back(ledger, project, "u:1", first, skip=True) is False
    assert give_back(ledger, project, "u:2", first, skip=False)
    assert ledger.all_of(project, "u:1") == [second, first]


def test_tasks_given_back_together_come_back_in_their_order(ledger):
    project = ledger.project(tasks=4, n=3)
    tasks = ledger.tasks(project)
    assert ledger.ask(project, "u:1", limit=3).tasks == tasks[:3]
    statement = "SELECT give_back(%(p)s, 'u:1', %(t)s, false, clock())"
    assert ledger.change(statement, p=project, t=[tasks[2], tasks[0], tasks[2], 999]) == 2
    assert ledger.ask(project, "u:1", limit=4).tasks == [tasks[1], tasks[0], tasks[2], tasks[3]]


def test_what_others_are_at_counts_only_where_the_volunteer_could_answer(ledger):
    project = ledger.project(tasks=2, n=2)
    answered = ledger.contribute(project, "u:1")
    assert ledger.take(project, "u:2") == answered
    assert ledger.ask(project, "u:3", limit=1).tasks != [answered]
    other = ledger.take(project, "u:3")
    assert ledger.hold(project, "u:2", other) == "leased"
    assert ledger.ask(project, "u:1").state == "wait"
    held = "SELECT held_by_others(%(p)s, %(a)s)"
    assert [ledger.value(held, p=project, a=actor) for actor in ("u:1", "u:4")] == [1, 2]
