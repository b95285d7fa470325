"""``crowdctl shards``: the databases that projects live on."""

from __future__ import annotations

from pathlib import Path

import attrs
import click

from crowdd.admin_cli.groups import Group
from crowdd.admin_cli.output import json_option, listing, report, say
from crowdd.admin_cli.runtime import another, as_owner_of, reactor, with_database
from crowdd.config import Settings, load
from crowdd.domain.server.doctor_rules import Finding
from crowdd.domain.server.shards import preparing
from crowdd.domain.server.shards.checking import findings
from crowdd.domain.server.shards.moving import WAIT_SECONDS, move_named
from crowdd.errors import ConfigError
from crowdd.storage import schema
from crowdd.storage.connections.pool import Pool
from crowdd.storage.server.shards.preparing import listed
from crowdd.storage.server.shards.rows import ListedShard

_COLUMNS = ("number", "name", "added", "projects")


@click.group(cls=Group)
def shards() -> None:
    """List and prepare the databases that projects live on besides the first one."""


@shards.command(name="list")
@json_option
@click.pass_obj
def list_shards(config: Path | None, as_json: bool) -> None:
    """List the databases, and how many projects each has."""
    listing(as_json, with_database(config, _listed), _COLUMNS)


async def _listed(pool: Pool) -> list[ListedShard]:
    (await schema.status(pool)).require()
    return await listed(pool)


@shards.command()
@click.argument("name")
@click.option("--superuser", help="Connection string to the database as a superuser (default: its own in [db] shards).")
@click.option("--home", help="How the PostgreSQL of the database reaches this one (default: [db] dsn).")
@json_option
@click.pass_obj
def add(config: Path | None, name: str, superuser: str | None, home: str | None, as_json: bool) -> None:
    """Prepare the empty database NAME of [db] shards, and copy all accounts to it. Can be repeated.

    The PostgreSQL of [db] dsn needs wal_level = logical, and its role the attribute REPLICATION.
    """
    settings = load(config)
    dsn = dsn_of(settings, name)

    async def work(pool: Pool) -> ListedShard:
        async with another(settings, dsn) as shard, another(settings, superuser or dsn) as root:
            databases = preparing.Databases(pool, shard, root, home or settings.db.dsn)
            return await preparing.add(reactor, databases, name)

    row = as_owner_of(settings, settings.db.migrate_dsn or settings.db.dsn, work)
    say(as_json, row, f"{name} is shard {row['number']}. Restart all servers.")


@shards.command()
@json_option
@click.pass_context
def check(ctx: click.Context, as_json: bool) -> None:
    """Check that each database can be used, and receives accounts. Exits with 1 if there is a problem."""
    settings = load(ctx.obj)
    faults = with_database(ctx.obj, lambda pool: problems(settings, pool))
    ctx.exit(report(as_json, faults, "All shards can be used."))


async def problems(settings: Settings, pool: Pool) -> list[Finding]:
    """What is wrong with shards; nothing where there are none."""
    return await findings(pool, dict(settings.db.shards), lambda dsn: another(settings, dsn))


@shards.command()
@click.argument("project")
@click.argument("target")
@click.option(
    "--grace",
    type=click.FloatRange(min=0),
    default=WAIT_SECONDS,
    show_default=True,
    help="Seconds before the old rows go. Shorten it only while no server runs.",
)
@json_option
@click.pass_obj
def move(config: Path | None, project: str, target: str, grace: float, as_json: bool) -> None:
    """Move the paused PROJECT (short name or id) to the shard TARGET, or to "home".

    Nobody can change the project meanwhile. If the command is interrupted, run it again: it finishes the move. The
    roles in [db] dsn and [db] shards must own the tables and be allowed to set session_replication_role.
    """
    settings = load(config)
    if not settings.db.dsn:
        raise ConfigError("Shards need a database that [db] dsn names.")
    moved = move_named(settings, project, target, grace)
    if moved is None:
        say(as_json, {"moved": False}, f"The project lives on {target} already.")
        return
    say(
        as_json,
        {"moved": True, **attrs.asdict(moved)},
        f"Moved {sum(moved.rows.values()):,} rows in {moved.seconds:.1f} seconds. The project is still paused.",
    )


def dsn_of(settings: Settings, name: str) -> str:
    """The connection string of a shard. Raises ConfigError."""
    if not settings.db.dsn:
        raise ConfigError("Shards need a database that [db] dsn names.")
    shard_dsn = dict(settings.db.shards).get(name)
    if shard_dsn is None:
        raise ConfigError(f"[db] shards has no database with the name {name}.")
    return shard_dsn
