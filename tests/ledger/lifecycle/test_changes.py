"""What owners change of tasks while people work, and that previews say what the change then does."""

from __future__ import annotations

import pytest
from support.checks.proofs import examples
from support.checks.shows import shows


@pytest.fixture
def mixed(ledger):
    """Tasks that want two answers: done; done and a late one; one answer and a lease; a lease; untouched."""
    project = ledger.project(tasks=5, n=2)
    done, late, half, held, fresh = ledger.tasks(project)
    for actor in ("u:1", "u:2"):
        assert ledger.take(project, actor) == done
        ledger.answer(project, actor, done)
    for actor in ("u:1", "u:2"):
        assert ledger.take(project, actor) == late
    ledger.pass_time(3601)
    for actor in ("u:3", "u:4"):
        assert ledger.take(project, actor, order="id-down") in (fresh, held, half, late)
        ledger.release(project, actor, ledger.value("SELECT task_id FROM lease WHERE actor = %(a)s", a=actor))
        assert ledger.hold(project, actor, late) == "leased"
        ledger.answer(project, actor, late)
    assert ledger.answer(project, "u:2", late).state == "late"
    assert ledger.hold(project, "u:1", half) == "leased"
    ledger.answer(project, "u:1", half)
    assert ledger.hold(project, "u:2", half) == "leased"
    assert ledger.hold(project, "u:5", held) == "leased"
    return project, (done, late, half, held, fresh)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("some", [slice(None), slice(1, 3)])
def test_a_preview_of_redundancy_is_what_happens(ledger, mixed, n, some):
    project, tasks = mixed
    values = {"p": project, "t": list(tasks[some]), "n": n}
    before = ledger.effect("preview_redundancy(%(p)s, %(t)s, %(n)s)", **values)
    assert ledger.rows("SELECT FROM task_ledger WHERE n_answers <> 2") == []
    ledger.highest = 2
    assert ledger.effect("set_redundancy(%(p)s, %(t)s, %(n)s, clock())", **values) == before
    assert ledger.effect("preview_redundancy(%(p)s, %(t)s, %(n)s)", **values) == (0, 0, 0, 0)


@shows("change-redundancy")
def test_redundancy_reopens_and_completes_as_the_preview_says(ledger, mixed):
    project, _ = mixed
    everything = {"p": project}
    assert ledger.effect("preview_redundancy(%(p)s, NULL, 3)", **everything) == (5, 0, 1, 0), "the late one counts"
    assert ledger.effect("preview_redundancy(%(p)s, NULL, 1)", **everything) == (5, 1, 0, 0)


def test_the_preview_of_priority_counts_what_changes(ledger, mixed):
    project, tasks = mixed
    ledger.set_priority(project, [tasks[0]], 0.5)
    assert ledger.effect("preview_priority(%(p)s, NULL, 0.5)", p=project) == (4, 0, 0, 0)
    assert ledger.effect("preview_priority(%(p)s, %(t)s, 0.5)", p=project, t=[tasks[0]]) == (0, 0, 0, 0)


@pytest.mark.parametrize("actor", ["u:1", "u:2", "u:3", "u:5", "c:nobody"])
def test_a_preview_of_withdrawing_is_what_happens(ledger, mixed, actor):
    project, tasks = mixed
    values = {"p": project, "a": actor, "t": list(tasks)}
    before = ledger.effect("preview_withdraw(%(p)s, %(t)s, %(a)s)", **values)
    assert before == ledger.effect("preview_withdraw(%(p)s, NULL, %(a)s)", **values)
    assert ledger.effect("withdraw(%(p)s, %(t)s, %(a)s, clock())", **values) == before
    for table in ("task_run", "lease", "expired_lease"):
        assert ledger.value(f"SELECT count(*) FROM {table} WHERE actor = %(a)s", a=actor) == 0


@shows("change-withdraw")
def test_withdrawn_answers_reopen_their_tasks_unless_a_late_one_steps_in(ledger, mixed):
    project, (done, late, *_) = mixed
    assert ledger.withdraw(project, [done, late], "u:3") == 1
    assert [ledger.ledger(task)["done"] for task in (done, late)] == [True, True]
    assert [result["last_version"] for result in ledger.results(late)] == [False, True]
    assert ledger.withdraw(project, [done, late], "u:1") == 1
    assert not ledger.ledger(done)["done"]
    assert ledger.take(project, "u:9") == done
    ledger.release(project, "u:9", done)
    assert ledger.take(project, "u:1") == done, "who lost his answers is as one who never came"


def test_a_preview_of_deleting_counts_answers_too(ledger, mixed):
    project, tasks = mixed
    assert ledger.effect("preview_delete(%(p)s, NULL)", p=project) == (5, 0, 0, 6)
    some = {"p": project, "t": list(tasks[:2])}
    before = ledger.effect("preview_delete(%(p)s, %(t)s)", **some)
    assert ledger.effect("delete_tasks(%(p)s, %(t)s, clock())", **some) == before == (2, 0, 0, 5)


