"""Making a database a shard: its numbers, and the copy of what all databases share."""

from __future__ import annotations

from typing import Final

from psycopg2 import Error
from psycopg2.errors import InsufficientPrivilege, ObjectNotInPrerequisiteState

from crowdd.errors import ConfigError
from crowdd.storage.connections.connection import first_line
from crowdd.storage.database import Database, fetch_row, fetch_row_or_none, fetch_rows, one
from crowdd.storage.server.shards.rows import Contents, Copying, ListedShard, OwnShard

SHARED: Final = ("account", "category", "site")
"""Tables that every database has, and that only home changes."""

IDS_OF_A_SHARD: Final = 1_000_000_000_000
"""Ids that a shard gives begin at its number times this. All stay below 2^53, so JavaScript reads them exactly."""

_GENERATIONS_OF_A_SHARD: Final = 1_000_000  # of sequences of int
_POSITIONS_OF_A_SHARD: Final = 1 << 44
_PUBLICATION: Final = "crowdd_shared"


async def listed(home: Database) -> list[ListedShard]:
    """All shards by number, with the projects on each."""
    return await fetch_rows(
        home,
        ListedShard,
        "SELECT number, name, added, (SELECT count(*) FROM project_place p WHERE p.shard = s.number) AS projects"
        " FROM shard s ORDER BY number",
    )


async def own(shard: Database) -> OwnShard | None:
    """Which shard a database is; None if it is none."""
    return await fetch_row_or_none(shard, OwnShard, "SELECT number, name FROM own_shard")


async def contents(db: Database) -> Contents:
    """What is in a database, and where it is."""
    return await fetch_row(
        db,
        Contents,
        "SELECT (SELECT count(*) FROM account)::int AS accounts, (SELECT count(*) FROM project)::int AS projects,"
        " (SELECT system_identifier FROM pg_control_system()) AS system_identifier, current_database()::text AS database",
    )


async def number_of(home: Database, name: str) -> int:
    """The number of a shard, which is recorded now unless it was before."""
    await home.execute(
        "INSERT INTO shard (number, name, added) SELECT coalesce(max(number), 0) + 1, %(name)s, clock() FROM shard"
        " ON CONFLICT (name) DO NOTHING",
        {"name": name},
    )
    return int((await one(home, "SELECT number FROM shard WHERE name = %(name)s", {"name": name}))["number"])


async def become(shard: Database, number: int, name: str) -> None:
    """In a transaction on an empty database: its numbers follow those of home and of the shards before it.

    Rows of shared tables that migrations made go: they come from home. What rows from home change is noticed, too.
    """
    await shard.execute(
        "INSERT INTO own_shard (number, name) VALUES (%(number)s, %(name)s) ON CONFLICT (single) DO NOTHING",
        {"number": number, "name": name},
    )
    await shard.fetch(
        "SELECT setval(format('public.%%I', sequencename)::regclass,"
        " CASE WHEN data_type = 'integer'::regtype THEN %(number)s::bigint * %(few)s ELSE %(number)s::bigint * %(many)s END)"
        " FROM pg_sequences WHERE schemaname = 'public' AND coalesce(last_value, 0)"
        "  < CASE WHEN data_type = 'integer'::regtype THEN %(number)s::bigint * %(few)s ELSE %(number)s::bigint * %(many)s END",
        {"number": number, "few": _GENERATIONS_OF_A_SHARD, "many": IDS_OF_A_SHARD},
    )
    await shard.execute(
        "INSERT INTO cluster (system_identifier, change_base)"
        " SELECT system_identifier, %(base)s FROM pg_control_system()"
        " ON CONFLICT (single) DO UPDATE SET change_base = greatest(cluster.change_base, excluded.change_base)",
        {"base": number * _POSITIONS_OF_A_SHARD},
    )
    await notice_always(shard)
    for table in SHARED:
        await shard.execute(f"DELETE FROM {table}")


async def notice_always(shard: Database) -> None:
    """Triggers fire for rows that arrive from home. A later version may have made some again."""
    await shard.execute(_ALWAYS)


# Triggers of the shared tables count what pages show and who is in the list of people. Where rows arrive by
# replication, PostgreSQL fires only those that are declared so.
_ALWAYS = """
DO $$ DECLARE t record; BEGIN
    FOR t IN SELECT tgrelid::regclass AS name, tgname FROM pg_trigger WHERE NOT tgisinternal
                AND tgrelid = ANY ('{account,category,site}'::regclass[]) LOOP
        EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I', t.name, t.tgname);
    END LOOP;
END $$"""


async def publish(home: Database, number: int) -> None:
    """Home offers the shared tables, and keeps what a shard has not fetched yet. Raises ConfigError."""
    try:
        await _publish(home, number)
    except (InsufficientPrivilege, ObjectNotInPrerequisiteState) as error:
        hint = "Set wal_level = logical there, and give the role in [db] dsn the attribute REPLICATION."
        raise ConfigError(f"Home refuses to offer its accounts: {first_line(error)}.", hint=hint) from error


async def _publish(home: Database, number: int) -> None:
    if not await home.fetch("SELECT FROM pg_publication WHERE pubname = %(name)s", {"name": _PUBLICATION}):
        await home.execute(f"CREATE PUBLICATION {_PUBLICATION} FOR TABLE {', '.join(SHARED)}")
    await home.fetch(
        "SELECT pg_create_logical_replication_slot(%(slot)s, 'pgoutput')"
        " WHERE NOT EXISTS (SELECT FROM pg_replication_slots WHERE slot_name = %(slot)s)",
        {"slot": slot(number)},
    )


async def subscribe(shard: Database, number: int, dsn: str) -> None:
    """A shard fetches the shared tables from home, now and from now on. ``dsn``: how its PostgreSQL reaches home.

    PostgreSQL 15 lets only superusers do this. Raises ConfigError.
    """
    if await shard.fetch(_SUBSCRIPTION, {"slot": slot(number)}):
        return
    sql = f"CREATE SUBSCRIPTION {slot(number)} CONNECTION %(dsn)s PUBLICATION {_PUBLICATION} WITH (create_slot = false)"
    try:
        await shard.execute(sql, {"dsn": dsn})
    except Error as error:
        hint = "Give --superuser a role that may make a subscription, and --home what the shard's PostgreSQL can connect to."
        raise ConfigError(f"The shard cannot fetch accounts from home: {first_line(error)}.", hint=hint) from error


_SUBSCRIPTION = (
    "SELECT FROM pg_subscription WHERE subname = %(slot)s"
    " AND subdbid = (SELECT oid FROM pg_database WHERE datname = current_database())"
)


async def copying(shard: Database, number: int) -> Copying:
    """How far the first copy is."""
    return await fetch_row(
        shard,
        Copying,
        "SELECT count(*)::int AS tables, count(*) FILTER (WHERE r.srsubstate NOT IN ('r', 's'))::int AS waiting,"
        " EXISTS (SELECT FROM pg_stat_subscription WHERE subname = %(slot)s AND pid IS NOT NULL) AS running"
        " FROM pg_stat_subscription s JOIN pg_subscription_rel r ON r.srsubid = s.subid"
        " WHERE s.subname = %(slot)s AND s.relid IS NULL",
        {"slot": slot(number)},
    )


def slot(number: int) -> str:
    """What the subscription of a shard and its slot at home are called."""
    return f"{_PUBLICATION}_{number}"
