"""SQL of files of answers."""

from __future__ import annotations

from collections.abc import Sequence

from crowdd.database.access import Database, as_json, fetch_row, fetch_row_or_none, fetch_rows
from crowdd.features.answer_files.rows import Accepted, OpenedFile, PersonalFile, Room, SentFile
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import JsonObject

_FILE = "f.id, f.project_id, f.word, f.run_id, f.bytes, f.facts, f.path, f.thumbnail"


async def read_accepted(db: Database, project_id: int) -> Accepted | None:
    """What a project says of files; None: there is no such project."""
    return await fetch_row_or_none(
        db,
        Accepted,
        "SELECT nullif(info->'answer_files', 'null') AS declared,"
        " coalesce(jsonb_path_exists(info->'questions', '$.steps[*].questions[*] ? (@.type == \"file\")'), false) AS asked"
        " FROM project WHERE id = %(project)s",
        {"project": project_id},
    )


async def hold_room(tx: Database, project_id: int) -> None:
    """Makes others who want room for a file in a project wait until the transaction ends."""
    sql = "SELECT pg_advisory_xact_lock(hashtextextended('answer files', %(project)s))"
    await tx.fetch(sql, {"project": project_id})


async def find_sent(db: Database, actor: str, project_id: int, task_id: int, key: str) -> SentFile | None:
    """The file of a volunteer for a task, by their own name for it."""
    return await fetch_row_or_none(
        db,
        SentFile,
        f"SELECT {_FILE} FROM answer_file f WHERE f.project_id = %(project)s AND f.task_id = %(task)s"
        " AND f.actor = ANY (actors_of(%(project)s, %(actor)s)) AND f.key = %(key)s",
        {"project": project_id, "task": task_id, "actor": actor, "key": key},
    )


async def find(db: Database, file_id: int) -> SentFile | None:
    """A file by its id."""
    sql = f"SELECT {_FILE} FROM answer_file f WHERE f.id = %(file)s"
    return await fetch_row_or_none(db, SentFile, sql, {"file": file_id})


async def read_room(tx: Database, actor: str, network: str, project_id: int) -> Room:
    """What there is of a project already."""
    waiting = "FROM answer_file WHERE project_id = %(project)s AND run_id IS NULL"
    return await fetch_row(
        tx,
        Room,
        f"SELECT (SELECT count(*) {waiting} AND actor = %(actor)s) AS of_person,"
        f" (SELECT count(*) {waiting} AND network = %(network)s) AS of_network,"
        " coalesce((SELECT bytes FROM answer_file_sum WHERE project_id = %(project)s), 0) AS total_bytes",
        {"actor": actor, "network": network, "project": project_id},
    )


async def add(
    tx: Database, who: Requester, place: tuple[int, int], key: str, size: int, names: tuple[str, str, str]
) -> SentFile | None:
    """A file that is to arrive, for a project and a task (``place``), by its word and where it will be kept; None: they are gone."""
    return await fetch_row_or_none(
        tx,
        SentFile,
        "INSERT INTO answer_file AS f (project_id, task_id, actor, network, key, word, created, bytes, path, thumbnail)"
        " SELECT t.project_id, t.id, %(actor)s, %(network)s, %(key)s, %(word)s, clock(), %(bytes)s, %(path)s, %(thumbnail)s"
        f" FROM task t WHERE t.id = %(task)s AND t.project_id = %(project)s RETURNING {_FILE}",
        {
            "project": place[0], "task": place[1], "actor": who.actor, "network": who.network, "key": key,
            "bytes": size, "word": names[0], "path": names[1], "thumbnail": names[2],
        },
    )  # fmt: skip


async def finish(tx: Database, file_id: int, size: int, facts: JsonObject) -> SentFile | None:
    """Says that a file is kept; None: its row is gone."""
    return await fetch_row_or_none(
        tx,
        SentFile,
        "UPDATE answer_file f SET bytes = %(bytes)s, facts = %(facts)s,"
        " thumbnail = CASE WHEN %(facts)s::jsonb->>'kind' = 'picture' THEN thumbnail END WHERE id = %(file)s AND facts IS NULL"
        f" RETURNING {_FILE}",
        {"file": file_id, "bytes": size, "facts": as_json(facts)},
    )


async def remove(db: Database, file_id: int) -> None:
    """Removes a file that no answer names."""
    await db.execute("DELETE FROM answer_file WHERE id = %(file)s AND run_id IS NULL", {"file": file_id})


