"""Settings, load and backlog of the database, for operators."""

from __future__ import annotations

from crowdd.storage.database import Database, fetch_row
from crowdd.storage.server.rows import DatabaseHealth, ReplicaHealth


async def condition(db: Database) -> DatabaseHealth:
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
        " (SELECT count(*) FROM mail WHERE state = 'dead') AS mail_dead,"
        " (SELECT count(*) FROM mail WHERE state = 'held') AS mail_held,"
        " (SELECT extract(epoch FROM clock_timestamp() - max(snapshot_at))::float8 FROM backup) AS last_backup,"
        " (SELECT extract(epoch FROM clock() - min(created))::float8 FROM project) AS first_project",
    )


async def replica_condition(db: Database) -> ReplicaHealth:
    """How a streaming replica is doing."""
    return await fetch_row(
        db,
        ReplicaHealth,
        "SELECT pg_is_in_recovery() AS follows, current_setting('hot_standby_feedback')::bool AS keeps_rows,"
        " coalesce(extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp()), 0)::float8 AS last_transaction",
    )
