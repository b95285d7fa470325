"""Where a volunteer starts on a lane: his own position or the floor."""

from __future__ import annotations

import pytest

START = "SELECT (%s).* FROM start_in_order((SELECT p FROM project_ledger p), 'u:1', 'priority')"


def place(ledger, actor, lane, k1, k2):
    """Puts a position there, of epoch 1, which publishing began."""
    ledger.run(
        "INSERT INTO position SELECT project_id, %(actor)s, %(lane)s || '/1', %(k1)s, %(k2)s FROM project_ledger",
        actor=actor,
        lane=lane,
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
        "who passed returns keeps to his own way",
        "also when he lags behind",
        "until the floor of returns has passed his",
        "positions of others and in other orders do not matter",
    ],
)
def test_where_a_volunteer_starts_in_an_order(ledger, positions, start):
    ledger.project(tasks=1)
    for position in positions:
        place(ledger, *position)
    assert tuple(ledger.row(START % "main").values()) == start


def test_the_floor_of_returns_serves_everybody(ledger):
    ledger.project(tasks=1)
    place(ledger, "u:1", "returns:priority", 90, 3)
    place(ledger, "", "returns:priority", 95, 0)
    assert tuple(ledger.row(START % "returned").values()) == (95, 0, True)


def test_who_passes_a_returned_task_that_is_ahead_keeps_his_place_in_the_order(ledger):
    project = ledger.project(tasks=4, n=1)
    behind, _, ahead, _ = ledger.tasks(project)
    for actor in ("u:7", "u:8"):
        ledger.take(project, actor)
    ledger.set_priority(project, [ahead], -1.0)
    ledger.release(project, "u:7", behind)
    assert ledger.take(project, "u:1") == behind
    places = "SELECT k1, k2 FROM position WHERE actor = %(a)s AND lane = 'priority/1'"
    assert ledger.row(places, a="u:1") == ledger.row(places, a="")


def test_the_floor_rises_over_what_is_done(ledger):
    project = ledger.project(tasks=4, n=1)
    tasks = ledger.tasks(project)
    for number in range(3):
        ledger.contribute(project, f"u:{number}")
    ledger.take(project, "u:9")
    floor = ledger.row("SELECT k1, k2 FROM position WHERE actor = '' AND lane = 'priority/1'")
    assert (floor["k1"], floor["k2"]) == (0, tasks[3] - 1)


def test_a_walk_is_cut_and_goes_on_where_it_stopped(ledger):
    project = ledger.project(tasks=450, n=2)
    ledger.check = False
    for _ in range(5):
        for task in ledger.ask(project, "u:1", limit=90).tasks:
            ledger.answer(project, "u:1", task)
    ledger.run("DELETE FROM position WHERE actor = 'u:1'")
    assert [ledger.ask(project, "u:1", once=True).state for _ in range(3)] == ["again", "again", "none"]


def test_positions_start_anew_where_the_scheduler_changed(ledger):
    project = ledger.project(tasks=3, n=3)
    tasks = ledger.all_of(project, "u:1")
    ledger.schedule(project, "random")
    assert ledger.value("SELECT count(*) FROM position") == 0
    ledger.schedule(project, "default")
    ledger.add(project, [0.0])
    assert len(ledger.all_of(project, "u:1")) == 1
    assert ledger.all_of(project, "u:2")[:3] == tasks
