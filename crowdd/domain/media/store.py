"""Where media files of projects are kept: what every store does.

A key is the path of a file below ``/uploads/``: ``project-12/<40 hexadecimal digits>.jpg``. ``MediaNames`` makes keys.
The content behind a key never changes. ``/uploads/`` serves what a store has, with the rights of the project.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable
from pathlib import Path
from typing import Final, Protocol

import attrs

from crowdd.domain.core.uploads import DOWNLOAD, TYPES, container_of

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
"""The ending of files of snapshots, which ``/uploads/`` does not serve: their own addresses do, with other rights."""


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
