"""Pauses grow after failures, up to a bound."""

from __future__ import annotations

from crowdd.kernel.concurrency.isolated import Restarts
from crowdd.kernel.concurrency.timing import back_off


def test_pauses_grow_up_to_the_longest():
    assert [back_off(failures, 1, 3, 20) for failures in range(6)] == [1, 1, 3, 9, 20, 20]
    assert back_off(10**9, 0.1, 5.0, 60) == 60


def test_process_without_a_maximum_is_always_started_again():
    restarts = Restarts(lambda: 0.0, 0.1, 10)
    assert [restarts.pause() for _ in range(9)][-2:] == [10, 10]
