"""Files between the server and the process that prepares media: parts of the uploaded file, and the output folder.

The folder is bounded, and every file in it has its size and digest.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, TypedDict

from crowdd.features.media.prepared import RefusedFile

_MILLION = 1_000_000


class MadeFile(TypedDict):
    """A file that was made, as ``prepared.PreparedFile`` has it; ``name`` is below the folder."""

    role: str
    name: str
    type: str
    suffix: str
    bytes: int
    sha256: str
    width: int
    height: int
    page: int


class OutFolder:
    """Writes files under names of its own, at most ``max_bytes`` together."""

    def __init__(self, folder: Path, max_bytes: int) -> None:
        self._folder, self._max_bytes, self._left = folder, max_bytes, max_bytes
        self.files: list[MadeFile] = []

    def add(self, role: str, type_: str, suffix: str, pieces: Iterable[bytes], **more: object) -> None:
        """A file of these bytes. ``more``: width, height and page. Raises RefusedFile beyond the limit."""
        name, digest, size = f"{len(self.files) + 1:05}{suffix}", hashlib.sha256(), 0
        with (self._folder / name).open("wb") as file:  # a file of this name is one that failed
            for piece in pieces:
                size, self._left = size + len(piece), self._left - len(piece)
                if self._left < 0:
                    raise RefusedFile("written", max=self._max_bytes // _MILLION)
                digest.update(piece)
                file.write(piece)
        made = MadeFile(
            role=role,
            name=name,
            type=type_,
            suffix=suffix,
            bytes=size,
            sha256=digest.hexdigest(),
            width=0,
            height=0,
            page=0,
        )
        made.update(more)  # type: ignore[typeddict-item]
        self.files.append(made)


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
