"""Files that owners brought, and the rows of them that were refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter

from crowdd.database.access import Database, as_json, fetch_row, fetch_row_or_none, fetch_rows, one, one_or_none
from crowdd.features.imports.rows import (
    AddedFigures,
    GoneTask,
    ImportChoices,
    ImportFigures,
    ImportProgress,
    ImportRow,
    KeyedFate,
    KeyedFigures,
    ListedImport,
    LockedImport,
    PendingCounts,
    PendingImport,
    RefusedRow,
)

KEPT_ERRORS = 10_000  # refused rows of an import that are kept
_ATTRIBUTES = ("n_answers", "priority_0", "quorum", "calibration")
CHOICES = tuple(ImportChoices.__annotations__)
"""What an owner chooses of a file; the preview holds for one set of choices."""

_FIGURES = (
    "id, project_id, user_id, created, name, format, file, bytes, rows, columns, sample, dialect, kind, doubts, sheets, uses, roles, source_id, key_name, keep_columns, n_answers,"
    " again, on_error, auto, queue_item, check_item, check_error, checked, preview, added, present, twice, kept, updated, refused, blank AS empty, ended"
)


def choices_of(row: ImportChoices) -> ImportChoices:
    """The choices of an import, without the rest of its row."""
    return {
        "dialect": row["dialect"],
        "kind": row["kind"],
        "uses": row["uses"],
        "key_name": row["key_name"],
        "keep_columns": row["keep_columns"],
        "again": row["again"],
        "n_answers": row["n_answers"],
    }


async def add(
    db: Database, project_id: int, user_id: int | None, values: Mapping[str, object], maximum: int
) -> int | None:
    """The id of a new import that waits to be read; None when the project has ``maximum`` that wait."""
    row = await one_or_none(
        db,
        "INSERT INTO task_import (project_id, user_id, created, name, format, file, bytes, rows, columns, sample, dialect, on_error, auto, again, n_answers)"
        " SELECT %(project)s, %(user)s, clock(), %(name)s, %(format)s, %(file)s, %(bytes)s, 0, '[]', '[]', %(dialect)s, %(on_error)s, %(auto)s,"
        " %(again)s, %(n_answers)s WHERE (SELECT count(*) FROM task_import WHERE project_id = %(project)s AND queue_item IS NULL) < %(maximum)s"
        " RETURNING id",
        {**values, "dialect": as_json(values["dialect"]), "project": project_id, "user": user_id, "maximum": maximum},
    )
    return int(row["id"]) if row else None


async def pending(db: Database, project_id: int, user_id: int | None) -> PendingCounts:
    """How many imports wait for a decision of their owner."""
    return await fetch_row(
        db,
        PendingCounts,
        "SELECT (SELECT count(*) FROM task_import WHERE project_id = %(project)s AND queue_item IS NULL) AS project,"
        " (SELECT count(*) FROM task_import WHERE user_id = %(user)s AND queue_item IS NULL) AS person",
        {"project": project_id, "user": user_id},
    )


async def get(db: Database, project_id: int, import_id: int) -> ImportRow | None:
    """An import of the project with its ``state``: reading, unread, unreadable, pending, that of its work, or done."""
    return await fetch_row_or_none(
        db,
        ImportRow,
        f"SELECT {_FIGURES}, import_state(i.id) AS state, (SELECT row_to_json(w) FROM (SELECT q.id, q.state, q.done, q.total, q.error, q.cancel FROM queue_item q"
        " WHERE q.id = coalesce(i.queue_item, i.check_item)) w) AS work"
        " FROM task_import i WHERE project_id = %(project)s AND id = %(id)s",
        {"project": project_id, "id": import_id},
    )


async def progress(db: Database, project_id: int, import_id: int) -> ImportProgress | None:
    """How far an import of the project is."""
    return await fetch_row_or_none(
        db,
        ImportProgress,
        "SELECT import_state(i.id) AS import_state, i.preview IS NULL AS reading, i.rows, i.added, i.updated, i.present, i.refused,"
        " q.state, coalesce(q.done, 0) AS done, q.total, q.began, coalesce(q.done_before, 0) AS done_before, q.progressed"
        " FROM task_import i LEFT JOIN queue_item q ON q.id = coalesce(i.queue_item, i.check_item)"
        " WHERE i.project_id = %(project)s AND i.id = %(id)s",
        {"project": project_id, "id": import_id},
    )


async def newest(db: Database, project_id: int, maximum: int) -> list[ListedImport]:
    """The newest imports of a project, without their rows."""
    return await fetch_rows(
        db,
        ListedImport,
        "SELECT id, created, name, format, bytes, rows, kind, queue_item, added, updated, present, refused, ended,"
        " import_state(i.id) AS state FROM task_import i WHERE project_id = %(project)s ORDER BY id DESC LIMIT %(maximum)s",
        {"project": project_id, "maximum": maximum},
    )


async def lock_pending(db: Database, project_id: int, import_id: int) -> PendingImport | None:
    """An import that has not begun, locked until the transaction ends; None when it has begun or does not exist."""
    return await fetch_row_or_none(
        db,
        PendingImport,
        f"SELECT {_FIGURES} FROM task_import WHERE project_id = %(project)s AND id = %(id)s AND queue_item IS NULL FOR UPDATE",
        {"project": project_id, "id": import_id},
    )


async def choose(db: Database, import_id: int, choices: Mapping[str, object], auto: bool, on_error: str | None) -> None:
    """Writes down other choices; what was counted by those before holds no longer."""
    values = {name: choices[name] for name in CHOICES}
    values |= {name: None if values[name] is None else as_json(values[name]) for name in ("dialect", "uses")}
    sets = ", ".join(f"{name} = %({name})s" for name in CHOICES)
    await db.execute(
        f"UPDATE task_import SET {sets}, auto = %(auto)s, on_error = %(on_error)s, preview = NULL, checked = NULL, check_error = ''"
        " WHERE id = %(id)s",
        {**values, "id": import_id, "auto": auto, "on_error": on_error},
    )


async def save_roles(db: Database, import_id: int, roles: Mapping[str, str]) -> None:
    """Keeps what the columns are for."""
    sql = "UPDATE task_import SET roles = %(roles)s WHERE id = %(id)s"
    await db.execute(sql, {"id": import_id, "roles": as_json(dict(roles))})


async def read_by(db: Database, import_id: int, item: int, begins: bool) -> None:
    """Says which work reads the file, and whether it is the one that adds what the file has, too."""
    await db.execute(
        "UPDATE task_import SET check_item = %(item)s, queue_item = CASE WHEN %(begins)s THEN %(item)s END WHERE id = %(id)s",
        {"id": import_id, "item": item, "begins": begins},
    )


async def save_inspected(db: Database, import_id: int, values: Mapping[str, object]) -> None:
    """What the file holds: dialect, kind, format, columns, sample, rows, empty, doubts, sheets; its refused rows are forgotten."""
    encoded = {name: as_json(values[name]) for name in ("dialect", "columns", "sample", "doubts", "sheets", "uses")}
    names = ("dialect", "kind", "format", "columns", "sample", "rows", "blank", "doubts", "sheets", "uses", "key_name")
    sets = ", ".join(f"{name} = %({name})s" for name in names)
    stored = {**values, **encoded, "blank": values["empty"], "id": import_id}
    await db.execute(f"UPDATE task_import SET {sets} WHERE id = %(id)s", stored)
    await db.execute("DELETE FROM import_error WHERE import_id = %(id)s", {"id": import_id})


async def lock(db: Database, import_id: int) -> LockedImport | None:
    """The choices of an import, locked until the transaction ends."""
    return await fetch_row_or_none(
        db,
        LockedImport,
        f"SELECT {', '.join(CHOICES)}, queue_item FROM task_import WHERE id = %(id)s FOR UPDATE",
        {"id": import_id},
    )


async def save_preview(
    db: Database, import_id: int, checked: Mapping[str, object], preview: Mapping[str, object]
) -> None:
    """Keeps what would become of the rows by these choices."""
    await db.execute(
        "UPDATE task_import SET preview = %(preview)s, checked = %(checked)s, check_error = '' WHERE id = %(id)s",
        {"id": import_id, "checked": as_json(dict(checked)), "preview": as_json(dict(preview))},
    )


async def save_unreadable(db: Database, import_id: int, reason: str) -> None:
    """Says why nothing of the file can be used."""
    await db.execute(
        "UPDATE task_import SET check_error = %(reason)s, queue_item = NULL WHERE id = %(id)s",
        {"id": import_id, "reason": reason[:500]},
    )


async def begin(db: Database, import_id: int, on_error: str, queue_item: int | None) -> None:
    """Says what becomes of the rest when rows are refused, and which work adds what the file has; None: not yet."""
    await db.execute(
        "UPDATE task_import SET on_error = %(on_error)s, queue_item = %(item)s WHERE id = %(id)s",
        {"id": import_id, "on_error": on_error, "item": queue_item},
    )


async def wait_for_owner(db: Database, import_id: int) -> None:
    """The file has been read, and its owner has to decide before it begins."""
    await db.execute("UPDATE task_import SET queue_item = NULL, auto = false WHERE id = %(id)s", {"id": import_id})


async def forget(db: Database, project_id: int, import_id: int) -> str | None:
    """Removes an import that has not begun; the name of its file."""
    row = await one_or_none(
        db,
        "DELETE FROM task_import WHERE project_id = %(project)s AND id = %(id)s AND queue_item IS NULL RETURNING file",
        {"project": project_id, "id": import_id},
    )
    return row["file"] if row else None


async def known(db: Database, project_id: int, infos: Sequence[object]) -> list[bool]:
    """Of each value, in order, whether the project has a task with this info."""
    values = {"project": project_id, "infos": as_json(list(infos))}
    row = await one(db, "SELECT known_infos(%(project)s, %(infos)s) AS known", values)
    return list(row["known"])


async def add_new(db: Database, project_id: int, rows: Sequence[Mapping[str, object]], again: bool) -> AddedFigures:
    """Adds tasks (as ``tasks.statements.insert_tasks``) that are not there, each once, or all: how many were ``added`` and ``present``."""
    return await fetch_row(
        db,
        AddedFigures,
        "SELECT * FROM import_new_tasks(%(project)s, %(runs)s, %(again)s, clock())",
        {"project": project_id, "runs": as_json(list(_runs(rows))), "again": again},
    )


def _runs(rows: Sequence[Mapping[str, object]]) -> Iterator[dict[str, object]]:
    """Tasks that follow each other with the same attributes as one, with their ``infos``. Gold tasks are by themselves."""
    for is_gold, some in groupby(rows, lambda row: "gold" in row):
        if is_gold:
            yield from ({**row, "infos": [row["info"]]} for row in some)
        else:
            for attributes, run in groupby(some, itemgetter(*_ATTRIBUTES)):
                yield {"infos": [row["info"] for row in run], **dict(zip(_ATTRIBUTES, attributes, strict=True))}


async def learn_keys(db: Database, project_id: int, name: str, maximum: int) -> bool:
    """Learns the values that tasks have of a key, of ``maximum`` tasks more; False when none is left."""
    values = {"project": project_id, "name": name, "maximum": maximum}
    row = await one(db, "SELECT learn_task_keys(%(project)s, %(name)s, %(maximum)s) AS more", values)
    return bool(row["more"])


async def match_keyed(db: Database, row: PendingImport, rows: Sequence[Mapping[str, object]]) -> list[KeyedFate]:
    """What would become of each row with a key (``fate``: added, updated, same or kept), and whether its task is out."""
    return await fetch_rows(
        db,
        KeyedFate,
        "SELECT fate, retired FROM match_keyed_rows(%(project)s, %(name)s, %(rows)s, %(keep)s, clock())",
        _keyed(row, rows),
    )


async def keyed_tasks(db: Database, project_id: int, name: str, keys: Sequence[str] | None = None) -> int:
    """How many tasks that are not taken out have a value of the key, or one of these."""
    of = "" if keys is None else " AND k.key = ANY (%(keys)s::text[])"
    row = await one(
        db,
        "SELECT count(*) AS n FROM task_key k JOIN task_ledger l USING (project_id, task_id)"
        f" WHERE k.project_id = %(project)s AND k.name = %(name)s AND NOT l.retired{of}",
        {"project": project_id, "name": name, "keys": list(keys or ())},
    )
    return int(row["n"])


async def add_keyed(
    db: Database, row: PendingImport, rows: Sequence[Mapping[str, object]], seen: Sequence[str]
) -> KeyedFigures:
    """Adds or updates tasks by their key: how many were added, updated, the same, and kept because they are answered."""
    return await fetch_row(
        db,
        KeyedFigures,
        "SELECT * FROM import_keyed_rows(%(project)s, %(name)s, %(rows)s, %(keep)s, %(seen)s::text[], %(import)s, clock())",
        {**_keyed(row, rows), "seen": list(seen), "import": row["id"]},
    )


def _keyed(row: PendingImport, rows: Sequence[Mapping[str, object]]) -> dict[str, object]:
    """Rows of an import by its key."""
    keyed = {"project": row["project_id"], "name": row["key_name"], "keep": row["keep_columns"]}
    return {**keyed, "rows": as_json(list(rows))}


async def gone(db: Database, project_id: int, name: str, import_id: int, after: int, maximum: int) -> list[GoneTask]:
    """Tasks with a key that the import's file has not, by id: task_id, key, state, answers. Those taken out are left out."""
    return await fetch_rows(
        db,
        GoneTask,
        "SELECT k.task_id, k.key, CASE WHEN l.done THEN 'completed' ELSE 'ongoing' END AS state, l.answers"
        " FROM task_key k JOIN task_ledger l USING (project_id, task_id) WHERE k.project_id = %(project)s AND k.name = %(name)s"
        " AND k.seen < %(import)s AND NOT l.retired AND k.task_id > %(after)s ORDER BY k.task_id LIMIT %(maximum)s",
        {"project": project_id, "name": name, "import": import_id, "after": after, "maximum": maximum},
    )


