"""A new password for who has lost the old one.

Whoever asks gets the same answer in the same time: the address is looked up once, and the letter is written by the
queue, later, if there is anybody to write to.
"""

from __future__ import annotations

from crowdd.config import Accounts as AccountSettings
from crowdd.domain.passwords import Passwords
from crowdd.domain.people import checks
from crowdd.domain.people.proofs import Proofs
from crowdd.domain.people.signing_in import Attempts
from crowdd.domain.queue import Queue
from crowdd.errors import FormError
from crowdd.storage import accounts, api_tokens, audit, links, sessions
from crowdd.storage.database import Database, Transactions
from crowdd.values import Requester

WORK = "reset_letter"
PURPOSE = "reset"
_JOB = Requester(via="job")
_MOST_LETTERS, _PER_ADDRESS = 3, 10  # of one account's address, from one network address, in 15 minutes; and times that


class Recovery:
    """Letters with links, and what happens when they are opened."""

    def __init__(
        self,
        db: Transactions,
        passwords: Passwords,
        proofs: Proofs,
        attempts: Attempts,
        queue: Queue,
        settings: AccountSettings,
    ) -> None:
        self._db, self._passwords, self._proofs, self._attempts = db, passwords, proofs, attempts
        self._queue, self._settings = queue, settings

    async def ask(self, email: str, who: Requester) -> None:
        """Has a letter written if there is such an account. Raises FormError, TooManyRequestsError."""
        if mistakes := checks.email(email):
            raise FormError({"email_addr": mistakes})
        address = email.strip().lower()
        limits = {
            f"forgot:{address}|{who.network}": _MOST_LETTERS,
            f"forgot:{who.network}": _MOST_LETTERS * _PER_ADDRESS,
        }
        await self._attempts.require(limits)
        await self._attempts.note(limits)
        row = await accounts.by_email(self._db, address)
        await self._queue.add(self._db, WORK, {"user_id": row["id"] if row else None}, _JOB)

    async def write(self, user_id: int | None) -> bool:
        """Writes the letter; False when there is nobody to write to."""
        row = await accounts.profile(self._db, user_id) if user_id is not None else None
        if row is None or row["restrict"]:
            return False

        async def work(tx: Database) -> None:
            await self._proofs.send_link(
                tx,
                PURPOSE,
                "/account/reset-password",
                row["email_addr"],
                "reset_password",
                row["locale"],
                user_id=row["id"],
                said="Choose a new password.",
                name=row["name"],
            )

        await self._db.transaction(work)
        return True

    async def open(self, key: str, who: Requester) -> None:
        """Passes while the link works. Raises ForbiddenError, TooManyRequestsError."""
        limits = {f"reset:{who.network}": self._settings.attempts * _PER_ADDRESS}
        await self._attempts.require(limits)
        try:
            await self._proofs.look(self._db, key, PURPOSE)
        except Exception:
            await self._attempts.note(limits)
            raise

    async def reset(self, key: str, new: str, confirm: str, who: Requester) -> int:
        """The id of the account that has a new password now; every session of it has ended.

        Raises FormError, ForbiddenError, TooManyRequestsError.
        """
        await self.open(key, who)
        words, again = checks.password(new, confirm, self._settings.shortest_password)
        if mistakes := checks.found({"new_password": words, "confirm": again}):
            raise FormError(mistakes)
        hashed = await self._passwords.hash(new)

        async def work(tx: Database) -> int:
            user_id, _data = await self._proofs.use(tx, key, PURPOSE)
            assert user_id is not None
            await accounts.set_password(tx, user_id, hashed)
            await accounts.note_valid(tx, user_id)
            await sessions.end_all(tx, user_id)
            await api_tokens.drop_of_user(tx, user_id)
            await links.drop_of_user(tx, user_id, PURPOSE)
            await audit.write(tx, who, "reset_password", "user", user_id)
            return user_id

        return await self._db.transaction(work)
