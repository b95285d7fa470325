"""SQL of news: what a person is told (definitions/community/80_notices.sql), what they chose, and whose e-mail is due."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from crowdd.core.records import statements as record_statements
from crowdd.database.access import Database, fetch_row, fetch_row_or_none, fetch_rows
from crowdd.features.news.rows import LetterChoice, LetterSent, LetterState, MutedProject, NewsRow, Reader

KEPT_DAYS = 90
"""For so long a notice is shown."""

MAX_LETTER = 5000
"""Characters of a letter; the rest is read in the blog."""

_MAX_REPLY = 300  # characters of an answer to a comment, in a list
_NEWS = f"""
SELECT n.id, n.kind, n.created, n.subject, p.name, p.short_name, p.summary_info AS info, n.own, p.zip_download AND NOT p.has_gold AS told, b.title,
       CASE n.kind WHEN 'letter' THEN left(b.body, {MAX_LETTER}) END AS letter, c.task_id, left(q.text, {_MAX_REPLY}) AS comment, left(c.text, {_MAX_REPLY}) AS reply, f.n_tasks,
       f.runs_anonymous + f.runs_authenticated AS n_task_runs,
       n.created > coalesce((SELECT news_seen FROM account WHERE id = %(user)s), '-infinity') AS new
  FROM clock() now_, news_of(%(user)s, %(unlocked)s::text[], coalesce(%(after)s::timestamptz, now_ - interval '{KEPT_DAYS} days'),
                             coalesce(%(until)s::timestamptz, now_), %(maximum)s) n
  JOIN project p ON p.id = n.project_id
  LEFT JOIN blogpost b ON n.kind IN ('post', 'letter') AND b.id = n.subject
  LEFT JOIN task_comment c ON n.kind = 'reply' AND c.id = n.subject
  LEFT JOIN task_comment q ON q.id = c.reply_to
  LEFT JOIN LATERAL (SELECT * FROM public_figures x WHERE x.project_id = p.id AND n.kind = 'finished' OFFSET 0) f ON true
 ORDER BY n.created DESC, n.id DESC"""


async def list_news(
    db: Database, user_id: int, unlocked: Sequence[str], maximum: int, between: tuple[datetime, datetime] | None = None
) -> list[NewsRow]:
    """What a person is told, the newest first: of the last 90 days, or of what happened between two times."""
    after, until = between or (None, None)
    values = {"user": user_id, "unlocked": list(unlocked), "after": after, "until": until, "maximum": maximum}
    return await fetch_rows(db, NewsRow, _NEWS, values)


async def note_seen(db: Database, user_id: int) -> None:
    """Notes that a person looked at their news, at most once in a minute."""
    await db.execute(
        "UPDATE account SET news_seen = clock() WHERE id = %(user)s AND coalesce(news_seen < clock() - interval '1 minute', true)",
        {"user": user_id},
    )


async def read_choice(db: Database, user_id: int) -> LetterChoice:
    """What a person chose of the weekly e-mail."""
    sql = "SELECT subscribed, valid_email, digest_without AS without FROM account WHERE id = %(user)s"
    return await fetch_row(db, LetterChoice, sql, {"user": user_id})


async def write_choice(db: Database, user_id: int, subscribed: bool, without: Sequence[str]) -> None:
    """Store what an account wants by e-mail. News that was sent before is not sent again after a new subscription."""
    await db.execute(
        "UPDATE account SET subscribed = %(subscribed)s, newsletter_prompted = true, digest_without = %(without)s WHERE id = %(user)s",
        {"user": user_id, "subscribed": subscribed, "without": list(without)},
    )


async def withdraw_consent(db: Database, user_id: int) -> bool:
    """Ends the weekly e-mails of an account; False when there is no such account."""
    return await db.execute("UPDATE account SET subscribed = false WHERE id = %(user)s", {"user": user_id}) > 0


async def list_muted(db: Database, user_id: int, maximum: int) -> list[MutedProject]:
    """The projects that a person muted and that are still public, by name."""
    return await fetch_rows(
        db,
        MutedProject,
        "SELECT p.name, p.short_name FROM muted_project m JOIN project p ON p.id = m.project_id"
        " WHERE m.user_id = %(user)s AND p.first_published IS NOT NULL ORDER BY lower(p.name), p.id LIMIT %(maximum)s",
        {"user": user_id, "maximum": maximum},
    )


async def mute(db: Database, user_id: int, short_name: str) -> bool:
    """Mutes a project that the person helped; False when there is none of that name. So there are no more than these."""
    row = await fetch_row_or_none(
        db,
        MutedProject,
        "WITH muted AS (INSERT INTO muted_project (user_id, project_id, created) SELECT %(user)s, p.id, clock() FROM project p"
        " WHERE p.short_name = %(short_name)s AND runs_of(p.id, 'u:' || %(user)s) > 0 ON CONFLICT DO NOTHING)"
        " SELECT p.name, p.short_name FROM project p WHERE p.short_name = %(short_name)s AND runs_of(p.id, 'u:' || %(user)s) > 0",
        {"user": user_id, "short_name": short_name},
    )
    return row is not None


async def unmute(db: Database, user_id: int, short_name: str) -> bool:
    """Lets a project tell its news again; False when it was not muted."""
    sql = (
        "DELETE FROM muted_project m USING project p WHERE p.id = m.project_id AND m.user_id = %(user)s"
        " AND p.short_name = %(short_name)s"
    )
    return await db.execute(sql, {"user": user_id, "short_name": short_name}) > 0


async def lock_reader(db: Database) -> Reader | None:
    """The subscriber whose e-mail is due, locked until the transaction ends; None when there is none.

    Only a confirmed address is written to: nobody else agreed. What is an hour old cannot be followed by something
    older, whose transaction took longer.
    """
    return await fetch_row_or_none(
        db,
        Reader,
        "SELECT a.id, a.name, a.fullname, a.email_addr, a.locale, a.digest_without AS without,"
        " greatest(coalesce(a.digest_until, now_ - interval '7 days'), now_ - interval '14 days') AS after, now_ - interval '1 hour' AS until,"
        " EXISTS (SELECT FROM mail m WHERE lower(m.recipient) = lower(a.email_addr) AND m.state = 'dead' AND m.returned) AS returned"
        ' FROM account a, clock() now_ WHERE a.subscribed AND a.valid_email AND NOT a."restrict" AND (a.digest_due IS NULL OR a.digest_due <= now_)'
        " ORDER BY a.digest_due NULLS FIRST, a.id LIMIT 1 FOR UPDATE OF a SKIP LOCKED",
    )


async def put_off(db: Database, user_id: int, days: int, until: datetime | None = None) -> None:
    """Makes the next e-mail due after so many days; ``until``: up to when one that was just written has the news."""
    await db.execute(
        "UPDATE account SET digest_due = clock() + make_interval(days => %(days)s), digest_until = coalesce(%(until)s, digest_until)"
        " WHERE id = %(user)s",
        {"user": user_id, "days": days, "until": until},
    )


async def sweep(db: Database) -> int:
    """Removes notices that are no longer shown."""
    return await record_statements.delete_in_batches(
        db, "notice", f"created < clock() - interval '{KEPT_DAYS} days'", {}
    )


async def read_letter_state(db: Database, project_id: int, post_id: int, maximum: int) -> LetterState:
    """When a post was sent as a letter, when the next may be, and how many people it reaches, at most ``maximum``."""
    return await fetch_row(
        db,
        LetterState,
        "SELECT (SELECT created FROM notice WHERE project_id = %(project)s AND kind = 'letter' AND subject = %(post)s) AS sent,"
        " next_letter(%(project)s, clock()) AS again, letter_readers(%(project)s, %(maximum)s) AS readers",
        {"project": project_id, "post": post_id, "maximum": maximum},
    )


async def send_letter(db: Database, project_id: int, post_id: int) -> bool:
    """Makes a letter of a post; False when the project has sent one in the last seven days."""
    sql = "SELECT send_letter(%(project)s, %(post)s, clock()) IS NULL AS sent"
    row = await fetch_row(db, LetterSent, sql, {"project": project_id, "post": post_id})
    return row["sent"]
