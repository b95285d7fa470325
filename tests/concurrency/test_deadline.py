"""Something happens when a block takes too long."""

from __future__ import annotations

from twisted.internet.defer import CancelledError, Deferred, ensureDeferred
from twisted.internet.task import Clock

from crowdd.kernel.concurrency.timing import deadline


async def _wait(clock, work, seconds):
    with deadline(clock, seconds, work.cancel) as timer:
        try:
            return await work
        except CancelledError:
            return "too late" if not timer.active() else "cancelled"


def test_block_in_time_leaves_no_timer():
    clock, work = Clock(), Deferred()
    waiting = ensureDeferred(_wait(clock, work, 5))
    clock.advance(4.9)
    work.callback("done")
    assert waiting.result == "done" and not clock.getDelayedCalls()


def test_expired_is_called_when_the_time_is_over():
    clock, work = Clock(), Deferred()
    waiting = ensureDeferred(_wait(clock, work, 5))
    clock.advance(5)
    assert waiting.result == "too late"


def test_other_end_is_told_from_the_end_of_the_time():
    clock, work = Clock(), Deferred()
    waiting = ensureDeferred(_wait(clock, work, 5))
    waiting.cancel()
    assert waiting.result == "cancelled" and not clock.getDelayedCalls()
