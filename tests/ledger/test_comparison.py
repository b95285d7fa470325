"""Texts and marks are compared after the commit: whatever happens meanwhile, the last result says what its answers say."""

from __future__ import annotations

import pytest
from psycopg2.extras import Json

from crowdd.features.results.comparing_process import compare_task

TEXT = {"name": "line", "at": "/line", "type": "text"}
KIND = {"name": "kind", "at": "/kind", "type": "label", "choices": ["fox", "owl"]}
BOXES = {"name": "boxes", "at": "/boxes", "type": "boxes"}
NUMBER = {"name": "count", "at": "/count", "type": "number"}
LAST = "SELECT * FROM result WHERE task_id = %(t)s AND last_version"
EVENTS = "SELECT kind, data FROM event WHERE task_id = %(t)s ORDER BY id"
DUE = "SELECT count(*) FROM comparison_due"
CHECKS = ("check_agreement", "check_outcomes", "check_comparisons", "check_alpha")


def declaring(ledger, *fields, **project):
    made = ledger.project(**project)
    declare(ledger, made, *fields)
    ledger.run("DELETE FROM agreement_due")
    return made


def declare(ledger, project, *fields):
    ledger.run(
        "UPDATE project SET info = info || jsonb_build_object('answers', %(f)s::jsonb) WHERE id = %(p)s",
        p=project,
        f=Json(list(fields)),
    )


def answer(session, project, task, *infos, first=0):
    for number, info in enumerate(infos, first):
        session.hold(project, f"c:{number}", task)
        session.answer(project, f"c:{number}", task, info)


def differences(ledger, project):
    return [row for check in CHECKS for row in ledger.rows(f"SELECT * FROM {check}(%(p)s, clock())", p=project)]


def due(session):
    """What the job has read, and what it is about to store."""
    rows = session.rows("SELECT * FROM due_comparisons(100, 1000)")
    return [
        {name: row[name] for name in ("project_id", "task_id", "result_id", "stamp")}
        | compare_task(row["fields"], row["answers"], row["first_answers"])
        for row in rows
    ]


def store(session, found):
    return [row["id"] for row in session.rows("SELECT * FROM store_comparisons(%(f)s, clock()) s (id)", f=Json(found))]


def test_a_text_has_no_consensus_until_it_is_compared_and_an_event_says_when(ledger):
    project = declaring(ledger, TEXT, NUMBER, tasks=1, n=3)
    (task,) = ledger.tasks(project)
    answer(ledger, project, task, *({"line": text, "count": 2} for text in ("a red fox", "a read fox", "a red fax")))
    row = ledger.row(LAST, t=task)
    assert (row["consensus"], row["n_compared"], row["further"][0]["value"], row["alpha"]) == (None, None, 2, None)
    (completed,) = ledger.rows(EVENTS, t=task)
    assert completed["data"]["consensus"]["line"] is None
    assert ledger.rows("SELECT kind, tasks FROM outcomes_of(%(p)s, 1)", p=project) == [{"kind": "pending", "tasks": 1}]
    assert differences(ledger, project) == []
    assert ledger.compare() == 1
    row = ledger.row(LAST, t=task)
    assert (row["consensus"], row["n_compared"], row["further"][0]["value"]) == ("a red fox", 3, 2)
    assert row["confidence"] == pytest.approx(1 - (0 + 0.1 + 1 / 9) / 3)
    assert row["consensus_hash"] is not None and row["alpha"][0]["values"] == "3"
    _, compared = ledger.rows(EVENTS, t=task)
    assert compared["kind"] == "result_compared"
    assert compared["data"]["consensus"]["line"]["value"] == "a red fox"
    assert ledger.value(DUE) == 0 and ledger.compare() == 0
    assert differences(ledger, project) == []


