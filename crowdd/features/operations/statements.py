"""SQL of operations: server keys, values that depend on lost ones, damaged tables, health, disk space, retention.

Retention removes personal data that was kept long enough, in small steps (`server/72_retention.sql`).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Final

import attrs
import psycopg2

from crowdd.database.access import Database, Transactions, fetch_row, fetch_rows, one
from crowdd.database.errors import first_line
from crowdd.features.signin import statements as signin_statements
from crowdd.sched.rows import DatabaseHealth, EncryptedApiKey, ReplicaHealth, ServerKey

_LOCK = 0x6B6579  # any number, the same for all of ours
# Looked up by keyed hashes alone: worth nothing under another key.
HASHED_TABLES = ("session", "one_time_link", "api_token", "recovery_code", "passkey")
_SAMPLE = 20


async def list_server_keys(db: Database) -> list[ServerKey]:
    """The keys in the order of the file; none before the first start."""
    return await fetch_rows(db, ServerKey, "SELECT fingerprint, id FROM server_key ORDER BY line DESC")


async def lock_server_keys(tx: Database) -> None:
    """Wait until nobody else changes the record of keys; it lasts as long as the transaction."""
    await tx.fetch("SELECT pg_advisory_xact_lock(%(lock)s)", {"lock": _LOCK})


async def replace_server_keys(tx: Database, keys: Sequence[tuple[bytes, bytes]]) -> None:
    """Replace the record by fingerprints and ids, in the order of the file."""
    await tx.execute("DELETE FROM server_key")
    lines = range(len(keys) - 1, -1, -1)
    await tx.execute(
        "INSERT INTO server_key (line, fingerprint, id) SELECT * FROM unnest(%(lines)s::int[], %(prints)s::bytea[], %(ids)s::bytea[])",
        {"lines": [*lines], "prints": [key[0] for key in keys], "ids": [key[1] for key in keys]},
    )


async def sample_api_keys(db: Database) -> list[EncryptedApiKey]:
    """The encrypted API keys of the oldest and newest accounts: ``id`` and ``encrypted``."""
    part = "(SELECT id, api_key_encrypted AS encrypted FROM account ORDER BY id {} LIMIT " + str(_SAMPLE) + ")"
    return await fetch_rows(db, EncryptedApiKey, f"{part.format('')} UNION {part.format('DESC')}")


async def count_hashed_rows(db: Database, table: str) -> int:
    """How many rows of a table of ``HASHED_TABLES`` there are."""
    return int((await one(db, f"SELECT count(*) AS n FROM {table}"))["n"])


async def forget_hashed_rows(tx: Database) -> None:
    """Remove what can only be found by a keyed hash."""
    for table in HASHED_TABLES:
        await tx.execute(f"DELETE FROM {table}")
    await tx.execute(
        "UPDATE account SET second_factor = EXISTS (SELECT FROM totp WHERE user_id = account.id AND confirmed IS NOT NULL)"
        " WHERE second_factor"
    )


async def list_api_keys(db: Database, last: int, maximum: int) -> list[EncryptedApiKey]:
    """The next accounts in the order of their ids: ``id`` and ``encrypted``, the API key."""
    return await fetch_rows(
        db,
        EncryptedApiKey,
        "SELECT id, api_key_encrypted AS encrypted FROM account WHERE id > %(last)s ORDER BY id LIMIT %(maximum)s",
        {"last": last, "maximum": maximum},
    )


async def set_api_key(tx: Database, user_id: int, hashed: bytes, encrypted: bytes) -> None:
    """Replace what an API key is found by, and the key."""
    await tx.execute(
        "UPDATE account SET api_key_hash = %(hashed)s, api_key_encrypted = %(encrypted)s WHERE id = %(id)s",
        {"id": user_id, "hashed": hashed, "encrypted": encrypted},
    )


async def set_project_key(tx: Database, project_id: int, encrypted: bytes) -> None:
    """Replace the secret key of a project."""
    await tx.execute(
        "UPDATE project SET secret_key_encrypted = %(encrypted)s WHERE id = %(id)s",
        {"id": project_id, "encrypted": encrypted},
    )


async def set_webhook_secret(tx: Database, project_id: int, encrypted: bytes) -> None:
    """Replace the secret of a webhook; the one before it is forgotten."""
    await tx.execute(
        "UPDATE webhook SET secret_encrypted = %(encrypted)s, old_secret_encrypted = NULL WHERE project_id = %(id)s",
        {"id": project_id, "encrypted": encrypted},
    )


async def forget_old_webhook_secret(tx: Database, project_id: int) -> None:
    """Forget the secret that a webhook had before."""
    await tx.execute("UPDATE webhook SET old_secret_encrypted = NULL WHERE project_id = %(id)s", {"id": project_id})


async def forget_authenticator(tx: Database, user_id: int) -> None:
    """Remove an account's authenticator app; its second factor is then a passkey, if it has one."""
    await tx.execute("DELETE FROM totp WHERE user_id = %(id)s", {"id": user_id})
    await signin_statements.refresh_second_factor(tx, user_id)


