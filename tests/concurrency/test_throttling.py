"""Work that is asked for often and done seldom."""

import pytest
from twisted.internet.defer import Deferred, ensureDeferred
from twisted.internet.task import Clock

from crowdd.kernel.concurrency.throttling import Throttled
from crowdd.kernel.errors import UnavailableError


class Work:
    """Notes when it was begun; ends when told, at once unless ``slow``; fails while ``fails``."""

    def __init__(self, clock):
        self._clock, self.begun, self.slow, self.fails, self.running = clock, [], False, False, []

    async def __call__(self):
        self.begun.append(round(self._clock.seconds(), 3))
        if self.slow:
            self.running.append(Deferred())
            await self.running[-1]
        if self.fails:
            raise UnavailableError("away")


@pytest.fixture
def clock():
    made = Clock()
    made.advance(100)
    return made


@pytest.fixture
def work(clock):
    return Work(clock)


def test_it_begins_at_once_and_then_at_most_once_per_pause(clock, work):
    throttled = Throttled(clock, work, 0.5)
    for _ in range(15):
        throttled.ask()
        clock.advance(0)
        clock.advance(0.125)
    assert work.begun == [100, 100.5, 101, 101.5]
    clock.advance(1)
    assert work.begun[4:] == [102.875]  # asked since the last time, before this clock went on
    clock.advance(50)
    assert len(work.begun) == 5


def test_never_twice_at_a_time_and_once_more_when_asked_meanwhile(clock, work):
    work.slow = True
    throttled = Throttled(clock, work, 0.5)
    throttled.ask()
    clock.advance(0)
    for _ in range(3):
        throttled.ask()
        clock.advance(10)
    assert len(work.begun) == 1
    work.running.pop().callback(None)
    clock.advance(0)
    assert len(work.begun) == 2
    work.running.pop().callback(None)
    clock.advance(10)
    assert len(work.begun) == 2


def test_what_failed_is_tried_again(clock, work):
    work.fails = True
    throttled = Throttled(clock, work, 0.5)
    throttled.ask()
    clock.pump([0, 0.5, 0.5])
    assert work.begun == [100, 100.5, 101]
    work.fails = False
    clock.pump([0.5, 5])
    assert work.begun == [100, 100.5, 101, 101.5]


def test_also_now_and_then_without_being_asked(clock, work):
    throttled = Throttled(clock, work, 0.5, every=15)
    clock.advance(60)
    assert work.begun == []
    throttled.ask()
    clock.advance(0)
    clock.advance(15)
    assert work.begun == [160, 175]
    clock.advance(5)
    throttled.ask()  # sooner than the next time
    clock.advance(0)
    assert work.begun == [160, 175, 180]
    clock.advance(14)
    assert len(work.begun) == 3
    throttled.stop()
    clock.advance(60)
    assert len(work.begun) == 3 and clock.getDelayedCalls() == []


def test_who_stops_it_while_it_works_is_left_alone(clock, work):
    work.slow = True
    throttled = Throttled(clock, work, 0.5, every=15)
    throttled.ask()
    clock.advance(0)
    throttled.ask()
    throttled.stop()
    work.running.pop().callback(None)
    clock.advance(60)
    assert len(work.begun) == 1 and clock.getDelayedCalls() == []


def test_flush_does_at_once_what_was_asked_and_plans_nothing(clock, work):
    throttled = Throttled(clock, work, 0.5)
    assert ensureDeferred(throttled.flush()).called and work.begun == []
    throttled.ask()
    assert ensureDeferred(throttled.flush()).called and work.begun == [100]
    throttled.ask()
    assert ensureDeferred(throttled.flush()).called and work.begun == [100, 100]
    assert not clock.getDelayedCalls()
    throttled.ask()
    clock.advance(0.5)
    assert work.begun == [100, 100, 100.5]


def test_flush_waits_for_the_work_under_way_and_does_it_once_more_when_asked_meanwhile(clock, work):
    throttled = Throttled(clock, work, 0.5)
    work.slow = True
    throttled.ask()
    clock.advance(0)
    throttled.ask()
    flushed = ensureDeferred(throttled.flush())
    work.running[0].callback(None)
    assert len(work.begun) == 2 and not flushed.called
    work.running[1].callback(None)
    assert flushed.called and not throttled.due


def test_flush_that_fails_ends_and_leaves_the_work_asked_for(clock, work):
    throttled = Throttled(clock, work, 0.5)
    work.fails = True
    throttled.ask()
    assert ensureDeferred(throttled.flush()).called and throttled.due and not clock.getDelayedCalls()
    work.fails = False
    throttled.ask()
    clock.advance(0.5)
    assert not throttled.due
