"""All versions of a document of a project, by the key of ``info`` that has the newest: to move them to another server."""

from __future__ import annotations

from collections.abc import Sequence

from crowdd.kinds.questions import QUESTIONS
from crowdd.storage.database import Database, as_json, fetch_rows
from crowdd.storage.projects.versions.version_rows import KeptVersion

_OF_QUESTIONS = "SELECT version, created, questions AS document FROM question_version WHERE project_id = %(id)s"
_OF_GUIDE = "SELECT version, created, document FROM guide_version WHERE project_id = %(id)s AND guide = %(key)s"
_ADD_QUESTIONS = (
    "INSERT INTO question_version (project_id, version, created, questions)"
    " SELECT %(id)s, (v->>'version')::int, (v->>'created')::timestamptz, v->'document'"
    " FROM jsonb_array_elements(%(versions)s) v"
)
_ADD_GUIDES = (
    "INSERT INTO guide_version (project_id, guide, version, created, document)"
    " SELECT %(id)s, %(key)s, (v->>'version')::int, (v->>'created')::timestamptz, v->'document'"
    " FROM jsonb_array_elements(%(versions)s) v"
)


async def kept(db: Database, project_id: int, key: str) -> list[KeptVersion]:
    """The versions that are kept, the oldest first."""
    sql = _OF_QUESTIONS if key == QUESTIONS else _OF_GUIDE
    return await fetch_rows(db, KeptVersion, f"{sql} ORDER BY version", {"id": project_id, "key": key})


async def restore(db: Database, project_id: int, key: str, versions: Sequence[KeptVersion], number_key: str) -> None:
    """Adds versions to a project that has none, and sets the number (``number_key`` of ``info``) that the next one follows."""
    values = {"id": project_id, "key": key, "versions": as_json(list(versions))}
    await db.execute(_ADD_QUESTIONS if key == QUESTIONS else _ADD_GUIDES, values)
    await db.execute(
        "UPDATE project SET info = info || jsonb_build_object(%(key)s::text, %(last)s::int) WHERE id = %(id)s",
        {"id": project_id, "key": number_key, "last": max(version["version"] for version in versions)},
    )
