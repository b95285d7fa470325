"""SQL of finished tasks, of agreement, of results by place and date, and of results that owners fill in.

Places and dates are counted by PostgreSQL in a bounded number of bins, from a bounded number of tasks. Comparing again
where it is due is in `tasks/27_agreement.sql`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from crowdd.core.records import role_statements
from crowdd.core.records import statements as record_statements
from crowdd.core.records.projection_statements import in_json, json_of
from crowdd.database.access import Database, as_json, fetch_row, fetch_rows, one
from crowdd.features.results.rows import (
    AnswerSample,
    FinishedTask,
    ResultBins,
    ResultFate,
    ResultRow,
    ResultSample,
    ResultSummary,
)
from crowdd.kernel.requester import Requester
from crowdd.kinds.kind import Write
from crowdd.kinds.result import RESULT
from crowdd.kinds.roles import EVERYONE, Role

ORDERS = {
    "newest": ("r.id", "DESC"),
    "most_agreed": ("r.agreement", "DESC"),
    "least_agreed": ("r.agreement", "ASC"),
    "most_answers": ("r.n_compared", "DESC"),
}
SAID = (
    "r.consensus, r.consensus_hash IS NOT NULL AS won, r.consensus IS NOT NULL AS short, r.n_compared, r.agreement::numeric::float8 AS agreement,"
    " CASE WHEN is_modelled(x) THEN printed_confidence(x) ELSE r.confidence END::numeric::float8 AS confidence,"
    " model_value(x)::numeric::float8 AS model, r.further,"
    " EXISTS (SELECT FROM comparison_due d WHERE d.project_id = %(project)s AND d.task_id = {task} AND d.failure IS NOT NULL) AS failed"
)
"""Columns of Said of a row r, of the ``task``; x is its last result, if it has one."""
MAX_DECIDED = 100_000
_MAX_INFO_BYTES = 4000  # of a task or of a result; of a larger one nothing is shown
_MAX_ANSWER = 300  # characters of an answer
_OF_PROJECT = "project_id = %(project)s AND project_id + 0 = %(project)s"  # the second for the index result_agreement


@attrs.frozen
class Chosen:
    """Which results and in which order: those behind the result ``before``.

    ``answer`` is the most frequent value, as JSON; "" chooses those without one, None all. Agreements are 0 to 1.
    """

    answer: str | None = None
    min_agreement: float | None = None
    below_agreement: float | None = None
    order: str = "newest"
    before: int | None = None


async def list_finished_tasks(
    db: Database, project_id: int, chosen: Chosen, maximum: int, votes: int, *, owns: bool
) -> list[FinishedTask]:
    """Last results of a project: ``id``, ``task_id``, ``info``, ``task_info``.

    ``votes`` has the most frequent answers among those that count: ``answer`` (JSON; of a long one the beginning, as a
    text), how many there are (``n``). ``total`` are all that count, ``kinds`` how many different ones there are.
    ``owns``: for an owner, who sees hidden columns.
    """
    key, way = ORDERS[chosen.order]
    order = f"{key} {way}, r.id {way}" if key != "r.id" else f"r.id {way}"
    values = {
        "project": project_id,
        "answer": chosen.answer,
        "minimum": chosen.min_agreement,
        "below": chosen.below_agreement,
        "before": chosen.before,
        "maximum": maximum,
        "votes": votes,
    }
    return await fetch_rows(
        db,
        FinishedTask,
        f"""
        SELECT r.id, r.task_id, CASE WHEN octet_length(r.info::text) <= {_MAX_INFO_BYTES} THEN r.info END AS info,
               CASE WHEN octet_length(t.info::text) <= {_MAX_INFO_BYTES} THEN t.info END AS task_info,
               {SAID.format(task="r.task_id")}, r.reason,
               coalesce(v.votes, '[]') AS votes, coalesce(v.total, 0) AS total, coalesce(v.kinds, 0) AS kinds
          FROM (SELECT * FROM result r WHERE {_OF_PROJECT} AND last_version{_where(chosen, key, way)}
                 ORDER BY {order} LIMIT %(maximum)s) r JOIN result x ON x.project_id = r.project_id AND x.id = r.id
          JOIN {record_statements.task_relation(owns=owns)} t ON t.project_id = r.project_id AND t.id = r.task_id
         CROSS JOIN LATERAL (
            SELECT json_agg(json_build_object('answer', CASE WHEN length(g.answer::text) <= {_MAX_ANSWER} THEN g.answer
                                                             ELSE to_jsonb(left(g.answer #>> '{{}}', {_MAX_ANSWER}) || '…') END, 'n', g.n)
                            ORDER BY g.n DESC, g.first) FILTER (WHERE g.nth <= %(votes)s) AS votes, sum(g.n)::int AS total, count(*)::int AS kinds
              FROM (SELECT value AS answer, count(*)::int AS n, min(run) AS first,
                           row_number() OVER (ORDER BY count(*) DESC, min(run)) AS nth
                      FROM answer_values(r.project_id, r.task_id) WHERE value IS NOT NULL GROUP BY value) g) v
         ORDER BY {order}""",
        values,
    )


def _where(chosen: Chosen, key: str, way: str) -> str:
    """Conditions on results; those without an agreement are left out where it matters."""
    sql = ""
    if chosen.answer == "":
        sql += " AND consensus_hash IS NULL AND agreement IS NOT NULL"
    elif chosen.answer is not None:
        sql += " AND consensus_hash = jsonb_hash_extended(%(answer)s::jsonb, 0)"
    if chosen.min_agreement is not None:
        sql += " AND agreement >= %(minimum)s::real"
    if chosen.below_agreement is not None:
        sql += " AND agreement < %(below)s::real"
    if key != "r.id":
        sql += " AND agreement IS NOT NULL"
    if chosen.before is None:
        return sql
    sign = "<" if way == "DESC" else ">"
    if key == "r.id":
        return f"{sql} AND id {sign} %(before)s"
    here = f"SELECT {key} FROM result r WHERE project_id = %(project)s AND id = %(before)s"
    return f"{sql} AND ({key}, id) {sign} (({here}), %(before)s::bigint)"


async def list_summaries(db: Database, project_id: int, maximum: int, fields: int) -> list[ResultSummary]:
    """What the last results of a project say together at each of the first ``fields`` answer fields, with so many outcomes.

    Reads counters, and a result for each outcome of the first field.
    """
    return await fetch_rows(
        db,
        ResultSummary,
        """
        WITH o AS MATERIALIZED (SELECT * FROM outcomes_of(%(project)s, CASE %(fields)s WHEN 1 THEN 1 END)),
        top AS (SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY field ORDER BY tasks DESC, hash) AS nth FROM o WHERE kind = 'value' AND tasks > 0) t
                 WHERE nth <= %(maximum)s)
        SELECT a.*, coalesce(t.outcomes, '[]') AS outcomes, EXISTS (SELECT FROM agreement_due WHERE project_id = %(project)s) AS due
          FROM generate_series(1, %(fields)s) n
         CROSS JOIN LATERAL (
            SELECT coalesce(sum(tasks), 0)::int AS tasks, coalesce(sum(answers), 0)::bigint AS answers, coalesce(sum(several), 0)::int AS several,
                   (sum(agreement) / nullif(sum(several), 0) / 1e9)::float8 AS agreement, coalesce(sum(unanimous), 0)::int AS unanimous,
                   ARRAY[coalesce(sum(several - half), 0), coalesce(sum(half - most), 0), coalesce(sum(most - unanimous), 0), coalesce(sum(unanimous), 0)]::int[] AS bands,
                   coalesce(sum(tasks) FILTER (WHERE kind = 'tied'), 0)::int AS tied, coalesce(sum(tasks) FILTER (WHERE kind = 'none'), 0)::int AS unanswered,
                   coalesce(sum(tasks) FILTER (WHERE kind = 'pending'), 0)::int AS pending,
                   CASE WHEN coalesce(sum(tasks) FILTER (WHERE kind = 'other'), 0) = 0 THEN count(*) FILTER (WHERE kind = 'value' AND tasks > 0) END AS kinds,
                   (coalesce(sum(tasks) FILTER (WHERE kind IN ('value', 'other')), 0) - coalesce((SELECT sum(tasks) FROM top WHERE field = n), 0))::int AS others
              FROM o WHERE field = n) a
         CROSS JOIN LATERAL (
            SELECT json_agg(json_build_object('answer', r.value, 'short', r.value IS NOT NULL, 'n', top.tasks) ORDER BY top.nth) AS outcomes
              FROM top CROSS JOIN LATERAL (
                SELECT top.value WHERE n > 1 UNION ALL
                (SELECT consensus FROM result WHERE n = 1 AND project_id = %(project)s AND last_version AND consensus_hash = top.hash LIMIT 1)) r (value)
             WHERE top.field = n) t ORDER BY n""",
        {"project": project_id, "maximum": maximum, "fields": fields},
    )


COMPARISON_CHUNK = 100  # tasks, whose rows are locked for some 30 ms


async def list_due_projects(db: Database) -> list[int]:
    """The ids of projects whose results are to be compared again: after an upgrade, or another key."""
    return [row["project_id"] for row in await db.fetch("SELECT project_id FROM agreement_due ORDER BY project_id")]


async def is_comparison_due(db: Database, project_id: int) -> bool:
    """Whether some results of a project are still compared by an old key, or not at all."""
    row = await one(
        db,
        "SELECT EXISTS (SELECT FROM agreement_due WHERE project_id = %(project)s) AS due",
        {"project": project_id},
    )
    return bool(row["due"])


async def compare_results(db: Database, project_id: int) -> int:
    """Compares the next results of a project that is due. How many; less than CHUNK when it may rest."""
    row = await one(
        db,
        "SELECT compare_results(%(project)s, %(maximum)s) AS n",
        {"project": project_id, "maximum": COMPARISON_CHUNK},
    )
    return int(row["n"])


async def list_crowded_projects(db: Database) -> list[int]:
    """The ids of projects in which the values counted together have doubled since those with a counter were chosen."""
    rows = await db.fetch("SELECT project_id FROM outcome_count WHERE kind = 'other' AND tasks >= due_at ORDER BY 1")
    return [row["project_id"] for row in rows]


async def choose_outcomes(db: Database, project_id: int) -> None:
    """Gives the most frequent values of a project counters of their own (`tasks/51_outcomes.sql`). Reads all its results."""
    await db.fetch("SELECT choose_outcomes(%(project)s)", {"project": project_id})


MAX_TASKS = 2500
"""So many tasks are read, evenly chosen by their ordinals."""
MAX_CHART_ANSWERS = 4  # most frequent answers that are told apart
_GRID = (12, 6)  # cells of the map
_MAX_STORED_INFO_BYTES = 4000  # of a task, as it is stored
_DEGREES = r"'^\s*-?\d{1,3}([.,]\d{1,20})?\s*$'"  # also with a decimal comma
# Patterns that only match: extracting parts of a match takes PostgreSQL many times as long.
_DAY = r"""CASE WHEN day ~ '^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])' THEN left(day, 10)
            WHEN day ~ '^\d{4}-(0[1-9]|1[0-2])$' THEN day WHEN day ~ '^\d{4}$' THEN day END"""


def _degrees(column: str, maximum: int) -> str:
    degrees = f"replace({column}, ',', '.')::float8"
    return f"CASE WHEN {column} ~ {_DEGREES} AND abs({degrees}) <= {maximum} THEN {degrees} END"


def _text(key: str, nth: int) -> str:
    """The text of a degree: at its own key, or in the coordinates of a point at the key of the latitude."""
    return f"CASE WHEN %(longitude)s = '' THEN t.info->%(latitude)s->'coordinates'->>{nth} ELSE t.info->>%({key})s END"


async def count_decided(db: Database, project_id: int) -> int:
    """How many tasks of a project experts have decided, up to MAX_DECIDED; read from the index result_review."""
    sql = (
        "SELECT count(*) AS n FROM (SELECT FROM result r WHERE r.reason = 'expert' AND r.project_id = %(project)s"
        f" AND r.last_version LIMIT {MAX_DECIDED}) x"
    )
    return int((await one(db, sql, {"project": project_id}))["n"])


async def count_bins(
    db: Database, project_id: int, ordinals: int, latitude: str, longitude: str, date: str, *, owns: bool
) -> ResultBins:
    """The last results of a project in bins. An empty key of ``info`` leaves its bins out; see ``charts.Place``.

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
              JOIN {record_statements.task_relation(owns=owns)} t ON t.project_id = %(project)s AND t.id = l.task_id AND pg_column_size(t.info) <= {_MAX_STORED_INFO_BYTES}),
        picked AS MATERIALIZED (SELECT hash, id, {_degrees("y", 90)} AS y, {_degrees("x", 180)} AS x, {_DAY} AS day FROM read),
        top AS MATERIALIZED (SELECT hash, min(id) AS id, row_number() OVER (ORDER BY count(*) DESC, hash)::int AS nth
                  FROM picked WHERE hash IS NOT NULL AND (x IS NOT NULL AND y IS NOT NULL OR day IS NOT NULL) GROUP BY 1 ORDER BY 3 LIMIT {MAX_CHART_ANSWERS}),
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


