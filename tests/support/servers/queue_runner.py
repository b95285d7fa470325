"""The queue of a server in this process, done now instead of in a second."""

from __future__ import annotations

from typing import Any

from twisted.internet.defer import DeferredList

from support.servers.served import Served

_BEGUN_OR_DUE = (
    "SELECT FROM queue_item WHERE state = 'running' OR state = 'waiting' AND due <= clock() AND name = ANY (%(names)s)"
)


async def worked(served: Served) -> list[dict[str, Any]]:
    """Does all that waits; every item as it ended."""
    worker = served.server._worker
    while True:
        await worker.take()
        hands = [*worker._active.values()]
        # The worker looks by itself, too. What it is just taking is still due, or is in its hands a moment later.
        if not hands and not await served.database.fetch(_BEGUN_OR_DUE, {"names": [*worker._handlers]}):
            break
        await DeferredList(hands)
    return await served.database.fetch("SELECT name, state, error, result FROM queue_item ORDER BY id")
