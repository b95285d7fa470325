"""Moves a database folder of our own to a newer major version of PostgreSQL: dumped by the old, restored by the new.

The new folder is made beside the old one and compared with it; then both change places in one step. The old one stays.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from subprocess import SubprocessError

import attrs

from crowdd.database.embedded import cluster
from crowdd.database.embedded.binaries import Binaries, examine, find_all, find_tools, how_to_get, within_reach
from crowdd.database.embedded.cluster import exchange
from crowdd.database.embedded.home import Home, StartError
from crowdd.features.operations import dump_statements

Report = Callable[[str], None]


@attrs.frozen
class Moved:
    """What was done: the versions, the rows that were compared, and where the old folder is."""

    before: str
    after: str
    rows: int
    old_folder: str


def move(home: Home, old_bin: Path | None, new_bin: Path | None, report: Report) -> Moved | None:
    """The database of this home under the newest PostgreSQL that is here; None when it is already.

    The caller holds the lock of the data folder. ``old_bin`` and ``new_bin`` are folders of programs that the operator
    names. Raises StartError with a sentence that says what to do, DumpError; the old folder is then as it was.
    """
    major = int((home.cluster / "PG_VERSION").read_text())
    installations = find_all()
    new = _named(new_bin) if new_bin else max(installations, key=lambda one: one.major)
    if new.major <= major:
        return None
    old = _named(old_bin) if old_bin else _of(major, installations, home)
    if old.major != major:
        raise StartError(f"{old.folder} contains PostgreSQL {old.major}, but the database needs PostgreSQL {major}.")
    try:
        old, new = (within_reach(one, home.account, home.folder) for one in (old, new))
        return _move(home, old, new, report)
    except (OSError, SubprocessError) as error:
        raise StartError(f"The database in {home.cluster} could not be upgraded: {error}") from error


def _move(home: Home, old: Binaries, new: Binaries, report: Report) -> Moved:
    made, copy = attrs.evolve(home, cluster=home.folder / "postgres.new"), home.folder / "postgres.dump"
    previous = home.folder / f"postgres-{old.major}"
    if previous.exists():
        raise StartError(f"{previous} already exists from an earlier upgrade. Remove it, or move it away.")
    shutil.rmtree(made.cluster, ignore_errors=True)
    try:
        report(f"Reading the database with PostgreSQL {old.version}.")
        before = _dumped(home, old, new, copy)
        report(f"Writing it with PostgreSQL {new.version}.")
        after = _restored(made, new, copy)
    except BaseException:
        shutil.rmtree(made.cluster, ignore_errors=True)
        raise
    finally:
        copy.unlink(missing_ok=True)
    if after != before:
        shutil.rmtree(made.cluster)
        raise StartError(
            "The new database does not have the same rows as the old one. The old one stays in use. Please report this."
        )
    exchange(home.cluster, made.cluster)
    made.cluster.rename(previous)
    return Moved(old.version, new.version, sum(before.rows.values()), str(previous))


def _dumped(home: Home, old: Binaries, new: Binaries, copy: Path) -> dump_statements.Shape:
    server = cluster.start(home, old)
    try:
        with dump_statements.snapshot(server.dsn) as seen, copy.open("wb") as out:
            copy.chmod(0o600)
            for piece in dump_statements.dumped(find_tools(new.major, new.folder), server.dsn, seen):
                out.write(piece)
            return seen.shape()
    finally:
        server.stop()


def _restored(made: Home, new: Binaries, copy: Path) -> dump_statements.Shape:
    cluster.initialise(made, new)
    server = cluster.start(made, new)
    try:
        with copy.open("rb") as file:
            dump_statements.restore(
                find_tools(new.major, new.folder), server.dsn, iter(lambda: file.read(dump_statements.CHUNK), b"")
            )
        with dump_statements.connected(server.dsn) as connected:
            return dump_statements.shape(connected)
    finally:
        server.stop()


def _named(folder: Path) -> Binaries:
    binaries = examine(folder)
    if binaries is None:
        raise StartError(f"{folder} does not contain PostgreSQL programs that crowdd can use.")
    return attrs.evolve(binaries, bundle=binaries.folder.parent)


def _of(major: int, installations: Sequence[Binaries], home: Home) -> Binaries:
    """The programs that made the folder: of this machine, or a copy that lies beside the database."""
    copies = (examine(path / "bin") for path in sorted(home.folder.glob("postgresql-*"), reverse=True))
    fitting = [one for one in (*installations, *filter(None, copies)) if one.major == major]
    if not fitting:
        raise StartError(
            f"The database in {home.cluster} needs PostgreSQL {major}, which was not found. {how_to_get(major)}"
        )
    return fitting[0]
