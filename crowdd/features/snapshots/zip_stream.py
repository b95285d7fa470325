"""Write the compressed files of a snapshot with size and hashes, and send a snapshot as a ZIP archive.

The archive is written while it is sent: members are copied as they lie in the store, deflated.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

import attrs

from crowdd.features.media.store import MediaStore
from crowdd.features.snapshots.rows import SnapshotFile
from crowdd.kernel.errors import NotFoundError

_PIECE: Final = 1 << 20


@attrs.frozen
class FileEntry:
    """A file of a snapshot. ``crc32`` is what a ZIP archive needs; ``stored_bytes`` are those of its deflated content.

    ``rows``: lines of a table, None for other files. ``content``: whether the hash of the snapshot depends on it.
    """

    name: str
    bytes: int
    sha256: str
    crc32: int
    stored_bytes: int
    content: bool
    rows: int | None = None


class WrittenFile:
    """Deflates what is written into a file of its name in a folder."""

    def __init__(self, folder: Path, name: str, *, content: bool) -> None:
        self.name, self._content = name, content
        self._file = (folder / name).open("wb")
        self._deflate = zlib.compressobj(6, zlib.DEFLATED, -zlib.MAX_WBITS)
        self._sha256 = hashlib.sha256()
        self._crc32 = self._bytes = self._stored = self.rows = 0

    def write(self, part: bytes) -> None:
        """Appends."""
        self._sha256.update(part)
        self._crc32 = zlib.crc32(part, self._crc32)
        self._bytes += len(part)
        self._keep(self._deflate.compress(part))

    def write_row(self, line: bytes) -> None:
        """Appends a line."""
        self.rows += 1
        self.write(line + b"\n")

    def end(self) -> FileEntry:
        """The file is whole."""
        self._keep(self._deflate.flush())
        self._file.close()
        rows = self.rows if self.name.endswith(".ndjson") else None
        digest = self._sha256.hexdigest()
        return FileEntry(self.name, self._bytes, digest, self._crc32, self._stored, self._content, rows)

    def _keep(self, part: bytes) -> None:
        self._stored += len(part)
        self._file.write(part)


class Inflating:
    """Gives the content of a deflated file in pieces, and knows its hash at the end."""

    def __init__(self) -> None:
        self._inflate = zlib.decompressobj(-zlib.MAX_WBITS)
        self._sha256 = hashlib.sha256()
        self.bytes = 0

    def pieces(self, part: bytes) -> Iterator[bytes]:
        """What a part of the file holds. Raises ValueError for a damaged one."""
        rest = part
        try:
            while rest:
                piece = self._inflate.decompress(rest, _PIECE)
                rest = self._inflate.unconsumed_tail
                self._note(piece)
                if piece:
                    yield piece
        except zlib.error as error:
            raise ValueError(str(error)) from None

    @property
    def sha256(self) -> str:
        """Of all that was given, in hexadecimal."""
        return self._sha256.hexdigest()

    @property
    def whole(self) -> bool:
        """Whether the end of the file was reached, and nothing came behind it."""
        return bool(self._inflate.eof) and not self._inflate.unused_data

    def _note(self, piece: bytes) -> None:
        self._sha256.update(piece)
        self.bytes += len(piece)


ZIP_CONTENT_TYPE: Final = "application/zip"
_DOS_DATE: Final = (1980 - 1980) << 9 | 1 << 5 | 1  # archives of equal content are equal
_VERSION: Final = 45  # of the format, the first with sizes of 64 bits
_UTF8: Final = 0x800
_DEFLATED: Final = 8
_BEYOND: Final = 0xFFFFFFFF
_ZIP_PIECE: Final = 1 << 18


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


async def build_archive(store: MediaStore, files: Sequence[SnapshotFile], folder: str) -> Archive:
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
            async for part in read_deflated(store, file, max(0, begin - first), min(member.stored, end - first)):
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


async def read_deflated(
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
        while begin < until and (piece := content.read(min(_ZIP_PIECE, until - begin))):
            begin += len(piece)
            yield piece


async def read_content(store: MediaStore, file: SnapshotFile) -> AsyncGenerator[bytes, None]:
    """The content of a file in pieces. Raises ValueError at its end for one that is damaged."""
    inflating = Inflating()
    async for part in read_deflated(store, file):
        try:
            for piece in inflating.pieces(part):
                yield piece
        except ValueError:
            raise ValueError(f"{file['name']} is damaged.") from None
    if not inflating.whole or inflating.sha256 != file["sha256"]:
        raise ValueError(f"{file['name']} is damaged.")


async def read_part(store: MediaStore, file: SnapshotFile, begin: int, end: int) -> AsyncGenerator[bytes, None]:
    """These bytes of the content. What is before them is unpacked, too; what is behind them only if all is wanted."""
    at = 0
    pieces = read_content(store, file)
    async for piece in pieces:
        if part := piece[max(0, begin - at) : max(0, end - at)]:
            yield part
        at += len(piece)
        if at >= end and end < file["bytes"]:
            await pieces.aclose()
            return