async def forget_provider_token(tx: Database, user_id: int, provider: str) -> None:
    """Remove what a provider gave for an account."""
    await tx.execute(
        "DELETE FROM provider_token WHERE user_id = %(id)s AND provider = %(provider)s",
        {"id": user_id, "provider": provider},
    )


_TABLES: Final = (
    "SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
    " WHERE n.nspname = 'public' AND c.relkind = 'r' ORDER BY 1"
)
# Every page of the table itself, in its order. A hash of a whole row needs all of its values, the large ones, too.
_READ: Final = 'SELECT sum(hashtext(t::text)::bigint) FROM public."{}" t'
_SETTINGS: Final = (
    "SET LOCAL statement_timeout = 0; SET LOCAL max_parallel_workers_per_gather = 0; SET LOCAL enable_seqscan = on;"
    " SET LOCAL enable_indexscan = off; SET LOCAL enable_indexonlyscan = off; SET LOCAL enable_bitmapscan = off"
)


@attrs.frozen
class Damage:
    """A table that cannot be read to its end, and PostgreSQL's words."""

    table: str
    error: str


async def damaged_tables(db: Transactions) -> AsyncIterator[Damage]:
    """Reads every row of every table, one table after the other, on one processor; a server beside it goes on.

    Nothing is changed. Indexes are not read. Raises UnavailableError.
    """
    for row in await db.fetch(_TABLES):
        error = await _damage(db, row["name"])
        if error:
            yield Damage(row["name"], error)


async def _damage(db: Transactions, table: str) -> str:
    async def read(tx: Database) -> None:
        await tx.execute(_SETTINGS)
        await tx.execute(_READ.format(table))

    try:
        await db.transaction(read)
    except (psycopg2.InternalError, psycopg2.OperationalError) as error:  # XX: a damaged page or value; 58: the file
        return first_line(error)
    return ""


_FAILED_COMPARISONS = (
    "SELECT project_id, 'task ' || task_id AS what, failure FROM comparison_due WHERE failure IS NOT NULL"
    " UNION ALL SELECT project_id, 'agreement at answer field ' || field, failure FROM alpha_expected WHERE failure IS NOT NULL"
    " UNION ALL SELECT project_id, 'gold answer ' || run, failure FROM gold_failure"
)


