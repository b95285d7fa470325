"""SQL of the figures of agreement that analyses store (migration 0005)."""

from __future__ import annotations

from crowdd.database.access import Database, as_json, fetch_row_or_none, one_or_none
from crowdd.features.results.rows import AgreementFigures

_FIGURES = (
    "SELECT f.analysis_id, a.ended AS at, f.tasks, f.answers, f.measures, f.classes, f.pairs, f.difficult, f.checked"
    " FROM agreement_figures f JOIN analysis a ON a.id = f.analysis_id WHERE f.project_id = %(project)s AND a.ended IS NOT NULL"
)


async def find_newest_figures(db: Database, project_id: int) -> AgreementFigures | None:
    """Those of the newest analysis that has some."""
    return await fetch_row_or_none(
        db, AgreementFigures, f"{_FIGURES} ORDER BY f.analysis_id DESC LIMIT 1", {"project": project_id}
    )


async def find_figures(db: Database, project_id: int, analysis_id: int) -> AgreementFigures | None:
    """Those of an analysis."""
    return await fetch_row_or_none(
        db, AgreementFigures, f"{_FIGURES} AND f.analysis_id = %(id)s", {"project": project_id, "id": analysis_id}
    )


async def insert_figures(tx: Database, project_id: int, figures: AgreementFigures) -> bool:
    """Stores those of an analysis that is not done yet; whether it is still there."""
    row = await one_or_none(
        tx,
        "INSERT INTO agreement_figures (analysis_id, project_id, tasks, answers, measures, classes, pairs, difficult, checked)"
        " SELECT a.id, a.project_id, %(tasks)s, %(answers)s, %(measures)s, %(classes)s, %(pairs)s, %(difficult)s, %(checked)s FROM analysis a"
        " WHERE a.id = %(analysis_id)s AND a.project_id = %(project)s AND a.ended IS NULL FOR KEY SHARE"
        " ON CONFLICT (analysis_id) DO UPDATE SET tasks = excluded.tasks, answers = excluded.answers, measures = excluded.measures,"
        " classes = excluded.classes, pairs = excluded.pairs, difficult = excluded.difficult, checked = excluded.checked"
        " RETURNING analysis_id",
        {
            "project": project_id,
            "analysis_id": figures["analysis_id"],
            "tasks": figures["tasks"],
            "answers": figures["answers"],
            "measures": as_json(figures["measures"]),
            "classes": as_json(figures["classes"]),
            "pairs": as_json(figures["pairs"]),
            "difficult": as_json(figures["difficult"]),
            "checked": as_json(figures["checked"]),
        },
    )
    return row is not None
