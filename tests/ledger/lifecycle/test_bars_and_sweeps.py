"""Answers set aside and brought back, as the ledger does it; and rows that are of no more use."""

from __future__ import annotations

from psycopg2.extras import Json
from support.checks.shows import shows
from support.ledger import Meanwhile

NET = "192.0.2.1"


def bar(ledger, project, subject):
    return ledger.change("SELECT bar(%(p)s, %(s)s, NULL, 1, '', clock())", p=project, s=subject)


def set_aside(ledger, project, bar_id):
    return ledger.effect(
        "set_aside(%(p)s, ARRAY(SELECT task_id FROM task_ledger WHERE project_id = %(p)s), %(b)s, clock())",
        p=project,
        b=bar_id,
    )


def bring_back(ledger, project, bar_id):
    ledger.change("SELECT unbar(%(p)s, %(b)s)", p=project, b=bar_id)
    row = ledger.row("SELECT * FROM bring_back(%(p)s, %(b)s, 0, 100, clock())", p=project, b=bar_id)
    ledger.change("SELECT 1")
    return row["answers"]


@shows("volunteer-set-aside")
def test_answer_set_aside_makes_room_and_a_new_version_of_the_result(ledger):
    project = ledger.project(tasks=1, n=2)
    task = ledger.contribute(project, "c:1")
    ledger.contribute(project, "c:2")
    assert set_aside(ledger, project, bar(ledger, project, "c:1")) == (1, 0, 1, 1)
    assert not ledger.ledger(task)["done"]
    ledger.contribute(project, "c:3")
    assert [row["last_version"] for row in ledger.results(task)] == [False, True]
    assert [kind for kind, _ in ledger.events(project)] == ["task_completed", "result_updated"]


def test_late_answer_takes_the_place_of_one_set_aside(ledger):
    project = ledger.project(tasks=1, n=1)
    task = ledger.contribute(project, "c:1")
    ledger.hold(project, "c:2", task)
    ledger.answer(project, "c:2", task)
    assert set_aside(ledger, project, bar(ledger, project, "c:1")) == (1, 0, 0, 1)
    assert len(ledger.results(task)) == 2


def test_answer_set_aside_does_not_count_when_a_place_is_free(ledger):
    project = ledger.project(tasks=1, n=1)
    task = ledger.contribute(project, "c:1")
    set_aside(ledger, project, bar(ledger, project, "c:1"))
    ledger.set_n(project, [task], 3)
    assert ledger.counted(task) == []
    assert ledger.effect("preview_redundancy(%(p)s, NULL, 1)", p=project) == (1, 0, 0, 0)


@shows("volunteer-unbar")
def test_answer_brought_back_counts_where_a_place_is_free(ledger):
    project = ledger.project(tasks=2, n=1)
    first = ledger.contribute(project, "c:1")
    second = ledger.contribute(project, "c:1")
    barred = bar(ledger, project, "c:1")
    set_aside(ledger, project, barred)
    ledger.contribute(project, "c:2")
    assert bring_back(ledger, project, barred) == 2
    assert len(ledger.counted(first)) == len(ledger.counted(second)) == 1
    assert ledger.ledger(first)["uncounted"] == 1


@shows("volunteer-barred")
def test_bar_ends_leases_and_frees_the_share_of_the_network(ledger):
    project = ledger.project(tasks=1, n=3)
    task = ledger.take(project, "c:1", network=NET)
    assert ledger.ask(project, "c:2", network=NET).state == "wait"
    set_aside(ledger, project, bar(ledger, project, "c:1"))
    assert ledger.ask(project, "c:1", network=NET).state == "barred"
    assert ledger.answer(project, "c:1", task, network=NET).state == "barred"
    assert ledger.take(project, "c:2", network=NET) == task


def test_answer_of_a_retired_task_is_set_aside(ledger):
    project = ledger.project(tasks=2, n=2)
    task = ledger.contribute(project, "c:1")
    ledger.retire(project, [task])
    barred = bar(ledger, project, "c:1")
    assert set_aside(ledger, project, barred) == (1, 0, 0, 1)
    assert bring_back(ledger, project, barred) == 1
    ledger.reopen(project, [task])
    assert len(ledger.counted(task)) == 1


