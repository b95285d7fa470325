"""How often a process that exited is restarted."""

from __future__ import annotations

from collections.abc import Callable

import attrs

FIRST_PAUSE, GROWTH, LONGEST_PAUSE = 0.5, 2.0, 30.0  # seconds, factor, seconds
STEADY_SECONDS = 60.0  # a process that ran so long begins with the first pause again
MAX_RESTARTS = 5  # in a row, each of a process that did not run so long


@attrs.define
class Restarts:
    """Counts the restarts of one process; ``clock`` gives seconds."""

    clock: Callable[[], float]
    _began: float = attrs.field(init=False)
    _in_a_row: int = attrs.field(init=False, default=0)

    @_began.default
    def _now(self) -> float:
        return self.clock()

    def began(self) -> None:
        """The process was started."""
        self._began = self.clock()

    def pause(self) -> float | None:
        """Seconds until a process that has just exited is restarted. None after too many restarts."""
        if self.clock() - self._began >= STEADY_SECONDS:
            self._in_a_row = 0
        self._in_a_row += 1
        if self._in_a_row > MAX_RESTARTS:
            return None
        return min(FIRST_PAUSE * GROWTH ** (self._in_a_row - 1), LONGEST_PAUSE)