def test_only_projects_with_fields_have_anything_to_compare(ledger):
    plain, named = ledger.project(tasks=1, n=1), declaring(ledger, {**KIND, "choices": ["fox"]}, tasks=1, n=1)
    unnumbered = declaring(ledger, {"name": "kind", "at": "/kind", "type": "label"}, tasks=1, n=1)
    for project in (plain, named, unnumbered):
        answer(ledger, project, *ledger.tasks(project), {"kind": "fox"})
    assert ledger.rows("SELECT project_id FROM comparison_due") == [{"project_id": named}]
    ledger.compare()
    assert [row["kind"] for row in ledger.rows(EVENTS, t=ledger.tasks(named)[0])] == ["task_completed"]


def test_a_draft_emits_no_event(ledger):
    project = declaring(ledger, TEXT, tasks=1, n=1, published=False)
    (task,) = ledger.tasks(project)
    answer(ledger, project, task, {"line": "a fox"})
    ledger.compare()
    assert ledger.row(LAST, t=task)["consensus"] == "a fox"
    assert ledger.rows(EVENTS, t=task) == []


def test_a_version_that_came_while_the_old_one_was_compared_is_compared_next(ledger):
    project = declaring(ledger, TEXT, tasks=1, n=2)
    (task,) = ledger.tasks(project)
    answer(ledger, project, task, {"line": "a fox"}, {"line": "a fox"})
    old = due(ledger)
    ledger.row(
        "SELECT * FROM amend_answer(%(p)s, 'c:1', %(t)s, %(i)s, clock())", p=project, t=task, i=Json({"line": "an owl"})
    )
    assert store(ledger, old) == []
    assert ledger.row(LAST, t=task)["n_compared"] is None and ledger.value(DUE) == 1
    ledger.compare()
    assert ledger.row(LAST, t=task)["confidence"] < 1
    assert [row["kind"] for row in ledger.rows(EVENTS, t=task)] == [
        "task_completed",
        "result_updated",
        "result_compared",
    ]
    ledger.delete_run(project, ledger.counted(task)[0])
    assert ledger.compare() == 0 and differences(ledger, project) == []
    answer(ledger, project, task, {"line": "an owl"}, first=5)
    old = due(ledger)
    ledger.delete_run(project, ledger.counted(task)[0])
    assert store(ledger, old) == [] and ledger.value(DUE) == 0, "the result is no longer the last"
    assert differences(ledger, project) == []


def test_a_task_or_project_that_goes_meanwhile_takes_its_row_along(ledger):
    project = declaring(ledger, TEXT, tasks=2, n=1)
    first, second = ledger.tasks(project)
    for task in (first, second):
        answer(ledger, project, task, {"line": "a fox"})
    comparisons = due(ledger)
    ledger.delete_tasks(project, [first])
    assert store(ledger, comparisons) == [project]
    assert ledger.row(LAST, t=second)["consensus"] == "a fox" and ledger.value(DUE) == 0
    declare(ledger, project, BOXES)
    ledger.change("SELECT compare_results(%(p)s, 100)", p=project)
    ledger.delete_project(project)
    ledger.sweep(project)
    assert ledger.compare() == 1 and ledger.value(DUE) == 0
    ledger.run("SELECT fold_alpha(1000)")
    assert ledger.value("SELECT count(*) FROM alpha_sum") == ledger.value("SELECT count(*) FROM alpha_delta") == 0


def test_a_ledger_row_that_somebody_holds_is_not_waited_for(ledger, beside):
    project = declaring(ledger, TEXT, tasks=2, n=1)
    first, second = ledger.tasks(project)
    for task in (first, second):
        answer(ledger, project, task, {"line": "a fox"})
    other = beside()
    other.run("SELECT FROM task_ledger WHERE task_id = %(t)s FOR UPDATE", t=first)
    ledger.run("SET lock_timeout = '2s'")
    assert store(ledger, due(ledger)) == [project]
    assert ledger.row(LAST, t=first)["n_compared"] is None and ledger.row(LAST, t=second)["n_compared"] == 1
    other.commit()
    ledger.compare()
    assert ledger.row(LAST, t=first)["n_compared"] == 1 and ledger.value(DUE) == 0


