"""Projects as a whole: creating, opening, pausing, deleting, summaries for lists."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crowdd.kinds import PROJECT
from crowdd.storage import records, standings
from crowdd.storage.database import Database, Prepared, Row, as_json, one, one_or_none
from crowdd.storage.records import stored
from crowdd.values import Requester

SUMMARY = (
    "t.id, t.name, t.short_name, t.description, t.info, t.created, t.owner_id, t.category_id, t.featured, t.published, t.first_published,"
    " t.n_tasks, t.n_volunteers, t.n_task_runs, t.n_completed_tasks, t.n_results, t.overall_progress, t.last_activity_raw, t.owner,"
    " t.long_description, t.updated, t.lock_id IS NOT NULL AS locked"
)


async def add(db: Database, values: Mapping[str, Any]) -> int:
    """The id of a new draft and its ledger."""
    names = ", ".join(values)
    marks = ", ".join(f"%({name})s" for name in values)
    sql = f"INSERT INTO project (created, updated, {names}) VALUES (clock(), clock(), {marks}) RETURNING id"
    project_id = int((await one(db, sql, stored(PROJECT, values)))["id"])
    await db.execute("INSERT INTO project_ledger (project_id) VALUES (%(id)s)", {"id": project_id})
    return project_id


async def touch(db: Database, project_id: int) -> None:
    """Marks the project as changed and repeats in its ledger what assignment needs to know."""
    await db.execute("UPDATE project SET updated = clock() WHERE id = %(id)s", {"id": project_id})
    await db.execute(
        "UPDATE project_ledger l SET members_only = n.members_only, lock_id = n.lock_id, lease = n.lease, preload = least(n.lease, '10 minutes')"
        " FROM (SELECT id, NOT allow_anonymous_contributors AS members_only, lock_id, lease_of(info) AS lease FROM project) n"
        " WHERE n.id = l.project_id AND l.project_id = %(id)s"
        " AND (l.members_only, l.lock_id, l.lease) IS DISTINCT FROM (n.members_only, n.lock_id, n.lease)",
        {"id": project_id},
    )


async def set_scheduler(db: Database, project_id: int, name: str, after: int = 0) -> bool:
    """Changes how tasks are chosen; those up to ``after`` are ready for it. False: it is chosen already."""
    row = await one(
        db,
        "SELECT set_scheduler(%(id)s, %(name)s, clock(), %(after)s) AS done",
        {"id": project_id, "name": name, "after": after},
    )
    return bool(row["done"])


async def want_scheduler(db: Database, project_id: int, name: str) -> bool:
    """Writes what the owner chose into the project's ``info``; False when that stands there already."""
    sql = (
        "UPDATE project SET info = jsonb_set(info, '{sched}', to_jsonb(%(name)s::text)), updated = clock()"
        " WHERE id = %(id)s AND info->>'sched' IS DISTINCT FROM %(name)s"
    )
    return await db.execute(sql, {"id": project_id, "name": name}) > 0


async def scheduler_wanted(db: Database, project_id: int) -> str | None:
    """What the owner chose, however far the tasks are; None: there is no such project."""
    row = await one_or_none(
        db, "SELECT coalesce(info->>'sched', 'default') AS sched FROM project WHERE id = %(id)s", {"id": project_id}
    )
    return row["sched"] if row else None


async def scheduler_needs_tasks(db: Database, project_id: int, name: str) -> bool:
    """Whether tasks have to change for a scheduler, beside the project."""
    row = await one_or_none(
        db,
        "SELECT sched = 'changing' OR mode_of(sched) <> mode_of(%(name)s) AS needs FROM project_ledger WHERE project_id = %(id)s",
        {"id": project_id, "name": name},
    )
    return bool(row and row["needs"])


async def set_password(db: Database, project_id: int, passwd_hash: str | None, lock_id: str | None) -> None:
    """Locks a project, or opens it with None for both."""
    await db.execute(
        "UPDATE project SET passwd_hash = %(hash)s, lock_id = %(lock)s WHERE id = %(id)s",
        {"id": project_id, "hash": passwd_hash, "lock": lock_id},
    )
    await touch(db, project_id)


async def lock_of(db: Database, reference: str | int) -> Row | None:
    """id, short_name, lock_id and passwd_hash of a project named by id or short name."""
    column = "id" if isinstance(reference, int) else "short_name"
    return await one_or_none(
        db, f"SELECT id, short_name, lock_id, passwd_hash FROM project WHERE {column} = %(ref)s", {"ref": reference}
    )


async def id_of(db: Database, short_name: str) -> int | None:
    """The id of a project named by its short name; None when there is none."""
    row = await one_or_none(db, "SELECT id FROM project WHERE short_name = %(name)s", {"name": short_name})
    return int(row["id"]) if row else None


async def publish(db: Database, project_id: int) -> bool:
    """Opens a draft or ends a pause; False when it is published already."""
    return bool((await one(db, "SELECT publish(%(id)s, clock()) AS done", {"id": project_id}))["done"])


