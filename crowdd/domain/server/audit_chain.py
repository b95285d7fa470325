"""The audit log as a chain of hashes: made longer after commits, and verified."""

from __future__ import annotations

from typing import Final

import attrs

from crowdd.storage.core.rows import AuditHead
from crowdd.storage.database import Transactions
from crowdd.storage.server import audit_chain
from crowdd.storage.server.rows import AuditMisfit

PURPOSE: Final = "chain of the audit log"
_WORDS: Final = {
    "missing": "rows were deleted here",
    "personal": "who did it, from where, or a value was changed",
    "changed": "the row was changed, or it was added later",
    "late": "the row was added later, because it is older than rows before it",
}


@attrs.frozen
class AuditChain:
    """``key`` makes the hashes: without it, nobody who can write to the database can make another chain."""

    _db: Transactions
    _key: bytes = attrs.field(repr=False)

    async def extend(self) -> int:
        """Chains all committed rows. How many there were."""
        done = 0
        while some := await audit_chain.extend(self._db, self._key):
            done += some
        return done

    async def head(self) -> AuditHead:
        """The last row, once all committed rows are chained."""
        await self.extend()
        return await audit_chain.head(self._db)

    async def verify(self) -> AuditMisfit | None:
        """The first place at which the chain does not hold; None where it holds."""
        return await audit_chain.misfit(self._db, self._key)


def sentence(misfit: AuditMisfit) -> str:
    """The finding for people."""
    row = "" if misfit["id"] is None else f", row {misfit['id']}"
    return f"audit log at position {misfit['position']}{row}: {_WORDS[misfit['reason']]}"
