"""What every media store does, and the store in a folder of this machine: ``uploads`` in the data folder.

A key is the path of a file below ``/uploads/``: ``project-12/<40 hexadecimal digits>.jpg``. ``MediaNames`` makes keys.
The content behind a key never changes. ``/uploads/`` serves what a store has, with the rights of the project.
"""

from __future__ import annotations

import hmac
import os
import re
import secrets as random
import shutil
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Final, Protocol

import attrs

from crowdd.core.uploads import DOWNLOAD, TYPES, container_of
from crowdd.kernel import files as kernel_files
from crowdd.kernel.concurrency.worker_thread import WorkerThread
from crowdd.kernel.errors import MediaStoreError

_KEY: Final = re.compile(r"project-\d{1,18}/[0-9a-f]{40}\.[a-z0-9]{1,5}")
_SHA256: Final = re.compile(r"[0-9a-f]{64}")


@attrs.frozen
class StoredMedia:
    """A file of a store: its size in bytes, its type and an entity tag (with quotes).

    Exactly one of both is given: ``path`` of a file on this machine, or ``pieces(begin, end)``, which reads those
    bytes in pieces of at most 512 KiB, each when it is asked for, and may raise MediaStoreError.
    """

    size: int
    type: str
    etag: str
    path: Path | None = None
    pieces: Callable[[int, int], AsyncGenerator[bytes, None]] | None = attrs.field(default=None, repr=False)


async def read_part(media: StoredMedia, begin: int, end: int) -> bytes:
    """A small part of a file. Raises MediaStoreError."""
    if media.path is not None:
        with media.path.open("rb") as file:
            file.seek(begin)
            return file.read(end - begin)
    return b"".join([piece async for piece in media.pieces(begin, end)]) if media.pieces is not None else b""


class MediaStore(Protocol):
    """Keeps files under keys. All methods raise MediaStoreError when the store cannot be used."""

    async def put(self, key: str, source: Path, type_: str) -> None:
        """Stores the content of a file, which remains the caller's.

        The key has its content when this returns, and never a part of it. Storing the same again does no harm.
        """

    async def delete(self, keys: Iterable[str]) -> None:
        """Removes files. Keys without a file are no error."""

    async def open(self, key: str, *, content: bool = True) -> StoredMedia | None:
        """A file to read; None if the key has none. ``content``: all of it is wanted, as far as is known."""

    async def size(self, key: str) -> int | None:
        """Bytes of a file; None if the key has none."""

    def keys(self, project_id: int) -> AsyncIterator[tuple[str, int]]:
        """The keys of a project's media with their bytes, read while they are asked for."""

    def projects(self) -> AsyncIterator[int]:
        """The ids of all projects that the store may have media of."""


@attrs.frozen
class MediaNames:
    """Makes keys of files. ``secret``: the key for names of files, so that nobody can guess them."""

    secret: bytes = attrs.field(repr=False)

    def key(self, project_id: int, sha256: str, suffix: str) -> str:
        """The key of a file in a project by its content: the same content is the same file.

        ``sha256`` is in hexadecimal, ``suffix`` has its dot (``.jpg``), as in ``PreparedFile``.
        """
        if not _SHA256.fullmatch(sha256):
            raise ValueError(sha256)
        word = hmac.digest(self.secret, f"media/{project_id}/{sha256}".encode(), "sha256").hex()[:40]
        return require_key(f"{container_of(project_id)}/{word}{suffix}")


SNAPSHOT: Final = ".snap"
OF_ANSWER: Final = ".given"
"""The endings of files of snapshots and of answers. ``/uploads/`` does not serve them: their own addresses do, with
other rights.
"""


def is_key(text: str) -> bool:
    """Whether a path below ``/uploads/`` can be a key of media; other files there have other names."""
    return _KEY.fullmatch(text) is not None


def require_key(text: str) -> str:
    """The key. Raises ValueError for what is none."""
    if not is_key(text):
        raise ValueError(text)
    return text


def type_of(key: str) -> str:
    """The type that a file is served with, by the ending that ``MediaNames`` gave it."""
    return TYPES.get(f".{key.rpartition('.')[2]}", DOWNLOAD)


_PROJECT: Final = re.compile(r"project-(\d{1,18})")
_CHUNK: Final = 500  # keys that are read in one go


class FolderStore:
    """Keeps each file as ``<folder>/<key>``. ``folder`` is below the data folder, whose owner gets the files."""

    def __init__(self, folder: Path, worker_thread: WorkerThread) -> None:
        self._folder, self._thread = folder, worker_thread

    async def put(self, key: str, source: Path, type_: str) -> None:
        """As ``MediaStore.put``. The type follows from the key."""
        await self._thread.do(self._put, require_key(key), source)

    async def delete(self, keys: Iterable[str]) -> None:
        """As ``MediaStore.delete``."""
        await self._thread.do(self._delete, [require_key(key) for key in keys])

    async def open(self, key: str, *, content: bool = True) -> StoredMedia | None:
        """As ``MediaStore.open``; with ``path``."""
        path = self._folder / key
        if not is_key(key) or path.is_symlink() or not path.is_file():
            return None
        stat = path.stat()
        return StoredMedia(stat.st_size, type_of(key), f'"{stat.st_mtime_ns:x}-{stat.st_size:x}"', path)

    async def size(self, key: str) -> int | None:
        """As ``MediaStore.size``."""
        stored_media = await self.open(key)
        return None if stored_media is None else stored_media.size

    async def keys(self, project_id: int) -> AsyncIterator[tuple[str, int]]:
        """As ``MediaStore.keys``."""
        files = _files(self._folder / container_of(project_id))
        while some := await self._thread.do(_some, files):
            for each in some:
                yield each

    async def projects(self) -> AsyncIterator[int]:
        """As ``MediaStore.projects``."""
        for project_id in await self._thread.do(_projects, self._folder):
            yield project_id

    def _put(self, key: str, source: Path) -> None:
        target = self._folder / key
        draft = target.with_name(f".{target.name}.{random.token_hex(8)}.{os.getpid()}")
        try:
            kernel_files.make_folder(target.parent, self._folder.parent)
            self._write(source, draft)
            draft.replace(target)
        except OSError as error:
            raise MediaStoreError(f"Cannot store {key}: {error.strerror or error}.") from error
        finally:
            draft.unlink(missing_ok=True)

    def _write(self, source: Path, draft: Path) -> None:
        """All bytes are on the disk before the file gets its name: a power cut leaves no half."""
        with source.open("rb") as content, draft.open("xb") as file:
            kernel_files.give_to_owner(file.fileno(), self._folder.parent)
            shutil.copyfileobj(content, file, 1 << 20)
            file.flush()
            os.fsync(file.fileno())

    def _delete(self, keys: list[str]) -> None:
        for key in keys:
            try:
                (self._folder / key).unlink(missing_ok=True)
            except OSError as error:
                raise MediaStoreError(f"Cannot remove {key}: {error.strerror or error}.") from error


def _some(files: Iterator[tuple[str, int]]) -> list[tuple[str, int]]:
    return list(islice(files, _CHUNK))


def _files(container: Path) -> Iterator[tuple[str, int]]:
    if not container.is_dir():
        return
    with os.scandir(container) as entries:
        for entry in entries:
            key = f"{container.name}/{entry.name}"
            if is_key(key) and entry.is_file(follow_symlinks=False):
                yield key, entry.stat(follow_symlinks=False).st_size


def _projects(folder: Path) -> list[int]:
    matches = (_PROJECT.fullmatch(path.name) for path in folder.iterdir()) if folder.is_dir() else ()
    return sorted(int(each[1]) for each in matches if each)
