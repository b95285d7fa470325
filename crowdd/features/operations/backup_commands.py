"""``crowdctl backup``, ``restore`` and ``drill``: make a backup, restore it, and test the restore beside the server.

A backup is one file, or one in the folder of backups. It is restored into an empty database and data folder.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import attrs
import click

from crowdd.admin_cli.groups import gathered
from crowdd.admin_cli.output import Progress, json_option, say, waiting
from crowdd.admin_cli.prompts import confirm, passphrase, passphrase_option, pg_bin_option, yes_option
from crowdd.admin_cli.runtime import as_owner_of, reachable
from crowdd.admin_cli.serve import require_database_place
from crowdd.database import schema
from crowdd.database.embedded import find_home, hold_folder, start
from crowdd.database.pool import Pool
from crowdd.features.operations.backups import BackupFolder, Databases, back_up, make_backup, store_of
from crowdd.features.operations.restore import Restored, Source, examine, put_back
from crowdd.features.operations.restore import restore as bring_back
from crowdd.kernel.config import Settings, load, location
from crowdd.kernel.config.settings import public_dsn
from crowdd.kernel.errors import ConfigError
from crowdd.sched import check_statements
from crowdd.sched.statistics import Checking, Difference


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
        databases = _databases(settings, reachable_settings, dsn, pg_bin)
        progress = Progress(quiet=as_json)
        if file is None:
            made = make_backup(settings, databases, word, progress)
        else:
            made = back_up(settings, databases, file, word, progress)
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


def _databases(settings: Settings, reachable_settings: Settings, dsn: str | None, pg_bin: Path | None) -> Databases:
    owner = settings.db.migrate_dsn or reachable_settings.db.dsn
    if not owner:
        raise ConfigError(location.NO_DATABASE, hint=location.WHAT_TO_DO)
    return Databases(dsn or settings.backups.dsn or owner, owner, pg_bin)


@attrs.frozen
class _Restoring:
    file: Path
    only_files: bool
    embedded: bool
    passphrase_file: Path | None
    pg_bin: Path | None


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--only-files", is_flag=True, help="Add files that the data folder lacks. Leave the database alone.")
@click.option("--embedded", is_flag=True, help="Make an embedded PostgreSQL in the data folder, and restore into it.")
@passphrase_option
@pg_bin_option
@yes_option
@json_option
@click.pass_context
@gathered("asked", _Restoring)
def restore(ctx: click.Context, asked: _Restoring, yes: bool, as_json: bool) -> None:
    """Restore the backup FILE into an empty database and an empty data folder.

    The configuration names both; the command names them, too, and asks before it begins. All of FILE is checked before
    anything is changed. After restoring, the command upgrades the database to this version and recounts every counter.
    Exits with 1 if a counter differs.

    With --only-files it adds the uploaded files of the backup that are missing, also while the server runs.
    """
    settings = load(ctx.obj)
    target = str(settings.data.dir.absolute())
    if not asked.only_files:
        _require_target(ctx.obj, settings, embedded=asked.embedded)
        target = f"{public_dsn(settings.db.dsn) or 'a new embedded database'} and {target}"
        config = location.describe_config(ctx.obj, os.environ)
        confirm(yes, f"{asked.file} will be restored into {target} (configuration: {config}).")
    word = passphrase(asked.passphrase_file)
    progress = Progress(quiet=as_json)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    place = RestoreTarget(settings)
    with asked.file.open("rb") as archive:
        source = Source(archive, store_of(asked.file))
        contents = examine(source, word, progress)
        if asked.only_files:
            added = put_back(settings.data.dir, source, progress)
            progress.end()
            say(as_json, {"added": added}, f"Added {added:,} files to {target}.")
            return
        with place.held():
            done = bring_back(settings, source, contents, place.reached, asked.pg_bin, progress)
            progress.end()
            with waiting("Recounting every counter", quiet=as_json):
                differences = place.finished()
    _tell(done, target, differences, as_json)
    ctx.exit(int(bool(differences)))


def _require_target(config: Path | None, settings: Settings, *, embedded: bool) -> None:
    """Raise ConfigError unless the settings name a database, or else an embedded one is wanted and may be made."""
    if settings.db.dsn and embedded:
        raise click.UsageError("--embedded makes a database, but [db] dsn names one.")
    if not settings.db.dsn and not embedded:
        todo = "Set [db] dsn to an empty database, or use --embedded to make a PostgreSQL in the data folder."
        raise ConfigError(location.NO_DATABASE, hint=todo)
    require_database_place(config, settings)


class RestoreTarget:
    """The database and the data folder of the settings, locked for this command."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    @contextmanager
    def held(self) -> Iterator[None]:
        """Lock the data folder for the block. Raises StartError if a server uses it."""
        lock = hold_folder(self._settings.data.dir)
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
    await check_statements.know_cluster(pool, restored=True)
    return [difference async for difference in Checking(pool).run(repair=False)]


