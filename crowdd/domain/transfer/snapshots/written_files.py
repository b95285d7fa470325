"""Files of a snapshot while they are written: compressed, with their size and hashes."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import attrs

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
