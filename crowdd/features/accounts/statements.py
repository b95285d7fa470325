"""SQL of accounts, and of links that work once: create, find, change and delete them.

A link is stored under a hash of its key; the key itself is only in the link.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Literal

import attrs

from crowdd.core.records import statements as record_statements
from crowdd.database.access import (
    Database,
    Prepared,
    as_json,
    fetch_each,
    fetch_row,
    fetch_row_or_none,
    fetch_rows,
    one,
)
from crowdd.features.accounts.rows import (
    Account,
    AccountPage,
    AccountWithPassword,
    Administrator,
    Leader,
    LockedAddress,
    NewLink,
    OneTimeLink,
)

_REQUESTER = 'id, name, fullname, email_addr, valid_email, admin, locale, access_version, "restrict"'


async def insert_account(db: Database, values: Mapping[str, object]) -> int:
    """The id of a new account."""
    names = ", ".join(values)
    marks = ", ".join(f"%({name})s" for name in values)
    row = await one(db, f"INSERT INTO account (created, {names}) VALUES (clock(), {marks}) RETURNING id", values)
    return int(row["id"])


_BY_KEY = Prepared(
    "SELECT a.* FROM unnest(%(hashes)s) WITH ORDINALITY h(hash, nth) LEFT JOIN LATERAL"
    f' (SELECT {_REQUESTER} FROM account WHERE api_key_hash = h.hash AND NOT "restrict" OFFSET 0) a ON true ORDER BY h.nth',
    hashes="bytea[]",
)


async def find_by_key(db: Database, key_hashes: list[bytes]) -> list[Account | None]:
    """The account of each API key, in their order."""
    return await fetch_each(db, Account, _BY_KEY, {"hashes": key_hashes})


async def find_by_name(db: Database, name: str) -> Account | None:
    """The account with this nickname, in upper or lower case."""
    return await fetch_row_or_none(
        db, Account, f"SELECT {_REQUESTER} FROM account WHERE lower(name) = lower(%(name)s)", {"name": name}
    )


async def is_name_taken(
    db: Database, name: str, reserved: Collection[str], besides: int | None = None
) -> Literal["same", "alike"] | None:
    """Whether another account than ``besides`` has this nickname, or it looks like that of one or like a reserved one."""
    row = await one(
        db,
        "SELECT CASE WHEN EXISTS (SELECT FROM account WHERE lower(name) = lower(%(name)s) AND id IS DISTINCT FROM %(besides)s) THEN 'same'"
        " WHEN look <> '' AND EXISTS (SELECT FROM account WHERE name_skeleton = look AND name_skeleton <> '' AND id IS DISTINCT FROM %(besides)s)"
        " OR look IN (SELECT skeleton(r) FROM unnest(%(reserved)s) r) THEN 'alike' END AS taken FROM (SELECT skeleton(%(name)s) AS look) s",
        {"name": name, "reserved": list(reserved), "besides": besides},
    )
    taken: Literal["same", "alike"] | None = row["taken"]
    return taken


async def find_by_email(db: Database, email: str) -> AccountWithPassword | None:
    """The account of an e-mail address."""
    return await fetch_row_or_none(
        db,
        AccountWithPassword,
        f"SELECT {_REQUESTER}, passwd_hash FROM account WHERE lower(email_addr) = lower(%(email)s)",
        {"email": email},
    )


async def find_by_login(db: Database, login: str) -> AccountWithPassword | None:
    """The account that an e-mail address or, without an @, a nickname names, with its password hash."""
    column = "email_addr" if "@" in login else "name"
    return await fetch_row_or_none(
        db,
        AccountWithPassword,
        f"SELECT {_REQUESTER}, passwd_hash FROM account WHERE lower({column}) = lower(%(login)s)",
        {"login": login},
    )


_PROFILE = Prepared(
    "SELECT u.*, s.score, s.score AS n_answers, s.rank, s.total,"
    " a.passwd_hash IS NOT NULL AS has_password, a.access_version, (SELECT m.error FROM mail m"
    " WHERE lower(m.recipient) = lower(u.email_addr) AND m.state = 'dead' AND m.returned ORDER BY m.id DESC LIMIT 1) AS mail_returned"
    " FROM user_record u JOIN account a USING (id), LATERAL place_of(u.id) s WHERE u.id = %(id)s",
    id="bigint",
)


def _ranked(source: str, **types: str) -> Prepared:
    return Prepared(
        "SELECT u.*, s.score, s.score AS n_answers, s.rank"
        f" FROM {source} s JOIN person_record u ON u.id = s.user_id ORDER BY s.rank, u.id",
        **types,
    )


_LEADERS = _ranked("top_people(%(limit)s)", limit="int")
_AROUND = _ranked("people_around(%(id)s, %(window)s)", id="bigint", window="int")


async def read_profile(db: Database, user_id: int) -> AccountPage | None:
    """An account for its own pages."""
    return await fetch_row_or_none(db, AccountPage, _PROFILE, {"id": user_id})


async def list_top_accounts(db: Database, limit: int) -> list[Leader]:
    """The people with the most answers, without blocked ones."""
    return await fetch_rows(db, Leader, _LEADERS, {"limit": limit})


async def list_accounts_around(db: Database, user_id: int, window: int) -> list[Leader]:
    """A person and up to ``window`` people before and after them on the list of all."""
    return await fetch_rows(db, Leader, _AROUND, {"id": user_id, "window": window})


async def set_api_key(db: Database, user_id: int, key_hash: bytes, encrypted: bytes) -> None:
    """Replaces the API key."""
    await db.execute(
        "UPDATE account SET api_key_hash = %(hash)s, api_key_encrypted = %(encrypted)s WHERE id = %(id)s",
        {"id": user_id, "hash": key_hash, "encrypted": encrypted},
    )


async def set_password(db: Database, user_id: int, hashed: str) -> int:
    """Replaces the password; the new ``access_version``, with which sign-ins begin from now on."""
    row = await one(
        db,
        "UPDATE account SET passwd_hash = %(hash)s, access_version = access_version + 1 WHERE id = %(id)s RETURNING access_version",
        {"id": user_id, "hash": hashed},
    )
    return int(row["access_version"])


async def renew_password_hash(db: Database, user_id: int, before: str, hashed: str) -> None:
    """Replaces the hash of the same password, unless the password was changed meanwhile."""
    await db.execute(
        "UPDATE account SET passwd_hash = %(hash)s WHERE id = %(id)s AND passwd_hash = %(before)s",
        {"id": user_id, "hash": hashed, "before": before},
    )


async def set_avatar(db: Database, user_id: int, path: str, info: dict[str, str]) -> str | None:
    """Replaces the picture and says so in ``info``; the path of the one before, or None."""
    before = await one(db, "SELECT avatar_file FROM account WHERE id = %(id)s FOR UPDATE", {"id": user_id})
    await db.execute(
        "UPDATE account SET avatar_file = %(path)s, info = info || %(info)s WHERE id = %(id)s",
        {"id": user_id, "path": path, "info": as_json(info)},
    )
    return before["avatar_file"]


async def find_by_provider(db: Database, provider: str, provider_id: str) -> Account | None:
    """The account that signs in as this person of a provider; ``provider`` is one of ours."""
    return await fetch_row_or_none(
        db, Account, f"SELECT {_REQUESTER} FROM account WHERE {provider}_user_id = %(id)s", {"id": provider_id}
    )


async def lock_address(tx: Database, user_id: int) -> LockedAddress:
    """The address of an account, locked until the transaction ends, so that its factors do not change meanwhile."""
    return await fetch_row(
        tx,
        LockedAddress,
        "SELECT id, email_addr, valid_email, name, locale FROM account WHERE id = %(user)s FOR UPDATE",
        {"user": user_id},
    )


async def set_address(db: Database, user_id: int, email: str) -> None:
    """Replaces the e-mail address by one that its person reads."""
    await db.execute(
        "UPDATE account SET email_addr = %(email)s, valid_email = true, confirmation_email_sent = false WHERE id = %(id)s",
        {"id": user_id, "email": email},
    )


async def note_address_confirmed(db: Database, user_id: int) -> None:
    """The person reads what is sent to the address."""
    await db.execute("UPDATE account SET valid_email = true WHERE id = %(id)s", {"id": user_id})


async def note_confirmation_sent(db: Database, user_id: int) -> None:
    """An e-mail that confirms an address is on its way; until then none is confirmed."""
    await db.execute(
        "UPDATE account SET valid_email = false, confirmation_email_sent = true WHERE id = %(id)s", {"id": user_id}
    )


async def read_time(db: Database) -> float:
    """The time as epoch seconds."""
    return float((await one(db, "SELECT extract(epoch FROM clock()) AS now"))["now"])


async def read_password_hash(db: Database, user_id: int) -> str | None:
    """The password hash of an account; None for an account that signs in with a provider only."""
    row = await one(db, "SELECT passwd_hash FROM account WHERE id = %(id)s", {"id": user_id})
    return row["passwd_hash"]


async def set_admin(db: Database, user_id: int, admin: bool) -> bool:
    """Gives or removes the rights of an administrator; False when nothing changed."""
    return (
        await db.execute(
            "UPDATE account SET admin = %(admin)s WHERE id = %(id)s AND admin <> %(admin)s",
            {"id": user_id, "admin": admin},
        )
        > 0
    )


async def list_admins(db: Database) -> list[Administrator]:
    """All administrators."""
    return await fetch_rows(db, Administrator, f"SELECT {_REQUESTER}, created FROM account WHERE admin ORDER BY id")


async def delete_expired(db: Database) -> int:
    """Removes sessions, links, challenges, tokens and attempts that have expired."""
    gone = await record_statements.delete_in_batches(db, "session", "expires <= clock()")
    gone += await record_statements.delete_in_batches(db, "one_time_link", "expires <= clock()")
    gone += await record_statements.delete_in_batches(db, "used_challenge", "expires <= clock()")
    gone += await record_statements.delete_in_batches(db, "api_token", "expires <= clock() - interval '30 days'")
    return gone + await record_statements.delete_in_batches(db, "attempt_count", "until <= clock()")


async def insert_link(db: Database, link: NewLink) -> None:
    """Stores a link."""
    await db.execute(
        "INSERT INTO one_time_link (token_hash, purpose, user_id, data, subject, origin, created, expires) VALUES"
        " (%(token_hash)s, %(purpose)s, %(user_id)s, %(data)s, %(subject)s, %(origin)s, clock(), clock() + make_interval(hours => %(hours)s))",
        {**attrs.asdict(link, recurse=False), "data": as_json(link.data)},
    )


async def delete_links(db: Database, purpose: str) -> None:
    """Makes every link of a purpose useless."""
    await db.execute("DELETE FROM one_time_link WHERE purpose = %(purpose)s", {"purpose": purpose})


async def delete_links_of_user(db: Database, user_id: int, purpose: str) -> None:
    """Makes a person's links of a purpose useless."""
    await db.execute(
        "DELETE FROM one_time_link WHERE user_id = %(user)s AND purpose = %(purpose)s",
        {"user": user_id, "purpose": purpose},
    )


