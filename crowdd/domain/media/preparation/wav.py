"""WAV: the form of the sound and the sound itself are kept; notes, places and whatever else stands in it are not."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from crowdd.domain.media.preparation.out_folder import OutFolder
from crowdd.domain.media.preparation.pieces import pieces_of, size_of
from crowdd.domain.media.preparation.refused import RefusedFile, damaged, foreign

_KNOWN_FORMS = frozenset({1, 3, 6, 7, 0xFFFE})  # PCM, floating point, A-law, µ-law, and the extended form
_MAX_CHUNKS = 1000


def prepare(source: Path, _format: str, out: OutFolder, _options: Mapping[str, object]) -> dict[str, Any]:
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
