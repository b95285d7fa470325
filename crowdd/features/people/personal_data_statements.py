"""Everything that is stored about their person: read for an export, removed when the account is deleted."""

from __future__ import annotations

from crowdd.database.access import Database, Row, as_json, fetch_row_or_none, fetch_rows, one, one_or_none
from crowdd.features.accounts.rows import Answered, BegunDeletion, OwnedProject, PersonalExport

CHUNK = 1000
# Each part: rows with an id that grows, of the person %(user)s after %(after)s. Nothing secret is among the columns.
PARTS = {
    "account": "SELECT id, created, name, fullname, email_addr, admin, pro, privacy_mode, subscribed, newsletter_prompted, valid_email,"
    " consent, locale, flags, category, catalog_api, google_user_id, github_user_id, orcid_user_id, info FROM account WHERE id = %(user)s",
    "sessions": "SELECT id, created, last_seen, expires, agent, address FROM session WHERE user_id = %(user)s",
    "links": "SELECT row_number() OVER (ORDER BY created, other) AS id, created, CASE WHEN other LIKE 'x:%%' THEN 'external user' ELSE 'browser' END AS kind,"
    " nullif(project_id, 0) AS project_id, CASE WHEN other LIKE 'x:%%' THEN substr(other, 3) END AS external_uid"
    " FROM same_person WHERE actor = 'u:' || %(user)s",
    "passkeys": "SELECT id, name, created, last_used FROM passkey WHERE user_id = %(user)s",
    "api_tokens": "SELECT id, name, scope, project_id, created, expires, last_used FROM api_token WHERE user_id = %(user)s",
    "projects": "SELECT id, short_name, name, description, created, updated, published, owner_id FROM project WHERE owners_ids @> ARRAY[%(user)s::bigint]",
    "task_runs": "SELECT id, project_id, task_id, volunteer, created, finish_time, timeout, calibration, media_url, info, circumstances"
    " FROM task_run_record WHERE user_id = %(user)s",
    # Numbered by themselves: the numbers of all versions would tell of which tasks results were kept, too, which gold tasks do not have.
    "earlier_answers": "SELECT row_number() OVER (ORDER BY h.n) AS id, h.project_id, h.task_id, h.id AS task_run_id, h.until, h.\"row\"->'info' AS info FROM past_row h"
    " JOIN task_run r ON r.project_id = h.project_id AND r.id = h.id WHERE h.kind = 'task_run' AND r.user_id = %(user)s",
    # They must not tell which answers were to gold tasks: these are counted in steps of ten, and figures that change with each answer to another
    # task are left out while there are gold tasks. So is a row that would have no figure: it begins with the first answer to a gold task.
    "reliability": "SELECT * FROM (SELECT v.project_id AS id, (s.gold->>'n_seen')::int AS gold_seen, (s.gold->>'n_right')::int AS gold_right,"
    " (s.gold->>'low')::float8 AS gold_low, (s.gold->>'high')::float8 AS gold_high,"
    " CASE WHEN v.peer_seen >= 10 AND NOT p.has_gold THEN round((v.peer_right / v.peer_seen)::numeric, 2)::float8 END AS agreement,"
    " CASE WHEN v.gold_seen + v.peer_seen >= 10 AND NOT p.has_gold THEN round(v.accuracy::numeric, 2)::float8 END AS accuracy"
    " FROM (SELECT DISTINCT project_id FROM task_run WHERE user_id = %(user)s) r"
    " JOIN reliability v ON v.project_id = r.project_id AND v.actor = 'u:' || %(user)s JOIN project p ON p.id = r.project_id"
    " CROSS JOIN LATERAL (SELECT shown_accuracy(v.project_id, v.actor) AS gold) s) x WHERE num_nonnulls(gold_seen, agreement, accuracy) > 0",
    "favourites": "SELECT task_id AS id, project_id, created FROM favourite WHERE user_id = %(user)s",
    "collections": "SELECT id, created, name, description, published FROM collection WHERE user_id = %(user)s",
    "collected_tasks": "SELECT i.id, i.collection_id, i.project_id, i.task_id, i.created, i.note FROM collection_item i"
    " JOIN collection c ON c.id = i.collection_id WHERE c.user_id = %(user)s",
    "comments": "SELECT id, project_id, task_id, created, kind, text, settled, reply_to, by_owner, shared, state FROM task_comment WHERE user_id = %(user)s",
    "news": "SELECT id, news_seen, digest_due, digest_until, digest_without, off_boards FROM account WHERE id = %(user)s",
    "notices": "SELECT id, project_id, kind, subject, created FROM notice WHERE user_id = %(user)s",
    "muted_projects": "SELECT project_id AS id, created FROM muted_project WHERE user_id = %(user)s",
    "certificates": "SELECT id, created, name, first_day, last_day, answers, seconds, n_projects, projects, key FROM certificate WHERE user_id = %(user)s",
    "leaderboards": "SELECT row_number() OVER (ORDER BY project_id, week) AS id, nullif(project_id, 0) AS project_id, week, answers, seconds"
    " FROM board_place WHERE user_id = %(user)s",
    "groups": "SELECT id, created, name, size, last_day, shows_names, ranks FROM volunteer_group WHERE owner_id = %(user)s",
    "memberships": "SELECT id, group_id, name, joined, off_board FROM group_member WHERE user_id = %(user)s",
    "templates": "SELECT id, created, offered, card, questions, tasks FROM template WHERE owner_id = %(user)s",
    "blogposts": "SELECT id, project_id, created, title, body, published FROM blogpost WHERE user_id = %(user)s",
    "announcements": "SELECT id, created, title, body, published FROM announcement WHERE user_id = %(user)s",
    "acts": "SELECT id, at, via, action, kind, object_id, project_id, attribute FROM audit WHERE user_id = %(user)s",
    "security": "SELECT id, at, last_at, count, kind, network, agent, detail FROM security_log WHERE user_id = %(user)s",
    "letters": "SELECT id, created, template, subject, state FROM mail"
    " WHERE lower(recipient) = (SELECT lower(email_addr) FROM account WHERE id = %(user)s)",
}


