"""Nobody is left without a task because others hold more than they can be at (34_takeover.sql), and no lease is for ever."""

from __future__ import annotations

import pytest
from support.checks.shows import shows
from support.ledger import Meanwhile

_RENEW = "SELECT state FROM renew_task(%(p)s, %(a)s, NULL, false, '{}', %(t)s, clock(), %(a)s)"
HOUR = 3600


def held(ledger, actor):
    return [row["task_id"] for row in ledger.rows("SELECT task_id FROM lease WHERE actor = %(a)s ORDER BY id", a=actor)]


@pytest.mark.proof
@shows("lease-soft")
def test_six_hoarders_leave_every_task_to_the_seventh(ledger):
    ledger.check = False
    project = ledger.project(tasks=300, n=1)
    for n in range(6):
        ledger.ask(project, f"c:hoarder{n}", limit=30, offset=30, network="192.0.2.1")
    done = []
    while (asked := ledger.ask(project, "c:seventh", network="198.51.100.1")).state == "ok":
        done += asked.tasks
        ledger.answer(project, "c:seventh", asked.tasks[0], network="198.51.100.1")
    firm = ledger.value("SELECT count(*) FROM lease WHERE soft = 0")
    assert firm == 11  # two of each; the sixth found none free and took one over
    assert len(done) == len(set(done)) == 300 - firm
    ledger.check = True
    ledger.pass_time(HOUR)
    assert len(ledger.all_of(project, "c:seventh", network="198.51.100.1")) == firm


def test_hoarder_of_the_same_network_does_not_starve_it(ledger):
    project = ledger.project(tasks=60, n=1)
    ledger.ask(project, "c:hoarder", limit=60, network="192.0.2.1")
    assert ledger.ask(project, "c:other", network="192.0.2.1").state == "ok"


def test_hoarder_who_asks_every_twenty_seconds_starves_nobody(ledger):
    ledger.check = False
    project = ledger.project(tasks=60, n=1, lease="1 minute", preload="1 minute")
    tasks = []
    for turn in range(18):
        ledger.ask(project, "c:hoarder", limit=100, network="192.0.2.1")
        ledger.pass_time(20)
        for n in range(3):
            asked = ledger.ask(project, f"c:{turn}-{n}", network=f"198.51.100.{n}")
            tasks += asked.tasks
            for task in asked.tasks:
                ledger.answer(project, f"c:{turn}-{n}", task, network=f"198.51.100.{n}")
    assert len(tasks) == 54


@shows("lease-soft")
def test_signed_in_hoarder_has_two_firm_leases(ledger):
    project = ledger.project(tasks=5, n=1)
    ledger.ask(project, "u:1", limit=5)
    for n in range(3):
        assert ledger.ask(project, f"c:{n}").state == "ok"
    assert ledger.ask(project, "c:4").state == "wait"
    assert len(held(ledger, "u:1")) == 2


@shows("lease-soft")
def test_twenty_oldest_leases_of_a_network_are_firm(ledger):
    project = ledger.project(tasks=22, n=1)
    for n in range(22):
        ledger.take(project, f"c:{n}", network="192.0.2.1")
    assert ledger.value("SELECT count(*) FROM lease WHERE soft = 0") == 20
    assert ledger.ask(project, "c:a").state == "ok"
    assert ledger.ask(project, "c:b").state == "ok"
    assert ledger.ask(project, "c:c").state == "wait"


def test_network_does_not_take_from_itself_what_it_could_not_keep(ledger):
    project = ledger.project(tasks=22, n=1)
    for n in range(22):
        ledger.take(project, f"c:{n}", network="192.0.2.1")
    assert ledger.ask(project, "c:one more", network="192.0.2.1").state == "wait"


def test_lease_becomes_firm_when_older_ones_end(ledger):
    project = ledger.project(tasks=3, n=1)
    first, *_ = ledger.ask(project, "c:1", limit=3).tasks
    ledger.answer(project, "c:1", first)
    assert ledger.ask(project, "c:2").state == "wait"
    assert len(held(ledger, "c:1")) == 2


def test_whoever_has_a_task_takes_none_over(ledger):
    project = ledger.project(tasks=4, n=1)
    mine = ledger.take(project, "c:1")
    ledger.ask(project, "c:2", limit=4)
    assert ledger.ask(project, "c:1", limit=2).tasks == [mine]


