"""SQL of encrypted columns, idempotency keys, login failures, quotas, request counts and rendered Markdown.

Encrypted values are read and replaced in chunks when the key changes. Login failures are stored under names that reveal
nothing. Rendered HTML is stored under a hash of what it was made from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from crowdd.core.records import statements as record_statements
from crowdd.core.rows import EncryptedValue, Exceeded, FirstRequest, RenderedText, Usage
from crowdd.database.access import Database, Prepared, fetch_row, fetch_row_or_none, fetch_rows, one, one_or_none

CHUNK = 500


@attrs.frozen
class EncryptedColumn:
    """An encrypted column: ``keys`` is the primary key, ``place`` the column that values are encrypted for."""

    table: str
    column: str
    keys: tuple[str, ...] = ("id",)
    place: str = ""

    @property
    def encrypted_for(self) -> str:
        """The column that the place of a value names."""
        return self.place or self.column


ENCRYPTED_COLUMNS = (
    EncryptedColumn("account", "api_key_encrypted"),
    EncryptedColumn("project", "secret_key_encrypted"),
    EncryptedColumn("webhook", "secret_encrypted", ("project_id",)),
    EncryptedColumn("webhook", "old_secret_encrypted", ("project_id",), place="secret_encrypted"),
    EncryptedColumn("totp", "encrypted", ("user_id",)),
    EncryptedColumn("provider_token", "encrypted", ("user_id", "provider")),
    EncryptedColumn("deposit", "token_encrypted"),
)


def primary_key_of(column: EncryptedColumn, row: EncryptedValue) -> list[object]:
    """The primary key of a value, in the order of the column's ``keys``."""
    values: Mapping[str, object] = row
    return [values[name] for name in column.keys]


async def list_outdated_values(
    db: Database, column: EncryptedColumn, prefix: bytes, after: Sequence[object] | None
) -> list[EncryptedValue]:
    """The next values that do not begin with the prefix, in the order of their keys: the keys and ``encrypted``."""
    keys = ", ".join(column.keys)
    marks = ", ".join(f"%(after_{key})s" for key in column.keys)
    beyond = f" AND ({keys}) > ({marks})" if after else ""
    values = {f"after_{key}": value for key, value in zip(column.keys, after or (), strict=False)}
    return await fetch_rows(
        db,
        EncryptedValue,
        f"SELECT {keys}, {column.column} AS encrypted FROM {column.table}"
        f" WHERE {column.column} IS NOT NULL AND substring({column.column} FROM 1 FOR length(%(prefix)s::bytea)) <> %(prefix)s::bytea{beyond}"
        f" ORDER BY {keys} LIMIT {CHUNK}",
        {"prefix": prefix, **values},
    )


async def replace_value(db: Database, column: EncryptedColumn, row: EncryptedValue, encrypted: bytes) -> bool:
    """Put a value in the place of the one that was read; False when another one is there meanwhile."""
    same = " AND ".join(f"{key} = %({key})s" for key in column.keys)
    changed = await db.execute(
        f"UPDATE {column.table} SET {column.column} = %(new)s WHERE {same} AND {column.column} = %(encrypted)s",
        {**row, "encrypted": bytes(row["encrypted"]), "new": encrypted},
    )
    return changed == 1


async def has_value_beginning(db: Database, column: EncryptedColumn, prefix: bytes) -> bool:
    """Whether there is a value that begins with the prefix."""
    rows = await db.fetch(
        f"SELECT 1 AS found FROM {column.table}"
        f" WHERE substring({column.column} FROM 1 FOR length(%(prefix)s::bytea)) = %(prefix)s::bytea LIMIT 1",
        {"prefix": prefix},
    )
    return bool(rows)


HOURS = 24


async def claim_idempotency_key(
    db: Database, caller: str, path: str, key: str, body_hash: bytes
) -> FirstRequest | None:
    """None when the key is new and now ours until the transaction ends; else what the first request left.

    A twin waits here for the end of the first one's transaction.
    """
    here = {"caller": caller, "path": path, "key": key, "hash": body_hash, "hours": HOURS}
    same = "caller = %(caller)s AND path = %(path)s AND key = %(key)s"
    await db.execute(
        f"DELETE FROM idempotency WHERE {same} AND created <= clock() - make_interval(hours => %(hours)s)", here
    )
    made = await db.execute(
        "INSERT INTO idempotency (caller, path, key, body_hash, created) VALUES (%(caller)s, %(path)s, %(key)s, %(hash)s, clock())"
        " ON CONFLICT DO NOTHING",
        here,
    )
    return (
        None
        if made
        else await fetch_row_or_none(db, FirstRequest, f"SELECT body_hash, ids FROM idempotency WHERE {same}", here)
    )


async def store_created_ids(db: Database, caller: str, path: str, key: str, ids: list[int]) -> None:
    """Stores the ids of what a request made."""
    await db.execute(
        "UPDATE idempotency SET ids = %(ids)s::bigint[] WHERE caller = %(caller)s AND path = %(path)s AND key = %(key)s",
        {"caller": caller, "path": path, "key": key, "ids": ids},
    )


async def delete_idempotency_keys(db: Database) -> int:
    """Removes keys that have had their day."""
    return await record_statements.delete_in_batches(
        db, "idempotency", "created <= clock() - make_interval(hours => %(hours)s)", {"hours": HOURS}
    )


