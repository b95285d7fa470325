"""A text that would run if it ever came out as anything but text, put into every text that the database has.

A new table or column is planted by itself. What cannot be is named in ENUMERATED, because the database or the code
takes only certain words there.
"""

from __future__ import annotations

from typing import Any

import psycopg2
from psycopg2 import sql
from psycopg2.extras import Json

MARK = "data-canary"
# Ends an attribute, a text area, a title, a script and a comment; then it is an element that runs. No slash in it, so
# that it can stand in an address.
SHORT = f"'\"--><img {MARK} src=x onerror=console.warn(`canary`,origin) "
LONG = (
    f"{SHORT}></textarea></title></script><script>console.warn('canary',origin)</script>"
    f"<svg {MARK} onload=console.warn('canary',origin)> [run](javascript:console.warn('canary',origin)) "
    "![out](https://elsewhere.example/x.png) <javascript:canary> ${canary}{{canary}}{% canary %}"
)
ENUMERATED = {
    "account": {"passwd_hash", "locale", "avatar_file"},
    "analysis": {"method", "answers"},
    "alpha_delta": {"part"},
    "alpha_sum": {"part"},
    "attempt_count": {"subject"},
    "audit": {"via", "action", "kind"},
    "security_log": {"kind", "tried"},
    "key_network": {"network"},
    "announcement": {"media_file"},
    "blogpost": {"media_file"},
    "helpingmaterial": {"media_file"},
    "delivery": {"kind", "state"},
    "event": {"kind"},
    "guide_version": {"guide"},
    "outcome_count": {"kind"},
    "task_comment": {"kind", "state"},
    "notice": {"kind"},
    "account_deletion": {"pseudonym"},
    "idempotency": {"caller", "path", "key"},
    "job": {"name", "outcome"},
    "job_run": {"name", "outcome"},
    "group_member": {"actor"},
    "lease": {"actor"},
    "mail": {"template", "locale", "state"},
    "one_time_link": {"purpose", "data"},
    "evidence": {"reason"},
    "expired_lease": {"actor"},
    "personal_export": {"file"},
    "position": {"actor", "scan"},
    "project": {"passwd_hash", "lock_id"},
    "project_ledger": {"sched", "lock_id"},
    "provider_token": {"provider"},
    "queue_item": {"name", "via", "state"},
    "task_import": {"format", "file", "kind", "on_error", "dialect", "doubts", "checked", "preview"},
    "media_batch": {"grouping"},
    "media_file": {"state", "key"},
    "snapshot": {"hash"},
    "snapshot_file": {"key"},
    "snapshot_schedule": {"every"},
    "stat_delta": {"actor"},
    "reliability": {"actor"},
    "result": {"reason"},
    "site": {"logo", "accent_light", "accent_dark", "signup"},
    "task_run": {"actor"},
    "volunteer": {"actor"},
    "volunteer_group": {"code"},
    "volunteer_day": {"actor"},
    "migration": {"name", "content"},
    "definition": {"fingerprint"},
}
_BRIEF = {
    ("media_batch", "column_name"),
    ("account", "name"),
    ("project", "short_name"),
    ("category", "short_name"),
    ("collection", "name"),
}
_JSON_AS_TEXT = {("delivery_attempt", "body")}
_TEXTS = """
SELECT table_name, column_name, data_type FROM information_schema.columns JOIN pg_tables ON tablename = table_name
 WHERE table_schema = 'public' AND schemaname = 'public' AND is_generated = 'NEVER'
   AND data_type IN ('text', 'jsonb') ORDER BY 1, ordinal_position
"""


def plant(dsn: str) -> set[tuple[str, str]]:
    """Writes the canary into every text and JSON column of every row; the columns that had rows."""
    with psycopg2.connect(dsn) as connection, connection.cursor() as cursor:
        cursor.execute(_TEXTS)
        planted = set()
        for table, column, sort in cursor.fetchall():
            if column not in ENUMERATED.get(table, ()):
                write = _json if sort == "jsonb" else _text
                if write(cursor, table, column):
                    planted.add((table, column))
    connection.close()
    return planted


def _text(cursor: Any, table: str, column: str) -> int:
    canary = SHORT if (table, column) in _BRIEF else LONG
    words = "%s || translate(ctid::text, '(),', '')"  # different in each row
    if (table, column) in _JSON_AS_TEXT:
        words = f"json_build_object('x', {words})::text"
    statement = sql.SQL(f"UPDATE {{}} SET {{}} = {words}").format(sql.Identifier(table), sql.Identifier(column))
    cursor.execute(statement, (canary,))
    return int(cursor.rowcount)


def _json(cursor: Any, table: str, column: str) -> int:
    at = {"table": sql.Identifier(table), "column": sql.Identifier(column)}
    cursor.execute(sql.SQL("SELECT ctid::text, {column} FROM {table}").format(**at))
    rows = cursor.fetchall()
    for place, value in rows:
        if value is None:  # JSON null is not the same as no value
            continue
        cursor.execute(
            sql.SQL("UPDATE {table} SET {column} = %s WHERE ctid = %s::tid").format(**at),
            (Json(poisoned(value, LONG, more=column == "info")), place),
        )
    return len(rows)


def poisoned(value: Any, words: str, *, more: bool = False) -> Any:
    """The value with ``words`` for each of its texts, and where there is room (``more``) as names, too."""
    if isinstance(value, str):
        return words
    if isinstance(value, list):
        return [poisoned(item, words) for item in value]
    if isinstance(value, dict):
        free = {words: words, "thumbnail_url": words, "avatar_url": words, "task_presenter": words, "tutorial": words}
        free |= {"results": words, "container": words}
        return {key: poisoned(item, words) for key, item in value.items()} | (free if more else {})
    return value
