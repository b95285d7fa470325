"""Projects as a whole: creating, opening, pausing, deleting, summaries for lists."""

from __future__ import annotations

from collections.abc import Mapping

from crowdd.kinds.gold_shares import GOLD_SHARES
from crowdd.kinds.project import PROJECT
from crowdd.requester import Requester
from crowdd.storage.core import records, roles
from crowdd.storage.core.records import stored
from crowdd.storage.database import (
    Database,
    Prepared,
    as_json,
    fetch_each,
    fetch_row_or_none,
    fetch_rows,
    one,
    one_or_none,
    typed,
)
from crowdd.storage.projects.list_rows import CategoryRow, ProjectSummary
from crowdd.storage.projects.owner_rows import CurrentProjectKey, ProjectKey, ProjectLock
from crowdd.storage.projects.rows import ProjectPage
from crowdd.values import Values

_GOLD_SHARES = ", ".join(
    f"gold_share_of(info, '{name}', {share.default}, {share.maximum}) AS {name}" for name, share in GOLD_SHARES.items()
)
SUMMARY = (
    "t.id, t.name, t.short_name, t.description, t.summary_info AS info, t.created, t.owner_id, t.category_id, t.featured, t.published, t.first_published,"
    " t.n_tasks, t.n_volunteers, t.n_task_runs, t.n_completed_tasks, t.n_results, t.overall_progress, t.last_activity_raw, t.owner,"
    " t.updated, t.lock_id IS NOT NULL AS locked"
)


async def add(db: Database, values: Mapping[str, object]) -> int:
    """The id of a new draft and its ledger."""
    names = ", ".join(values)
    marks = ", ".join(f"%({name})s" for name in values)
    sql = (
        f"INSERT INTO project (created, updated, draft_key, {names})"
        f" VALUES (clock(), clock(), new_draft_key(), {marks}) RETURNING id"
    )
    project_id = int((await one(db, sql, stored(PROJECT, values)))["id"])
    await db.execute(
        "INSERT INTO project_ledger (project_id, draft_key, counted_per_network)"
        " SELECT id, draft_key, r.counted_per_network FROM project, volunteer_rule r WHERE id = %(id)s",
        {"id": project_id},
    )
    return project_id


async def renew_draft_key(db: Database, project_id: int) -> bool:
    """Gives a draft another key, so that its old link ends; False when it is no draft."""
    sql = (
        "WITH draft AS (UPDATE project SET draft_key = new_draft_key() WHERE id = %(id)s AND first_published IS NULL"
        " RETURNING id, draft_key)"
        " UPDATE project_ledger l SET draft_key = d.draft_key FROM draft d WHERE l.project_id = d.id"
    )
    return await db.execute(sql, {"id": project_id}) > 0


async def touch(db: Database, project_id: int) -> bool:
    """Marks the project as changed and repeats in its ledger what assignment needs to know.

    Whether more answers of a network may count by now: volunteers then start over in the order.
    """
    await db.execute("UPDATE project SET updated = clock() WHERE id = %(id)s", {"id": project_id})
    rows = await db.fetch(
        "UPDATE project_ledger l SET members_only = n.members_only, lock_id = n.lock_id, lease = n.lease, preload = least(n.lease, '10 minutes'),"
        " counted_per_network = n.maximum, epoch = l.epoch + n.raised::int,"
        " gold_rate = n.gold_rate, gold_start = n.gold_start, gold_feedback = n.gold_feedback"
        " FROM (SELECT id, NOT allow_anonymous_contributors AS members_only, p.lock_id, lease_of(info) AS lease, m.maximum,"
        f"              {_GOLD_SHARES},"
        "              coalesce(info->'gold_feedback' = 'true', false) AS gold_feedback,"
        "              o.counted_per_network > 0 AND (m.maximum = 0 OR m.maximum > o.counted_per_network) AS raised"
        "         FROM project p JOIN project_ledger o ON o.project_id = p.id, LATERAL (SELECT counted_per_network_of(p.info) AS maximum) m"
        "        WHERE p.id = %(id)s) n"
        " WHERE n.id = l.project_id AND l.project_id = %(id)s"
        " AND (l.members_only, l.lock_id, l.lease, l.counted_per_network, l.gold_rate, l.gold_start, l.gold_feedback)"
        " IS DISTINCT FROM (n.members_only, n.lock_id, n.lease, n.maximum, n.gold_rate, n.gold_start, n.gold_feedback)"
        " RETURNING n.raised",
        {"id": project_id},
    )
    return any(row["raised"] for row in rows)


