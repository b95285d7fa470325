"""``crowdctl backup``: everything that is needed to restore a server, in one file."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import attrs
import click

from crowdd.admin_cli.embedded_database import reachable
from crowdd.admin_cli.output import json_option, say
from crowdd.admin_cli.passphrases import passphrase, passphrase_option, pg_bin_option
from crowdd.config import load
from crowdd.domain.server.backup import back_up
from crowdd.errors import ConfigError


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@passphrase_option
@pg_bin_option
@json_option
@click.pass_obj
def backup(config: Path | None, file: Path, passphrase_file: Path | None, pg_bin: Path | None, as_json: bool) -> None:
    """Write the database, uploaded files, settings and keys to FILE, while the server runs.

    The backup contains everything that was committed when the command started. Only keys and settings are encrypted
    with the passphrase, so keep FILE where nobody else can read it. An existing file is never overwritten.
    """
    settings, word = load(config), passphrase(passphrase_file, new=True)
    owner = settings.db.migrate_dsn or settings.db.dsn
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with reachable(settings) as found:
        dsn = owner or found.db.dsn
        if not dsn:
            raise ConfigError("No database is configured: set [db] dsn, or start with: crowdctl serve")
        progress = Progress(quiet=as_json)
        made = back_up(settings, dsn, file, word, pg_bin, progress)
        progress.end()
    lines = [f"{file}: {made.bytes:,} bytes, {made.files:,} files, {sum(made.rows.values()):,} rows."]
    if made.missing:
        lines.append(f"{made.missing} files that the database names are missing.")
    say(as_json, {**attrs.asdict(made), "snapshot_at": made.snapshot_at.isoformat()}, *lines)


class Progress:
    """Shows how far something is: one line on standard error that is written over, on a terminal only."""

    def __init__(self, *, quiet: bool) -> None:
        self._shown = not quiet and sys.stderr.isatty()

    def __call__(self, what: str, number: int) -> None:
        if self._shown:
            click.echo(f"\r\x1b[K{number:,} {what}", err=True, nl=False)

    def end(self) -> None:
        """Removes the line."""
        if self._shown:
            click.echo("\r\x1b[K", err=True, nl=False)
