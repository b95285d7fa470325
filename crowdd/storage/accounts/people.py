"""People in lists, and answers that change hands."""

from __future__ import annotations

from crowdd.storage.accounts.rows import Answered, ScoredPerson
from crowdd.storage.core.keyset import Keyset, KeysetPage
from crowdd.storage.database import Database, fetch_rows, one, one_or_none

_KEYS = ("id",)


async def total(db: Database) -> int:
    """How many accounts are not blocked, from the counters."""
    return int((await one(db, "SELECT total FROM place_of(NULL)"))["total"])


async def page(db: Database, place: Keyset) -> KeysetPage[ScoredPerson]:
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


async def nth_newest(db: Database, nth: int) -> int | None:
    """The id of the account with ``nth`` - 1 newer ones, blocked ones left out; None if there are fewer. Reads ``nth`` accounts."""
    row = await one_or_none(
        db,
        'SELECT id FROM account WHERE NOT "restrict" ORDER BY id DESC LIMIT 1 OFFSET %(passed)s',
        {"passed": nth - 1},
    )
    return row["id"] if row else None


async def claimable(db: Database, actor: str, to: str, limit: int) -> list[Answered]:
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


async def projects_with_rights(db: Database, actor: str) -> list[int]:
    """Projects in which a volunteer has a lease, the right to answer late, or a place in the order."""
    rows = await db.fetch(
        "SELECT project_id FROM project_ledger p WHERE EXISTS (SELECT FROM lease x WHERE x.project_id = p.project_id AND x.actor = %(actor)s)"
        " OR EXISTS (SELECT FROM expired_lease x WHERE x.project_id = p.project_id AND x.actor = %(actor)s)"
        " OR EXISTS (SELECT FROM position x WHERE x.project_id = p.project_id AND x.actor = %(actor)s) ORDER BY 1",
        {"actor": actor},
    )
    return [row["project_id"] for row in rows]


async def move_runs(
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
