"""The proofs of bench/ in small: a crowd on a server that lives or is killed, a storm, a database that goes away, many
who watch, receivers of webhooks that behave badly.

They are left to ``make proofs``: other tests show each of their rules, they show them at size.
"""

import random

import pytest

from bench import crowd, hostile, live, storm, webhooks
from bench.support import testbed
from bench.transfer import exports, imports


@pytest.fixture(autouse=True)
def the_same_dice():
    random.seed(20)


@pytest.mark.proof
@pytest.mark.parametrize("kill_every", [pytest.param(0, marks=pytest.mark.size), 1], ids=["alive", "killed"])
def test_a_crowd_answers_each_task_exactly_as_often_as_wanted_and_what_is_wrong_is_found(dsn, tmp_path, kill_every):
    plan = crowd.Plan(clients=20, tasks=40, n_answers=3, kill_every=kill_every, rushes=2, lease_seconds=1)
    sql = testbed.Sql(dsn)
    with testbed.crowdd(dsn, tmp_path) as server:
        outcome = testbed.run(crowd.play(plan, server, sql))
    assert outcome.violations == []
    assert dict(outcome.lines)["kills"] >= bool(kill_every)

    project = testbed.Project(sql.one("SELECT id FROM project"), "", "", None)
    sql.rows("DELETE FROM event WHERE task_id = (SELECT min(id) FROM task)")
    sql.rows(
        "UPDATE task_run SET counted = false WHERE id = (SELECT max(id) FROM task_run WHERE counted AND task_id = (SELECT max(id) FROM task))"
    )
    crowd.judge(plan, project, sql, outcome)
    complaints = " ".join(outcome.violations)
    assert "counted answers: 119 instead of 120" in complaints
    assert "task_completed events: 39 instead of 40" in complaints
    assert "I1" in complaints and "I5" in complaints


@pytest.mark.proof
@pytest.mark.size
def test_rude_clients_and_a_lost_database_harm_nobody_else():
    plan = storm.Plan(requests=100, dropped=10, away=2, pool_timeout=1, clients=12)
    with testbed.folder() as place:
        _, violations = storm.play(plan, place)
    assert violations == []


@pytest.mark.proof
@pytest.mark.size
def test_clients_that_mean_harm_harm_nobody_else(dsn, tmp_path):
    few, anything = {"idle": 150, "trickles": 30, "bodies": 3, "headers": 5}, float("inf")
    # A busy machine is no failure: make hostile asks for 500 ms.
    # The memory of a process grows in its first seconds, whatever is asked.
    memory = {"max_memory": 150e6, "max_memory_later": 100e6}
    plan = hostile.Plan(**few, **memory, seconds=0.3, rate=20, max_slower=anything, max_cpu=anything, max_health=2_000)
    with testbed.crowdd(dsn, tmp_path) as server:
        project = testbed.project(server, tasks=100, n_answers=3)
        lines, violations = testbed.run(hostile.play(plan, server, project))
    assert violations == [], lines


@pytest.mark.proof
@pytest.mark.size
def test_all_who_watch_are_told_and_who_follows_loses_nothing_over_a_kill(dsn, tmp_path):
    plan = live.Plan(clients=100, owners=3, seconds=1, rate=6, kills=1, max_state=10_000, max_event=10_000)
    with testbed.crowdd(dsn, tmp_path, **live.MANY) as server:
        lines, violations = testbed.run(live.play(plan, server, testbed.Sql(dsn)))
    assert violations == [], lines


@pytest.mark.proof
def test_every_completion_is_told_though_server_and_receivers_fail(dsn, tmp_path):
    plan = webhooks.Plan(completions=40, kills=2, projects=2)
    with testbed.crowdd(dsn, tmp_path, **webhooks.SETTINGS) as server:
        lines, violations = webhooks.play(plan, server, testbed.Sql(dsn))
    assert violations == [], lines
    assert dict(lines)["kills"] == 2


@pytest.mark.parametrize(
    ("rows", "told", "words"),
    [
        ([(1, 5), (2, 6)], [(2, 6), (1, 5), (2, 6)], []),
        ([(1, 5), (2, 6)], [(1, 5)], ["never arrived: 1"]),
        ([(1, 5), (3, 6)], [(1, 5), (3, 6)], ["gaps in the sequence: 1"]),
        ([(1, 5), (None, 6)], [(1, 5)], ["without a number: 1"]),
        ([(1, 5), (2, 5)], [(2, 5), (1, 5)], ["out of order: 1"]),
        ([(1, 5), (2, 6)], [(1, 5), (2, 6), (3, 7)], ["never were: 1"]),
        ([(1, 5)], [(1, 5)], ["without an event: 1"]),
        ([(1, 5), (2, 99)], [(1, 5), (2, 99)], ["rolled back: 1"]),
    ],
)
def test_what_receivers_should_not_have_heard_or_missed_is_found(rows, told, words):
    events = [{"seq": seq, "kind": "task_completed", "task_id": task} for seq, task in rows]
    bodies = [{"sequence": seq, "task_id": task, "result_id": task} for seq, task in told]
    errors = webhooks.judge(events, bodies, completed=2, undone={99})
    assert len(errors) == len(words) and all(word in line for word, line in zip(words, errors, strict=True)), errors


@pytest.mark.proof
@pytest.mark.size
def test_an_import_ends_with_every_row_though_the_server_is_killed(dsn, tmp_path):
    plan = imports.Plan(
        rows=3000, format="json", kills=1, seconds=600, calm=5, max_memory=200e6, max_wait=60, max_pause=60
    )
    lines, violations = imports.play([plan], dsn, tmp_path)
    assert violations == [], lines


@pytest.mark.proof
@pytest.mark.size
def test_an_export_is_whole_and_stops_for_who_does_not_read(dsn, tmp_path):
    sizes = {"answers": 12_000, "tasks": 1500, "crowd": 4000, "calm_pages": 10}
    plan = exports.Plan(**sizes, max_first=60, max_memory=200e6, max_page=60, max_slower=60, min_rate=0)
    lines, violations = exports.play(plan, dsn, tmp_path)
    assert violations == [], lines
