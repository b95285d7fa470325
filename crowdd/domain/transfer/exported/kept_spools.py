"""Finished files that wait a while, so that a download whose connection broke can go on where it was."""

from __future__ import annotations

from typing import Final

import attrs
from twisted.internet.interfaces import IDelayedCall, IReactorTime

from crowdd.domain.transfer.spool import Spool

SECONDS: Final = 600
MAX_KEPT: Final = 16
MAX_BYTES: Final = 4_000_000_000  # of all together


@attrs.frozen(eq=False)
class KeptSpool:
    """A finished file. ``key`` says what it is and for whom, ``tag`` is its own."""

    key: str
    tag: str
    spool: Spool
    until: float


class KeptSpools:
    """Keeps the last finished files for SECONDS. ``clock`` has ``seconds`` and ``callLater``."""

    def __init__(self, clock: IReactorTime) -> None:
        self._clock = clock
        self._kept: list[KeptSpool] = []
        self._tick: IDelayedCall | None = None

    def keep(self, key: str, tag: str, spool: Spool) -> None:
        """Keeps a file; an earlier one with this key, and those beyond the limits, go."""
        for each in [each for each in self._kept if each.key == key]:
            self._drop(each)
        self._kept.append(KeptSpool(key, tag, spool, self._clock.seconds() + SECONDS))
        while len(self._kept) > MAX_KEPT or sum(each.spool.size for each in self._kept) > MAX_BYTES:
            self._drop(self._kept[0])
        self._plan()

    def find(self, key: str, tag: str = "") -> KeptSpool | None:
        """The file with this key, and with this tag if one is given."""
        return next((each for each in self._kept if each.key == key and tag in ("", each.tag)), None)

    def _plan(self) -> None:
        if self._tick is None and self._kept:
            self._tick = self._clock.callLater(max(0, self._kept[0].until - self._clock.seconds()), self._expire)

    def _expire(self) -> None:
        self._tick = None
        for each in [each for each in self._kept if each.until <= self._clock.seconds()]:
            self._drop(each)
        self._plan()

    def _drop(self, kept_spool: KeptSpool) -> None:
        self._kept.remove(kept_spool)
        kept_spool.spool.close()
