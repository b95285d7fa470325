"""What the page of a project tells of it beside its own figures."""

from __future__ import annotations

from crowdd.storage.database import Database, Prepared, fetch_row
from crowdd.storage.projects.figure_rows import Contributors, ProjectOverview

_LEADERS = """(SELECT coalesce(json_agg(json_build_object('name', u.name, 'fullname', CASE WHEN NOT u.privacy_mode THEN u.fullname END,
                                                           'info', json_build_object('avatar_url', u.info->'avatar_url'), 'answers', t.runs)
                                         ORDER BY t.runs DESC, t.actor), '[]')
                  FROM top_volunteers(%(id)s, true, false, %(leaders)s, now_) t JOIN account u ON u.id = substr(t.actor, 3)::bigint) AS leaders"""


_OVERVIEW = Prepared(
    f"""
    SELECT c.name AS subject, c.short_name AS subject_name, h.n AS n_here, a.n AS n_agreement, a.agreement,
           {_LEADERS}
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


async def overview(db: Database, project_id: int, minutes: int, leaders: int) -> ProjectOverview:
    """The subject of a project, who is at work, how far its results are agreed on, and who answered most.

    At work are volunteers for whom a task was reserved, or its reservation prolonged, in the last ``minutes``. The page
    of a task prolongs it every five minutes while somebody looks at it.
    """
    return await fetch_row(db, ProjectOverview, _OVERVIEW, {"id": project_id, "minutes": minutes, "leaders": leaders})


async def contributors(db: Database, project_id: int, actor: str, leaders: int) -> Contributors:
    """Who answered most in a project, and how many answers one volunteer gave."""
    return await fetch_row(
        db,
        Contributors,
        f"SELECT runs_of(%(id)s, %(actor)s) AS own, {_LEADERS} FROM clock() now_",
        {"id": project_id, "actor": actor, "leaders": leaders},
    )
