"""What analyses found, by task and by volunteer: storing it in chunks, and pages of it."""

from __future__ import annotations

from crowdd.storage.analyses.rows import TaskEstimate, VolunteerEstimate
from crowdd.storage.core import batch_delete
from crowdd.storage.core.keyset import Keyset, KeysetPage
from crowdd.storage.database import Database, fetch_rows, one

_KEY = "project_id = %(project)s AND analysis_id = %(analysis)s"
# Whoever deletes the analysis waits for the chunk that is being stored; without the analysis nothing is stored.
_KEPT = "FROM analysis a WHERE a.id = %(analysis)s AND a.project_id = %(project)s AND a.ended IS NULL FOR KEY SHARE"


async def add_tasks(tx: Database, project_id: int, analysis_id: int, choices: str, items: str) -> tuple[bool, int]:
    """Stores what is known of tasks: ``items`` is a JSON array of [task, class or null, [probabilities]].

    Returns whether the analysis is still there, and of how many tasks the result is another one.
    """
    row = await one(
        tx,
        f"WITH kept AS MATERIALIZED (SELECT 1 {_KEPT}), stored AS (INSERT INTO analysis_task"
        " SELECT %(project)s, %(analysis)s, n.task, n.class, n.posterior, r.id IS NOT NULL"
        " AND r.consensus IS DISTINCT FROM %(choices)s::jsonb->(n.class - 1) FROM ("
        "SELECT (e->>0)::bigint AS task, (e->>1)::smallint AS class,"
        " ARRAY(SELECT p::real FROM jsonb_array_elements_text(e->2) p) AS posterior FROM jsonb_array_elements(%(items)s::jsonb) e) n"
        " LEFT JOIN result r ON r.project_id = %(project)s AND r.task_id = n.task AND r.last_version"
        " WHERE EXISTS (SELECT FROM kept) RETURNING different)"
        " SELECT EXISTS (SELECT FROM kept) AS kept, (SELECT count(*) FROM stored WHERE different) AS n",
        {"project": project_id, "analysis": analysis_id, "choices": choices, "items": items},
    )
    return bool(row["kept"]), int(row["n"])


async def add_volunteers(tx: Database, project_id: int, analysis_id: int, items: str) -> bool:
    """Stores what is known of volunteers: ``items`` is a JSON array of [actor, answers, accuracy, skill or null].

    Returns whether the analysis is still there.
    """
    row = await one(
        tx,
        f"WITH kept AS MATERIALIZED (SELECT 1 {_KEPT}), stored AS (INSERT INTO analysis_volunteer"
        " SELECT %(project)s, %(analysis)s, volunteer_word(%(project)s, e->>0), (e->>1)::bigint, (e->>2)::real, (e->>3)::real"
        " FROM jsonb_array_elements(%(items)s::jsonb) e WHERE EXISTS (SELECT FROM kept))"
        " SELECT EXISTS (SELECT FROM kept) AS kept",
        {"project": project_id, "analysis": analysis_id, "items": items},
    )
    return bool(row["kept"])


async def clear(db: Database, project_id: int, analysis_id: int) -> None:
    """Deletes what an analysis found."""
    values = {"project": project_id, "analysis": analysis_id}
    for table in ("analysis_task", "analysis_volunteer"):
        await batch_delete.sweep(db, table, _KEY, values)


async def tasks(
    db: Database, project_id: int, analysis_id: int, place: Keyset, *, different: bool
) -> KeysetPage[TaskEstimate]:
    """A page of the tasks by their ids. ``different``: only those whose result was another one.

    ``consensus`` and ``result`` are of the last version that the task has now.
    """
    only = " AND e.different" if different else ""
    rows = await fetch_rows(
        db,
        TaskEstimate,
        "SELECT e.task_id, e.class AS number, e.posterior, e.different, r.id IS NOT NULL AS result, r.consensus"
        f" FROM (SELECT * FROM analysis_task e WHERE {_KEY}{only} AND {place.beside('analysis_task', 'e.task_id', ['e.task_id'])}"
        f" {place.limited(['e.task_id'])}) e"
        " LEFT JOIN result r ON r.project_id = %(project)s AND r.task_id = e.task_id AND r.last_version"
        f" ORDER BY e.task_id {'DESC' if place.reads_down else 'ASC'}",
        {"project": project_id, "analysis": analysis_id, **place.values()},
    )
    return place.part(rows)


async def volunteers(db: Database, project_id: int, analysis_id: int, place: Keyset) -> KeysetPage[VolunteerEstimate]:
    """A page of the volunteers by their accuracy."""
    keys = ["accuracy", "volunteer"]
    here = f"(SELECT * FROM analysis_volunteer WHERE {_KEY}) v"
    rows = await fetch_rows(
        db,
        VolunteerEstimate,
        f"SELECT volunteer, n_answers AS answers, accuracy, skill FROM analysis_volunteer WHERE {_KEY}"
        f" AND {place.beside(here, 'volunteer', keys)} {place.limited(keys)}",
        {"project": project_id, "analysis": analysis_id, **place.values()},
    )
    return place.part(rows)