async def find_named(
    db: Database, actor: str, place: tuple[int, int, int | None], words: Sequence[str]
) -> list[SentFile]:
    """Those of the words that are files for a project and task: the volunteer's own, or those of their answer.

    The third number of the place is the id of an answer, of anybody, whose files count, too.
    """
    return await fetch_rows(
        db,
        SentFile,
        f"SELECT {_FILE} FROM answer_file f WHERE f.word = ANY (%(words)s) AND f.project_id = %(project)s"
        " AND f.task_id = %(task)s AND f.facts IS NOT NULL AND (f.actor = ANY (actors_of(%(project)s, %(actor)s))"
        " OR f.run_id = %(run)s OR EXISTS (SELECT FROM task_run r WHERE r.project_id = f.project_id AND r.id = f.run_id"
        " AND r.actor = ANY (actors_of(%(project)s, %(actor)s))))",
        {"words": list(words), "project": place[0], "task": place[1], "run": place[2], "actor": actor},
    )


async def settle(tx: Database, project_id: int, run_id: int, words: Sequence[str]) -> int:
    """Makes these files those of an answer, and no others: how many of the words are files of this answer now."""
    values = {"project": project_id, "run": run_id, "words": list(words)}
    named = await tx.execute(
        "UPDATE answer_file SET run_id = %(run)s, network = NULL WHERE word = ANY (%(words)s)"
        " AND project_id = %(project)s AND (run_id IS NULL OR run_id = %(run)s) AND facts IS NOT NULL",
        values,
    )
    await tx.execute(
        "DELETE FROM answer_file WHERE project_id = %(project)s AND run_id = %(run)s AND NOT word = ANY (%(words)s)",
        values,
    )
    await tx.execute(
        "UPDATE task_run SET media_url = NULL WHERE project_id = %(project)s AND id = %(run)s"
        " AND media_url ~ '/answer-files/[0-9a-f]{40}$' AND NOT right(media_url, 40) = ANY (%(words)s)",
        values,
    )
    return named


async def open_file(db: Database, word: str, actor: str) -> OpenedFile | None:
    """A file that is kept, by its word."""
    return await fetch_row_or_none(
        db,
        OpenedFile,
        "SELECT f.project_id, f.run_id, f.facts, f.path, f.thumbnail,"
        " f.actor = ANY (actors_of(f.project_id, %(actor)s)) AS mine, nullif(p.info->'answer_files', 'null') AS declared"
        " FROM answer_file f JOIN project p ON p.id = f.project_id WHERE f.word = %(word)s AND f.facts IS NOT NULL",
        {"word": word, "actor": actor},
    )


async def remove_of_person(db: Database, user_id: int) -> int:
    """Removes the files of an account, with its answers and without; how many."""
    return await db.execute(
        "DELETE FROM answer_file WHERE actor = 'u:' || %(user)s OR (project_id, run_id) IN"
        " (SELECT project_id, id FROM task_run WHERE user_id = %(user)s)",
        {"user": user_id},
    )


async def list_of_person(db: Database, user_id: int, after: int, limit: int) -> list[PersonalFile]:
    """The next files of an account, by their ids."""
    return await fetch_rows(
        db,
        PersonalFile,
        "SELECT f.id, f.word, f.path, f.facts->>'type' AS type FROM answer_file f LEFT JOIN task_run r ON r.project_id = f.project_id AND r.id = f.run_id"
        " WHERE (r.user_id = %(user)s OR (f.run_id IS NULL AND f.actor = 'u:' || %(user)s)) AND f.facts IS NOT NULL"
        " AND f.id > %(after)s ORDER BY f.id LIMIT %(limit)s",
        {"user": user_id, "after": after, "limit": limit},
    )


async def expire(db: Database, hours: int) -> int:
    """Deletes files that no answer has named for so long; how many."""
    sql = "DELETE FROM answer_file WHERE run_id IS NULL AND created <= clock() - make_interval(hours => %(hours)s)"
    return await db.execute(sql, {"hours": hours})


async def list_dropped(db: Database, limit: int) -> list[str]:
    """Some paths of files whose rows are gone."""
    rows = await db.fetch("SELECT path FROM dropped_answer_file ORDER BY path LIMIT %(limit)s", {"limit": limit})
    return [row["path"] for row in rows]


async def forget_dropped(db: Database, paths: Sequence[str]) -> None:
    """Notes that files are gone."""
    await db.execute("DELETE FROM dropped_answer_file WHERE path = ANY (%(paths)s)", {"paths": list(paths)})