@shows("volunteer-set-aside")
def test_imported_answer_of_a_barred_volunteer_is_set_aside(ledger):
    project = ledger.project(tasks=1, n=1)
    (task,) = ledger.tasks(project)
    barred = bar(ledger, project, "x:one")
    times = {"created": "2026-01-01T00:00:00Z", "finished": "2026-01-01T00:00:09Z"}
    row = {"source": project, "task": task, "run": 10**12, "actor": "x:one", "uid": "one", "info": "spam", **times}
    imports = "SELECT fate FROM import_exported_answers(%(p)s, %(r)s, clock())"
    assert ledger.change(imports, p=project, r=Json([row])) == "added"
    assert (ledger.ledger(task)["answers"], ledger.ledger(task)["uncounted"]) == (0, 1)
    assert bring_back(ledger, project, barred) == 1 and ledger.ledger(task)["done"]


def test_answer_and_bar_at_once_are_both_complete(ledger, beside):
    project = ledger.project(tasks=1, n=2)
    task = ledger.contribute(project, "c:1")
    barred = bar(ledger, project, "c:1")
    ledger.take(project, "c:2")
    here, other = beside(), beside()
    assert set_aside(here, project, barred) == (1, 0, 0, 1)
    answering = Meanwhile(other.answer, project, "c:2", task)
    ledger.wait_until_blocked(other)
    here.commit()
    assert answering.result().state == "counted"
    other.commit()
    assert ledger.ledger(task)["answers"] == 1


# Sweeping ------------------------------------------------------------------------------------------------------------


def sweep(ledger, what="expired_leases", days=30):
    return ledger.change(f"SELECT sweep_{what}(clock() - make_interval(days => %(d)s), 1000)", d=days)


def test_past_leases_are_swept_after_thirty_days(ledger):
    project = ledger.project(tasks=1, n=1)
    task = ledger.take(project, "c:1")
    ledger.release(project, "c:1", task)
    ledger.pass_time(29 * 86400)
    assert sweep(ledger) == 0
    ledger.pass_time(2 * 86400)
    assert sweep(ledger) == 1
    assert ledger.answer(project, "c:1", task).state == "no lease"


def test_skipped_task_comes_again_when_the_skip_is_swept(ledger):
    project = ledger.project(tasks=3, n=1)
    first = ledger.take(project, "c:1")
    ledger.release(project, "c:1", first, skip=True)
    ledger.contribute(project, "c:1")
    ledger.pass_time(31 * 86400)
    assert sweep(ledger) == 1
    assert ledger.take(project, "c:1") == first


def test_skip_of_somebody_who_is_just_asking_is_left_for_the_next_sweep(ledger, beside):
    project = ledger.project(tasks=2, n=1)
    ledger.release(project, "c:1", ledger.take(project, "c:1"), skip=True)
    ledger.pass_time(31 * 86400)
    other = beside()
    other.ask(project, "c:1")
    assert sweep(ledger) == 0
    other.commit()
    assert sweep(ledger) == 1


def test_positions_unused_for_ninety_days_are_swept_and_nobody_gets_an_answered_task(ledger):
    project = ledger.project(tasks=4, n=2)
    done = [ledger.contribute(project, "c:1") for _ in range(2)]
    ledger.pass_time(91 * 86400)
    ledger.contribute(project, "c:2")
    assert sweep(ledger, "positions", 90) >= 1
    actors = {row["actor"] for row in ledger.rows("SELECT DISTINCT actor FROM position WHERE actor <> ''")}
    assert actors == {"c:2"}
    assert not set(done) & set(ledger.all_of(project, "c:1"))


def test_positions_of_a_deleted_project_are_swept(ledger):
    project = ledger.project(tasks=2, n=1)
    ledger.contribute(project, "c:1")
    ledger.delete_project(project)
    sweep(ledger, "positions", 90)
    assert ledger.rows("SELECT FROM position") == []
