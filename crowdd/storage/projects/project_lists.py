"""Pages of lists of projects: by category or another filter, or by a search.

Which projects stand on a page is found by narrow rows (the project's own and its folded counters); the exact figures are
computed for the projects of that page alone, so that a page costs the same on a site of ten or ten thousand, but for
counting and sorting these rows.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from crowdd.storage.core.records import CONTRIB_BUTTON
from crowdd.storage.database import Database, fetch_rows, typed
from crowdd.storage.projects.list_rows import ListedProject, ProjectSummary
from crowdd.storage.projects.projects import SUMMARY

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
# Each key of a summary, and what the database orders by for it.
ORDERS: Mapping[str, str] = {
    "id": "p.id",
    "name": "lower(p.name)",
    "short_name": "p.short_name",
    "description": "lower(p.description)",
    "long_description": "lower(p.long_description)",
    "created": "p.created",
    "updated": "p.updated",
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


async def list_page(
    db: Database, project_filter: ProjectFilter, order: str | None, descending: bool, limit: int, offset: int
) -> tuple[list[ListedProject], int]:
    """A page of summaries and how many there are; ``order`` is a key of ORDERS, None: the most active first."""
    where = " AND ".join(_conditions(project_filter))
    by = _LIVELIEST if order is None else f"{ORDERS[order]} {'DESC' if descending else 'ASC'} NULLS LAST, p.id DESC"
    values: dict[str, object] = {
        "category": project_filter.category_id,
        "actor": project_filter.actor,
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
    if project_filter.actor:
        conditions.append(
            "p.id IN (SELECT project_id FROM (SELECT project_id, runs FROM volunteer WHERE actor = %(actor)s UNION ALL SELECT project_id, runs"
            " FROM stat_delta WHERE xact >= (SELECT unfolded_from()) AND actor = %(actor)s) r GROUP BY 1 HAVING sum(runs) > 0)"
        )
    return conditions


async def to_continue(db: Database, actor: str, maximum: int) -> list[ProjectSummary]:
    """Summaries of projects in which a volunteer answered and can answer another task now, the newest first."""
    where = " AND ".join(_conditions(ProjectFilter(actor=actor)))
    return await fetch_rows(
        db,
        ProjectSummary,
        f"SELECT {SUMMARY} FROM project_record t JOIN project p ON p.id = t.id"
        f" WHERE {where} AND {CONTRIB_BUTTON} = 'can_contribute' ORDER BY t.id DESC LIMIT %(maximum)s",
        {"actor": actor, "maximum": maximum},
    )


async def search(
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
