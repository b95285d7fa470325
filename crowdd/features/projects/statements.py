"""SQL of projects: create, publish, pause and delete them, their owners and settings, and the files of their rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from crowdd.core.records import role_statements
from crowdd.core.records import statements as record_statements
from crowdd.core.records.statements import stored
from crowdd.database.access import (
    Database,
    Prepared,
    as_json,
    fetch_each,
    fetch_row,
    fetch_row_or_none,
    fetch_rows,
    one,
    one_or_none,
    typed,
)
from crowdd.features.projects.rows import (
    CategoryRow,
    CurrentProjectKey,
    Invitation,
    ProjectAttention,
    ProjectKey,
    ProjectLock,
    ProjectName,
    ProjectOwner,
    ProjectOwners,
    ProjectPage,
    ProjectSettings,
    ProjectSummary,
)
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Values
from crowdd.kinds.gold_shares import GOLD_SHARES
from crowdd.kinds.kind import Kind
from crowdd.kinds.project import PROJECT
from crowdd.kinds.types import UPLOAD_PATH

_GOLD_SHARES = ", ".join(
    f"gold_share_of(info, '{name}', {share.default}, {share.maximum}) AS {name}" for name, share in GOLD_SHARES.items()
)
SUMMARY = (
    "t.id, t.name, t.short_name, t.description, t.summary_info AS info, t.created, t.owner_id, t.category_id, t.featured, t.published, t.first_published,"
    " t.n_tasks, t.n_volunteers, t.n_task_runs, t.n_completed_tasks, t.n_results, t.overall_progress, t.last_activity_raw, t.owner,"
    " t.updated, t.lock_id IS NOT NULL AS locked"
)


async def insert_project(db: Database, values: Mapping[str, object]) -> int:
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


async def touch_project(db: Database, project_id: int) -> bool:
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


async def read_volunteer_rule(db: Database) -> int:
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


async def read_wanted_scheduler(db: Database, project_id: int) -> str | None:
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
    await touch_project(db, project_id)


async def find_project_lock(db: Database, reference: str | int) -> ProjectLock | None:
    """What the password of a project named by id or short name is checked with."""
    column = "id" if isinstance(reference, int) else "short_name"
    return await fetch_row_or_none(
        db,
        ProjectLock,
        f"SELECT id, short_name, lock_id, passwd_hash, owners_ids, reviewer_ids, translator_ids FROM project WHERE {column} = %(ref)s",
        {"ref": reference},
    )


async def find_project_id(db: Database, short_name: str) -> int | None:
    """The id of a project named by its short name; None when there is none."""
    row = await one_or_none(db, "SELECT id FROM project WHERE short_name = %(name)s", {"name": short_name})
    return int(row["id"]) if row else None


async def publish_project(db: Database, project_id: int) -> bool:
    """Opens a draft or ends a pause; False when it is published already.

    Without a picture the project has from now on the small one of its first task, if that is an upload.
    """
    done = bool((await one(db, "SELECT publish(%(id)s, clock()) AS done", {"id": project_id}))["done"])
    if done:
        await db.execute(
            "UPDATE project p SET info = p.info || jsonb_build_object('thumbnail_url', t.info -> 'thumbnail')"
            " FROM (SELECT info FROM task WHERE project_id = %(id)s ORDER BY id LIMIT 1) t WHERE p.id = %(id)s"
            " AND p.info ->> 'thumbnail_url' IS NULL AND t.info ->> 'thumbnail' ~ %(upload)s"
            " AND p.info -> 'column_roles' ->> 'thumbnail' IS DISTINCT FROM 'hidden'",
            {"id": project_id, "upload": f"^{UPLOAD_PATH}$"},
        )
    return done


async def read_max_answer_bytes(db: Database, project_id: int) -> int | None:
    """How large an answer of the project may be, where its owner has said so."""
    sql = "SELECT (info->'max_answer_bytes')::bigint AS bytes FROM project WHERE id = %(id)s AND jsonb_typeof(info->'max_answer_bytes') = 'number'"
    row = await one_or_none(db, sql, {"id": project_id})
    return row["bytes"] if row else None


async def read_mark_keys(db: Database, project_id: int) -> Values:
    """The keys of a project's ``info`` that say where its answers have marks, and how many (``MarkLimit``)."""
    sql = "SELECT (SELECT coalesce(jsonb_object_agg(key, value), '{}') FROM jsonb_each(info) WHERE key IN ('answers', 'questions', 'max_marks')) AS info FROM project WHERE id = %(id)s"
    row = await one_or_none(db, sql, {"id": project_id})
    return dict(row["info"]) if row else {}


