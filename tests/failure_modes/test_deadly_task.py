"""A background task kills its process each time: it ends as failed, and others are not counted with it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
import pytest_twisted
from support.outside.deadly import MAX_ATTEMPTS
from twisted.internet import reactor
from twisted.internet.task import deferLater

from crowdd.kernel.requester import SYSTEM
from crowdd.sched.feature import Scheduling

TESTS = Path(__file__).parents[1]


@pytest.mark.proof
@pytest_twisted.ensureDeferred
async def test_it_is_given_up_and_others_go_on(house, settings):
    queue, db = house[Scheduling].queue, house.base.db
    before = [await queue.add(db, "count", {}, SYSTEM) for _ in range(2)]
    deadly = await queue.add(db, "kill", {}, SYSTEM)
    after = [await queue.add(db, "count", {}, SYSTEM) for _ in range(2)]
    command = [sys.executable, "-m", "support.outside.deadly", settings.db.dsn]
    environment, deaths, end = {**os.environ, "PYTHONPATH": str(TESTS)}, 0, time.monotonic() + 120
    process = None
    while await _unfinished(queue, [*before, deadly, *after]):
        assert time.monotonic() < end
        if process is None or process.poll() is not None:  # as a service manager does
            deaths += process is not None
            process = _begun(command, environment)
        await deferLater(reactor, 0.05)
    process.kill()
    process.wait()
    job = await queue.get(SYSTEM, deadly)
    assert (job["state"], deaths) == ("dead", MAX_ATTEMPTS), "each attempt was counted before it began"
    assert job["error"] == "Its process ended each time while it was under way."
    others = [await queue.get(SYSTEM, each, whole=True) for each in (*before, *after)]
    assert [each["state"] for each in others] == ["done"] * 4
    assert max(each["failures"] for each in others) <= 1, "a death beside it counts once, then they work alone"


def _begun(command, environment):
    return subprocess.Popen(command, env=environment, cwd=TESTS.parent)


async def _unfinished(queue, items):
    return [each for each in items if (await queue.get(SYSTEM, each))["state"] in ("waiting", "running")]
