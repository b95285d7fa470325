"""An e-mail when somebody signs in on a device that the account was never used on."""

from __future__ import annotations

from crowdd.domain.accounts.authentication.recovery_codes import security_page
from crowdd.domain.accounts.authentication.sessions import Authenticated, device_words
from crowdd.domain.accounts.authentication.sign_in import Device
from crowdd.domain.accounts.email_links import EmailLinks
from crowdd.storage.accounts import accounts, sessions
from crowdd.storage.database import Database, Transactions


class NewDevices:
    """Devices are known by their own cookie, which outlives sessions."""

    def __init__(self, db: Transactions, email_links: EmailLinks) -> None:
        self._db, self._email_links = db, email_links

    async def note(self, account: Authenticated, device: Device, agent: str) -> bool:
        """Notes a sign-in; sends the e-mail when the device is new and the account is not. Whether it did."""

        async def work(tx: Database) -> bool:
            again = await sessions.note_sign_in(tx, account.user_id)
            if not again or device.knows(account):
                return False
            row = await accounts.address(tx, account.user_id)
            await self._email_links.send_page(
                tx, security_page(row["name"]), row, "new_device", device=device_words(agent)
            )
            return True

        return await self._db.transaction(work)