def test_two_that_store_the_same_comparison_store_it_once(ledger, beside):
    project = declaring(ledger, TEXT, tasks=1, n=1)
    (task,) = ledger.tasks(project)
    answer(ledger, project, task, {"line": "a fox"})
    comparisons = due(ledger)
    other = beside()
    assert store(other, comparisons) == [project]
    assert store(ledger, comparisons) == [], "its ledger row is held"
    other.commit()
    assert store(ledger, comparisons) == []
    assert [row["kind"] for row in ledger.rows(EVENTS, t=task)] == ["task_completed", "result_compared"]


def test_changed_fields_have_results_compared_again_behind_fresh_ones_and_without_events(ledger):
    project = declaring(ledger, KIND, tasks=2, n=1)
    old, fresh = ledger.tasks(project)
    answer(ledger, project, old, {"kind": "fox", "line": "a fox"})
    ledger.compare()
    declare(ledger, project, TEXT)
    ledger.change("SELECT compare_results(%(p)s, 100)", p=project)
    row = ledger.row(LAST, t=old)
    assert (row["n_compared"], row["alpha"]) == (None, None)
    answer(ledger, project, fresh, {"line": "an owl"})
    assert [row["task_id"] for row in ledger.rows("SELECT task_id FROM due_comparisons(9, 9)")] == [fresh, old]
    ledger.compare()
    assert ledger.row(LAST, t=old)["consensus"] == "a fox"
    assert [row["kind"] for row in ledger.rows(EVENTS, t=old)] == ["task_completed"]
    assert differences(ledger, project) == []


def test_a_batch_is_bounded_by_its_answers_and_huge_values_are_left_out(ledger):
    project = declaring(ledger, TEXT, tasks=3, n=2)
    for task in ledger.tasks(project):
        answer(ledger, project, task, {"line": "a fox"}, {"line": "x" * 100_001})
    assert len(ledger.rows("SELECT 1 FROM due_comparisons(9, 1)")) == 1
    assert len(ledger.rows("SELECT 1 FROM due_comparisons(9, 3)")) == 2
    assert len(ledger.rows("SELECT 1 FROM due_comparisons(2, 99)")) == 2
    (row,) = ledger.rows("SELECT answers FROM due_comparisons(1, 1)")
    assert row["answers"] == [[["a fox"]], [[]]]


def test_what_waits_and_is_not_due_is_found_and_repaired(ledger):
    project = declaring(ledger, TEXT, tasks=1, n=2)
    (task,) = ledger.tasks(project)
    answer(ledger, project, task, {"line": "a fox"}, {"line": "a fix"})
    ledger.run("DELETE FROM comparison_due")
    assert [row["what"] for row in differences(ledger, project)] == ["results that wait to be compared and are not due"]
    ledger.run("SELECT repair_comparisons(%(p)s, clock())", p=project)
    ledger.compare()
    assert differences(ledger, project) == []
    ledger.run("SELECT fold_alpha(1000)")
    assert differences(ledger, project) == []
    ledger.run("UPDATE alpha_sum SET amount = amount + 1 WHERE part = 'values'")
    assert [row["key"] for row in differences(ledger, project)] == ["field 1 values"]
    ledger.run("SELECT repair_alpha(%(p)s, clock())", p=project)
    assert differences(ledger, project) == []


