"""SQL of counters, figures and rankings, and of the live state of a project (definitions/projects/50_statistics.sql).

Counters are folded by a job, and read together with what is not folded yet.
"""

from __future__ import annotations

from collections.abc import Sequence

from crowdd.database.access import Database, Prepared, fetch_row, fetch_row_or_none, fetch_rows
from crowdd.features.projects.rows import (
    BusyProject,
    HomeFigures,
    ListSize,
    ProjectFigures,
    ProjectState,
    SiteFigures,
    TopVolunteers,
    TwoWeeks,
)


def _top(recent: str) -> str:
    """Select items: what everybody may know of the volunteers who did most in project p."""
    return f"""
        (SELECT coalesce(json_agg(json_build_object('ip', NULL, 'tasks', t.runs, 'volunteer', (
               SELECT w.word FROM volunteer_word w WHERE w.project_id = p.id AND w.actor = t.actor))
                                  ORDER BY t.runs DESC, t.actor), '[]')
           FROM top_volunteers(p.id, false, {recent}, 5, n.now) t) AS anonymous,
        (SELECT coalesce(json_agg(json_build_object('name', a.name, 'fullname', CASE WHEN NOT a.privacy_mode THEN a.fullname END,
                                                    'tasks', t.runs, 'restrict', a."restrict") ORDER BY t.runs DESC, t.actor), '[]')
           FROM top_volunteers(p.id, true, {recent}, 5, n.now) t JOIN account a ON a.id = substr(t.actor, 3)::bigint) AS authenticated"""


_TWO_WEEKS = Prepared(
    f"""
    SELECT p.id, n.now, first_day(n.now) AS since, r.people_anonymous, r.people_authenticated,
           (SELECT coalesce(json_agg(h ORDER BY h.hour), '[]') FROM shown_hours(p.id, first_day(n.now)) h) AS hours,
           {_top("true")}
      FROM unnest(%(projects)s) p(id), (SELECT clock() AS now) n, LATERAL recent_people(p.id, n.now) r""",
    projects="bigint[]",
)
_TOP = Prepared(
    f"SELECT {_top('false')} FROM (SELECT %(project)s AS id) p, (SELECT clock() AS now) n", project="bigint"
)
_FIGURES = Prepared(
    "SELECT f.project_id, f.n_tasks, f.n_wanted, f.n_counted, f.n_completed_tasks, f.n_results, f.seconds::float8 AS seconds,"
    " f.runs_anonymous, f.runs_authenticated, f.people_anonymous, f.people_authenticated, p.first_published, p.published"
    " FROM public_figures f JOIN project p ON p.id = f.project_id WHERE f.project_id = %(project)s",
    project="bigint",
)


async def read_two_weeks(db: Database, projects: Sequence[int]) -> list[TwoWeeks]:
    """What happened in projects since the first of the last fourteen days, which is ``since``; it is ``now``.

    Each row has the project's ``id``, ``hours`` in which something happened, how many ``people_anonymous`` and
    ``people_authenticated`` answered, and of each sort the five who did most: ``anonymous``, ``authenticated``.
    """
    return await fetch_rows(db, TwoWeeks, _TWO_WEEKS, {"projects": list(projects)})


async def list_top_volunteers(db: Database, project_id: int) -> TopVolunteers:
    """Those who have answered most in a project: five ``anonymous`` and five ``authenticated``."""
    return await fetch_row(db, TopVolunteers, _TOP, {"project": project_id})


async def read_project_figures(db: Database, project_id: int) -> ProjectFigures:
    """The figures of a project, anonymous volunteers and people with an account apart."""
    return await fetch_row(db, ProjectFigures, _FIGURES, {"project": project_id})


_OF_SITE = Prepared(
    "SELECT s.*, (SELECT count(*) FROM project WHERE published) AS n_published,"
    " (SELECT count(*) FROM project WHERE NOT published) AS n_draft,"
    " (SELECT total FROM place_of(NULL)) AS n_accounts FROM site_figures(%(drafts)s) s",
    drafts="boolean",
)
_OF_HOME = Prepared(
    "SELECT s.n_task_runs AS n_answers, people_with_answers() + s.n_anonymous AS n_people, open_projects() AS n_open,"
    " (SELECT coalesce(json_object_agg(c.short_name, (SELECT count(*) FROM project p WHERE p.category_id = c.id AND p.published"
    " AND p.lock_id IS NULL)), '{}') FROM category c) AS of_category"
    " FROM site_figures(false) s"
)


