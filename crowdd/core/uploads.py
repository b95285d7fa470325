"""Files that projects and people bring: kept below the data folder under names of our own choice."""

from __future__ import annotations

import contextlib
import filecmp
import hmac
import os
import re
import secrets
import shutil
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import TypeVar

import attrs

from crowdd.core import statements
from crowdd.database.access import Database, Transactions
from crowdd.kernel import files as kernel_files
from crowdd.kernel.errors import TooLargeError
from crowdd.kernel.languages import _

T = TypeVar("T")

DOWNLOAD = "application/octet-stream"
MAX_BYTES = 10_000_000
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
# What a browser may show, told by how the content begins (offset, bytes); everything else is offered as a download.
# SVG and HTML are not here on purpose: they could run scripts as one of our pages.
_SIGNATURES = (
    (0, b"\x89PNG\r\n\x1a\n", ".png", "image/png"),
    (0, b"\xff\xd8\xff", ".jpg", "image/jpeg"),
    (0, b"GIF87a", ".gif", "image/gif"),
    (0, b"GIF89a", ".gif", "image/gif"),
    (8, b"WEBP", ".webp", "image/webp"),
    (0, b"%PDF-", ".pdf", "application/pdf"),
    (0, b"ID3", ".mp3", "audio/mpeg"),
    (0, b"\xff\xfb", ".mp3", "audio/mpeg"),
    (0, b"OggS", ".ogg", "audio/ogg"),
    (0, b"fLaC", ".flac", "audio/flac"),
    (8, b"WAVE", ".wav", "audio/wav"),
    (4, b"ftyp", ".mp4", "video/mp4"),
    (0, b"\x1aE\xdf\xa3", ".webm", "video/webm"),
)
TYPES = {suffix: type_ for _offset, _begin, suffix, type_ in _SIGNATURES} | {
    ".jpeg": "image/jpeg",
    ".m4a": "audio/mp4",
    ".ogv": "video/ogg",
    ".weba": "audio/webm",
}
TILES = ".dzi"
"""The ending of a picture in tiles: it is served as many files, none of which is the picture."""
NO_PICTURES = (TILES, *(suffix for suffix, type_ in TYPES.items() if not type_.startswith("image/")))
"""Endings of files that no page may show as a picture."""


@attrs.frozen
class Upload:
    """A file as it came: the name is what its sender says."""

    name: str
    content: bytes = attrs.field(repr=False)


@attrs.frozen
class WithUpload:
    """The attributes of a row as they came, and its file."""

    attributes: Mapping[str, object]
    upload: Upload


def suffix_of(content: bytes) -> str:
    """The ending that the content deserves, ``.bin`` when it is nothing that a browser should show."""
    for offset, begin, suffix, _type in _SIGNATURES:
        if content[offset : offset + len(begin)] == begin:
            return suffix
    return ".bin"


