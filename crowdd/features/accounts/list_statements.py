"""SQL of lists of accounts: searches of administrators, pages of people, and answers and rights that change owner."""

from __future__ import annotations

from crowdd.core.records.statements import Keyset, KeysetPage
from crowdd.database.access import Database, fetch_row_or_none, fetch_rows, one, one_or_none
from crowdd.features.accounts.rows import (
    AccountState,
    Answered,
    ExportedAccount,
    ListedAccount,
    RankedPerson,
    ScoredPerson,
)

ORDERS = {"id": ("id",), "name": ("lower(name)",), "email_addr": ("lower(email_addr)",)}
"""By what accounts can be sorted, and the columns of the index for it."""
ROLES = {"admin": "admin", "blocked": '"restrict"'}
_MIN_CHARACTERS = 3  # characters that the index of trigrams needs
_NEWEST = 20_000  # accounts that are looked through for less
_PERSON = "u.*, p.score, p.score AS n_answers, p.rank, p.total FROM person_record u CROSS JOIN LATERAL place_of(u.id) p WHERE u.id IN"
_LOOKED_AT = "(name || ' ' || fullname || ' ' || email_addr)"
_LISTED = 'u.id, u.name, u.fullname, u.email_addr, u.created, u.admin, u."restrict", coalesce(s.runs, 0) AS n_answers'


async def list_admins(db: Database) -> list[RankedPerson]:
    """All administrators with score and rank."""
    return await fetch_rows(db, RankedPerson, f"SELECT {_PERSON} (SELECT id FROM account WHERE admin) ORDER BY u.id")


async def search_accounts(db: Database, words: str, limit: int) -> list[RankedPerson]:
    """Accounts whose names or e-mail address hold these words, names that begin with them first; with score and rank.

    As soon as ``limit`` accounts are found, no others are looked for. One or two letters, which no index finds inside a
    text, are looked for at the beginning of all names, and elsewhere in the newest accounts.
    """
    sql = f"{_found(words)} SELECT {_PERSON} (SELECT id FROM best) ORDER BY lower(u.name) LIKE %(first)s DESC, u.id"
    return await fetch_rows(db, RankedPerson, sql, _wanted(words, limit))


async def search_account_rows(db: Database, words: str, limit: int) -> list[ListedAccount]:
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


async def list_accounts(db: Database, place: Keyset, role: str | None) -> KeysetPage[ListedAccount]:
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


async def list_accounts_after(db: Database, after: int, limit: int) -> list[ExportedAccount]:
    """Accounts by id, beginning after one."""
    return await fetch_rows(
        db,
        ExportedAccount,
        'SELECT id, name, fullname, email_addr, created, locale, admin, consent, "restrict" FROM account'
        " WHERE id > %(after)s ORDER BY id LIMIT %(limit)s",
        {"after": after, "limit": limit},
    )


async def lock_account(db: Database, user_id: int) -> AccountState | None:
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


_KEYS = ("id",)


async def count_accounts(db: Database) -> int:
    """How many accounts are not blocked, from the counters."""
    return int((await one(db, "SELECT total FROM place_of(NULL)"))["total"])


async def list_unblocked_accounts(db: Database, place: Keyset) -> KeysetPage[ScoredPerson]:
    """A page of the accounts that are not blocked, with score and n_answers."""
    way = "DESC" if place.reads_down else "ASC"
    rows = await fetch_rows(
        db,
        ScoredPerson,
        "WITH here AS MATERIALIZED ("
        f'SELECT id FROM account WHERE NOT "restrict" AND {place.beside("account", "id", _KEYS)} {place.limited(_KEYS)}),'
        " scored AS MATERIALIZED (SELECT * FROM scores_of(ARRAY(SELECT id FROM here)))"
        " SELECT u.*, coalesce(s.runs, 0) AS score, coalesce(s.runs, 0) AS n_answers"
        f" FROM here JOIN person_record u USING (id) LEFT JOIN scored s ON s.user_id = u.id ORDER BY u.id {way}",
        place.values(),
    )
    return place.part(rows)


async def find_nth_newest(db: Database, nth: int) -> int | None:
    """The id of the account with ``nth`` - 1 newer ones, blocked ones left out; None if there are fewer. Reads ``nth`` accounts."""
    row = await one_or_none(
        db,
        'SELECT id FROM account WHERE NOT "restrict" ORDER BY id DESC LIMIT 1 OFFSET %(passed)s',
        {"passed": nth - 1},
    )
    return row["id"] if row else None


async def list_claimable_answers(db: Database, actor: str, to: str, limit: int) -> list[Answered]:
    """Answers of a browser to tasks that ``to`` has not answered, also as another actor, at most ``limit``."""
    return await fetch_rows(
        db,
        Answered,
        "SELECT project_id, task_id FROM task_run r WHERE actor = %(actor)s AND actor LIKE 'c:%%'"
        " AND NOT EXISTS (SELECT FROM task_run o WHERE o.project_id = r.project_id AND o.task_id = r.task_id"
        " AND o.actor = ANY (array_remove(actors_of(r.project_id, %(to)s), %(actor)s)))"
        " ORDER BY project_id, task_id LIMIT %(limit)s",
        {"actor": actor, "to": to, "limit": limit},
    )


async def list_projects_with_rights(db: Database, actor: str) -> list[int]:
    """Projects in which a volunteer has a lease, the right to answer late, or a place in the order."""
    rows = await db.fetch(
        "SELECT project_id FROM project_ledger p WHERE EXISTS (SELECT FROM lease x WHERE x.project_id = p.project_id AND x.actor = %(actor)s)"
        " OR EXISTS (SELECT FROM expired_lease x WHERE x.project_id = p.project_id AND x.actor = %(actor)s)"
        " OR EXISTS (SELECT FROM position x WHERE x.project_id = p.project_id AND x.actor = %(actor)s) ORDER BY 1",
        {"actor": actor},
    )
    return [row["project_id"] for row in rows]


async def move_answers(
    db: Database,
    project_id: int,
    tasks: list[int],
    whose: tuple[str, int | None],
    to: tuple[str, int | None, str | None],
) -> int:
    """Puts answers to these tasks under another volunteer and says how many.

    ``whose``: actor and account until now; ``to``: actor, account, address.
    """
    row = await one(
        db,
        "SELECT move_runs(%(project)s, %(from)s, %(was)s, %(to)s, %(user)s, %(ip)s, %(tasks)s::bigint[], clock()) AS n",
        {
            "project": project_id,
            "from": whose[0],
            "was": whose[1],
            "to": to[0],
            "user": to[1],
            "ip": to[2],
            "tasks": tasks,
        },
    )
    return int(row["n"])


async def move_rights(db: Database, project_id: int, actor: str, to: str) -> int:
    """Puts leases under another volunteer, who goes on where this one was; says how many."""
    row = await one(
        db,
        "SELECT move_rights(%(project)s, %(from)s, %(to)s, clock()) AS n",
        {"project": project_id, "from": actor, "to": to},
    )
    return int(row["n"])


async def forget_volunteer(db: Database, project_id: int, actor: str) -> None:
    """Ends all leases of a volunteer and deletes their scan positions."""
    await db.fetch("SELECT forget_volunteer(%(project)s, %(actor)s, clock())", {"project": project_id, "actor": actor})