async def set_volunteer_rule(db: Database, counted_per_network: int) -> None:
    """Sets the rule of all projects that have none of their own."""
    await db.fetch("SELECT set_volunteer_rule(%(maximum)s)", {"maximum": counted_per_network})


async def volunteer_rule(db: Database) -> int:
    """How many anonymous answers of one network count per task where a project says nothing; 0: no limit."""
    return int((await one(db, "SELECT counted_per_network FROM volunteer_rule"))["counted_per_network"])


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


async def lock_of(db: Database, reference: str | int) -> ProjectLock | None:
    """What the password of a project named by id or short name is checked with."""
    column = "id" if isinstance(reference, int) else "short_name"
    return await fetch_row_or_none(
        db,
        ProjectLock,
        f"SELECT id, short_name, lock_id, passwd_hash, owners_ids, reviewer_ids FROM project WHERE {column} = %(ref)s",
        {"ref": reference},
    )


async def id_of(db: Database, short_name: str) -> int | None:
    """The id of a project named by its short name; None when there is none."""
    row = await one_or_none(db, "SELECT id FROM project WHERE short_name = %(name)s", {"name": short_name})
    return int(row["id"]) if row else None


async def publish(db: Database, project_id: int) -> bool:
    """Opens a draft or ends a pause; False when it is published already."""
    return bool((await one(db, "SELECT publish(%(id)s, clock()) AS done", {"id": project_id}))["done"])


async def max_answer_bytes(db: Database, project_id: int) -> int | None:
    """How large an answer of the project may be, where its owner has said so."""
    sql = "SELECT (info->'max_answer_bytes')::bigint AS bytes FROM project WHERE id = %(id)s AND jsonb_typeof(info->'max_answer_bytes') = 'number'"
    row = await one_or_none(db, sql, {"id": project_id})
    return row["bytes"] if row else None


async def what_marks_are(db: Database, project_id: int) -> Values:
    """The keys of a project's ``info`` that say where its answers have marks, and how many (``MarkLimit``)."""
    sql = "SELECT (SELECT coalesce(jsonb_object_agg(key, value), '{}') FROM jsonb_each(info) WHERE key IN ('answers', 'questions', 'max_marks')) AS info FROM project WHERE id = %(id)s"
    row = await one_or_none(db, sql, {"id": project_id})
    return dict(row["info"]) if row else {}


async def any_at_all(db: Database) -> bool:
    """Whether there is a project, published or not."""
    return await one_or_none(db, "SELECT FROM project LIMIT 1") is not None


async def pause(db: Database, project_id: int) -> bool:
    """Pauses a published project; False when it is not published."""
    return bool((await one(db, "SELECT pause(%(id)s, clock()) AS done", {"id": project_id}))["done"])


async def delete(db: Database, project_id: int) -> bool:
    """Deletes a project with everything in it."""
    return bool((await one(db, "SELECT delete_project(%(id)s) AS done", {"id": project_id}))["done"])


async def first_category(db: Database) -> int | None:
    """The category of a new project that names none."""
    row = await one_or_none(db, "SELECT id FROM category ORDER BY id LIMIT 1")
    return row["id"] if row else None


async def category_exists(db: Database, category_id: int) -> bool:
    """Whether there is such a category."""
    return await one_or_none(db, "SELECT FROM category WHERE id = %(id)s", {"id": category_id}) is not None