async def has_projects(db: Database) -> bool:
    """Whether there is a project, published or not."""
    return await one_or_none(db, "SELECT FROM project LIMIT 1") is not None


async def pause_project(db: Database, project_id: int) -> bool:
    """Pauses a published project; False when it is not published."""
    return bool((await one(db, "SELECT pause(%(id)s, clock()) AS done", {"id": project_id}))["done"])


async def delete_project(db: Database, project_id: int) -> bool:
    """Deletes a project with everything in it."""
    return bool((await one(db, "SELECT delete_project(%(id)s) AS done", {"id": project_id}))["done"])


async def find_first_category(db: Database) -> int | None:
    """The category of a new project that names none."""
    row = await one_or_none(db, "SELECT id FROM category ORDER BY id LIMIT 1")
    return row["id"] if row else None


async def category_exists(db: Database, category_id: int) -> bool:
    """Whether there is such a category."""
    return await one_or_none(db, "SELECT FROM category WHERE id = %(id)s", {"id": category_id}) is not None


_CATEGORIES = Prepared("SELECT id, name, short_name, description, created, info FROM category ORDER BY lower(name)")


async def list_categories(db: Database) -> list[CategoryRow]:
    """All categories by name."""
    return await fetch_rows(db, CategoryRow, _CATEGORIES)


async def find_secret_key(db: Database, short_name: str) -> ProjectKey | None:
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


async def list_secret_keys(db: Database, project_ids: list[int]) -> list[CurrentProjectKey | None]:
    """The same of each project, by id and in their order, with ``now`` in epoch seconds; None for one that does not exist."""
    return await fetch_each(db, CurrentProjectKey, _SECRET_KEYS, {"ids": project_ids})


async def set_secret_key(db: Database, project_id: int, encrypted: bytes) -> None:
    """Replaces the key for external users; tokens made with the old one end."""
    await db.execute(
        "UPDATE project SET secret_key_encrypted = %(key)s WHERE id = %(id)s", {"id": project_id, "key": encrypted}
    )


async def read_info(db: Database, project_id: int) -> Values:
    """The ``info`` of a project as it is now."""
    rows = await db.fetch("SELECT info FROM project WHERE id = %(id)s", {"id": project_id})
    return dict(rows[0]["info"])


async def write_info_keys(db: Database, project_id: int, info: Mapping[str, object]) -> None:
    """Writes some keys of ``info``; the others stay, even when another transaction changes them meanwhile."""
    await db.execute(
        "UPDATE project SET info = info || %(info)s, updated = clock() WHERE id = %(id)s",
        {"id": project_id, "info": as_json(info)},
    )


_LISTED = Prepared(
    f"SELECT {SUMMARY} FROM {role_statements.source(PROJECT)} WHERE p.published AND p.lock_id IS NULL"
    " ORDER BY t.featured DESC, t.overall_progress >= 100, t.last_activity_raw DESC NULLS LAST, t.id DESC LIMIT %(limit)s",
    limit="int",
)


async def list_published_projects(db: Database, limit: int = 60) -> list[ProjectSummary]:
    """Summaries of published projects without a password, the most active first."""
    return await fetch_rows(db, ProjectSummary, _LISTED, {"limit": limit})


async def list_projects_of_owner(db: Database, user_id: int) -> list[ProjectSummary]:
    """Summaries of the projects that a person owns or co-owns."""
    return await fetch_rows(
        db,
        ProjectSummary,
        f"SELECT {SUMMARY} FROM {role_statements.source(PROJECT)} WHERE p.owners_ids @> ARRAY[%(id)s::bigint] ORDER BY t.id DESC LIMIT 500",
        {"id": user_id},
    )