async def count_attempt(db: Database, subjects: Sequence[str], limits: Sequence[int], minutes: Sequence[int]) -> int:
    """Counts an attempt at each subject in one statement; the seconds to wait when one is used up, and none is counted.

    A subject may be tried ``limits`` times in the ``minutes`` that its first attempt begins.
    """
    row = await one(
        db,
        "SELECT count_attempts(%(subjects)s, %(limits)s, %(minutes)s, clock()) AS wait",
        {"subjects": list(subjects), "limits": list(limits), "minutes": list(minutes)},
    )
    return int(row["wait"])


async def refund_attempts(db: Database, subjects: Sequence[str], cleared: Sequence[str] = ()) -> None:
    """Takes an attempt back from each subject; ``cleared`` ones start over."""
    await db.execute(
        "SELECT take_back_attempts(%(subjects)s::text[], %(cleared)s::text[])",
        {"subjects": list(subjects), "cleared": list(cleared)},
    )


async def read_usage(db: Database, user_id: int) -> Usage:
    """What an account stores."""
    return await fetch_row(db, Usage, "SELECT projects, tasks, bytes FROM usage_of(%(id)s)", {"id": user_id})


async def find_exceeded_limit(tx: Database, max_tasks: int, max_bytes: int) -> Exceeded | None:
    """The limit that the transaction exceeds; None without one."""
    sql = "SELECT what, used FROM quota_exceeded(%(tasks)s, %(bytes)s)"
    return await fetch_row_or_none(tx, Exceeded, f"{sql} LIMIT 1", {"tasks": max_tasks, "bytes": max_bytes})


async def count_projects_with_new(tx: Database, user_id: int) -> int:
    """How many projects an account has, its new one included; 0 for administrators."""
    return int((await one(tx, "SELECT projects_with_new(%(id)s) AS n", {"id": user_id}))["n"] or 0)


async def sum_bytes_of_owner(db: Database, project_id: int) -> int:
    """Bytes of all projects of this project's owner; 0 for administrators."""
    sql = (
        "SELECT (usage_of(p.owner_id)).bytes AS bytes FROM project p JOIN account a ON a.id = p.owner_id AND NOT a.admin"
        " WHERE p.id = %(id)s"
    )
    row = await one_or_none(db, sql, {"id": project_id})
    return int(row["bytes"]) if row else 0


async def note_files(tx: Database, written: Sequence[tuple[str, int]], dropped: Sequence[str]) -> None:
    """Notes files of projects that were written (path, bytes), and that others are gone."""
    if dropped:
        await tx.execute("DELETE FROM upload_file WHERE path = ANY (%(paths)s)", {"paths": list(dropped)})
    if written:
        await tx.execute(
            "INSERT INTO upload_file AS f (path, project_id, bytes)"
            " SELECT u.path, p.id, u.bytes FROM unnest(%(paths)s::text[], %(sizes)s::bigint[]) u(path, bytes)"
            " JOIN project p ON p.id = substring(u.path FROM '^project-([0-9]{1,18})/')::bigint"
            " ON CONFLICT (path) DO UPDATE SET bytes = excluded.bytes WHERE f.bytes <> excluded.bytes",
            {"paths": [path for path, _ in written], "sizes": [size for _, size in written]},
        )


_ADD = Prepared(
    "INSERT INTO rate_count AS c (key, until, used) VALUES (%(key)s, to_timestamp(%(until)s), %(more)s)"
    " ON CONFLICT (key, until) DO UPDATE SET used = c.used + EXCLUDED.used RETURNING used",
    key="bytea", until="float8", more="bigint",
)  # fmt: skip


async def add_requests(db: Database, key: bytes, until: float, more: int) -> int:
    """How many there are in the window that ends at ``until`` (epoch seconds), with ``more`` that come from here."""
    return int((await one(db, _ADD, {"key": key, "until": until, "more": more}))["used"])


async def delete_rate_counts(db: Database) -> int:
    """Removes windows that are over, and says how many counts that were."""
    return await record_statements.delete_in_batches(db, "rate_count", "until < clock() - interval '1 hour'")


_TODAY = "(clock() AT TIME ZONE 'UTC')::date"
_KEPT_DAYS = 30


async def find_rendered_texts(db: Database, keys: Sequence[str]) -> list[RenderedText]:
    """The stored HTML of these keys, as far as there is any."""
    return await fetch_rows(
        db,
        RenderedText,
        f"SELECT key, html, excerpt, used < {_TODAY} - 7 AS stale FROM rendered_text WHERE key = ANY (%(keys)s)",
        {"keys": list(keys)},
    )


async def store_rendered_text(db: Database, key: str, html: str, excerpt: str) -> None:
    """Stores a text, or notes that it is used."""
    await db.execute(
        f"INSERT INTO rendered_text (key, html, excerpt, used) VALUES (%(key)s, %(html)s, %(excerpt)s, {_TODAY})"
        " ON CONFLICT (key) DO UPDATE SET used = excluded.used",
        {"key": key, "html": html, "excerpt": excerpt},
    )


async def note_text_use(db: Database, keys: Sequence[str]) -> None:
    """Notes that texts are read today."""
    await db.execute(f"UPDATE rendered_text SET used = {_TODAY} WHERE key = ANY (%(keys)s)", {"keys": list(keys)})


async def delete_rendered_texts(db: Database) -> int:
    """Removes what nobody has read for a month: texts that were changed or deleted, and those of older renderers."""
    return await record_statements.delete_in_batches(db, "rendered_text", f"used < {_TODAY} - {_KEPT_DAYS}")
