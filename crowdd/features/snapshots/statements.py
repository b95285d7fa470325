"""SQL of snapshots, of deposits in repositories, and of a project's rows as snapshots have them.

The rows are what everybody may read where answers are public, one JSON object per line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from crowdd.core.records.role_statements import COMPLETE
from crowdd.database.access import Database, as_json, fetch_row_or_none, fetch_rows, one, one_or_none
from crowdd.features.exports.statements import Chosen, Lines, json_lines, rows_of
from crowdd.features.snapshots.rows import (
    DepositRow,
    DepositWork,
    DueSnapshot,
    SnapshotFile,
    SnapshotProject,
    SnapshotRow,
    SnapshotSchedule,
)
from crowdd.kernel.values import Values
from crowdd.kinds.kind import Kind
from crowdd.kinds.result import RESULT
from crowdd.kinds.task import TASK
from crowdd.kinds.task_run import TASK_RUN

_STATE = "CASE WHEN s.hash IS NOT NULL THEN 'done' WHEN q.state IN ('waiting', 'running', 'cancelled') THEN q.state ELSE 'failed' END"
_WITHDRAWN = "(SELECT count(*) FROM withdrawn_volunteer w WHERE w.project_id = s.project_id AND w.at > s.as_of)"
_ROWS = (
    "SELECT s.id, s.project_id, s.created, s.user_id, u.name AS user_name, q.id AS queue_item,"
    f" {_STATE} AS state, coalesce(q.done, 0) AS done, q.total, coalesce(nullif(s.error, ''), q.error, '') AS error, s.public,"
    " s.hash, s.as_of, s.complete, s.hidden_columns, s.manifest,"
    " (SELECT coalesce(sum(f.bytes), 0)::bigint FROM snapshot_file f WHERE f.snapshot_id = s.id) AS bytes,"
    f" {_WITHDRAWN} AS withdrawn FROM snapshot s LEFT JOIN queue_item q ON q.id = s.item_id"
    " LEFT JOIN account u ON u.id = s.user_id"
)
_OF_PROJECT = f"{_ROWS} WHERE s.project_id = %(project)s"


async def lock_snapshots(tx: Database, project_id: int) -> tuple[int, bool]:
    """How many snapshots a project has, and whether one of them waits or is being made. No other can be added meanwhile."""
    await tx.fetch("SELECT FROM project WHERE id = %(project)s FOR NO KEY UPDATE", {"project": project_id})
    row = await one(
        tx,
        "SELECT count(*) AS n, coalesce(bool_or(s.hash IS NULL AND q.state IN ('waiting', 'running')), false) AS busy"
        " FROM snapshot s LEFT JOIN queue_item q ON q.id = s.item_id WHERE s.project_id = %(project)s",
        {"project": project_id},
    )
    return int(row["n"]), bool(row["busy"])


async def hold_files(tx: Database, project_id: int) -> None:
    """Waits for others who store or remove files of a project's snapshots, and keeps them away until the commit."""
    await tx.execute(
        "SELECT pg_advisory_xact_lock(hashtextextended('snapshots', %(project)s))", {"project": project_id}
    )


async def insert_snapshot(tx: Database, project_id: int, user_id: int | None) -> int:
    """The id of a new snapshot, which is to be made."""
    row = await one(
        tx,
        "INSERT INTO snapshot (project_id, created, user_id) VALUES (%(project)s, clock(), %(user)s) RETURNING id",
        {"project": project_id, "user": user_id},
    )
    return int(row["id"])


async def set_snapshot_item(tx: Database, snapshot_id: int, item_id: int) -> None:
    """Says which background task makes a snapshot."""
    await tx.execute("UPDATE snapshot SET item_id = %(item)s WHERE id = %(id)s", {"id": snapshot_id, "item": item_id})


async def set_snapshot_error(db: Database, snapshot_id: int, error: str) -> None:
    """Says why a snapshot could not be made."""
    await db.execute("UPDATE snapshot SET error = %(error)s WHERE id = %(id)s", {"id": snapshot_id, "error": error})


async def list_snapshots(db: Database, project_id: int) -> list[SnapshotRow]:
    """The snapshots of a project, the newest first."""
    return await fetch_rows(db, SnapshotRow, f"{_OF_PROJECT} ORDER BY s.id DESC", {"project": project_id})


async def find_next_made(db: Database, after: int) -> SnapshotRow | None:
    """The next snapshot of any project that is made, by id."""
    sql = f"{_ROWS} WHERE s.id > %(after)s AND s.hash IS NOT NULL ORDER BY s.id LIMIT 1"
    return await fetch_row_or_none(db, SnapshotRow, sql, {"after": after})


