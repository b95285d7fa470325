"""Pictures, sound, video and documents for tests, each made of nothing."""

from __future__ import annotations

import io
import struct
import wave
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from PIL import Image

_BLOCK = 1 << 20
BERLIN = {1: "N", 2: (52.0, 31.0, 12.0), 3: "E", 4: (13.0, 24.0, 18.0)}


def drawn(width: int = 300, height: int = 200, mode: str = "RGB") -> Image.Image:
    """A picture whose left third is dark and whose right third is light, in all modes."""
    grey = Image.linear_gradient("L").rotate(90).resize((width, height))
    return grey.convert(mode)


def picture(form: str = "JPEG", size: tuple[int, int] = (300, 200), mode: str = "RGB", **saving: Any) -> bytes:
    """The file of a picture."""
    out = io.BytesIO()
    drawn(*size, mode).save(out, form, **saving)
    return out.getvalue()


def blank_png(width: int, height: int, *, rgba: bool = False) -> bytes:
    """A black picture of one bit per pixel, or a transparent one of 32, of any size: no pixel is drawn or compressed."""
    rows = height * (1 + (width * (32 if rgba else 1) + 7) // 8)
    head = struct.pack(">IIBBBBB", width, height, *((8, 6) if rgba else (1, 0)), 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", head) + _chunk(b"IDAT", _compressed_zeros(rows)) + _chunk(b"IEND", b"")
    )


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def _compressed_zeros(size: int) -> bytes:
    """What zlib makes of so many zeros, from one block that is repeated, with their Adler-32."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    block = packer.compress(bytes(_BLOCK)) + packer.flush(zlib.Z_FULL_FLUSH)
    end = packer.compress(bytes(size % _BLOCK)) + packer.flush()
    return b"\x78\x9c" + block * (size // _BLOCK) + end + struct.pack(">HH", size % 65_521, 1)


def exif(orientation: int = 1, gps: Mapping[int, Any] | None = None, text: str = "") -> bytes:
    """EXIF with an orientation, a place and a description."""
    made = Image.Exif()
    made[0x0112] = orientation
    if gps:
        made[0x8825] = dict(gps)
    if text:
        made[0x010E] = text
    return made.tobytes()


def wav(seconds: float = 1.0, more: bytes = b"") -> bytes:
    """Silence; ``more`` are further chunks."""
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(b"\0\0" * int(8000 * seconds))
    content = out.getvalue() + more
    return content[:4] + struct.pack("<I", len(content) - 8) + content[8:]


def mp3(frames: int = 50) -> bytes:
    """Frames of 128 kbit/s and 44.1 kHz: 417 bytes and 26 ms each."""
    return (b"\xff\xfb\x90\x00" + b"\0" * 413) * frames


def id3(body: bytes) -> bytes:
    """A tag before the frames."""
    size = len(body)
    return b"ID3\3\0\0" + bytes([size >> 21 & 127, size >> 14 & 127, size >> 7 & 127, size & 127]) + body


def flac(comment: bytes = b"somewhere") -> bytes:
    """A stream of one second, with a text, and what begins like a frame."""
    stream = struct.pack(">HH", 4096, 4096) + b"\0" * 6 + (8000 << 44 | 15 << 36 | 8000).to_bytes(8, "big") + b"\0" * 16
    blocks = b"\0" + len(stream).to_bytes(3, "big") + stream + b"\x84" + len(comment).to_bytes(3, "big") + comment
    return b"fLaC" + blocks + b"\xff\xf8\x69\x08" + bytes(range(200)) * 20


def ogg_page(body: bytes, *, position: int = 0, kind: int = 0, serial: int = 1) -> bytes:
    """A page."""
    table = bytes([255] * (len(body) // 255) + [len(body) % 255])
    return b"OggS\0" + struct.pack("<BQIIIB", kind, position, serial, 0, 0, len(table)) + table + body


def ogg(codec: bytes = b"\x01vorbis" + b"\0" * 4 + b"\1" + struct.pack("<I", 8000) + b"\0" * 14) -> bytes:
    """Two seconds at 8 kHz."""
    return ogg_page(codec, kind=2) + ogg_page(b"texts") + ogg_page(bytes(500), position=16_000, kind=4)


def box(name: bytes, *bodies: bytes) -> bytes:
    """A box of an MP4."""
    body = b"".join(bodies)
    return struct.pack(">I", 8 + len(body)) + name + body


def mp4(*more: bytes, handler: bytes = b"vide", texts: bytes = b"+52.5+013.4/", brand: bytes = b"isom") -> bytes:
    """Two seconds of 640 by 480 points, with a text about the place; ``more`` comes behind it."""
    head = box(b"mvhd", struct.pack(">IIIII", 0, 0, 0, 1000, 2000), bytes(80))
    track = box(b"tkhd", bytes(76), struct.pack(">II", 640 << 16, 480 << 16))
    media = box(b"mdia", box(b"hdlr", bytes(8), handler, bytes(13)))
    moov = box(b"moov", head, box(b"trak", track, media), box(b"udta", box(b"\xa9xyz", texts)))
    return box(b"ftyp", brand, bytes(4)) + moov + box(b"mdat", bytes(range(256)) * 8) + b"".join(more)


def element(id_: int, *bodies: bytes, unknown: bool = False) -> bytes:
    """An element of a WebM."""
    body = b"".join(bodies)
    name = id_.to_bytes((id_.bit_length() + 7) // 8, "big")
    return name + (b"\x01" + b"\xff" * 7 if unknown else (1 << 56 | len(body)).to_bytes(8, "big")) + body


def webm(*more: bytes, kind: bytes = b"webm", track: int = 1, live: bool = False) -> bytes:
    """Three seconds of 320 by 240 points, with tags; ``live``: no element says its length."""
    info = element(
        0x1549A966, element(0x2AD7B1, (1_000_000).to_bytes(3, "big")), element(0x4489, struct.pack(">d", 3000))
    )
    size = element(0xE0, element(0xB0, b"\x01\x40"), element(0xBA, b"\xf0"))
    tracks = element(0x1654AE6B, element(0xAE, element(0x83, bytes([track])), size))
    tags = element(0x1254C367, b"tags: where it was made")
    cluster = element(0x1F43B675, element(0xE7, b"\0"), element(0xA3, bytes(300)), unknown=live)
    segment = element(0x18538067, info, tracks, tags, cluster, *more, unknown=live)
    return element(0x1A45DFA3, element(0x4282, kind)) + segment


def pdf(pages: Sequence[tuple[int, int]] = ((300, 200),), more: bytes = b"") -> bytes:
    """A document whose pages have these sizes in points, each with a black box; ``more`` is in its catalogue."""
    objects = [b"<</Type/Catalog/Pages 2 0 R" + more + b">>"]
    kids = b" ".join(b"%d 0 R" % (3 + 2 * at) for at in range(len(pages)))
    objects.append(b"<</Type/Pages/Count %d/Kids[%s]>>" % (len(pages), kids))
    for at, (width, height) in enumerate(pages):
        drawing = b"0 0 %d %d re f" % (width // 2, height // 2)
        where = (width, height, 4 + 2 * at)
        objects.append(b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 %d %d]/Contents %d 0 R>>" % where)
        objects.append(b"<</Length %d>>stream\n%s\nendstream" % (len(drawing), drawing))
    out = b"%PDF-1.4\n"
    for number, content in enumerate(objects, 1):
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    return out + b"trailer\n<</Root 1 0 R/Size %d>>\n%%%%EOF\n" % (len(objects) + 1)


def zipped(files: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A ZIP archive."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()
