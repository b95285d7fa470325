"""Tasks of a file, many in one statement: which are added, in which order, and what their ledger rows say."""

from __future__ import annotations

import pytest
from psycopg2.extras import Json

ADD = "SELECT import_new_tasks(%(p)s, %(runs)s, %(again)s, clock())::text"
ROWS = (
    "SELECT t.info, l.n_answers, l.priority_0, t.quorum, t.calibration FROM task t"
    " JOIN task_ledger l ON l.task_id = t.id WHERE t.project_id = %(p)s ORDER BY l.ordinal"
)
LEDGER = (
    "SELECT ordinal, n_answers, max_answers, mode::text, priority_0, rank, open, level, requeued_xid IS NULL AS last"
    " FROM task_ledger WHERE project_id = %(p)s ORDER BY ordinal"
)


def run(*infos, **attributes):
    """Tasks that follow each other with the same attributes."""
    return {"infos": infos, "n_answers": 2, "priority_0": 0.0, "quorum": 0, "calibration": 0, **attributes}


def add(ledger, project, *runs, again=False):
    """How many were added, and how many were there."""
    added, present = ledger.change(ADD, p=project, runs=Json(runs), again=again).strip("()").split(",")
    return int(added), int(present)


def test_runs_of_tasks_are_added_in_order_with_their_attributes(ledger):
    project = ledger.project(published=False)
    runs = (run("a", None, n_answers=3, quorum=7), run({"b": 1.0}, priority_0=0.5), run([], calibration=1))
    assert add(ledger, project, *runs) == (4, 0)
    assert [tuple(row.values()) for row in ledger.rows(ROWS, p=project)] == [
        ("a", 3, 0.0, 7, 0), (None, 3, 0.0, 7, 0), ({"b": 1.0}, 2, 0.5, 0, 0), ([], 2, 0.0, 0, 1),
    ]  # fmt: skip
    ids = [row["task_id"] for row in ledger.rows("SELECT task_id FROM task_ledger ORDER BY ordinal")]
    assert ids == sorted(ids)
    assert add(ledger, project) == (0, 0)


def test_a_task_that_is_there_or_stands_twice_is_added_once_and_the_first_counts(ledger):
    project, other = ledger.project(published=False), ledger.project(published=False)
    assert add(ledger, other, run("a", "b")) == (2, 0), "tasks of another project are not in the way"
    runs = (run("b", {"x": 1, "y": None}), run("a", {"y": None, "x": 1}, "b", n_answers=5), run(None, None))
    assert add(ledger, project, *runs) == (4, 3)
    tasks = [(row["info"], row["n_answers"]) for row in ledger.rows(ROWS, p=project)]
    assert tasks == [("b", 2), ({"x": 1, "y": None}, 2), ("a", 5), (None, 2)]
    assert add(ledger, project, run("c", "a", None)) == (1, 2)
    assert add(ledger, project, run("c", "a", None), again=True) == (3, 0)
    assert len(ledger.tasks(project)) == 8


@pytest.mark.parametrize("sched", ["default", "breadth_first", "depth_first_all", "incremental", "random", "locked"])
def test_a_ledger_row_is_as_the_trigger_would_have_it(ledger, sched):
    project = ledger.project(sched=sched, published=False)
    ledger.add(project, [0.0, 0.5, 0.25], n=3)
    rows = ledger.rows(LEDGER, p=project)
    ledger.run("UPDATE task_ledger SET priority_0 = priority_0 WHERE project_id = %(p)s", p=project)  # by the trigger
    assert ledger.rows(LEDGER, p=project) == rows and len(rows) == 3
    assert [row["rank"] for row in rows] == [-0.0, -0.5, -0.25]


def test_what_a_deleted_project_gets_is_nothing(ledger):
    assert ledger.value("SELECT add_tasks(0, %(t)s, clock())", t=Json([{"info": 1, "n_answers": 1}])) is None


def test_what_tasks_take_is_counted_once(ledger):
    project = ledger.project(published=False)
    bytes_ = "SELECT coalesce(sum(bytes), 0) FROM stat_delta WHERE project_id = %(p)s"
    before = ledger.value(bytes_, p=project)
    add(ledger, project, run("four", "six66"), run({"a": "ü"}))
    assert ledger.value(bytes_, p=project) - before == len('"four"') + len('"six66"') + len('{"a": "ü"}'.encode())
    ledger.delete_tasks(project, ledger.tasks(project))
    assert ledger.value(bytes_, p=project) == before
