"""The weekly e-mail: news for those who agreed to it, at most once in seven days, each of them once."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

import attrs

from crowdd.core.mail.mail import Mail
from crowdd.core.mail.message import one_line, printable_lines
from crowdd.core.secrets import Secrets
from crowdd.database.access import Database, Transactions
from crowdd.features.news import statements
from crowdd.features.news.news import address, chosen_kind, detail, headline, without_older_states
from crowdd.features.news.rows import NewsRow, Reader
from crowdd.kernel.values import Values

TEMPLATE: Final = "news"
UNSUBSCRIBE: Final = "/unsubscribe"
AT_ONCE: Final = 500  # e-mails in a round
MAX_ITEMS: Final = 10
_WEEK, _DAY = 7, 1  # days to the next e-mail, and to the next look where there was nothing to write
_PURPOSE: Final = "unsubscribe"


@attrs.frozen
class Digest:
    """Writes weekly e-mails, and ends them by the link that each of them has."""

    _db: Transactions
    _mail: Mail
    _secrets: Secrets
    _base_url: str

    async def send_due(self) -> int:
        """Writes the e-mails that are due, at most AT_ONCE; how many people were looked at.

        The e-mail and the note that it is written are one transaction, under the lock of the account: no process
        writes it again, and none is lost when a process is killed.
        """
        for count in range(AT_ONCE):
            if not await self._db.transaction(self._send_next):
                return count
        return AT_ONCE

    async def _send_next(self, tx: Database) -> bool:
        reader = await statements.lock_reader(tx)
        if reader is None:
            return False
        if reader.returned:
            await statements.withdraw_consent(tx, reader.id)
            return True
        rows = await statements.list_news(tx, reader.id, [], MAX_ITEMS, (reader.after, reader.until))
        wanted = [row for row in without_older_states(rows) if chosen_kind(row) not in reader.without]
        sent = wanted and await self._mail.send(
            tx, reader.email_addr, TEMPLATE, self._context(reader, wanted), reader.locale
        )
        if sent:
            await statements.put_off(tx, reader.id, _WEEK, reader.until)
        else:
            await statements.put_off(tx, reader.id, _DAY)
        return True

    def _context(self, reader: Reader, rows: list[NewsRow]) -> Values:
        return {
            "name": one_line(reader.fullname),
            "items": [self._item(row) for row in rows],
            "unsubscribe": self.link(reader.id),
            "choices": f"{self._base_url}/account/{quote(reader.name)}/news",
        }

    def _item(self, row: NewsRow) -> Values:
        """One of the news. Names and texts of others are one line each."""
        plain: NewsRow = {
            **row,
            "name": one_line(row["name"]),
            "title": one_line(row["title"] or ""),
            "reply": one_line(row["reply"] or ""),
        }
        letter = [one for part in (row["letter"] or "").split("\n\n") if (one := printable_lines(part))]
        words = {"headline": headline(plain), "detail": detail(plain), "letter": letter}
        return {**words, "url": f"{self._base_url}{address(row)}"}

    def link(self, user_id: int) -> str:
        """The address at which an account is unsubscribed. It works without signing in."""
        return f"{self._base_url}{UNSUBSCRIBE}?to={quote(self._secrets.sign(_PURPOSE, str(user_id)))}"

    def is_ours(self, token: str) -> bool:
        """Whether ``to`` of such an address was made here."""
        return self._secrets.verify(_PURPOSE, token) is not None

    async def unsubscribe(self, token: str) -> bool:
        """Ends the e-mails of the account that ``to`` names; False for one that was not made here."""
        user_id = self._secrets.verify(_PURPOSE, token)
        if user_id is None:
            return False
        await statements.withdraw_consent(self._db, int(user_id))
        return True