@shows("task-retire")
def test_a_retired_task_is_handed_to_nobody_and_answers_on_their_way_are_kept(ledger, mixed):
    project, (_, _, half, held, fresh) = mixed
    assert ledger.retire(project, [half, held, fresh]) == 3
    assert ledger.retire(project, [half]) == 0, "it is out already"
    assert ledger.ask(project, "u:9").state == "none"
    assert ledger.answer(project, "u:2", half).state == "late"
    assert ledger.hold(project, "u:8", fresh) == "late"
    assert ledger.answer(project, "u:8", fresh).state == "late"
    states = ledger.rows("SELECT state, closed, retired_note FROM task_record ORDER BY id")
    assert [(row["state"], row["closed"]) for row in states] == [("completed", "complete")] * 2 + [
        ("completed", "retired")
    ] * 3
    figures = ledger.figures(project)
    assert (figures["n_completed_tasks"], figures["n_wanted"], figures["n_counted"]) == (5, 5, 5)
    assert len(ledger.events(project)) == 2, "no result, no event"


@shows("task-put-back")
def test_a_task_put_back_counts_what_came_meanwhile(ledger, mixed):
    project, (_, _, half, held, fresh) = mixed
    ledger.retire(project, [half, held, fresh], "cancelled")
    ledger.answer(project, "u:2", half)
    ledger.hold(project, "u:8", fresh)
    ledger.answer(project, "u:8", fresh)
    values = {"p": project, "t": [half, held, fresh]}
    assert ledger.effect("reopen(%(p)s, %(t)s, clock())", **values) == (3, 1, 2, 0)
    assert ledger.ledger(half)["done"]
    assert ledger.rows("SELECT * FROM retirement") == []
    assert ledger.figures(project)["n_wanted"] == 10
    assert sorted(ledger.all_of(project, "u:9")) == [held, fresh]


def test_what_is_out_can_be_changed_too(ledger, mixed):
    project, (done, late, half, held, fresh) = mixed
    ledger.retire(project, [done, late, half, held, fresh])
    ledger.highest = 3
    for n in (3, 1):
        ledger.set_n(project, [done, late, half, held, fresh], n)
    for run in ledger.counted(done) + ledger.counted(half):
        ledger.delete_run(project, run)
    ledger.withdraw(project, [late], "u:3")
    ledger.delete_tasks(project, [held])
    assert ledger.reopen(project, [done, late, half, fresh]) == 4
    assert [ledger.ledger(task)["done"] for task in (done, late, half, fresh)] == [False, True, False, False]
    ledger.all_of(project, "u:9")


def test_a_task_taken_out_of_a_draft_stays_out_when_it_is_published(ledger):
    project = ledger.project(tasks=3, n=1, published=False)
    first, second, third = ledger.tasks(project)
    assert ledger.contribute(project, "u:1") == first
    ledger.retire(project, [first, second])
    assert ledger.publish(project)
    assert ledger.all_of(project, "u:1") == [third]
    assert ledger.figures(project)["n_completed_tasks"] == 3


@examples("default-depth_first_all")
@shows("scheduler-change")
@pytest.mark.parametrize(
    ("was", "wanted"),
    [
        ("default", "breadth_first"),
        ("breadth_first", "default"),
        ("default", "depth_first_all"),
        ("incremental", "random"),
    ],
)
def test_a_scheduler_changed_in_steps_loses_no_task(ledger, was, wanted):
    project = ledger.project(tasks=6, n=2, sched=was)
    tasks = ledger.tasks(project)
    ledger.highest = 1000
    ledger.contribute(project, "u:1")
    held = ledger.take(project, "u:2")
    ledger.run("SELECT begin_scheduler(%(p)s)", p=project)
    step = "SELECT convert_tasks(%(p)s, %(s)s, %(a)s, 2, clock())"
    last = ledger.change(step, p=project, s=wanted, a=0)
    assert ledger.take(project, "u:3") in tasks
    ledger.release(project, "u:2", held)
    last = ledger.change(step, p=project, s=wanted, a=last)
    (added,) = ledger.add(project, [1.0])
    assert ledger.contribute(project, "u:4") in [*tasks, added]
    ledger.change("SELECT set_scheduler(%(p)s, %(s)s, clock(), %(a)s)", p=project, s=wanted, a=last)
    modes = ledger.rows("SELECT DISTINCT mode = mode_of(%(s)s) AS is_new FROM task_ledger", s=wanted)
    assert modes == [{"is_new": True}]
    for actor in ("u:7", "u:8", "u:9"):
        ledger.all_of(project, actor)
    ledger.pass_time(3601)
    ledger.all_of(project, "u:10")
    assert all(ledger.ledger(task)["done"] for task in [*tasks, added])
