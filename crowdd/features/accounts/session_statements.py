"""Sessions of people who signed in."""

from __future__ import annotations

from crowdd.core.devices import Authenticated
from crowdd.core.rows import SessionAccount
from crowdd.database.access import Database, Prepared, fetch_each, fetch_rows
from crowdd.features.accounts.rows import Session

MAX_SESSIONS = 100  # of one account


async def open_one(
    db: Database, token_hash: bytes, account: Authenticated, days: int, agent: str, address: str
) -> bool:
    """Stores a new session, which counts as proved: the person has just signed in.

    False when the account has another ``access_version`` by now: a new password was set since the sign-in
    began. Of the other sessions, only the MAX_SESSIONS - 1 that were used last remain.
    """
    opened = await db.execute(
        "WITH admitted AS MATERIALIZED (SELECT id FROM account WHERE id = %(user)s AND access_version = %(version)s FOR SHARE),"
        " surplus AS (DELETE FROM session WHERE id IN (SELECT id FROM session WHERE user_id = %(user)s"
        "  ORDER BY last_seen DESC, id DESC OFFSET %(others)s))"
        " INSERT INTO session (token_hash, user_id, created, last_seen, proved, expires, agent, address)"
        " SELECT %(hash)s, id, clock(), clock(), clock(), clock() + make_interval(days => %(days)s), %(agent)s, %(address)s FROM admitted",
        {
            "hash": token_hash,
            "user": account.user_id,
            "version": account.access_version,
            "days": days,
            "agent": agent,
            "address": address,
            "others": MAX_SESSIONS - 1,
        },
    )
    return opened > 0


_FIND = Prepared(
    "SELECT a.* FROM unnest(%(hashes)s) WITH ORDINALITY h(hash, nth) LEFT JOIN LATERAL"
    " (SELECT a.id, a.name, a.fullname, a.admin, a.locale, a.second_factor, a.access_version, s.last_seen < clock() - interval '1 hour' AS stale,"
    "        extract(epoch FROM clock() - s.proved)::float AS proof_age,"
    "        extract(epoch FROM clock() - greatest(s.proved, s.admin_seen))::float AS admin_idle"
    "    FROM session s JOIN account a ON a.id = s.user_id"
    '   WHERE s.token_hash = h.hash AND s.expires > clock() AND NOT a."restrict" OFFSET 0) a ON true ORDER BY h.nth',
    hashes="bytea[]",
)


async def find(db: Database, token_hashes: list[bytes]) -> list[SessionAccount | None]:
    """The account of each live session, in their order; ``stale``: last seen more than an hour ago.

    ``proof_age``: seconds since the password or a second factor was given; ``admin_idle``: seconds since that or since
    the session was last used below /admin.
    """
    return await fetch_each(db, SessionAccount, _FIND, {"hashes": token_hashes})


async def is_live(db: Database, token_hash: bytes) -> bool:
    """Whether a session has not ended. Ask after locking the account, so that nothing ends it before the commit."""
    rows = await db.fetch("SELECT FROM session WHERE token_hash = %(hash)s AND expires > clock()", {"hash": token_hash})
    return bool(rows)


async def touch(db: Database, token_hash: bytes, days: int, max_days: int) -> None:
    """Prolongs a session that is in use, but not beyond ``max_days`` after it was opened."""
    await db.execute(
        "UPDATE session SET last_seen = clock(), expires = least(clock() + make_interval(days => %(days)s),"
        " created + make_interval(days => %(max_days)s)) WHERE token_hash = %(hash)s",
        {"hash": token_hash, "days": days, "max_days": max_days},
    )


async def prove(db: Database, token_hash: bytes) -> None:
    """Notes that the password or a second factor was given in a session just now."""
    await db.execute("UPDATE session SET proved = clock() WHERE token_hash = %(hash)s", {"hash": token_hash})


async def touch_admin(db: Database, token_hash: bytes) -> None:
    """Notes that a session was used below /admin just now."""
    await db.execute("UPDATE session SET admin_seen = clock() WHERE token_hash = %(hash)s", {"hash": token_hash})


async def note_sign_in(db: Database, user_id: int) -> bool:
    """Notes that a person signed in; whether anybody had signed in to the account before."""
    rows = await db.fetch(
        "WITH before AS (SELECT id, last_signed_in FROM account WHERE id = %(user)s FOR UPDATE)"
        " UPDATE account a SET last_signed_in = clock() FROM before b WHERE a.id = b.id RETURNING b.last_signed_in IS NOT NULL AS again",
        {"user": user_id},
    )
    return bool(rows and rows[0]["again"])


async def close(db: Database, token_hash: bytes) -> None:
    """Ends a session."""
    await db.execute("DELETE FROM session WHERE token_hash = %(hash)s", {"hash": token_hash})


async def of_user(db: Database, user_id: int) -> list[Session]:
    """The live sessions of a person, the latest first."""
    return await fetch_rows(
        db,
        Session,
        "SELECT id, token_hash, created, last_seen, expires, agent, address FROM session"
        " WHERE user_id = %(user)s AND expires > clock() ORDER BY last_seen DESC, id DESC",
        {"user": user_id},
    )


async def end(db: Database, user_id: int, session_id: int) -> bool:
    """Ends one session of a person; False when they have no such session."""
    sql = "DELETE FROM session WHERE user_id = %(user)s AND id = %(id)s"
    return await db.execute(sql, {"user": user_id, "id": session_id}) > 0


async def end_all(db: Database, user_id: int) -> int:
    """Ends every session of a person."""
    return await db.execute("DELETE FROM session WHERE user_id = %(user)s", {"user": user_id})
