"""Check video files (WebM, MP4, M4A), and blank out their tags, attachments, texts, places and pictures in place."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import attrs

from crowdd.features.media.file_parts import OutFolder, Part, pieces_of, size_of
from crowdd.features.media.prepared import RefusedFile, damaged, foreign

_SEGMENT, _INFO, _TRACKS, _CLUSTER = 0x18538067, 0x1549A966, 0x1654AE6B, 0x1F43B675
_VOID, _CRC = 0xEC, 0xBF
_BLANKED_ELEMENTS = frozenset({0x1254C367, 0x1941A469, 0x1043A770, _VOID})  # Tags, Attachments, Chapters
_TOP_ELEMENTS = frozenset(
    {0x114D9B74, _INFO, _TRACKS, 0x1C53BB6B, _CLUSTER, _CRC, *_BLANKED_ELEMENTS}
)  # with SeekHead and Cues
_IN_CLUSTERS = frozenset({0xE7, 0xA3, 0xA0, 0xAB, 0xA7, 0x5854, 0xAF, _VOID, _CRC})
_MAX_ELEMENTS, _MAX_SMALL_ELEMENT, _WEBM_PIECE = 5_000_000, 1_000_000, 1 << 20


@attrs.define
class _FoundElements:
    """What the file says of itself, and what is blanked: begin and end of whole elements."""

    elements: int = 0
    tracks: set[int] = attrs.field(factory=set)
    seconds: float | None = None
    size: tuple[int, int] = (0, 0)
    clusters: int = 0
    blanked: list[tuple[int, int]] = attrs.field(factory=list)


def prepare_webm(source: Path, _format: str, out: OutFolder, _options: Mapping[str, object]) -> dict[str, Any]:
    """Writes sound or video. Raises RefusedFile."""
    with source.open("rb") as file:
        size, scan = size_of(file), _FoundElements()
        id_, body, end = _element(file, 0, size)
        _require_webm(file, body, min(end or size, size))
        id_, body, stated = _element(file, end or 0, size)
        if id_ != _SEGMENT:
            raise damaged("WebM")
        if stated is not None and stated < size:
            raise foreign("WebM")
        _read_segment(file, body, size, scan)
        if not scan.clusters or not scan.tracks & {1, 2}:
            raise RefusedFile("no_tracks", format="WebM")
        film = 1 in scan.tracks
        type_, suffix = ("video/webm", ".webm") if film else ("audio/webm", ".weba")
        more = {"width": scan.size[0], "height": scan.size[1]}
        out.add("web", type_, suffix, pieces_of(file, _webm_parts(scan.blanked, size)), **more)
    return {"kind": "video" if film else "sound", "type": type_, "seconds": scan.seconds, **more}


def _require_webm(file: BinaryIO, begin: int, end: int) -> None:
    for id_, body, stop in _children(file, begin, end, _FoundElements()):
        if id_ == 0x4282:
            file.seek(body)
            kind = file.read(min(stop - body, 20)).rstrip(b"\0")
            if kind == b"matroska":
                raise RefusedFile("matroska")
            if kind == b"webm":
                return
    raise damaged("WebM")


def _read_segment(file: BinaryIO, at: int, size: int, scan: _FoundElements) -> None:
    """Goes over what the segment has. Elements of clusters without a size stand among the others."""
    while at < size:
        scan.elements += 1
        id_, body, end = _element(file, at, size)
        if id_ == _CLUSTER:
            scan.clusters += 1
            at = body if end is None else end
            continue
        if id_ not in _TOP_ELEMENTS and not (scan.clusters and id_ in _IN_CLUSTERS):
            raise foreign("WebM") if scan.clusters else damaged("WebM")
        if end is None or scan.elements > _MAX_ELEMENTS:
            raise damaged("WebM")
        if id_ in _BLANKED_ELEMENTS:
            scan.blanked.append((at, end))
        elif id_ == _INFO:
            _read_info(file, body, end, scan)
        elif id_ == _TRACKS:
            _read_tracks(file, body, end, scan)
        at = end


def _read_info(file: BinaryIO, begin: int, end: int, scan: _FoundElements) -> None:
    scale, length = 1_000_000, 0.0
    for id_, body, stop in _children(file, begin, end, scan):
        content = _content(file, body, stop) if id_ in (0x2AD7B1, 0x4489) else b""
        if id_ == 0x2AD7B1:
            scale = int.from_bytes(content, "big")
        elif id_ == 0x4489 and len(content) in (4, 8):
            length = struct.unpack(">f" if len(content) == 4 else ">d", content)[0]
    seconds = length * scale / 1e9
    scan.seconds = round(seconds, 3) if 0 < seconds < 1e7 else None


def _read_tracks(file: BinaryIO, begin: int, end: int, scan: _FoundElements) -> None:
    for id_, body, stop in _children(file, begin, end, scan):
        if id_ != 0xAE:
            continue
        for inner, inner_body, inner_stop in _children(file, body, stop, scan):
            if inner == 0x83:
                scan.tracks.add(int.from_bytes(_content(file, inner_body, inner_stop), "big"))
            elif inner == 0xE0:
                scan.size = max(scan.size, _video_size(file, inner_body, inner_stop, scan))


def _video_size(file: BinaryIO, begin: int, end: int, scan: _FoundElements) -> tuple[int, int]:
    elements = {id_: (body, stop) for id_, body, stop in _children(file, begin, end, scan)}
    sizes = (int.from_bytes(_content(file, *elements.get(id_, (0, 0))), "big") for id_ in (0xB0, 0xBA))
    width, height = (size if size < 100_000 else 0 for size in sizes)
    return width, height


def _children(file: BinaryIO, begin: int, end: int, scan: _FoundElements) -> Iterator[tuple[int, int, int]]:
    """Id, begin and end of the content of each element; they fill the part of the file."""
    while begin < end:
        scan.elements += 1
        id_, body, stop = _element(file, begin, end)
        if stop is None or scan.elements > _MAX_ELEMENTS:
            raise damaged("WebM")
        yield id_, body, stop
        begin = stop


def _element(file: BinaryIO, at: int, size: int) -> tuple[int, int, int | None]:
    """Id, begin and end of the content of the element that begins there; None: it does not say its end."""
    file.seek(at)
    head = file.read(12)
    id_length = 9 - head[0].bit_length() if head and head[0] else 9
    if id_length > 4 or len(head) <= id_length or not head[id_length]:
        raise damaged("WebM")
    length = 9 - head[id_length].bit_length()
    if len(head) < id_length + length:
        raise damaged("WebM")
    number = int.from_bytes(head[id_length : id_length + length], "big") & ((1 << 7 * length) - 1)
    body = at + id_length + length
    if number == (1 << 7 * length) - 1:
        return int.from_bytes(head[:id_length], "big"), body, None
    if body + number > size:
        raise damaged("WebM")
    return int.from_bytes(head[:id_length], "big"), body, body + number


def _content(file: BinaryIO, begin: int, end: int) -> bytes:
    file.seek(begin)
    return file.read(min(end - begin, 8))


def _webm_parts(blanked: list[tuple[int, int]], size: int) -> Iterator[Part]:
    """The file with each blanked element as a Void of the same length."""
    at = 0
    for begin, end in blanked:
        yield at, begin
        yield _void(end - begin)
        for each in range(begin + len(_void(end - begin)), end, _WEBM_PIECE):
            yield bytes(min(_WEBM_PIECE, end - each))
        at = end
    yield at, size


def _void(length: int) -> bytes:
    """The head of a Void element that takes so many bytes in all (2 or more)."""
    if length < 9:
        return bytes([_VOID, 0x80 | (length - 2)])
    return bytes([_VOID, 0x01]) + (length - 9).to_bytes(7, "big")


# What may stand at the top level (ISO 14496-12).
_TOP_BOXES = frozenset(
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
_BLANKED_BOXES = frozenset({b"meta", b"udta", b"uuid", b"free", b"skip", b"wide"})
_INSIDE = frozenset({b"moov", b"trak", b"mdia"})
_MAX_BOXES, _MAX_SMALL_BOX, _MP4_PIECE = 200_000, 1_000, 1 << 20


@attrs.define
class _FoundBoxes:
    """What the description says, and what is written over: begin, end, and by what (nothing: zeros)."""

    boxes: int = 0
    names: set[bytes] = attrs.field(factory=set)
    tracks: set[bytes] = attrs.field(factory=set)
    seconds: float | None = None
    size: tuple[int, int] = (0, 0)
    blanked: list[tuple[int, int, bytes]] = attrs.field(factory=list)


def prepare_mp4(source: Path, _format: str, out: OutFolder, _options: Mapping[str, object]) -> dict[str, Any]:
    """Writes sound or video. Raises RefusedFile."""
    with source.open("rb") as file:
        scan, size = _FoundBoxes(), size_of(file)
        for name, begin, body, end in _boxes(file, 0, size, scan):
            if name not in _TOP_BOXES:
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
            pieces_of(file, _mp4_parts(scan.blanked, size)),
            width=scan.size[0],
            height=scan.size[1],
        )
    about = {"kind": "video" if film else "sound", "type": type_, "seconds": scan.seconds}
    return about | {"width": scan.size[0], "height": scan.size[1]}


def _boxes(file: BinaryIO, begin: int, end: int, scan: _FoundBoxes) -> Iterator[tuple[bytes, int, int, int]]:
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
            raise foreign("MP4") if b"moov" in scan.names and name not in _TOP_BOXES else damaged("MP4")
        yield name, begin, body, begin + size
        begin += size


def _look(file: BinaryIO, name: bytes, begin: int, body: int, end: int, scan: _FoundBoxes) -> None:
    if name in _BLANKED_BOXES:
        scan.blanked += [(begin + 4, begin + 8, b"free"), (body, end, b"")]
    elif name in _INSIDE:
        for inner in _boxes(file, body, end, scan):
            _look(file, *inner, scan)
    elif name in (b"mvhd", b"hdlr", b"tkhd"):
        file.seek(body)
        _read(name, file.read(min(end - body, _MAX_SMALL_BOX)), scan)


def _read(name: bytes, content: bytes, scan: _FoundBoxes) -> None:
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


def _mp4_parts(blanked: list[tuple[int, int, bytes]], size: int) -> Iterator[Part]:
    """The file with names of blanked boxes as ``free`` and their bodies as zeros."""
    at = 0
    for begin, end, filler in sorted(blanked):
        yield at, begin
        yield from (
            [filler] if filler else (bytes(min(_MP4_PIECE, end - each)) for each in range(begin, end, _MP4_PIECE))
        )
        at = end
    yield at, size
