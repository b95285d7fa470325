"""Answers put under another volunteer: claimed, or left behind. Every invariant is looked for after every change."""

from __future__ import annotations

import pytest
from support.checks.proofs import examples
from support.ledger import Meanwhile, account

MOVE = "SELECT move_runs(%(p)s, %(a)s, %(was)s, %(to)s, %(user)s, %(ip)s, %(tasks)s, clock())"
SCHEDULERS = ("default", "breadth_first", "depth_first_all", "random", "incremental")


def move(ledger, project, actor, to, tasks):
    """Puts answers to these tasks under another volunteer; how many moved."""
    ip = to[2:] if to.startswith("i:") else None
    return ledger.change(MOVE, p=project, a=actor, was=account(actor), to=to, user=account(to), ip=ip, tasks=tasks)


def move_rights(ledger, project, actor, to):
    return ledger.change("SELECT move_rights(%(p)s, %(a)s, %(to)s, clock())", p=project, a=actor, to=to)


def owners(ledger, project):
    rows = ledger.rows(
        "SELECT task_id, actor FROM task_run WHERE project_id = %(p)s ORDER BY task_id, actor", p=project
    )
    return [(row["task_id"], row["actor"]) for row in rows]


@examples("c:a-u:7-default", "u:7-i:fd00::1-random")
@pytest.mark.parametrize("sched", SCHEDULERS)
@pytest.mark.parametrize(("actor", "to"), [("c:a", "u:7"), ("u:7", "i:fd00::1")])
def test_answers_move_with_their_figures_and_their_giver_starts_over(ledger, sched, actor, to):
    project = ledger.project(tasks=6, n=3, sched=sched)
    ledger.highest = 1000 if sched == "depth_first_all" else 0
    done = [ledger.contribute(project, actor) for _ in range(3)]
    ledger.contribute(project, "c:other")
    ledger.fold()
    done.append(ledger.contribute(project, actor))
    assert move(ledger, project, actor, to, done) == 4
    assert {owner for task, owner in owners(ledger, project) if task in done} <= {to, "c:other"}
    ledger.fold()
    figures = ledger.figures(project)
    known = 4 if to.startswith("u:") else 0
    assert (figures["runs_authenticated"], figures["runs_anonymous"]) == (known, 5 - known)
    met = set(ledger.all_of(project, actor))
    assert len(met) == 6, "he has answered nothing any more"
    assert not set(ledger.all_of(project, to)) & set(done)


def test_where_the_other_has_answered_the_answer_stays(ledger):
    project = ledger.project(tasks=2, n=3)
    first = ledger.contribute(project, "u:7")
    mine = [ledger.contribute(project, "c:a") for _ in range(2)]
    assert first in mine and move(ledger, project, "c:a", "u:7", mine) == 1
    assert (first, "c:a") in owners(ledger, project)
    assert move(ledger, project, "c:a", "u:7", mine) == 0


def test_only_answers_to_the_named_tasks_of_the_project_move(ledger):
    project, other = ledger.project(tasks=2, n=2), ledger.project(tasks=2, n=2)
    mine = [ledger.contribute(project, "c:a") for _ in range(2)]
    theirs = ledger.contribute(other, "c:a")
    assert move(ledger, project, "c:a", "u:7", [mine[0], theirs, 10**9]) == 1
    assert (theirs, "c:a") in owners(ledger, other) and (mine[1], "c:a") in owners(ledger, project)


def test_what_the_other_holds_of_these_tasks_becomes_free(ledger):
    project = ledger.project(tasks=1, n=2)
    (task,) = ledger.tasks(project)
    assert ledger.take(project, "u:7") == task
    ledger.contribute(project, "c:a")
    assert ledger.ask(project, "c:late").state == "wait"
    assert move(ledger, project, "c:a", "u:7", [task]) == 1
    assert ledger.ledger(task)["leases"] == 0 and ledger.take(project, "c:late") == task


def test_a_place_that_becomes_free_goes_to_a_late_answer_first(ledger):
    project = ledger.project(tasks=1, n=2)
    (task,) = ledger.tasks(project)
    ledger.take(project, "c:late")
    ledger.pass_time(2 * 3600)
    ledger.contribute(project, "c:a")
    ledger.take(project, "u:7")
    assert ledger.answer(project, "c:late", task).state == "late"
    move(ledger, project, "c:a", "u:7", [task])
    assert ledger.ledger(task)["done"] and ledger.events(project) == [("task_completed", task)]


