"""Counting per window."""

import pytest
from twisted.internet.task import Clock

from crowdd.http import limits
from crowdd.http.limits import RateLimit, Window


def clock_at(seconds):
    clock = Clock()
    clock.advance(seconds)
    return clock


def test_as_many_as_allowed_pass_and_the_next_does_not():
    window = Window(clock_at(1_000_000), 3, 900)
    taken = [window.take("a") for _ in range(5)]
    assert [t.allowed for t in taken] == [True, True, True, False, False]
    assert [t.remaining for t in taken] == [2, 1, 0, 0, 0]
    assert {t.reset for t in taken} == {1_000_800} and taken[0].limit == 3


def test_keys_do_not_share():
    window = Window(clock_at(0), 1, 900)
    assert [window.take(key).allowed for key in ("a", "b", "a", ("a", 1))] == [True, True, False, True]


def test_a_window_ends_at_a_multiple_of_its_length_and_counts_anew():
    clock = clock_at(899)
    window = Window(clock, 1, 900)
    assert (window.take("a").reset, window.take("a").allowed) == (900, False)
    clock.advance(0.999)
    assert not window.take("a").allowed
    clock.advance(0.001)
    fresh = window.take("a")
    assert (fresh.allowed, fresh.reset) == (True, 1800)
    clock.advance(5000)
    assert window.take("a").allowed


def test_a_limit_of_nothing_allows_everything():
    window = Window(clock_at(0), 0, 900)
    assert all(window.take("a").allowed for _ in range(1000))


def test_memory_is_bounded(monkeypatch):
    monkeypatch.setattr(limits, "MOST_KEYS", 10)
    window = Window(clock_at(0), 5, 900)
    assert all(window.take(f"known{n}").allowed for n in range(10))
    for number in range(20_000):
        window.take(f"stranger{number}")
    assert len(window._used) <= 10 + limits._BUCKETS
    assert window.take("known1").allowed and not window.take("stranger1").allowed


def test_clients_with_cookies_have_their_own_count_below_a_common_ceiling():
    limit = RateLimit(clock_at(0), 2, 900, room=2)
    assert [limit.take("task", "a", f"c{n}").allowed for n in (1, 1, 1, 2, 2, 3)] == [
        True,
        True,
        False,
        True,
        True,
        False,
    ]
    assert limit.take("task", "a", "").allowed and limit.take("project", "a", "c3").allowed
    assert limit.take("task", "b", "c3").allowed
    refused = limit.take("task", "a", "c4")
    assert (refused.allowed, refused.remaining, refused.reset) == (False, 0, 900)


@pytest.mark.parametrize(("limit", "active"), [(0, False), (1, True)])
def test_nothing_is_counted_when_it_is_off(limit, active):
    assert RateLimit(clock_at(0), limit, 900, room=1).active is active


def test_the_three_headers():
    headers = Window(clock_at(10), 300, 900).take("a").headers()
    assert headers == {"X-RateLimit-Limit": "300", "X-RateLimit-Remaining": "299", "X-RateLimit-Reset": "900"}
