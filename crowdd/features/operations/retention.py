"""How long personal data is kept: the operator's settings, carried out once a day."""

from __future__ import annotations

import attrs

from crowdd.core import audit_statements
from crowdd.core.audit_chain import AuditChain
from crowdd.database.access import Database
from crowdd.features.operations import statements
from crowdd.kernel.config.accounts import RetentionSettings


@attrs.frozen
class Retention:
    """Each setting is a number of days; 0 keeps the data for ever."""

    db: Database
    audit_chain: AuditChain
    settings: RetentionSettings

    async def sweep(self) -> dict[str, int]:
        """Removes what has been kept long enough: ``answers`` looked at, ``acts`` (rows of the audit log) deleted."""
        if self.settings.event_days:
            await self._events()
        return {
            "answers": await self._addresses() if self.settings.address_days else 0,
            "acts": await self._acts() if self.settings.audit_days else 0,
        }

    async def _addresses(self) -> int:
        answers = 0
        while bite := await statements.forget_addresses(self.db, self.settings.address_days):
            answers += bite
        return answers

    async def _acts(self) -> int:
        await self.audit_chain.extend()  # rows leave at the beginning of the chain, so they have to be in it
        acts = 0
        while some := await audit_statements.delete_expired_rows(self.db, self.settings.audit_days):
            acts += some
        return acts

    async def _events(self) -> None:
        last: tuple[int, int] | None = (0, 0)
        while last is not None:
            last = await statements.forget_users_in_events(self.db, self.settings.event_days, last)
