"""Accounts, their sessions, links that work once, and failed attempts."""

from __future__ import annotations

from typing import Any

from crowdd.storage.database import Database, Row, as_json, one, one_or_none

_REQUESTER = 'id, name, fullname, email_addr, admin, locale, "restrict"'


async def add(db: Database, values: dict[str, Any]) -> int:
    """The id of a new account."""
    names = ", ".join(values)
    marks = ", ".join(f"%({name})s" for name in values)
    row = await one(db, f"INSERT INTO account (created, {names}) VALUES (clock(), {marks}) RETURNING id", values)
    return int(row["id"])


async def by_key(db: Database, key_hash: bytes) -> Row | None:
    """The account of an API key."""
    return await one_or_none(
        db, f'SELECT {_REQUESTER} FROM account WHERE api_key_hash = %(hash)s AND NOT "restrict"', {"hash": key_hash}
    )


async def by_name(db: Database, name: str) -> Row | None:
    """The account of a nickname, whatever its case."""
    return await one_or_none(
        db, f"SELECT {_REQUESTER} FROM account WHERE lower(name) = lower(%(name)s)", {"name": name}
    )


async def by_email(db: Database, email: str) -> Row | None:
    """The account of an e-mail address."""
    return await one_or_none(
        db,
        f"SELECT {_REQUESTER}, passwd_hash FROM account WHERE lower(email_addr) = lower(%(email)s)",
        {"email": email},
    )


async def by_login(db: Database, login: str) -> Row | None:
    """The account that an e-mail address or, without an @, a nickname names, with its password hash."""
    column = "email_addr" if "@" in login else "name"
    return await one_or_none(
        db, f"SELECT {_REQUESTER}, passwd_hash FROM account WHERE lower({column}) = lower(%(login)s)", {"login": login}
    )


async def profile(db: Database, user_id: int) -> Row | None:
    """What profile pages show: the record with score and rank (ties share a rank)."""
    return await one_or_none(
        db,
        "SELECT u.*, coalesce(s.runs, 0) AS score, coalesce(s.runs, 0) AS n_answers,"
        " (SELECT count(*) + 1 FROM score o WHERE o.runs > coalesce(s.runs, 0)) AS rank,"
        " (SELECT count(*) FROM account) AS total"
        " FROM user_record u LEFT JOIN score s ON s.user_id = u.id WHERE u.id = %(id)s",
        {"id": user_id},
    )


async def top(db: Database, limit: int) -> list[Row]:
    """Those with the most answers, blocked ones left out."""
    return await db.fetch(
        "SELECT u.*, s.runs AS score, s.runs AS n_answers, rank() OVER (ORDER BY s.runs DESC) AS rank"
        ' FROM score s JOIN user_record u ON u.id = s.user_id WHERE s.runs > 0 AND NOT u."restrict"'
        " ORDER BY s.runs DESC, u.id LIMIT %(limit)s",
        {"limit": limit},
    )


async def set_key(db: Database, user_id: int, key_hash: bytes, sealed: bytes) -> None:
    """Replaces the API key."""
    await db.execute(
        "UPDATE account SET api_key_hash = %(hash)s, api_key_sealed = %(sealed)s WHERE id = %(id)s",
        {"id": user_id, "hash": key_hash, "sealed": sealed},
    )


async def set_password(db: Database, user_id: int, passwd_hash: str) -> None:
    """Replaces the password and ends every session."""
    await db.execute(
        "UPDATE account SET passwd_hash = %(hash)s WHERE id = %(id)s", {"id": user_id, "hash": passwd_hash}
    )
    await db.execute("DELETE FROM session WHERE user_id = %(id)s", {"id": user_id})


async def set_admin(db: Database, user_id: int, admin: bool) -> bool:
    """Makes an administrator or unmakes one; False when nothing changed."""
    return (
        await db.execute(
            "UPDATE account SET admin = %(admin)s WHERE id = %(id)s AND admin <> %(admin)s",
            {"id": user_id, "admin": admin},
        )
        > 0
    )


async def admins(db: Database) -> list[Row]:
    """All administrators."""
    return await db.fetch(f"SELECT {_REQUESTER}, created FROM account WHERE admin ORDER BY id")


# Sessions ---------------------------------------------------------------------------------------------------------------


