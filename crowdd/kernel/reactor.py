"""The interfaces of the reactor that crowdd uses, as one type. Only programs import the reactor itself.

And two clocks: one that timers follow, which never jumps, and the time of day, which somebody may set.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from twisted.internet.interfaces import (
    IReactorCore,
    IReactorFDSet,
    IReactorPluggableNameResolver,
    IReactorProcess,
    IReactorSocket,
    IReactorSSL,
    IReactorTCP,
    IReactorThreads,
    IReactorTime,
)


class IReactor(
    IReactorCore,
    IReactorTime,
    IReactorThreads,
    IReactorTCP,
    IReactorSSL,
    IReactorSocket,
    IReactorProcess,
    IReactorFDSet,
    IReactorPluggableNameResolver,
):
    """A reactor of Linux. Code that only needs the time takes ``IReactorTime``, which the tests' ``Clock`` provides."""


class SteadySeconds:
    """Epoch seconds as they were at the start, and as many more as have passed since, whatever becomes of the clock."""

    def __init__(
        self, time_of_day: Callable[[], float] = time.time, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._monotonic = monotonic
        self._start = time_of_day() - monotonic()

    def __call__(self) -> float:
        return self._start + self._monotonic()


def keep_steady(reactor: IReactorTime) -> None:
    """Have the timers of a reactor follow the time that passes.

    Twisted's follow the time of day: when that is set back by a day, whatever waits a second then waits a day, and when
    it is set forward, every time limit is over at once. Call it before anything is planned; another call does nothing.
    """
    if not isinstance(reactor.seconds, SteadySeconds):
        reactor.seconds = SteadySeconds()  # type: ignore[method-assign]


def epoch_seconds(clock: IReactorTime) -> float:
    """The time of day, for what leaves the process or is compared with other machines.

    A clock that nobody made steady is asked itself.
    """
    return time.time() if isinstance(clock.seconds, SteadySeconds) else float(clock.seconds())
