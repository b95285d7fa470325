"""Turns for requests that bring parts of files.

Several parts at a time would keep both the processors and the disk busy, and others would wait for their tasks. So one
part is received at a time, in bursts with pauses between them, and after it no part for as long as it took. The others
stay unread in the buffers of their connections, which slows their senders down.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from twisted.internet.defer import Deferred, TimeoutError
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.internet.task import deferLater

from crowdd.concurrency.concurrency_limit import Turns

TURN_SECONDS: Final = 0.25
"""After this time a part gives its turn up and arrives beside others: its sender is slow."""
BURST: Final = 131_072
"""Bytes of a part that are received before a pause."""
PAUSE_SECONDS: Final = 0.002
"""So long nothing is read of a part after each burst."""
REST: Final = 1.0
"""How long no other part is received after one, in times of what that one took. A slow one is no load to rest from."""


class PartTurns:
    """One part at a time, in the order in which they came; any number waits."""

    def __init__(self, clock: IReactorTime) -> None:
        self._clock = clock
        self._turns = Turns(clock, 1, None)

    async def take(self, begin: Callable[[], Deferred[None]]) -> None:
        """Call ``begin`` when the turn comes. The Deferred that it returns says when the request has been answered."""
        await self._turns.run("", lambda: self._until_done(begin()))

    def pause(self, then: Callable[[], None]) -> IDelayedCall:
        """Call ``then`` when more of a part may be read."""
        return self._clock.callLater(PAUSE_SECONDS, then)

    async def _until_done(self, done: Deferred[None]) -> None:
        began = self._clock.seconds()
        try:
            await done.addTimeout(TURN_SECONDS, self._clock)
        except TimeoutError:
            return
        if (rest := REST * (self._clock.seconds() - began)) > 0:
            await deferLater(self._clock, rest)