@pytest.mark.parametrize("fold", [False, True])
def test_alpha_follows_whatever_becomes_of_results(ledger, fold):
    def now():
        ledger.compare()
        if fold:
            ledger.run("SELECT fold_alpha(1000)")
        assert differences(ledger, project) == []
        sums = {}
        for row in ledger.rows("SELECT * FROM alpha_sums(%(p)s)", p=project):
            sums.setdefault(row["field"], {})[row["part"]] = row["amount"]
        return {nth: (int(each["values"]), round(float(each.get("observed", 0)), 6)) for nth, each in sums.items()}

    project = declaring(ledger, KIND, NUMBER, tasks=3, n=2)
    first, second, third = ledger.tasks(project)
    for task in (first, second):
        answer(ledger, project, task, {"kind": "fox", "count": 1}, {"kind": "owl", "count": 3})
    assert now() == {1: (4, 4.0), 2: (4, 16.0)}
    answer(ledger, project, third, {"kind": "fox", "count": 1}, {"kind": "bear"})
    assert now() == {1: (4, 4.0), 2: (4, 16.0)}, "a value that does not fit, and one that is missing"
    amended = Json({"kind": "fox", "count": 1})
    ledger.row("SELECT * FROM amend_answer(%(p)s, 'c:1', %(t)s, %(i)s, clock())", p=project, t=second, i=amended)
    assert now() == {1: (4, 2.0), 2: (4, 8.0)}
    ledger.delete_run(project, ledger.counted(first)[0])
    assert now() == {1: (2, 0.0), 2: (2, 0.0)}
    answer(ledger, project, first, {"kind": "fox", "count": 2}, first=7)
    assert now() == {1: (4, 2.0), 2: (4, 2.0)}
    ledger.delete_tasks(project, [second])
    assert now() == {1: (2, 2.0), 2: (2, 2.0)}
    declare(ledger, project, NUMBER)
    ledger.change("SELECT compare_results(%(p)s, 100)", p=project)
    assert now() == {1: (2, 2.0)}


def test_only_the_first_answers_tell_of_agreement_where_disputed_tasks_get_more(ledger):
    project = declaring(ledger, KIND, tasks=1, n=4)
    ledger.run(
        "UPDATE project SET info = info || %(i)s WHERE id = %(p)s", p=project, i=Json({"trust": {"min_answers": 2}})
    )
    (task,) = ledger.tasks(project)
    answer(ledger, project, task, *({"kind": kind} for kind in ("fox", "fox", "owl", "owl")))
    ledger.compare()
    assert ledger.row(LAST, t=task)["alpha"] == [
        {"tasks": "1", "values": "2", "observed": "0", "class 1": "2", "spread": "0", "spread_tasks": "1"}
    ]


def test_nothing_there_is_an_answer_and_left_out_is_none(ledger):
    area = {"name": "shape", "at": "/shape/0/points", "type": "polygon"}
    project = declaring(ledger, TEXT, area, tasks=4, n=3)
    drawn = {"shape": [{"points": [[0, 0], [9, 0], [9, 9]]}]}
    for task, infos in zip(
        ledger.tasks(project),
        (
            ({"line": [], "shape": []}, {"line": [], "shape": []}, {"line": "a fox", **drawn}),
            ({"line": "a fox", **drawn}, {"line": [], "shape": []}, {}),
            ({"line": None, "shape": None}, {"line": None, "shape": None}, {"line": "a fox", **drawn}),
            ({"line": "a fox", **drawn}, {}, {}),
        ),
        strict=True,
    ):
        answer(ledger, project, task, *infos)
    ledger.compare()
    outcomes = []
    for task in ledger.tasks(project):
        row = ledger.row(LAST, t=task)
        area_said = row["further"][0]
        first = (
            row["consensus"],
            row["consensus_hash"] is not None,
            row["n_compared"],
            row["agreement"],
            row["confidence"],
        )
        outcomes.append(tuple(pytest.approx(each) if isinstance(each, float) else each for each in first))
        assert (area_said["answers"], area_said["confidence"]) == (row["n_compared"], row["confidence"])
        assert ("value" in area_said) is (row["consensus_hash"] is not None)
    third, two = pytest.approx(1 / 3), pytest.approx(2 / 3)
    assert outcomes == [
        ([], True, 3, third, two),
        (None, False, 2, 0, None),
        (None, True, 3, third, two),
        ("a fox", True, 1, 1, 1),
    ]
    assert differences(ledger, project) == []