async def find_snapshot(db: Database, project_id: int, snapshot_id: int) -> SnapshotRow | None:
    """One of them by its id."""
    values = {"project": project_id, "id": snapshot_id}
    return await fetch_row_or_none(db, SnapshotRow, f"{_OF_PROJECT} AND s.id = %(id)s", values)


async def find_snapshot_by_hash(db: Database, project_id: int, hash_: str) -> SnapshotRow | None:
    """One of them by the hash of its content."""
    values = {"project": project_id, "hash": hash_}
    return await fetch_row_or_none(db, SnapshotRow, f"{_OF_PROJECT} AND s.hash = %(hash)s", values)


async def list_projects_with_hash(db: Database, hash_: str) -> list[int]:
    """The projects that have a snapshot with this hash."""
    rows = await db.fetch("SELECT project_id FROM snapshot WHERE hash = %(hash)s ORDER BY id", {"hash": hash_})
    return [row["project_id"] for row in rows]


async def list_files(db: Database, snapshot_id: int) -> list[SnapshotFile]:
    """The files of a snapshot, by their names."""
    return await fetch_rows(
        db,
        SnapshotFile,
        "SELECT name, key, bytes, sha256, crc32, content FROM snapshot_file WHERE snapshot_id = %(id)s ORDER BY name",
        {"id": snapshot_id},
    )


async def finish_snapshot(
    tx: Database, snapshot_id: int, hash_: str, project: SnapshotProject, manifest: Values, *, complete: bool
) -> bool:
    """Says that a snapshot is made; False when the project has one with this content, or it was deleted meanwhile."""
    return (
        await tx.execute(
            "UPDATE snapshot s SET hash = %(hash)s, as_of = %(now)s, error = '', complete = %(complete)s,"
            " hidden_columns = %(hidden)s, manifest = %(manifest)s WHERE id = %(id)s AND NOT EXISTS ("
            "SELECT FROM snapshot o WHERE o.project_id = s.project_id AND o.hash = %(hash)s)",
            {
                "id": snapshot_id,
                "hash": hash_,
                "now": project.now,
                "complete": complete,
                "hidden": None if project.hidden_columns is None else as_json(project.hidden_columns),
                "manifest": as_json(manifest),
            },
        )
        > 0
    )


async def add_files(tx: Database, snapshot_id: int, rows: Sequence[SnapshotFile]) -> None:
    """Adds the files of a snapshot."""
    await tx.execute(
        "INSERT INTO snapshot_file (snapshot_id, name, key, bytes, sha256, crc32, content)"
        " SELECT %(id)s, r.name, r.key, r.bytes, r.sha256, r.crc32, r.content"
        " FROM jsonb_to_recordset(%(rows)s) r(name text, key text, bytes bigint, sha256 text, crc32 bigint, content boolean)",
        {"id": snapshot_id, "rows": as_json(list(rows))},
    )


async def set_snapshot_public(db: Database, snapshot_id: int, *, public: bool) -> None:
    """Makes a snapshot public, or one for owners."""
    await db.execute("UPDATE snapshot SET public = %(public)s WHERE id = %(id)s", {"id": snapshot_id, "public": public})


async def delete_snapshot(db: Database, snapshot_id: int) -> None:
    """Deletes a snapshot. Its files stay in the store until they are removed there."""
    await db.execute("DELETE FROM snapshot WHERE id = %(id)s", {"id": snapshot_id})


async def list_file_keys(db: Database, project_id: int) -> set[str]:
    """The keys of all files of a project's snapshots."""
    rows = await db.fetch(
        "SELECT DISTINCT f.key FROM snapshot s JOIN snapshot_file f ON f.snapshot_id = s.id WHERE s.project_id = %(project)s",
        {"project": project_id},
    )
    return {row["key"] for row in rows}


async def list_withdrawn_volunteers(db: Database, project_id: int, snapshot_id: int) -> list[str]:
    """Codes of volunteers who deleted their account after a snapshot was made."""
    rows = await db.fetch(
        "SELECT w.word FROM snapshot s JOIN withdrawn_volunteer w ON w.project_id = s.project_id AND w.at > s.as_of"
        " WHERE s.project_id = %(project)s AND s.id = %(id)s ORDER BY 1",
        {"project": project_id, "id": snapshot_id},
    )
    return [row["word"] for row in rows]