_PAGE = Prepared(
    f"SELECT {record_statements.list_columns(PROJECT)}, t.first_published, t.lock_id, t.draft_key, t.has_gold,"
    " (SELECT x.strings FROM project_translation x WHERE x.project_id = t.id AND x.language = %(language)s) AS translation"
    f" FROM {role_statements.source(PROJECT)} WHERE t.short_name = %(name)s",
    **role_statements.TYPES,
    name="text",
    language="text",
)


async def find_project_page(db: Database, short_name: str, who: Requester, language: str = "") -> ProjectPage | None:
    """The record of a project by its short name, with roles, first_published, lock_id, draft_key, has_gold, and its
    translation into a language.
    """
    values = {**who.role_values(), "actor": who.actor, "name": short_name, "language": language}
    rows = await db.fetch(_PAGE, values)
    return typed(ProjectPage, record_statements.parse_roles(rows))[0] if rows else None


async def find_row_file(db: Database, kind: Kind, row_id: int) -> str | None:
    """The path of a row's file below the folder of uploads."""
    row = await one_or_none(db, f"SELECT media_file FROM {kind.table} WHERE id = %(id)s", {"id": row_id})
    return row["media_file"] if row else None


async def set_row_file(db: Database, kind: Kind, row_id: int, columns: Mapping[str, object]) -> str | None:
    """Writes media_url, media_file and info of a row and returns the path of the file it had before."""
    before = await find_row_file(db, kind, row_id)
    await db.execute(
        f"UPDATE {kind.table} SET media_url = %(media_url)s, media_file = %(media_file)s, info = %(info)s WHERE id = %(id)s",
        {**columns, "info": as_json(columns["info"]), "id": row_id},
    )
    return before


async def find_existing_containers(db: Database, containers: list[str]) -> set[str]:
    """Those of the containers (``project-<id>``, ``user-<id>``) whose project or account exists."""
    rows = await db.fetch(
        "SELECT c FROM unnest(%(containers)s::text[]) c WHERE CASE split_part(c, '-', 1)"
        " WHEN 'project' THEN EXISTS (SELECT FROM project WHERE id = split_part(c, '-', 2)::bigint)"
        " ELSE EXISTS (SELECT FROM account WHERE id = split_part(c, '-', 2)::bigint) END",
        {"containers": containers},
    )
    return {row["c"] for row in rows}


async def find_named_files(db: Database, kinds: Iterable[Kind], paths: list[str]) -> set[str]:
    """Those of the paths (``<container>/<name>``) that a row has: of one of the kinds, a picture of its account, or what
    a project says of itself. What is not found here is removed: a new use of ``Uploads.store`` has to be added.
    """
    of_rows = [
        f"SELECT media_file AS path FROM {kind.table} WHERE media_file = ANY (%(paths)s::text[])" for kind in kinds
    ]
    of_projects = (
        "SELECT path FROM unnest(%(paths)s::text[]) path JOIN project p ON p.id = substring(path FROM '^project-([0-9]+)/')::bigint"
        " WHERE position(split_part(path, '/', 2) IN p.info::text || p.long_description) > 0"
    )
    of_people = (
        "SELECT path FROM unnest(%(paths)s::text[]) path JOIN account a ON a.id = substring(path FROM '^user-([0-9]+)/')::bigint"
        " WHERE a.avatar_file = path"
    )
    rows = await db.fetch(" UNION ".join([*of_rows, of_projects, of_people]), {"paths": paths})
    return {row["path"] for row in rows}


async def lock_owners(db: Database, project_id: int) -> ProjectOwners | None:
    """The owners of a project, locked until the transaction ends."""
    return await fetch_row_or_none(
        db, ProjectOwners, "SELECT owner_id, owners_ids FROM project WHERE id = %(id)s FOR UPDATE", {"id": project_id}
    )


