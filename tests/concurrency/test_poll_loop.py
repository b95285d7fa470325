"""Looks come one after the other, at the earliest time that was asked for."""

from __future__ import annotations

from twisted.internet.defer import Deferred, ensureDeferred
from twisted.internet.task import Clock

from crowdd.kernel.concurrency.timing import PollLoop


class Polls:
    def __init__(self, clock):
        self._clock, self.begun, self.wait = clock, [], None

    async def __call__(self):
        self.begun.append(self._clock.seconds())
        if self.wait is not None:
            await self.wait


def test_looks_follow_the_pause_and_end_with_stop():
    clock = Clock()
    polls = Polls(clock)
    loop = PollLoop(clock, polls, lambda: 2.0)
    clock.advance(1)
    assert polls.begun == []
    loop.start()
    clock.pump([0, 2, 2])
    assert polls.begun == [1, 3, 5]
    assert ensureDeferred(loop.stop()).called
    clock.advance(10)
    assert len(polls.begun) == 3 and not clock.getDelayedCalls()


def test_plan_brings_the_next_look_forward_and_never_back():
    clock = Clock()
    polls = Polls(clock)
    loop = PollLoop(clock, polls, lambda: 10.0)
    loop.start()
    clock.advance(0)
    loop.plan(1)
    loop.plan(5)
    clock.advance(1)
    assert polls.begun == [0, 1]


def test_no_look_begins_while_one_is_under_way_and_stop_waits_for_it():
    clock = Clock()
    polls = Polls(clock)
    polls.wait = Deferred()
    loop = PollLoop(clock, polls, lambda: 1.0)
    loop.start()
    clock.advance(0)
    loop.plan(0)
    clock.advance(5)
    assert polls.begun == [0]
    stopped = ensureDeferred(loop.stop())
    assert not stopped.called
    polls.wait.callback(None)
    clock.advance(5)
    assert stopped.called and polls.begun == [0]
