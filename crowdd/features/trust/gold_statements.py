"""SQL of gold tasks, with its rows (`gold/33_gold.sql`)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TypedDict

from crowdd.database.access import Database, as_json, fetch_row, fetch_row_or_none, fetch_rows, one
from crowdd.kernel.values import Json, Values


class GoldTask(TypedDict):
    """A gold task: the values that are right (``answers``), and how many answers were compared and were right.

    ``rule`` and ``message`` are None where nothing is set. ``by_name``: the account that made it.
    """

    task_id: int
    answers: list[Json]
    rule: Json
    message: str | None
    since: datetime
    by_name: str | None
    n_seen: int
    n_right: int


class GoldValue(TypedDict):
    """How many gold tasks have this first right answer, as JSON text."""

    value: str
    n: int


class PendingGold(TypedDict):
    """An answer to a gold task that is still to be compared, with what is right; both as JSON text, which nobody reads here.

    ``tries``: how often that has failed.
    """

    project_id: int
    run: int
    info: str
    value: str
    answers: str
    rule: Values
    tries: int


class GoldFigures(TypedDict):
    """How many gold tasks a project has, how tasks are chosen there, and how many volunteers know all of them.

    ``n_others``: tasks that are not gold; ``n_finished``: those of them that are. Both are exact (``shown_figures``).
    """

    n_gold: int
    n_others: int
    n_finished: int
    sched: str
    n_knowing: int
    n_recent: int


_FAILED = "f.project_id = {0}.project_id AND f.run = {0}.id AND f.changed_xid = {0}.changed_xid"
_MAX_BYTES = 5_000_000  # of answers, and of right ones, that are compared at once
_COLUMNS = (
    "g.task_id, g.answer AS answers, g.rule, g.message #>> '{}' AS message, g.since, a.name AS by_name, g.n_seen, g.n_right"
    " FROM gold_task g LEFT JOIN account a ON a.id = g.user_id WHERE g.project_id = %(project)s"
)


async def make_gold(
    db: Database, project_id: int, task_id: int, answers: Json, rule: Json, message: str | None, user_id: int | None
) -> str:
    """Makes a task a gold task: made, exists or no task."""
    row = await one(
        db,
        "SELECT make_gold(%(project)s, %(task)s, %(answers)s, %(rule)s, %(message)s, %(user)s, clock()) AS state",
        {"project": project_id, "task": task_id, **_said(answers, rule, message), "user": user_id},
    )
    return str(row["state"])


async def change_gold(
    db: Database, project_id: int, task_id: int, answers: Json, rule: Json, message: str | None
) -> bool:
    """Changes what is right about a gold task, and compares its answers again. False: it is none."""
    row = await one(
        db,
        "SELECT change_gold(%(project)s, %(task)s, %(answers)s, %(rule)s, %(message)s) AS done",
        {"project": project_id, "task": task_id, **_said(answers, rule, message)},
    )
    return bool(row["done"])


def _said(answers: Json, rule: Json, message: str | None) -> dict[str, object]:
    return {"answers": as_json(answers), "rule": as_json(rule), "message": as_json(message)}


async def end_gold(db: Database, project_id: int, task_id: int) -> bool:
    """Ends a gold task. False: it is none."""
    row = await one(
        db, "SELECT end_gold(%(project)s, %(task)s, clock()) AS done", {"project": project_id, "task": task_id}
    )
    return bool(row["done"])


async def list_gold(db: Database, project_id: int, after: int, maximum: int) -> list[GoldTask]:
    """Gold tasks behind one, by the id of the task."""
    return await fetch_rows(
        db,
        GoldTask,
        f"SELECT {_COLUMNS} AND g.task_id > %(after)s ORDER BY g.task_id LIMIT %(maximum)s",
        {"project": project_id, "after": after, "maximum": maximum},
    )


async def find_gold(db: Database, project_id: int, task_id: int) -> GoldTask | None:
    """A gold task."""
    return await fetch_row_or_none(
        db, GoldTask, f"SELECT {_COLUMNS} AND g.task_id = %(task)s", {"project": project_id, "task": task_id}
    )


async def find_consensus(db: Database, project_id: int, task_id: int) -> Json:
    """What the last result of a task says at the first answer field; None where it says nothing."""
    rows = await db.fetch(
        "SELECT consensus FROM result WHERE project_id = %(project)s AND task_id = %(task)s AND last_version",
        {"project": project_id, "task": task_id},
    )
    return rows[0]["consensus"] if rows else None


async def list_telling_keys(db: Database, project_id: int, task_ids: Sequence[int]) -> list[str]:
    """Keys of the info of these tasks that other tasks lack."""
    row = await one(
        db,
        "SELECT telling_keys(%(project)s, %(tasks)s::bigint[]) AS keys",
        {"project": project_id, "tasks": list(task_ids)},
    )
    return list(row["keys"])


async def read_gold_figures(db: Database, project_id: int) -> GoldFigures:
    """Numbers about the gold tasks of a project. ``n_recent``: volunteers of the last two weeks."""
    return await fetch_row(
        db,
        GoldFigures,
        "SELECT l.n_gold, f.n_tasks AS n_others, f.n_completed_tasks AS n_finished, l.sched, (SELECT count(*) FROM reliability r WHERE r.project_id = l.project_id AND l.n_gold > 0"
        " AND r.gold_given >= l.n_gold) AS n_knowing,"
        " (SELECT count(*) FROM volunteer v WHERE v.project_id = l.project_id AND v.recent > 0) AS n_recent"
        " FROM project_ledger l JOIN project_figures f USING (project_id) WHERE l.project_id = %(project)s",
        {"project": project_id},
    )


async def count_gold_by_value(db: Database, project_id: int, maximum: int) -> list[GoldValue]:
    """How many gold tasks there are of each right answer, the most frequent first."""
    return await fetch_rows(
        db,
        GoldValue,
        "SELECT (answer->0)::text AS value, count(*)::int AS n FROM gold_task WHERE project_id = %(project)s"
        " GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT %(maximum)s",
        {"project": project_id, "maximum": maximum},
    )


async def list_pending(db: Database, maximum: int) -> list[PendingGold]:
    """Answers to gold tasks that a library has to compare, at most ``maximum`` and some MB, but at least one.

    Those that could not be compared come again when it is time.
    """
    return await fetch_rows(
        db,
        PendingGold,
        "SELECT project_id, run, info::text, coalesce(value, 'null')::text AS value, answers::text, rule, tries FROM ("
        "SELECT r.project_id, r.id AS run, r.info, gold_value(p.answer_path, r.info) AS value, g.answer AS answers, coalesce(f.tries, 0) AS tries,"
        " gold_rule(p.answer_fields->0, g.rule) AS rule, sum(octet_length(r.info::text) + octet_length(g.answer::text)) OVER (ORDER BY r.project_id, r.id) AS bytes,"
        " row_number() OVER (ORDER BY r.project_id, r.id) AS nth"
        " FROM (SELECT * FROM task_run q WHERE gold AND is_right IS NULL"
        " AND EXISTS (SELECT FROM gold_task t WHERE t.project_id = q.project_id AND t.task_id = q.task_id)"
        f" AND NOT EXISTS (SELECT FROM gold_failure f WHERE {_FAILED.format('q')} AND coalesce(f.retry_at > clock(), true))"
        " ORDER BY project_id, id LIMIT %(maximum)s) r"
        f" JOIN gold_task g USING (project_id, task_id) JOIN project p ON p.id = r.project_id LEFT JOIN gold_failure f ON {_FAILED.format('r')}) x"
        f" WHERE nth = 1 OR bytes <= {_MAX_BYTES} ORDER BY nth",
        {"maximum": maximum},
    )


async def note_failure(
    db: Database, project_id: int, run_id: int, info: str, failure: str, retry_seconds: float | None
) -> None:
    """Notes that a pending answer could not be compared, and when it is tried again, unless it has changed meanwhile."""
    await db.execute(
        "INSERT INTO gold_failure AS f (project_id, run, changed_xid, failure, tries, retry_at)"
        " SELECT project_id, id, changed_xid, %(failure)s, 1, clock() + %(seconds)s * interval '1 second' FROM task_run"
        " WHERE project_id = %(project)s AND id = %(run)s AND gold AND is_right IS NULL AND info = %(info)s::jsonb"
        " ON CONFLICT (project_id, run) DO UPDATE SET changed_xid = excluded.changed_xid, failure = excluded.failure,"
        " tries = CASE WHEN f.changed_xid = excluded.changed_xid THEN f.tries + 1 ELSE 1 END, retry_at = excluded.retry_at",
        {"project": project_id, "run": run_id, "info": info, "failure": failure, "seconds": retry_seconds},
    )


async def decide_pending(db: Database, project_id: int, run_id: int, info: str, *, right: bool) -> bool:
    """Stores whether a pending answer is right (``info``: as JSON text). False: it has changed meanwhile."""
    row = await one(
        db,
        "SELECT decide_gold(%(project)s, %(run)s, %(info)s::jsonb, %(right)s) AS done",
        {"project": project_id, "run": run_id, "info": info, "right": right},
    )
    return bool(row["done"])


async def compare_again(db: Database, maximum: int) -> int:
    """Compares the answers to gold tasks again whose project has another label by now; how many tasks."""
    return int((await one(db, "SELECT rejudge_due(%(maximum)s) AS n", {"maximum": maximum}))["n"])
