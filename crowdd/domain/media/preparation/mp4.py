"""MP4 and M4A: passed on with the texts, places and pictures of its description blanked out, in their places."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import attrs

from crowdd.domain.media.preparation.out_folder import OutFolder
from crowdd.domain.media.preparation.pieces import Part, pieces_of, size_of
from crowdd.domain.media.preparation.refused import RefusedFile, damaged, foreign

# What may stand at the top level (ISO 14496-12).
_TOP = frozenset(
    {
        b"ftyp",
        b"styp",
        b"pdin",
        b"moov",
        b"moof",
        b"mfra",
        b"mdat",
        b"free",
        b"skip",
        b"wide",
        b"meta",
        b"udta",
        b"uuid",
    }
    | {b"sidx", b"ssix", b"prft", b"emsg", b"bloc"}
)
_BLANKED = frozenset({b"meta", b"udta", b"uuid", b"free", b"skip", b"wide"})
_INSIDE = frozenset({b"moov", b"trak", b"mdia"})
_MAX_BOXES, _MAX_SMALL, _PIECE = 200_000, 1_000, 1 << 20


@attrs.define
class _Found:
    """What the description says, and what is written over: begin, end, and by what (nothing: zeros)."""

    boxes: int = 0
    names: set[bytes] = attrs.field(factory=set)
    tracks: set[bytes] = attrs.field(factory=set)
    seconds: float | None = None
    size: tuple[int, int] = (0, 0)
    blanked: list[tuple[int, int, bytes]] = attrs.field(factory=list)


def prepare(source: Path, _format: str, out: OutFolder, _options: Mapping[str, object]) -> dict[str, Any]:
    """Writes sound or video. Raises RefusedFile."""
    with source.open("rb") as file:
        scan, size = _Found(), size_of(file)
        for name, begin, body, end in _boxes(file, 0, size, scan):
            if name not in _TOP:
                raise foreign("MP4") if b"moov" in scan.names else damaged("MP4")
            scan.names.add(name)
            _look(file, name, begin, body, end, scan)
        if not {b"moov", b"mdat"} <= scan.names:
            raise damaged("MP4")
        if not scan.tracks & {b"vide", b"soun"}:
            raise RefusedFile("no_tracks", format="MP4")
        film = b"vide" in scan.tracks
        type_, suffix = ("video/mp4", ".mp4") if film else ("audio/mp4", ".m4a")
        out.add(
            "web",
            type_,
            suffix,
            pieces_of(file, _parts(scan.blanked, size)),
            width=scan.size[0],
            height=scan.size[1],
        )
    about = {"kind": "video" if film else "sound", "type": type_, "seconds": scan.seconds}
    return about | {"width": scan.size[0], "height": scan.size[1]}


def _boxes(file: BinaryIO, begin: int, end: int, scan: _Found) -> Iterator[tuple[bytes, int, int, int]]:
    """Name, begin, begin of the body, and end of each box; they fill the part of the file."""
    while begin < end:
        scan.boxes += 1
        file.seek(begin)
        head = file.read(16)
        size, name, body = int.from_bytes(head[:4], "big"), head[4:8], begin + 8
        if size == 1:
            size, body = int.from_bytes(head[8:16], "big"), begin + 16
        elif size == 0:
            size = end - begin
        if body > begin + size or begin + size > end or scan.boxes > _MAX_BOXES:
            raise foreign("MP4") if b"moov" in scan.names and name not in _TOP else damaged("MP4")
        yield name, begin, body, begin + size
        begin += size


def _look(file: BinaryIO, name: bytes, begin: int, body: int, end: int, scan: _Found) -> None:
    if name in _BLANKED:
        scan.blanked += [(begin + 4, begin + 8, b"free"), (body, end, b"")]
    elif name in _INSIDE:
        for inner in _boxes(file, body, end, scan):
            _look(file, *inner, scan)
    elif name in (b"mvhd", b"hdlr", b"tkhd"):
        file.seek(body)
        _read(name, file.read(min(end - body, _MAX_SMALL)), scan)


def _read(name: bytes, content: bytes, scan: _Found) -> None:
    try:
        if name == b"hdlr":
            scan.tracks.add(content[8:12])
        elif name == b"mvhd":
            scale, length = (
                struct.unpack_from(">IQ", content, 20) if content[0] else struct.unpack_from(">II", content, 12)
            )
            unknown = (1 << 64) - 1 if content[0] else (1 << 32) - 1
            scan.seconds = round(length / scale, 3) if scale and length and length != unknown else None
        else:
            width, height = struct.unpack_from(">II", content, 88 if content[0] else 76)
            scan.size = max(scan.size, (width >> 16, height >> 16))
    except (struct.error, IndexError):
        raise damaged("MP4") from None


def _parts(blanked: list[tuple[int, int, bytes]], size: int) -> Iterator[Part]:
    """The file with names of blanked boxes as ``free`` and their bodies as zeros."""
    at = 0
    for begin, end, filler in sorted(blanked):
        yield at, begin
        yield from [filler] if filler else (bytes(min(_PIECE, end - each)) for each in range(begin, end, _PIECE))
        at = end
    yield at, size
