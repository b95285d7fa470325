"""Categories with the number of their projects."""

from __future__ import annotations

from crowdd.storage.database import Database, fetch_rows
from crowdd.storage.projects.list_rows import CountedCategory


async def counted(db: Database) -> list[CountedCategory]:
    """All categories by name, with how many projects everybody finds in each and whether any project is in it."""
    return await fetch_rows(
        db,
        CountedCategory,
        "SELECT c.id, c.name, c.short_name, c.description, c.created, c.info,"
        " (SELECT count(*) FROM project p WHERE p.category_id = c.id AND p.published AND p.lock_id IS NULL) AS n_projects,"
        " EXISTS (SELECT FROM project p WHERE p.category_id = c.id) AS used FROM category c ORDER BY lower(c.name), c.id",
    )


async def hold_all(db: Database) -> list[int]:
    """The ids of all categories, locked until the transaction ends."""
    return [row["id"] for row in await db.fetch("SELECT id FROM category ORDER BY id FOR UPDATE")]
