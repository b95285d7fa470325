"""Analyses of a project: what was asked for, and what is known of each as a whole."""

from __future__ import annotations

from collections.abc import Mapping

from crowdd.storage.analyses.rows import AnalysisRow
from crowdd.storage.database import Database, as_json, fetch_row_or_none, fetch_rows, one, one_or_none
from crowdd.values import Values

_STATE = "CASE WHEN a.ended IS NOT NULL THEN 'done' WHEN q.state IN ('waiting', 'running', 'cancelled') THEN q.state ELSE 'failed' END"
_ROWS = (
    "SELECT a.id, a.project_id, a.method, a.answers, a.parameters, a.created, a.user_id, u.name AS user_name, q.id AS queue_item,"
    f" {_STATE} AS state, coalesce(q.done, 0) AS done, q.total, coalesce(nullif(a.error, ''), q.error, '') AS error, a.ended,"
    " a.seconds, a.n_answers, a.n_unfit, a.n_tasks, a.n_volunteers, a.n_different, a.choices, a.frequencies, a.input_hash,"
    " a.versions, a.rounds, a.converged FROM analysis a LEFT JOIN queue_item q ON q.id = a.item_id"
    " LEFT JOIN account u ON u.id = a.user_id WHERE a.project_id = %(project)s"
)
_ONE = "id = %(id)s AND project_id = %(project)s"


async def lock(tx: Database, project_id: int) -> tuple[int, bool]:
    """How many analyses a project has, and whether one of them waits or runs. No other can be added meanwhile."""
    await tx.fetch("SELECT FROM project WHERE id = %(project)s FOR NO KEY UPDATE", {"project": project_id})
    row = await one(
        tx,
        "SELECT count(*) AS n, coalesce(bool_or(a.ended IS NULL AND q.state IN ('waiting', 'running')), false) AS busy"
        " FROM analysis a LEFT JOIN queue_item q ON q.id = a.item_id WHERE a.project_id = %(project)s",
        {"project": project_id},
    )
    return int(row["n"]), bool(row["busy"])


async def add(
    tx: Database, project_id: int, method: str, answers: str, parameters: Mapping[str, object], user_id: int | None
) -> int:
    """The id of a new analysis."""
    row = await one(
        tx,
        "INSERT INTO analysis (project_id, method, answers, parameters, created, user_id)"
        " VALUES (%(project)s, %(method)s, %(answers)s, %(parameters)s, clock(), %(user)s) RETURNING id",
        {
            "project": project_id,
            "method": method,
            "answers": answers,
            "parameters": as_json(parameters),
            "user": user_id,
        },
    )
    return int(row["id"])


async def set_item(tx: Database, analysis_id: int, item_id: int) -> None:
    """Says which background task does an analysis."""
    await tx.execute("UPDATE analysis SET item_id = %(item)s WHERE id = %(id)s", {"id": analysis_id, "item": item_id})


async def set_error(db: Database, analysis_id: int, error: str) -> None:
    """Says why an analysis failed."""
    await db.execute("UPDATE analysis SET error = %(error)s WHERE id = %(id)s", {"id": analysis_id, "error": error})


async def listed(db: Database, project_id: int) -> list[AnalysisRow]:
    """The analyses of a project, the newest first."""
    return await fetch_rows(db, AnalysisRow, f"{_ROWS} ORDER BY a.id DESC", {"project": project_id})


async def one_of(db: Database, project_id: int, analysis_id: int) -> AnalysisRow | None:
    """One of them."""
    return await fetch_row_or_none(
        db, AnalysisRow, f"{_ROWS} AND a.id = %(id)s", {"project": project_id, "id": analysis_id}
    )


async def info_of_project(db: Database, project_id: int) -> Values | None:
    """``info`` of a project; None without it."""
    row = await one_or_none(db, "SELECT info FROM project WHERE id = %(id)s", {"id": project_id})
    return None if row is None else row["info"]


async def finish(tx: Database, project_id: int, analysis_id: int, summary: str, n_different: int) -> None:
    """Says that an analysis is done; ``summary`` is a JSON object with its figures."""
    await tx.execute(
        "UPDATE analysis SET ended = clock(), error = '', n_different = %(different)s, seconds = s.seconds,"
        " n_answers = s.n_answers, n_unfit = s.n_unfit, n_tasks = s.n_tasks, n_volunteers = s.n_volunteers,"
        " choices = s.choices, frequencies = s.frequencies, input_hash = s.input_hash, versions = s.versions,"
        " rounds = s.rounds, converged = s.converged FROM jsonb_populate_record(NULL::analysis, %(summary)s::jsonb) s"
        " WHERE analysis.id = %(id)s AND analysis.project_id = %(project)s",
        {"project": project_id, "id": analysis_id, "summary": summary, "different": n_different},
    )


async def delete(db: Database, project_id: int, analysis_id: int) -> bool:
    """Deletes an analysis; False when there is none."""
    sql = f"DELETE FROM analysis WHERE {_ONE}"
    return await db.execute(sql, {"project": project_id, "id": analysis_id}) > 0
