"""How often a process that ended by itself is started again."""

from __future__ import annotations

from collections.abc import Callable

import attrs

from crowdd.concurrency.back_off import back_off

GROWTH = 2.0
STEADY_SECONDS = 60.0  # a process that ran so long begins with the first pause again


@attrs.define
class Restarts:
    """Counts the restarts of one process; ``clock`` gives seconds.

    Pauses grow from ``first`` to ``longest`` seconds. A process that does not run steadily is started again at most
    ``maximum`` times in a row, without end when it is None.
    """

    clock: Callable[[], float]
    first: float
    longest: float
    maximum: int | None = None
    _began: float = attrs.field(init=False)
    _in_a_row: int = attrs.field(init=False, default=0)

    @_began.default
    def _now(self) -> float:
        return self.clock()

    def began(self) -> None:
        """The process was started."""
        self._began = self.clock()

    def pause(self) -> float:
        """Count the end of the process; return the seconds until it is started again, unless that is ``exhausted``."""
        if self.clock() - self._began >= STEADY_SECONDS:
            self._in_a_row = 0
        self._in_a_row += 1
        return back_off(self._in_a_row, self.first, GROWTH, self.longest)

    @property
    def exhausted(self) -> bool:
        """Whether the process ended more than ``maximum`` times in a row."""
        return self.maximum is not None and self._in_a_row > self.maximum
