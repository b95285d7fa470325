"""Tasks that came with a template, until they are deleted or their owner keeps them."""

from __future__ import annotations

from collections.abc import Sequence

from crowdd.database.access import Database, one


async def mark_samples(db: Database, project_id: int, ids: Sequence[int]) -> None:
    """Notes that these tasks are samples."""
    await db.execute(
        "INSERT INTO sample_task (project_id, task_id) SELECT %(project)s, unnest(%(ids)s::bigint[]) ON CONFLICT DO NOTHING",
        {"project": project_id, "ids": list(ids)},
    )


async def count_samples(db: Database, project_id: int) -> int:
    """How many samples a project has."""
    return int(
        (await one(db, "SELECT count(*) AS n FROM sample_task WHERE project_id = %(id)s", {"id": project_id}))["n"]
    )


async def list_samples(db: Database, project_id: int, maximum: int) -> list[int]:
    """The samples of a project."""
    rows = await db.fetch(
        "SELECT task_id FROM sample_task WHERE project_id = %(id)s ORDER BY task_id LIMIT %(maximum)s",
        {"id": project_id, "maximum": maximum},
    )
    return [row["task_id"] for row in rows]


async def keep_samples(db: Database, project_id: int) -> int:
    """Makes the samples of a project tasks like others; how many there were."""
    return await db.execute("DELETE FROM sample_task WHERE project_id = %(id)s", {"id": project_id})
