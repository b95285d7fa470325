"""Nobody waits in a circle with an answer of a class that has not appeared before."""

from __future__ import annotations

import pytest
from support.ledger import Meanwhile

from crowdd.features.tasks.settings import AT_ONCE


@pytest.fixture
def project(ledger):
    """Two tasks whose answers are of any class, one leased by u:1."""
    project = ledger.project()
    ledger.declare(project, min_answers=1, confidence=0.9)
    ledger.add(project, [0.0, 0.0], n=4)
    ledger.take(project, "u:1")
    return project


def test_answer_of_a_new_class_while_the_owner_changes_when_tasks_stop(ledger, beside, project):
    owner, volunteer = beside(), beside()
    (task, _) = ledger.tasks(project)
    owner.run("UPDATE project SET info = jsonb_set(info, '{trust,min_answers}', '2') WHERE id = %(p)s", p=project)
    answering = Meanwhile(volunteer.answer, project, "u:1", task, {"answer": "owl"})
    ledger.wait_until_blocked(volunteer)
    owner.effect("set_stopping(%(p)s, %(t)s, false, clock())", p=project, t=ledger.tasks(project))
    owner.commit()
    assert answering.result().state == "counted"
    volunteer.commit()
    assert ledger.broken() == []


def test_answer_of_a_new_class_while_a_volunteer_is_lifted_and_folded(ledger, beside, project):
    task, other = ledger.tasks(project)
    ledger.hold(project, "u:8", other)
    ledger.answer(project, "u:8", other, {"answer": "fox"})
    ledger.run("UPDATE task_run SET unreliable = true, counted = false WHERE actor = 'u:8'")
    ledger.run("UPDATE task_ledger SET answers = 0, uncounted = 1 WHERE task_id = %(t)s", t=other)
    ledger.run(
        "INSERT INTO evidence (project_id, task_id, generation, sign, actors, classes, posterior)"
        " SELECT project_id, %(t)s, generation, 1, '{u:8}', '{1}', '{0.9, 0.1}' FROM trust_model",
        t=other,
    )
    volunteer, lifting, folding = beside(), beside(), beside()
    volunteer.run("SELECT FROM task_ledger WHERE task_id = %(t)s FOR UPDATE", t=other)
    lifted = Meanwhile(lifting.effect, "lift(%(p)s, %(t)s, 'u:8', clock())", p=project, t=[other])
    ledger.wait_until_blocked(lifting)
    folding.run("SELECT fold_evidence(%(p)s)", p=project)
    folding.commit()
    assert volunteer.answer(project, "u:1", task, {"answer": "owl"}).state == "counted"
    volunteer.commit()
    assert lifted.result()[3] == 1


def test_what_one_transaction_may_change_is_declared_alike(ledger):
    assert ledger.value("SELECT tasks_at_once()") == AT_ONCE
