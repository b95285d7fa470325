"""A turn of the reactor that takes long fails the test that caused it: the server would have served nobody meanwhile.

Counted is processor time of the thread, so that a busy machine fails nothing, and only of turns in which the server works:
what a test computes itself does not count.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pytest
from twisted.internet import reactor

from crowdd.kernel.stalls import LOGGED, StallWatch

_TESTS = str(Path(__file__).parents[2])
_OWN = "a test"


class _Watch(StallWatch):
    """Keeps what stalled since it was asked last."""

    def __init__(self) -> None:
        super().__init__(lambda _seconds: None, time.thread_time)
        self.stalls: list[str] = []

    def stalled(self, taken: float, addresses: list[str], stack: str) -> None:
        if addresses and stack != _OWN:
            self.stalls.append(f"{taken:.2f} s of CPU in one turn of the reactor: {', '.join(addresses)}; {stack}")

    def describe(self, frame: FrameType | None) -> str:
        files = (one.f_code.co_filename for one, _ in traceback.walk_stack(frame))
        return _OWN if any(file.startswith(_TESTS) for file in files) else super().describe(frame)


_watch: list[_Watch] = []


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Fails a test in which a turn with requests took more than ``LOGGED`` seconds of CPU."""
    if not _watch:
        _watch.append(_Watch())
        _watch[0].start(reactor)  # type: ignore[arg-type]
    watch = _watch[0]
    watch.begin()
    watch.stalls.clear()
    result = yield
    if watch.stalls and item.get_closest_marker("stalls") is None:
        pytest.fail(f"Others had to wait more than {LOGGED} s: {watch.stalls}", pytrace=False)
    return result
