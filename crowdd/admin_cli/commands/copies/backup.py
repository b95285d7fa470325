"""``crowdctl backup``: everything that is needed to restore a server, in one file or in the folder of backups."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import attrs
import click

from crowdd.admin_cli.embedded_database import reachable
from crowdd.admin_cli.output import json_option, say
from crowdd.admin_cli.passphrases import passphrase, passphrase_option, pg_bin_option
from crowdd.config import Settings, load
from crowdd.domain.server.backups.backup import Databases, back_up
from crowdd.domain.server.backups.folder import make
from crowdd.errors import ConfigError


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path), required=False)
@click.option("--dsn", help="Standby to read instead of the database (default: [backups] dsn).")
@passphrase_option
@pg_bin_option
@json_option
@click.pass_obj
def backup(
    config: Path | None,
    file: Path | None,
    dsn: str | None,
    passphrase_file: Path | None,
    pg_bin: Path | None,
    as_json: bool,
) -> None:
    """Write the database, uploaded files, settings and keys to FILE, while the server runs.

    The backup contains everything that was committed when the command started. Only keys and settings are encrypted
    with the passphrase, so keep FILE where nobody else can read it. An existing file is never overwritten.

    Without FILE the backup goes to the folder [backups] dir, as on the schedule: backups share files there, and old
    ones are removed.
    """
    settings = load(config)
    if file is None and not settings.backups.dir:
        raise click.UsageError("Name a FILE, or set [backups] dir.")
    word = passphrase(_passphrase_file(settings, file, passphrase_file), new=True)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with reachable(settings) as reachable_settings:
        databases = _databases(settings, reachable_settings, dsn)
        progress = Progress(quiet=as_json)
        if file is None:
            made = make(settings, databases, word, progress, pg_bin=pg_bin)
        else:
            made = back_up(settings, databases, file, word, progress, pg_bin=pg_bin)
        progress.end()
    files = f"{made.files:,} files" if file else f"{made.files:,} files ({made.new_files:,} new)"
    lines = [f"{made.path}: {made.bytes:,} bytes, {files}, {sum(made.rows.values()):,} rows."]
    if made.missing:
        lines.append(f"{made.missing} files that the database names are missing.")
    say(as_json, {**attrs.asdict(made), "snapshot_at": made.snapshot_at.isoformat()}, *lines)


def _passphrase_file(settings: Settings, file: Path | None, named: Path | None) -> Path | None:
    """The file with the passphrase: of the schedule, too, if the backup goes where its backups go."""
    if named is None and file is None and settings.backups.passphrase_file:
        return Path(settings.backups.passphrase_file)
    return named


def _databases(settings: Settings, reachable_settings: Settings, dsn: str | None) -> Databases:
    owner = settings.db.migrate_dsn or reachable_settings.db.dsn
    if not owner:
        raise ConfigError("No database is configured: set [db] dsn, or start with: crowdctl serve")
    return Databases(dsn or settings.backups.dsn or owner, owner)


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
