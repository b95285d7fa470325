"""WebM: passed on with its tags, attachments and chapters blanked out, in their places."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import attrs

from crowdd.domain.media.preparation.out_folder import OutFolder
from crowdd.domain.media.preparation.pieces import Part, pieces_of, size_of
from crowdd.domain.media.preparation.refused import RefusedFile, damaged, foreign

_SEGMENT, _INFO, _TRACKS, _CLUSTER = 0x18538067, 0x1549A966, 0x1654AE6B, 0x1F43B675
_VOID, _CRC = 0xEC, 0xBF
_BLANKED = frozenset({0x1254C367, 0x1941A469, 0x1043A770, _VOID})  # Tags, Attachments, Chapters
_TOP = frozenset({0x114D9B74, _INFO, _TRACKS, 0x1C53BB6B, _CLUSTER, _CRC, *_BLANKED})  # with SeekHead and Cues
_IN_CLUSTERS = frozenset({0xE7, 0xA3, 0xA0, 0xAB, 0xA7, 0x5854, 0xAF, _VOID, _CRC})
_MAX_ELEMENTS, _MAX_SMALL, _PIECE = 5_000_000, 1_000_000, 1 << 20


@attrs.define
class _Found:
    """What the file says of itself, and what is blanked: begin and end of whole elements."""

    elements: int = 0
    tracks: set[int] = attrs.field(factory=set)
    seconds: float | None = None
    size: tuple[int, int] = (0, 0)
    clusters: int = 0
    blanked: list[tuple[int, int]] = attrs.field(factory=list)


def prepare(source: Path, _format: str, out: OutFolder, _options: Mapping[str, object]) -> dict[str, Any]:
    """Writes sound or video. Raises RefusedFile."""
    with source.open("rb") as file:
        size, scan = size_of(file), _Found()
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
        out.add("web", type_, suffix, pieces_of(file, _parts(scan.blanked, size)), **more)
    return {"kind": "video" if film else "sound", "type": type_, "seconds": scan.seconds, **more}


def _require_webm(file: BinaryIO, begin: int, end: int) -> None:
    for id_, body, stop in _children(file, begin, end, _Found()):
        if id_ == 0x4282:
            file.seek(body)
            kind = file.read(min(stop - body, 20)).rstrip(b"\0")
            if kind == b"matroska":
                raise RefusedFile("matroska")
            if kind == b"webm":
                return
    raise damaged("WebM")


def _read_segment(file: BinaryIO, at: int, size: int, scan: _Found) -> None:
    """Goes over what the segment has. Elements of clusters without a size stand among the others."""
    while at < size:
        scan.elements += 1
        id_, body, end = _element(file, at, size)
        if id_ == _CLUSTER:
            scan.clusters += 1
            at = body if end is None else end
            continue
        if id_ not in _TOP and not (scan.clusters and id_ in _IN_CLUSTERS):
            raise foreign("WebM") if scan.clusters else damaged("WebM")
        if end is None or scan.elements > _MAX_ELEMENTS:
            raise damaged("WebM")
        if id_ in _BLANKED:
            scan.blanked.append((at, end))
        elif id_ == _INFO:
            _read_info(file, body, end, scan)
        elif id_ == _TRACKS:
            _read_tracks(file, body, end, scan)
        at = end


def _read_info(file: BinaryIO, begin: int, end: int, scan: _Found) -> None:
    scale, length = 1_000_000, 0.0
    for id_, body, stop in _children(file, begin, end, scan):
        content = _content(file, body, stop) if id_ in (0x2AD7B1, 0x4489) else b""
        if id_ == 0x2AD7B1:
            scale = int.from_bytes(content, "big")
        elif id_ == 0x4489 and len(content) in (4, 8):
            length = struct.unpack(">f" if len(content) == 4 else ">d", content)[0]
    seconds = length * scale / 1e9
    scan.seconds = round(seconds, 3) if 0 < seconds < 1e7 else None


def _read_tracks(file: BinaryIO, begin: int, end: int, scan: _Found) -> None:
    for id_, body, stop in _children(file, begin, end, scan):
        if id_ != 0xAE:
            continue
        for inner, inner_body, inner_stop in _children(file, body, stop, scan):
            if inner == 0x83:
                scan.tracks.add(int.from_bytes(_content(file, inner_body, inner_stop), "big"))
            elif inner == 0xE0:
                scan.size = max(scan.size, _video_size(file, inner_body, inner_stop, scan))


def _video_size(file: BinaryIO, begin: int, end: int, scan: _Found) -> tuple[int, int]:
    elements = {id_: (body, stop) for id_, body, stop in _children(file, begin, end, scan)}
    sizes = (int.from_bytes(_content(file, *elements.get(id_, (0, 0))), "big") for id_ in (0xB0, 0xBA))
    width, height = (size if size < 100_000 else 0 for size in sizes)
    return width, height


def _children(file: BinaryIO, begin: int, end: int, scan: _Found) -> Iterator[tuple[int, int, int]]:
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


def _parts(blanked: list[tuple[int, int]], size: int) -> Iterator[Part]:
    """The file with each blanked element as a Void of the same length."""
    at = 0
    for begin, end in blanked:
        yield at, begin
        yield _void(end - begin)
        for each in range(begin + len(_void(end - begin)), end, _PIECE):
            yield bytes(min(_PIECE, end - each))
        at = end
    yield at, size


def _void(length: int) -> bytes:
    """The head of a Void element that takes so many bytes in all (2 or more)."""
    if length < 9:
        return bytes([_VOID, 0x80 | (length - 2)])
    return bytes([_VOID, 0x01]) + (length - 9).to_bytes(7, "big")
