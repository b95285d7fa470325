"""SQL of analyses: requests and their state, the answers that one reads, and its findings by task and volunteer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from crowdd.core.records import statements as record_statements
from crowdd.core.records.statements import Keyset, KeysetPage
from crowdd.database.access import (
    Database,
    Prepared,
    as_json,
    fetch_row,
    fetch_row_or_none,
    fetch_rows,
    one,
    one_or_none,
)
from crowdd.features.analyses.rows import AnalysisRow, AnswerPiece, ItemEstimate, TaskEstimate, VolunteerEstimate
from crowdd.kernel.values import Values

_STATE = "CASE WHEN a.ended IS NOT NULL THEN 'done' WHEN q.state IN ('waiting', 'running', 'cancelled') THEN q.state ELSE 'failed' END"
_ROWS = (
    "SELECT a.id, a.project_id, a.method, a.answers, a.parameters, a.created, a.user_id, u.name AS user_name, q.id AS queue_item,"
    f" {_STATE} AS state, coalesce(q.done, 0) AS done, q.total, coalesce(nullif(a.error, ''), q.error, '') AS error, a.ended,"
    " a.seconds, a.n_answers, a.n_unfit, a.n_tasks, a.n_volunteers, a.n_different, a.choices, a.frequencies, a.input_hash,"
    " a.versions, a.rounds, a.converged FROM analysis a LEFT JOIN queue_item q ON q.id = a.item_id"
    " LEFT JOIN account u ON u.id = a.user_id WHERE a.project_id = %(project)s"
)
_ONE = "id = %(id)s AND project_id = %(project)s"


async def lock_analyses(tx: Database, project_id: int) -> tuple[int, bool]:
    """How many analyses a project has, and whether one of them waits or runs. No other can be added meanwhile."""
    await tx.fetch("SELECT FROM project WHERE id = %(project)s FOR NO KEY UPDATE", {"project": project_id})
    row = await one(
        tx,
        "SELECT count(*) AS n, coalesce(bool_or(a.ended IS NULL AND q.state IN ('waiting', 'running')), false) AS busy"
        " FROM analysis a LEFT JOIN queue_item q ON q.id = a.item_id WHERE a.project_id = %(project)s",
        {"project": project_id},
    )
    return int(row["n"]), bool(row["busy"])


async def insert_analysis(
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


async def list_analyses(db: Database, project_id: int) -> list[AnalysisRow]:
    """The analyses of a project, the newest first."""
    return await fetch_rows(db, AnalysisRow, f"{_ROWS} ORDER BY a.id DESC", {"project": project_id})


async def find_analysis(db: Database, project_id: int, analysis_id: int) -> AnalysisRow | None:
    """One of them."""
    return await fetch_row_or_none(
        db, AnalysisRow, f"{_ROWS} AND a.id = %(id)s", {"project": project_id, "id": analysis_id}
    )


async def read_project_info(db: Database, project_id: int) -> Values | None:
    """``info`` of a project; None without it."""
    row = await one_or_none(db, "SELECT info FROM project WHERE id = %(id)s", {"id": project_id})
    return None if row is None else row["info"]


async def finish_analysis(tx: Database, project_id: int, analysis_id: int, summary: str, n_different: int) -> None:
    """Says that an analysis is done; ``summary`` is a JSON object with its figures."""
    await tx.execute(
        "UPDATE analysis SET ended = clock(), error = '', n_different = %(different)s, seconds = s.seconds,"
        " n_answers = s.n_answers, n_unfit = s.n_unfit, n_tasks = s.n_tasks, n_volunteers = s.n_volunteers,"
        " choices = s.choices, frequencies = s.frequencies, input_hash = s.input_hash, versions = s.versions,"
        " rounds = s.rounds, converged = s.converged, items = nullif(s.items, 'null') FROM jsonb_populate_record(NULL::analysis, %(summary)s::jsonb) s"
        " WHERE analysis.id = %(id)s AND analysis.project_id = %(project)s",
        {"project": project_id, "id": analysis_id, "summary": summary, "different": n_different},
    )


async def delete_analysis(db: Database, project_id: int, analysis_id: int) -> bool:
    """Deletes an analysis; False when there is none."""
    sql = f"DELETE FROM analysis WHERE {_ONE}"
    return await db.execute(sql, {"project": project_id, "id": analysis_id}) > 0


MAX_VALUE_BYTES = 1000
"""Of a value that can be a choice."""
MAX_TEXT_BYTES = 20_000
_SINGLE = "jsonb_typeof({0}) NOT IN ('object', 'array') AND octet_length({0}::text) <= %(bytes)s"
# An answer that is not an object is its own value.
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


async def list_next_answers(
    db: Database,
    project_id: int,
    path: list[str],
    after: int,
    tasks: int,
    *,
    late: bool,
    max_bytes: int = MAX_VALUE_BYTES,
) -> AnswerPiece:
    """The answers to the tasks behind one, at most ``tasks`` tasks. ``late``: also answers that do not count."""
    values = {"project": project_id, "path": path, "after": after, "tasks": tasks, "late": late}
    return await fetch_row(db, AnswerPiece, _PIECE, {**values, "bytes": max_bytes})


_ITEM = "CASE WHEN octet_length(t.info->>{0}) BETWEEN 1 AND %(bytes)s THEN t.info->>{0} END"


async def list_next_pairs(
    db: Database, project_id: int, columns: tuple[str, str], after: int, tasks: int
) -> tuple[int | None, str]:
    """The last of the next ``tasks`` tasks, None behind the end, and lines of JSON [task, item, item]."""
    first, second = (_ITEM.format(f"%({name})s::text") for name in ("first", "second"))
    row = await one(
        db,
        f"SELECT max(n.id) AS last, string_agg(jsonb_build_array(n.id, n.one, n.other)::text, E'\\n' ORDER BY n.id) AS lines"
        f" FROM (SELECT t.id, {first} AS one, {second} AS other FROM task t WHERE t.project_id = %(project)s AND t.id > %(after)s"
        " ORDER BY t.id LIMIT %(tasks)s) n",
        {
            "project": project_id,
            "first": columns[0],
            "second": columns[1],
            "after": after,
            "tasks": tasks,
            "bytes": MAX_VALUE_BYTES,
        },
    )
    return row["last"], row["lines"] or ""


async def count_tasks(db: Database, project_id: int) -> int:
    """How many tasks a project has, as far as its counters know."""
    row = await one(
        db,
        "SELECT coalesce((SELECT n_tasks FROM project_figures WHERE project_id = %(id)s), 0) AS n",
        {"id": project_id},
    )
    return int(row["n"])


async def read_median_answers(db: Database, project_id: int) -> int:
    """How many answers the median volunteer has given."""
    row = await one(
        db,
        "SELECT coalesce(percentile_disc(0.5) WITHIN GROUP (ORDER BY runs), 0) AS n FROM volunteer"
        " WHERE project_id = %(id)s AND runs > 0",
        {"id": project_id},
    )
    return int(row["n"])


_KEY = "project_id = %(project)s AND analysis_id = %(analysis)s"
# Deleting the analysis waits for the chunk that is being stored. If the analysis is gone, nothing is stored.
_KEPT = "FROM analysis a WHERE a.id = %(analysis)s AND a.project_id = %(project)s AND a.ended IS NULL FOR KEY SHARE"


async def insert_task_outcomes(
    tx: Database, project_id: int, analysis_id: int, choices: str, items: str
) -> tuple[bool, int]:
    """Stores what is known of tasks: ``items`` is a JSON array of [task, class or null, [probabilities], text or nothing].

    Returns whether the analysis is still there, and of how many tasks the result is another one.
    """
    row = await one(
        tx,
        f"WITH kept AS MATERIALIZED (SELECT 1 {_KEPT}), stored AS (INSERT INTO analysis_task"
        " SELECT %(project)s, %(analysis)s, n.task, n.class, n.posterior, r.id IS NOT NULL"
        " AND r.consensus IS DISTINCT FROM coalesce(to_jsonb(n.text), %(choices)s::jsonb->(n.class - 1)), n.text FROM ("
        "SELECT (e->>0)::bigint AS task, (e->>1)::smallint AS class, e->>3 AS text,"
        " ARRAY(SELECT p::real FROM jsonb_array_elements_text(e->2) p) AS posterior FROM jsonb_array_elements(%(items)s::jsonb) e) n"
        " LEFT JOIN result r ON r.project_id = %(project)s AND r.task_id = n.task AND r.last_version"
        " WHERE EXISTS (SELECT FROM kept) RETURNING different)"
        " SELECT EXISTS (SELECT FROM kept) AS kept, (SELECT count(*) FROM stored WHERE different) AS n",
        {"project": project_id, "analysis": analysis_id, "choices": choices, "items": items},
    )
    return bool(row["kept"]), int(row["n"])


async def insert_volunteer_outcomes(tx: Database, project_id: int, analysis_id: int, items: str) -> bool:
    """Stores what is known of volunteers: ``items`` is a JSON array of [actor, answers, accuracy, skill or null].

    Returns whether the analysis is still there.
    """
    row = await one(
        tx,
        f"WITH kept AS MATERIALIZED (SELECT 1 {_KEPT}), stored AS (INSERT INTO analysis_volunteer"
        " SELECT %(project)s, %(analysis)s, volunteer_word(%(project)s, e->>0), (e->>1)::bigint, (e->>2)::real, (e->>3)::real"
        " FROM jsonb_array_elements(%(items)s::jsonb) e WHERE EXISTS (SELECT FROM kept))"
        " SELECT EXISTS (SELECT FROM kept) AS kept",
        {"project": project_id, "analysis": analysis_id, "items": items},
    )
    return bool(row["kept"])


async def list_volunteer_codes(tx: Database, project_id: int, actors: Sequence[str]) -> dict[str, str]:
    """The codes of volunteers, by actor."""
    rows = await tx.fetch(
        "SELECT a AS actor, volunteer_word(%(project)s, a) AS code FROM unnest(%(actors)s::text[]) a",
        {"project": project_id, "actors": list(actors)},
    )
    return {row["actor"]: row["code"] for row in rows}


async def list_items(db: Database, project_id: int, analysis_id: int) -> list[ItemEstimate]:
    """How strong the items are that an analysis compared, the strongest first."""
    return await fetch_rows(
        db,
        ItemEstimate,
        "SELECT i.item, i.score, i.low, i.high, i.chosen, i.compared FROM analysis a, ROWS FROM (jsonb_to_recordset(a.items)"
        " AS (item text, score float8, low float8, high float8, chosen int, compared int)) WITH ORDINALITY"
        f" i (item, score, low, high, chosen, compared, nth) WHERE a.{_ONE.replace('AND ', 'AND a.')} ORDER BY i.nth",
        {"project": project_id, "id": analysis_id},
    )


async def delete_outcomes(db: Database, project_id: int, analysis_id: int) -> None:
    """Deletes what an analysis found."""
    values = {"project": project_id, "analysis": analysis_id}
    for table in ("analysis_task", "analysis_volunteer"):
        await record_statements.delete_in_batches(db, table, _KEY, values)


async def list_task_outcomes(
    db: Database, project_id: int, analysis_id: int, place: Keyset, *, different: bool
) -> KeysetPage[TaskEstimate]:
    """A page of the tasks by their ids. ``different``: only those whose result was another one.

    ``consensus`` and ``result`` are of the last version that the task has now.
    """
    only = " AND e.different" if different else ""
    rows = await fetch_rows(
        db,
        TaskEstimate,
        "SELECT e.task_id, e.class AS number, e.posterior, e.text, e.different, r.id IS NOT NULL AS result, r.consensus"
        f" FROM (SELECT * FROM analysis_task e WHERE {_KEY}{only} AND {place.beside('analysis_task', 'e.task_id', ['e.task_id'])}"
        f" {place.limited(['e.task_id'])}) e"
        " LEFT JOIN result r ON r.project_id = %(project)s AND r.task_id = e.task_id AND r.last_version"
        f" ORDER BY e.task_id {'DESC' if place.reads_down else 'ASC'}",
        {"project": project_id, "analysis": analysis_id, **place.values()},
    )
    return place.part(rows)


async def list_volunteer_outcomes(
    db: Database, project_id: int, analysis_id: int, place: Keyset
) -> KeysetPage[VolunteerEstimate]:
    """A page of the volunteers by their accuracy."""
    keys = ["accuracy", "volunteer"]
    here = f"(SELECT * FROM analysis_volunteer WHERE {_KEY}) v"
    rows = await fetch_rows(
        db,
        VolunteerEstimate,
        f"SELECT volunteer, n_answers AS answers, accuracy, skill FROM analysis_volunteer WHERE {_KEY}"
        f" AND {place.beside(here, 'volunteer', keys)} {place.limited(keys)}",
        {"project": project_id, "analysis": analysis_id, **place.values()},
    )
    return place.part(rows)