MAX_ANSWERS = 5000
"""So many answers are counted at most, the newest of those to the tasks that are looked at."""
_MAX_ANSWER_BYTES = 8000  # as it is stored
_SAMPLED_TASKS = "generate_series(1, %(ordinals)s::bigint, %(step)s) n JOIN task_ledger l ON l.project_id = %(project)s AND l.ordinal = n AND l.mode <> 'gold'"


async def sample_answers(db: Database, project_id: int, ordinals: int, *, owns: bool) -> list[AnswerSample]:
    """Answers that count to every n-th task, so that MAX_TASKS are looked at; to finished ones, unless ``owns``."""
    return await fetch_rows(
        db,
        AnswerSample,
        f"""
        SELECT r.task_id, r.info FROM {_SAMPLED_TASKS} JOIN task_run r ON r.project_id = %(project)s AND r.task_id = l.task_id AND r.counted
         WHERE (l.done OR %(owns)s) AND pg_column_size(r.info) <= {_MAX_ANSWER_BYTES} ORDER BY r.id DESC LIMIT {MAX_ANSWERS}""",
        {"project": project_id, "ordinals": ordinals, "step": -(-ordinals // MAX_TASKS) or 1, "owns": owns},
    )


async def newest_with_files(db: Database, project_id: int, limit: int) -> list[AnswerSample]:
    """The newest answers with files, whether they count or not."""
    return await fetch_rows(
        db,
        AnswerSample,
        "SELECT r.task_id, r.info FROM (SELECT DISTINCT run_id FROM answer_file WHERE project_id = %(project)s AND run_id IS NOT NULL"
        " ORDER BY run_id DESC LIMIT %(limit)s) f JOIN task_run r ON r.project_id = %(project)s AND r.id = f.run_id"
        " WHERE jsonb_typeof(r.info) = 'object' ORDER BY r.id DESC",
        {"project": project_id, "limit": limit},
    )


async def sample_results(db: Database, project_id: int, ordinals: int) -> list[ResultSample]:
    """What the last results of every n-th task say at each field, so that MAX_TASKS are looked at."""
    return await fetch_rows(
        db,
        ResultSample,
        f"""
        SELECT r.task_id, jsonb_build_array(CASE WHEN r.consensus IS NULL THEN '{{}}' ELSE jsonb_build_object('value', r.consensus) END) || coalesce(r.further, '[]') AS said
          FROM {_SAMPLED_TASKS} JOIN result r ON r.project_id = %(project)s AND r.task_id = l.task_id AND r.last_version
         ORDER BY r.id DESC""",
        {"project": project_id, "ordinals": ordinals, "step": -(-ordinals // MAX_TASKS) or 1},
    )


_SMALL = ", ".join(
    f't."{field.name}"' for field in RESULT.fields if field.name != "info" and field.write is not Write.COMPUTED
)


@attrs.frozen
class SameRoles:
    """Results to which a requester has the same roles; ``answers`` is the number of answers that they name together."""

    roles: frozenset[Role]
    projects: frozenset[int]
    ids: frozenset[int]
    answers: int


async def group_by_role(db: Database, who: Requester, ids: Sequence[int]) -> list[SameRoles]:
    """Results with these ids, as many as there are, by what the requester is to them; one statement for all."""
    sql = (
        "SELECT roles, array_agg(DISTINCT project_id) AS projects, array_agg(id) AS ids, sum(n) AS n FROM"
        f" (SELECT t.id, t.project_id, cardinality(t.task_run_ids) AS n, {role_statements.columns(RESULT)}"
        f" FROM {role_statements.source(RESULT)} WHERE t.id = ANY (%(ids)s::bigint[])) r GROUP BY roles"
    )
    rows = await db.fetch(sql, {**who.role_values(), "ids": list(ids)})
    return [
        SameRoles(row["roles"], frozenset(row["projects"]), frozenset(row["ids"]), int(row["n"]))
        for row in record_statements.parse_roles(rows)
    ]


async def lock_results(tx: Database, ids: Sequence[int]) -> None:
    """Holds results until the transaction ends: their tasks first, by id as everybody takes them, also of several projects.

    Other transactions that change or replace one of these results come before or after this one.
    """
    await tx.fetch(
        "SELECT FROM task_ledger WHERE (project_id, task_id) IN"
        " (SELECT project_id, task_id FROM result WHERE id = ANY (%(ids)s::bigint[]))"
        " ORDER BY task_id FOR UPDATE",
        {"ids": list(ids)},
    )
    await tx.fetch("SELECT FROM result WHERE id = ANY (%(ids)s::bigint[]) ORDER BY id FOR UPDATE", {"ids": list(ids)})


async def list_results_without_info(tx: Database, ids: Sequence[int]) -> list[ResultRow]:
    """The attributes of results but for ``info``, in no order."""
    return await fetch_rows(
        tx, ResultRow, f"SELECT {_SMALL} FROM result t WHERE t.id = ANY (%(ids)s::bigint[])", {"ids": list(ids)}
    )


async def fill_results(tx: Database, items: str) -> int:
    """Writes ``info`` of results that have another; ``items`` is a JSON array of {id, info}. How many those are."""
    row = await one(
        tx,
        "WITH changed AS (UPDATE result r SET info = n.info"
        " FROM (SELECT (e->>'id')::bigint AS id, e->'info' AS info FROM jsonb_array_elements(%(items)s::jsonb) e) n"
        " WHERE r.id = n.id AND coalesce(r.info, 'null') <> n.info RETURNING 1) SELECT count(*) AS n FROM changed",
        {"items": items},
    )
    return int(row["n"])


async def list_views(tx: Database, ids: Sequence[int], base_url: str) -> list[str]:
    """Results as JSON texts, in the order of their ids in ``ids``: all who may change them see the same."""
    values: Mapping[str, object] = {"ids": list(ids), "base_url": in_json(base_url)}
    rows = await tx.fetch(
        f"SELECT {json_of(RESULT, EVERYONE)} AS view FROM unnest(%(ids)s::bigint[]) WITH ORDINALITY u(id, nth)"
        f" JOIN {RESULT.source} t ON t.id = u.id ORDER BY u.nth",
        values,
    )
    return [row["view"] for row in rows]


async def match_results(db: Database, project_id: int, rows: Sequence[Mapping[str, object]]) -> list[ResultFate]:
    """What would become of each exported result, in order: ``result_id`` and ``fate`` (``results.results.fill_exported``)."""
    return await fetch_rows(
        db,
        ResultFate,
        "SELECT result_id, fate FROM match_exported_results(%(project)s, %(rows)s)",
        {"project": project_id, "rows": as_json(list(rows))},
    )
