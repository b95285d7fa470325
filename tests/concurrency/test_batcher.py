"""Calls gathered into batches: what a batch is, and what becomes of its members when it fails."""

import pytest
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.task import Clock

from crowdd.kernel.concurrency.batching import MAX_BATCH, Batcher
from crowdd.kernel.errors import NoConnectionError, UnavailableError


class Work:
    """Batches as they begin; each ends when the test says so."""

    def __init__(self):
        self.clock = Clock()
        self.begun, self.alone = [], []
        self.gather = Batcher(self.clock, self.many, self.one, max_queue=100)

    async def many(self, members):
        end = Deferred()
        self.begun.append((members, end))
        return await end

    async def one(self, member, uncertain):
        self.alone.append((member, uncertain))
        if member == "bad":
            raise ValueError(member)
        return f"{member} alone"

    def turn(self):
        self.clock.advance(0)

    def end(self, number, result=None):
        members, end = self.begun[number]
        end.callback([f"{m} done" for m in members]) if result is None else end.errback(result)


def outcome(place):
    """What a call has come to by now: a result, an error, or None."""
    outcomes = []
    place.addBoth(outcomes.append)
    return getattr(outcomes[0], "value", outcomes[0]) if outcomes else None


def test_what_comes_in_one_turn_and_while_a_batch_is_under_way_goes_together():
    work = Work()
    first = [work.gather.add(name) for name in "ab"]
    assert work.begun == [], "the rest of this turn is waited for"
    work.turn()
    later = [work.gather.add(name) for name in "cd"]
    work.turn()
    assert [members for members, _ in work.begun] == [["a", "b"]], "one lane"
    work.end(0)
    assert [members for members, _ in work.begun] == [["a", "b"], ["c", "d"]], "the next begins at once"
    assert [outcome(place) for place in first] == ["a done", "b done"]
    work.end(1)
    assert [outcome(place) for place in later] == ["c done", "d done"]
    lonely = work.gather.add("e")
    work.turn()
    work.end(2)
    assert outcome(lonely) == "e done" and work.alone == []


def test_a_batch_has_at_most_so_many_members():
    work = Work()
    for number in range(MAX_BATCH + 5):
        work.gather.add(str(number))
    work.turn()
    work.end(0)
    assert [len(members) for members, _ in work.begun] == [MAX_BATCH, 5]


@pytest.mark.parametrize("error", [RuntimeError("x"), UnavailableError("busy"), UnavailableError("", uncertain=True)])
def test_a_batch_that_fails_is_done_member_by_member(error):
    work = Work()
    places = [work.gather.add(name) for name in ("a", "bad", "c")]
    work.turn()
    waiting = work.gather.add("d")
    work.end(0, error)
    uncertain = getattr(error, "uncertain", False)
    assert work.alone == [("a", uncertain), ("bad", uncertain), ("c", uncertain)]
    good, bad, other = (outcome(place) for place in places)
    assert (good, other) == ("a alone", "c alone") and isinstance(bad, ValueError)
    assert work.begun[1][0] == ["d"], "the next batch does not wait for them"
    work.end(1)
    assert outcome(waiting) == "d done"


def test_who_fails_alone_is_not_tried_again_unless_nobody_knows():
    work = Work()
    busy, lost = work.gather.add("a"), UnavailableError("", uncertain=True)
    work.turn()
    work.end(0, UnavailableError("The row is busy."))
    assert (str(outcome(busy)), work.alone) == ("The row is busy.", [])
    unknown = work.gather.add("b")
    work.turn()
    work.end(1, lost)
    assert (outcome(unknown), work.alone) == ("b alone", [("b", True)])


def test_without_a_connection_all_fail_who_wait_for_it():
    work = Work()
    inside = work.gather.add("a")
    work.turn()
    waiting = work.gather.add("b")
    away = NoConnectionError("away")
    work.end(0, away)
    assert (outcome(inside), outcome(waiting), work.alone) == (away, away, [])
    later = work.gather.add("c")
    work.turn()
    work.end(1)
    assert outcome(later) == "c done"


def test_no_more_wait_than_may():
    work = Work()
    for number in range(100):
        work.gather.add(str(number))
    refused = outcome(work.gather.add("too many"))
    assert isinstance(refused, NoConnectionError) and refused.retry_after == 1


def test_who_goes_leaves_the_others_and_his_work_alone():
    work = Work()
    gone, stays = work.gather.add("a"), work.gather.add("b")
    work.turn()
    gone.cancel()
    assert isinstance(outcome(gone), CancelledError)
    work.end(0)
    assert outcome(stays) == "b done" and work.begun[0][0] == ["a", "b"]


def test_by_default_a_member_alone_is_a_batch_of_one():
    clock, asked = Clock(), []

    async def many(members):
        asked.append(members)
        if "bad" in members:
            raise ValueError
        return members

    gather = Batcher(clock, many)
    good, bad = gather.add("a"), gather.add("bad")
    clock.advance(0)
    assert asked == [["a", "bad"], ["a"], ["bad"]]
    assert outcome(good) == "a" and isinstance(outcome(bad), ValueError)
