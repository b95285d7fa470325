"""SQL of project lists: by filter or search, categories, latest acts, the command palette, and publishing checks.

Which projects stand on a page is found by narrow rows (the project's own and its folded counters); the exact figures
are computed for the projects of that page alone, so that a page costs the same on a site of ten or ten thousand, but
for counting and sorting these rows. The latest acts are read from the ends of the tables, so that their length does not
matter. Each statement of the palette holds the rights itself: nobody learns what other people's projects are called.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypedDict

import attrs

from crowdd.core.records import role_statements
from crowdd.core.records.statements import CONTRIB_BUTTON
from crowdd.database.access import Database, Prepared, fetch_row, fetch_row_or_none, fetch_rows, typed
from crowdd.features.projects.rows import (
    ColumnGap,
    ColumnValues,
    Contributors,
    CountedCategory,
    FeedEntry,
    ListedProject,
    NumberedTask,
    OwnProject,
    ProjectName,
    ProjectOverview,
    ProjectSummary,
    PublishingFacts,
)
from crowdd.features.projects.statements import SUMMARY
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Json
from crowdd.kinds.project import PROJECT
from crowdd.kinds.roles import Role

_TEXT = "(p.name || ' ' || p.description)"
_PUBLIC = "p.published AND p.lock_id IS NULL"
_RUNS = "s.runs_anonymous + s.runs_authenticated"


def _shown(expression: str) -> str:
    """An expression of the folded figures of a project, as everybody is told."""
    return (
        f"(SELECT {expression} FROM project_ledger l, shown_figures(s.tasks, s.completed, s.wanted, s.counted, {_RUNS}, l.n_gold,"
        " p.trust IS NOT NULL AND p.answer_label IS NOT NULL) f WHERE l.project_id = p.id)"
    )


_LIVELIEST = (
    "p.featured DESC, s.wanted > 0 AND s.counted >= s.wanted, s.recent_anonymous + s.recent_authenticated DESC NULLS LAST,"
    f" {_RUNS} DESC NULLS LAST, p.id DESC"
)
MEDIA: Mapping[str, tuple[str, ...]] = {
    "picture": ("picture", "pictures", "zoom_picture"),
    "text": ("text",),
    "sound": ("sound",),
    "video": ("video",),
    "map": ("map",),
}
"""What volunteers look at or listen to, and the types of media that are it."""
# Each key of a summary and some others, and what the database orders by for it.
ORDERS: Mapping[str, str] = {
    "id": "p.id",
    "name": "lower(p.name)",
    "short_name": "p.short_name",
    "description": "lower(p.description)",
    "long_description": "lower(p.long_description)",
    "created": "p.created",
    "updated": "p.updated",
    "first_published": "p.first_published",
    "category_id": "p.category_id",
    "owner_id": "p.owner_id",
    "featured": "p.featured",
    "published": "p.published",
    "n_tasks": _shown("f.n_tasks"),
    "n_volunteers": "s.people_anonymous + s.people_authenticated",
    "n_task_runs": _RUNS,
    "n_completed_tasks": _shown("f.n_completed_tasks"),
    "n_results": "s.results",
    "overall_progress": _shown("f.n_counted::float8 / nullif(f.n_wanted, 0)"),
    # Where answers are wanted, those with the fewest people lately come first.
    "needs_help": "CASE WHEN s.counted < s.wanted THEN s.recent_anonymous + s.recent_authenticated END",
    "last_activity": "last_activity(p.id)",
    "last_activity_raw": "last_activity(p.id)",
    "owner": "(SELECT lower(CASE WHEN a.privacy_mode THEN a.name ELSE a.fullname END) FROM account a WHERE a.id = p.owner_id)",
}


@attrs.frozen
class ProjectFilter:
    """Which projects: those that everybody may see, unless ``drafts``; each further condition narrows the list."""

    category_id: int | None = None
    featured: bool = False
    drafts: bool = False
    actor: str = ""  # only those in which this volunteer answered
    language: str = ""  # a tag; regions do not matter
    medium: str = ""  # a key of MEDIA
    seconds: float = 0  # most of their answers take so long at most
    phone: bool = False  # the questions are answered without drawing


async def list_page(
    db: Database, project_filter: ProjectFilter, order: str | None, descending: bool, limit: int, offset: int
) -> tuple[list[ListedProject], int]:
    """A page of summaries and how many there are; ``order`` is a key of ORDERS, None: the most active first."""
    where = " AND ".join(_conditions(project_filter))
    by = _LIVELIEST if order is None else f"{ORDERS[order]} {'DESC' if descending else 'ASC'} NULLS LAST, p.id DESC"
    values: dict[str, object] = {
        "category": project_filter.category_id,
        "actor": project_filter.actor,
        "language": project_filter.language.partition("-")[0].lower(),
        "media": list(MEDIA.get(project_filter.medium, ())),
        "seconds": project_filter.seconds,
        "limit": limit,
        "offset": offset,
    }
    return await _page(db, where, by, values)


def _conditions(project_filter: ProjectFilter) -> list[str]:
    conditions = ["NOT p.published" if project_filter.drafts else _PUBLIC]
    if project_filter.category_id is not None:
        conditions.append("p.category_id = %(category)s")
    if project_filter.featured:
        conditions.append("p.featured")
    if project_filter.language:
        conditions.append("lower(split_part(p.language, '-', 1)) = %(language)s")
    if project_filter.medium:
        conditions.append("p.medium = ANY (%(media)s)")
    if project_filter.seconds:
        conditions.append(
            "EXISTS (SELECT FROM project_pace x WHERE x.project_id = p.id AND x.seconds > 0 AND x.seconds <= %(seconds)s)"
        )
    if project_filter.phone:
        conditions.append("p.work IN ('choose', 'write')")
    if project_filter.actor:
        conditions.append(
            "p.id IN (SELECT project_id FROM (SELECT project_id, runs FROM volunteer WHERE actor = %(actor)s UNION ALL SELECT project_id, runs"
            " FROM stat_delta WHERE xact >= (SELECT unfolded_from()) AND actor = %(actor)s) r GROUP BY 1 HAVING sum(runs) > 0)"
        )
    return conditions


async def list_projects_to_continue(db: Database, actor: str, maximum: int) -> list[ProjectSummary]:
    """Summaries of projects in which a volunteer answered and can answer another task now, the newest first."""
    where = " AND ".join(_conditions(ProjectFilter(actor=actor)))
    return await fetch_rows(
        db,
        ProjectSummary,
        f"SELECT {SUMMARY} FROM project_record t JOIN project p ON p.id = t.id"
        f" WHERE {where} AND {CONTRIB_BUTTON} = 'can_contribute' ORDER BY t.id DESC LIMIT %(maximum)s",
        {"actor": actor, "maximum": maximum},
    )


async def search_projects(
    db: Database, text: str, words: Mapping[str, str], limit: int, offset: int
) -> tuple[list[ListedProject], int]:
    """The same of projects that hold every word, or one that comes close to it, in name or description; the former first.

    Each word comes with alternatives of a regular expression, "" or words that do as well at the beginning of a word; these are
    looked for in every project, so they cost most.
    """
    marks = {f"w{number}": word for number, word in enumerate(words)}
    values: dict[str, object] = {**marks, **{f"{mark}_in": f"%{_plain(word)}%" for mark, word in marks.items()}}
    values |= {f"{mark}_as": rf"\m(?:{words[word]})" for mark, word in marks.items()}
    every = " AND ".join(f"{_TEXT} ILIKE %({mark}_in)s" for mark in marks)
    close = " AND ".join(
        f"({_TEXT} ILIKE %({mark}_in)s OR %({mark})s <%% {_TEXT}"
        + (f" OR {_TEXT} ~* %({mark}_as)s)" if words[word] else ")")
        for mark, word in marks.items()
    )
    by = f"({every}) DESC, word_similarity(%(text)s, p.name) DESC, word_similarity(%(text)s, p.description) DESC, p.id DESC"
    return await _page(db, f"{_PUBLIC} AND {close}", by, {**values, "text": text, "limit": limit, "offset": offset})


def _plain(word: str) -> str:
    """The word as LIKE takes it literally."""
    return word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


async def _page(db: Database, where: str, by: str, values: dict[str, object]) -> tuple[list[ListedProject], int]:
    rows = await db.fetch(
        "WITH found AS MATERIALIZED ("
        f"SELECT p.id, row_number() OVER (ORDER BY {by}) AS place FROM project p LEFT JOIN project_stat s ON s.project_id = p.id"
        f" WHERE {where})"
        " SELECT n.total, r.* FROM (SELECT count(*) AS total FROM found) n LEFT JOIN ("
        f"SELECT f.place, {SUMMARY} FROM (SELECT id, place FROM found ORDER BY place LIMIT %(limit)s OFFSET %(offset)s) f"
        " JOIN project_record t ON t.id = f.id) r ON true ORDER BY r.place",
        values,
    )
    return typed(ListedProject, [row for row in rows if row["id"] is not None]), int(rows[0]["total"])


async def list_counted_categories(db: Database) -> list[CountedCategory]:
    """All categories by name, with how many projects everybody finds in each and whether any project is in it."""
    return await fetch_rows(
        db,
        CountedCategory,
        "SELECT c.id, c.name, c.short_name, c.description, c.created, c.info,"
        " (SELECT count(*) FROM project p WHERE p.category_id = c.id AND p.published AND p.lock_id IS NULL) AS n_projects,"
        " EXISTS (SELECT FROM project p WHERE p.category_id = c.id) AS used FROM category c ORDER BY lower(c.name), c.id",
    )


async def lock_categories(db: Database) -> list[int]:
    """The ids of all categories, locked until the transaction ends."""
    return [row["id"] for row in await db.fetch("SELECT id FROM category ORDER BY id FOR UPDATE")]


# How many rows of each table are read. What one person does in one project is one act, and so are tasks added at once.
_BACK = 500
_SHOWN = "p.published AND p.lock_id IS NULL"
_LATEST = f"""
WITH run AS (SELECT project_id, user_id, finish_time AS at, trial FROM task_run ORDER BY id DESC LIMIT {_BACK}),
added AS (SELECT project_id, created AS at FROM task ORDER BY id DESC LIMIT {_BACK}),
done AS (SELECT project_id, r.created AS at FROM (SELECT project_id, created FROM result ORDER BY id DESC LIMIT {_BACK}) r
           JOIN project p ON p.id = r.project_id AND NOT p.has_gold),
