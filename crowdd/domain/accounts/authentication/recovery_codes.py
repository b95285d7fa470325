"""Recovery codes: ten words on paper for people who lose their phone, each good for one sign-in."""

from __future__ import annotations

import secrets as random
from urllib.parse import quote

from crowdd.domain.accounts.email_links import EmailLinks
from crowdd.domain.core.secrets import Secrets
from crowdd.domain.core.security_log import RECOVERY_CODE_USED, SecurityLog
from crowdd.requester import Requester
from crowdd.storage.accounts import second_factors
from crowdd.storage.core import audit
from crowdd.storage.database import Database, Transactions

COUNT = 10
_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # none that look alike on paper
_HALF = 6  # two halves of 6 letters: 59 bits


class RecoveryCodes:
    """Made as a set, shown once, stored as keyed hashes."""

    def __init__(self, db: Transactions, secrets: Secrets, email_links: EmailLinks, security_log: SecurityLog) -> None:
        self._db, self._secrets, self._email_links, self._security_log = db, secrets, email_links, security_log

    async def left(self, user_id: int) -> int:
        """How many codes are not used up."""
        return await second_factors.codes_left(self._db, user_id)

    async def replace(self, tx: Database, user_id: int, who: Requester) -> list[str]:
        """Ten new codes; all earlier ones stop working."""
        codes = [_new_code() for _number in range(COUNT)]
        await second_factors.replace_codes(tx, user_id, [self._hash(user_id, code) for code in codes])
        await audit.write(tx, who, "new_recovery_codes", "user", user_id)
        return codes

    async def use(self, tx: Database, user_id: int, code: str, who: Requester) -> bool:
        """Uses a code up and tells its person by e-mail; False when it is none of theirs (any more)."""
        if not await second_factors.use_code(tx, user_id, self._hash(user_id, code)):
            return False
        row = await second_factors.lock(tx, user_id)
        left = await second_factors.codes_left(tx, user_id)
        await audit.write(tx, who, "use_recovery_code", "user", user_id)
        await self._security_log.note(tx, RECOVERY_CODE_USED, who, user_id=user_id)
        await self._email_links.send_page(tx, security_page(row["name"]), row, "recovery_code_used", left=left)
        return True

    def _hash(self, user_id: int, code: str) -> bytes:
        return self._secrets.digest("recovery_code", f"{user_id}:{plain(code)}")


def security_page(name: str) -> str:
    """The path of the page from which a person's ways to sign in are reached."""
    return f"/account/{quote(name)}/security"


def plain(code: str) -> str:
    """A code as people may type it: in capitals, with blanks, without the hyphen."""
    return "".join(letter for letter in code.lower() if letter.isalnum())


def _new_code() -> str:
    letters = "".join(random.choice(_LETTERS) for _letter in range(2 * _HALF))
    return f"{letters[:_HALF]}-{letters[_HALF:]}"
