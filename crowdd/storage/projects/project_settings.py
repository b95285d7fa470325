"""The settings of a project as values, and what its owners should look at."""

from __future__ import annotations

from crowdd.storage.database import Database, fetch_row
from crowdd.storage.projects.owner_rows import ProjectAttention, ProjectSettings

_WEBHOOK = (
    "p.webhook IS NOT NULL AND coalesce(NOT w.active, false) AS webhook_off,"
    " p.webhook IS NOT NULL AND coalesce(w.active AND w.failures >= %(failing)s, false) AS webhook_failing"
)
MAX_DISPUTED = 1000
"""So many tasks with an agreement below 0.3 are counted."""
_IMPORTS = ["import_tasks", "check_import"]  # background tasks whose failure is the failure of an import


async def attention(db: Database, project_id: int, failing: int, days: int) -> ProjectAttention:
    """What needs attention. ``failing``: failures in a row; ``days``: how long a failed background task is named."""
    return await fetch_row(
        db,
        ProjectAttention,
        f"SELECT i.id AS import_id, i.state AS import_state, {_WEBHOOK},"
        " (SELECT count(*) FROM delivery d WHERE d.project_id = p.id AND d.state = 'failed') AS n_failed_deliveries,"
        " (SELECT count(*) FROM queue_item q WHERE q.project_id = p.id AND q.state = 'dead' AND q.name <> ALL (%(imports)s)"
        "     AND q.ended > clock() - %(days)s * interval '1 day') AS n_failed_work, b.n_broken, b.broken_task,"
        " (SELECT count(*) FROM task_comment c WHERE c.project_id = p.id AND NOT c.settled) AS n_comments,"
        " (SELECT count(*) FROM (SELECT FROM result r WHERE r.project_id + 0 = p.id AND r.last_version AND r.agreement < 0.3"
        "     LIMIT %(disputed)s) r) AS n_disputed"
        "  FROM project p LEFT JOIN webhook w ON w.project_id = p.id"
        "  LEFT JOIN LATERAL (SELECT i.id, import_state(i.id) AS state FROM task_import i WHERE i.project_id = p.id ORDER BY i.id DESC LIMIT 1) i ON true"
        " CROSS JOIN LATERAL (SELECT count(*) AS n_broken, min(s.task_id) AS broken_task FROM task_skip s"
        "        JOIN task_ledger t USING (project_id, task_id) WHERE s.project_id = p.id AND s.reason = 'broken' AND NOT t.retired) b"
        " WHERE p.id = %(id)s",
        {"id": project_id, "failing": failing, "days": days, "imports": _IMPORTS, "disputed": MAX_DISPUTED + 1},
    )


async def current(db: Database, project_id: int, failing: int) -> ProjectSettings:
    """The values that do not stand in the row of the project."""
    return await fetch_row(
        db,
        ProjectSettings,
        "SELECT f.n_wanted, f.runs_anonymous AS n_anonymous, l.counted_per_network, c.name AS category,"
        " EXISTS (SELECT FROM task_ledger t WHERE t.project_id = p.id AND t.open AND t.priority_0 > 0) AS prioritised,"
        " (SELECT count(DISTINCT actor) FROM lease WHERE project_id = p.id AND expires > clock()) AS n_at_work,"
        f" (SELECT count(*) FROM barred_volunteer b WHERE b.project_id = p.id) AS n_barred, cardinality(p.reviewer_ids) AS n_reviewers, {_WEBHOOK}"
        "  FROM project p JOIN project_ledger l ON l.project_id = p.id JOIN public_figures f ON f.project_id = p.id"
        "  JOIN category c ON c.id = p.category_id LEFT JOIN webhook w ON w.project_id = p.id"
        " WHERE p.id = %(id)s",
        {"id": project_id, "failing": failing},
    )