def test_leases_live_and_past_go_along(ledger):
    project = ledger.project(tasks=3, n=1)
    held = ledger.take(project, "c:a")
    past = ledger.take(project, "c:a", offset=1)
    ledger.release(project, "c:a", past, skip=True)
    assert move_rights(ledger, project, "c:a", "u:7") == 2
    assert ledger.answer(project, "u:7", held).state == "counted"
    assert ledger.answer(project, "u:7", past).state == "counted"
    assert ledger.answer(project, "c:a", held).state == "no lease"


def test_a_lease_of_both_stays_with_each(ledger):
    project = ledger.project(tasks=1, n=2)
    (task,) = ledger.tasks(project)
    ledger.take(project, "c:a")
    ledger.take(project, "u:7")
    assert move_rights(ledger, project, "c:a", "u:7") == 0 and ledger.ledger(task)["leases"] == 2


def test_an_answer_of_the_other_on_its_way_is_waited_for(ledger, beside):
    """Else both answers would be his."""
    project = ledger.project(tasks=1, n=3)
    task = ledger.contribute(project, "c:a")
    ledger.take(project, "u:7")
    submitting, moving = beside(), beside()
    assert submitting.answer(project, "u:7", task).state == "counted"
    moved = Meanwhile(move, moving, project, "c:a", "u:7", [task])
    ledger.wait_until_blocked(moving)
    submitting.connection.commit()
    assert moved.result() == 0
    moving.connection.commit()
    assert owners(ledger, project) == [(task, "c:a"), (task, "u:7")]
    assert ledger.fold() is not None


def test_two_that_move_to_and_fro_do_not_wait_for_each_other_for_ever(ledger, beside):
    project = ledger.project(tasks=4, n=3)
    one = [ledger.contribute(project, "c:a") for _ in range(4)]
    two = [ledger.contribute(project, "c:b") for _ in range(4)]
    first, second = beside(), beside()
    assert move(first, project, "c:a", "u:7", one) == 4
    other = Meanwhile(move, second, project, "c:b", "c:a", two)
    ledger.wait_until_blocked(second)
    first.connection.commit()
    assert other.result() == 4
    second.connection.commit()
    assert {owner for _, owner in owners(ledger, project)} == {"u:7", "c:a"}
    assert ledger.fold() is not None


def words(ledger, project):
    rows = ledger.rows("SELECT actor, word FROM volunteer_word WHERE project_id = %(p)s", p=project)
    return {row["actor"]: row["word"] for row in rows}


@pytest.mark.parametrize(("actor", "to"), [("c:a", "u:7"), ("u:7", "i:fd00::1")])
def test_the_code_of_answers_goes_along_bit_by_bit_and_names_one_volunteer(ledger, actor, to):
    project = ledger.project(tasks=3, n=2)
    done = [ledger.contribute(project, actor) for _ in range(3)]
    first = ledger.value("SELECT volunteer_word(%(p)s, %(a)s)", p=project, a=actor)
    for task in done:
        assert move(ledger, project, actor, to, [task]) == 1
        now = words(ledger, project)
        assert now.keys() == {actor, to} and now[to] == first != now[actor]
    own = ledger.value("SELECT volunteer_word(%(p)s, 'u:8')", p=project)
    assert move(ledger, project, to, "u:8", done) == 3
    assert words(ledger, project)["u:8"] == own, "somebody who has a code keeps it"


def test_an_account_that_answers_while_it_claims_has_one_code(ledger, beside):
    project = ledger.project(tasks=3, n=2)
    mine = ledger.contribute(project, "c:a")
    before = ledger.value("SELECT volunteer_word(%(p)s, 'c:a')", p=project)
    answering, claiming = beside(), beside()
    code = answering.value("SELECT volunteer_word(%(p)s, 'u:7')", p=project)
    moving = Meanwhile(claiming.value, MOVE, p=project, a="c:a", was=None, to="u:7", user=7, ip=None, tasks=[mine])
    answering.wait_until_blocked(claiming)
    answering.commit()
    assert moving.result() == 1
    claiming.commit()
    assert words(ledger, project) == {"u:7": code, "c:a": before}
