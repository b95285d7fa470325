"""Leases that are taken back while somebody asks may let a late answer count: who watches the project hears of it."""

import pytest
import pytest_twisted
from support.ledger import Ledger
from twisted.internet import reactor
from twisted.internet.task import deferLater

from crowdd.features.tasks.feature import TasksFeature
from crowdd.kernel.requester import Requester


def a_turn():
    """Notifications arrive in the next turn of the reactor."""
    return deferLater(reactor, 0)


@pytest.fixture
def ledger(dsn):
    made = Ledger(dsn)
    yield made
    made.close()


@pytest_twisted.ensureDeferred
async def test_taking_back_rings(house, ledger):
    project, heard = ledger.project(tasks=1, n=1), []
    (task,) = ledger.tasks(project)
    house.base.shared.change_notifier.listen(heard.append)
    ledger.take(project, "u:1")
    ledger.pass_time(3700)
    ledger.take(project, "u:2")  # the place of u:1, who may still answer late
    assert ledger.answer(project, "u:1", task).state == "late"
    ledger.pass_time(3700)
    handout = await house[TasksFeature].contributions.next_tasks(Requester(user_id=3), project, 1, 0, "priority")
    await a_turn()
    assert (handout.reason, heard) == ("none", [project])
    assert ledger.value("SELECT done FROM task_ledger WHERE task_id = %(t)s", t=task)


@pytest_twisted.ensureDeferred
async def test_asking_alone_does_not_ring(house, ledger):
    project, heard = ledger.project(tasks=1, n=2), []
    house.base.shared.change_notifier.listen(heard.append)
    await house[TasksFeature].contributions.next_tasks(Requester(user_id=3), project, 1, 0, "priority")
    await a_turn()
    assert heard == []
