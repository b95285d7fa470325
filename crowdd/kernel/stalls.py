"""How long the reactor does one thing while everybody else waits.

A turn is what the reactor does between two questions to the kernel for events. A long one is counted. One that is even
longer is logged once a minute, with the addresses that were asked in it and where it was after a quarter of a second.
"""

from __future__ import annotations

import select
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Final

from twisted.internet.interfaces import IReactorCore
from twisted.logger import Logger

from crowdd import PACKAGE

log = Logger()
COUNTED: Final = 0.05
"""Seconds from which a turn is counted."""
LOGGED: Final = 0.25
"""Seconds from which a turn is logged."""
_LOG_PAUSE: Final = 60.0  # seconds between two lines
_LOOK_PAUSE: Final = 0.1  # seconds between two looks at the stack
_MAX_ADDRESSES: Final = 5
_MAX_FRAMES: Final = 8
_OURS: Final = str(PACKAGE)


class StallWatch:
    """Measures the turns of a reactor. ``counted`` is called with the seconds of each long one."""

    def __init__(self, counted: Callable[[float], None], seconds: Callable[[], float] = time.perf_counter) -> None:
        """``seconds`` may be processor time of the thread that the reactor runs in."""
        self._counted, self._seconds = counted, seconds
        self._began, self._number, self._waiting = seconds(), 0, True
        self._stack: tuple[int, str] = (-1, "")  # of the turn with that number
        self._addresses: list[str] = []
        self._logged = float("-inf")
        self._thread: threading.Thread | None = None
        self._stopped = threading.Event()

    def begin(self) -> None:
        """A turn begins: events have arrived."""
        self._number, self._waiting = self._number + 1, False
        self._began = self._seconds()

    def end(self) -> None:
        """The turn is over: the reactor is about to wait."""
        taken = 0.0 if self._waiting else self._seconds() - self._began  # the turn that it starts in does not count
        self._waiting = True
        if taken > COUNTED:
            self._counted(taken)
            if taken > LOGGED:
                self.stalled(taken, self._addresses, self._stack[1] if self._stack[0] == self._number else "")
        if self._addresses:
            self._addresses = []

    def note(self, method: bytes, route: str) -> None:
        """A request to this route begins in this turn."""
        if len(self._addresses) < _MAX_ADDRESSES:
            self._addresses.append(f"{method.decode('ascii', 'replace')} {route}")

    def stalled(self, taken: float, addresses: list[str], stack: str) -> None:
        """Log a turn, unless one was logged within the last minute."""
        now = time.monotonic()
        if now - self._logged < _LOG_PAUSE:
            return
        self._logged = now
        log.warn(
            "reactor stalled: seconds={seconds} addresses={addresses} stack={stack}",
            seconds=f"{taken:.2f}",
            addresses=", ".join(addresses) or "-",
            stack=stack or "unknown, the interpreter was not free",
        )

    def start(self, reactor: IReactorCore) -> None:
        """Measure from the next turn on; to be called in the thread of the reactor. Only epoll's reactor is watched."""
        poller = getattr(reactor, "_poller", None)
        if isinstance(poller, _Poller):
            poller.watches.append(self)
        elif poller is not None:
            reactor._poller = _Poller(poller, self)  # type: ignore[attr-defined]
        else:
            return
        self._thread = threading.Thread(target=self._look, args=(threading.get_ident(),), name="stalls", daemon=True)
        self._thread.start()

    def stop(self, reactor: IReactorCore) -> None:
        """Measure no more."""
        self._stopped.set()
        poller = getattr(reactor, "_poller", None)
        if isinstance(poller, _Poller) and self in poller.watches:
            poller.watches.remove(self)

    def _look(self, thread: int) -> None:
        """Remember where a turn is that takes long; in a thread, which gets its turn when the interpreter is free."""
        number, since = -1, 0.0
        while not self._stopped.wait(_LOOK_PAUSE):
            now = time.monotonic()
            if number != self._number or self._waiting:
                number, since = self._number, now
            elif now - since > LOGGED - _LOOK_PAUSE and self._stack[0] != number:
                self._stack = (number, self.describe(sys._current_frames().get(thread)))

    def describe(self, frame: FrameType | None) -> str:
        """The innermost functions of a stack, ours and what they call: file, line and name, the innermost first."""
        if frame is None:
            return ""
        frames = list(traceback.walk_stack(frame))
        first = next((nth for nth, (one, _) in enumerate(frames) if one.f_code.co_filename.startswith(_OURS)), 0)
        shown = frames[:1] + frames[max(first, 1) : first + _MAX_FRAMES]
        return " < ".join(f"{Path(one.f_code.co_filename).name}:{line} {one.f_code.co_name}" for one, line in shown)


class _Poller:
    """The reactor's epoll object, which says when it is asked and when it has answered."""

    def __init__(self, poller: select.epoll, watch: StallWatch) -> None:
        self._poll = poller.poll
        self.watches = [watch]
        self.register, self.unregister, self.modify = poller.register, poller.unregister, poller.modify
        self.close, self.fileno = poller.close, poller.fileno

    def poll(self, timeout: float, maximum: int) -> list[tuple[int, int]]:
        for watch in self.watches:
            watch.end()
        events = self._poll(timeout, maximum)
        for watch in self.watches:
            watch.begin()
        return events
