"""Letters that are sent, or will be."""

from __future__ import annotations

from typing import Any

from crowdd.storage.core import batch_delete
from crowdd.storage.database import Database, Row, one_or_none

_MINUTES = 10  # that one attempt may take at most, before another one is made
_HEAD = "id, created, recipient, template, locale, subject, state, due, attempts, ended, error"


async def add(db: Database, letter: dict[str, Any], error: str, maximum: int) -> int | None:
    """The id of a new letter, dead from the beginning where there is an error; None after ``maximum`` in an hour."""
    row = await one_or_none(
        db,
        "INSERT INTO mail (created, due, recipient, template, locale, subject, text, html, state, error, ended)"
        " SELECT now_, now_, %(recipient)s, %(template)s, %(locale)s, %(subject)s, %(text)s, %(html)s,"
        " CASE %(error)s WHEN '' THEN 'waiting' ELSE 'dead' END, %(error)s, CASE %(error)s WHEN '' THEN NULL ELSE now_ END"
        " FROM clock() now_ WHERE (SELECT count(*) FROM mail"
        "  WHERE lower(recipient) = lower(%(recipient)s) AND created > now_ - interval '1 hour') < %(maximum)s RETURNING id",
        {**letter, "error": error, "maximum": maximum},
    )
    return int(row["id"]) if row else None


async def claim(db: Database) -> Row | None:
    """The next letter that is due, with its texts; nobody else gets it for some minutes. None when there is none."""
    return await one_or_none(
        db,
        f"UPDATE mail SET attempts = attempts + 1, due = clock() + interval '{_MINUTES} minutes' WHERE id = (SELECT id FROM mail"
        " WHERE state = 'waiting' AND due <= clock() ORDER BY due, id LIMIT 1 FOR UPDATE SKIP LOCKED)"
        f" RETURNING {_HEAD}, text, html",
    )


async def set_state(db: Database, mail_id: int, state: str, error: str = "") -> None:
    """Sent, held or dead. The texts of a sent letter go: their links would be worth something to others."""
    await db.execute(
        "UPDATE mail SET state = %(state)s, error = %(error)s, ended = clock(),"
        " text = CASE %(state)s WHEN 'sent' THEN NULL ELSE text END, html = CASE %(state)s WHEN 'sent' THEN NULL ELSE html END"
        " WHERE id = %(id)s",
        {"id": mail_id, "state": state, "error": error},
    )


async def put_back(db: Database, mail_id: int, seconds: float, error: str, *, counts: bool) -> None:
    """Lets a letter wait for another attempt; this one counts among those that it has."""
    sql = (
        "UPDATE mail SET due = clock() + make_interval(secs => %(seconds)s), error = %(error)s,"
        " attempts = attempts - (NOT %(counts)s)::int WHERE id = %(id)s"
    )
    await db.execute(sql, {"id": mail_id, "seconds": seconds, "error": error, "counts": counts})


async def list_mails(db: Database, limit: int, state: str | None) -> list[Row]:
    """The last letters without their texts."""
    where = "WHERE state = %(state)s" if state else ""
    return await db.fetch(
        f"SELECT {_HEAD} FROM mail {where} ORDER BY id DESC LIMIT %(limit)s", {"limit": limit, "state": state}
    )


async def one_of(db: Database, mail_id: int) -> Row | None:
    """A letter with its texts."""
    return await one_or_none(db, f"SELECT {_HEAD}, text, html FROM mail WHERE id = %(id)s", {"id": mail_id})


async def again(db: Database, mail_id: int) -> bool:
    """Lets a letter that is held or dead wait anew; False for others."""
    sql = (
        "UPDATE mail SET state = 'waiting', due = clock(), attempts = 0, ended = NULL"
        " WHERE id = %(id)s AND state IN ('held', 'dead') AND text IS NOT NULL"
    )
    return await db.execute(sql, {"id": mail_id}) > 0


async def forget(db: Database, recipient: str) -> None:
    """Removes every letter to an address: nobody is there any more."""
    await db.execute("DELETE FROM mail WHERE lower(recipient) = lower(%(recipient)s)", {"recipient": recipient})


async def sweep(db: Database, days: int) -> int:
    """Removes letters that are older, whatever became of them."""
    return await batch_delete.sweep(db, "mail", "created < clock() - make_interval(days => %(days)s)", {"days": days})
