"""Check sound files and remove what they tell beside the sound: Ogg, FLAC, MP3 and WAV.

* Ogg (Vorbis, Opus, FLAC; Theora video) is passed on as it is once every page was found in its place.
* FLAC keeps the description of the stream, its index and its frames; texts and pictures go.
* MP3 keeps its frames; tags with texts, pictures and addresses go.
* WAV keeps the format and the sound; notes, places and all else go.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import attrs

from crowdd.features.media.file_parts import OutFolder, Part, ends_as_archive, pieces_of, size_of
from crowdd.features.media.prepared import RefusedFile, damaged, foreign

_FIRST, _LAST = 0x02, 0x04
_MAX_STREAMS = 20
_NO_POSITION = (1 << 64) - 1


@attrs.define
class _Stream:
    """One sound or picture: its rate in positions a second, and the last position."""

    codec: str
    rate: int
    position: int = 0


def prepare_ogg(source: Path, _format: str, out: OutFolder, _options: Mapping[str, object]) -> dict[str, Any]:
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


_STREAM, _INDEX = 0, 3
_MAX_BLOCKS = 200


def prepare_flac(source: Path, _format: str, out: OutFolder, _options: Mapping[str, object]) -> dict[str, Any]:
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


_MAX_BYTES = 300_000_000  # it is read as a whole
_KBITS = {
    (1, 1): (0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448),
    (1, 2): (0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384),
    (1, 3): (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
    (2, 1): (0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256),
    (2, 2): (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
    (2, 3): (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
}
_RATES = {3: (44100, 48000, 32000), 2: (22050, 24000, 16000), 0: (11025, 12000, 8000)}  # by version: 1, 2, 2.5
_MIN_FRAMES = 3  # fewer could be anything


def prepare_mp3(source: Path, _format: str, out: OutFolder, _options: Mapping[str, object]) -> dict[str, Any]:
    """Writes the frames. Raises RefusedFile."""
    if source.stat().st_size > _MAX_BYTES:
        raise damaged("MP3")
    content = source.read_bytes()
    begin, end = _without_tags(content)
    at, frames, seconds = begin, 0, 0.0
    while at < end:
        length, duration = _frame(content, at)
        if not length or at + length > end:
            break
        at, frames, seconds = at + length, frames + 1, seconds + duration
    if frames < _MIN_FRAMES:
        raise damaged("MP3")
    _require_end(content[at:end], content, at)
    out.add("web", "audio/mpeg", ".mp3", [content[begin:at]])
    return {"kind": "sound", "type": "audio/mpeg", "seconds": round(seconds, 3)}


def _without_tags(content: bytes) -> tuple[int, int]:
    """Where the frames begin and end: between ID3v2 before, and ID3v1, Lyrics3 and APE behind."""
    begin, end = 0, len(content)
    while content[begin : begin + 3] == b"ID3" and end - begin > 10:
        size = content[begin + 6 : begin + 10]
        begin += (
            10 + (size[0] << 21 | size[1] << 14 | size[2] << 7 | size[3]) + (10 if content[begin + 5] & 0x10 else 0)
        )
    while begin < end and content[begin] == 0:
        begin += 1
    if end - 128 >= begin and content[end - 128 : end - 125] == b"TAG":
        end -= 128
    if end - 32 >= begin and content[end - 32 : end - 24] == b"APETAGEX":
        tag = int.from_bytes(content[end - 20 : end - 16], "little")
        end -= tag + (32 if int.from_bytes(content[end - 12 : end - 8], "little") >> 31 else 0)
    return begin, max(begin, end)


def _frame(content: bytes, at: int) -> tuple[int, float]:
    """Bytes and seconds of the frame that begins there; 0 if none does."""
    head = int.from_bytes(content[at : at + 4], "big")
    version, layer = head >> 19 & 3, 4 - (head >> 17 & 3)
    bits, rate_index = head >> 12 & 15, head >> 10 & 3
    if head >> 21 != 0x7FF or version == 1 or layer == 4 or bits in (0, 15) or rate_index == 3:
        return 0, 0.0
    kbits = _KBITS[1 if version == 3 else 2, layer][bits]
    rate, padding = _RATES[version][rate_index], head >> 9 & 1
    if layer == 1:
        return (12_000 * kbits // rate + padding) * 4, 384 / rate
    samples = 1152 if version == 3 or layer == 2 else 576
    return samples // 8 * 1000 * kbits // rate + padding, samples / rate


def _require_end(rest: bytes, content: bytes, at: int) -> None:
    """What is behind the last whole frame: a frame that was cut off, padding, or something foreign."""
    if not rest.strip(b"\0") or (len(rest) < 2000 and _frame(content, at)[0]):
        return
    raise foreign("MP3") if len(rest) < len(content) // 2 else damaged("MP3")


_KNOWN_FORMS = frozenset({1, 3, 6, 7, 0xFFFE})  # PCM, floating point, A-law, µ-law, and the extended form
_MAX_CHUNKS = 1000


def prepare_wav(source: Path, _format: str, out: OutFolder, _options: Mapping[str, object]) -> dict[str, Any]:
    """Writes the sound. Raises RefusedFile."""
    with source.open("rb") as file:
        chunks = {name: (begin, end) for name, begin, end in _chunks(file)}
        if b"fmt " not in chunks or b"data" not in chunks:
            raise damaged("WAV")
        file.seek(chunks[b"fmt "][0])
        form = file.read(min(40, chunks[b"fmt "][1] - chunks[b"fmt "][0]))
        rate = _bytes_per_second(form)
        begin, end = chunks[b"data"]
        length, padding = end - begin, b"\0" * ((end - begin) % 2)
        head = b"fmt " + struct.pack("<I", len(form)) + form + b"data" + struct.pack("<I", length)
        whole = b"RIFF" + struct.pack("<I", 4 + len(head) + length + len(padding)) + b"WAVE" + head
        out.add("web", "audio/wav", ".wav", pieces_of(file, [whole, (begin, end), padding]))
    return {"kind": "sound", "type": "audio/wav", "seconds": round(length / rate, 3)}


def _bytes_per_second(form: bytes) -> int:
    if len(form) < 16:
        raise damaged("WAV")
    kind, channels, _rate, rate = struct.unpack_from("<HHII", form)
    if kind not in _KNOWN_FORMS:
        raise RefusedFile("form", format="WAV")
    if not channels or not rate:
        raise damaged("WAV")
    return int(rate)


def _chunks(file: BinaryIO) -> Iterator[tuple[bytes, int, int]]:
    """Name, begin and end of each chunk, up to the end of the file."""
    size = size_of(file)
    file.seek(4)
    stated = 8 + int.from_bytes(file.read(4), "little")
    if stated > size + 1:
        raise damaged("WAV")
    if stated + stated % 2 < size:
        raise foreign("WAV")
    at = 12
    for _number in range(_MAX_CHUNKS):
        file.seek(at)
        head = file.read(8)
        if len(head) < 8:
            return
        end = at + 8 + int.from_bytes(head[4:], "little")
        if end > size:
            raise damaged("WAV")
        yield head[:4], at + 8, end
        at = end + end % 2
    raise damaged("WAV")
