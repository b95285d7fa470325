"""MP3: its frames are kept; tags with texts, pictures and addresses are not."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from crowdd.domain.media.preparation.out_folder import OutFolder
from crowdd.domain.media.preparation.refused import damaged, foreign

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


def prepare(source: Path, _format: str, out: OutFolder, _options: Mapping[str, object]) -> dict[str, Any]:
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