async def rows(db: Database, part: str, user_id: int, after: int) -> list[Row]:
    """The next rows of a part, in the order of their ids, at most CHUNK."""
    return await db.fetch(
        f"SELECT * FROM ({PARTS[part]}) p WHERE id > %(after)s ORDER BY id LIMIT {CHUNK}",
        {"user": user_id, "after": after},
    )


async def avatar(db: Database, user_id: int) -> str | None:
    """The path of a person's picture below the uploads."""
    row = await one_or_none(db, "SELECT avatar_file FROM account WHERE id = %(user)s", {"user": user_id})
    return row["avatar_file"] if row else None


# Exports ----------------------------------------------------------------------------------------------------------------


async def export(db: Database, user_id: int) -> PersonalExport | None:
    """A person's request for their data; None without one."""
    return await fetch_row_or_none(
        db,
        PersonalExport,
        "SELECT requested, ready, file, bytes FROM personal_export WHERE user_id = %(user)s",
        {"user": user_id},
    )


async def request_export(db: Database, user_id: int) -> tuple[bool, str | None]:
    """Notes a request: whether it is new (none is under way), and the file of the one before, which has had its time."""
    before = await one_or_none(
        db,
        "SELECT file, ready IS NULL AND requested > clock() - interval '1 day' AS under_way FROM personal_export"
        " WHERE user_id = %(user)s FOR UPDATE",
        {"user": user_id},
    )
    if before is not None and before["under_way"]:
        return False, None
    await db.execute(
        "INSERT INTO personal_export (user_id, requested) VALUES (%(user)s, clock()) ON CONFLICT (user_id)"
        " DO UPDATE SET requested = clock(), ready = NULL, file = NULL, bytes = NULL",
        {"user": user_id},
    )
    return True, before["file"] if before else None


async def keep_export(db: Database, user_id: int, file: str, size: int) -> bool:
    """Says that an export is ready; False when nobody waits for it any more."""
    return (
        await db.execute(
            "UPDATE personal_export SET ready = clock(), file = %(file)s, bytes = %(bytes)s WHERE user_id = %(user)s",
            {"user": user_id, "file": file, "bytes": size},
        )
        > 0
    )