act AS (
    SELECT 'User' AS action, id AS user_id, NULL::bigint AS project_id, created AS at
      FROM (SELECT id, created FROM account ORDER BY id DESC LIMIT {_BACK}) a UNION ALL
    SELECT 'Project', owner_id, id, first_published FROM (SELECT * FROM project ORDER BY id DESC LIMIT {_BACK}) p UNION ALL
    SELECT 'UserContribution', user_id, project_id, max(at) FROM run WHERE NOT trial AND user_id IS NOT NULL GROUP BY 2, 3 UNION ALL
    SELECT 'Task', NULL, project_id, at FROM added GROUP BY 3, 4 UNION ALL
    SELECT 'TaskCompleted', NULL, project_id, max(at) FROM done GROUP BY 3 UNION ALL
    SELECT 'Blogpost', user_id, project_id, created FROM (SELECT * FROM blogpost ORDER BY id DESC LIMIT {_BACK}) b WHERE b.published
)
SELECT a.action, a.at, u.name AS person, p.name, p.short_name, p.category_id
  FROM act a LEFT JOIN account u ON u.id = a.user_id LEFT JOIN project p ON p.id = a.project_id
 WHERE (a.project_id IS NULL OR {_SHOWN}) AND (a.user_id IS NULL OR NOT u."restrict")
 ORDER BY a.at DESC LIMIT %(maximum)s"""


async def list_latest_acts(db: Database, maximum: int) -> list[FeedEntry]:
    """Acts, the last first: ``action``, ``at``, the ``person`` and the project (name, short_name, category_id), if any."""
    return await fetch_rows(db, FeedEntry, _LATEST, {"maximum": maximum})


MAX_ANSWERS: Final = 200
_MAX_BYTES: Final = 1_000_000


class NewestAnswer(TypedDict):
    """An answer and the task that it is about."""

    id: int
    task_id: int
    info: Json


async def list_newest_answers(db: Database, project_id: int, maximum: int = MAX_ANSWERS) -> list[NewestAnswer]:
    """The newest answers, the newest first: at most so many, and so many as have 1 MB."""
    return await fetch_rows(
        db,
        NewestAnswer,
        "SELECT id, task_id, info FROM (SELECT id, task_id, info, sum(pg_column_size(info)) OVER (ORDER BY id DESC) AS size FROM ("
        "SELECT id, task_id, info FROM task_run WHERE project_id = %(id)s ORDER BY id DESC LIMIT %(maximum)s) r) r"
        " WHERE size <= %(bytes)s ORDER BY id DESC",
        {"id": project_id, "maximum": maximum, "bytes": _MAX_BYTES},
    )


_LEADERS = """(SELECT coalesce(json_agg(json_build_object('name', u.name, 'fullname', CASE WHEN NOT u.privacy_mode THEN u.fullname END,
                                                           'info', json_build_object('avatar_url', u.info->'avatar_url'), 'answers', t.runs)
                                         ORDER BY t.runs DESC, t.actor), '[]')
                  FROM top_volunteers(%(id)s, true, false, %(leaders)s, now_) t JOIN account u ON u.id = substr(t.actor, 3)::bigint) AS leaders"""


_OVERVIEW = Prepared(
    f"""
    SELECT c.name AS subject, c.short_name AS subject_name, h.n AS n_here, a.n AS n_agreement, a.agreement,
           steps_around(p.id) AS steps, {_LEADERS}
      FROM clock() now_, project p JOIN project_ledger l ON l.project_id = p.id JOIN category c ON c.id = p.category_id
     CROSS JOIN LATERAL (
        SELECT count(DISTINCT actor)::int AS n FROM (
            SELECT actor, expires FROM lease WHERE -project_id = -p.id UNION ALL
            SELECT actor, expires FROM expired_lease WHERE project_id = p.id AND placeless AND l.n_gold > 0) x
         WHERE expires > now_ + greatest(l.lease - %(minutes)s * interval '1 minute', interval '0')) h
     CROSS JOIN LATERAL (
        SELECT coalesce(sum(several), 0)::int AS n, (sum(agreement) / nullif(sum(several), 0) / 1e9)::float8 AS agreement FROM outcomes_of(p.id, 1)) a
     WHERE p.id = %(id)s""",
    id="bigint",
    minutes="int",
    leaders="int",
)


async def read_overview(db: Database, project_id: int, minutes: int, leaders: int) -> ProjectOverview:
    """The subject of a project, who is at work, how far its results are agreed on, and who answered most.

    At work are volunteers for whom a task was reserved, or its reservation prolonged, in the last ``minutes``. The page
    of a task prolongs it every five minutes while somebody looks at it.
    """
    return await fetch_row(db, ProjectOverview, _OVERVIEW, {"id": project_id, "minutes": minutes, "leaders": leaders})


async def read_contributors(db: Database, project_id: int, actor: str, leaders: int) -> Contributors:
    """Who answered most in a project, and how many answers one volunteer gave."""
    return await fetch_row(
        db,
        Contributors,
        f"SELECT runs_of(%(id)s, %(actor)s) AS own, {_LEADERS} FROM clock() now_",
        {"id": project_id, "actor": actor, "leaders": leaders},
    )


_ROLES = role_statements.expressions(PROJECT)
_MAY_CHANGE = f"({_ROLES[Role.OWNER]} OR {_ROLES[Role.ADMIN]})"


async def find_own_projects(
    db: Database, who: Requester, words: Sequence[str], recent: Sequence[str], limit: int
) -> list[OwnProject]:
    """Projects that the requester owns or co-owns and whose name has every word.

    Those in ``recent`` (short names) come first, in that order, then those that were changed last.
    """
    marks = {f"w{number}": word for number, word in enumerate(words)}
    every = "".join(f" AND strpos(lower(p.name || ' ' || p.short_name), lower(%({mark})s)) > 0" for mark in marks)
    return await fetch_rows(
        db,
        OwnProject,
        "SELECT p.id, p.name, p.short_name, p.published FROM project p"
        f" WHERE p.owners_ids @> ARRAY[%(me)s::bigint] AND {_ROLES[Role.OWNER]}{every}"
        " ORDER BY array_position(%(recent)s::text[], p.short_name), p.updated DESC, p.id DESC LIMIT %(limit)s",
        {**who.role_values(), **marks, "recent": list(recent), "limit": limit},
    )


async def find_editable_project(db: Database, who: Requester, short_name: str) -> ProjectName | None:
    """The project of that short name if the requester may change it."""
    return await fetch_row_or_none(
        db,
        ProjectName,
        f"SELECT p.id, p.name, p.short_name FROM project p WHERE p.short_name = %(short_name)s AND {_MAY_CHANGE}",
        {**who.role_values(), "short_name": short_name},
    )


async def find_editable_task(db: Database, who: Requester, number: int) -> NumberedTask | None:
    """The task of that id if the requester may change its project."""
    return await fetch_row_or_none(
        db,
        NumberedTask,
        "SELECT t.id, p.name, p.short_name FROM task t JOIN project p ON p.id = t.project_id"
        f" WHERE t.id = %(number)s AND {_MAY_CHANGE}",
        {**who.role_values(), "number": number},
    )


MAX_TASKS_READ = 2000
"""Of so many tasks, the newest, the columns are looked at."""
_MAX_TIMED = 500  # answers, the newest


async def read_publishing_facts(db: Database, project_id: int, draft: bool) -> PublishingFacts:
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


_MAX_VALUES = 4_000_000  # bytes of the columns that are read, as they are stored


async def list_column_values(db: Database, project_id: int, columns: Sequence[str]) -> list[ColumnValues]:
    """These columns of the newest tasks: of as many as have 4 MB there, and at most MAX_TASKS_READ."""
    return await fetch_rows(
        db,
        ColumnValues,
        "SELECT info FROM (SELECT id, info, sum(pg_column_size(info)) OVER (ORDER BY id DESC) AS size FROM ("
        "SELECT id, coalesce((SELECT jsonb_object_agg(c, t.info -> c) FROM unnest(%(columns)s::text[]) c WHERE t.info -> c IS NOT NULL), '{}') AS info"
        "  FROM (SELECT id, info FROM task WHERE project_id = %(id)s ORDER BY id DESC LIMIT %(maximum)s) t) v) s WHERE size <= %(bytes)s",
        {"id": project_id, "columns": list(columns), "maximum": MAX_TASKS_READ, "bytes": _MAX_VALUES},
    )


async def list_column_gaps(db: Database, project_id: int, columns: Sequence[str]) -> list[ColumnGap]:
    """Of each column that the tasks should have, how many of the newest tasks lack it, in the order of the columns."""
    return await fetch_rows(
        db,
        ColumnGap,
        "SELECT c.name AS column, count(*) FILTER (WHERE coalesce(t.info ->> c.name, '') = '') AS lacking, count(*) AS tasks"
        "  FROM (SELECT info FROM task WHERE project_id = %(id)s ORDER BY id DESC LIMIT %(maximum)s) t,"
        "       unnest(%(columns)s::text[]) WITH ORDINALITY c(name, nth) GROUP BY c.nth, c.name ORDER BY c.nth",
        {"id": project_id, "columns": list(columns), "maximum": MAX_TASKS_READ},
    )
