"""When a statement has to be answered: a server behind a cut network says nothing, and no time-out of its own arrives."""

from __future__ import annotations

from collections.abc import Callable

from twisted.internet.interfaces import IDelayedCall, IReactorTime

GRACE_SECONDS = 2.0  # beyond the time-out of a statement, for the way there and back


class AnswerDeadline:
    """Calls ``give_up`` when a statement got no answer for ``seconds``; never if these are None.

    A connection runs tens of thousands of statements between two cut networks. So there is one timer per connection at
    most, which looks when the last statement is due, and none per statement.
    """

    def __init__(self, clock: IReactorTime, seconds: float | None, give_up: Callable[[], object]) -> None:
        self._clock, self._seconds, self._give_up = clock, seconds, give_up
        self._due: float | None = None
        self._timer: IDelayedCall | None = None

    def begin(self) -> None:
        """A statement was sent."""
        if self._seconds is None:
            return
        self._due = self._clock.seconds() + self._seconds
        if self._timer is None:
            self._timer = self._clock.callLater(self._seconds, self._look)

    def end(self) -> None:
        """It was answered."""
        self._due = None

    def stop(self) -> None:
        """The connection is closed."""
        self._due = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self) -> None:
        self._timer = None
        if self._due is None:
            return
        left = self._due - self._clock.seconds()
        if left > 0:
            self._timer = self._clock.callLater(left, self._look)
        else:
            self._due = None
            self._give_up()
