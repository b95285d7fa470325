"""E-mails on their way: written down with what they are about, delivered and retried by a job, gone after a while."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping

import attrs
from twisted.logger import Logger

from crowdd.core.change_notifier import MAIL
from crowdd.core.mail import statements
from crowdd.core.mail.backend import Post, PostError
from crowdd.core.mail.message import MailRenderer, RenderedMail, Sender, compose, one_line, plain_address
from crowdd.core.mail.returned import read_report
from crowdd.core.records.statements import Keyset, KeysetPage
from crowdd.database.access import Database
from crowdd.kernel.concurrency.timing import back_off
from crowdd.kernel.errors import ConflictError, InvalidValueError, NotFoundError, UnavailableError

MAX_PER_HOUR = 20
"""E-mails to one address in an hour."""

AT_ONCE = 500  # e-mails in a round
MAX_ATTEMPTS = 14  # the last about two days after the first
FIRST_PAUSE, MAX_PAUSE, PAUSE_GROWTH = 60.0, 21600.0, 3.0  # seconds, seconds, factor
_LINK = re.compile(r"https?://\S+")

log = Logger()


@attrs.frozen
class Tally:
    """What came of a round of delivery."""

    sent: int = 0
    held: int = 0  # mail is off
    failed: int = 0


def pause(attempts: int) -> float | None:
    """Seconds to the next attempt after so many; None when there is to be none. One to three minutes, up to hours."""
    if attempts >= MAX_ATTEMPTS:
        return None
    return back_off(attempts, FIRST_PAUSE, PAUSE_GROWTH, MAX_PAUSE)


@attrs.frozen(eq=False)
class Mail:
    """Sending e-mails, and seeing what became of them. Without a ``post`` mail is off and e-mails are held."""

    _db: Database
    _letters: MailRenderer
    _sender: Sender
    post: Post | None
    _keep_days: int
    _notify: Callable[[int], None]

    async def send(
        self, db: Database, to: str, template: str, context: Mapping[str, object], locale: str = "en"
    ) -> int | None:
        """The id of an e-mail that will be delivered once the transaction ``db`` is committed.

        ``template`` is an e-mail of ``crowdd/core/mail/templates``. None for an address that has had its share of
        this hour. An address that nobody can write to does not fail the caller: the state of the e-mail says so.
        """
        letter = self._letters.write(template, context, locale)
        row = {"template": template, "locale": locale, **attrs.asdict(letter)}
        try:
            row["recipient"], error = plain_address(to), ""
        except InvalidValueError as refusal:
            row["recipient"], error = one_line(to), str(refusal)
        self._notify(MAIL)
        return await statements.add(db, row, error, MAX_PER_HOUR)

    async def deliver(self) -> Tally:
        """Delivers what is due, a number at a time. Raises UnavailableError when the server takes nothing now."""
        tally = Tally()
        for _ in range(AT_ONCE):
            row = await statements.claim(self._db)
            if row is None:
                break
            if self.post is None:
                tally = attrs.evolve(tally, held=tally.held + await self._hold(row))
            elif await self._deliver(self.post, row):
                tally = attrs.evolve(tally, sent=tally.sent + 1)
            else:
                tally = attrs.evolve(tally, failed=tally.failed + 1)
        else:
            self._notify(MAIL)  # there may be more
        return tally

    async def _hold(self, row: statements.WholeMail) -> int:
        links = " ".join(_LINK.findall(row.text or ""))
        log.info(
            "Mail is off. {subject}: {links} (crowdctl mail show {id} says for whom)",
            subject=row.subject, links=links or "no links", id=row.id,
        )  # fmt: skip
        await statements.set_state(self._db, row.id, "held")
        return 1

    async def _deliver(self, post: Post, row: statements.WholeMail) -> bool:
        letter = RenderedMail(row.subject, row.text or "", row.html or "", row.unsubscribe)
        message = compose(letter, row.id, row.recipient, self._sender, row.created)
        try:
            await post.deliver(message, self._sender.address, row.recipient)
        except PostError as error:
            await self._failed(row, error)
            if error.general:
                raise UnavailableError(f"mail server unavailable: {error}") from None
            return False
        await statements.set_state(self._db, row.id, "sent")
        return True

    async def _failed(self, row: statements.WholeMail, error: PostError) -> None:
        seconds = FIRST_PAUSE if error.general else None if error.final else pause(row.attempts)
        if seconds is None:
            log.warn("mail delivery failed: id={id} error={error}", id=row.id, error=error)
            await statements.set_state(self._db, row.id, "dead", str(error))
        else:
            # E-mails that failed together do not come back together. What is not the e-mail's fault does not count.
            shaken = seconds * random.uniform(0.8, 1.2)  # noqa: S311
            await statements.put_back(self._db, row.id, shaken, str(error), counts=not error.general)

    async def sweep(self) -> int:
        """Removes e-mails after their time, with the addresses and names in them."""
        return await statements.sweep(self._db, self._keep_days)

    async def note_return(self, report: bytes) -> statements.QueuedMail | None:
        """Notes that an e-mail came back, by the report of a mail server; None where it is about no e-mail of ours.

        Where there is no such mailbox, nothing is sent to the address as long as the e-mail is kept.
        """
        letter = read_report(report, self._sender.seal)
        if letter is None:
            return None
        return await statements.mark_returned(self._db, letter.mail_id, letter.reason, no_mailbox=letter.no_mailbox)

    # For the operator

    async def list(self, limit: int = 50, state: str | None = None) -> list[statements.QueuedMail]:
        """The last e-mails, the newest first, without their texts."""
        return (await self.page(Keyset(limit), state)).rows

    async def page(
        self, place: Keyset, state: str | None = None, recipient: str | None = None
    ) -> KeysetPage[statements.QueuedMail]:
        """A page of e-mails without their texts, of all or of those to one address."""
        return await statements.list_mails(self._db, place, state, recipient)

    async def get(self, mail_id: int) -> statements.WholeMail:
        """A whole e-mail; its texts are gone once it was sent. Raises NotFoundError."""
        row = await statements.one_of(self._db, mail_id)
        if row is None:
            raise NotFoundError(f"E-mail {mail_id} does not exist.")
        return row

    async def again(self, mail_id: int) -> statements.WholeMail:
        """Lets an e-mail that is held or dead be delivered after all. Raises ConflictError for others."""
        if not await statements.again(self._db, mail_id):
            raise await self._conflict(mail_id)
        return await self.get(mail_id)

    async def discard(self, mail_id: int) -> None:
        """Removes an e-mail that is held or dead. Raises NotFoundError, ConflictError for others."""
        if not await statements.discard(self._db, mail_id):
            raise await self._conflict(mail_id)

    async def _conflict(self, mail_id: int) -> ConflictError:
        row = await self.get(mail_id)
        words = {"waiting": "is waiting to be sent", "sent": "was sent, and its text was deleted"}
        return ConflictError(f"E-mail {mail_id} {words.get(row.state, 'cannot be sent')}.")
