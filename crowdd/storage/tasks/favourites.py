"""Favourites: tasks that people marked."""

from __future__ import annotations

from crowdd.storage.database import Database


async def add(db: Database, user_id: int, task_id: int) -> None:
    """Marks a task; doing it twice changes nothing."""
    await db.execute(
        "INSERT INTO favourite (project_id, task_id, user_id, created) SELECT project_id, id, %(user)s, clock() FROM task WHERE id = %(task)s"
        " ON CONFLICT DO NOTHING",
        {"user": user_id, "task": task_id},
    )


async def remove(db: Database, user_id: int, task_id: int) -> bool:
    """Takes a mark away; False when there was none."""
    sql = "DELETE FROM favourite WHERE user_id = %(user)s AND task_id = %(task)s"
    return await db.execute(sql, {"user": user_id, "task": task_id}) > 0
