"""What follows when somebody becomes an administrator, or is one no longer."""

from __future__ import annotations

import attrs

from crowdd.domain.core.security_log import ADMIN_MADE, ADMIN_REMOVED, SecurityLog
from crowdd.domain.mail.mail import Mail
from crowdd.requester import Requester
from crowdd.storage.accounts import accounts
from crowdd.storage.database import Database


@attrs.frozen
class Administrators:
    """Tells the security log, and by mail the other administrators."""

    security_log: SecurityLog
    mail: Mail

    async def changed(self, tx: Database, user_id: int, admin: bool, who: Requester) -> None:
        """Follow a change of an account's rights, in the transaction that makes it."""
        await (self.made if admin else self.removed)(tx, user_id, who)

    async def made(self, tx: Database, user_id: int, who: Requester) -> None:
        """Follow a new administrator: every other one gets an e-mail."""
        await self.security_log.note(tx, ADMIN_MADE, who, user_id=user_id, detail=who.via)
        everybody = await accounts.admins(tx)
        new = next(row["name"] for row in everybody if row["id"] == user_id)
        for row in everybody:
            if row["id"] != user_id and not row["restrict"]:
                context = {"name": row["name"], "new": new, "by": who.user_name}
                await self.mail.send(tx, row["email_addr"], "new_administrator", context, row["locale"])

    async def removed(self, tx: Database, user_id: int, who: Requester) -> None:
        """Follow the end of an administrator's rights."""
        await self.security_log.note(tx, ADMIN_REMOVED, who, user_id=user_id, detail=who.via)
