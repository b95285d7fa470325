"""Files of rows: blog posts, helping materials, announcements."""

from __future__ import annotations

from typing import Any

from crowdd.kinds.kind import Kind
from crowdd.storage.database import Database, as_json, one_or_none


async def file_of(db: Database, kind: Kind, row_id: int) -> str | None:
    """The path of a row's file below the folder of uploads."""
    row = await one_or_none(db, f"SELECT media_file FROM {kind.table} WHERE id = %(id)s", {"id": row_id})
    return row["media_file"] if row else None


async def set_file(db: Database, kind: Kind, row_id: int, columns: dict[str, Any]) -> str | None:
    """Writes media_url, media_file and info of a row and returns the path of the file it had before."""
    before = await file_of(db, kind, row_id)
    await db.execute(
        f"UPDATE {kind.table} SET media_url = %(media_url)s, media_file = %(media_file)s, info = %(info)s WHERE id = %(id)s",
        {**columns, "info": as_json(columns["info"]), "id": row_id},
    )
    return before
