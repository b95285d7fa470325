"""Make a backup while the server goes on, keep the folder of scheduled backups, and run them on their schedule.

A backup has the database of one moment, the files that it names, and the keys, in one archive. Archives of one folder
may share their files: then a file that an earlier backup has is neither read nor written again. A process of its own
makes each scheduled backup.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import secrets as random
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from pathlib import Path
from typing import IO, Final

import attrs
import orjson

from crowdd.core import passphrase
from crowdd.core import secrets as root_keys
from crowdd.database import schema
from crowdd.database.embedded.binaries import find_tools
from crowdd.features.operations import dump_statements, keys
from crowdd.features.operations.backup_archive import (
    ArchiveError,
    FileStore,
    Report,
    StoredFile,
    Writer,
    fingerprint_file,
    found_files,
    list_stored_files,
    no_links,
)
from crowdd.features.operations.dump_statements import Snapshot
from crowdd.kernel import config
from crowdd.kernel.concurrency import isolated
from crowdd.kernel.concurrency.isolated import LimitError
from crowdd.kernel.concurrency.worker_thread import WorkerThread
from crowdd.kernel.config import Settings
from crowdd.kernel.errors import ConfigError, ConflictError, CrowddError, InvalidValueError, UnavailableError


@attrs.frozen
class Made:
    """A backup that was made. ``missing`` files were named by rows, and deleted before or while it was made.

    ``new_files``: how many files are in it, or came to those that backups share.
    """

    path: str
    bytes: int
    snapshot_at: datetime
    rows: dict[str, int]
    files: int
    new_files: int
    missing: int


@attrs.frozen
class Sharing:
    """Where files go that backups share. ``known``: digests of files of an earlier backup, by ``fingerprint_file``."""

    store: FileStore
    known: Mapping[bytes, bytes]


@attrs.frozen
class Databases:
    """Where the rows come from, and where the backup is noted: the DSN of the owner of the tables.

    The source may be a standby. The other one is always the primary. ``pg_bin`` is the folder of pg_dump, None to find
    one.
    """

    source: str
    primary: str
    pg_bin: Path | None = None


def back_up(
    settings: Settings,
    databases: Databases,
    target: Path,
    passphrase: str,
    report: Report,
    sharing: Sharing | None = None,
) -> Made:
    """Write an archive of what the database held when this began, and of the files that it names.

    The target has its name only when it is whole. Raises ConflictError when it is there already, StartError without a
    pg_dump that fits, ServerKeyError for a key file that is not the database's, SchemaError, DumpError.
    """
    if target.exists():
        raise ConflictError(f"{target} already exists.")
    secrets = root_keys.existing(settings.data.dir)
    with dump_statements.snapshot(databases.source) as seen:
        shape = seen.shape()
        schema.Status(shape.migrations, tuple(schema.migrations()), True).require()
        _require_keys(settings, seen, secrets)
        tools = find_tools(seen.server_version // 10_000, databases.pg_bin)
        missing = sum(not (settings.data.dir / "uploads" / path).is_file() for path in seen.named_files())
        with _draft(target) as out:
            writer = Writer(out, report, shared=sharing is not None)
            writer.header(_header(seen, shape, tools.version))
            added = _Added()
            if sharing is None:
                added.missing = writer.files(settings.data.dir)
                added.new = writer.counts["files"]
            else:
                writer.listed(_shared(settings.data.dir, sharing, added))
            writer.dump(dump_statements.dumped(tools, databases.source, seen))
            writer.end(passphrase, _secret(settings, secrets))
            if added.new:
                os.sync()
    made = target.stat().st_size
    dump_statements.note_backup(databases.primary, seen.at, made)
    return Made(str(target), made, seen.at, shape.rows, writer.counts["files"], added.new, missing + added.missing)


@attrs.define
class _Added:
    """Files that are new in a store, and files that were deleted while they were listed."""

    new: int = 0
    missing: int = 0


def _shared(folder: Path, sharing: Sharing, added: _Added) -> Iterator[StoredFile]:
    """The files of the data folder, which are in the store when they are given."""
    for path in found_files(folder):
        try:
            with open(path, "rb", opener=no_links) as content:
                seen, name = os.fstat(content.fileno()), str(path.relative_to(folder))
                known = sharing.known.get(
                    fingerprint_file(name, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns), b""
                ).hex()
                size, new = seen.st_size, False
                if not known or not sharing.store.holds(known, size):
                    known, size, new = sharing.store.add(content)
        except FileNotFoundError:
            added.missing += 1
            continue
        added.new += new
        yield StoredFile(name, size, known, seen.st_mtime_ns, seen.st_ctime_ns)


def _require_keys(settings: Settings, seen: Snapshot, secrets: root_keys.Secrets | None) -> None:
    """A backup with another key file than the database's would be worth little."""
    finding = keys.KeyState(seen.server_keys(), secrets)
    if complaint := finding.complaint(settings.data.dir):
        raise keys.ServerKeyError(complaint)


