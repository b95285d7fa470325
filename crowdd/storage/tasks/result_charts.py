"""Results of a project by place and by date: counted by PostgreSQL in a bounded number of bins, from a bounded number of tasks."""

from __future__ import annotations

from crowdd.storage.core import hidden_columns
from crowdd.storage.database import Database, fetch_row
from crowdd.storage.tasks.outcomes.rows import ResultBins

MAX_TASKS = 2500
"""So many tasks are read, evenly chosen by their ordinals."""
GROUPS = 4  # most frequent answers that are told apart
_GRID = (12, 6)  # cells of the map
_MAX_INFO_BYTES = 4000  # of a task, as it is stored
_DEGREES = r"'^\s*-?\d{1,3}(\.\d{1,20})?\s*$'"
# Patterns that only match: extracting parts of a match takes PostgreSQL many times as long.
_DAY = r"""CASE WHEN day ~ '^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])' THEN left(day, 10)
            WHEN day ~ '^\d{4}-(0[1-9]|1[0-2])$' THEN day WHEN day ~ '^\d{4}$' THEN day END"""


def _degrees(column: str, maximum: int) -> str:
    return f"CASE WHEN {column} ~ {_DEGREES} AND abs({column}::float8) <= {maximum} THEN {column}::float8 END"


def _text(key: str, nth: int) -> str:
    """The text of a degree: at its own key, or in the coordinates of a point at the key of the latitude."""
    return f"CASE WHEN %(longitude)s = '' THEN t.info->%(latitude)s->'coordinates'->>{nth} ELSE t.info->>%({key})s END"


async def bins(
    db: Database, project_id: int, ordinals: int, latitude: str, longitude: str, date: str, *, owns: bool
) -> ResultBins:
    """The last results of a project in bins. An empty key of ``info`` leaves its bins out; see ``result_axes.Place``.

    ``ordinals``: how many tasks the project has had. Reads every ``step``-th of them.
    """
    step = -(-ordinals // MAX_TASKS) or 1
    return await fetch_row(
        db,
        ResultBins,
        f"""
        WITH read AS MATERIALIZED (
            SELECT r.consensus_hash AS hash, r.id, {_text("latitude", 1)} AS y, {_text("longitude", 0)} AS x, left(btrim(t.info->>%(date)s), 40) AS day
              FROM generate_series(1, %(ordinals)s::bigint, %(step)s) n
              JOIN task_ledger l ON l.project_id = %(project)s AND l.ordinal = n
              JOIN result r ON r.project_id = %(project)s AND r.task_id = l.task_id AND r.last_version AND r.agreement IS NOT NULL
              JOIN {hidden_columns.tasks(owns=owns)} t ON t.project_id = %(project)s AND t.id = l.task_id AND pg_column_size(t.info) <= {_MAX_INFO_BYTES}),
        picked AS MATERIALIZED (SELECT hash, id, {_degrees("y", 90)} AS y, {_degrees("x", 180)} AS x, {_DAY} AS day FROM read),
        top AS MATERIALIZED (SELECT hash, min(id) AS id, row_number() OVER (ORDER BY count(*) DESC, hash)::int AS nth
                  FROM picked WHERE hash IS NOT NULL AND (x IS NOT NULL AND y IS NOT NULL OR day IS NOT NULL) GROUP BY 1 ORDER BY 3 LIMIT {GROUPS}),
        grouped AS MATERIALIZED (SELECT x, y, day, CASE WHEN p.hash IS NULL THEN named + 1 ELSE coalesce(top.nth - 1, named) END AS g
                      FROM picked p LEFT JOIN top USING (hash), (SELECT count(*)::int AS named FROM top) n),
        box AS (SELECT min(x) AS x0, max(x) AS x1, min(y) AS y0, max(y) AS y1 FROM grouped WHERE x IS NOT NULL AND y IS NOT NULL),
        cell AS (SELECT round(avg(x)::numeric, 4)::float8 AS x, round(avg(y)::numeric, 4)::float8 AS y, g AS group, count(*)::int AS n FROM grouped, box
                  WHERE x IS NOT NULL AND y IS NOT NULL
                  GROUP BY least(floor((x - x0) / greatest(x1 - x0, 1e-9) * {_GRID[0]}), {_GRID[0] - 1}), least(floor((y - y0) / greatest(y1 - y0, 1e-9) * {_GRID[1]}), {_GRID[1] - 1}), g),
        -- Centuries, decades, years, months or days, so that there are at most some sixty of them, up to a hundred centuries.
        span AS (SELECT left(max(day), 4)::int - left(min(day), 4)::int AS years, left(min(day), 7) <> left(max(day), 7) AS months, min(length(day)) AS precision
                   FROM grouped WHERE day IS NOT NULL),
        bar AS (SELECT left(day, CASE WHEN years > 600 THEN 2 WHEN years > 60 THEN 3 WHEN years > 4 OR precision = 4 THEN 4 WHEN months OR precision = 7 THEN 7 ELSE 10 END) AS time,
                       g AS group, count(*)::int AS n FROM grouped, span WHERE day IS NOT NULL GROUP BY 1, 2)
        SELECT %(step)s::int AS step, (SELECT count(*) FROM picked)::int AS tasks,
               (SELECT coalesce(json_agg(json_build_object('answer', r.consensus, 'short', r.consensus IS NOT NULL) ORDER BY top.nth), '[]')
                  FROM top JOIN result r ON r.project_id = %(project)s AND r.id = top.id) AS answers,
               (SELECT coalesce(json_agg(cell ORDER BY n DESC, x, y, cell.group), '[]') FROM cell) AS places,
               (SELECT coalesce(json_agg(bar ORDER BY time, bar.group), '[]') FROM bar) AS times""",
        {
            "project": project_id,
            "ordinals": ordinals,
            "step": step,
            "latitude": latitude,
            "longitude": longitude,
            "date": date,
        },
    )
