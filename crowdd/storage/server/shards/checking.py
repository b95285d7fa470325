"""How shards are doing."""

from __future__ import annotations

from crowdd.storage.database import Database, fetch_row, fetch_row_or_none, fetch_rows
from crowdd.storage.server.shards.preparing import slot
from crowdd.storage.server.shards.rows import BegunMove, ShardState, SlotState


async def state(shard: Database, number: int) -> ShardState:
    """What a shard says of itself."""
    return await fetch_row(
        shard,
        ShardState,
        "SELECT EXISTS (SELECT FROM pg_stat_subscription WHERE subname = %(slot)s AND relid IS NULL AND pid IS NOT NULL) AS receives,"
        " NOT EXISTS (SELECT FROM pg_trigger WHERE NOT tgisinternal AND tgenabled <> 'A'"
        "  AND tgrelid = ANY ('{account,category,site}'::regclass[])) AS notices,"
        " has_parameter_privilege('session_replication_role', 'SET') AS may_move",
        {"slot": slot(number)},
    )


async def kept_for(home: Database, number: int) -> SlotState | None:
    """What home keeps for a shard; None if it keeps nothing, so that the shard misses changes."""
    return await fetch_row_or_none(
        home,
        SlotState,
        "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), confirmed_flush_lsn)::bigint AS behind FROM pg_replication_slots"
        " WHERE slot_name = %(slot)s",
        {"slot": slot(number)},
    )


async def begun_moves(home: Database) -> list[BegunMove]:
    """Moves that have not ended, the oldest first."""
    return await fetch_rows(
        home,
        BegunMove,
        "SELECT project_id, (extract(epoch FROM clock() - began) / 60)::float8 AS minutes FROM project_move ORDER BY began",
    )
