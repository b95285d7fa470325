"""Work ends though its caller was cancelled."""

from __future__ import annotations

import pytest
from twisted.internet.defer import CancelledError, Deferred

from crowdd.kernel.concurrency.timing import shield


def test_result_and_failure_reach_the_caller():
    running: Deferred[int] = Deferred()
    outer = shield(running)
    running.callback(5)
    assert outer.result == 5
    failing: Deferred[int] = Deferred()
    outer = shield(failing)
    failing.errback(ValueError("wrong"))
    with pytest.raises(ValueError, match="wrong"):
        outer.addErrback(lambda failure: failure.raiseException()).result.raiseException()


def test_cancellation_does_not_reach_the_work():
    cancelled, withdrawn = [], []
    running: Deferred[int] = Deferred(cancelled.append)
    outer = shield(running, lambda: withdrawn.append(True))
    outer.addErrback(lambda failure: failure.trap(CancelledError))
    outer.cancel()
    assert (cancelled, withdrawn, outer.result) == ([], [True], CancelledError)
    running.callback(5)


def test_withdraw_can_answer_in_place_of_the_cancellation():
    running: Deferred[int] = Deferred()
    outer = shield(running, lambda: running.callback(7))
    outer.cancel()
    assert outer.result == 7
