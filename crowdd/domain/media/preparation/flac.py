"""FLAC: the description of the stream, its index and its frames are kept; texts and pictures are not."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

from crowdd.domain.media.preparation.out_folder import OutFolder
from crowdd.domain.media.preparation.pieces import Part, ends_as_archive, pieces_of, size_of
from crowdd.domain.media.preparation.refused import damaged, foreign

_STREAM, _INDEX = 0, 3
_MAX_BLOCKS = 200


def prepare(source: Path, _format: str, out: OutFolder, _options: Mapping[str, object]) -> dict[str, Any]:
    """Writes the sound. Raises RefusedFile."""
    with source.open("rb") as file:
        blocks, frames = _blocks(file)
        if ends_as_archive(file):
            raise foreign("FLAC")
        size = size_of(file)
        file.seek(frames)
        sync = file.read(2)
        if len(sync) < 2 or sync[0] != 0xFF or sync[1] & 0xFE != 0xF8:
            raise damaged("FLAC")
        stream = blocks[0][1]
        rate = int.from_bytes(stream[10:13], "big") >> 4
        samples = int.from_bytes(stream[13:18], "big") & 0xFFFFFFFFF
        if not rate:
            raise damaged("FLAC")
        parts: list[Part] = [b"fLaC"]
        for number, (kind, body) in enumerate(blocks, 1):
            parts.append(bytes([kind | (0x80 if number == len(blocks) else 0)]) + len(body).to_bytes(3, "big") + body)
        out.add("web", "audio/flac", ".flac", pieces_of(file, [*parts, (frames, size)]))
    return {"kind": "sound", "type": "audio/flac", "seconds": round(samples / rate, 3) if samples else None}


def _blocks(file: BinaryIO) -> tuple[list[tuple[int, bytes]], int]:
    """The blocks that are kept, the one about the stream first, and where the frames begin."""
    blocks: list[tuple[int, bytes]] = []
    at = 4
    for number in range(_MAX_BLOCKS):
        file.seek(at)
        head = file.read(4)
        kind, length = (head[0] & 0x7F, int.from_bytes(head[1:], "big")) if len(head) == 4 else (127, 0)
        if kind == 127 or (number == 0) != (kind == _STREAM):
            raise damaged("FLAC")
        if kind in (_STREAM, _INDEX):
            blocks.append((kind, file.read(length)))
            if len(blocks[-1][1]) < (34 if kind == _STREAM else length):
                raise damaged("FLAC")
        at += 4 + length
        if head[0] & 0x80:
            return blocks, at
    raise damaged("FLAC")
