"""What a file is, by how it begins; never by its name."""

from __future__ import annotations

from pathlib import Path

from crowdd.features.media.prepared import RefusedFile

BEGINNING = 4096  # bytes that are looked at
_SIGNATURES = (
    (0, b"\x89PNG\r\n\x1a\n", "PNG"),
    (0, b"\xff\xd8\xff", "JPEG"),
    (0, b"GIF87a", "GIF"),
    (0, b"GIF89a", "GIF"),
    (0, b"II*\0", "TIFF"),
    (0, b"MM\0*", "TIFF"),
    (0, b"%PDF-", "PDF"),
    (0, b"OggS", "Ogg"),
    (0, b"fLaC", "FLAC"),
    (0, b"\x1aE\xdf\xa3", "WebM"),
    (0, b"PK\x03\x04", "ZIP"),
    (0, b"PK\x05\x06", "ZIP"),
    (0, b"ID3", "MP3"),
)
_HEIC = frozenset({b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1"})
_AVIF = frozenset({b"avif", b"avis"})


def format_of(source: Path) -> str:
    """The format of a file. Raises RefusedFile for what is none of those that are prepared."""
    with source.open("rb") as file:
        beginning = file.read(BEGINNING)
    if not beginning:
        raise RefusedFile("empty")
    for offset, signature, format_ in _SIGNATURES:
        if beginning[offset : offset + len(signature)] == signature:
            return format_
    if beginning[:4] == b"RIFF" and beginning[8:12] in (b"WEBP", b"WAVE"):
        return "WebP" if beginning[8:12] == b"WEBP" else "WAV"
    if beginning[4:8] == b"ftyp":
        return _of_brand(beginning[8:12])
    if beginning[0] == 0xFF and beginning[1:2] > b"\xdf" and beginning[:2] != b"\xff\xfe":  # not a text in UTF-16
        return "MP3"
    raise RefusedFile(_text(beginning))


def _of_brand(brand: bytes) -> str:
    if brand in _HEIC:
        return "HEIC"
    if brand in _AVIF:
        return "AVIF"
    if brand == b"qt  ":
        raise RefusedFile("quicktime")
    return "MP4"


def _text(beginning: bytes) -> str:
    text = beginning.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if text.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = text.replace(b"\0", b"")[2:].lstrip()
    if not text.startswith(b"<"):
        return "table" if _is_table(text) else "unknown"
    return "svg" if b"<svg" in text else "web_page"


def _is_table(text: bytes) -> bool:
    """Whether the first two lines have as many columns."""
    first, second, *_ = [*text.splitlines(), b"", b""]
    return b"\0" not in text and any(0 < first.count(by) == second.count(by) for by in (b",", b";", b"\t"))
