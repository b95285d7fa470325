"""Where a volunteer starts on a scan: their own position or the low-water mark."""

from __future__ import annotations

import pytest
from support.checks.proofs import examples

START = "SELECT (%s).k1, (%s).k2, (%s).at_low_water_mark FROM start_in_order((SELECT p FROM project_ledger p), (SELECT asker_of(p, ARRAY['u:1'], '') FROM project_ledger p), 'priority')"


def place(ledger, actor, scan, k1, k2):
    """Puts a position there, of epoch 1, which publishing began."""
    ledger.run(
        "INSERT INTO position SELECT project_id, %(actor)s, %(scan)s || '/1', %(k1)s, %(k2)s FROM project_ledger",
        actor=actor,
        scan=scan,
        k1=k1,
        k2=k2,
    )


@pytest.mark.parametrize(
    ("positions", "start"),
    [
        ([], (float("-inf"), 0, True)),
        ([("", "priority", 0, 7)], (0, 7, True)),
        ([("u:1", "priority", 0, 9), ("", "priority", 0, 7)], (0, 9, False)),
        ([("u:1", "priority", 0, 5), ("", "priority", 0, 7)], (0, 7, True)),
        ([("u:1", "priority", -1, 9), ("", "priority", 0, 7)], (0, 7, True)),
        ([("", "priority", 0, 7), ("", "returns:priority", 90, 0)], (0, 7, True)),
        ([("", "priority", 0, 7), ("u:1", "returns:priority", 90, 0)], (float("-inf"), 0, True)),
        (
            [("u:1", "priority", 0, 5), ("", "priority", 0, 7), ("u:1", "returns:priority", 90, 0)],
            (0, 5, False),
        ),
        (
            [
                ("u:1", "priority", 0, 5),
                ("", "priority", 0, 7),
                ("u:1", "returns:priority", 90, 0),
                ("", "returns:priority", 95, 0),
            ],
            (0, 7, True),
        ),
        ([("u:2", "priority", 0, 9), ("", "id", 0, 9)], (float("-inf"), 0, True)),
    ],
    ids=[
        "nowhere",
        "a newcomer starts at the floor",
        "beyond the floor one keeps one's place",
        "the floor lifts who lags behind",
        "priorities come before ids",
        "the floor of returns lifts nobody elsewhere",
        "who passed returns keeps their own position",
        "also when they lag behind",
        "until the floor of returns has passed theirs",
        "positions of others and in other orders do not matter",
    ],
)
def test_where_a_volunteer_starts_in_an_order(ledger, positions, start):
    ledger.project(tasks=1)
    for position in positions:
        place(ledger, *position)
    assert tuple(ledger.row(START.replace("%s", "main")).values()) == start


def test_the_floor_of_returns_serves_everybody(ledger):
    ledger.project(tasks=1)
    place(ledger, "u:1", "returns:priority", 90, 3)
    place(ledger, "", "returns:priority", 95, 0)
    assert tuple(ledger.row(START.replace("%s", "returned")).values()) == (95, 0, True)


def test_who_passes_a_returned_task_that_is_ahead_keeps_his_place_in_the_order(ledger):
    project = ledger.project(tasks=4, n=1)
    behind, _, ahead, _ = ledger.tasks(project)
    for actor in ("u:7", "u:8"):
        ledger.take(project, actor)
    ledger.set_priority(project, [ahead], -1.0)
    ledger.release(project, "u:7", behind)
    assert ledger.take(project, "u:1") == behind
    places = "SELECT k1, k2 FROM position WHERE actor = %(a)s AND scan = 'priority/1'"
    assert ledger.row(places, a="u:1") == ledger.row(places, a="")


def test_the_floor_rises_over_what_is_done(ledger):
    project = ledger.project(tasks=4, n=1)
    tasks = ledger.tasks(project)
    for number in range(3):
        ledger.contribute(project, f"u:{number}")
    ledger.take(project, "u:9")
    floor = ledger.row("SELECT k1, k2 FROM position WHERE actor = '' AND scan = 'priority/1'")
    assert (floor["k1"], floor["k2"]) == (0, tasks[3] - 1)


def answered(ledger, project, actor, tasks):
    """Lets somebody answer many tasks, without the ledger's functions."""
    ledger.run(
        "INSERT INTO task_run (project_id, task_id, actor, created, finish_time, counted, info)"
        " SELECT %(p)s, t, %(a)s, clock(), clock(), true, '1' FROM unnest(%(t)s) t",
        p=project,
        a=actor,
        t=tasks,
    )
    ledger.run("UPDATE task_ledger SET answers = answers + 1 WHERE task_id = ANY (%(t)s)", t=tasks)


@pytest.fixture
def long_project(planned_again, ledger):
    """21,000 tasks of which u:1, who has no position any more, has answered all but the last."""
    ledger.check = False
    project = ledger.project(n=2)
    tasks = ledger.add(project, [0.0] * 21_000)
    answered(ledger, project, "u:1", tasks[:-1])
    ledger.run("VACUUM ANALYZE task_ledger, task_run")
    return project


@examples("priority")
@pytest.mark.parametrize("order", ["priority", "id-down"])
def test_who_starts_over_jumps_over_what_he_has_answered(ledger, long_project, order):
    asked = [ledger.ask(long_project, "u:1", order=order, once=True) for _ in range(2)]
    last = ledger.tasks(long_project)[-1]
    assert [one.state for one in asked] == (["ok"] * 2 if order == "id-down" else ["again", "ok"])
    assert asked[-1].tasks == [last]
    assert ledger.take(long_project, "u:2", order=order) == (last if order == "id-down" else last - 20_999)


@pytest.mark.proof
def test_a_jump_stops_before_what_one_could_take(ledger, long_project):
    tasks = ledger.tasks(long_project)
    ledger.run("DELETE FROM task_run WHERE task_id = %(t)s", t=tasks[7_000])
    ledger.run("UPDATE task_ledger SET answers = 0 WHERE task_id = %(t)s", t=tasks[7_000])
    assert ledger.ask(long_project, "u:1", once=True).tasks == [tasks[7_000]]


def test_positions_start_over_where_the_scheduler_changed(ledger):
    project = ledger.project(tasks=3, n=3)
    tasks = ledger.all_of(project, "u:1")
    ledger.schedule(project, "random")
    assert ledger.value("SELECT count(*) FROM position") == 0
    ledger.schedule(project, "default")
    ledger.add(project, [0.0])
    assert len(ledger.all_of(project, "u:1")) == 1
    assert ledger.all_of(project, "u:2")[:3] == tasks
