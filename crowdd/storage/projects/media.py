"""Files of rows: blog posts, helping materials, announcements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from crowdd.kinds.kind import Kind
from crowdd.storage.database import Database, as_json, one_or_none


async def file_of(db: Database, kind: Kind, row_id: int) -> str | None:
    """The path of a row's file below the folder of uploads."""
    row = await one_or_none(db, f"SELECT media_file FROM {kind.table} WHERE id = %(id)s", {"id": row_id})
    return row["media_file"] if row else None


async def set_file(db: Database, kind: Kind, row_id: int, columns: Mapping[str, object]) -> str | None:
    """Writes media_url, media_file and info of a row and returns the path of the file it had before."""
    before = await file_of(db, kind, row_id)
    await db.execute(
        f"UPDATE {kind.table} SET media_url = %(media_url)s, media_file = %(media_file)s, info = %(info)s WHERE id = %(id)s",
        {**columns, "info": as_json(columns["info"]), "id": row_id},
    )
    return before


async def owners_there(db: Database, containers: list[str]) -> set[str]:
    """Those of the containers (``project-<id>``, ``user-<id>``) whose project or account exists."""
    rows = await db.fetch(
        "SELECT c FROM unnest(%(containers)s::text[]) c WHERE CASE split_part(c, '-', 1)"
        " WHEN 'project' THEN EXISTS (SELECT FROM project WHERE id = split_part(c, '-', 2)::bigint)"
        " ELSE EXISTS (SELECT FROM account WHERE id = split_part(c, '-', 2)::bigint) END",
        {"containers": containers},
    )
    return {row["c"] for row in rows}


async def named(db: Database, kinds: Iterable[Kind], paths: list[str]) -> set[str]:
    """Those of the paths (``<container>/<name>``) that a row has: of one of the kinds, a picture of its account, or what
    a project says of itself. What is not found here is removed: a new use of ``Uploads.store`` has to be added.
    """
    of_rows = [
        f"SELECT media_file AS path FROM {kind.table} WHERE media_file = ANY (%(paths)s::text[])" for kind in kinds
    ]
    of_projects = (
        "SELECT path FROM unnest(%(paths)s::text[]) path JOIN project p ON p.id = substring(path FROM '^project-([0-9]+)/')::bigint"
        " WHERE position(split_part(path, '/', 2) IN p.info::text || p.long_description) > 0"
    )
    of_people = (
        "SELECT path FROM unnest(%(paths)s::text[]) path JOIN account a ON a.id = substring(path FROM '^user-([0-9]+)/')::bigint"
        " WHERE a.avatar_file = path"
    )
    rows = await db.fetch(" UNION ".join([*of_rows, of_projects, of_people]), {"paths": paths})
    return {row["path"] for row in rows}
