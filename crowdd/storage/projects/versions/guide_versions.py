"""Versions of the guides of projects."""

from __future__ import annotations

from typing import Final

from crowdd.storage.database import Database, as_json, fetch_row_or_none, fetch_rows, one
from crowdd.storage.projects.versions.guide_rows import GuideVersion, GuideVersionSummary
from crowdd.values import Values

KEPT: Final = 20  # of a guide


async def add(db: Database, project_id: int, guide: str, document: Values) -> int:
    """Keeps the next version of a guide, forgets the oldest beyond KEPT, and returns its number.

    The caller holds the row of the project.
    """
    row = await one(
        db,
        "INSERT INTO guide_version (project_id, guide, version, created, document)"
        " SELECT %(project_id)s, %(guide)s, coalesce(max(version), 0) + 1, clock(), %(document)s FROM guide_version"
        " WHERE project_id = %(project_id)s AND guide = %(guide)s RETURNING version",
        {"project_id": project_id, "guide": guide, "document": as_json(document)},
    )
    number = int(row["version"])
    await db.execute(
        "DELETE FROM guide_version WHERE project_id = %(project_id)s AND guide = %(guide)s AND version <= %(last)s",
        {"project_id": project_id, "guide": guide, "last": number - KEPT},
    )
    return number


async def listed(db: Database, project_id: int, guide: str) -> list[GuideVersionSummary]:
    """The versions that are kept, the newest first."""
    return await fetch_rows(
        db,
        GuideVersionSummary,
        "SELECT version, created, octet_length(document::text) AS bytes FROM guide_version"
        " WHERE project_id = %(project_id)s AND guide = %(guide)s ORDER BY version DESC",
        {"project_id": project_id, "guide": guide},
    )


async def get(db: Database, project_id: int, guide: str, version: int) -> GuideVersion | None:
    """One version."""
    return await fetch_row_or_none(
        db,
        GuideVersion,
        "SELECT version, created, document FROM guide_version"
        " WHERE project_id = %(project_id)s AND guide = %(guide)s AND version = %(version)s",
        {"project_id": project_id, "guide": guide, "version": version},
    )
