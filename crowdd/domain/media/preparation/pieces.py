"""Parts of the file that came, as they are written to another one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import BinaryIO

_PIECE = 1 << 20
_TAIL = 70_000  # bytes at the end of a file in which an archive would have its directory
_END_OF_ARCHIVE = b"PK\x05\x06"

Part = bytes | tuple[int, int]
"""Bytes to write, or the begin and end of a part of the file."""


def pieces_of(file: BinaryIO, parts: Iterable[Part]) -> Iterator[bytes]:
    """The bytes of parts, a piece at a time."""
    for part in parts:
        if isinstance(part, bytes):
            yield part
            continue
        begin, end = part
        file.seek(begin)
        while begin < end and (piece := file.read(min(_PIECE, end - begin))):
            begin += len(piece)
            yield piece


def size_of(file: BinaryIO) -> int:
    """Bytes of a file."""
    return file.seek(0, 2)


def ends_as_archive(file: BinaryIO) -> bool:
    """Whether a program for ZIP archives would find one at the end of a file."""
    size = size_of(file)
    file.seek(max(0, size - _TAIL))
    tail = file.read()
    at = tail.rfind(_END_OF_ARCHIVE)
    return at >= 0 and len(tail) - at >= 22 and at + 22 + int.from_bytes(tail[at + 20 : at + 22], "little") <= len(tail)