async def set_owners(db: Database, project_id: int, owner_id: int, owners_ids: list[int]) -> None:
    """Writes who owns a project; the owner is one of them. Scores follow: answers in one's own project do not count."""
    await db.fetch(
        "SELECT set_owners(%(id)s, %(owner)s, %(owners)s::bigint[], clock())",
        {"id": project_id, "owner": owner_id, "owners": owners_ids},
    )


async def list_owners(db: Database, project_id: int) -> list[ProjectOwner]:
    """The owner first, then the co-owners in the order in which they were added."""
    return await fetch_rows(
        db,
        ProjectOwner,
        "SELECT u.*, s.score, s.score AS n_answers, s.rank, s.total, u.id = p.owner_id AS is_creator"
        " FROM project p CROSS JOIN unnest(p.owners_ids) WITH ORDINALITY o(id, nth) JOIN person_record u ON u.id = o.id"
        " CROSS JOIN LATERAL place_of(u.id) s WHERE p.id = %(id)s ORDER BY u.id = p.owner_id DESC, o.nth",
        {"id": project_id},
    )


async def find_invitation(db: Database, subject: bytes, purpose: str) -> Invitation | None:
    """The open invitation to a project."""
    return await fetch_row_or_none(
        db,
        Invitation,
        "SELECT created, expires FROM one_time_link WHERE subject = %(subject)s AND purpose = %(purpose)s AND expires > clock()",
        {"subject": subject, "purpose": purpose},
    )


async def read_project_name(db: Database, project_id: int) -> ProjectName | None:
    """What a project is called."""
    return await fetch_row_or_none(
        db, ProjectName, "SELECT id, name, short_name FROM project WHERE id = %(id)s", {"id": project_id}
    )


_WEBHOOK = (
    "p.webhook IS NOT NULL AND coalesce(NOT w.active, false) AS webhook_off,"
    " p.webhook IS NOT NULL AND coalesce(w.active AND w.failures >= %(failing)s, false) AS webhook_failing"
)
MAX_DISPUTED = 1000
"""So many tasks with an agreement below 0.3 are counted."""
_IMPORTS = ["import_tasks", "check_import"]  # background tasks whose failure is the failure of an import


async def read_attention(db: Database, project_id: int, failing: int, days: int) -> ProjectAttention:
    """What needs attention. ``failing``: failures in a row; ``days``: how long a failed background task is named."""
    return await fetch_row(
        db,
        ProjectAttention,
        f"SELECT i.id AS import_id, i.state AS import_state, {_WEBHOOK},"
        " (SELECT count(*) FROM delivery d WHERE d.project_id = p.id AND d.state = 'failed') AS n_failed_deliveries,"
        " (SELECT count(*) FROM queue_item q WHERE q.project_id = p.id AND q.state = 'dead' AND q.name <> ALL (%(imports)s)"
        "     AND q.ended > clock() - %(days)s * interval '1 day') AS n_failed_work, b.n_broken, b.broken_task,"
        " (SELECT count(*) FROM task_comment c WHERE c.project_id = p.id AND NOT c.settled) AS n_comments,"
        " (SELECT count(*) FROM (SELECT FROM result r WHERE r.project_id + 0 = p.id AND r.last_version AND r.agreement < 0.3"
        "     LIMIT %(disputed)s) r) AS n_disputed,"
        " (SELECT count(*) FROM comparison_due d WHERE d.project_id = p.id AND d.failure IS NOT NULL)"
        "     + (SELECT count(*) FROM alpha_expected e WHERE e.project_id = p.id AND e.failure IS NOT NULL)"
        "     + (SELECT count(*) FROM gold_failure f WHERE f.project_id = p.id) AS n_failed_comparisons"
        "  FROM project p LEFT JOIN webhook w ON w.project_id = p.id"
        "  LEFT JOIN LATERAL (SELECT i.id, import_state(i.id) AS state FROM task_import i WHERE i.project_id = p.id ORDER BY i.id DESC LIMIT 1) i ON true"
        " CROSS JOIN LATERAL (SELECT count(*) AS n_broken, min(s.task_id) AS broken_task FROM task_skip s"
        "        JOIN task_ledger t USING (project_id, task_id) WHERE s.project_id = p.id AND s.reason = 'broken' AND NOT t.retired) b"
        " WHERE p.id = %(id)s",
        {"id": project_id, "failing": failing, "days": days, "imports": _IMPORTS, "disputed": MAX_DISPUTED + 1},
    )


