"""The audit log as a chain of hashes: made longer after commits, and verified."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Final

import attrs

from crowdd.core import audit_statements
from crowdd.core.rows import AuditMisfit
from crowdd.database.access import Transactions
from crowdd.kernel.values import Values

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
        while some := await audit_statements.extend_chain(self._db, self._key):
            done += some
        return done

    @property
    def key_id(self) -> str:
        """Says which key makes the hashes. Nothing can be derived from it."""
        return hashlib.sha256(self._key).hexdigest()[:16]

    async def head(self) -> Values:
        """``position`` and ``hash`` of the last row, once all committed rows are chained, and ``key`` (``key_id``)."""
        await self.extend()
        return {**await audit_statements.read_head(self._db), "key": self.key_id}

    async def holds(self, head: Mapping[str, object]) -> bool:
        """Whether the chain still has the row that a head was. Unknown, and therefore true, where it was removed
        because of its age, and where another key has made the hash.
        """
        position, hash_ = head.get("position"), head.get("hash")
        if head.get("key", self.key_id) != self.key_id or not isinstance(position, int) or not isinstance(hash_, str):
            return True
        return await audit_statements.has_hash(self._db, position, hash_)

    async def verify(self) -> AuditMisfit | None:
        """The first place at which the chain does not hold; None where it holds."""
        return await audit_statements.find_misfit(self._db, self._key)


def sentence(misfit: AuditMisfit) -> str:
    """The finding for people."""
    row = "" if misfit["id"] is None else f", row {misfit['id']}"
    return f"audit log at position {misfit['position']}{row}: {_WORDS[misfit['reason']]}"


def head_sentence(snapshot: str, head: Mapping[str, object]) -> str:
    """The finding that the log does not have the head in a snapshot any more."""
    return f"audit log at position {head['position']}: not the row that snapshot {snapshot} has noted as the last one"
