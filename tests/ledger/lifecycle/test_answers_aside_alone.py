"""Single answers that an owner sets aside and takes back, as the ledger does it."""

from __future__ import annotations

from support.checks.invariants import invariants
from support.checks.shows import shows
from support.ledger import Meanwhile


def aside(ledger, project, task, *runs):
    return ledger.effect(
        "set_answers_aside(%(p)s, %(t)s, %(r)s, 'blurred', NULL, clock())", p=project, t=task, r=list(runs)
    )


def back(ledger, project, task, *runs):
    return ledger.effect("take_answers_back(%(p)s, %(t)s, %(r)s, clock())", p=project, t=task, r=list(runs))


def answered(ledger, project, *actors):
    """A task, and the answers of these people to it."""
    task = 0
    for actor in actors:
        task = ledger.contribute(project, actor)
    return task, [row["id"] for row in ledger.rows("SELECT id FROM task_run WHERE task_id = %(t)s ORDER BY id", t=task)]


def counted(ledger, task):
    return [row["id"] for row in ledger.rows("SELECT id FROM task_run WHERE task_id = %(t)s AND counted", t=task)]


@shows("answer-set-aside")
def test_task_opens_again_for_one_answer_and_ends_with_it(ledger):
    project = ledger.project(tasks=1, n=2)
    task, (ada, bob) = answered(ledger, project, "u:1", "u:2")
    assert aside(ledger, project, task, ada) == (1, 0, 1, 1)
    assert counted(ledger, task) == [bob] and not ledger.ledger(task)["done"]
    assert ledger.ask(project, "u:1").state == "none"  # who gave it does not meet the task again
    ledger.contribute(project, "u:3")
    (first, last) = ledger.results(task)
    assert (first["last_version"], last["last_version"]) == (False, True) and ada not in last["task_run_ids"]
    assert [kind for kind, _ in ledger.events(project)] == ["task_completed", "result_updated"]
    assert back(ledger, project, task, ada) == (1, 0, 0, 1)  # its place has been taken: it is a late answer
    assert len(counted(ledger, task)) == 2 and len(ledger.results(task)) == 2


@shows("answer-set-aside")
def test_taken_back_it_counts_where_a_place_is_free(ledger):
    project = ledger.project(tasks=1, n=2)
    task, (ada, bob) = answered(ledger, project, "u:1", "u:2")
    aside(ledger, project, task, ada, bob)
    assert counted(ledger, task) == []
    assert back(ledger, project, task, ada, bob) == (1, 1, 0, 2)
    assert counted(ledger, task) == [ada, bob] and ledger.ledger(task)["done"]
    assert back(ledger, project, task, ada) == (0, 0, 0, 0)


def test_late_answer_counts_in_its_place_at_once(ledger):
    project = ledger.project(tasks=1, n=1)
    task = ledger.contribute(project, "u:1")
    ledger.hold(project, "u:2", task)
    late = ledger.answer(project, "u:2", task).run
    (ada,) = counted(ledger, task)
    assert aside(ledger, project, task, ada, 999) == (1, 0, 0, 1)
    assert counted(ledger, task) == [late] and ledger.ledger(task)["done"]


def test_bar_of_the_volunteer_and_their_one_answer_are_taken_back_apart(ledger):
    project = ledger.project(tasks=2, n=1)
    task, (run,) = answered(ledger, project, "u:1")
    aside(ledger, project, task, run)
    bar = ledger.change("SELECT bar(%(p)s, 'u:1', NULL, 1, '', clock())", p=project)
    assert ledger.effect("set_aside(%(p)s, %(t)s, %(b)s, clock())", p=project, t=[task], b=bar) == (0, 0, 0, 0)
    assert back(ledger, project, task, run) == (1, 0, 0, 1)
    assert counted(ledger, task) == []  # by the bar now
    ledger.change("SELECT unbar(%(p)s, %(b)s)", p=project, b=bar)
    ledger.row("SELECT * FROM bring_back(%(p)s, %(b)s, 0, 100, clock())", p=project, b=bar)
    assert counted(ledger, task) == [run]


def test_answers_to_gold_tasks_and_to_other_tasks_stay(ledger):
    project = ledger.project(tasks=2, n=1)
    task, (run,) = answered(ledger, project, "u:1")
    (other,) = [one for one in ledger.tasks(project) if one != task]
    assert aside(ledger, project, other, run) == (0, 0, 0, 0)
    ledger.run("UPDATE task_run SET gold = true WHERE id = %(r)s", r=run)
    assert ledger.value("SELECT answers FROM set_answers_aside(%(p)s, %(t)s, %(r)s, '', NULL, clock())",
        p=project, t=task, r=[run]) == 0  # fmt: skip


def test_an_answer_that_goes_takes_its_reason_with_it(ledger):
    project = ledger.project(tasks=1, n=1)
    task, (run,) = answered(ledger, project, "u:1")
    aside(ledger, project, task, run)
    ledger.change("SELECT delete_run(%(p)s, %(r)s, clock())", p=project, r=run)
    assert ledger.value("SELECT count(*) FROM aside_answer") == 0


@shows("answer-set-aside")
def test_last_answer_and_setting_aside_at_once_are_both_complete(ledger, beside):
    project = ledger.project(tasks=1, n=2)
    task, (run,) = answered(ledger, project, "u:1")
    ledger.take(project, "u:2")
    here, other = beside(), beside()
    assert aside(here, project, task, run) == (1, 0, 0, 1)
    answering = Meanwhile(other.answer, project, "u:2", task)
    ledger.wait_until_blocked(other)
    here.commit()
    assert answering.result().state == "counted"
    other.commit()
    assert invariants(ledger.connection, 0) == []
    assert ledger.ledger(task)["answers"] == 1 and not ledger.ledger(task)["done"]


def test_two_owners_set_the_same_answer_aside_at_once(ledger, beside):
    project = ledger.project(tasks=1, n=1)
    task, (run,) = answered(ledger, project, "u:1")
    here, other = beside(), beside()
    assert aside(here, project, task, run) == (1, 0, 1, 1)
    again = Meanwhile(aside, other, project, task, run)
    ledger.wait_until_blocked(other)
    here.commit()
    assert again.result() == (0, 0, 0, 0)
    other.commit()
    assert invariants(ledger.connection, 0) == []
