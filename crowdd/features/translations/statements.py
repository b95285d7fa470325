"""SQL of translations of projects."""

from __future__ import annotations

from collections.abc import Mapping

from crowdd.database.access import Database, as_json, fetch_row_or_none, fetch_rows, one
from crowdd.features.translations.rows import SourceProject, StoredTranslation
from crowdd.kinds.translations import Translated


async def find_source(db: Database, project_id: int, language: str) -> SourceProject | None:
    """The texts of a project beside their translation into a language."""
    return await fetch_row_or_none(
        db,
        SourceProject,
        "SELECT p.name, p.short_name, p.description, p.long_description, p.info, coalesce(x.version, 0) AS version,"
        " coalesce(x.strings, '{}') AS strings FROM project p"
        " LEFT JOIN project_translation x ON x.project_id = p.id AND x.language = %(language)s WHERE p.id = %(id)s",
        {"id": project_id, "language": language},
    )


async def list_translations(db: Database, project_id: int) -> list[StoredTranslation]:
    """All translations of a project."""
    return await fetch_rows(
        db,
        StoredTranslation,
        "SELECT language, version, strings FROM project_translation WHERE project_id = %(id)s ORDER BY language",
        {"id": project_id},
    )


async def hold_translation(db: Database, project_id: int, language: str) -> StoredTranslation | None:
    """The translation into a language for those who change it: others wait. None: there is no such project."""
    values = {"id": project_id, "language": language}
    await db.execute(
        "INSERT INTO project_translation (project_id, language)"
        " SELECT id, %(language)s FROM project WHERE id = %(id)s FOR KEY SHARE ON CONFLICT DO NOTHING",
        values,
    )
    return await fetch_row_or_none(
        db,
        StoredTranslation,
        "SELECT language, version, strings FROM project_translation"
        " WHERE project_id = %(id)s AND language = %(language)s FOR UPDATE",
        values,
    )


async def write_translation(
    db: Database, project_id: int, language: str, strings: Mapping[str, Translated], version: int
) -> None:
    """Replaces what is stored of a translation."""
    await db.execute(
        "UPDATE project_translation SET strings = %(strings)s, version = %(version)s"
        " WHERE project_id = %(id)s AND language = %(language)s",
        {"id": project_id, "language": language, "strings": as_json(strings), "version": version},
    )


async def delete_translation(db: Database, project_id: int, language: str) -> bool:
    """Removes a translation; whether there was one."""
    sql = "DELETE FROM project_translation WHERE project_id = %(id)s AND language = %(language)s"
    return await db.execute(sql, {"id": project_id, "language": language}) > 0


async def is_name_taken(db: Database, project_id: int, name: str) -> bool:
    """Whether another project has this name, or one that looks like it."""
    row = await one(
        db,
        "SELECT EXISTS (SELECT FROM project WHERE id <> %(id)s"
        " AND (lower(name) = lower(%(name)s) OR name_skeleton = nullif(public.skeleton(%(name)s), ''))) AS taken",
        {"id": project_id, "name": name},
    )
    return bool(row["taken"])
