"""SQL of collections of tasks, of favourites, and of the answers that a person gave.

What a statement changes belongs to the person that it names.
"""

from __future__ import annotations

from crowdd.core.records import role_statements
from crowdd.core.records import statements as record_statements
from crowdd.database.access import Database, fetch_row_or_none, fetch_rows, one_or_none
from crowdd.features.tasks.rows import CollectedTask, CollectionPage, OwnAnswer, OwnCollection
from crowdd.kernel.requester import Requester
from crowdd.kinds.task import TASK

_MAX_INFO_BYTES = 4000  # of a task; of a larger one nothing is shown


async def list_collections(db: Database, user_id: int, task_id: int | None = None) -> list[OwnCollection]:
    """All collections of a person by name. ``has_task``: the task is in it."""
    return await fetch_rows(
        db,
        OwnCollection,
        "SELECT c.id, c.name, c.published, (SELECT count(*) FROM collection_item i WHERE i.collection_id = c.id)::int AS n_tasks,"
        " EXISTS (SELECT FROM collection_item i WHERE i.collection_id = c.id AND i.task_id = %(task)s) AS has_task"
        " FROM collection c WHERE c.user_id = %(user)s ORDER BY lower(c.name), c.id",
        {"user": user_id, "task": task_id},
    )


async def find_collection(db: Database, name: str, collection_id: int, user_id: int | None) -> CollectionPage | None:
    """A collection of the person of that name, for its owner, or for everybody if it is published.

    A blocked person publishes nothing.
    """
    return await fetch_row_or_none(
        db,
        CollectionPage,
        "SELECT c.id, c.name, c.description, c.published, a.name AS owner, CASE WHEN NOT a.privacy_mode THEN a.fullname END AS fullname,"
        " coalesce(c.user_id = %(user)s::bigint, false) AS own FROM collection c JOIN account a ON a.id = c.user_id"
        ' WHERE c.id = %(id)s AND a.name = %(name)s AND (c.user_id = %(user)s::bigint OR c.published AND NOT a."restrict")',
        {"id": collection_id, "name": name, "user": user_id},
    )


async def list_collection_tasks(
    db: Database, who: Requester, collection_id: int, before: int, maximum: int
) -> list[CollectedTask]:
    """The tasks of a collection that the requester may see, those added last first, below the item ``before``."""
    return await fetch_rows(
        db,
        CollectedTask,
        "SELECT i.id, i.task_id, i.note, p.id AS project_id, p.name, p.short_name,"
        f" CASE WHEN octet_length(t.info::text) <= {_MAX_INFO_BYTES} THEN {record_statements.task_info()} END AS info"
        " FROM collection_item i JOIN task t ON t.project_id = i.project_id AND t.id = i.task_id JOIN project p ON p.id = i.project_id"
        f" WHERE i.collection_id = %(collection)s AND i.id < %(before)s AND {role_statements.any_of(TASK, TASK.rights.see)}"
        " ORDER BY i.id DESC LIMIT %(maximum)s",
        {**who.role_values(), "collection": collection_id, "before": before, "maximum": maximum},
    )


async def lock_collections(db: Database, user_id: int) -> None:
    """Makes others wait who change the collections of a person, until the transaction ends."""
    await db.fetch("SELECT pg_advisory_xact_lock(hashtextextended('collections', %(user)s))", {"user": user_id})


async def insert_collection(db: Database, user_id: int, name: str, description: str) -> int | None:
    """The id of a new collection; None if the person has one of that name."""
    row = await one_or_none(
        db,
        "INSERT INTO collection (user_id, created, name, description) VALUES (%(user)s, clock(), %(name)s, %(description)s)"
        " ON CONFLICT DO NOTHING RETURNING id",
        {"user": user_id, "name": name, "description": description},
    )
    return row["id"] if row else None


async def update_collection(
    db: Database, user_id: int, collection_id: int, name: str, description: str, published: bool
) -> bool | None:
    """Changes a collection: whether it was there. None if the person has another one of that name."""
    row = await one_or_none(
        db,
        "WITH taken AS (SELECT FROM collection WHERE user_id = %(user)s AND name = %(name)s AND id <> %(id)s), changed AS ("
        " UPDATE collection SET name = %(name)s, description = %(description)s, published = %(published)s"
        "  WHERE id = %(id)s AND user_id = %(user)s AND NOT EXISTS (SELECT FROM taken) RETURNING 1)"
        " SELECT EXISTS (SELECT FROM taken) AS taken, EXISTS (SELECT FROM changed) AS changed",
        {"id": collection_id, "user": user_id, "name": name, "description": description, "published": published},
    )
    return None if row is None or row["taken"] else row["changed"]


