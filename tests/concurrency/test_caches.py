"""Values and keys that are good for some seconds."""

from __future__ import annotations

import pytest
from twisted.internet.defer import Deferred, ensureDeferred
from twisted.internet.task import Clock

from crowdd.kernel.concurrency.cache import Cache


class Loads:
    def __init__(self):
        self.made = []

    async def __call__(self):
        self.made.append(Deferred())
        return await self.made[-1]


def test_value_is_loaded_once_until_it_is_too_old():
    clock, loads = Clock(), Loads()
    value = Cache(clock, 5)
    first, second = ensureDeferred(value.get("", loads)), ensureDeferred(value.get("", loads))
    assert len(loads.made) == 1
    clock.advance(3)
    loads.made[0].callback("one")
    assert (first.result, second.result) == ("one", "one")
    clock.advance(4.9)
    assert ensureDeferred(value.get("", loads)).result == "one"
    clock.advance(0.1)
    again = ensureDeferred(value.get("", loads))
    loads.made[1].callback("two")
    assert again.result == "two"


def test_failure_is_not_kept():
    clock, loads = Clock(), Loads()
    value = Cache(clock, 5)
    failed = ensureDeferred(value.get("", loads))
    loads.made[0].errback(ValueError("away"))
    with pytest.raises(ValueError, match="away"):
        failed.addErrback(lambda failure: failure).result.raiseException()
    again = ensureDeferred(value.get("", loads))
    loads.made[1].callback("one")
    assert again.result == "one"


def test_key_is_remembered_for_its_time():
    clock = Clock()
    cache = Cache[bool](clock, 10, 100)
    cache.put("a", True)
    clock.advance(9)
    assert "a" in cache and "b" not in cache
    clock.advance(1)
    assert "a" not in cache


def test_oldest_keys_make_room_for_new_ones():
    cache = Cache[bool](Clock(), 10, 2)
    for key in ("a", "b", "a", "c"):
        cache.put(key, True)
    assert ["a" in cache, "b" in cache, "c" in cache] == [True, False, True]
