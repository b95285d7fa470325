"""Values that are good for a second and for one version."""

from __future__ import annotations

from typing import Any

import pytest
import pytest_twisted
from twisted.internet.defer import Deferred, ensureDeferred, gatherResults
from twisted.internet.task import Clock

from crowdd.kernel.concurrency.cache import Cache


class Maker:
    """A cache whose values are numbered as they are made, and are as large as their number has digits."""

    def __init__(self, maximum: int = 1000) -> None:
        self.clock, self.made = Clock(), 0
        self.waits: Deferred[None] | None = None
        self.cache: Cache[Any] = Cache(self.clock, 1.0, maximum, len)

    def ask(self, key: str = "a", version: int = 1, answer: Any = "") -> Deferred[str | None]:
        async def work() -> Any:
            self.made += 1
            value = str(self.made)
            if self.waits is not None:
                await self.waits
            if isinstance(answer, Exception):
                raise answer
            return value if answer == "" else answer

        return ensureDeferred(self.cache.get(key, work, version))


@pytest_twisted.ensureDeferred
async def test_a_value_is_good_for_a_second_and_for_its_version():
    maker = Maker()
    assert await maker.ask() == await maker.ask() == "1"
    maker.clock.advance(0.799)
    assert await maker.ask() == "1"
    maker.clock.advance(0.201)
    assert await maker.ask() == "2"
    assert await maker.ask(version=2) == "3"
    assert await maker.ask(version=1) == "4", "an old version comes back for nobody"
    assert await maker.ask(key="b") == "5"


@pytest_twisted.ensureDeferred
async def test_who_only_looks_gets_what_is_good_and_never_has_to_make_it():
    maker = Maker()
    assert maker.cache.peek("a", 1) is None
    assert await maker.ask() == "1"
    assert maker.cache.peek("a", 1) == "1" and maker.cache.peek("a", 2) is None
    maker.clock.advance(0.8)
    assert maker.cache.peek("a", 1) is None, "the next one is due, and is left to somebody who makes it"
    maker.waits = Deferred()
    next_one = maker.ask()
    assert maker.cache.peek("a", 1) == "1" and maker.made == 2
    maker.clock.advance(0.2)
    assert maker.cache.peek("a", 1) is None
    maker.waits.callback(None)
    assert await next_one == maker.cache.peek("a", 1) == "2"


@pytest_twisted.ensureDeferred
async def test_one_makes_the_next_value_shortly_before_the_end_and_nobody_waits_for_it():
    maker = Maker()
    assert await maker.ask() == "1"
    maker.clock.advance(0.8)
    maker.waits = Deferred()
    next_one = maker.ask()
    assert [await maker.ask(), await maker.ask()] == ["1", "1"] and maker.made == 2
    maker.clock.advance(0.199)
    assert await maker.ask() == "1" and maker.made == 2
    maker.clock.advance(0.001)
    late = maker.ask()
    assert not late.called, "a second after it was made it is good for nobody"
    maker.waits.callback(None)
    assert [await next_one, await late] == ["2", "2"]
    maker.clock.advance(0.599)
    assert await maker.ask() == "2" and maker.made == 2, "the second of the next one begins when it begins to be made"


@pytest_twisted.ensureDeferred
async def test_if_the_next_value_cannot_be_made_the_present_one_is_good_until_its_end():
    maker = Maker()
    assert await maker.ask() == "1"
    maker.clock.advance(0.8)
    with pytest.raises(ValueError, match="broken"):
        await maker.ask(answer=ValueError("broken"))
    assert await maker.ask() == "1"
    maker.clock.advance(0.2)
    assert await maker.ask() == "3"


@pytest_twisted.ensureDeferred
async def test_the_second_begins_when_it_begins_to_be_made():
    maker = Maker()
    maker.waits = Deferred()
    first = maker.ask()
    maker.clock.advance(0.9)
    maker.waits.callback(None)
    assert await first == "1"
    maker.waits = None
    maker.clock.advance(0.2)
    assert await maker.ask() == "2"


