"""Callers who want the same thing share one call."""

from __future__ import annotations

from twisted.internet.defer import CancelledError, Deferred

from crowdd.kernel.concurrency.cache import Flight


class Calls:
    def __init__(self):
        self.made = []

    async def __call__(self):
        self.made.append(Deferred())
        return await self.made[-1]


def test_callers_of_one_key_share_a_call_and_later_ones_begin_another():
    flight, calls = Flight(), Calls()
    first, second, other = flight.run("a", calls), flight.run("a", calls), flight.run("b", calls)
    assert len(calls.made) == 2 and "a" in flight
    calls.made[0].callback(1)
    assert (first.result, second.result, other.called, "a" in flight) == (1, 1, False, False)
    third = flight.run("a", calls)
    calls.made[2].callback(3)
    assert third.result == 3
    calls.made[1].callback(2)


def test_failure_reaches_every_caller():
    flight, calls = Flight(), Calls()
    waiting = [flight.run("a", calls) for _ in range(2)]
    calls.made[0].errback(ValueError("wrong"))
    assert [each.addErrback(lambda failure: failure.getErrorMessage()).result for each in waiting] == ["wrong"] * 2


def test_cancelled_caller_leaves_the_call_to_the_others():
    flight, calls = Flight(), Calls()
    gone, waiting = flight.run("a", calls), flight.run("a", calls)
    gone.addErrback(lambda failure: failure.trap(CancelledError))
    gone.cancel()
    calls.made[0].callback(1)
    assert (gone.result, waiting.result) == (CancelledError, 1)


def test_call_that_ends_at_once():
    async def at_once():
        return 4

    flight = Flight()
    assert flight.run("a", at_once).result == 4 and "a" not in flight
