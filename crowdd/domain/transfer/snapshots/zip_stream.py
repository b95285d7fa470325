"""A snapshot as a ZIP archive, written while it is sent: members are copied as they lie in the store, deflated."""

from __future__ import annotations

import struct
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
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


@attrs.frozen
class Archive:
    """An archive that is not written yet: ``size`` in bytes, and ``pieces(begin, end)`` of it."""

    size: int
    pieces: Callable[[int, int], AsyncGenerator[bytes, None]] = attrs.field(repr=False)


async def archive_of(store: MediaStore, files: Sequence[SnapshotFile], folder: str) -> Archive:
    """The archive with all files in a folder. Raises NotFoundError, MediaStoreError."""
    members: list[_Member] = []
    at = 0
    for file in files:
        size = await stored_size(store, file)
        members.append(_Member(f"{folder}/{file['name']}".encode(), file["crc32"], size, file["bytes"], at))
        at += len(members[-1].local()) + size
    directory = b"".join(member.central() for member in members)
    tail = directory + _end(members, at, len(directory))

    async def pieces(begin: int, end: int) -> AsyncGenerator[bytes, None]:
        for file, member in zip(files, members, strict=True):
            local = member.local()
            first = member.offset + len(local)
            if part := local[max(0, begin - member.offset) : max(0, end - member.offset)]:
                yield part
            async for part in deflated(store, file, max(0, begin - first), min(member.stored, end - first)):
                yield part
        if part := tail[max(0, begin - at) : max(0, end - at)]:
            yield part

    return Archive(at + len(tail), pieces)


async def stored_size(store: MediaStore, file: SnapshotFile) -> int:
    """Bytes of a file in the store. Raises NotFoundError."""
    size = await store.size(file["key"])
    if size is None:
        raise NotFoundError(f"{file['name']} is missing in the store of media.")
    return size


async def deflated(
    store: MediaStore, file: SnapshotFile, begin: int = 0, end: int | None = None
) -> AsyncIterator[bytes]:
    """A file as it lies in the store, or these bytes of it. Raises NotFoundError, MediaStoreError."""
    if end is not None and begin >= end:
        return
    stored_file = await store.open(file["key"])
    if stored_file is None:
        raise NotFoundError(f"{file['name']} is missing in the store of media.")
    until = stored_file.size if end is None else end
    if stored_file.path is None:
        assert stored_file.pieces is not None
        async for piece in stored_file.pieces(begin, until):
            yield piece
        return
    with stored_file.path.open("rb") as content:
        content.seek(begin)
        while begin < until and (piece := content.read(min(_PIECE, until - begin))):
            begin += len(piece)
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


async def part_of(store: MediaStore, file: SnapshotFile, begin: int, end: int) -> AsyncGenerator[bytes, None]:
    """These bytes of the content. What is before them is unpacked, too; what is behind them only if all is wanted."""
    at = 0
    pieces = content(store, file)
    async for piece in pieces:
        if part := piece[max(0, begin - at) : max(0, end - at)]:
            yield part
        at += len(piece)
        if at >= end and end < file["bytes"]:
            await pieces.aclose()
            return
