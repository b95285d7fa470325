"""A backup brought back into an empty place: all of it is checked first, the database is filled in one transaction.

Files and keys are unpacked beside the place where they belong; they move there after the database was committed. A
restore that is killed between the two is finished by the next one of the same archive.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, Any

import attrs

from crowdd.core import secrets as root_keys
from crowdd.database import schema
from crowdd.database.embedded import StartError
from crowdd.database.embedded.binaries import Tools, find_tools
from crowdd.features.operations import backup_archive, dump_statements
from crowdd.features.operations.backup_archive import FOLDERS, Contents, FileStore, Report
from crowdd.features.operations.dump_statements import Shape
from crowdd.kernel import files as kernel_files
from crowdd.kernel.config import Settings
from crowdd.kernel.errors import ConflictError

STAGE = "restoring"
SETTINGS_FILE = "crowdd.conf.of-backup"
_DONE = "archive"
_PIECE = 1 << 20
Reached = Callable[[int], AbstractContextManager[str]]


@attrs.frozen
class Restored:
    """What was brought back."""

    snapshot_at: str
    rows: dict[str, int]
    files: int
    settings: str


@attrs.frozen
class Source:
    """An archive, and where the files are that it shares with others."""

    archive: IO[bytes]
    store: FileStore


def examine(source: Source, passphrase: str, report: Report) -> Contents:
    """Check an archive and that this crowdd can use it; nothing is changed.

    Raises ArchiveError, PassphraseError, SchemaError.
    """
    contents = backup_archive.verify_archive(source.archive, passphrase, report, source.store)
    known, version = tuple(schema.migrations()), str(contents.header.get("crowdd", ""))
    schema.Status(tuple(contents.header["migrations"]), known, True, version=version).require_known()
    return contents


def require_empty_folder(folder: Path) -> None:
    """Raises ConflictError where a data folder has something that a restore would have to replace."""
    used = [name for name in (root_keys.FILE, *FOLDERS) if _is_used(folder / name)]
    if used:
        raise ConflictError(
            f"The data folder {folder.absolute()} is not empty. It contains {', '.join(used)}.",
            hint="Set [data] dir to an empty folder, or move these files away.",
        )


def restore(
    settings: Settings, source: Source, contents: Contents, reached: Reached, pg_bin: Path | None, report: Report
) -> Restored:
    """Fill the database and the data folder from an archive that was examined.

    ``reached`` gives the DSN of the database for the PostgreSQL version that the archive needs, as long as its block
    lasts. Raises ConflictError for a place that is not empty, StartError, DumpError; nothing has changed then.
    """
    folder = settings.data.dir
    needed = int(contents.header["postgresql"]) // 10_000
    finishing = _is_staged(folder, contents)
    if not finishing:
        require_empty_folder(folder)
    with reached(needed) as dsn:
        if not (finishing and _is_filled(dsn, contents)):
            tools = _fitting(dsn, needed, pg_bin)
            _fill(folder, source, contents, tools, dsn, report)
        _require_rows(dsn, contents)
        _move(folder)
    return Restored(
        contents.header["snapshot_at"],
        dict(contents.header["rows"]),
        contents.manifest["files"],
        str(folder / SETTINGS_FILE),
    )


def put_back(folder: Path, source: Source, report: Report) -> int:
    """Add the files of an archive that was examined to a data folder that lacks them, and say how many were added.

    No file is replaced, and a server may be at work.
    """
    added = 0
    for number, (name, content) in enumerate(backup_archive.read_files(source.archive, source.store), 1):
        target = folder / name
        if not os.path.lexists(target):
            kernel_files.make_folder(target.parent, folder)
            _put(target, content, folder)
            added += 1
        report("files", number)
    return added


def _put(target: Path, content: IO[bytes], folder: Path) -> None:
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with draft.open("xb") as out:
            kernel_files.give_to_owner(out.fileno(), folder)
            shutil.copyfileobj(content, out, _PIECE)
        draft.rename(target)
    finally:
        draft.unlink(missing_ok=True)


def _fitting(dsn: str, needed: int, pg_bin: Path | None) -> Tools:
    """Tools for a database that is empty and not older than the one of the archive."""
    with dump_statements.connected(dsn) as made:
        major = made.server_version // 10_000
        if major < needed:
            raise StartError(f"The backup needs PostgreSQL {needed} or newer (found {major}).")
        if not dump_statements.is_empty(made):
            raise ConflictError(
                "The database is not empty.", hint="Set [db] dsn to an empty database. A restore does not replace data."
            )
    return find_tools(major, pg_bin)


def _fill(folder: Path, source: Source, contents: Contents, tools: Tools, dsn: str, report: Report) -> None:
    stage = folder / STAGE
    shutil.rmtree(stage, ignore_errors=True)
    try:
        _stage(stage, source, contents, report)
        dump_statements.restore(tools, dsn, _reported(backup_archive.read_dump(source.archive), report))
    except BaseException:
        if not _is_filled(dsn, contents):
            shutil.rmtree(stage, ignore_errors=True)
        raise


def _stage(stage: Path, source: Source, contents: Contents, report: Report) -> None:
    """Everything but the database, on the disk; a mark comes last that says whose it is."""
    stage.mkdir(mode=0o700, parents=True)
    owner = stage.parent.stat()
    for number, (name, content) in enumerate(backup_archive.read_files(source.archive, source.store), 1):
        target = stage / name
        kernel_files.make_folder(target.parent, stage)
        with target.open("xb") as out:
            shutil.copyfileobj(content, out, _PIECE)
        report("files", number)
    if contents.keys:
        roots = [bytes.fromhex(line) for line in contents.keys]
        root_keys.keep(stage, root_keys.Secrets(roots[0], tuple(roots[1:])))
    _write(stage / SETTINGS_FILE, contents.settings)
    _write(stage / _DONE, contents.id)
    if os.geteuid() == 0:
        for path in (stage, *stage.rglob("*")):
            os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)
    os.sync()


def _write(path: Path, text: str) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text)


def _is_staged(folder: Path, contents: Contents) -> bool:
    """Whether an earlier restore of this archive has unpacked everything, and perhaps filled the database."""
    mark = folder / STAGE / _DONE
    return mark.exists() and mark.read_text("utf-8") == contents.id


def _is_filled(dsn: str, contents: Contents) -> bool:
    with dump_statements.connected(dsn) as made:
        return not dump_statements.is_empty(made) and _comparable(dump_statements.shape(made)) == _comparable(
            _shape(contents)
        )


def _comparable(shape: Shape) -> Shape:
    """Without the table to which the end of a restore adds rows (``know_cluster``)."""
    return Shape(shape.migrations, {name: n for name, n in shape.rows.items() if name != "change_feed"})


def _shape(contents: Contents) -> Shape:
    return Shape(tuple(contents.header["migrations"]), dict(contents.header["rows"]))


def _require_rows(dsn: str, contents: Contents) -> None:
    with dump_statements.connected(dsn) as made:
        restored, wanted = _comparable(dump_statements.shape(made)).rows, _comparable(_shape(contents)).rows
    differing = [name for name in wanted if restored.get(name) != wanted[name]]
    if differing:
        raise dump_statements.DumpError(
            f"The restored database differs from the backup: {', '.join(differing)} have different numbers of rows.",
            hint="Drop it, and restore into another empty database.",
        )


def _move(folder: Path) -> None:
    """Put files and keys where they belong. What a killed restore has moved already is not moved again."""
    stage = folder / STAGE
    for name in (*FOLDERS, SETTINGS_FILE, root_keys.FILE):
        if (stage / name).exists():
            target = folder / name
            if target.is_dir():
                target.rmdir()  # it is empty
            (stage / name).rename(target)
    shutil.rmtree(stage)


def _is_used(path: Path) -> bool:
    return any(path.iterdir()) if path.is_dir() else path.exists()


def _reported(pieces: Any, report: Report) -> Any:
    done = 0
    for piece in pieces:
        done += len(piece)
        report("bytes of the database", done)
        yield piece
