"""What a result says of its answers together. The rule itself is among the invariants, which every other test looks for, too."""

from __future__ import annotations

import pytest
from support.checks.invariants import invariants

KEPT = "SELECT consensus, consensus_hash IS NOT NULL AS won, n_compared, agreement FROM result WHERE task_id = %(t)s AND last_version"
DUE = "SELECT count(*) FROM agreement_due"


def answered(ledger, *infos, **project):
    """A project with one task that has these answers; its id and the task's."""
    made = ledger.project(tasks=1, n=len(infos), **project)
    (task,) = ledger.tasks(made)
    for number, info in enumerate(infos):
        ledger.hold(made, f"c:{number}", task)
        ledger.answer(made, f"c:{number}", task, info)
    return made, task


def compare_by(session, project, key):
    session.run("UPDATE project SET info = jsonb_build_object('answer_key', %(k)s) WHERE id = %(p)s", k=key, p=project)


def compare(ledger, project, maximum=100):
    return ledger.change("SELECT compare_results(%(p)s, %(n)s)", p=project, n=maximum)


@pytest.mark.parametrize(
    ("infos", "kept"),
    [
        (["fox", "owl", "fox"], ("fox", True, 3, 1 / 3)),
        (["fox"], ("fox", True, 1, 1.0)),
        (["fox", "owl"], (None, False, 2, 0.0)),
        (["a", "b", "b", "a", "c"], (None, False, 5, 0.2)),
        (["a", "b", "a", "a", "c"], ("a", True, 5, 0.3)),
        ([{"answer": "fox", "seconds": n} for n in range(3)], ("fox", True, 3, 1.0)),
        ([{"answer": 1}, {"answer": 1.0}, {"answer": "1"}], (1, True, 3, 1 / 3)),
        ([{"answer": None}, {"answer": None}, {"answer": False}], (None, True, 3, 1 / 3)),
        ([{"x": 1}, {"answer": 1}, {"x": 1}], ({"x": 1}, True, 3, 1 / 3)),
        (["x" * 1998, "x" * 1998], ("x" * 1998, True, 2, 1.0)),
        (["x" * 1999, "x" * 1999], (None, True, 2, 1.0)),
    ],
)
def test_a_result_keeps_the_most_frequent_value_and_the_share_of_equal_pairs(ledger, infos, kept):
    _, task = answered(ledger, *infos)
    row = ledger.row(KEPT, t=task)
    assert (row["consensus"], row["won"], row["n_compared"]) == kept[:3]
    assert row["agreement"] == pytest.approx(kept[3])


def test_each_version_keeps_its_own(ledger):
    project, task = answered(ledger, "fox", "owl", "fox")
    (run, *_) = ledger.counted(task)
    ledger.delete_run(project, run)
    ledger.hold(project, "c:new", task)
    ledger.answer(project, "c:new", task, "owl")
    versions = ledger.rows("SELECT consensus FROM result WHERE task_id = %(t)s ORDER BY version", t=task)
    assert [row["consensus"] for row in versions] == ["fox", "owl"]


def test_another_key_lets_results_be_compared_again_piece_by_piece(ledger):
    project = ledger.project(tasks=3, n=2)
    for actor, kind in (("c:a", "fox"), ("c:b", "owl")):
        for task in ledger.tasks(project):
            ledger.hold(project, actor, task)
            ledger.answer(project, actor, task, {"kind": kind, "sure": True})
    assert [ledger.row(KEPT, t=task)["agreement"] for task in ledger.tasks(project)] == [0.0] * 3
    compare_by(ledger, project, "sure")
    assert ledger.value(DUE) == 1
    assert [compare(ledger, project, 2), compare(ledger, project, 2)] == [2, 1] and ledger.value(DUE) == 0
    for task in ledger.tasks(project):
        assert ledger.row(KEPT, t=task) == {"consensus": True, "won": True, "n_compared": 2, "agreement": 1.0}
    assert compare(ledger, project) == 0, "nothing is due"
    ledger.run("UPDATE project SET info = info || '{\"other\": 1}' WHERE id = %(p)s", p=project)
    assert ledger.value(DUE) == 0, "another change is none of the key"


def test_a_task_that_is_completed_by_the_old_key_is_waited_for(ledger, beside):
    project = ledger.project(tasks=1, n=1)
    (task,) = ledger.tasks(project)
    ledger.hold(project, "c:a", task)
    late = beside()
    late.answer(project, "c:a", task, {"kind": "fox", "answer": "yes"})
    compare_by(ledger, project, "kind")
    assert compare(ledger, project) == 0 and ledger.value(DUE) == 1
    late.commit()
    assert ledger.row(KEPT, t=task)["consensus"] == "yes"
    assert compare(ledger, project) == 1 and ledger.value(DUE) == 0
    assert ledger.row(KEPT, t=task)["consensus"] == "fox"


def test_a_key_that_changes_while_results_are_compared_is_compared_by_afterwards(ledger, beside):
    project, task = answered(ledger, {"a": "fox", "b": "owl"})
    compare_by(ledger, project, "a")
    first = beside()
    assert first.value("SELECT compare_results(%(p)s, 100)", p=project) == 1
    second = beside()
    second.run("SET lock_timeout = '100ms'")
    with pytest.raises(Exception, match="lock timeout"):
        compare_by(second, project, "b")
    first.commit()
    compare_by(ledger, project, "b")
    assert compare(ledger, project) == 1
    assert ledger.row(KEPT, t=task)["consensus"] == "owl"


def test_a_stamp_of_another_server_does_not_stop_the_comparison(ledger):
    project, _ = answered(ledger, "fox")
    ledger.run("INSERT INTO agreement_due VALUES (%(p)s, 0, 9000000000000000)", p=project)
    assert compare(ledger, project) == 1 and invariants(ledger.connection) == []
