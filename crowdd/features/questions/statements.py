"""SQL of the versions of questions and guides, and of samples of tasks and answers that questions are compared with.

All versions of a document are read by the key of ``info`` that has the newest, to move them to another server.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from crowdd.database.access import Database, as_json, fetch_row_or_none, fetch_rows, one, one_or_none
from crowdd.features.questions.rows import FilledColumn, GuideVersion, GuideVersionSummary, KeptVersion, QuestionVersion
from crowdd.kernel.values import JsonObject, Values
from crowdd.kinds.questions import QUESTIONS

_EACH = 40  # tasks at the beginning, and at the end
_MAX_COLUMNS = 100
_MAX_COLUMN = 200  # characters
_MAX_ANSWERS = 200
_MAX_BYTES = 1_000_000  # of answers, as they are stored


async def list_question_versions(db: Database, project_id: int) -> list[QuestionVersion]:
    """The versions that are kept, the newest first: at most 100 (``keep_questions``)."""
    sql = "SELECT version, created FROM question_version WHERE project_id = %(id)s ORDER BY version DESC"
    return await fetch_rows(db, QuestionVersion, sql, {"id": project_id})


async def find_questions(db: Database, project_id: int, version: int) -> JsonObject | None:
    """The list of questions of a version, None when it is not kept."""
    sql = "SELECT questions FROM question_version WHERE project_id = %(id)s AND version = %(version)s"
    row = await one_or_none(db, sql, {"id": project_id, "version": version})
    return row["questions"] if row else None


async def list_filled_columns(db: Database, project_id: int) -> tuple[int, list[FilledColumn]]:
    """How many tasks were looked at, the first and the last ones, and the columns that have a value in some of them.

    Columns are in the order in which they are found.
    """
    sample = (
        "WITH s AS MATERIALIZED ((SELECT task_id AS id FROM task_ledger WHERE project_id = %(id)s ORDER BY task_id LIMIT %(each)s)"
        " UNION (SELECT task_id FROM task_ledger WHERE project_id = %(id)s ORDER BY task_id DESC LIMIT %(each)s)),"
        " t AS (SELECT id, CASE WHEN jsonb_typeof(info) = 'object' THEN info ELSE '{}' END AS info FROM task JOIN s USING (id) WHERE project_id = %(id)s)"
    )
    row = await one(
        db,
        f"{sample} SELECT (SELECT count(*) FROM t) AS n, coalesce((SELECT json_agg(json_build_object('name', k, 'filled', filled) ORDER BY first, place)"
        " FROM (SELECT k, count(*) AS filled, min(id) AS first, min(nth) AS place FROM t, LATERAL jsonb_each(info) WITH ORDINALITY e(k, v, nth)"
        " WHERE length(k) BETWEEN 1 AND %(max_length)s AND v NOT IN ('null', '\"\"', '[]') GROUP BY k ORDER BY first, place LIMIT %(maximum)s) c), '[]') AS columns",
        {"id": project_id, "each": _EACH, "max_length": _MAX_COLUMN, "maximum": _MAX_COLUMNS},
    )
    return row["n"], [FilledColumn(name=each["name"], filled=each["filled"]) for each in row["columns"]]


async def list_newest_answers(db: Database, project_id: int, names: Sequence[str]) -> list[Values]:
    """What the newest answers say to questions with these names: at most 200, and so many as have 1 MB."""
    rows = await db.fetch(
        "SELECT coalesce((SELECT jsonb_object_agg(k, v) FROM jsonb_each(CASE WHEN jsonb_typeof(info) = 'object' THEN info ELSE '{}' END) e(k, v)"
        " WHERE k = ANY (%(names)s::text[])), '{}') AS given FROM ("
        "SELECT info, sum(pg_column_size(info)) OVER (ORDER BY id DESC) AS size FROM ("
        "SELECT id, info FROM task_run WHERE project_id = %(id)s ORDER BY id DESC LIMIT %(maximum)s) r) r WHERE size <= %(bytes)s",
        {"id": project_id, "names": list(names), "maximum": _MAX_ANSWERS, "bytes": _MAX_BYTES},
    )
    return [row["given"] for row in rows]


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


async def list_kept_versions(db: Database, project_id: int, key: str) -> list[KeptVersion]:
    """The versions that are kept, the oldest first."""
    sql = _OF_QUESTIONS if key == QUESTIONS else _OF_GUIDE
    return await fetch_rows(db, KeptVersion, f"{sql} ORDER BY version", {"id": project_id, "key": key})


async def restore_versions(
    db: Database, project_id: int, key: str, versions: Sequence[KeptVersion], number_key: str
) -> None:
    """Adds versions to a project that has none, and sets the number (``number_key`` of ``info``) that the next one follows."""
    values = {"id": project_id, "key": key, "versions": as_json(list(versions))}
    await db.execute(_ADD_QUESTIONS if key == QUESTIONS else _ADD_GUIDES, values)
    await db.execute(
        "UPDATE project SET info = info || jsonb_build_object(%(key)s::text, %(last)s::int) WHERE id = %(id)s",
        {"id": project_id, "key": number_key, "last": max(version["version"] for version in versions)},
    )


KEPT: Final = 20  # of a guide


async def insert_guide_version(db: Database, project_id: int, guide: str, document: Values) -> int:
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


async def list_guide_versions(db: Database, project_id: int, guide: str) -> list[GuideVersionSummary]:
    """The versions that are kept, the newest first."""
    return await fetch_rows(
        db,
        GuideVersionSummary,
        "SELECT version, created, octet_length(document::text) AS bytes FROM guide_version"
        " WHERE project_id = %(project_id)s AND guide = %(guide)s ORDER BY version DESC",
        {"project_id": project_id, "guide": guide},
    )


async def find_guide_version(db: Database, project_id: int, guide: str, version: int) -> GuideVersion | None:
    """One version."""
    return await fetch_row_or_none(
        db,
        GuideVersion,
        "SELECT version, created, document FROM guide_version"
        " WHERE project_id = %(project_id)s AND guide = %(guide)s AND version = %(version)s",
        {"project_id": project_id, "guide": guide, "version": version},
    )
