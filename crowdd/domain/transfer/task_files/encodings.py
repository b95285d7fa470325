"""In which encoding a file is."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO

from crowdd.lazy import lazy

if TYPE_CHECKING:
    import charset_normalizer
else:
    charset_normalizer = lazy("charset_normalizer", seldom=True)

PIECE = 1_048_576
_SAMPLE = 16_384  # bytes that charset-normalizer is shown
_NON_ASCII = re.compile(rb"[\x80-\xff]")
_AROUND = 400  # bytes of a line on each side of a byte beyond ASCII
_C1 = bytes(range(0x80, 0xA0))
_UNDEFINED = b"\x81\x8d\x8f\x90\x9d"  # in Windows-1252
# West European text is Windows-1252. Text in another script has its letters side by side beyond ASCII, and only there
# charset-normalizer is asked: it cannot tell the code pages of Latin scripts apart by a few accents.
_OTHER_SCRIPTS = ("cp1251", "cp1253", "cp1255", "cp1256", "cp932", "gb18030", "big5", "cp949")
_SIDE_BY_SIDE = re.compile(rb"[\x80-\xff]{3,}")
_MIN_WORDS = 3
_MANY = 1_000  # bytes that are no UTF-8, after which a file with less of it is something else


def detect_encoding(file: BinaryIO) -> str:
    """The encoding of a text file, one of ENCODINGS. Reads it to its end."""
    file.seek(0)
    head = file.read(PIECE)
    if head.startswith(codecs.BOM_UTF8):
        return "utf-8-sig"
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if halves := _utf16_without_mark(head):
        return halves
    file.seek(0)
    return "utf-8" if _is_utf8(file) else _eight_bits(file)


def _utf16_without_mark(head: bytes) -> str:
    """UTF-16 without a byte order mark: zeros in one half of the pairs only, and beside line feeds."""
    sample = head[:65_536]
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    enough, feeds = len(sample) // (100 if b"\n" in sample else 5), sample.count(b"\n")
    if odd > enough and even * 10 < odd and sample.count(b"\n\0") * 2 >= feeds:
        return "utf-16-le"
    return "utf-16-be" if even > enough and odd * 10 < even and sample.count(b"\0\n") * 2 >= feeds else ""


def _is_utf8(file: BinaryIO) -> bool:
    """Whether a file is UTF-8 to its end, or as good as: more characters of several bytes than bytes that are none."""
    good = bad = 0
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    for piece in iter(lambda: file.read(PIECE), b""):
        text = decoder.decode(piece)
        wrong = text.count("\N{REPLACEMENT CHARACTER}") - piece.count(b"\xef\xbf\xbd")
        bad += max(0, wrong)
        good += len(piece) - len(text) if not text.isascii() else 0
        if bad > _MANY and bad > good:
            return False
    return bad == 0 or good > bad


def _eight_bits(file: BinaryIO) -> str:
    sample, undefined, defined = b"", 0, 0
    file.seek(0)
    for piece in iter(lambda: file.read(PIECE), b""):
        if len(sample) < _SAMPLE:
            sample += b"\n".join(_lines_of(piece))
        high = len(piece) - len(piece.translate(None, _C1))
        strange = len(piece) - len(piece.translate(None, _UNDEFINED))
        undefined, defined = undefined + strange, defined + high - strange
    return _other_script(sample[:_SAMPLE]) or ("latin-1" if undefined > defined else "cp1252")


def _lines_of(piece: bytes) -> Iterator[bytes]:
    """What lies around bytes beyond ASCII, up to the size of the sample."""
    size = at = 0
    while size <= _SAMPLE and (match := _NON_ASCII.search(piece, at)):
        here = match.start()
        begin = max(at, here - _AROUND, piece.rfind(b"\n", max(at, here - _AROUND), here) + 1)
        feed = piece.find(b"\n", here, here + _AROUND)
        at = feed if feed > 0 else here + _AROUND
        size += at - begin
        yield piece[begin:at]


def _other_script(sample: bytes) -> str:
    """The encoding of text that is not in Latin letters; "" for other text."""
    high = len(sample) - len(sample.translate(None, bytes(range(0x80, 0x100))))
    words = _SIDE_BY_SIDE.findall(sample)
    if len(words) < _MIN_WORDS or sum(map(len, words)) * 3 < high:
        return ""
    best = charset_normalizer.from_bytes(sample, cp_isolation=[*_OTHER_SCRIPTS]).best()
    return best.encoding if best and best.encoding in _OTHER_SCRIPTS else ""
