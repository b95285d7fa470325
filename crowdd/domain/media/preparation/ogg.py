"""Ogg: sound (Vorbis, Opus, FLAC) and video (Theora), passed on as it is once every page was found in its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import attrs

from crowdd.domain.media.preparation.out_folder import OutFolder
from crowdd.domain.media.preparation.pieces import pieces_of, size_of
from crowdd.domain.media.preparation.refused import RefusedFile, damaged, foreign

_FIRST, _LAST = 0x02, 0x04
_MAX_STREAMS = 20
_NO_POSITION = (1 << 64) - 1


@attrs.define
class _Stream:
    """One sound or picture: its rate in positions a second, and the last position."""

    codec: str
    rate: int
    position: int = 0


def prepare(source: Path, _format: str, out: OutFolder, _options: Mapping[str, object]) -> dict[str, Any]:
    """Copies the file. Raises RefusedFile."""
    with source.open("rb") as file:
        streams = _streams(file)
        if not any(stream.codec in ("vorbis", "opus", "flac", "theora") for stream in streams):
            raise RefusedFile("form", format="Ogg")
        film = any(stream.codec == "theora" for stream in streams)
        type_, suffix = ("video/ogg", ".ogv") if film else ("audio/ogg", ".ogg")
        out.add("web", type_, suffix, pieces_of(file, [(0, size_of(file))]))
    lengths = [stream.position / stream.rate for stream in streams if stream.rate]
    seconds = round(max(lengths), 3) if lengths else None
    return {"kind": "video" if film else "sound", "type": type_, "seconds": seconds}


def _streams(file: BinaryIO) -> list[_Stream]:
    streams: dict[int, _Stream] = {}
    for kind, position, serial, body in _pages(file):
        if kind & _FIRST:
            if len(streams) >= _MAX_STREAMS:
                raise damaged("Ogg")
            streams[serial] = _stream(body)
        elif serial not in streams:
            raise damaged("Ogg")
        if position != _NO_POSITION:
            streams[serial].position = position
    return [*streams.values()]


def _pages(file: BinaryIO) -> Iterator[tuple[int, int, int, bytes]]:
    """Flags, position and stream of each page, and how the first pages begin; they fill the file."""
    size, at = size_of(file), 0
    while at < size:
        file.seek(at)
        head = file.read(27)
        if head[:4] != b"OggS":
            raise foreign("Ogg") if at else damaged("Ogg")
        table = file.read(head[26]) if len(head) == 27 else b""
        length = sum(table)
        if len(head) < 27 or len(table) < head[26] or at + 27 + len(table) + length > size:
            raise damaged("Ogg")
        serial = int.from_bytes(head[14:18], "little")
        yield (
            head[5],
            int.from_bytes(head[6:14], "little"),
            serial,
            file.read(min(length, 64)) if head[5] & _FIRST else b"",
        )
        at += 27 + len(table) + length


def _stream(body: bytes) -> _Stream:
    if body[:7] == b"\x01vorbis":
        return _Stream("vorbis", int.from_bytes(body[12:16], "little"))
    if body[:8] == b"OpusHead":
        return _Stream("opus", 48_000)
    if body[:5] == b"\x7fFLAC":
        return _Stream("flac", int.from_bytes(body[27:30], "big") >> 4)
    if body[:7] == b"\x80theora":
        return _Stream("theora", 0)
    return _Stream("", 0)