async def drop_old_exports(db: Database, days: int) -> list[str]:
    """Forgets exports that have been ready for so long; the names of their files."""
    gone = await db.fetch(
        "DELETE FROM personal_export WHERE ready <= clock() - make_interval(days => %(days)s) RETURNING file",
        {"days": days},
    )
    return [row["file"] for row in gone if row["file"]]


async def exports_kept(db: Database) -> set[str]:
    """The names of all files that are ready."""
    return {row["file"] for row in await db.fetch("SELECT file FROM personal_export WHERE file IS NOT NULL")}


# Deletions --------------------------------------------------------------------------------------------------------------


async def begin_deletion(db: Database, user_id: int, seed: str) -> None:
    """Blocks an account for good and notes what the pseudonyms of its answers are made of; the first seed stays."""
    await db.execute(
        'UPDATE account SET "restrict" = true, passwd_hash = NULL, api_key_hash = sha256(random()::text::bytea) WHERE id = %(user)s',
        {"user": user_id},
    )
    for table in ("session", "one_time_link", "provider_token"):
        await db.execute(f"DELETE FROM {table} WHERE user_id = %(user)s", {"user": user_id})
    await db.execute(
        "INSERT INTO account_deletion (user_id, pseudonym, at) VALUES (%(user)s, %(seed)s, clock())"
        " ON CONFLICT (user_id) DO UPDATE SET at = clock()",
        {"user": user_id, "seed": seed},
    )


async def deletion_seed(db: Database, user_id: int) -> str | None:
    """The seed of the pseudonyms of a deleted account's answers; None when it is forgotten."""
    row = await one_or_none(db, "SELECT pseudonym FROM account_deletion WHERE user_id = %(user)s", {"user": user_id})
    return row["pseudonym"] if row else None


async def forget_in_events(db: Database, user_id: int, after: tuple[int, int]) -> tuple[int, int] | None:
    """Takes an account out of the next events behind one (project, id); the last one looked at, None at the end."""
    row = await one(
        db,
        "SELECT project, event FROM forget_in_events(%(user)s, %(project)s, %(event)s, %(maximum)s)",
        {"user": user_id, "project": after[0], "event": after[1], "maximum": CHUNK * 5},
    )
    return None if row["event"] is None else (row["project"], row["event"])


async def begun_deletions(db: Database) -> list[BegunDeletion]:
    """Accounts that are being deleted, or were lately."""
    return await fetch_rows(
        db,
        BegunDeletion,
        "SELECT user_id, pseudonym, at <= clock() - interval '3 hours' AS old FROM account_deletion ORDER BY at LIMIT 1000",
    )


async def end_deletion(db: Database, user_id: int) -> None:
    """Deletes the seed, so that no pseudonym can be traced back, and empty counters of the person."""
    await forget_words(db, user_id)
    await db.fetch("SELECT forget_person(%(user)s)", {"user": user_id})
    await db.execute("DELETE FROM account_deletion WHERE user_id = %(user)s", {"user": user_id})


async def forget_words(db: Database, user_id: int) -> None:
    """Removes the words of an account; its answers have taken theirs along. And its links, which nothing needs without answers."""
    for table in ("volunteer_word", "task_skip_by"):
        await db.execute(f"DELETE FROM {table} WHERE actor = 'u:' || %(user)s", {"user": user_id})
    await db.fetch("SELECT unlink_all('u:' || %(user)s)", {"user": user_id})


async def withdraw_words(db: Database, user_id: int) -> None:
    """Notes the codes under which a person answered: snapshots that have them are marked, later ones do not have them.

    Earlier versions of answers lose them.
    """
    await db.execute(
        "UPDATE past_row h SET \"row\" = h.\"row\" - 'volunteer' FROM volunteer_word w WHERE w.actor = 'u:' || %(user)s"
        " AND h.project_id = w.project_id AND h.kind = 'task_run' AND h.\"row\"->>'volunteer' = w.word",
        {"user": user_id},
    )
    await db.execute(
        "INSERT INTO withdrawn_volunteer (project_id, word, at)"
        " SELECT w.project_id, w.word, clock() FROM volunteer_word w WHERE w.actor = 'u:' || %(user)s"
        " AND EXISTS (SELECT FROM task_run r WHERE r.project_id = w.project_id AND r.actor = w.actor) ON CONFLICT DO NOTHING",
        {"user": user_id},
    )