_CATEGORIES = Prepared("SELECT id, name, short_name, description, created, info FROM category ORDER BY lower(name)")


async def categories(db: Database) -> list[CategoryRow]:
    """All categories by name."""
    return await fetch_rows(db, CategoryRow, _CATEGORIES)


async def secret_key(db: Database, short_name: str) -> ProjectKey | None:
    """The key for external users of a project."""
    return await fetch_row_or_none(
        db,
        ProjectKey,
        "SELECT id, short_name, secret_key_encrypted, token_per_volunteer FROM project WHERE short_name = %(name)s",
        {"name": short_name},
    )


_SECRET_KEYS = Prepared(
    "SELECT p.*, extract(epoch FROM clock())::float8 AS now FROM unnest(%(ids)s) WITH ORDINALITY i(id, nth) LEFT JOIN LATERAL"
    " (SELECT id, short_name, secret_key_encrypted, token_per_volunteer, draft_key FROM project WHERE id = i.id OFFSET 0) p"
    " ON true ORDER BY i.nth",
    ids="bigint[]",
)


async def secret_keys(db: Database, project_ids: list[int]) -> list[CurrentProjectKey | None]:
    """The same of each project, by id and in their order, with ``now`` in epoch seconds; None for one that does not exist."""
    return await fetch_each(db, CurrentProjectKey, _SECRET_KEYS, {"ids": project_ids})


async def set_secret_key(db: Database, project_id: int, encrypted: bytes) -> None:
    """Replaces the key for external users; tokens made with the old one end."""
    await db.execute(
        "UPDATE project SET secret_key_encrypted = %(key)s WHERE id = %(id)s", {"id": project_id, "key": encrypted}
    )


async def info_of(db: Database, project_id: int) -> Values:
    """The ``info`` of a project as it is now."""
    rows = await db.fetch("SELECT info FROM project WHERE id = %(id)s", {"id": project_id})
    return dict(rows[0]["info"])


async def tell(db: Database, project_id: int, info: Mapping[str, object]) -> None:
    """Writes some keys of ``info``; the others stay, even when another transaction changes them meanwhile."""
    await db.execute(
        "UPDATE project SET info = info || %(info)s, updated = clock() WHERE id = %(id)s",
        {"id": project_id, "info": as_json(info)},
    )


_LISTED = Prepared(
    f"SELECT {SUMMARY} FROM {roles.source(PROJECT)} WHERE p.published AND p.lock_id IS NULL"
    " ORDER BY t.featured DESC, t.overall_progress >= 100, t.last_activity_raw DESC NULLS LAST, t.id DESC LIMIT %(limit)s",
    limit="int",
)


async def listed(db: Database, limit: int = 60) -> list[ProjectSummary]:
    """Summaries of published projects without a password, the most active first."""
    return await fetch_rows(db, ProjectSummary, _LISTED, {"limit": limit})


async def of_owner(db: Database, user_id: int) -> list[ProjectSummary]:
    """Summaries of the projects that a person owns or co-owns."""
    return await fetch_rows(
        db,
        ProjectSummary,
        f"SELECT {SUMMARY} FROM {roles.source(PROJECT)} WHERE p.owners_ids @> ARRAY[%(id)s::bigint] ORDER BY t.id DESC LIMIT 500",
        {"id": user_id},
    )


_PAGE = Prepared(
    f"SELECT {records.columns(PROJECT)}, t.first_published, t.lock_id, t.draft_key, t.has_gold FROM {roles.source(PROJECT)} WHERE t.short_name = %(name)s",
    **roles.TYPES,
    name="text",
)


async def page(db: Database, short_name: str, who: Requester) -> ProjectPage | None:
    """The record of a project by its short name, with roles, first_published, lock_id, draft_key and has_gold."""
    rows = await db.fetch(_PAGE, {**who.role_values(), "actor": who.actor, "name": short_name})
    return typed(ProjectPage, records.named(rows))[0] if rows else None
