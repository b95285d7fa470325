"""``crowdctl db``: the database's tables."""

from __future__ import annotations

from pathlib import Path

import click

from crowdd.admin_cli.groups import Group
from crowdd.admin_cli.output import json_option, listing, print_json, say
from crowdd.admin_cli.running import as_owner, with_database
from crowdd.storage import schema


@click.group(cls=Group)
def db() -> None:
    """The database: its version, and bringing it to the one of this program."""


@db.command()
@json_option
@click.pass_obj
def upgrade(config: Path | None, as_json: bool) -> None:
    """Bring the database to this version. An empty one gets its tables; all or nothing is done.

    It connects by [db] migrate_dsn where that is set.
    """
    applied = as_owner(config, schema.upgrade)
    names = ", ".join(_name(number) for number in applied)
    say(as_json, {"applied": applied}, f"Applied {names}." if applied else "The database is up to date.")


@db.command()
@json_option
@click.pass_obj
def status(config: Path | None, as_json: bool) -> None:
    """Show which migrations the database has had."""
    found = with_database(config, schema.status)
    rows = [
        {"migration": _name(number), "applied": number in found.applied}
        for number in sorted({*found.applied, *found.known})
    ]
    if as_json:
        print_json({"current": found.current, "functions_current": found.definitions_current, "migrations": rows})
        return
    listing(False, rows, ("migration", "applied"))
    try:
        found.require()
        click.echo("The database is up to date.")
    except schema.SchemaError as error:
        click.echo(str(error))


def _name(number: int) -> str:
    path = schema.migrations().get(number)
    return path.stem if path else f"{number:04} (of a newer version)"