async def delete_collection(db: Database, user_id: int, collection_id: int) -> bool:
    """Deletes a collection with its notes; False when there was none."""
    sql = "DELETE FROM collection WHERE id = %(id)s AND user_id = %(user)s"
    return await db.execute(sql, {"id": collection_id, "user": user_id}) > 0


async def add_task_to_collection(db: Database, user_id: int, collection_id: int, task_id: int, note: str) -> bool:
    """Adds a task; one that is there already only gets the note, if there is one. False without collection or task.

    The lock makes who deletes the task wait, and this wait for them: no row stays behind.
    """
    sql = (
        "INSERT INTO collection_item AS i (collection_id, project_id, task_id, created, note)"
        " SELECT c.id, l.project_id, l.task_id, clock(), %(note)s FROM collection c, task t"
        "   JOIN task_ledger l ON l.project_id = t.project_id AND l.task_id = t.id"
        "  WHERE c.id = %(id)s AND c.user_id = %(user)s AND t.id = %(task)s FOR KEY SHARE OF c, l"
        " ON CONFLICT (collection_id, task_id) DO UPDATE SET note = CASE excluded.note WHEN '' THEN i.note ELSE excluded.note END"
    )
    return await db.execute(sql, {"id": collection_id, "user": user_id, "task": task_id, "note": note}) > 0


async def set_note(db: Database, user_id: int, collection_id: int, task_id: int, note: str) -> bool:
    """Writes the note of a task in a collection; False when it is not there."""
    sql = (
        "UPDATE collection_item i SET note = %(note)s FROM collection c"
        " WHERE c.id = i.collection_id AND c.id = %(id)s AND c.user_id = %(user)s AND i.task_id = %(task)s"
    )
    return await db.execute(sql, {"id": collection_id, "user": user_id, "task": task_id, "note": note}) > 0


async def remove_task_from_collection(db: Database, user_id: int, collection_id: int, task_id: int) -> bool:
    """Takes a task out of a collection; False when it was not there."""
    sql = (
        "DELETE FROM collection_item i USING collection c"
        " WHERE c.id = i.collection_id AND c.id = %(id)s AND c.user_id = %(user)s AND i.task_id = %(task)s"
    )
    return await db.execute(sql, {"id": collection_id, "user": user_id, "task": task_id}) > 0


async def insert_favourite(db: Database, user_id: int, task_id: int) -> None:
    """Marks a task; doing it twice changes nothing."""
    await db.execute(
        "INSERT INTO favourite (project_id, task_id, user_id, created) SELECT project_id, id, %(user)s, clock() FROM task WHERE id = %(task)s"
        " ON CONFLICT DO NOTHING",
        {"user": user_id, "task": task_id},
    )


async def delete_favourite(db: Database, user_id: int, task_id: int) -> bool:
    """Takes a mark away; False when there was none."""
    sql = "DELETE FROM favourite WHERE user_id = %(user)s AND task_id = %(task)s"
    return await db.execute(sql, {"user": user_id, "task": task_id}) > 0


# Whether an answer counts, as far as its author is told: that it was late or surplus, but not that its task was gold, nor what is known of
# them. While there are gold tasks, nothing.
COUNTED_TO_AUTHOR = "(counted OR unreliable OR gold OR (SELECT has_gold FROM project p WHERE p.id = project_id))"


async def list_answers(db: Database, user_id: int, before: int, maximum: int) -> list[OwnAnswer]:
    """The last answers of a person before one, the newest first. Reads as many rows as it returns."""
    return await fetch_rows(
        db,
        OwnAnswer,
        "SELECT id, project_id, task_id, finish_time, trial,"
        f" {COUNTED_TO_AUTHOR} AS counted,"
        f" CASE WHEN octet_length(info::text) <= {_MAX_INFO_BYTES} THEN info END AS info"
        " FROM task_run WHERE user_id = %(user)s AND id < %(before)s ORDER BY id DESC LIMIT %(maximum)s",
        {"user": user_id, "before": before, "maximum": maximum},
    )


async def list_favourites(db: Database, user_id: int, before: int, maximum: int) -> list[int]:
    """The tasks that a person marked, those with an id below ``before``, the newest tasks first."""
    rows = await db.fetch(
        "SELECT task_id FROM favourite WHERE user_id = %(user)s AND task_id < %(before)s"
        " ORDER BY task_id DESC LIMIT %(maximum)s",
        {"user": user_id, "before": before, "maximum": maximum},
    )
    return [row["task_id"] for row in rows]