@shows("lease-soft")
def test_holder_of_a_lease_that_was_taken_over_may_still_answer(ledger):
    project = ledger.project(tasks=3, n=1)
    ledger.ask(project, "c:hoarder", limit=3)
    task = ledger.take(project, "c:other")
    assert ledger.answer(project, "c:hoarder", task).state == "late"
    ledger.release(project, "c:other", task)
    assert len(ledger.counted(task)) == 1


@shows("taskrun-late")
def test_late_answer_is_counted_before_a_lease_is_taken_over(ledger):
    project = ledger.project(tasks=3, n=1)
    *_, last = ledger.ask(project, "c:hoarder", limit=3).tasks
    ledger.hold(project, "c:late", last)
    assert ledger.answer(project, "c:late", last).state == "late"
    assert ledger.ask(project, "c:other").state == "wait"
    assert len(ledger.counted(last)) == 1


def test_task_that_the_asker_has_answered_is_not_taken_over(ledger):
    project = ledger.project(tasks=3, n=2)
    ledger.all_of(project, "c:1")
    ledger.ask(project, "c:hoarder", limit=3)
    assert ledger.ask(project, "c:1").state == "none"
    assert len(held(ledger, "c:hoarder")) == 3


def test_two_askers_at_once_do_not_take_over_the_same_lease(ledger, beside):
    project = ledger.project(tasks=3, n=1)
    ledger.ask(project, "c:hoarder", limit=3)
    here, other = beside(), beside()
    task = here.take(project, "c:1")
    assert other.ask(project, "c:2", once=True).state == "again"
    here.commit()
    other.commit()
    assert ledger.ask(project, "c:2").state == "wait"
    assert held(ledger, "c:1") == [task]
    assert len(held(ledger, "c:hoarder")) == 2


def test_answer_and_takeover_at_once_leave_one_of_them(ledger, beside):
    project = ledger.project(tasks=3, n=1)
    *_, last = ledger.ask(project, "c:hoarder", limit=3).tasks
    here, other = beside(), beside()
    assert here.take(project, "c:1") == last
    answering = Meanwhile(other.answer, project, "c:hoarder", last)
    ledger.wait_until_blocked(other)
    here.commit()
    assert answering.result().state == "late"
    other.commit()
    assert ledger.answer(project, "c:1", last).state == "counted"


@shows("lease-end")
@pytest.mark.parametrize("how", ["ask", "hold", "renew"])
def test_lease_ends_six_lease_times_after_it_was_granted(ledger, how):
    project = ledger.project(tasks=1, n=1)
    task = ledger.take(project, "c:1")
    for _ in range(7):
        ledger.pass_time(50 * 60)
        match how:
            case "ask":
                ledger.ask(project, "c:1")
            case "hold":
                assert ledger.hold(project, "c:1", task) == "leased"
            case _:
                assert ledger.value(_RENEW, p=project, a="c:1", t=task) == "leased"
        assert ledger.ask(project, "c:2").state == "wait"
    ledger.pass_time(20 * 60)
    assert ledger.take(project, "c:2") == task
    assert ledger.answer(project, "c:1", task).state == "late"


def test_page_says_late_when_all_its_time_is_over(ledger):
    project = ledger.project(tasks=1, n=1)
    task = ledger.take(project, "c:1")
    states = []
    for _ in range(9):
        ledger.pass_time(50 * 60)
        states.append(ledger.hold(project, "c:1", task))
    assert states == ["leased"] * 7 + ["late", "leased"]


def test_lease_that_had_all_its_time_is_soft_when_it_is_given_again(ledger):
    project = ledger.project(tasks=1, n=1)
    task = ledger.take(project, "c:1")
    for _ in range(7):
        ledger.pass_time(50 * 60)
        ledger.hold(project, "c:1", task)
    ledger.pass_time(20 * 60)
    assert ledger.take(project, "c:1") == task
    assert ledger.take(project, "c:2") == task
    assert ledger.ask(project, "c:1").state == "wait"


def test_tasks_that_were_only_looked_at_are_remembered_up_to_two_hundred(ledger):
    ledger.check = False
    project = ledger.project(tasks=205, n=1)
    tasks = ledger.tasks(project)
    ledger.run("UPDATE task_ledger SET retired = true")
    for task in tasks:
        ledger.pass_time(1)
        assert ledger.hold(project, "i:192.0.2.9", task) == "late"
    remembered = [row["task_id"] for row in ledger.rows("SELECT task_id FROM expired_lease ORDER BY granted")]
    assert remembered == tasks[5:]