async def open_session(db: Database, token_hash: bytes, user_id: int, days: int, agent: str, address: str) -> None:
    """Stores a new session."""
    await db.execute(
        "INSERT INTO session (token_hash, user_id, created, last_seen, expires, agent, address)"
        " VALUES (%(hash)s, %(user)s, clock(), clock(), clock() + make_interval(days => %(days)s), %(agent)s, %(address)s)",
        {"hash": token_hash, "user": user_id, "days": days, "agent": agent, "address": address},
    )


async def by_session(db: Database, token_hash: bytes) -> Row | None:
    """The account of a live session, with ``stale``: last seen more than an hour ago."""
    return await one_or_none(
        db,
        "SELECT a.id, a.name, a.fullname, a.admin, a.locale, s.last_seen < clock() - interval '1 hour' AS stale"
        ' FROM session s JOIN account a ON a.id = s.user_id WHERE s.token_hash = %(hash)s AND s.expires > clock() AND NOT a."restrict"',
        {"hash": token_hash},
    )


async def touch_session(db: Database, token_hash: bytes, days: int) -> None:
    """Prolongs a session that is in use."""
    await db.execute(
        "UPDATE session SET last_seen = clock(), expires = clock() + make_interval(days => %(days)s) WHERE token_hash = %(hash)s",
        {"hash": token_hash, "days": days},
    )


async def close_session(db: Database, token_hash: bytes) -> None:
    """Ends a session."""
    await db.execute("DELETE FROM session WHERE token_hash = %(hash)s", {"hash": token_hash})


async def sweep(db: Database) -> int:
    """Removes sessions, links and attempts that have had their time."""
    gone = await db.execute("DELETE FROM session WHERE expires <= clock()")
    gone += await db.execute("DELETE FROM one_time_link WHERE expires <= clock()")
    return gone + await db.execute("DELETE FROM attempt WHERE at <= clock() - interval '1 day'")


# Links that work once ---------------------------------------------------------------------------------------------------


async def add_link(
    db: Database, token_hash: bytes, purpose: str, hours: int, user_id: int | None = None, data: Any = None
) -> None:
    """Stores a link."""
    await db.execute(
        "INSERT INTO one_time_link (token_hash, purpose, user_id, data, created, expires)"
        " VALUES (%(hash)s, %(purpose)s, %(user)s, %(data)s, clock(), clock() + make_interval(hours => %(hours)s))",
        {"hash": token_hash, "purpose": purpose, "user": user_id, "data": as_json(data or {}), "hours": hours},
    )


async def drop_links(db: Database, purpose: str) -> None:
    """Makes every link of a purpose useless."""
    await db.execute("DELETE FROM one_time_link WHERE purpose = %(purpose)s", {"purpose": purpose})


async def link(db: Database, token_hash: bytes, purpose: str) -> Row | None:
    """A link that still works."""
    return await one_or_none(
        db,
        "SELECT user_id, data FROM one_time_link WHERE token_hash = %(hash)s AND purpose = %(purpose)s AND expires > clock()",
        {"hash": token_hash, "purpose": purpose},
    )


async def use_link(db: Database, token_hash: bytes, purpose: str) -> Row | None:
    """Uses a link up; None when it does not work (any more)."""
    return await one_or_none(
        db,
        "DELETE FROM one_time_link WHERE token_hash = %(hash)s AND purpose = %(purpose)s AND expires > clock() RETURNING user_id, data",
        {"hash": token_hash, "purpose": purpose},
    )


# Failed attempts --------------------------------------------------------------------------------------------------------


async def failures(db: Database, subjects: list[str], minutes: int) -> dict[str, int]:
    """Failed attempts per subject within the last minutes."""
    rows = await db.fetch(
        "SELECT subject, count(*) AS n FROM attempt WHERE subject = ANY (%(subjects)s) AND at > clock() - make_interval(mins => %(minutes)s) GROUP BY 1",
        {"subjects": subjects, "minutes": minutes},
    )
    return {row["subject"]: row["n"] for row in rows}


async def note_failures(db: Database, subjects: list[str]) -> None:
    """Remembers a failed attempt at each subject."""
    await db.execute("INSERT INTO attempt SELECT unnest(%(subjects)s), clock()", {"subjects": subjects})


async def forget_failures(db: Database, subject: str) -> None:
    """A success wipes the slate."""
    await db.execute("DELETE FROM attempt WHERE subject = %(subject)s", {"subject": subject})
