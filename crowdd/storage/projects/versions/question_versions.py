"""Versions of a project's questions, and samples of its tasks and answers that questions are compared with."""

from __future__ import annotations

from collections.abc import Sequence

from crowdd.storage.database import Database, fetch_rows, one, one_or_none
from crowdd.storage.projects.versions.question_rows import FilledColumn, QuestionVersion
from crowdd.values import JsonObject, Values

_EACH = 40  # tasks at the beginning, and at the end
_MAX_COLUMNS = 100
_MAX_COLUMN = 200  # characters
_MAX_ANSWERS = 200
_MAX_BYTES = 1_000_000  # of answers, as they are stored


async def versions(db: Database, project_id: int) -> list[QuestionVersion]:
    """The versions that are kept, the newest first: at most 100 (``keep_questions``)."""
    sql = "SELECT version, created FROM question_version WHERE project_id = %(id)s ORDER BY version DESC"
    return await fetch_rows(db, QuestionVersion, sql, {"id": project_id})


async def questions_of(db: Database, project_id: int, version: int) -> JsonObject | None:
    """The list of questions of a version, None when it is not kept."""
    sql = "SELECT questions FROM question_version WHERE project_id = %(id)s AND version = %(version)s"
    row = await one_or_none(db, sql, {"id": project_id, "version": version})
    return row["questions"] if row else None


async def columns(db: Database, project_id: int) -> tuple[int, list[FilledColumn]]:
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


async def newest_answers(db: Database, project_id: int, names: Sequence[str]) -> list[Values]:
    """What the newest answers say to questions with these names: at most 200, and so many as have 1 MB."""
    rows = await db.fetch(
        "SELECT coalesce((SELECT jsonb_object_agg(k, v) FROM jsonb_each(CASE WHEN jsonb_typeof(info) = 'object' THEN info ELSE '{}' END) e(k, v)"
        " WHERE k = ANY (%(names)s::text[])), '{}') AS given FROM ("
        "SELECT info, sum(pg_column_size(info)) OVER (ORDER BY id DESC) AS size FROM ("
        "SELECT id, info FROM task_run WHERE project_id = %(id)s ORDER BY id DESC LIMIT %(maximum)s) r) r WHERE size <= %(bytes)s",
        {"id": project_id, "names": list(names), "maximum": _MAX_ANSWERS, "bytes": _MAX_BYTES},
    )
    return [row["given"] for row in rows]
