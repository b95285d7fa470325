"""Media files in a folder of this machine: ``uploads`` in the data folder."""

from __future__ import annotations

import os
import re
import secrets as random
import shutil
from collections.abc import AsyncIterator, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from crowdd.concurrency.worker_thread import WorkerThread
from crowdd.domain.core import data_folder
from crowdd.domain.core.uploads import container_of
from crowdd.domain.media.store import StoredMedia, is_key, require_key, type_of
from crowdd.errors import MediaStoreError

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
            data_folder.make(target.parent, self._folder.parent)
            self._write(source, draft)
            draft.replace(target)
        except OSError as error:
            raise MediaStoreError(f"Cannot store {key}: {error.strerror or error}.") from error
        finally:
            draft.unlink(missing_ok=True)

    def _write(self, source: Path, draft: Path) -> None:
        """All bytes are on the disk before the file gets its name: a power cut leaves no half."""
        with source.open("rb") as content, draft.open("xb") as file:
            data_folder.give(file.fileno(), self._folder.parent)
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