def _header(seen: Snapshot, shape: dump_statements.Shape, tools: str) -> dict[str, object]:
    return {
        "crowdd": version("crowdd"),
        "migrations": list(shape.migrations),
        "postgresql": seen.server_version,
        "pg_dump": tools,
        "snapshot_at": seen.at.isoformat(),
        "rows": shape.rows,
    }


def _secret(settings: Settings, secrets: root_keys.Secrets | None) -> dict[str, object]:
    return {"keys": [root.hex() for root in secrets.roots] if secrets else [], "settings": format_settings(settings)}


def format_settings(settings: Settings) -> str:
    """The settings that differ from their defaults, as a configuration file has them."""
    lines: list[str] = []
    for section, option, _doc, default in config.options():
        value = getattr(getattr(settings, section), option)
        if value != default:
            if f"[{section}]" not in lines:
                lines.append(f"[{section}]")
            lines.append(f"{option} = {_word(value)}")
    return "\n".join(lines) + "\n"


def variables(settings: Settings) -> dict[str, str]:
    """The settings that differ from their defaults, as the environment of a program has them."""
    entries = (
        (s, option, getattr(getattr(settings, s), option), default) for s, option, _doc, default in config.options()
    )
    return {f"CROWDD_{s}_{option}".upper(): _word(value) for s, option, value, default in entries if value != default}