@pytest_twisted.ensureDeferred
async def test_callers_wait_for_what_is_being_made_for_their_version():
    maker = Maker()
    maker.waits = Deferred()
    asked = [maker.ask(), maker.ask(), maker.ask(version=2), maker.ask(version=2), maker.ask(key="b")]
    assert maker.made == 3
    maker.waits.callback(None)
    assert await gatherResults(asked) == ["1", "1", "2", "2", "3"]


@pytest_twisted.ensureDeferred
async def test_who_comes_a_second_later_does_not_wait_for_what_began_before():
    maker = Maker()
    maker.waits = Deferred()
    first = maker.ask()
    maker.clock.advance(1.0)
    later = [maker.ask(), maker.ask(), maker.ask()]
    assert maker.made == 2, "those who come later share one call, too"
    maker.waits.callback(None)
    assert await gatherResults([first, *later]) == ["1", "2", "2", "2"]
    assert await maker.ask() == "2", "not what began before"


@pytest_twisted.ensureDeferred
async def test_a_failure_and_nothing_are_not_kept():
    maker = Maker()
    with pytest.raises(KeyError):
        await maker.ask(answer=KeyError())
    assert await maker.ask(answer=None) is None
    assert len(maker.cache) == 0 and await maker.ask() == "3"


@pytest_twisted.ensureDeferred
async def test_the_bound_holds_with_ten_thousand_keys_and_those_asked_for_last_stay():
    maker = Maker(maximum=1000)
    sizes = set()
    for number in range(10_000):
        await maker.ask(f"key {number}")
        await maker.ask("often")
        sizes.add(maker.cache.size)
    assert max(sizes) <= 1000 and len(maker.cache) <= 1000
    made = maker.made
    assert await maker.ask("often") == "2" and maker.made == made
    await maker.ask("key 1")
    assert maker.made == made + 1


@pytest_twisted.ensureDeferred
async def test_what_is_larger_than_all_is_given_and_not_kept():
    maker = Maker(maximum=10)
    assert await maker.ask("small") == "1"
    assert await maker.ask(answer="x" * 11) == "x" * 11
    assert len(maker.cache) == maker.cache.size == 1
    assert await maker.ask("small") == "1"


# Values that are never older than the question


class Reader:
    """A fresh cache whose values are what was committed when they began to be read."""

    def __init__(self) -> None:
        self.clock, self.committed, self.read = Clock(), 1, 0
        self.waits: Deferred[None] | None = None
        self.cache: Cache[int] = Cache(self.clock, 1.0, 1000)

    def ask(self, *, knows: bool = True) -> Deferred[int | None]:
        async def work() -> int:
            self.read += 1
            value = self.committed
            if self.waits is not None:
                await self.waits
            return value

        return ensureDeferred(self.cache.get("a", work, self.committed if knows else None, fresh=True))

    def now(self) -> Any:
        """A value that is there after one turn of the reactor."""
        asked = self.ask()
        self.clock.advance(0)
        return asked.result


def test_what_did_not_change_is_read_once_and_what_did_is_read_at_once():
    reader = Reader()
    assert [reader.now() for _ in range(5)] == [1] * 5 and reader.read == 1
    reader.committed = 2
    assert [reader.now() for _ in range(5)] == [2] * 5 and reader.read == 2
    reader.clock.advance(1.0)
    assert reader.now() == 2 and reader.read == 3, "no version is good for ever"


def test_who_asks_while_others_wait_for_an_older_version_gets_their_own():
    reader = Reader()
    reader.waits = Deferred()
    early = [reader.ask(), reader.ask()]
    reader.clock.advance(0)
    reader.committed = 2
    late = [reader.ask(), reader.ask()]
    reader.clock.advance(0)
    assert reader.read == 1, "one at a time, however often the version changes"
    reader.waits.callback(None)
    assert [each.result for each in early + late] == [1, 1, 2, 2] and reader.read == 2
    assert reader.now() == 2 and reader.read == 2


def test_without_a_version_nothing_is_kept():
    reader = Reader()
    for number in (1, 2):
        asked = reader.ask(knows=False)
        reader.clock.advance(0)
        assert asked.result == 1 and reader.read == number
