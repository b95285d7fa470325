"""Accounts as administrators look them up."""

from __future__ import annotations

from crowdd.storage.accounts.rows import AccountState, ExportedAccount, ListedAccount, RankedPerson
from crowdd.storage.core.keyset import Keyset, KeysetPage
from crowdd.storage.database import Database, fetch_row_or_none, fetch_rows, one_or_none

ORDERS = {"id": ("id",), "name": ("lower(name)",), "email_addr": ("lower(email_addr)",)}
"""By what accounts can be sorted, and the columns of the index for it."""
ROLES = {"admin": "admin", "blocked": '"restrict"'}
_MIN_CHARACTERS = 3  # characters that the index of trigrams needs
_NEWEST = 20_000  # accounts that are looked through for less
_PERSON = "u.*, p.score, p.score AS n_answers, p.rank, p.total FROM person_record u CROSS JOIN LATERAL place_of(u.id) p WHERE u.id IN"
_LOOKED_AT = "(name || ' ' || fullname || ' ' || email_addr)"
_LISTED = 'u.id, u.name, u.fullname, u.email_addr, u.created, u.admin, u."restrict", coalesce(s.runs, 0) AS n_answers'


async def admins(db: Database) -> list[RankedPerson]:
    """All administrators with score and rank."""
    return await fetch_rows(db, RankedPerson, f"SELECT {_PERSON} (SELECT id FROM account WHERE admin) ORDER BY u.id")


async def search(db: Database, words: str, limit: int) -> list[RankedPerson]:
    """Accounts whose names or e-mail address hold these words, names that begin with them first; with score and rank.

    As soon as ``limit`` accounts are found, no others are looked for. One or two letters, which no index finds inside a
    text, are looked for at the beginning of all names, and elsewhere in the newest accounts.
    """
    sql = f"{_found(words)} SELECT {_PERSON} (SELECT id FROM best) ORDER BY lower(u.name) LIKE %(first)s DESC, u.id"
    return await fetch_rows(db, RankedPerson, sql, _wanted(words, limit))


async def search_listed(db: Database, words: str, limit: int) -> list[ListedAccount]:
    """The same accounts as rows of the list, without ranks, which take most of the time."""
    sql = (
        f"{_found(words)}, scored AS MATERIALIZED (SELECT * FROM scores_of(ARRAY(SELECT id FROM best)))"
        f" SELECT {_LISTED} FROM account u JOIN best USING (id) LEFT JOIN scored s ON s.user_id = u.id"
        " ORDER BY lower(u.name) LIKE %(first)s DESC, u.id"
    )
    return await fetch_rows(db, ListedAccount, sql, _wanted(words, limit))


def _found(words: str) -> str:
    """``best``: the ids of the accounts that a search finds.

    ``inside`` is materialized so that it is planned without the limit: where the planner takes a rare text for a
    frequent one, it would look through all accounts. It is still read only as far as rows are needed.
    """
    newest = "" if len(words) >= _MIN_CHARACTERS else " AND id > (SELECT max(id) FROM account) - %(newest)s"
    return (
        f"WITH inside AS MATERIALIZED (SELECT id FROM account WHERE {_LOOKED_AT} ILIKE %(inside)s{newest}),"
        " found AS MATERIALIZED ("
        "(SELECT id FROM account WHERE lower(name) LIKE %(first)s LIMIT %(limit)s) UNION"
        " (SELECT id FROM inside LIMIT %(limit)s)),"
        " best AS MATERIALIZED (SELECT id FROM account JOIN found USING (id)"
        " ORDER BY lower(name) LIKE %(first)s DESC, id LIMIT %(limit)s)"
    )


def _wanted(words: str, limit: int) -> dict[str, object]:
    escaped = words.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return {"inside": f"%{escaped}%", "first": f"{escaped.lower()}%", "limit": limit, "newest": _NEWEST}


async def listed(db: Database, place: Keyset, role: str | None) -> KeysetPage[ListedAccount]:
    """A page of accounts: all in one of ORDERS, or those with a role in the order of ids."""
    keys = ORDERS[place.order]
    where = [place.beside("account", "id", keys)]
    where += [ROLES[role]] if role else []
    rows = await fetch_rows(
        db,
        ListedAccount,
        "WITH here AS MATERIALIZED (SELECT *, row_number() OVER () AS nth"
        f" FROM (SELECT * FROM account WHERE {' AND '.join(where)} {place.limited(keys)}) a),"
        " scored AS MATERIALIZED (SELECT * FROM scores_of(ARRAY(SELECT id FROM here)))"
        f" SELECT {_LISTED}"
        " FROM here u LEFT JOIN scored s ON s.user_id = u.id ORDER BY u.nth",
        place.values(),
    )
    return place.part(rows)


async def part(db: Database, after: int, limit: int) -> list[ExportedAccount]:
    """Accounts by id, beginning after one."""
    return await fetch_rows(
        db,
        ExportedAccount,
        'SELECT id, name, fullname, email_addr, created, locale, admin, consent, "restrict" FROM account'
        " WHERE id > %(after)s ORDER BY id LIMIT %(limit)s",
        {"after": after, "limit": limit},
    )


async def lock(db: Database, user_id: int) -> AccountState | None:
    """The state of an account, locked until the transaction ends."""
    return await fetch_row_or_none(
        db,
        AccountState,
        'SELECT id, name, admin, "restrict" FROM account WHERE id = %(id)s FOR UPDATE',
        {"id": user_id},
    )


async def set_restrict(db: Database, user_id: int, restrict: bool) -> None:
    """Blocks an account, which ends its sessions, or unblocks it."""
    await db.execute(
        'UPDATE account SET "restrict" = %(restrict)s WHERE id = %(id)s', {"id": user_id, "restrict": restrict}
    )
    if restrict:
        await db.execute("DELETE FROM session WHERE user_id = %(id)s", {"id": user_id})


async def is_last_admin(db: Database, user_id: int) -> bool:
    """Whether this is the only administrator; other transactions that ask wait for this one. The row is locked before."""
    await db.fetch("SELECT pg_advisory_xact_lock(hashtextextended('administrators', 0))")
    sql = 'SELECT NOT EXISTS (SELECT FROM account WHERE admin AND NOT "restrict" AND id <> %(id)s) AS last'
    row = await one_or_none(db, sql, {"id": user_id})
    return bool(row and row["last"])
