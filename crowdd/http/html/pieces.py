"""Pages that are drawn in pieces, between which the reactor goes on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater

SECONDS: Final = 0.001  # after which others come first


async def join(clock: IReactorTime, pieces: Iterable[str]) -> str:
    """Join the pieces into one text. After each millisecond of work, the reactor handles other events.

    Raises what ``pieces`` raises. ``clock`` has ``seconds`` and ``callLater``.
    """
    parts = []
    until = clock.seconds() + SECONDS
    for piece in pieces:
        parts.append(piece)
        if clock.seconds() >= until:
            await deferLater(clock, 0)
            until = clock.seconds() + SECONDS
    return "".join(parts)