async def read_db_health(db: Database) -> DatabaseHealth:
    """Settings and load of PostgreSQL, and what waits in our tables; times in seconds, ``now`` since the epoch."""
    return await fetch_row(
        db,
        DatabaseHealth,
        "SELECT current_setting('server_version_num')::int AS version,"
        " current_setting('max_connections')::int AS max_connections,"
        " (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS connections,"
        " pg_is_in_recovery() OR current_setting('default_transaction_read_only')::bool AS read_only,"
        " current_setting('fsync')::bool AS fsync,"
        " current_setting('synchronous_standby_names') <> '' AND current_setting('synchronous_commit') IN ('on', 'remote_apply') AS synchronous,"
        " pg_database_size(current_database()) AS bytes,"
        " (SELECT coalesce(extract(epoch FROM clock_timestamp() - min(xact_start)), 0)::float8 FROM pg_stat_activity"
        "  WHERE pid <> pg_backend_pid() AND datname = current_database() AND backend_type = 'client backend') AS oldest_transaction,"
        " extract(epoch FROM clock_timestamp())::float8 AS now,"
        " (SELECT pg_has_role(current_user, relowner, 'USAGE') FROM pg_class WHERE oid = 'public.account'::regclass) AS owns_tables,"
        " coalesce(inet_server_addr() <> inet_client_addr(), false) AS elsewhere,"
        " coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false) AS encrypted,"
        ' (SELECT count(*) FROM account WHERE admin AND NOT "restrict") AS admins,'
        " (SELECT count(*) FROM queue_item WHERE state = 'dead') AS queue_dead,"
        " (SELECT coalesce(extract(epoch FROM clock() - min(due)), 0)::float8 FROM queue_item WHERE state = 'waiting') AS queue_waits,"
        " (SELECT count(DISTINCT lower(recipient)) FROM mail WHERE state = 'dead' AND ended > clock() - interval '1 day') AS mail_refused,"
        " (SELECT count(*) FROM mail WHERE state = 'waiting' AND error <> '' AND created < clock() - interval '1 hour') AS mail_delayed,"
        " coalesce((SELECT error FROM mail WHERE state = 'waiting' AND error <> '' ORDER BY id DESC LIMIT 1), '') AS mail_error,"
        " (SELECT count(*) FROM mail WHERE state = 'held') AS mail_held,"
        f" (SELECT count(*) FROM ({_FAILED_COMPARISONS}) f) AS comparisons_failed,"
        " (SELECT 'project ' || short_name || ', ' || what || ': ' || failure"
        f" FROM ({_FAILED_COMPARISONS}) f JOIN project p ON p.id = f.project_id ORDER BY project_id, what LIMIT 1) AS comparison_failure,"
        " (SELECT extract(epoch FROM clock_timestamp() - max(snapshot_at))::float8 FROM backup) AS last_backup,"
        " (SELECT extract(epoch FROM clock() - min(created))::float8 FROM project) AS first_project",
    )


async def read_replica_health(db: Database) -> ReplicaHealth:
    """How a streaming replica is doing."""
    return await fetch_row(
        db,
        ReplicaHealth,
        "SELECT pg_is_in_recovery() AS follows, current_setting('hot_standby_feedback')::bool AS keeps_rows,"
        " coalesce(extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp()), 0)::float8 AS last_transaction",
    )


# More than what tables have left in their last pages. It is not written to the log of PostgreSQL, and goes with its transaction.
_FILL = "CREATE TEMP TABLE room ON COMMIT DROP AS SELECT gen_random_uuid() AS filling FROM generate_series(1, 50000)"


async def check_disk_space(db: Transactions) -> None:
    """Writes two megabytes that do not stay. Raises NoSpaceError where they do not fit; else ``db`` has room again.

    A role that may not make temporary tables is believed.
    """

    async def fill(tx: Database) -> None:
        rows = await tx.fetch("SELECT has_database_privilege(current_database(), 'TEMP') AS may")
        if rows[0]["may"]:
            await tx.execute(_FILL)

    await db.transaction(fill)
    db.no_space = False


BITE = 5000
_BEFORE = "clock() - make_interval(days => %(days)s)"


async def forget_addresses(db: Database, days: int) -> int:
    """Removes pseudonyms of addresses from the next answers older than so many days; 0 when there are none."""
    sql = f"SELECT forget_addresses({_BEFORE}, %(maximum)s) AS n"
    return int((await one(db, sql, {"days": days, "maximum": BITE}))["n"])


async def forget_users_in_events(db: Database, days: int, after: tuple[int, int]) -> tuple[int, int] | None:
    """Takes accounts out of the next events behind one (project, id) that are older; the last one, None at the end."""
    row = await one(
        db,
        f"SELECT project, event FROM forget_users_in_events({_BEFORE}, %(project)s, %(event)s, %(maximum)s)",
        {"days": days, "project": after[0], "event": after[1], "maximum": BITE},
    )
    return None if row["event"] is None else (row["project"], row["event"])
