"""Counters of what results say together. That they match the rows is among the invariants, which every other test looks for, too."""

from __future__ import annotations

import pytest
from support.checks.invariants import invariants
from support.checks.proofs import examples

OUTCOMES = (
    "SELECT o.kind, coalesce((SELECT consensus #>> '{}' FROM result WHERE project_id = %(p)s AND consensus_hash = o.hash LIMIT 1), '') AS value, o.tasks"
    " FROM outcomes_of(%(p)s) o WHERE o.tasks <> 0 ORDER BY 1, 2"
)
DIFFERENCES = "SELECT what, key, stored, counted FROM check_outcomes(%(p)s, clock())"


def outcomes(ledger, project):
    """How many tasks have which outcome; one that matches the rows."""
    assert ledger.rows(DIFFERENCES, p=project) == []
    assert invariants(ledger.connection) == []
    return {(row["kind"], row["value"]): row["tasks"] for row in ledger.rows(OUTCOMES, p=project)}


def answer_all(ledger, project, *answers):
    """Each task gets the answers of one tuple."""
    for task, infos in zip(ledger.tasks(project), answers, strict=True):
        for number, info in enumerate(infos):
            ledger.hold(project, f"c:{number}", task)
            ledger.answer(project, f"c:{number}", task, info)


@pytest.fixture
def few(ledger):
    """Only two values of a project get a counter of their own."""
    text = ledger.value("SELECT pg_get_functiondef('max_outcomes'::regproc)")
    ledger.run("CREATE OR REPLACE FUNCTION code.max_outcomes() RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT 2'")
    yield ledger
    ledger.run(text.replace("%", "%%"))


@examples("True")
@pytest.mark.parametrize("fold", [False, True])
def test_counters_follow_whatever_becomes_of_results(ledger, fold):
    def now():
        if fold:
            ledger.fold()
        return outcomes(ledger, project)

    project = ledger.project(tasks=4, n=2)
    first, second, third, fourth = ledger.tasks(project)
    answer_all(ledger, project, ["fox", "fox"], ["fox", "fox"], ["owl", "owl"], ["fox", "owl"])
    assert now() == {("value", "fox"): 2, ("value", "owl"): 1, ("tied", ""): 1}
    ledger.row("SELECT * FROM amend_answer(%(p)s, 'c:1', %(t)s, '\"fox\"', clock())", p=project, t=fourth)
    assert now() == {("value", "fox"): 3, ("value", "owl"): 1}, "an answer is corrected"
    ledger.delete_run(project, ledger.counted(first)[0])
    assert now() == {("value", "fox"): 2, ("value", "owl"): 1}, "an answer is deleted, and its task open again"
    ledger.delete_tasks(project, [second])
    assert now() == {("value", "fox"): 1, ("value", "owl"): 1}, "a task is deleted"
    ledger.set_n(project, [first], 1)
    assert now() == {("value", "fox"): 2, ("value", "owl"): 1}, "a task needs fewer answers"
    ledger.run("UPDATE project SET info = jsonb_build_object('answer_key', 'kind') WHERE id = %(p)s", p=project)
    ledger.run("UPDATE task_run SET info = jsonb_build_object('kind', 'bird') WHERE task_id = %(t)s", t=third)
    ledger.change("SELECT compare_results(%(p)s, 100)", p=project)
    assert now() == {("value", "fox"): 2, ("value", "bird"): 1}, "answers are compared by another key"
    ledger.delete_project(project)
    ledger.sweep(project)
    ledger.fold()
    assert ledger.value("SELECT count(*) FROM outcome_count") == 0


def test_publishing_forgets_what_trials_said(ledger):
    project = ledger.project(tasks=2, n=1, published=False)
    answer_all(ledger, project, ["fox"], ["owl"])
    ledger.fold()
    assert outcomes(ledger, project) == {("value", "fox"): 1, ("value", "owl"): 1}
    assert ledger.publish(project)
    assert outcomes(ledger, project) == {}


def test_completions_with_the_same_outcome_do_not_wait_for_each_other(ledger, beside):
    project = ledger.project(tasks=2, n=1)
    one, other = ledger.tasks(project)
    for actor, task in (("c:a", one), ("c:b", other)):
        ledger.hold(project, actor, task)
    first, second = beside(), beside()
    first.answer(project, "c:a", one, "fox")
    second.run("SET lock_timeout = '200ms'")
    second.answer(project, "c:b", other, "fox")
    assert outcomes(ledger, project) == {}
    second.commit()
    ledger.fold()
    assert outcomes(ledger, project) == {("value", "fox"): 1}
    first.commit()
    assert outcomes(ledger, project) == {("value", "fox"): 2}


def test_a_fold_between_a_result_and_its_end_loses_neither(ledger, beside):
    project = ledger.project(tasks=1, n=1)
    (task,) = ledger.tasks(project)
    answer_all(ledger, project, ["fox"])
    gone = beside()
    gone.delete_run(project, ledger.counted(task)[0])
    ledger.fold()
    assert outcomes(ledger, project) == {("value", "fox"): 1}
    gone.commit()
    assert outcomes(ledger, project) == {}
    ledger.fold()
    assert outcomes(ledger, project) == {}


def test_values_beyond_the_bound_are_counted_together_until_they_are_chosen_again(few):
    project = few.project(tasks=7, n=1)
    answer_all(few, project, *([word] for word in ("a", "b", "b", "c", "c", "c", "d")))
    assert len(outcomes(few, project)) == 4, "what is not folded has no bound"
    few.fold()
    assert outcomes(few, project) == {("value", "c"): 3, ("value", "b"): 2, ("other", ""): 2}, (
        "the most frequent come first"
    )
    (more,) = few.add(project, [0], n=1)
    few.hold(project, "c:0", more)
    few.answer(project, "c:0", more, "d")
    assert outcomes(few, project)["other", ""] == 3, "also while it is not folded"
    few.delete_tasks(project, few.tasks(project)[1:6])
    few.fold()
    assert outcomes(few, project) == {("other", ""): 3}, (
        "a free place is not given to a value that others are counted with"
    )
    few.change("SELECT choose_outcomes(%(p)s)", p=project)
    assert outcomes(few, project) == {("value", "d"): 2, ("value", "a"): 1}
    (more,) = few.add(project, [0], n=1)
    few.hold(project, "c:0", more)
    few.answer(project, "c:0", more, "d")
    few.change("SELECT choose_outcomes(%(p)s)", p=project)
    assert outcomes(few, project) == {("value", "d"): 3, ("value", "a"): 1}, "what is not folded is not counted twice"
    few.fold()
    assert outcomes(few, project) == {("value", "d"): 3, ("value", "a"): 1}


def test_a_choice_waits_for_no_answer_and_misses_none(ledger, beside):
    project = ledger.project(tasks=2, n=1)
    one, other = ledger.tasks(project)
    for actor, task in (("c:a", one), ("c:b", other)):
        ledger.hold(project, actor, task)
    ledger.answer(project, "c:a", one, "fox")
    late = beside()
    late.answer(project, "c:b", other, "fox")
    ledger.change("SELECT choose_outcomes(%(p)s)", p=project)
    assert outcomes(ledger, project) == {("value", "fox"): 1}
    late.commit()
    assert outcomes(ledger, project) == {("value", "fox"): 2}
    ledger.fold()
    assert outcomes(ledger, project) == {("value", "fox"): 2}