@attrs.frozen
class Uploads:
    """The folder of uploads: one folder for each project, by its id, and one for the site.

    ``key`` makes names that nobody can guess.
    """

    folder: Path
    key: bytes = attrs.field(default=b"", repr=False)

    def keep(self, project_id: int, source: Path, name: str) -> str:
        """Copies a file into the project's folder and returns its path below ``/uploads/``.

        One name is one file: other content replaces it, the same is left as it is. Its name there cannot be guessed.
        """
        target = self._container(container_of(project_id)) / self._secret_name(project_id, name)
        if not (target.is_file() and kernel_files.belongs_to_owner(target, self._data) and filecmp.cmp(source, target)):
            _copy(source, target, self._data)
        return f"{target.parent.name}/{target.name}"

    def _secret_name(self, project_id: int, name: str) -> str:
        """Longer than the names that ``store`` gives: these files are named by tasks, so no sweep may take them."""
        text = f"{project_id}/{name}".encode("utf-8", "surrogateescape")
        suffix = PurePosixPath(name).suffix
        ending = suffix if re.fullmatch(r"\.[A-Za-z0-9]{1,10}", suffix) else ""
        return hmac.digest(self.key, text, "sha256").hex()[:40] + ending

    def adopt(self, container: str, name: str, source: Path) -> bool:
        """Copies a file that another server kept under this address; False: it is there already.

        The words have to be ones that ``find`` takes.
        """
        target = self._container(container) / name
        if target.is_file() and filecmp.cmp(source, target):
            return False
        _copy(source, target, self._data)
        return True

    def store(self, container: str, upload: Upload) -> str:
        """Writes a file under a new name and returns its path below ``/uploads/``. Raises TooLargeError."""
        if len(upload.content) > MAX_BYTES:
            raise TooLargeError(_("A file may have at most %(maximum)s bytes.", maximum=f"{MAX_BYTES:,}"))
        name = secrets.token_hex(16) + suffix_of(upload.content)
        path = self._container(container) / name
        try:
            with path.open("xb") as file:
                kernel_files.give_to_owner(file.fileno(), self._data)
                file.write(upload.content)
        except OSError:
            path.unlink(missing_ok=True)  # what fitted on a full disk is half a file
            raise
        return f"{container}/{name}"

    def forget(self, path: str | None) -> None:
        """Removes one file that ``store`` or ``keep`` named."""
        if path:
            (self.folder / path).unlink(missing_ok=True)

    def drop(self, project_id: int) -> None:
        """Removes everything a project brought."""
        shutil.rmtree(self.folder / container_of(project_id), ignore_errors=True)

    def files(self, *, before: float) -> Iterator[str]:
        """The paths of all files last written before a time (seconds since 1970), read while they are asked for."""
        for container in self.folder.iterdir() if self.folder.is_dir() else ():
            for path in container.iterdir() if container.is_dir() else ():
                with contextlib.suppress(FileNotFoundError):
                    if path.is_file() and path.lstat().st_mtime < before:
                        yield f"{container.name}/{path.name}"

    def sizes(self, paths: Iterable[str]) -> list[tuple[str, int]]:
        """The paths of files that are there, each with its bytes."""
        files = ((path, self.folder / path) for path in paths)
        return [(path, file.stat().st_size) for path, file in files if file.is_file()]

    def drop_container(self, container: str) -> None:
        """Removes a folder that ``store`` made."""
        shutil.rmtree(self.folder / container, ignore_errors=True)

    def find(self, container: str, name: str) -> tuple[Path, str] | None:
        """A file and its type, or None; names that lead elsewhere name nothing."""
        if not _NAME.fullmatch(container) or not _NAME.fullmatch(name):
            return None
        path = self.folder / container / name
        if path.is_symlink() or not path.is_file():
            return None
        return path, TYPES.get(path.suffix.lower(), DOWNLOAD)

    def _container(self, container: str) -> Path:
        made = self.folder / container
        kernel_files.make_folder(made, self._data)
        return made

    @property
    def _data(self) -> Path:
        """The data folder, whose owner the server runs as."""
        return self.folder.parent


class FileChanges:
    """What a transaction does to files: undone when it fails, finished when it is committed."""

    def __init__(self, uploads: Uploads) -> None:
        self._uploads = uploads
        self._written: list[tuple[str, int]] = []
        self._dropped: list[str] = []
        self._projects: list[int] = []

    def store(self, container: str, upload: Upload) -> str:
        """Writes a file now; it goes again if the transaction fails."""
        path = self._uploads.store(container, upload)
        self._written.append((path, len(upload.content)))
        return path

    def drop(self, path: str | None) -> None:
        """Removes a file once the transaction is committed."""
        if path:
            self._dropped.append(path)

    def drop_project(self, project_id: int) -> None:
        """Removes a project's files once the transaction is committed."""
        self._projects.append(project_id)

    def begin(self) -> None:
        """Forgets an attempt that was rolled back: a transaction may be run again."""
        self.undo()
        self._dropped.clear()
        self._projects.clear()

    async def note(self, tx: Database) -> None:
        """Has the files counted that are written or dropped."""
        if self._written or self._dropped:
            await statements.note_files(tx, self._written, self._dropped)

    def undo(self) -> None:
        """Removes what was written."""
        while self._written:
            self._uploads.forget(self._written.pop()[0])

    def finish(self) -> None:
        """Removes what was dropped."""
        for path in self._dropped:
            self._uploads.forget(path)
        for project_id in self._projects:
            self._uploads.drop(project_id)


async def with_files(
    db: Transactions,
    uploads: Uploads,
    work: Callable[[Database, FileChanges], Awaitable[T]],
    check: Callable[[Database], Awaitable[None]],
) -> T:
    """The work in a transaction whose files follow its fate. ``check`` may refuse what it has become, at its end."""
    files = FileChanges(uploads)

    async def attempt(tx: Database) -> T:
        files.begin()
        done = await work(tx, files)
        await files.note(tx)
        await check(tx)
        return done

    try:
        result = await db.transaction(attempt)
    except BaseException:
        files.undo()
        raise
    files.finish()
    return result


def container_of(project_id: int | None) -> str:
    """The folder of a project's files; None: those of the site."""
    return "site" if project_id is None else f"project-{project_id}"


def _copy(source: Path, target: Path, data: Path) -> None:
    """Readers of the target meanwhile get the old content or the new one, never a half."""
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    draft.unlink(missing_ok=True)
    try:
        with source.open("rb") as content, draft.open("xb") as file:
            kernel_files.give_to_owner(file.fileno(), data)
            shutil.copyfileobj(content, file)
    except OSError:
        draft.unlink(missing_ok=True)
        raise
    os.utime(draft, ns=(source.stat().st_atime_ns, source.stat().st_mtime_ns))
    draft.replace(target)
