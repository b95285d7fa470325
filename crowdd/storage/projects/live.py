"""The state of a project for clients that follow it."""

from __future__ import annotations

from crowdd.storage.database import Database, fetch_row_or_none
from crowdd.storage.projects.figure_rows import ProjectState


async def state(db: Database, project_id: int) -> ProjectState | None:
    """Figures of a project, and what decides who may see them; None when it is gone."""
    return await fetch_row_or_none(
        db,
        ProjectState,
        "SELECT t.n_tasks, t.n_completed_tasks, t.n_task_runs, t.n_volunteers, t.overall_progress, t.last_activity_raw,"
        " t.short_name, t.published, t.first_published, t.lock_id, t.draft_key, t.owners_ids FROM project_record t WHERE t.id = %(id)s",
        {"id": project_id},
    )