async def find_short_name(db: Database, project_id: int) -> str:
    """The short name of a project, which stands in the addresses of its snapshots."""
    row = await one(db, "SELECT short_name FROM project WHERE id = %(id)s", {"id": project_id})
    return str(row["short_name"])


# What it is made of -----------------------------------------------------------------------------------------------------


async def find_project(tx: Database, project_id: int) -> SnapshotProject | None:
    """The project as it is at this moment."""
    return await fetch_row_or_none(
        tx,
        SnapshotProject,
        "SELECT p.id, p.name, p.short_name, p.description, p.long_description, p.info, p.allow_anonymous_contributors,"
        " c.short_name AS category, p.has_gold, coalesce(p.info->>'gold_embargo' <= to_char(clock() AT TIME ZONE 'UTC', 'YYYY-MM-DD'), false) AS gold,"
        " l.trial, p.hidden_columns, clock() AS now"
        " FROM project p JOIN project_ledger l ON l.project_id = p.id LEFT JOIN category c ON c.id = p.category_id WHERE p.id = %(id)s",
        {"id": project_id},
    )


# Schedules --------------------------------------------------------------------------------------------------------------


async def find_schedule(db: Database, project_id: int) -> SnapshotSchedule | None:
    """How often snapshots of a project are made; None: only when somebody asks."""
    sql = "SELECT every, due FROM snapshot_schedule WHERE project_id = %(project)s"
    return await fetch_row_or_none(db, SnapshotSchedule, sql, {"project": project_id})


async def set_schedule(db: Database, project_id: int, every: str, user_id: int | None) -> None:
    """Has snapshots made each week or month; the first one after such a time. An empty ``every`` ends that."""
    if not every:
        await db.execute("DELETE FROM snapshot_schedule WHERE project_id = %(project)s", {"project": project_id})
        return
    await db.execute(
        "INSERT INTO snapshot_schedule AS s (project_id, every, due, user_id)"
        " VALUES (%(project)s, %(every)s, clock() + ('1 ' || %(every)s)::interval, %(user)s)"
        " ON CONFLICT (project_id) DO UPDATE SET every = excluded.every, user_id = excluded.user_id,"
        " due = CASE WHEN s.every = excluded.every THEN s.due ELSE excluded.due END",
        {"project": project_id, "every": every, "user": user_id},
    )


async def take_due_snapshot(db: Database) -> DueSnapshot | None:
    """The next project whose snapshot is due; the following one is due a week or a month later."""
    return await fetch_row_or_none(
        db,
        DueSnapshot,
        "UPDATE snapshot_schedule s SET due = clock() + ('1 ' || s.every)::interval"
        " FROM (SELECT c.project_id, a.id AS user_id, coalesce(a.name, '') AS user_name, coalesce(a.admin, false) AS admin"
        " FROM snapshot_schedule c LEFT JOIN account a ON a.id = c.user_id WHERE c.due <= clock()"
        " ORDER BY c.due LIMIT 1 FOR UPDATE OF c SKIP LOCKED) d"
        " WHERE s.project_id = d.project_id RETURNING d.project_id, d.user_id, d.user_name, d.admin",
    )


_DEPOSIT_STATE = (
    "CASE WHEN d.published IS NOT NULL THEN 'published' WHEN q.state IN ('waiting', 'running', 'cancelled', 'dead') THEN"
    " CASE q.state WHEN 'dead' THEN 'failed' ELSE q.state END WHEN d.uploaded IS NOT NULL THEN 'uploaded' ELSE 'failed' END"
)


async def find_deposit(db: Database, snapshot_id: int) -> DepositRow | None:
    """The deposit of a snapshot."""
    return await fetch_row_or_none(
        db,
        DepositRow,
        "SELECT d.id, d.snapshot_id, d.created, u.name AS user_name, q.id AS queue_item,"
        f" {_DEPOSIT_STATE} AS state, coalesce(q.done, 0) AS done, q.total, coalesce(q.error, '') AS error, d.url, d.publish, d.page,"
        " d.published, d.doi FROM deposit d LEFT JOIN queue_item q ON q.id = d.item_id LEFT JOIN account u ON u.id = d.user_id"
        " WHERE d.snapshot_id = %(snapshot)s",
        {"snapshot": snapshot_id},
    )


async def find_deposit_work(db: Database, deposit_id: int) -> DepositWork | None:
    """What the work on a deposit needs."""
    return await fetch_row_or_none(
        db,
        DepositWork,
        "SELECT id, snapshot_id, url, publish, remote_id, published, token_encrypted FROM deposit WHERE id = %(id)s",
        {"id": deposit_id},
    )