async def delete_links_of_subject(db: Database, subject: bytes, purpose: str) -> None:
    """Makes the links of a purpose useless that were sent to an address."""
    await db.execute(
        "DELETE FROM one_time_link WHERE subject = %(subject)s AND purpose = %(purpose)s",
        {"subject": subject, "purpose": purpose},
    )


async def keep_newest_links(db: Database, subject: bytes, purpose: str, origin: bytes, max_links: int) -> None:
    """Makes all but the newest links of a purpose useless that one network had sent to an address."""
    await db.execute(
        "DELETE FROM one_time_link WHERE token_hash IN"
        " (SELECT token_hash FROM one_time_link WHERE subject = %(subject)s AND purpose = %(purpose)s AND origin = %(origin)s"
        "  ORDER BY created DESC OFFSET %(kept)s)",
        {"subject": subject, "purpose": purpose, "origin": origin, "kept": max_links},
    )


async def find_link(db: Database, token_hash: bytes, purpose: str) -> OneTimeLink | None:
    """A link that still works."""
    return await fetch_row_or_none(
        db,
        OneTimeLink,
        "SELECT user_id, data FROM one_time_link WHERE token_hash = %(hash)s AND purpose = %(purpose)s AND expires > clock()",
        {"hash": token_hash, "purpose": purpose},
    )


async def use_link(db: Database, token_hash: bytes, purpose: str) -> OneTimeLink | None:
    """Uses a link up; None when it does not work (any more)."""
    return await fetch_row_or_none(
        db,
        OneTimeLink,
        "DELETE FROM one_time_link WHERE token_hash = %(hash)s AND purpose = %(purpose)s AND expires > clock() RETURNING user_id, data",
        {"hash": token_hash, "purpose": purpose},
    )
