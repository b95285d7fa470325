"""The network by which a project counts somebody's answers (record 4).

A class is behind one address. The guests of a group do not count as this network: the groups of one account are
networks of their own, as many as the project counts answers of a group.
"""

from __future__ import annotations

import ipaddress
import time
from collections.abc import Callable
from typing import Final

from crowdd.core.secrets import Secrets
from crowdd.database.access import Database
from crowdd.features.groups import statements
from crowdd.features.groups.rows import GuestNetwork
from crowdd.kernel.concurrency.batching import Batcher, BatcherFactory
from crowdd.kernel.requester import Requester

_UNASSIGNED: Final = 0b010 << 45  # the first three bits: addresses that nobody has
_SHARED_BITS: Final = 45  # those that follow are of one account: its guests share a vote, as strangers of a /48 do


class Networks:
    """Finds it. Guests who ask at the same time cost one statement, others none. ``seconds``: since the epoch."""

    def __init__(
        self, db: Database, new_batcher: BatcherFactory, secrets: Secrets, seconds: Callable[[], float]
    ) -> None:
        self._db, self._secrets, self._seconds = db, secrets, seconds
        self._guests: Batcher[tuple[str, int], GuestNetwork | None] = new_batcher(self._find)

    async def of(self, who: Requester, project_id: int) -> str:
        """The requester's network as a project knows it this year: other projects know it by another pseudonym."""
        network = await self._of_guest(who, project_id) if who.guest else who.network
        return self._secrets.address_in(project_id, time.gmtime(self._seconds()).tm_year, network)

    async def _of_guest(self, who: Requester, project_id: int) -> str:
        guest = await self._guests.add((who.actor, project_id))
        if guest is None:  # the group has ended, or they are no member any more
            return who.network
        digest = int.from_bytes(self._secrets.digest("groups of an account", str(guest.id))[:8], "big")
        shared = _UNASSIGNED | digest >> (64 - _SHARED_BITS)
        return str(ipaddress.IPv6Address((shared << 16 | guest.network) << 64))

    async def _find(self, pairs: list[tuple[str, int]]) -> list[GuestNetwork | None]:
        return await statements.find_networks(self._db, pairs)
