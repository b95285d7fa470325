"""Links that work once, sent by mail to an address: what proves that somebody reads it."""

from __future__ import annotations

import base64

import attrs
import orjson

from crowdd.core.mail.mail import Mail
from crowdd.core.quotas import HOUR_MINUTES, NETWORK_FACTOR, Limit
from crowdd.core.secrets import Secrets, place, token
from crowdd.database.access import Database
from crowdd.features.accounts import statements
from crowdd.features.accounts.rows import Address, NewLink
from crowdd.kernel.errors import ForbiddenError
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Values

_MAX_MAILS_PER_HOUR = 20  # to one address, from all networks together
_LINKS_KEPT = 2  # of one purpose and address, for each network that asks
_AGAIN = "Request a new one."
_SPENT = _("This link has been used or has expired. Request a new one.")


@attrs.frozen
class Link:
    """A link to ``path`` for the person with the address ``to``. ``origin`` is the network that asked for it.

    ``data`` is encrypted until the link is used; ``flash`` is what a front end elsewhere shows when it is opened.
    """

    purpose: str
    path: str
    to: str
    origin: str
    user_id: int | None = None
    data: Values = attrs.field(factory=dict)
    flash: str = ""


class EmailLinks:
    """Writes e-mails with links to ``front`` (this site, or a front end elsewhere with the same paths)."""

    def __init__(self, mail: Mail, secrets: Secrets, front: str, hours: int) -> None:
        self._mail, self._secrets, self._front = mail, secrets, front.rstrip("/")
        self.hours = hours

    async def send(self, tx: Database, to: str, template: str, locale: str, **context: object) -> None:
        """An e-mail without a link."""
        await self._mail.send(tx, to, template, context, locale)

    async def send_page(self, tx: Database, path: str, person: Address, template: str, **context: object) -> None:
        """An e-mail that leads to a page of this site, for a person who can sign in."""
        more = {"url": f"{self._front}{path}", "name": greeted(person), **context}
        await self.send(tx, person["email_addr"], template, person["locale"], **more)

    async def send_link(self, tx: Database, link: Link, template: str, locale: str, **context: object) -> None:
        """An e-mail with a link, as ``make_link`` makes it."""
        url = await self.make_link(tx, link)
        await self.send(tx, link.to, template, locale, url=url, hours=self.hours, **{"name": "", **context})

    async def make_link(self, tx: Database, link: Link) -> str:
        """The address of a link. Of those of a purpose that one network had made for an address, the newest two work.

        So nobody ends a link that somebody else asked for.
        """
        key, subject = token(), self.subject(link.to)
        origin, hashed = self._secrets.digest("origin", link.origin), self._hash(key)
        await statements.keep_newest_links(tx, subject, link.purpose, origin, _LINKS_KEPT - 1)
        encrypted = base64.b64encode(self._secrets.encrypt(orjson.dumps(link.data).decode(), _place(hashed))).decode()
        await statements.insert_link(
            tx, NewLink(hashed, link.purpose, self.hours, link.user_id, {"encrypted": encrypted}, subject, origin)
        )
        return f"{self._front}{link.path}?key={key}{flash_query(link.flash)}"

    async def look(self, db: Database, key: str, *purposes: str) -> str:
        """The purpose of a link that works. Raises ForbiddenError."""
        for purpose in purposes:
            if await statements.find_link(db, self._hash(key), purpose) is not None:
                return purpose
        raise ForbiddenError(_SPENT, hint=_AGAIN)

    async def owner(self, db: Database, key: str, purpose: str) -> int:
        """Whose link it is; it is not used up. Raises ForbiddenError."""
        row = await statements.find_link(db, self._hash(key), purpose)
        if row is None or row.user_id is None:
            raise ForbiddenError(_SPENT, hint=_AGAIN)
        return int(row.user_id)

    async def use(self, tx: Database, key: str, purpose: str) -> tuple[int | None, Values]:
        """Uses a link up: whose it is, and what was kept with it. Raises ForbiddenError."""
        row = await statements.use_link(tx, self._hash(key), purpose)
        if row is None:
            raise ForbiddenError(_SPENT, hint=_AGAIN)
        data = self._secrets.decrypt(base64.b64decode(str(row.data["encrypted"])), _place(self._hash(key)))
        return row.user_id, orjson.loads(data)

    def subject(self, address: str) -> bytes:
        """A keyed hash of an address: what links that went to it are found by."""
        return self._secrets.digest("address", address.strip().lower())

    def _hash(self, key: str) -> bytes:
        return self._secrets.digest("link", key)


def _place(hashed: bytes) -> str:
    return place("one_time_link", "data", hashed.hex())


def greeted(row: Address) -> str:
    """The name with which an e-mail to an account begins: none while nobody has proved that they read the address.

    Otherwise a stranger could have us send words of their choice to anybody.
    """
    return str(row["name"]) if row["valid_email"] else ""


def mail_limits(sort: str, email: str, who: Requester, allowed: int) -> tuple[Limit, ...]:
    """How many e-mails one network has sent to an address and in all, and how many an address gets from everywhere."""
    address = email.strip().lower()
    return (
        Limit(f"{sort}:{address}|{who.network}", allowed),
        Limit(f"{sort}:{who.network}", allowed * NETWORK_FACTOR),
        Limit(f"{sort}:{address}", _MAX_MAILS_PER_HOUR, HOUR_MINUTES),
    )


def flash_query(flash: str, status: str = "info") -> str:
    """The message in the form that front ends elsewhere read from an address; "" without one."""
    if not flash:
        return ""
    packed = base64.urlsafe_b64encode(orjson.dumps({"flash": flash, "status": status})).decode()
    return f"&flash={packed.replace('=', '%3D')}"
