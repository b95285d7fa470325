"""Plain asks of projects with gold tasks are done in a few statements (take_drawn): by the same chances and rules as in the general way."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable

import pytest
from ledger.test_plain import WHO, work, written
from support.checks.proofs import examples
from support.ledger import Ledger, Meanwhile, account, network_of

_HAD = """
INSERT INTO expired_lease (project_id, actor, task_id, granted, expires, skipped)
SELECT %(p)s, %(a)s, task_id, clock(), clock(), false FROM task_ledger WHERE project_id = %(p)s AND mode <> 'gold'"""
_PLAIN = "SELECT task FROM take_next(%(p)s, %(a)s, NULL, 'n', clock())"

# While a task is chosen, whoever holds this lock can do something.
_WAITING = """
CREATE OR REPLACE FUNCTION code.share_taken(p project_ledger, v asker, p_task bigint) RETURNS boolean STABLE LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(77);
    RETURN false;
END $$"""


def mix(ledger: Ledger, project: int, rate: float, *gold: int) -> None:
    """Makes these tasks gold tasks, which volunteers get with this chance."""
    for task in gold:
        ledger.change("""SELECT make_gold(%(p)s, %(t)s, '["yes"]', NULL, NULL, 1, clock())""", p=project, t=task)
    ledger.run(
        "UPDATE project_ledger SET gold_rate = %(r)s, gold_start = 0 WHERE project_id = %(p)s", p=project, r=rate
    )


def begun(ledger: Ledger, rate: float) -> int:
    """A project of six tasks: the first five with ever fewer answers, so that nothing but gold is by chance; the last is gold."""
    project = ledger.project(tasks=6, n=9)
    *others, gold = ledger.tasks(project)
    for count, task in enumerate(reversed(others)):
        for nth in range(count):
            ledger.hold(project, f"u:{800 + nth}", task)
            ledger.answer(project, f"u:{800 + nth}", task)
    mix(ledger, project, rate, gold)
    return project


@examples("0-c:a-10.0.0.1", "1-c:a-10.0.0.1")
@WHO
@pytest.mark.parametrize("rate", [0, 1])
def test_they_write_what_the_general_way_writes(ledger: Ledger, actor: str, network: str, rate: float) -> None:
    plain, general = begun(ledger, rate), begun(ledger, rate)
    ledger.change("SELECT bar(%(p)s, 'u:1000', NULL, 1, '', clock())", p=general)  # a rule that needs the general way
    first = -1 if rate else 0
    assert ledger.value(_PLAIN, p=plain, a="c:other") == ledger.tasks(plain)[first]
    assert ledger.take(general, "c:other", network="n") == ledger.tasks(general)[first]
    assert work(ledger, plain, actor, network) == work(ledger, general, actor, network)
    ours, theirs = (written(ledger, project) for project in (plain, general))
    for tables in (ours, theirs):  # how far these are looked at depends on what else runs
        tables["position"] = [row for row in tables["position"] if not row["row"]["scan"].startswith("returns")]
    assert ours == theirs


@examples("default")
@pytest.mark.parametrize("sched", ["default", "depth_first"])
def test_chance_is_asked_once_also_where_the_general_way_goes_on(ledger: Ledger, sched: str) -> None:
    project = ledger.project(tasks=40, n=1000, sched=sched)
    tasks = ledger.tasks(project)
    mix(ledger, project, 0.5, *tasks[2:])
    ledger.check = False
    ledger.run("SELECT setseed(0.6)")
    gold_or_not: Counter[bool] = Counter()
    for number in range(200):
        ledger.run(_HAD, p=project, a=f"u:{number}")  # so that no ordinary task is a plain one
        gold_or_not[ledger.take(project, f"u:{number}") in tasks[2:]] += 1
    assert 70 <= gold_or_not[True] <= 130, "asked twice, three of four would be gold"
    ledger.check = True
    assert ledger.broken() == []


def test_nobody_waits_for_a_task_that_is_locked_nor_gets_a_place_that_is_taken(
    ledger: Ledger, beside: Callable[[], Ledger]
) -> None:
    project = ledger.project(tasks=3, n=1)
    first, second, gold = ledger.tasks(project)
    mix(ledger, project, 1, gold)
    other = beside()
    other.rows("SELECT FROM task_ledger WHERE task_id = ANY (%(t)s) FOR UPDATE", t=[first, gold])
    assert ledger.take(project, "u:1", wait=False) == second, "the gold task and the first are another's now"
    assert ledger.ask(project, "u:2", wait=False, once=True).state == "again"
    other.commit()
    assert ledger.take(project, "u:2") == gold
    mix(ledger, project, 0)
    assert other.take(project, "u:3") == first
    asked = ledger.ask(project, "u:4", wait=False, once=True)
    assert asked.state == "again" and asked.tasks == [], "u:3 may yet have it"
    other.commit()
    assert ledger.ask(project, "u:4").state == "wait"


def test_a_place_that_was_taken_after_the_task_was_chosen_is_not_given_again(
    ledger: Ledger, beside: Callable[[], Ledger]
) -> None:
    project = ledger.project(tasks=2, n=1)
    only, gold = ledger.tasks(project)
    mix(ledger, project, 0, gold)
    other = beside()
    other.run(_WAITING)  # in its transaction alone
    ledger.run("SELECT pg_advisory_lock(77)")
    asked = Meanwhile(other.ask, project, "u:2", once=True, wait=False)
    ledger.wait_until_blocked(other)
    assert ledger.take(project, "u:1") == only
    ledger.run("SELECT pg_advisory_unlock(77)")
    assert (asked.result().state, asked.result().tasks) == ("again", [])
    assert other.ledger(only)["leases"] == 1
    other.connection.rollback()


@pytest.mark.parametrize("plain", [True, False])
def test_a_network_has_its_share_of_ordinary_and_of_gold_tasks(ledger: Ledger, plain: bool) -> None:
    project = ledger.project(tasks=3, n=9, counted_per_network=1)
    first, second, gold = ledger.tasks(project)
    mix(ledger, project, 0, gold)
    if not plain:
        ledger.change("SELECT bar(%(p)s, 'u:1000', NULL, 1, '', clock())", p=project)  # needs the general way
    home = {"network": "10.0.0.7"}
    assert {ledger.take(project, actor, **home) for actor in ("c:1", "c:2")} == {first, second}
    assert ledger.ask(project, "c:3", **home).tasks == [], "one each is their share"
    third, fourth = ledger.add(project, [0.0, 0.0], n=9)  # or there would be no ordinary task, and thus no gold task
    mix(ledger, project, 1)
    assert ledger.take(project, "c:4", **home) == gold
    assert ledger.take(project, "c:5", **home) in {third, fourth}, "it is leased in their network"
    ledger.answer(project, "c:4", gold, **home)
    assert ledger.take(project, "c:6", **home) in {third, fourth}, "it was answered there, though that does not count"
    assert {ledger.take(project, "c:7", network="10.0.0.8"), ledger.take(project, "u:1", **home)} == {gold}


def test_of_two_in_a_network_who_ask_at_once_one_gets_the_gold_task(
    ledger: Ledger, beside: Callable[[], Ledger]
) -> None:
    project = ledger.project(tasks=2, n=9, counted_per_network=1)
    ordinary, gold = ledger.tasks(project)
    mix(ledger, project, 1, gold)
    other, home = beside(), {"network": "10.0.0.7"}
    assert other.take(project, "c:1", **home) == gold
    ledger.ask(project, "c:2", wait=False, once=True, **home)
    other.commit()
    assert ledger.take(project, "c:2", **home) == ordinary


def test_many_who_ask_at_once_take_no_more_places_than_there_are(ledger: Ledger) -> None:
    project = ledger.project(tasks=13, n=3)
    *others, gold = ledger.tasks(project)
    mix(ledger, project, 0.3, gold)
    ledger.run("SELECT setseed(0.1)")
    actors = [*(f"u:{n}" for n in range(901, 931)), *(f"c:{n}" for n in range(20)), "u:901"]
    asks = [
        {
            "project": project, "actor": actor, "me": account(actor), "is_admin": False, "unlocked": [], "maximum": 1, "skip": 0,
            "scan": "priority", "network": network_of(actor), "also": None,
        }
        for actor in actors
    ]  # fmt: skip
    rows = ledger.rows("SELECT * FROM ask_many(%(a)s, false, clock()) ORDER BY nth", a=json.dumps(asks))
    taken = Counter(row["tasks"][0] for row in rows[:-1] if row["state"] == "ok")
    assert rows[-1]["tasks"] == rows[0]["tasks"], "who asks twice has it already"
    assert 2 <= taken.pop(gold) <= 30 and max(taken.values()) <= 3 and set(taken) <= set(others)
    assert ledger.broken() == []