async def insert_deposit(db: Database, snapshot_id: int, user_id: int | None, url: str, *, publish: bool) -> int | None:
    """The id of a new deposit; None if the snapshot has one."""
    row = await one_or_none(
        db,
        "INSERT INTO deposit (snapshot_id, created, user_id, url, publish)"
        " VALUES (%(snapshot)s, clock(), %(user)s, %(url)s, %(publish)s) ON CONFLICT DO NOTHING RETURNING id",
        {"snapshot": snapshot_id, "user": user_id, "url": url, "publish": publish},
    )
    return int(row["id"]) if row else None


async def set_deposit_token(db: Database, deposit_id: int, encrypted: bytes | None) -> None:
    """Keeps a token, or forgets it."""
    await db.execute(
        "UPDATE deposit SET token_encrypted = %(token)s WHERE id = %(id)s", {"id": deposit_id, "token": encrypted}
    )


async def begin_deposit(db: Database, deposit_id: int, item_id: int | None, *, publish: bool) -> None:
    """Says which item of the queue works on a deposit, and whether it is to be published."""
    await db.execute(
        "UPDATE deposit SET item_id = %(item)s, publish = %(publish)s WHERE id = %(id)s",
        {"id": deposit_id, "item": item_id, "publish": publish},
    )


async def set_deposit_created(db: Database, deposit_id: int, remote_id: str, page: str) -> None:
    """Says what it is in the repository."""
    await db.execute(
        "UPDATE deposit SET remote_id = %(remote)s, page = %(page)s WHERE id = %(id)s",
        {"id": deposit_id, "remote": remote_id, "page": page},
    )


async def set_deposit_uploaded(db: Database, deposit_id: int) -> None:
    """All files are in the repository."""
    await db.execute("UPDATE deposit SET uploaded = clock() WHERE id = %(id)s", {"id": deposit_id})


async def set_deposit_published(db: Database, deposit_id: int, page: str, doi: str) -> None:
    """It is published. Its token is forgotten."""
    await db.execute(
        "UPDATE deposit SET published = clock(), page = %(page)s, doi = %(doi)s, token_encrypted = NULL WHERE id = %(id)s",
        {"id": deposit_id, "page": page, "doi": doi},
    )


async def delete_deposit(db: Database, deposit_id: int) -> None:
    """Forgets a deposit. What the repository has stays there."""
    await db.execute("DELETE FROM deposit WHERE id = %(id)s", {"id": deposit_id})


FIELDS: Final[dict[Kind, tuple[str, ...]]] = {
    TASK: ("id", "created", "info", "n_answers", "priority_0", "state", "closed"),
    TASK_RUN: ("id", "task_id", "info", "created", "finish_time", "timeout", "media_url"),
    RESULT: (
        "id", "task_id", "task_run_ids", "last_version", "created", "reason", "confidence", "posterior", "consensus", "info",
    ),
}  # fmt: skip
"""Attributes of rows, all of which everybody may read (a test compares them with the declarations)."""
_TIMES: Final = frozenset({"created", "finish_time", "since", "ended", "at"})
# Of decisions that do not say of what they were made.
_UNKNOWN: Final = """'{"answers": null, "classes": null, "accuracies": null, "confidence": null}'"""
# While a project has gold tasks, only its owners see its snapshots; they need the true state.
_OF_TASKS: Final = {
    name: f"(SELECT r.{name} FROM task_record r WHERE r.project_id = t.project_id AND r.id = t.id)"
    for name in ("state", "closed")
}
_CODE: Final = (
    "CASE WHEN NOT EXISTS (SELECT FROM withdrawn_volunteer w WHERE w.project_id = t.project_id AND w.word = t.volunteer)"
    " THEN t.volunteer END"
)
_COMPUTED: Final[Mapping[Kind, Mapping[str, str]]] = {
    TASK: {},
    TASK_RUN: {
        "volunteer": _CODE,
        "class": "(SELECT q.choices[t.class] FROM trust_model q WHERE q.project_id = t.project_id)",
        "fits": "(SELECT t.class IS NOT NULL FROM trust_model q WHERE q.project_id = t.project_id)",
        "counted": "t.counted",
        "not_counted": "why_not_counted(t.counted, t.gold, t.aside, t.unreliable)",
        "right": "CASE WHEN t.gold THEN t.is_right END",
        "questions_version": "questions_version_of(t.project_id, t.info, t.created)",
    },
    RESULT: {
        "model": "(SELECT model_of(r) FROM result r WHERE r.project_id = t.project_id AND r.id = t.id)",
        "sample": (
            "(SELECT s.decided FROM sampled_result s JOIN trust_model q USING (project_id, generation)"
            " WHERE s.project_id = t.project_id AND s.task_id = t.task_id AND s.result_id = t.id)"
        ),
    },
}
"""Columns that are made for snapshots, as expressions of a row t."""
_COMPLETED_BY_IMPORT: Final = (
    "EXISTS (SELECT FROM result x WHERE x.project_id = t.project_id AND x.task_id = t.id AND x.last_version"
    " AND NOT EXISTS (SELECT FROM task_run u WHERE u.project_id = t.project_id AND u.id = ANY (x.task_run_ids) AND u.trial))"
)


