"""A ZIP archive of small files, of which no more than the list of them is kept, on disk beyond a megabyte."""

from __future__ import annotations

import struct
import tempfile
import zlib
from collections.abc import Iterator
from typing import Final

_IN_MEMORY: Final = 1_000_000
_PIECE: Final = 65_536
_DATE: Final = 0x21  # 1980-01-01: files are the same whenever they are made
_UTF8: Final = 0x800
_DEFLATED: Final = 8
_IN_ZIP64: Final = 0xFFFFFFFF


class ZipFiles:
    """Files are added one after the other, each whole. Offsets and numbers that need it are in ZIP64."""

    def __init__(self) -> None:
        self._list = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115
        self._at = self._count = 0

    def add(self, name: str, content: bytes) -> bytes:
        """A file of the archive."""
        packer = zlib.compressobj(6, zlib.DEFLATED, -15)
        packed = packer.compress(content) + packer.flush()
        path = name.encode()
        about = struct.pack(
            "<HHHHIIIHH",
            *(_UTF8, _DEFLATED, 0, _DATE, zlib.crc32(content), len(packed), len(content), len(path), 0),
        )
        more = struct.pack("<HHQ", 1, 8, self._at)
        self._list.write(
            struct.pack("<IHH", 0x02014B50, 45, 45)
            + about[:-2]
            + struct.pack("<HHHHII", len(more), 0, 0, 0, 0, _IN_ZIP64)
            + path
            + more
        )
        part = struct.pack("<IH", 0x04034B50, 45) + about + path + packed
        self._at += len(part)
        self._count += 1
        return part

    def end(self) -> Iterator[bytes]:
        """The list of the files, which closes the archive."""
        size = self._list.tell()
        self._list.seek(0)
        while piece := self._list.read(_PIECE):
            yield piece
        self._list.close()
        end = self._at + size
        yield struct.pack("<IQHHIIQQQQ", 0x06064B50, 44, 45, 45, 0, 0, self._count, self._count, size, self._at)
        yield struct.pack("<IIQI", 0x07064B50, 0, end, 1)
        yield struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, 0xFFFF, 0xFFFF, _IN_ZIP64, _IN_ZIP64, 0)