async def read_site_figures(db: Database, *, drafts: bool = True) -> SiteFigures:
    """Sums over the whole site (interface: globalstats); ``drafts``: with projects that were never published."""
    return await fetch_row(db, SiteFigures, _OF_SITE, {"drafts": drafts})


async def read_home_figures(db: Database) -> HomeFigures:
    """``n_answers`` in projects that were published, ``n_people`` who gave some, ``n_open`` projects with a task left.

    ``of_category``: how many projects each category has, by its short name.
    """
    return await fetch_row(db, HomeFigures, _OF_HOME)


async def count_projects_by_category(db: Database) -> list[ListSize]:
    """short_name and n of each category: published projects without a password; and of featured ones and drafts."""
    return await fetch_rows(
        db,
        ListSize,
        "SELECT c.short_name, count(p.id) AS n FROM category c LEFT JOIN project p ON p.category_id = c.id AND p.published AND p.lock_id IS NULL"
        " GROUP BY c.id, c.short_name UNION ALL"
        " SELECT 'featured', count(*) FROM project WHERE featured AND published AND lock_id IS NULL UNION ALL"
        " SELECT 'draft', count(*) FROM project WHERE NOT published ORDER BY 1",
    )


async def list_busiest_projects(db: Database, maximum: int) -> list[BusyProject]:
    """Published projects with the most answers within 24 hours: this one and the 23 before."""
    return await fetch_rows(
        db,
        BusyProject,
        "WITH h AS (SELECT project_id, runs_anonymous + runs_authenticated AS runs FROM project_hour WHERE hour > clock() - interval '24 hours'"
        " UNION ALL SELECT project_id, runs FROM stat_delta WHERE xact >= (SELECT unfolded_from()) AND hour > clock() - interval '24 hours')"
        " SELECT p.id, p.name, p.short_name, p.info, sum(h.runs)::bigint AS n_answers FROM h JOIN project p ON p.id = h.project_id"
        " WHERE p.published AND p.lock_id IS NULL GROUP BY p.id HAVING sum(h.runs) > 0 ORDER BY 5 DESC, 1 LIMIT %(maximum)s",
        {"maximum": maximum},
    )


async def count_last_hours(db: Database, hours: int) -> list[int]:
    """Answers in projects that were published, in each of the last ``hours``, the one that is not over last."""
    rows = await db.fetch(
        "WITH t AS (SELECT date_trunc('hour', clock()) AS now), h AS ("
        " SELECT hour, runs_anonymous + runs_authenticated AS runs FROM project_hour JOIN project_ledger l USING (project_id) WHERE NOT l.trial AND hour > (SELECT now FROM t) - %(hours)s * interval '1 hour'"
        " UNION ALL SELECT hour, runs FROM stat_delta JOIN project_ledger l USING (project_id)"
        " WHERE NOT l.trial AND xact >= (SELECT unfolded_from()) AND hour > (SELECT now FROM t) - %(hours)s * interval '1 hour'), s AS (SELECT hour, sum(runs) AS runs FROM h GROUP BY 1)"
        " SELECT greatest(0, coalesce(s.runs, 0))::bigint AS runs FROM t, generate_series(t.now - (%(hours)s - 1) * interval '1 hour', t.now, interval '1 hour') x(hour)"
        " LEFT JOIN s USING (hour) ORDER BY x.hour",
        {"hours": hours},
    )
    return [row["runs"] for row in rows]


async def read_project_state(db: Database, project_id: int) -> ProjectState | None:
    """Figures of a project, and what decides who may see them; None when it is gone."""
    return await fetch_row_or_none(
        db,
        ProjectState,
        "SELECT t.n_tasks, t.n_completed_tasks, t.n_task_runs, t.n_volunteers, t.overall_progress, t.last_activity_raw,"
        " t.short_name, t.published, t.first_published, t.lock_id, t.draft_key, t.owners_ids FROM project_record t WHERE t.id = %(id)s",
        {"id": project_id},
    )