def read_lines(kind: Kind, project: SnapshotProject, *, complete: bool) -> Lines:
    """The rows of a kind. Trial answers and what they did are left out; so are gold tasks, unless ``project.gold``.

    ``complete``: only answers to complete tasks and their results.
    """
    chosen = Chosen(project.id, complete=complete, ordinary=True, gold=project.gold)
    pairs = [f"'{name}', {_value(name)}" for name in FIELDS[kind] if not (kind is TASK and name in _OF_TASKS)]
    if kind is TASK:
        pairs += [f"'{name}', {value}" for name, value in _states(project)]
    pairs += [f"'{name}', {value}" for name, value in _COMPUTED[kind].items()]
    return json_lines(rows_of(kind, chosen), chosen, f"json_build_object({', '.join(pairs)})::text", b"\n")


def read_gold_lines(project: SnapshotProject) -> Lines:
    """What is right about the tasks that were gold tasks, and with ``project.gold`` about those that are."""
    rows = "SELECT project_id, task_id AS id, answer, rule, since, ended FROM ended_gold"
    if project.gold:
        rows += " UNION ALL SELECT project_id, task_id, answer, rule, since, NULL FROM gold_task"
    times = ", ".join(f"'{name}', {_value(name)}" for name in ("since", "ended"))
    line = f"json_build_object('id', t.id, 'right', t.answer, 'rule', t.rule, {times})::text"
    return json_lines(f"({rows}) t WHERE t.project_id = %(project)s", Chosen(project.id), line, b"\n")


def read_rule_lines(project: SnapshotProject) -> Lines:
    """The versions of the owners' rules by which something was decided."""
    rows = (
        "(SELECT v.project_id, v.version AS id, v.since, v.rules FROM task_rules v WHERE v.project_id = %(project)s AND EXISTS ("
        "SELECT FROM rule_decision d WHERE d.project_id = v.project_id AND d.version = v.version)) t"
    )
    line = f"json_build_object('version', t.id, 'since', {_value('since')}, 'rules', t.rules)::text"
    return json_lines(rows, Chosen(project.id), line, b"\n")


def read_decision_lines(project: SnapshotProject, *, complete: bool) -> Lines:
    """What rules did: of each task a line with its decisions. ``complete``: only of complete tasks."""
    only = f" AND {COMPLETE}" if complete else ""
    decision = (
        "jsonb_build_object('rule', t.rule, 'version', t.version, 'kind', t.kind, 'n_answers', t.answers, 'at', "
        f"{_value('at')}, 'choices', m.choices) || coalesce(t.weighed_by - 'generation', {_UNKNOWN})"
    )
    rows = (
        f'(SELECT t.project_id, t.task_id AS id, jsonb_agg({decision} ORDER BY t.rule COLLATE "C", t.kind) AS decisions'
        " FROM rule_decision t LEFT JOIN trust_model m ON m.project_id = t.project_id"
        " AND m.generation = (t.weighed_by->>'generation')::int"
        f" WHERE t.project_id = %(project)s{only} GROUP BY t.project_id, t.task_id) t"
    )
    return json_lines(rows, Chosen(project.id), "json_build_object('id', t.id, 'decisions', t.decisions)::text", b"\n")


def _states(project: SnapshotProject) -> Iterator[tuple[str, str]]:
    for name, of in _OF_TASKS.items():
        if project.trial:
            other = "'ongoing'" if name == "state" else "NULL"
            yield name, f"CASE WHEN {_COMPLETED_BY_IMPORT} THEN t.{name} ELSE {other} END"
        else:
            yield name, of if project.has_gold else f"t.{name}"


def _value(name: str) -> str:
    if name in _TIMES:
        return f"""to_char(t."{name}" AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')"""
    return f't."{name}"'
