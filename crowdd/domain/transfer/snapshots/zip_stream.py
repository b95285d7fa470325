"""A snapshot as a ZIP archive, written while it is sent: members are copied as they lie in the store, deflated."""

from __future__ import annotations

import struct
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from typing import Final

import attrs

from crowdd.domain.media.store import MediaStore
from crowdd.domain.transfer.snapshots.written_files import Inflating
from crowdd.errors import NotFoundError
from crowdd.storage.transfer.snapshot_rows import SnapshotFile

CONTENT_TYPE: Final = "application/zip"
_DOS_DATE: Final = (1980 - 1980) << 9 | 1 << 5 | 1  # archives of equal content are equal
_VERSION: Final = 45  # of the format, the first with sizes of 64 bits
_UTF8: Final = 0x800
_DEFLATED: Final = 8
_BEYOND: Final = 0xFFFFFFFF
_PIECE: Final = 1 << 18


@attrs.frozen
class _Member:
    name: bytes
    crc32: int
    stored: int
    size: int
    offset: int

    def local(self) -> bytes:
        """What stands before the content."""
        extra = struct.pack("<HHQQ", 1, 16, self.size, self.stored)
        head = struct.pack(
            "<IHHHHHIIIHH", 0x04034B50, _VERSION, _UTF8, _DEFLATED, 0, _DOS_DATE, self.crc32, _BEYOND, _BEYOND,
            len(self.name), len(extra),
        )  # fmt: skip
        return head + self.name + extra

    def central(self) -> bytes:
        """The entry in the directory at the end."""
        extra = struct.pack("<HHQQQ", 1, 24, self.size, self.stored, self.offset)
        head = struct.pack(
            "<IHHHHHHIIIHHHHHII", 0x02014B50, _VERSION, _VERSION, _UTF8, _DEFLATED, 0, _DOS_DATE, self.crc32, _BEYOND,
            _BEYOND, len(self.name), len(extra), 0, 0, 0, 0o100644 << 16, _BEYOND,
        )  # fmt: skip
        return head + self.name + extra


def _end(members: Sequence[_Member], begin: int, size: int) -> bytes:
    """What stands behind the directory, which begins somewhere and has a size."""
    n, at = len(members), begin + size
    wide = struct.pack("<IQHHIIQQQQ", 0x06064B50, 44, _VERSION, _VERSION, 0, 0, n, n, size, begin)
    place = struct.pack("<IIQI", 0x07064B50, 0, at, 1)
    return wide + place + struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, 0xFFFF, 0xFFFF, _BEYOND, _BEYOND, 0)


async def zipped(store: MediaStore, files: Sequence[SnapshotFile], folder: str) -> AsyncGenerator[bytes, None]:
    """The archive in pieces, with all files in a folder. Raises NotFoundError, MediaStoreError."""
    members: list[_Member] = []
    at = 0
    for file in files:
        size = await stored_size(store, file)
        member = _Member(f"{folder}/{file['name']}".encode(), file["crc32"], size, file["bytes"], at)
        members.append(member)
        local = member.local()
        yield local
        async for piece in deflated(store, file):
            yield piece
        at += len(local) + size
    directory = b"".join(member.central() for member in members)
    yield directory + _end(members, at, len(directory))


async def stored_size(store: MediaStore, file: SnapshotFile) -> int:
    """Bytes of a file in the store. Raises NotFoundError."""
    size = await store.size(file["key"])
    if size is None:
        raise NotFoundError(f"{file['name']} is missing in the store of media.")
    return size


async def deflated(store: MediaStore, file: SnapshotFile) -> AsyncIterator[bytes]:
    """A file as it lies in the store. Raises NotFoundError, MediaStoreError."""
    found = await store.open(file["key"])
    if found is None:
        raise NotFoundError(f"{file['name']} is missing in the store of media.")
    if found.path is None:
        assert found.pieces is not None
        async for piece in found.pieces(0, found.size):
            yield piece
        return
    with found.path.open("rb") as content:
        while piece := content.read(_PIECE):
            yield piece


async def content(store: MediaStore, file: SnapshotFile) -> AsyncGenerator[bytes, None]:
    """The content of a file in pieces. Raises ValueError at its end for one that is damaged."""
    inflating = Inflating()
    async for part in deflated(store, file):
        try:
            for piece in inflating.pieces(part):
                yield piece
        except ValueError:
            raise ValueError(f"{file['name']} is damaged.") from None
    if not inflating.whole or inflating.sha256 != file["sha256"]:
        raise ValueError(f"{file['name']} is damaged.")
