"""A time that a piece of work may take."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from twisted.internet.interfaces import IReactorTime


@contextmanager
def deadline(clock: IReactorTime, seconds: float, expired: Callable[..., object], *arguments: object) -> Iterator[Any]:
    """Call ``expired(*arguments)`` if the block takes longer than ``seconds``. ``clock`` has ``callLater``.

    The block goes on: ``expired`` makes it end, for example by cancelling what it waits for. The block gets the timer,
    which is ``active()`` until the time is over.
    """
    timer = clock.callLater(seconds, expired, *arguments)
    try:
        yield timer
    finally:
        if timer.active():
            timer.cancel()
