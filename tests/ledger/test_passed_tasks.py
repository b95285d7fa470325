"""Nobody loses a task that they have passed: what made them pass it ends while they ask, or after it."""

from __future__ import annotations

import pytest
from support.checks.invariants import invariants
from support.ledger import Meanwhile


@pytest.fixture
def answered_by_the_cookie(ledger):
    """A project of two tasks, of which c:tab, linked with u:1, has answered the first."""
    project = ledger.project(tasks=2, n=3)
    task = ledger.contribute(project, "c:tab")
    ledger.link("c:tab", "u:1")
    return project, task


def test_unlinking_waits_for_an_ask_that_passes_by_the_link(ledger, beside, answered_by_the_cookie):
    project, task = answered_by_the_cookie
    asking, unlinking = beside(), beside()
    assert asking.take(project, "u:1") != task
    assert ledger.value("SELECT unlink_actors('c:tab', 'u:1', 0)") is False
    meanwhile = Meanwhile(unlinking.run, "SELECT unlink_all('c:tab')")
    ledger.wait_until_blocked(unlinking)
    asking.commit()
    meanwhile.result()
    unlinking.commit()
    assert invariants(ledger.connection) == []
    assert ledger.ask(project, "u:1", limit=2).tasks == [task + 1, task]


def test_an_ask_passes_nothing_by_a_link_that_is_being_removed(ledger, beside, answered_by_the_cookie):
    project, task = answered_by_the_cookie
    unlinking = beside()
    unlinking.run("SELECT unlink_all('u:1')")
    assert ledger.ask(project, "u:1", once=True).state == "again"
    unlinking.commit()
    assert ledger.take(project, "u:1") == task


def test_an_ask_passes_nothing_by_a_link_that_may_yet_be_undone(ledger, beside):
    project = ledger.project(tasks=2, n=3)
    task = ledger.contribute(project, "c:tab")
    linking = beside()
    linking.take(project, "c:tab", also="u:1")
    assert ledger.take(project, "u:1", also="c:tab") == task
    linking.connection.rollback()
    assert invariants(ledger.connection) == []


def test_volunteer_meets_again_what_they_skipped_before_they_withdrew(ledger):
    project = ledger.project(tasks=2, n=2)
    skipped = ledger.take(project, "u:1")
    ledger.release(project, "u:1", skipped, skip=True)
    answered = ledger.contribute(project, "u:1")
    ledger.withdraw(project, [skipped, answered], "u:1")
    assert ledger.ask(project, "u:1", limit=2).tasks == [skipped, answered]


def test_withdrawing_waits_for_an_ask_that_passes_what_was_skipped(ledger, beside):
    project = ledger.project(tasks=2, n=2)
    skipped = ledger.take(project, "u:1")
    ledger.release(project, "u:1", skipped, skip=True)
    asking, withdrawing = beside(), beside()
    other = asking.take(project, "u:1")
    meanwhile = Meanwhile(withdrawing.withdraw, project, [skipped], "u:1")
    ledger.wait_until_blocked(withdrawing)
    asking.commit()
    meanwhile.result()
    withdrawing.commit()
    assert invariants(ledger.connection) == []
    assert ledger.ask(project, "u:1", limit=2).tasks == [other, skipped]
