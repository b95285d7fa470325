"""Keys that are remembered for some seconds."""

from __future__ import annotations

from collections.abc import Hashable

from twisted.internet.interfaces import IReactorTime


class ExpiringCache:
    """Each key is in it until ``seconds`` after it was last added, or until ``max_size`` others were added.

    ``clock`` has ``seconds``.
    """

    def __init__(self, clock: IReactorTime, seconds: float, max_size: int) -> None:
        self._clock, self._seconds, self._max_size = clock, seconds, max_size
        self._until: dict[Hashable, float] = {}

    def add(self, key: Hashable) -> None:
        """Remember a key from now on."""
        self._until.pop(key, None)  # the oldest stays first
        while len(self._until) >= self._max_size:
            del self._until[next(iter(self._until))]
        self._until[key] = self._clock.seconds() + self._seconds

    def __contains__(self, key: Hashable) -> bool:
        return bool(self._until) and self._until.get(key, 0.0) > self._clock.seconds()
