"""``crowdctl drill``: proves that a backup can be restored, without touching the server."""

from __future__ import annotations

import contextlib
import itertools
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import attrs
import click

from crowdd.admin_cli.commands.copies.backup import Progress
from crowdd.admin_cli.commands.copies.restore import RestoreTarget
from crowdd.admin_cli.output import json_option, say
from crowdd.admin_cli.passphrases import passphrase, passphrase_option, pg_bin_option
from crowdd.config import Settings, load
from crowdd.domain.server.backups.folder import BackupFolder, store_of
from crowdd.domain.server.backups.restore import Source, examine
from crowdd.domain.server.backups.restore import restore as bring_back
from crowdd.domain.server.recount import Difference
from crowdd.embedded import find_home


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
