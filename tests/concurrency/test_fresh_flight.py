"""Callers who want the same thing share a call that begins after they asked."""

from __future__ import annotations

from typing import Any

from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.task import Clock

from crowdd.kernel.concurrency.cache import FreshFlight


class Calls:
    """Calls as they begin; each ends when the test says so."""

    def __init__(self) -> None:
        self.clock, self.made = Clock(), []
        self.flight: FreshFlight[Any] = FreshFlight(self.clock)

    async def work(self) -> Any:
        self.made.append(Deferred())
        return await self.made[-1]

    def ask(self, key: str = "a") -> Deferred[Any]:
        return self.flight.run(key, self.work)

    def turn(self) -> None:
        self.clock.advance(0)


def test_who_asks_in_one_turn_shares_a_call_and_other_keys_do_not_wait():
    calls = Calls()
    first, second, other = calls.ask(), calls.ask(), calls.ask("b")
    assert calls.made == [], "the rest of this turn is waited for"
    calls.turn()
    assert len(calls.made) == 2
    calls.made[0].callback(1)
    assert (first.result, second.result, other.called) == (1, 1, False)


def test_who_asks_while_a_call_is_under_way_gets_what_is_read_after_that():
    calls = Calls()
    first = calls.ask()
    calls.turn()
    later = [calls.ask(), calls.ask()]
    calls.turn()
    assert len(calls.made) == 1, "one at a time"
    calls.made[0].callback("old")
    assert first.result == "old" and not later[0].called and len(calls.made) == 2, "the next begins at once"
    calls.made[1].callback("new")
    assert [each.result for each in later] == ["new", "new"]
    last = calls.ask()
    calls.turn()
    calls.made[2].callback("newest")
    assert last.result == "newest"


def test_failure_reaches_those_who_shared_the_call_alone():
    calls = Calls()
    failed = [calls.ask(), calls.ask()]
    calls.turn()
    later = calls.ask()
    calls.made[0].errback(ValueError("wrong"))
    assert [each.addErrback(lambda failure: failure.getErrorMessage()).result for each in failed] == ["wrong"] * 2
    calls.made[1].callback(2)
    assert later.result == 2


def test_cancelled_caller_leaves_the_call_to_the_others():
    calls = Calls()
    gone, waiting = calls.ask(), calls.ask()
    gone.addErrback(lambda failure: failure.trap(CancelledError))
    gone.cancel()
    calls.turn()
    calls.made[0].callback(1)
    assert (gone.result, waiting.result) == (CancelledError, 1)


def test_nothing_stays_of_calls_that_ended_at_once():
    async def at_once() -> int:
        return 4

    calls = Calls()
    places = [calls.flight.run(number, at_once) for number in range(10)]
    calls.turn()
    assert [place.result for place in places] == [4] * 10
    assert not calls.flight._waiting and not calls.flight._under_way