async def runs_of(db: Database, user_id: int, limit: int) -> list[Answered]:
    """Some answers of a person."""
    return await fetch_rows(
        db,
        Answered,
        "SELECT project_id, task_id FROM (SELECT project_id, task_id FROM task_run WHERE user_id = %(user)s ORDER BY id LIMIT %(limit)s) r"
        " ORDER BY project_id, task_id",
        {"user": user_id, "limit": limit},
    )


async def address(db: Database, user_id: int) -> str | None:
    """The e-mail address of an account that is still there."""
    row = await one_or_none(db, "SELECT email_addr FROM account WHERE id = %(user)s", {"user": user_id})
    return row["email_addr"] if row else None


async def owned(db: Database, user_id: int) -> list[OwnedProject]:
    """Projects that a person owns."""
    return await fetch_rows(
        db,
        OwnedProject,
        "SELECT id, short_name, name FROM project WHERE owner_id = %(user)s ORDER BY id LIMIT 100",
        {"user": user_id},
    )


async def other_admins(db: Database, user_id: int) -> bool:
    """Whether there is another administrator."""
    return (
        await one_or_none(
            db, 'SELECT FROM account WHERE admin AND NOT "restrict" AND id <> %(user)s LIMIT 1', {"user": user_id}
        )
        is not None
    )


async def remove(db: Database, user_id: int, subject: bytes) -> list[str]:
    """Removes an account and all that names its person; the files that go with it.

    ``subject`` is the keyed hash of the address, under which links wait that were sent to it.
    """
    account = await one_or_none(
        db,
        "SELECT name, fullname, email_addr, avatar_file FROM account WHERE id = %(user)s FOR UPDATE",
        {"user": user_id},
    )
    if account is None:
        return []
    files = await db.fetch(
        "SELECT file FROM personal_export WHERE user_id = %(user)s AND file IS NOT NULL", {"user": user_id}
    )
    who = {"user": user_id, "subject": subject, **account}
    words = as_json({"name": account["name"], "fullname": account["fullname"], "email": account["email_addr"]})
    for statement in (
        "UPDATE project SET owners_ids = array_remove(owners_ids, %(user)s) WHERE owners_ids @> ARRAY[%(user)s::bigint] AND owner_id <> %(user)s",
        "UPDATE project SET reviewer_ids = array_remove(reviewer_ids, %(user)s) WHERE reviewer_ids @> ARRAY[%(user)s::bigint]",
        "UPDATE project SET translator_ids = array_remove(translator_ids, %(user)s) WHERE translator_ids @> ARRAY[%(user)s::bigint]",
        "UPDATE result SET decided_by = NULL WHERE decided_by = %(user)s",
        "DELETE FROM one_time_link WHERE subject = %(subject)s",
        "DELETE FROM mail WHERE lower(recipient) = lower(%(email_addr)s)",
        "DELETE FROM idempotency WHERE caller = 'u:' || %(user)s",
        "UPDATE audit SET user_id = NULL, user_name = '', who_salt = NULL WHERE user_id = %(user)s OR user_name = %(name)s",
        "UPDATE audit SET before = NULL, after = NULL, values_salt = NULL"
        " WHERE jsonb_path_exists(before, %(path)s, %(words)s) OR jsonb_path_exists(after, %(path)s, %(words)s)",
        "UPDATE security_log SET bucket = NULL, user_id = NULL, agent = '' WHERE user_id = %(user)s",
        "UPDATE security_log SET bucket = NULL, actor_id = NULL, agent = '' WHERE actor_id = %(user)s",
        "UPDATE deposit SET user_id = NULL, token_encrypted = NULL WHERE user_id = %(user)s",
        # What others read and perhaps answered keeps its place, and says nothing.
        "UPDATE task_comment SET user_id = NULL, actor = 'gone', text = '-', state = 'gone' WHERE user_id = %(user)s AND shared",
        "DELETE FROM comment_report WHERE actor = 'u:' || %(user)s",
        "DELETE FROM account WHERE id = %(user)s",
    ):
        path = "$.** ? (@ == $name || @ == $fullname || @ == $email)"
        await db.execute(statement, {**who, "words": words, "path": path})
    return [row["file"] for row in files]
