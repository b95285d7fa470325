"""E-mails: queued, delivered by a job, kept for some time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

import attrs

from crowdd.core.records import statements as record_statements
from crowdd.core.records.statements import Keyset, KeysetPage
from crowdd.database.access import Database, fetch_row_or_none, fetch_rows, one_or_none


@attrs.frozen
class QueuedMail:
    """An e-mail without its texts."""

    id: int
    created: datetime
    recipient: str
    template: str
    locale: str
    subject: str
    state: str
    due: datetime
    attempts: int
    ended: datetime | None
    error: str
    returned: bool


@attrs.frozen
class WholeMail(QueuedMail):
    """An e-mail with its texts and the address that ends such e-mails, which are None once it was sent."""

    text: str | None
    html: str | None
    unsubscribe: str | None


_MINUTES = 10  # that one attempt may take at most, before another one is made
_HEAD = "id, created, recipient, template, locale, subject, state, due, attempts, ended, error, returned"


async def add(db: Database, letter: Mapping[str, object], error: str, maximum: int) -> int | None:
    """The id of a new e-mail; None after ``maximum`` in an hour.

    It is dead from the beginning where there is an error, or where an e-mail to this address came back.
    """
    row = await one_or_none(
        db,
        "INSERT INTO mail (created, due, recipient, template, locale, subject, text, html, unsubscribe, state, error, ended)"
        " SELECT now_, now_, %(recipient)s, %(template)s, %(locale)s, %(subject)s, %(text)s, %(html)s, %(unsubscribe)s,"
        " CASE e.error WHEN '' THEN 'waiting' ELSE 'dead' END, e.error, CASE e.error WHEN '' THEN NULL ELSE now_ END"
        " FROM clock() now_, LATERAL (SELECT coalesce(nullif(%(error)s, ''), (SELECT 'An e-mail to this address came back: '"
        "  || m.error FROM mail m WHERE lower(m.recipient) = lower(%(recipient)s) AND m.state = 'dead' AND m.returned LIMIT 1), '')) e (error) WHERE (SELECT count(*) FROM mail"
        "  WHERE lower(recipient) = lower(%(recipient)s) AND created > now_ - interval '1 hour') < %(maximum)s RETURNING id",
        {**letter, "error": error, "maximum": maximum},
    )
    return int(row["id"]) if row else None


async def lately(db: Database, template: str, maximum: int) -> int:
    """How many e-mails of a template were written in the last hour, counted up to ``maximum``."""
    rows = await db.fetch(
        "SELECT FROM mail WHERE template = %(template)s AND created > clock() - interval '1 hour' LIMIT %(maximum)s",
        {"template": template, "maximum": maximum},
    )
    return len(rows)


async def claim(db: Database) -> WholeMail | None:
    """The next e-mail that is due; no other process gets it for some minutes. None when there is none."""
    return await fetch_row_or_none(
        db,
        WholeMail,
        f"UPDATE mail SET attempts = attempts + 1, due = clock() + interval '{_MINUTES} minutes' WHERE id = (SELECT id FROM mail"
        " WHERE state = 'waiting' AND due <= clock() ORDER BY due, id LIMIT 1 FOR UPDATE SKIP LOCKED)"
        f" RETURNING {_HEAD}, text, html, unsubscribe",
    )


async def set_state(db: Database, mail_id: int, state: str, error: str = "") -> None:
    """Sets the state to sent, held or dead. The texts of a sent e-mail are deleted: others could use their links."""
    await db.execute(
        "UPDATE mail SET state = %(state)s, error = %(error)s, ended = clock(),"
        " text = CASE %(state)s WHEN 'sent' THEN NULL ELSE text END, html = CASE %(state)s WHEN 'sent' THEN NULL ELSE html END,"
        " unsubscribe = CASE %(state)s WHEN 'sent' THEN NULL ELSE unsubscribe END"
        " WHERE id = %(id)s",
        {"id": mail_id, "state": state, "error": error},
    )


async def put_back(db: Database, mail_id: int, seconds: float, error: str, *, counts: bool) -> None:
    """Lets an e-mail wait for another attempt; ``counts``: this attempt counts."""
    sql = (
        "UPDATE mail SET due = clock() + make_interval(secs => %(seconds)s), error = %(error)s,"
        " attempts = attempts - (NOT %(counts)s)::int WHERE id = %(id)s"
    )
    await db.execute(sql, {"id": mail_id, "seconds": seconds, "error": error, "counts": counts})


async def list_mails(db: Database, place: Keyset, state: str | None, recipient: str | None) -> KeysetPage[QueuedMail]:
    """A page of e-mails without their texts."""
    where = [place.beside("mail", "id", ("id",))]
    where += ["state = %(state)s"] if state else []
    where += ["lower(recipient) = lower(%(recipient)s)"] if recipient else []
    rows = await fetch_rows(
        db,
        QueuedMail,
        f"SELECT {_HEAD} FROM mail WHERE {' AND '.join(where)} {place.limited(('id',))}",
        {**place.values(), "state": state, "recipient": recipient},
    )
    return place.part(rows)


async def one_of(db: Database, mail_id: int) -> WholeMail | None:
    """An e-mail with its texts."""
    return await fetch_row_or_none(
        db, WholeMail, f"SELECT {_HEAD}, text, html, unsubscribe FROM mail WHERE id = %(id)s", {"id": mail_id}
    )


async def again(db: Database, mail_id: int) -> bool:
    """Lets an e-mail that is held or dead wait again; False for others."""
    return bool(await again_each(db, [mail_id]))


async def again_each(db: Database, ids: Sequence[int]) -> list[int]:
    """The same of several e-mails; the ids of those that were held or dead."""
    rows = await db.fetch(
        "UPDATE mail SET state = 'waiting', due = clock(), attempts = 0, ended = NULL WHERE id IN (SELECT id FROM mail"
        " WHERE id = ANY (%(ids)s::bigint[]) AND state IN ('held', 'dead') AND text IS NOT NULL ORDER BY id FOR UPDATE)"
        " RETURNING id",
        {"ids": list(ids)},
    )
    return [row["id"] for row in rows]


async def discard(db: Database, mail_id: int) -> bool:
    """Removes an e-mail that is held or dead; False for others."""
    return bool(await db.execute("DELETE FROM mail WHERE id = %(id)s AND state IN ('held', 'dead')", {"id": mail_id}))


async def mark_returned(db: Database, mail_id: int, reason: str, *, no_mailbox: bool) -> QueuedMail | None:
    """Notes that an e-mail that was sent is dead; ``no_mailbox``: its address gets no others. None for one not sent."""
    return await fetch_row_or_none(
        db,
        QueuedMail,
        "UPDATE mail SET state = 'dead', returned = %(no_mailbox)s, error = %(reason)s, ended = clock()"
        " WHERE id = %(id)s AND state = 'sent'"
        f" RETURNING {_HEAD}",
        {"id": mail_id, "no_mailbox": no_mailbox, "reason": reason},
    )


async def forget(db: Database, recipient: str) -> None:
    """Removes every e-mail to an address."""
    await db.execute("DELETE FROM mail WHERE lower(recipient) = lower(%(recipient)s)", {"recipient": recipient})


async def sweep(db: Database, days: int) -> int:
    """Removes e-mails that are older, in any state."""
    return await record_statements.delete_in_batches(
        db, "mail", "created < clock() - make_interval(days => %(days)s)", {"days": days}
    )
