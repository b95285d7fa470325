"""The state of a move-in: whether one may begin, how far each table is, and the figures at the end."""

from __future__ import annotations

from crowdd.storage.database import Database, as_json, fetch_row, fetch_row_or_none, fetch_rows, one
from crowdd.storage.transfer.move_in.rows import Found, MoveIn, ProjectFigure, Step, UserFigure

_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('move_in', 0))"
_IDENTITIES = (
    "account",
    "project",
    "category",
    "task",
    "task_run",
    "result",
    "blogpost",
    "helpingmaterial",
    "announcement",
)


async def lock(tx: Database) -> None:
    """Makes another move-in wait until the transaction ends."""
    await tx.fetch(_LOCK)


async def current(db: Database) -> MoveIn | None:
    """The move-in of this site, or None."""
    return await fetch_row_or_none(db, MoveIn, "SELECT source, began, ended FROM move_in")


async def found(db: Database) -> Found:
    """What the site has already."""
    sql = "SELECT (SELECT count(*) FROM account)::int AS accounts, (SELECT count(*) FROM project)::int AS projects"
    return await fetch_row(db, Found, sql)


async def begin(tx: Database, source: str, *, categories: bool) -> None:
    """Begins; ``categories``: those of a new site make room for those of the source."""
    await tx.execute("INSERT INTO move_in (source, began) VALUES (%(source)s, clock())", {"source": source})
    if categories:
        await tx.execute("DELETE FROM category")


async def end(tx: Database) -> None:
    """Ends; ids of new rows come after those that moved in."""
    await number_on(tx)
    await tx.execute("UPDATE move_in SET ended = clock()")


async def number_on(tx: Database) -> None:
    """Has new rows get ids that come after all that are there."""
    for table in _IDENTITIES:
        await tx.fetch(
            f"SELECT setval(s, greatest((SELECT coalesce(max(id), 0) FROM {table}) + 1, nextval(s)), false)"
            f" FROM (SELECT pg_get_serial_sequence('{table}', 'id')::regclass AS s) x"
        )


async def reserve(tx: Database, last_result: int) -> None:
    """Has results that are made here get ids that come after those of the source."""
    await tx.fetch(
        "SELECT setval(s, greatest(%(last)s::bigint + 1, nextval(s)), false)"
        " FROM (SELECT pg_get_serial_sequence('result', 'id')::regclass AS s) x",
        {"last": last_result},
    )


async def steps(db: Database) -> list[Step]:
    """How far each table is."""
    return await fetch_rows(db, Step, "SELECT name, upto, read, added, refused, remarks, ended FROM move_in_step")


async def analyze(tx: Database) -> None:
    """Has the planner learn how large the tables have become."""
    await tx.execute("ANALYZE account, project, task, task_ledger, task_run, result")


async def save(tx: Database, step: Step) -> None:
    """Stores how far a table is."""
    await tx.execute(
        "INSERT INTO move_in_step AS s (name, upto, read, added, refused, remarks, ended)"
        " VALUES (%(name)s, %(upto)s, %(read)s, %(added)s, %(refused)s, %(remarks)s, %(ended)s)"
        " ON CONFLICT (name) DO UPDATE SET upto = excluded.upto, read = excluded.read, added = excluded.added,"
        " refused = excluded.refused, remarks = excluded.remarks, ended = excluded.ended",
        {**step, "remarks": as_json(step["remarks"])},
    )


async def present(db: Database, table: str, ids: list[int]) -> int:
    """How many of these ids a table of ours has."""
    sql = f"SELECT count(DISTINCT id) AS n FROM {table} WHERE id = ANY (%(ids)s)"
    return int((await one(db, sql, {"ids": ids}))["n"])


async def projects(db: Database) -> list[ProjectFigure]:
    """The figures of all projects, as pages show them."""
    sql = (
        "SELECT project_id AS id, n_tasks::bigint AS tasks, (runs_anonymous + runs_authenticated)::bigint AS answers"
        " FROM project_figures ORDER BY 1"
    )
    return await fetch_rows(db, ProjectFigure, sql)


async def users(db: Database) -> list[UserFigure]:
    """Answers and scores of all accounts that answered."""
    sql = (
        "SELECT r.user_id AS id, r.n AS answers, coalesce(s.runs, 0)::bigint AS score"
        " FROM (SELECT user_id, count(*) AS n FROM task_run WHERE user_id IS NOT NULL GROUP BY 1) r"
        " LEFT JOIN score s ON s.user_id = r.user_id ORDER BY 1"
    )
    return await fetch_rows(db, UserFigure, sql)