async def read_settings(db: Database, project_id: int, failing: int) -> ProjectSettings:
    """The values that do not stand in the row of the project."""
    return await fetch_row(
        db,
        ProjectSettings,
        "SELECT f.n_wanted, f.runs_anonymous AS n_anonymous, l.counted_per_network, c.name AS category,"
        " EXISTS (SELECT FROM task_ledger t WHERE t.project_id = p.id AND t.open AND t.priority_0 > 0) AS prioritised,"
        " (SELECT count(DISTINCT actor) FROM lease WHERE project_id = p.id AND expires > clock()) AS n_at_work,"
        f" (SELECT count(*) FROM barred_volunteer b WHERE b.project_id = p.id) AS n_barred, cardinality(p.reviewer_ids) AS n_reviewers,"
        f" (SELECT count(*) FROM project_translation x WHERE x.project_id = p.id AND x.strings <> '{{}}') AS n_translations, {_WEBHOOK}"
        "  FROM project p JOIN project_ledger l ON l.project_id = p.id JOIN public_figures f ON f.project_id = p.id"
        "  JOIN category c ON c.id = p.category_id LEFT JOIN webhook w ON w.project_id = p.id"
        " WHERE p.id = %(id)s",
        {"id": project_id, "failing": failing},
    )


async def open_answers(db: Database, project_id: int, is_open: bool) -> None:
    """Says whether everybody may see and download the answers."""
    await db.execute(
        "UPDATE project SET zip_download = %(open)s, updated = clock() WHERE id = %(id)s",
        {"open": is_open, "id": project_id},
    )


async def has_trials_beyond(db: Database, project_id: int, maximum: int) -> bool:
    """Whether a draft has more trial answers than so many."""
    rows = await db.fetch(
        "SELECT FROM task_run WHERE project_id = %(project)s AND trial ORDER BY task_id OFFSET %(maximum)s LIMIT 1",
        {"project": project_id, "maximum": maximum},
    )
    return bool(rows)


async def clear_trials(db: Database, project_id: int, maximum: int) -> int:
    """Takes trial answers of a draft away, about so many; how many there were."""
    row = await one(
        db, "SELECT clear_trials(%(project)s, %(maximum)s, clock()) AS n", {"project": project_id, "maximum": maximum}
    )
    return int(row["n"])


async def sweep_project(db: Database, project_id: int) -> int:
    """Takes away a bite of what a deleted project left; 0 when nothing is left."""
    return int((await one(db, "SELECT sweep_project(%(project)s) AS n", {"project": project_id}))["n"])


async def count_answers_wanted(db: Database, project_id: int) -> dict[str, int]:
    """How many answers tasks that are not taken out (``tasks``) ask for: in all, fewest and most; and how many were imported."""
    row = await one(
        db,
        "SELECT count(*) AS tasks, coalesce(sum(n_answers), 0)::bigint AS answers, coalesce(min(n_answers), 0) AS fewest, coalesce(max(n_answers), 0) AS most,"
        " (SELECT count(*) FROM task_run WHERE project_id = %(id)s AND origin IS NOT NULL) AS imported"
        " FROM task_ledger WHERE project_id = %(id)s AND NOT retired",
        {"id": project_id},
    )
    return {name: int(value) for name, value in row.items()}


async def has_tasks(db: Database, project_id: int) -> bool:
    """Whether the project has a task."""
    rows = await db.fetch("SELECT FROM task WHERE project_id = %(id)s ORDER BY id LIMIT 1", {"id": project_id})
    return bool(rows)


async def count_ordinals(db: Database, project_id: int) -> int:
    """How many tasks the project has had: the last ordinal."""
    row = await one_or_none(
        db, "SELECT n_ordinals FROM project_ledger WHERE project_id = %(project)s", {"project": project_id}
    )
    return int(row["n_ordinals"]) if row else 0
