"""The answers of a project as an analysis reads them: piece by piece, in the order of tasks and answers."""

from __future__ import annotations

from crowdd.storage.analyses.rows import AnswerPiece
from crowdd.storage.database import Database, Prepared, fetch_row, one

MAX_VALUE_BYTES = 1000
"""Of a value that can be a choice."""
_SINGLE = "jsonb_typeof({0}) NOT IN ('object', 'array') AND octet_length({0}::text) <= %(bytes)s"
# The value of an answer that is no object is the answer itself.
_VALUE = "CASE WHEN jsonb_typeof(r.info) IN ('object', 'array') THEN r.info #> %(path)s ELSE r.info END"
_PIECE = Prepared(
    "WITH w AS MATERIALIZED (SELECT task_id FROM task_ledger WHERE project_id = %(project)s AND task_id > %(after)s"
    " ORDER BY task_id LIMIT %(tasks)s),"
    f" a AS MATERIALIZED (SELECT r.task_id, r.id, r.actor, {_VALUE} AS value FROM w CROSS JOIN LATERAL ("
    "SELECT * FROM task_run r WHERE r.project_id = %(project)s AND r.task_id = w.task_id AND (r.counted OR %(late)s) OFFSET 0) r),"
    f" f AS MATERIALIZED (SELECT * FROM a WHERE {_SINGLE.format('value')})"
    " SELECT (SELECT max(task_id) FROM w) AS last, (SELECT count(*) FROM w)::int AS tasks,"
    " (SELECT count(*) FROM f)::int AS fitting, (SELECT count(*) FROM a)::int - (SELECT count(*) FROM f)::int AS unfit,"
    " (SELECT string_agg(jsonb_build_array(task_id, actor, value)::text, E'\\n' ORDER BY task_id, id) FROM f) AS lines",
    project="bigint",
    after="bigint",
    tasks="int",
    path="text[]",
    late="boolean",
    bytes="int",
)


async def next_piece(
    db: Database, project_id: int, path: list[str], after: int, tasks: int, *, late: bool
) -> AnswerPiece:
    """The answers to the tasks behind one, at most ``tasks`` tasks. ``late``: also answers that do not count."""
    values = {"project": project_id, "path": path, "after": after, "tasks": tasks, "late": late}
    return await fetch_row(db, AnswerPiece, _PIECE, {**values, "bytes": MAX_VALUE_BYTES})


async def n_tasks(db: Database, project_id: int) -> int:
    """How many tasks a project has, as far as its counters know."""
    row = await one(
        db,
        "SELECT coalesce((SELECT n_tasks FROM project_figures WHERE project_id = %(id)s), 0) AS n",
        {"id": project_id},
    )
    return int(row["n"])


async def median_of_volunteers(db: Database, project_id: int) -> int:
    """How many answers the median volunteer has given."""
    row = await one(
        db,
        "SELECT coalesce(percentile_disc(0.5) WITHIN GROUP (ORDER BY runs), 0) AS n FROM volunteer"
        " WHERE project_id = %(id)s AND runs > 0",
        {"id": project_id},
    )
    return int(row["n"])
