"""What an owner should know before a project is published."""

from __future__ import annotations

from collections.abc import Sequence

from crowdd.storage.database import Database, fetch_row, fetch_rows
from crowdd.storage.projects.publishing_rows import ColumnGap, PublishingFacts

MAX_TASKS_READ = 2000
"""Of so many tasks, the newest, the columns are looked at."""
_MAX_TIMED = 500  # answers, the newest


async def facts(db: Database, project_id: int, draft: bool) -> PublishingFacts:
    """How much work is left, and how fast volunteers were. The trial answers of a draft go when it is published.

    Reads the ledger of all tasks, the newest answers, and a row for each volunteer and day of two weeks. A volunteer
    may have had the task before in hand when this one was handed out, so an answer began with the one before it.
    """
    return await fetch_row(
        db,
        PublishingFacts,
        """
        WITH timed AS (
            SELECT trial, extract(epoch FROM finish_time - greatest(created, lag(finish_time) OVER (PARTITION BY actor ORDER BY finish_time, id)))::float8 AS seconds
              FROM (SELECT * FROM task_run WHERE project_id = %(id)s ORDER BY id DESC LIMIT %(timed)s) r WHERE origin IS NULL
        ), days AS (
            SELECT sum(runs) AS runs FROM (
                SELECT day, actor, runs FROM volunteer_day WHERE project_id = %(id)s AND day >= first_day(clock()) UNION ALL
                SELECT day_of(hour), actor, runs FROM stat_delta WHERE (project_id, xact) >= (%(id)s, (SELECT unfolded_from())) AND project_id = %(id)s
                   AND actor <> '' AND hour >= first_day(clock())::timestamp AT TIME ZONE 'UTC') d GROUP BY day, actor HAVING sum(runs) > 0
        )
        SELECT l.open_tasks, l.remaining, (SELECT count(*) FROM days) AS days, (SELECT coalesce(sum(runs), 0)::bigint FROM days) AS answers, t.timed, t.seconds, t.trial
          FROM (SELECT count(*) FILTER (WHERE NOT done OR %(draft)s) AS open_tasks, coalesce(sum(greatest(0, n_answers - answers)), 0)::bigint
                       + CASE WHEN %(draft)s THEN (SELECT count(*) FROM task_run WHERE project_id = %(id)s AND trial AND counted) ELSE 0 END AS remaining
                  FROM task_ledger WHERE project_id = %(id)s AND NOT retired) l,
               (SELECT count(*) AS timed, percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds) AS seconds, coalesce(bool_or(trial), false) AS trial
                  FROM timed WHERE seconds > 0) t""",
        {"id": project_id, "timed": _MAX_TIMED, "draft": draft},
    )


async def gaps(db: Database, project_id: int, columns: Sequence[str]) -> list[ColumnGap]:
    """Of each column that the tasks should have, how many of the newest tasks lack it, in the order of the columns."""
    return await fetch_rows(
        db,
        ColumnGap,
        "SELECT c.name AS column, count(*) FILTER (WHERE coalesce(t.info ->> c.name, '') = '') AS lacking, count(*) AS tasks"
        "  FROM (SELECT info FROM task WHERE project_id = %(id)s ORDER BY id DESC LIMIT %(maximum)s) t,"
        "       unnest(%(columns)s::text[]) WITH ORDINALITY c(name, nth) GROUP BY c.nth, c.name ORDER BY c.nth",
        {"id": project_id, "columns": list(columns), "maximum": MAX_TASKS_READ},
    )