async def count_gone(db: Database, project_id: int, name: str, import_id: int) -> int:
    """How many there are of these."""
    row = await one(
        db,
        "SELECT count(*) AS n FROM task_key k JOIN task_ledger l USING (project_id, task_id) WHERE k.project_id = %(project)s"
        " AND k.name = %(name)s AND k.seen < %(import)s AND NOT l.retired",
        {"project": project_id, "name": name, "import": import_id},
    )
    return int(row["n"])


async def match_exported(db: Database, project_id: int, rows: Sequence[Mapping[str, object]]) -> list[bool]:
    """Of each exported task whether the project has it."""
    matches = await db.fetch(
        "SELECT task_id FROM match_exported_tasks(%(project)s, %(rows)s)",
        {"project": project_id, "rows": as_json(list(rows))},
    )
    return [row["task_id"] is not None for row in matches]


async def add_exported(
    db: Database, project_id: int, rows: Sequence[Mapping[str, object]], again: bool
) -> AddedFigures:
    """Adds exported tasks that are not there: how many were ``added`` and ``present``."""
    return await fetch_row(
        db,
        AddedFigures,
        "SELECT * FROM import_exported_tasks(%(project)s, %(rows)s, %(again)s, clock())",
        {"project": project_id, "rows": as_json(list(rows)), "again": again},
    )


