"""Long turns of the reactor are counted and logged, with what was asked in them and where they were."""

from __future__ import annotations

import re
import time

import pytest_twisted
from support.checks.shows import shows
from twisted.internet import epollreactor, reactor
from twisted.internet.task import deferLater
from twisted.logger import capturedLogs, formatEvent

from crowdd.kernel.stalls import StallWatch


class Lines(StallWatch):
    """Keeps what would be logged."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.lines: list[tuple[list[str], str]] = []
        super().__init__(self.seconds.append)

    def stalled(self, taken: float, addresses: list[str], stack: str) -> None:
        self.lines.append((addresses, stack))


def busy(seconds: float) -> None:
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


@pytest_twisted.ensureDeferred
async def test_a_long_turn_is_counted_and_a_longer_one_says_where_it_was() -> None:
    watch = Lines()
    watch.start(reactor)
    try:
        await deferLater(reactor, 0.01, lambda: None)  # the turn in which it was started does not count
        await deferLater(reactor, 0, busy, 0.01)
        before = len(watch.seconds)
        await deferLater(reactor, 0, busy, 0.08)
        await deferLater(reactor, 0, lambda: None)
        assert len(watch.seconds) > before and not watch.lines

        def long() -> None:
            watch.note(b"POST", "/api/task")
            busy(0.6)

        await deferLater(reactor, 0, long)
        await deferLater(reactor, 0, lambda: None)
        ((addresses, stack),) = watch.lines
        assert addresses == ["POST /api/task"] and "busy" in stack and "long" in stack
    finally:
        watch.stop(reactor)
    await deferLater(reactor, 0, busy, 0.3)
    await deferLater(reactor, 0, lambda: None)
    assert len(watch.lines) == 1


@shows("health-stalls")
@pytest_twisted.ensureDeferred
async def test_turns_are_counted_for_prometheus_and_logged_once_a_minute(serve) -> None:
    served = await serve(CROWDD_METRICS_TOKEN="watching")
    await deferLater(reactor, 0.01, lambda: None)  # the turn in which the watch was started does not count
    with capturedLogs() as events:
        for _turn in range(2):
            await deferLater(reactor, 0, busy, 0.6)
            await deferLater(reactor, 0, lambda: None)
    lines = [formatEvent(event) for event in events if event["log_namespace"] == "crowdd.kernel.stalls"]
    assert len(lines) == 1 and lines[0].startswith("reactor stalled: seconds=0.") and "test_stalls.py" in lines[0]
    text = (await served.client().get("/metrics", headers={"Authorization": "Bearer watching"})).text
    (count,) = re.findall(r"crowdd_reactor_stall_seconds_count (\S+)", text)
    assert float(count) >= 2


@pytest_twisted.ensureDeferred
async def test_waiting_is_no_turn() -> None:
    watch = Lines()
    watch.start(reactor)
    try:
        await deferLater(reactor, 0.4, lambda: None)
        assert not watch.lines
    finally:
        watch.stop(reactor)


def test_the_reactor_still_has_what_is_watched() -> None:
    """A private name of Twisted: without it nothing is measured."""
    made = epollreactor.EPollReactor()
    assert callable(made._poller.poll)
    made._poller.close()
