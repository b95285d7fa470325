"""Media that owners bring: batches, and the files of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from crowdd.core.records import statements as record_statements
from crowdd.database.access import Database, as_json, fetch_row, fetch_row_or_none, fetch_rows, one_or_none
from crowdd.features.batches.rows import (
    Batch,
    BatchFigures,
    BatchProgress,
    ListedBatch,
    MediaFile,
    MediaTotals,
    Unfinished,
)

OPEN = ("arriving", "waiting")
_CHOICES = "grouping, column_name, keep_location, keep_original, n_answers"
_BATCH = (
    f"SELECT b.id, b.project_id, b.user_id, b.created, {_CHOICES}, b.closed, b.queue_item, b.n_files, b.open_files, q.state AS work_state, q.error AS work_error"
    " FROM media_batch b LEFT JOIN queue_item q ON q.id = b.queue_item"
)
_FILE = "id, batch_id, project_id, parent_id, page, path, key, bytes AS n_bytes, state, expires, reason, digest, prepared, task_id"
# Bytes that an account's projects hold, and none for administrators, who have no quota.
_OWNER_BYTES = (
    "coalesce((SELECT (usage_of(p.owner_id)).bytes FROM project p JOIN account a ON a.id = p.owner_id AND NOT a.admin"
    " WHERE p.id = %(project)s), 0)"
)


async def add(
    db: Database, project_id: int, user_id: int | None, choices: Mapping[str, object], maximum: int
) -> int | None:
    """The id of a new batch; None when the project has ``maximum`` that are open."""
    row = await one_or_none(
        db,
        f"INSERT INTO media_batch (project_id, user_id, created, {_CHOICES})"
        " SELECT %(project)s, %(user)s, clock(), %(grouping)s, %(column_name)s, %(keep_location)s, %(keep_original)s, %(n_answers)s"
        " WHERE (SELECT count(*) FROM media_batch WHERE project_id = %(project)s AND closed IS NULL) < %(maximum)s RETURNING id",
        {**choices, "project": project_id, "user": user_id, "maximum": maximum},
    )
    return int(row["id"]) if row else None


async def open_like(db: Database, project_id: int, user_id: int | None, choices: Mapping[str, object]) -> int | None:
    """The newest batch of a person with these choices that still takes files."""
    row = await one_or_none(
        db,
        "SELECT id FROM media_batch WHERE project_id = %(project)s AND user_id IS NOT DISTINCT FROM %(user)s AND closed IS NULL"
        f" AND ({_CHOICES}) = (%(grouping)s, %(column_name)s, %(keep_location)s, %(keep_original)s, %(n_answers)s)"
        " ORDER BY id DESC LIMIT 1",
        {**choices, "project": project_id, "user": user_id},
    )
    return int(row["id"]) if row else None


async def get(db: Database, project_id: int, batch_id: int) -> Batch | None:
    """A batch of the project."""
    return await fetch_row_or_none(
        db,
        Batch,
        f"{_BATCH} WHERE b.project_id = %(project)s AND b.id = %(id)s",
        {"project": project_id, "id": batch_id},
    )


async def lock(tx: Database, project_id: int, batch_id: int) -> Batch | None:
    """The same, locked until the transaction ends."""
    return await fetch_row_or_none(
        tx,
        Batch,
        f"{_BATCH} WHERE b.project_id = %(project)s AND b.id = %(id)s FOR UPDATE OF b",
        {"project": project_id, "id": batch_id},
    )


async def newest(db: Database, project_id: int, maximum: int) -> list[ListedBatch]:
    """The newest batches of a project that got any file."""
    return await fetch_rows(
        db,
        ListedBatch,
        "SELECT b.id, b.created, b.closed, f.files, f.tasks, f.refused, f.unfinished FROM media_batch b CROSS JOIN LATERAL ("
        "SELECT count(*) FILTER (WHERE state <> 'split') AS files, count(DISTINCT task_id) FILTER (WHERE state = 'added') AS tasks,"
        " count(*) FILTER (WHERE state = 'refused') AS refused, count(*) FILTER (WHERE state IN ('arriving', 'waiting', 'prepared')) AS unfinished"
        " FROM media_file WHERE batch_id = b.id) f"
        " WHERE b.project_id = %(project)s AND f.files > 0 ORDER BY b.id DESC LIMIT %(maximum)s",
        {"project": project_id, "maximum": maximum},
    )


async def figures(db: Database, batch_id: int) -> BatchFigures:
    """How many files of a batch are in each state."""
    states = ("arriving", "waiting", "prepared", "added", "present", "refused", "split")
    counts = ", ".join(f"count(*) FILTER (WHERE state = '{name}') AS {name}" for name in states)
    return await fetch_row(
        db,
        BatchFigures,
        f"SELECT {counts}, count(DISTINCT task_id) FILTER (WHERE state = 'added') AS tasks,"
        " coalesce(sum(bytes) FILTER (WHERE state = 'arriving'), 0)::bigint AS arriving_bytes FROM media_file WHERE batch_id = %(id)s",
        {"id": batch_id},
    )


async def progress(db: Database, project_id: int, batch_id: int) -> BatchProgress | None:
    """How far the background task of a batch of the project is."""
    return await fetch_row_or_none(
        db,
        BatchProgress,
        "SELECT b.closed, q.state, coalesce(q.done, 0) AS done, q.total, q.began, coalesce(q.done_before, 0) AS done_before, q.progressed"
        " FROM media_batch b LEFT JOIN queue_item q ON q.id = b.queue_item WHERE b.project_id = %(project)s AND b.id = %(id)s",
        {"project": project_id, "id": batch_id},
    )


async def close(tx: Database, batch_id: int) -> None:
    """Says that no further file is taken."""
    await tx.execute("UPDATE media_batch SET closed = coalesce(closed, clock()) WHERE id = %(id)s", {"id": batch_id})


async def is_closed(db: Database, batch_id: int) -> bool:
    """Whether a batch takes no further files."""
    return bool(await db.fetch("SELECT FROM media_batch WHERE id = %(id)s AND closed IS NOT NULL", {"id": batch_id}))


async def work_with(tx: Database, batch_id: int, item: int | None) -> None:
    """Says which background task prepares the files; None: nothing is left to do."""
    await tx.execute("UPDATE media_batch SET queue_item = %(item)s WHERE id = %(id)s", {"id": batch_id, "item": item})


# Room


async def hold_room(tx: Database) -> None:
    """Makes others who want room for a file wait until the transaction ends."""
    await tx.fetch("SELECT pg_advisory_xact_lock(hashtextextended('media room', 0))")


async def unfinished(db: Database, project_id: int, user_id: int | None) -> Unfinished:
    """What is arriving or waiting."""
    of_owner = (
        "project_id IN (SELECT o.id FROM project p JOIN project o ON o.owner_id = p.owner_id WHERE p.id = %(project)s)"
    )
    parts = {"person": "user_id = %(user)s", "project": "project_id = %(project)s", "owner": of_owner, "site": "true"}
    sums = (
        f"coalesce(sum(open_{what}) FILTER (WHERE {of}), 0)::bigint AS {name}_{what}"
        for name, of in parts.items()
        for what in ("files", "bytes")
    )
    return await fetch_row(
        db,
        Unfinished,
        f"SELECT {', '.join(sums)} FROM media_batch WHERE open_files > 0",
        {"project": project_id, "user": user_id},
    )


async def totals(db: Database, project_id: int) -> MediaTotals:
    """What projects hold: those of the owner of a project, and all of the site."""
    return await fetch_row(
        db,
        MediaTotals,
        f"SELECT (SELECT coalesce(sum(bytes), 0)::bigint FROM project_stat) AS site_bytes, {_OWNER_BYTES} AS owner_bytes",
        {"project": project_id},
    )


# Files


async def add_file(tx: Database, batch: Batch, values: Mapping[str, object], hours: float) -> MediaFile | None:
    """A new file that is arriving (path, key, bytes); None when the batch has one of this key."""
    return await fetch_row_or_none(
        tx,
        MediaFile,
        "INSERT INTO media_file (batch_id, project_id, created, path, key, bytes, state, expires)"
        " SELECT %(batch)s, %(project)s, clock(), %(path)s, %(key)s, %(bytes)s, 'arriving', clock() + make_interval(secs => %(hours)s * 3600)"
        f" ON CONFLICT (batch_id, key) DO NOTHING RETURNING {_FILE}",
        {**values, "batch": batch["id"], "project": batch["project_id"], "hours": hours},
    )


async def add_parts(tx: Database, parent: MediaFile, parts: Sequence[Mapping[str, object]]) -> list[int]:
    """The ids of new files out of another one (page, path, key, bytes, state, reason, digest, prepared each), in order."""
    rows = await tx.fetch(
        "INSERT INTO media_file (batch_id, project_id, created, parent_id, page, path, key, bytes, state, reason, digest, prepared)"
        " SELECT %(batch)s, %(project)s, clock(), %(parent)s, (e->>'page')::int, e->>'path', e->>'key', (e->>'bytes')::bigint, e->>'state',"
        " nullif(e->'reason', 'null'), decode(e->>'digest', 'hex'), nullif(e->'prepared', 'null')"
        " FROM jsonb_array_elements(%(parts)s) WITH ORDINALITY u(e, o) ORDER BY o RETURNING id",
        {
            "batch": parent.batch_id,
            "project": parent.project_id,
            "parent": parent.id,
            "parts": as_json([dict(part) for part in parts]),
        },
    )
    return sorted(int(row["id"]) for row in rows)


async def file_of(db: Database, project_id: int, batch_id: int, file_id: int) -> MediaFile | None:
    """A file of a batch of the project."""
    return await fetch_row_or_none(
        db,
        MediaFile,
        f"SELECT {_FILE} FROM media_file WHERE id = %(id)s AND batch_id = %(batch)s AND project_id = %(project)s",
        {"id": file_id, "batch": batch_id, "project": project_id},
    )


async def prepared_among(tx: Database, ids: Sequence[int]) -> list[MediaFile]:
    """Those of the files that are prepared and have not become anything."""
    return await fetch_rows(
        tx,
        MediaFile,
        f"SELECT {_FILE} FROM media_file WHERE id = ANY (%(ids)s) AND state = 'prepared' FOR UPDATE",
        {"ids": list(ids)},
    )


async def file_by_key(db: Database, batch_id: int, key: str) -> MediaFile | None:
    """The file of a batch that its client calls so."""
    return await fetch_row_or_none(
        db,
        MediaFile,
        f"SELECT {_FILE} FROM media_file WHERE batch_id = %(batch)s AND key = %(key)s",
        {"batch": batch_id, "key": key},
    )


async def files(
    db: Database, batch_id: int, after: int, maximum: int, states: Sequence[str] | None = None
) -> list[MediaFile]:
    """Files of a batch behind an id, by their ids. Of one state, they are read from an index that has them in order."""
    among = "" if states is None else f" AND state {'= %(state)s' if len(states) == 1 else '= ANY (%(states)s)'}"
    return await fetch_rows(
        db,
        MediaFile,
        f"SELECT {_FILE} FROM media_file WHERE batch_id = %(batch)s AND id > %(after)s{among} ORDER BY id LIMIT %(maximum)s",
        {
            "batch": batch_id,
            "after": after,
            "maximum": maximum,
            "states": list(states or ()),
            "state": (states or ("",))[0],
        },
    )


async def has_any(db: Database, batch_id: int, states: Sequence[str]) -> bool:
    """Whether a file of the batch is in one of these states."""
    return bool(
        await db.fetch(
            "SELECT FROM unnest(%(states)s) s(name) WHERE EXISTS"
            " (SELECT FROM media_file WHERE batch_id = %(batch)s AND state = s.name) LIMIT 1",
            {"batch": batch_id, "states": list(states)},
        )
    )


async def keep_alive(db: Database, file_id: int, hours: float) -> None:
    """Puts off when an arriving file expires."""
    await db.execute(
        "UPDATE media_file SET expires = clock() + make_interval(secs => %(hours)s * 3600) WHERE id = %(id)s AND state = 'arriving'",
        {"id": file_id, "hours": hours},
    )


async def settle(tx: Database, file_id: int, before: Sequence[str], state: str, **values: object) -> bool:
    """Moves a file from one of some states to another, with further columns; False when it was in none of them."""
    column_values = {name: as_json(each) if name in ("reason", "prepared") else each for name, each in values.items()}
    sets = "".join(f", {name} = %({name})s" for name in column_values)
    done = await tx.execute(
        f"UPDATE media_file SET state = %(state)s, expires = NULL{sets} WHERE id = %(id)s AND state = ANY (%(before)s)",
        {**column_values, "id": file_id, "state": state, "before": list(before)},
    )
    return done > 0


async def task_of(db: Database, project_id: int, digest: bytes) -> int | None:
    """A task of the project that shows this content."""
    row = await one_or_none(
        db,
        "SELECT t.id FROM media_file f JOIN task t ON t.project_id = f.project_id AND t.id = f.task_id"
        " WHERE f.project_id = %(project)s AND f.digest = %(digest)s AND f.state = 'added' ORDER BY t.id LIMIT 1",
        {"project": project_id, "digest": digest},
    )
    return int(row["id"]) if row else None


async def prepared_before(db: Database, batch: Batch, digest: bytes) -> MediaFile | None:
    """A file of the project with this content that was prepared in the way that the batch wants."""
    return await fetch_row_or_none(
        db,
        MediaFile,
        f"SELECT {', '.join(f'f.{name}' for name in _FILE.split(', '))} FROM media_file f JOIN media_batch b ON b.id = f.batch_id"
        " WHERE f.project_id = %(project)s AND f.digest = %(digest)s AND f.prepared IS NOT NULL"
        " AND (b.keep_location, b.keep_original) = (%(location)s, %(original)s) ORDER BY f.id LIMIT 1",
        {
            "project": batch["project_id"],
            "digest": digest,
            "location": batch["keep_location"],
            "original": batch["keep_original"],
        },
    )


async def remove_arriving(tx: Database, batch_id: int) -> list[int]:
    """Removes the files of a batch that are arriving; their ids."""
    rows = await tx.fetch(
        "DELETE FROM media_file WHERE batch_id = %(id)s AND state = 'arriving' RETURNING id", {"id": batch_id}
    )
    return [int(row["id"]) for row in rows]


async def remove_file(tx: Database, file_id: int) -> bool:
    """Removes a file that is arriving; False when it is not, or not any more."""
    return await tx.execute("DELETE FROM media_file WHERE id = %(id)s AND state = 'arriving'", {"id": file_id}) > 0


async def remove_open(tx: Database, batch_id: int) -> list[int]:
    """Removes the files of a batch that have not become tasks; their ids."""
    rows = await tx.fetch(
        "DELETE FROM media_file WHERE batch_id = %(id)s AND state IN ('arriving', 'waiting', 'prepared') RETURNING id",
        {"id": batch_id},
    )
    return [int(row["id"]) for row in rows]


async def noted(db: Database, paths: Sequence[str]) -> set[str]:
    """Those of the paths below /uploads that are counted as files of a project."""
    rows = await db.fetch("SELECT path FROM upload_file WHERE path = ANY (%(paths)s)", {"paths": list(paths)})
    return {row["path"] for row in rows}


# Clean-up


async def expire(db: Database) -> int:
    """Removes files that have been arriving for too long; how many."""
    return await record_statements.delete_in_batches(db, "media_file", "expires < clock()")


async def close_idle(db: Database, days: int) -> list[tuple[int, int]]:
    """Closes batches that nobody has brought a file to for so long: their projects and ids."""
    rows = await db.fetch(
        "UPDATE media_batch b SET closed = clock() WHERE closed IS NULL AND created < clock() - make_interval(days => %(days)s)"
        " AND NOT EXISTS (SELECT FROM media_file f WHERE f.batch_id = b.id AND (f.state = 'arriving'"
        " OR f.created > clock() - make_interval(days => %(days)s))) RETURNING project_id, id",
        {"days": days},
    )
    return [(row["project_id"], row["id"]) for row in rows]


async def remove_empty(db: Database, days: int) -> int:
    """Removes batches without a file that are so old; how many."""
    old = "created < clock() - make_interval(days => %(days)s)"
    none = "NOT EXISTS (SELECT FROM media_file f WHERE f.batch_id = media_batch.id)"
    return await record_statements.delete_in_batches(db, "media_batch", f"{old} AND {none}", {"days": days})


async def open_among(db: Database, ids: Sequence[int]) -> set[int]:
    """Those of the ids whose bytes in the data folder are still wanted."""
    rows = await db.fetch(
        "SELECT id FROM media_file WHERE id = ANY (%(ids)s) AND state IN ('arriving', 'waiting')", {"ids": list(ids)}
    )
    return {int(row["id"]) for row in rows}


async def zooms_deeply(db: Database, project_id: int) -> bool:
    """Whether the questions of a project show pictures to zoom deeply into."""
    rows = await db.fetch(
        "SELECT 1 FROM project WHERE id = %(project)s"
        """ AND jsonb_path_exists(info, '$.questions.steps[*].media[*] ? (@.type == "zoom_picture")')""",
        {"project": project_id},
    )
    return bool(rows)
