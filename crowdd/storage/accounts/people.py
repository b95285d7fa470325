"""People in lists, and answers that change hands."""

from __future__ import annotations

from crowdd.storage.accounts.rows import Answered, ScoredPerson
from crowdd.storage.database import Database, fetch_rows, one

SCORE = "(coalesce(s.runs, 0) + coalesce(d.runs, 0))"
SCORES = (
    "LEFT JOIN person_stat s ON s.user_id = u.id"
    " LEFT JOIN (SELECT user_id, sum(runs)::bigint AS runs FROM stat_delta"
    " WHERE user_id IS NOT NULL AND xact >= (SELECT unfolded_from()) GROUP BY 1) d ON d.user_id = u.id"
)
"""The score of each account of ``u``. A join with the view ``score`` would compute the scores of all accounts first."""


async def total(db: Database) -> int:
    """How many accounts are not blocked."""
    return int((await one(db, 'SELECT count(*) AS n FROM account WHERE NOT "restrict"'))["n"])


async def page(db: Database, limit: int, offset: int) -> list[ScoredPerson]:
    """Accounts that are not blocked, the newest first, with score and n_answers."""
    return await fetch_rows(
        db,
        ScoredPerson,
        'WITH here AS (SELECT id FROM account WHERE NOT "restrict" ORDER BY id DESC LIMIT %(limit)s OFFSET %(offset)s)'
        f" SELECT u.*, {SCORE} AS score, {SCORE} AS n_answers"
        f" FROM here JOIN person_record u USING (id) {SCORES} ORDER BY u.id DESC",
        {"limit": limit, "offset": offset},
    )


async def claimable(db: Database, actor: str, to: str, limit: int) -> list[Answered]:
    """Answers of a browser to tasks that ``to`` has not answered, at most ``limit``."""
    return await fetch_rows(
        db,
        Answered,
        "SELECT project_id, task_id FROM task_run r WHERE actor = %(actor)s AND actor LIKE 'c:%%'"
        " AND NOT EXISTS (SELECT FROM task_run o WHERE o.project_id = r.project_id AND o.task_id = r.task_id AND o.actor = %(to)s)"
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