async def any_at_all(db: Database) -> bool:
    """Whether there is a project, be it a draft."""
    return await one_or_none(db, "SELECT FROM project LIMIT 1") is not None


async def pause(db: Database, project_id: int) -> bool:
    """Pauses a published project; False when it is not published."""
    return bool((await one(db, "SELECT pause(%(id)s, clock()) AS done", {"id": project_id}))["done"])


async def delete(db: Database, project_id: int) -> bool:
    """Deletes a project with everything in it."""
    return bool((await one(db, "SELECT delete_project(%(id)s) AS done", {"id": project_id}))["done"])


async def first_category(db: Database) -> int | None:
    """The category of a project whose maker named none."""
    row = await one_or_none(db, "SELECT id FROM category ORDER BY id LIMIT 1")
    return row["id"] if row else None


async def category_exists(db: Database, category_id: int) -> bool:
    """Whether there is such a category."""
    return await one_or_none(db, "SELECT FROM category WHERE id = %(id)s", {"id": category_id}) is not None


async def categories(db: Database) -> list[Row]:
    """All categories by name."""
    return await db.fetch("SELECT id, name, short_name, description, created, info FROM category ORDER BY lower(name)")


async def secret_key(db: Database, short_name: str) -> Row | None:
    """id, short_name and sealed secret key of a project."""
    return await one_or_none(
        db, "SELECT id, short_name, secret_key_sealed FROM project WHERE short_name = %(name)s", {"name": short_name}
    )


_SECRET_KEYS = Prepared(
    "SELECT p.*, extract(epoch FROM clock())::float8 AS now FROM unnest(%(ids)s) WITH ORDINALITY i(id, nth) LEFT JOIN LATERAL"
    " (SELECT id, short_name, secret_key_sealed FROM project WHERE id = i.id OFFSET 0) p ON true ORDER BY i.nth",
    ids="bigint[]",
)


async def secret_keys(db: Database, project_ids: list[int]) -> list[Row]:
    """The same of each project, by id and in their order, with ``now`` in epoch seconds; id None: there is none."""
    return await db.fetch(_SECRET_KEYS, {"ids": project_ids})


async def set_secret_key(db: Database, project_id: int, sealed: bytes) -> None:
    """Replaces the key for external users; tokens made with the old one end."""
    await db.execute(
        "UPDATE project SET secret_key_sealed = %(key)s WHERE id = %(id)s", {"id": project_id, "key": sealed}
    )


async def tell(db: Database, project_id: int, told: Mapping[str, Any]) -> None:
    """Writes some keys of ``info``; the others stay, whoever changes them meanwhile."""
    await db.execute(
        "UPDATE project SET info = info || %(told)s, updated = clock() WHERE id = %(id)s",
        {"id": project_id, "told": as_json(told)},
    )


async def listed(db: Database, who: Requester, limit: int = 60) -> list[Row]:
    """Summaries of published projects that anybody may see, the liveliest first."""
    return await db.fetch(
        f"SELECT {SUMMARY} FROM {standings.source(PROJECT)} WHERE p.published AND p.lock_id IS NULL"
        " ORDER BY t.featured DESC, t.overall_progress >= 100, t.last_activity_raw DESC NULLS LAST, t.id DESC LIMIT %(limit)s",
        {**who.standing_values(), "limit": limit},
    )


async def of_owner(db: Database, user_id: int) -> list[Row]:
    """Summaries of the projects that a person owns or co-owns."""
    return await db.fetch(
        f"SELECT {SUMMARY} FROM {standings.source(PROJECT)} WHERE p.owners_ids @> ARRAY[%(id)s::bigint] ORDER BY t.id DESC LIMIT 500",
        {"id": user_id},
    )


async def of_volunteer(db: Database, actor: str, limit: int = 100) -> list[Row]:
    """Summaries of published projects to which a volunteer contributed."""
    return await db.fetch(
        f"SELECT {SUMMARY} FROM {standings.source(PROJECT)} WHERE p.published AND p.lock_id IS NULL AND p.id IN ("
        " SELECT project_id FROM volunteer WHERE actor = %(actor)s AND runs > 0"
        " UNION SELECT project_id FROM stat_delta WHERE xact >= (SELECT unfolded_from()) AND actor = %(actor)s AND runs > 0)"
        " ORDER BY t.id DESC LIMIT %(limit)s",
        {"actor": actor, "limit": limit},
    )


async def page(db: Database, short_name: str, who: Requester) -> Row | None:
    """The record of a project by its short name, with standings, first_published and lock_id."""
    rows = await db.fetch(
        f"SELECT {records.columns(PROJECT)}, t.first_published, t.lock_id FROM {standings.source(PROJECT)} WHERE t.short_name = %(name)s",
        {**who.standing_values(), "actor": who.actor, "name": short_name},
    )
    return records.named(rows)[0] if rows else None