def _tell(done: Restored, target: str, differences: list[Difference], as_json: bool) -> None:
    rows = sum(done.rows.values())
    value = {**attrs.asdict(done), "differences": [attrs.asdict(difference) for difference in differences]}
    say(
        as_json,
        value,
        f"Restored what was committed at {done.snapshot_at}: {rows:,} rows, {done.files:,} files, and the keys.",
        f"They are in {target}.",
        f"The settings of the backed up server are in {done.settings}. They are not in use.",
        *(difference.sentence() for difference in differences),
    )


@attrs.frozen
class Drill:
    """What a drill found. Times are in seconds; ``age`` is that of the backup."""

    path: str
    snapshot_at: str
    age: float
    rows: int
    files: int
    check_seconds: float
    restore_seconds: float
    recount_seconds: float
    differences: list[Difference]


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path), required=False)
@click.option(
    "--in",
    "parent",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder with room for everything that is restored (default: the folder for temporary files).",
)
@passphrase_option
@pg_bin_option
@json_option
@click.pass_context
def drill(
    ctx: click.Context,
    file: Path | None,
    parent: Path | None,
    passphrase_file: Path | None,
    pg_bin: Path | None,
    as_json: bool,
) -> None:
    """Restore a backup into a temporary PostgreSQL and folder, check it, and remove both.

    FILE is the backup (default: the newest in [backups] dir). The command checks every byte, restores, upgrades the
    database to this version, and recounts every counter. It prints how long this took, and exits with 1 if a counter
    differs. The server and its database are not used.
    """
    settings = load(ctx.obj)
    archive = file or BackupFolder(settings.backups.dir).newest().path
    if passphrase_file is None and settings.backups.passphrase_file:
        passphrase_file = Path(settings.backups.passphrase_file)
    word = passphrase(passphrase_file)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    progress = Progress(quiet=as_json)
    with temporary(settings, parent) as place:
        done = rehearse(place, archive, word, pg_bin, progress)
    progress.end()
    say(as_json, attrs.asdict(done), *_words(done))
    ctx.exit(int(bool(done.differences)))


@contextlib.contextmanager
def temporary(settings: Settings, parent: Path | None) -> Iterator[Settings]:
    """Settings with an embedded database in a folder of its own; all of it goes at the end."""
    folder = Path(tempfile.mkdtemp(prefix="crowdd-drill-", dir=parent))
    folder.chmod(0o711)  # root does not run PostgreSQL itself
    data = attrs.evolve(settings.data, dir=folder / "data")
    place = attrs.evolve(settings, data=data, db=attrs.evolve(settings.db, dsn="", migrate_dsn=""))
    try:
        yield place
    finally:
        home = find_home(data.dir, data.postgres_user)
        for left in (home.socket, home.folder if home.elsewhere else home.cluster, folder):
            shutil.rmtree(left, ignore_errors=True)


def rehearse(place: Settings, archive: Path, word: str, pg_bin: Path | None, progress: Progress) -> Drill:
    """Everything that a restore does, with the time that it takes."""
    target, times = RestoreTarget(place), [time.monotonic()]
    with archive.open("rb") as opened, target.held():
        source = Source(opened, store_of(archive))
        contents = examine(source, word, progress)
        times.append(time.monotonic())
        done = bring_back(place, source, contents, target.reached, pg_bin, progress)
        times.append(time.monotonic())
        progress.end()
        with waiting("Recounting every counter", quiet=not progress.shown):
            differences = target.finished()
        times.append(time.monotonic())
    checked, restored, recounted = (round(after - before, 3) for before, after in itertools.pairwise(times))
    age = (datetime.now(UTC) - datetime.fromisoformat(done.snapshot_at)).total_seconds()
    rows = sum(done.rows.values())
    return Drill(
        str(archive), done.snapshot_at, round(age, 3), rows, done.files, checked, restored, recounted, differences
    )


def _words(done: Drill) -> list[str]:
    return [
        f"{done.path}: {done.rows:,} rows and {done.files:,} files, as they were {done.age / 3600:.1f} hours ago.",
        f"Checked in {done.check_seconds:.1f} s, restored in {done.restore_seconds:.1f} s, "
        f"counters recounted in {done.recount_seconds:.1f} s. Everything was removed again.",
        *(difference.sentence() for difference in done.differences),
    ]
