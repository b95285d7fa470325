"""``crowdctl db`` and ``crowdctl nodes``: the tables of the database, and the servers that use it."""

from __future__ import annotations

import os
from pathlib import Path

import attrs
import click

from crowdd.admin_cli.groups import Group
from crowdd.admin_cli.output import json_option, listing, print_json, say, waiting
from crowdd.admin_cli.runtime import as_owner, with_database
from crowdd.database import schema
from crowdd.database.embedded import find_home, hold_folder
from crowdd.database.nodes import NodeState, overview
from crowdd.database.pool import Pool
from crowdd.features.operations.major_upgrade import move
from crowdd.kernel.config import Settings, load
from crowdd.kernel.errors import ConfigError
from crowdd.sched import check_statements

_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)


@click.group(cls=Group)
def db() -> None:
    """Show or upgrade the version of the database, and record that it was restored."""


@db.command()
@click.option(
    "--postgresql",
    is_flag=True,
    help="Move the database of crowdctl serve to the newest installed PostgreSQL. Stop the server first.",
)
@click.option("--old-bin", type=_FOLDER, help="Folder of the old PostgreSQL programs.")
@click.option("--new-bin", type=_FOLDER, help="Folder of the new PostgreSQL programs (default: the newest installed).")
@json_option
@click.pass_obj
def upgrade(config: Path | None, postgresql: bool, old_bin: Path | None, new_bin: Path | None, as_json: bool) -> None:
    """Upgrade the database to this version, or create the tables in an empty one.

    If a step fails, nothing is changed. The connection uses [db] migrate_dsn if it is set.

    Refused while servers run that could not use the upgraded database: crowdctl nodes lists them. Does nothing if a
    newer version has upgraded the database and this version can use it.
    """
    if postgresql:
        _move(load(config), old_bin, new_bin, as_json)
        return
    if old_bin or new_bin:
        raise click.UsageError("--old-bin and --new-bin require --postgresql.")
    with waiting("Upgrading the database", quiet=as_json):
        applied = as_owner(config, schema.upgrade)
    names = ", ".join(_name(number) for number in applied)
    say(as_json, {"applied": applied}, f"Applied {names}." if applied else "The database is up to date.")


@db.command()
@json_option
@click.pass_obj
def status(config: Path | None, as_json: bool) -> None:
    """Show which migrations have been applied to the database."""
    schema_status = with_database(config, schema.status)
    rows = [
        {"migration": _name(number), "applied": number in schema_status.applied}
        for number in sorted({*schema_status.applied, *schema_status.known})
    ]
    if as_json:
        words = {
            "current": schema_status.current,
            "functions_current": schema_status.definitions_current,
            "served": schema_status.served,
        }
        print_json({**words, "migrations": rows})
        return
    listing(False, rows, ("migration", "applied"))
    try:
        schema_status.require()
        later = "A newer crowdd has upgraded the database. This version can use it."
        click.echo("The database is up to date." if schema_status.current else later)
    except schema.SchemaError as error:
        click.echo(str(error))


@db.command()
@json_option
@click.pass_obj
def restored(config: Path | None, as_json: bool) -> None:
    """Record that another program restored the database, for example to an earlier moment. Changes no rows of projects.

    Programs that follow changes of a project may have seen more than the database has now. Afterwards they begin new
    copies, and volunteers are offered every open task again. crowdctl restore does this itself.
    """

    async def work(pool: Pool) -> bool:
        (await schema.status(pool)).require()
        return await check_statements.know_cluster(pool, restored=True)

    done = with_database(config, work)
    say(as_json, {"restored": done}, "Noted. Programs that follow changes will begin new copies.")


def _move(settings: Settings, old_bin: Path | None, new_bin: Path | None, as_json: bool) -> None:
    if settings.db.dsn:
        raise ConfigError(
            "[db] dsn names a PostgreSQL that crowdd does not manage. Upgrade it as its documentation describes.",
            hint="Or move the data: crowdctl backup on the old one, crowdctl restore on the new one.",
        )
    folder = settings.data.dir
    if not (folder / "postgres").exists():
        raise ConfigError(f"{folder.absolute()} contains no embedded database.")
    lock = hold_folder(folder)
    try:
        moved = move(find_home(folder), old_bin, new_bin, lambda words: click.echo(words, err=True))
    finally:
        os.close(lock)
    if moved is None:
        say(as_json, {"moved": False}, "The database already uses the newest installed PostgreSQL.")
        return
    say(
        as_json,
        {"moved": True, **attrs.asdict(moved)},
        f"Moved from PostgreSQL {moved.before} to {moved.after}: {moved.rows:,} rows compared.",
        f"The old folder is {moved.old_folder}: remove it once the server has run well. Changes that you made in its "
        "postgresql.conf are not in the new folder.",
    )


def _name(number: int) -> str:
    return str(schema.migrations().get(number, f"{number:04} (of a newer version)"))


_COLUMNS = ("name", "host", "version", "migration", "started", "seen", "processes", "state")


@click.command()
@json_option
@click.pass_obj
def nodes(config: Path | None, as_json: bool) -> None:
    """List the servers that run on the database, with their versions.

    "migration" is the newest that a server knows. "state" is ready (it takes requests), draining (it is about to stop)
    or gone (it died within the last day).
    """
    listing(as_json, with_database(config, _listed), _COLUMNS)


async def _listed(pool: Pool) -> list[NodeState]:
    (await schema.status(pool)).require()
    return await overview(pool)
