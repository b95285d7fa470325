"""``crowdctl restore``: restore a backup into an empty database and data folder."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import attrs
import click

from crowdd.admin_cli.commands.copies.backup import Progress
from crowdd.admin_cli.output import json_option, say
from crowdd.admin_cli.passphrases import passphrase, passphrase_option, pg_bin_option
from crowdd.admin_cli.runtime import as_owner_of
from crowdd.config import Settings, load
from crowdd.domain.server.backups.folder import store_of
from crowdd.domain.server.backups.restore import Restored, Source, examine, put_back
from crowdd.domain.server.backups.restore import restore as bring_back
from crowdd.domain.server.recount import Checking, Difference
from crowdd.embedded import find_home, hold, start
from crowdd.storage import schema
from crowdd.storage.connections.pool import Pool
from crowdd.storage.server import recount


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--only-files", is_flag=True, help="Add files that the data folder lacks. Leave the database alone.")
@passphrase_option
@pg_bin_option
@json_option
@click.pass_context
def restore(
    ctx: click.Context, file: Path, only_files: bool, passphrase_file: Path | None, pg_bin: Path | None, as_json: bool
) -> None:
    """Restore the backup FILE into an empty database and an empty data folder.

    The configuration names both. All of FILE is checked before anything is changed. After restoring, the command
    upgrades the database to this version and recounts every counter. Exits with 1 if a counter differs.

    With --only-files it adds the uploaded files of the backup that are missing, also while the server runs.
    """
    settings, word = load(ctx.obj), passphrase(passphrase_file)
    progress = Progress(quiet=as_json)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    place = RestoreTarget(settings)
    with file.open("rb") as archive:
        source = Source(archive, store_of(file))
        contents = examine(source, word, progress)
        if only_files:
            added = put_back(settings.data.dir, source, progress)
            progress.end()
            say(as_json, {"added": added}, f"Added {added:,} files to {settings.data.dir}.")
            return
        with place.held():
            done = bring_back(settings, source, contents, place.reached, pg_bin, progress)
            progress.end()
            differences = place.finished()
    _tell(done, differences, as_json)
    ctx.exit(int(bool(differences)))


class RestoreTarget:
    """The database and the data folder of the settings, locked for this command."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    @contextmanager
    def held(self) -> Iterator[None]:
        """Lock the data folder for the block. Raises StartError if a server uses it."""
        lock = hold(self._settings.data.dir)
        try:
            yield
        finally:
            os.close(lock)

    @contextmanager
    def reached(self, oldest: int = 0) -> Iterator[str]:
        """The DSN of the owner; of a PostgreSQL of our own, of this version at least, where none is configured."""
        db = self._settings.db
        if db.dsn:
            yield db.migrate_dsn or db.dsn
            return
        server = start(find_home(self._settings.data.dir, self._settings.data.postgres_user), oldest)
        try:
            yield server.dsn
        finally:
            server.stop()

    def finished(self) -> list[Difference]:
        """The database at this version; counters that differ from their rows."""
        with self.reached() as dsn:
            return as_owner_of(self._settings, dsn, _finish)


async def _finish(pool: Pool) -> list[Difference]:
    await schema.upgrade(pool)
    # Numbers of transactions are those of another PostgreSQL; without this the check would find them in the future.
    await recount.know_cluster(pool, restored=True)
    return [difference async for difference in Checking(pool).run(repair=False)]


def _tell(done: Restored, differences: list[Difference], as_json: bool) -> None:
    rows = sum(done.rows.values())
    value = {**attrs.asdict(done), "differences": [attrs.asdict(difference) for difference in differences]}
    say(
        as_json,
        value,
        f"Restored what was committed at {done.snapshot_at}: {rows:,} rows, {done.files:,} files, and the keys.",
        f"The settings of the backed up server are in {done.settings}. They are not in use.",
        *(difference.sentence() for difference in differences),
    )