def _word(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return " ".join(map(str, value)) if isinstance(value, tuple) else str(value)


@contextmanager
def _draft(target: Path) -> Iterator[IO[bytes]]:
    """A file beside the target that only its owner may read; it gets the target's name at a good end, else it goes."""
    draft = target.with_name(f".{target.name}.{random.token_hex(4)}.part")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as out:
            yield out
            out.flush()
            os.fsync(descriptor)
        os.link(draft, target)
    except FileExistsError:
        raise ConflictError(f"{target} already exists.") from None
    finally:
        draft.unlink(missing_ok=True)


UNSET: Final = "[backups] dir is not set."
_FILES: Final = "files"
_TIME: Final = "%Y-%m-%dT%H%M%SZ"
_ARCHIVE: Final = re.compile(r"crowdd-(\d{4}-\d\d-\d\dT\d{6}Z)\.tar")
_DRAFT: Final = re.compile(rf"\.{_ARCHIVE.pattern}\.[0-9a-f]+\.part")


def store_of(archive: Path) -> FileStore:
    """Where the files are that an archive shares with others in its folder."""
    return FileStore(archive.parent / _FILES)


@attrs.frozen
class Archive:
    """A backup in the folder, and when it was begun."""

    path: Path
    at: datetime


def find_expired(times: Iterable[datetime], now: datetime, keep_days: int, keep_weeks: int) -> list[datetime]:
    """Which backups of these times go. The newest of all stays, however old it is.

    Those of the last ``keep_days`` days stay, and for ``keep_weeks`` weeks the newest of each week before them.
    """
    weeks: set[tuple[int, int]] = set()
    gone = []
    for at in sorted(times, reverse=True)[1:]:
        year, week, _ = at.isocalendar()
        if now - at <= timedelta(days=keep_days):
            continue
        if now - at <= timedelta(weeks=keep_weeks) and (year, week) not in weeks:
            weeks.add((year, week))
        else:
            gone.append(at)
    return gone


class BackupFolder:
    """The folder that ``[backups] dir`` names. Raises ConfigError if there is none."""

    def __init__(self, folder: str) -> None:
        if not folder:
            raise ConfigError(UNSET, hint="Name a folder that only the user of crowdd can read.")
        self._folder = Path(folder).absolute()
        if not self._folder.is_dir():
            # It is not created: a disk that is not mounted must not be mistaken for it.
            raise ConfigError(f"The folder {folder} in [backups] dir does not exist.", hint="Create or mount it.")
        self.store = FileStore(self._folder / _FILES)

    def archives(self) -> list[Archive]:
        """The backups, the newest first."""
        candidates = ((path, _ARCHIVE.fullmatch(path.name)) for path in self._folder.iterdir())
        made = [
            Archive(path, datetime.strptime(name[1], _TIME).replace(tzinfo=UTC)) for path, name in candidates if name
        ]
        return sorted(made, key=lambda archive: archive.at, reverse=True)

    def newest(self) -> Archive:
        """The last backup. Raises ConflictError when there is none."""
        for archive in self.archives():
            return archive
        raise ConflictError(f"There is no backup in {self._folder}.")

    def target(self, now: datetime) -> Path:
        """Where a backup of this moment goes: of a second later if there is one already."""
        path = self._folder / f"crowdd-{now.strftime(_TIME)}.tar"
        return self.target(now + timedelta(seconds=1)) if path.exists() else path

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Keep others from writing to the folder during the block. Raises ConflictError if somebody does."""
        descriptor = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
        except BlockingIOError:
            raise ConflictError(f"Another backup is being written to {self._folder}.") from None
        finally:
            os.close(descriptor)

    def sweep(self, now: datetime, keep_days: int, keep_weeks: int) -> int:
        """Removes backups that have expired, and what interrupted ones left. The folder is held.

        Says how many backups.
        """
        archives = self.archives()
        old = set(find_expired((archive.at for archive in archives), now, keep_days, keep_weeks))
        gone = [archive for archive in archives if archive.at in old]
        drafts = [path for path in self._folder.iterdir() if _DRAFT.fullmatch(path.name)]
        for path in (*drafts, *(archive.path for archive in gone)):
            path.unlink()
        if gone or drafts:
            self._sweep_files()
        return len(gone)

    def _sweep_files(self) -> None:
        """Removes files that no backup names. If one of them cannot be read, all files stay."""
        with contextlib.suppress(ArchiveError):
            self.store.sweep({bytes.fromhex(file.sha256) for each in self.archives() for file in _listed(each)})

    def known(self) -> dict[bytes, bytes]:
        """The digests of the files in the last backup, by what they look like. A damaged one knows none."""
        with contextlib.suppress(ArchiveError):
            return {file.look(): bytes.fromhex(file.sha256) for each in self.archives()[:1] for file in _listed(each)}
        return {}


def _listed(archive: Archive) -> Iterator[StoredFile]:
    with archive.path.open("rb") as file:
        yield from list_stored_files(file)


def make_backup(settings: Settings, databases: Databases, word: str, report: Report) -> Made:
    """Make a backup in the folder, after removing those that have expired. ``word`` is the passphrase.

    If it fails, for example because the disk is full, the earlier backups are as they were. Raises what ``back_up``
    raises, ConfigError, and ConflictError if another backup is under way.
    """
    folder, now = BackupFolder(settings.backups.dir), datetime.now(UTC)
    with folder.held():
        folder.sweep(now, settings.backups.keep_days, settings.backups.keep_weeks)
        sharing = Sharing(folder.store, folder.known())
        return back_up(settings, databases, folder.target(now), word, report, sharing)


def read_passphrase(settings: Settings) -> str:
    """The passphrase of scheduled backups. Raises ConfigError without a file for it, PassphraseError."""
    if not settings.backups.passphrase_file:
        raise ConfigError("[backups] passphrase_file is not set: name a file with the passphrase in its first line.")
    return passphrase.read(Path(settings.backups.passphrase_file))


def complaint(settings: Settings) -> str:
    """Why scheduled backups cannot be made here; empty if they can, or if there are none."""
    if not settings.backups.dir:
        return ""
    try:
        folder = BackupFolder(settings.backups.dir)
        read_passphrase(settings)
        size = folder.newest().path.stat().st_size if folder.archives() else 0
        free = shutil.disk_usage(settings.backups.dir).free
    except (CrowddError, OSError) as error:
        return str(error)
    if not os.access(settings.backups.dir, os.W_OK):
        return f"The folder {settings.backups.dir} in [backups] dir is not writable."
    if free < size:
        return (
            f"{settings.backups.dir} has {free // 1_000_000} MB left, and the last backup took {size // 1_000_000} MB."
        )
    return ""


_PROGRAM: Final = "crowdd.features.operations.backup_program:make"


@attrs.frozen(eq=False)
class ScheduledBackups:
    """What a periodic job does. ``_thread`` waits for the process."""

    _settings: Settings
    _thread: WorkerThread

    async def make(self) -> str:
        """Makes a backup, and says in a line which one. Raises UnavailableError with what went wrong, ConfigError."""
        BackupFolder(self._settings.backups.dir)
        with tempfile.TemporaryFile() as output:
            running = isolated.start(_PROGRAM, output=output, more=_of_libpq() | variables(self._settings))
            try:
                await running.finish(self._thread)
            except LimitError:
                raise InvalidValueError("The process that makes the backup was killed.") from None
            output.seek(0)
            report = orjson.loads(output.read())
        if "error" in report:
            raise UnavailableError(report["error"])
        return str(report["words"])


def _of_libpq() -> dict[str, str]:
    """Where libpq looks for what a DSN does not say, such as passwords."""
    return {name: text for name, text in os.environ.items() if name == "HOME" or name.startswith("PG")}
