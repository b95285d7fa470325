"""Figures of the whole server for monitoring; each costs an index scan of what is under way."""

from __future__ import annotations

from crowdd.storage.database import Database, fetch_row, one
from crowdd.storage.server.rows import ServerFigures

_FIGURES = """
SELECT (SELECT count(*) FROM queue_item WHERE state IN ('waiting', 'running') AND state = 'waiting') AS queue_waiting,
       (SELECT count(*) FROM queue_item WHERE state IN ('waiting', 'running') AND state = 'running') AS queue_running,
       (SELECT coalesce(extract(epoch FROM now_ - min(due)), 0)::float8 FROM queue_item
         WHERE state IN ('waiting', 'running') AND state = 'waiting' AND due <= now_) AS queue_late,
       (SELECT count(*) FROM delivery WHERE state = 'waiting') AS deliveries_waiting,
       (SELECT coalesce(extract(epoch FROM now_ - min(next_at)), 0)::float8 FROM delivery
         WHERE state = 'waiting' AND next_at <= now_) AS deliveries_late,
       (SELECT count(*) FROM webhook w JOIN project p ON p.id = w.project_id
         WHERE p.webhook IS NOT NULL AND w.failures > 0) AS webhooks_failing,
       (SELECT count(*) FROM mail WHERE state = 'waiting') AS mail_waiting,
       (SELECT count(*) FROM lease WHERE expires > now_) AS leases,
       (SELECT coalesce(extract(epoch FROM max(snapshot_at)), 0)::float8 FROM backup) AS last_backup,
       (SELECT count(*) FROM stat_delta) AS unfolded
  FROM clock() now_"""


async def read(db: Database) -> ServerFigures:
    """How many items, deliveries, letters and leases there are, and how late the oldest is (seconds)."""
    return await fetch_row(db, ServerFigures, _FIGURES)


async def read_only(db: Database) -> bool:
    """Whether the database takes no changes: a standby, or told so by its operator."""
    row = await one(db, "SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean AS closed")
    return bool(row["closed"])
