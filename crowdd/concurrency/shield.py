"""Work that ends though nobody waits for it any more."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from twisted.internet.defer import CancelledError, Deferred
from twisted.logger import Logger, LogLevel
from twisted.python.failure import Failure

T = TypeVar("T")
log = Logger()


def shield(running: Deferred[T], withdraw: Callable[[], None] = lambda: None) -> Deferred[T]:
    """Return a Deferred that follows ``running`` and whose cancellation does not reach it.

    ``withdraw`` is called on cancellation and may take back what has not begun. A failure after the cancellation is
    logged.
    """
    outer: Deferred[T] = Deferred(lambda _: withdraw())

    def passed(result: T) -> None:
        if not outer.called:
            outer.callback(result)

    def failed(failure: Failure) -> None:
        if not outer.called:
            outer.errback(failure)
        elif not failure.check(CancelledError):
            log.failure("operation failed after its caller was cancelled", failure, LogLevel.warn)

    running.addCallbacks(passed, failed)
    return outer
