"""The folder of scheduled backups: archives by their time, the files that they share, and which of them go."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import attrs

from crowdd.config import Settings
from crowdd.domain.server.backups import passphrase
from crowdd.domain.server.backups.backup import Databases, Made, Sharing, back_up
from crowdd.domain.server.backups.backup_archive import ArchiveError, Report, listed
from crowdd.domain.server.backups.file_store import FileStore, StoredFile
from crowdd.errors import ConfigError, ConflictError, CrowddError

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


def expired(times: Iterable[datetime], now: datetime, keep_days: int, keep_weeks: int) -> list[datetime]:
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
        old = set(expired((archive.at for archive in archives), now, keep_days, keep_weeks))
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
        yield from listed(file)


def make(
    settings: Settings,
    databases: Databases,
    word: str,
    report: Report,
    *,
    pg_bin: Path | None = None,
) -> Made:
    """Make a backup in the folder, after removing those that have expired. ``word`` is the passphrase.

    If it fails, for example because the disk is full, the earlier backups are as they were. Raises what ``back_up``
    raises, ConfigError, and ConflictError if another backup is under way.
    """
    folder, now = BackupFolder(settings.backups.dir), datetime.now(UTC)
    with folder.held():
        folder.sweep(now, settings.backups.keep_days, settings.backups.keep_weeks)
        sharing = Sharing(folder.store, folder.known())
        return back_up(settings, databases, folder.target(now), word, report, pg_bin=pg_bin, sharing=sharing)


def complaint(settings: Settings) -> str:
    """Why scheduled backups cannot be made here; empty if they can, or if there are none."""
    if not settings.backups.dir:
        return ""
    try:
        folder = BackupFolder(settings.backups.dir)
        passphrase.read(Path(settings.backups.passphrase_file))
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