async def match_answers(db: Database, project_id: int, rows: Sequence[Mapping[str, object]]) -> list[str]:
    """What would become of each exported answer: added, present, "no task" or "other"."""
    fate_rows = await db.fetch(
        "SELECT fate FROM match_exported_answers(%(project)s, %(rows)s)",
        {"project": project_id, "rows": as_json(list(rows))},
    )
    return [row["fate"] for row in fate_rows]


async def add_answers(db: Database, project_id: int, rows: Sequence[Mapping[str, object]]) -> list[str]:
    """Stores exported answers, and says of each what became of it, as above."""
    fate_rows = await db.fetch(
        "SELECT fate FROM import_exported_answers(%(project)s, %(rows)s, clock()) ORDER BY nth",
        {"project": project_id, "rows": as_json(list(rows))},
    )
    return [row["fate"] for row in fate_rows]


async def count(db: Database, import_id: int, figures: Mapping[str, int]) -> None:
    """Adds to the figures of an import: added, updated, present, twice, kept and refused."""
    names = ("added", "updated", "present", "twice", "kept", "refused")
    sets = ", ".join(f"{name} = {name} + %({name})s" for name in names)
    await db.execute(f"UPDATE task_import SET {sets} WHERE id = %(id)s", {**figures, "id": import_id})


