"""Links that work once: stored under a hash of the key, which is only in the link."""

from __future__ import annotations

from crowdd.storage.accounts.rows import OneTimeLink
from crowdd.storage.database import Database, as_json, fetch_row_or_none


async def add(
    db: Database,
    token_hash: bytes,
    purpose: str,
    hours: int,
    user_id: int | None = None,
    data: object = None,
    subject: bytes | None = None,
    origin: bytes | None = None,
) -> None:
    """Stores a link; ``subject`` and ``origin`` are keyed hashes of the address it is sent to and the network it is for."""
    await db.execute(
        "INSERT INTO one_time_link (token_hash, purpose, user_id, data, subject, origin, created, expires)"
        " VALUES (%(hash)s, %(purpose)s, %(user)s, %(data)s, %(subject)s, %(origin)s, clock(), clock() + make_interval(hours => %(hours)s))",
        {
            "hash": token_hash,
            "purpose": purpose,
            "user": user_id,
            "data": as_json(data or {}),
            "subject": subject,
            "origin": origin,
            "hours": hours,
        },
    )


async def drop(db: Database, purpose: str) -> None:
    """Makes every link of a purpose useless."""
    await db.execute("DELETE FROM one_time_link WHERE purpose = %(purpose)s", {"purpose": purpose})


async def drop_of_user(db: Database, user_id: int, purpose: str) -> None:
    """Makes a person's links of a purpose useless."""
    await db.execute(
        "DELETE FROM one_time_link WHERE user_id = %(user)s AND purpose = %(purpose)s",
        {"user": user_id, "purpose": purpose},
    )


async def drop_of_subject(db: Database, subject: bytes, purpose: str) -> None:
    """Makes the links of a purpose useless that were sent to an address."""
    await db.execute(
        "DELETE FROM one_time_link WHERE subject = %(subject)s AND purpose = %(purpose)s",
        {"subject": subject, "purpose": purpose},
    )


async def keep_newest(db: Database, subject: bytes, purpose: str, origin: bytes, max_links: int) -> None:
    """Makes all but the newest links of a purpose useless that one network had sent to an address."""
    await db.execute(
        "DELETE FROM one_time_link WHERE token_hash IN"
        " (SELECT token_hash FROM one_time_link WHERE subject = %(subject)s AND purpose = %(purpose)s AND origin = %(origin)s"
        "  ORDER BY created DESC OFFSET %(kept)s)",
        {"subject": subject, "purpose": purpose, "origin": origin, "kept": max_links},
    )


async def find(db: Database, token_hash: bytes, purpose: str) -> OneTimeLink | None:
    """A link that still works."""
    return await fetch_row_or_none(
        db,
        OneTimeLink,
        "SELECT user_id, data FROM one_time_link WHERE token_hash = %(hash)s AND purpose = %(purpose)s AND expires > clock()",
        {"hash": token_hash, "purpose": purpose},
    )


async def use(db: Database, token_hash: bytes, purpose: str) -> OneTimeLink | None:
    """Uses a link up; None when it does not work (any more)."""
    return await fetch_row_or_none(
        db,
        OneTimeLink,
        "DELETE FROM one_time_link WHERE token_hash = %(hash)s AND purpose = %(purpose)s AND expires > clock() RETURNING user_id, data",
        {"hash": token_hash, "purpose": purpose},
    )
