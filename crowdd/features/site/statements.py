"""SQL of the administrators' dashboard with the last seven days, and of their list of all projects."""

from __future__ import annotations

from collections.abc import Mapping

from crowdd.core.records.statements import Keyset, KeysetPage
from crowdd.database.access import Database, as_json, fetch_row_or_none, fetch_rows, one_or_none
from crowdd.features.projects.rows import AdministeredProject
from crowdd.sched.rows import DashboardSnapshot, DayFigures, RecentProject, Returning, WeekPeople

_DAYS = 7
MAX_LISTED_PROJECTS = 100  # projects of the week in each list
# Every day of the week until today, UTC.
_WEEK = f"""week AS (SELECT d::date AS day FROM (SELECT (clock() AT TIME ZONE 'UTC')::date AS today) t,
    generate_series(today - {_DAYS - 1}, today, interval '1 day') d)"""
# Who answered on which day in projects that were published: the folded rows and those that are not folded yet. What a draft
# has are trials, as for all figures of the site (features.statistics.statements).
_ACTIVE = """runs AS (
    SELECT day, actor, runs FROM volunteer_day JOIN project_ledger l USING (project_id) WHERE NOT l.trial AND day >= (SELECT min(day) FROM week)
    UNION ALL SELECT (hour AT TIME ZONE 'UTC')::date, actor, runs FROM stat_delta JOIN project_ledger l USING (project_id)
     WHERE NOT l.trial AND actor <> '' AND runs <> 0 AND hour >= (SELECT min(day) FROM week)::timestamp AT TIME ZONE 'UTC'
), active AS (SELECT day, actor, sum(runs) AS runs FROM runs GROUP BY 1, 2 HAVING sum(runs) > 0)"""


async def read_dashboard(db: Database) -> DashboardSnapshot | None:
    """The figures that were stored last."""
    return await fetch_row_or_none(
        db,
        DashboardSnapshot,
        "SELECT figures, extract(epoch FROM clock() - made)::double precision AS age FROM dashboard",
    )


async def try_lock_dashboard(db: Database) -> bool:
    """Whether this transaction is the one that finds the figures again; nobody else is until it ends."""
    row = await one_or_none(db, "SELECT pg_try_advisory_xact_lock(hashtextextended('dashboard', 0)) AS got")
    return bool(row and row["got"])


async def store_dashboard(db: Database, figures: Mapping[str, object]) -> None:
    """Puts new figures in the place of the old ones."""
    await db.execute(
        "INSERT INTO dashboard (made, figures) VALUES (clock(), %(figures)s)"
        " ON CONFLICT (single) DO UPDATE SET made = excluded.made, figures = excluded.figures",
        {"figures": as_json(figures)},
    )


async def list_day_figures(db: Database) -> list[DayFigures]:
    """For each day: people with and without an account who answered, answers, new accounts, new tasks.

    Trial answers, which go when a draft is published, are left out; so are people who gave no others.
    """
    return await fetch_rows(
        db,
        DayFigures,
        f"""WITH {_WEEK}, {_ACTIVE}, answered AS (
            SELECT day, count(*) FILTER (WHERE actor LIKE 'u:%%') AS users, count(*) FILTER (WHERE actor NOT LIKE 'u:%%') AS anon, sum(runs) AS runs
              FROM active GROUP BY 1)
        SELECT w.day, coalesce(a.users, 0) AS users, coalesce(a.anon, 0) AS anon, coalesce(a.runs, 0)::bigint AS runs,
               (SELECT count(*) FROM account x WHERE x.created >= w.day::timestamp AT TIME ZONE 'UTC' AND x.created < (w.day + 1)::timestamp AT TIME ZONE 'UTC') AS accounts,
               (SELECT count(*) FROM task x WHERE x.created >= w.day::timestamp AT TIME ZONE 'UTC' AND x.created < (w.day + 1)::timestamp AT TIME ZONE 'UTC') AS tasks
          FROM week w LEFT JOIN answered a USING (day) ORDER BY 1""",
    )


async def count_people(db: Database) -> WeekPeople:
    """How many people with and without an account answered in the week. Trials do not count."""
    [row] = await fetch_rows(
        db,
        WeekPeople,
        f"WITH {_WEEK}, {_ACTIVE} SELECT count(DISTINCT actor) FILTER (WHERE actor LIKE 'u:%%') AS users,"
        " count(DISTINCT actor) FILTER (WHERE actor NOT LIKE 'u:%%') AS anon FROM active",
        {},
    )
    return row


async def count_returning_people(db: Database) -> list[Returning]:
    """How many people with an account answered on one day of the week, on two, …: ``days`` and ``people``. Trials do not count."""
    return await fetch_rows(
        db,
        Returning,
        f"""WITH {_WEEK}, {_ACTIVE}, often AS (SELECT actor, count(*) AS days FROM active WHERE actor LIKE 'u:%%' GROUP BY 1)
        SELECT n AS days, (SELECT count(*) FROM often WHERE days = n) AS people FROM generate_series(1, {_DAYS}) n ORDER BY 1""",
    )


async def list_recent_projects(db: Database, what: str) -> list[RecentProject]:
    """Projects of the week, the newest first: new drafts, newly ``published``, or ``updated``."""
    column, state = {
        "draft": ("created", "first_published IS NULL"),
        "published": ("first_published", "published"),
        "updated": ("updated", "true"),
    }[what]
    return await fetch_rows(
        db,
        RecentProject,
        f"""WITH {_WEEK} SELECT to_char(p.{column} AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, p.id, p.short_name, p.name AS p_name, p.owner_id, a.name AS u_name, a.email_addr
          FROM project p JOIN account a ON a.id = p.owner_id
         WHERE {state} AND p.{column} >= (SELECT min(day) FROM week)::timestamp AT TIME ZONE 'UTC' ORDER BY p.{column} DESC, p.id DESC LIMIT {MAX_LISTED_PROJECTS}""",
    )


STATES = ("draft", "published", "paused")
ORDERS = {"id": ("id",), "name": ("lower(name)",)}
"""By what projects can be sorted, and the columns of the index for it."""
_STATE = "(CASE WHEN published THEN 'published' WHEN first_published IS NULL THEN 'draft' ELSE 'paused' END)"


async def list_administered_projects(
    db: Database, place: Keyset, *, state: str | None, owner: str | None
) -> KeysetPage[AdministeredProject]:
    """A page of projects: all in one of ORDERS, or those in a state or of an owner (a user name) in the order of ids.

    The figures are those of the pages of the projects; they are read for this page alone.
    """
    keys = ORDERS[place.order]
    where = [place.beside("project", "id", keys)]
    where += [f"{_STATE} = %(state)s"] if state else []
    where += ["owner_id = (SELECT id FROM account WHERE lower(name) = lower(%(owner)s))"] if owner else []
    rows = await fetch_rows(
        db,
        AdministeredProject,
        "SELECT p.id, p.name, p.short_name, a.name AS owner, p.state, p.featured, p.created, f.n_tasks,"
        " f.runs_anonymous + f.runs_authenticated AS n_task_runs, last_activity(p.id) AS last_activity"
        f" FROM (SELECT *, {_STATE} AS state, row_number() OVER () AS nth FROM ("
        f"SELECT * FROM project WHERE {' AND '.join(where)} {place.limited(keys)}) x) p"
        " JOIN account a ON a.id = p.owner_id"
        " CROSS JOIN LATERAL (SELECT * FROM project_figures WHERE project_id = p.id OFFSET 0) f ORDER BY p.nth",
        {**place.values(), "state": state, "owner": owner},
    )
    return place.part(rows)