async def add_errors(db: Database, import_id: int, refused: Sequence[Mapping[str, object]]) -> None:
    """Keeps refused rows (line, reason and text each), as long as there are not too many."""
    if refused:
        await db.execute(
            "INSERT INTO import_error (import_id, line, reason, text) SELECT %(id)s, r.line, r.reason, r.text"
            " FROM jsonb_to_recordset(%(rows)s) r(line bigint, reason text, text text)"
            " WHERE (SELECT count(*) FROM import_error WHERE import_id = %(id)s) < %(maximum)s ON CONFLICT DO NOTHING",
            {"id": import_id, "rows": as_json([dict(row) for row in refused]), "maximum": KEPT_ERRORS},
        )


async def end(db: Database, import_id: int) -> ImportFigures:
    """Says that an import is done, and its figures. How many rows stand in the file twice is what the preview has counted."""
    return await fetch_row(
        db,
        ImportFigures,
        "UPDATE task_import SET ended = coalesce(ended, clock()), twice = coalesce((preview->>'twice')::bigint, twice) WHERE id = %(id)s"
        " RETURNING rows, added, updated, present, twice, kept, refused, blank AS empty, project_id, file",
        {"id": import_id},
    )


async def errors(db: Database, import_id: int, after: int, maximum: int) -> list[RefusedRow]:
    """Refused rows behind a line."""
    return await fetch_rows(
        db,
        RefusedRow,
        "SELECT line, reason, text FROM import_error WHERE import_id = %(id)s AND line > %(after)s ORDER BY line LIMIT %(maximum)s",
        {"id": import_id, "after": after, "maximum": maximum},
    )


async def sweep(db: Database, days: int, pending_days: int) -> int:
    """Removes imports that ended so long ago, and those that were never begun; how many."""
    return await db.execute(
        "DELETE FROM task_import i WHERE created < clock() - make_interval(days => CASE WHEN queue_item IS NULL THEN %(pending)s"
        " ELSE %(days)s END) AND NOT EXISTS (SELECT FROM queue_item q WHERE q.id IN (i.queue_item, i.check_item) AND q.state IN ('waiting', 'running'))",
        {"days": days, "pending": pending_days},
    )


async def files(db: Database) -> set[str]:
    """The files that are still wanted."""
    rows = await db.fetch("SELECT file FROM task_import WHERE ended IS NULL")
    return {row["file"] for row in rows}
