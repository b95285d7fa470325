"""From the bytes of a file to lines of text: detect the encoding, decode, and bound the length of a row.

Nothing raises here. A byte that the encoding does not know becomes UNDECODABLE, a line beyond MAX_ROW_BYTES becomes its
beginning and LONG_LINE. Both are lone surrogates, which no decoder produces, so that nothing in a file looks like them.
The limits of one row bound memory and how far damage can reach.

In UTF-16 a lost or added byte would change all characters behind it. In text that is partly ASCII, every other byte is
zero. Where the zeros change sides, one byte is left out and a lone surrogate stands in its place, which a decoder
reports like any byte that it does not know.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, BinaryIO

from crowdd.kernel.lazy import lazy

MAX_ROW_BYTES = 1_000_000  # in UTF-8
MAX_ROW_LINES = 1_000
MAX_ROWS = 2_000_000  # of a file: what has been seen of it takes 16 bytes a row
MAX_COLUMNS = 500
SHOWN_CHARACTERS = 200  # of a refused row

# A setting of the whole process: a cell may be as long as its row.
csv.field_size_limit(max(csv.field_size_limit(), MAX_ROW_BYTES))


def size_of(text: str) -> int:
    """How many bytes a text takes in UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


class Credit:
    """How many characters may be read more than once in search of the end of a damaged row.

    It grows with what has been read, so that the time for a file is proportional to its length, whatever is in it.
    """

    START = 8_000_000
    RATE = 8

    def __init__(self) -> None:
        self._left = self.START

    def earn(self, characters: int) -> None:
        """Count characters that were read for the first time."""
        self._left = min(self.START, self._left + self.RATE * characters)

    def spend(self, characters: int) -> None:
        """Count characters that have to be read again."""
        self._left -= characters

    @property
    def exhausted(self) -> bool:
        """Whether nothing may be read again for now."""
        return self._left <= 0


_WINDOW = 512  # bytes that are judged together
_MIN_WINDOW = 64
_MIN_KINDS = 6  # of letters


def realign_utf16(pieces: Iterable[bytes], big: bool) -> Iterator[bytes]:
    """The same bytes, in pairs again behind every byte that shifted them. ``big``: big-endian."""
    high = 0 if big else 1
    mark = b"\xdc\xff" if big else b"\xff\xdc"
    rest = b""
    for piece in pieces:
        data, begin = rest + piece, 0
        while (shift := _shift(data, begin, high)) is not None:
            yield data[begin : shift - 1] + mark
            begin = shift
        end = len(data) - (len(data) - begin) % 2
        yield data[begin:end]
        rest = data[end:]
    yield rest


def _shift(data: bytes, begin: int, high: int) -> int | None:
    """Where a pair begins that lies an odd number of bytes behind ``begin``; None where all is well."""
    for window in range(begin, len(data) - _MIN_WINDOW, _WINDOW):
        end = window + _WINDOW
        right, wrong = data[window + high : end : 2].count(0), data[window + 1 - high : end : 2].count(0)
        likely = wrong > 4 * right + _MIN_WINDOW // 8 and wrong * 8 > min(_WINDOW, len(data) - window) // 2
        if likely and _is_ascii_beside_zeros(data[window:end], high):
            return _border(data, max(begin, window - _WINDOW), min(end, len(data)), high)
    return None


def _is_ascii_beside_zeros(data: bytes, high: int) -> bool:
    """Whether bytes beside misplaced zeros are of many kinds, as letters are. Chinese has few."""
    if high:  # little-endian: the letter of a shifted pair stands before its zero, which is at an even place
        beside = {data[at - 1] for at in range(2, len(data), 2) if data[at] == 0}
    else:
        beside = {data[at + 1] for at in range(1, len(data) - 1, 2) if data[at] == 0}
    return len(beside) >= _MIN_KINDS


def _border(data: bytes, begin: int, end: int, high: int) -> int:
    """Where zeros change from the high half of pairs to the other one: the last of the likeliest places."""
    behind = data[begin + 1 - high : end : 2].count(0)
    best, place, before = -1, begin + 1, 0
    for at in range(begin, end):
        odd = (at - begin) % 2
        if odd and before + behind >= best:
            best, place = before + behind, at
        if data[at] == 0:
            before += odd == high
            behind -= odd != high
    return place


UNDECODABLE = "\udcff"
LONG_LINE = "\udcfe"
DECODING_PIECE = 131_072  # bytes that are read at once
_UTF8_BOM = codecs.BOM_UTF8
_ERRORS = "crowdd.undecodable"


def _mark(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return UNDECODABLE, error.end


codecs.register_error(_ERRORS, _mark)


def decode_pieces(file: BinaryIO, encoding: str) -> Iterator[str]:
    """The text of a file that is at its beginning, piece by piece, without a byte order mark."""
    pieces, codec = _pieces(file, encoding)
    decoder = codecs.getincrementaldecoder(codec)(_ERRORS)
    text = ""
    for piece in pieces:
        if text := text + decoder.decode(piece):
            yield text.removeprefix("\ufeff")
            text = ""
            break
    for piece in pieces:
        yield decoder.decode(piece)
    yield decoder.decode(b"", True)


def _pieces(file: BinaryIO, encoding: str) -> tuple[Iterator[bytes], str]:
    """The bytes of a file, and the codec that reads them."""
    head = file.read(3)
    if encoding.startswith("utf-16"):
        big = head[:2] == codecs.BOM_UTF16_BE or (head[:2] != codecs.BOM_UTF16_LE and encoding == "utf-16-be")
        file.seek(0)
        return realign_utf16(_read(file), big), "utf-16-be" if big else "utf-16-le"
    if head != _UTF8_BOM:
        file.seek(0)
    return _read(file), "utf-8" if encoding == "utf-8-sig" else encoding


def _read(file: BinaryIO) -> Iterator[bytes]:
    while piece := file.read(DECODING_PIECE):
        yield piece


def line_blocks(texts: Iterable[str]) -> Iterator[list[str]]:
    """The lines of a text, many at once, each with its end (LF, CRLF or CR)."""
    rest, passing = "", False
    for text in texts:
        text = rest + text
        if passing:
            text, passing = _behind_line(text)
        cut = _end_of_lines(text)
        rest = text[cut:]
        if cut:
            yield _lines(text[:cut])
        if len(rest) > MAX_ROW_BYTES:
            yield [_long_line(rest)]
            rest, passing = rest[-1:] if rest.endswith("\r") else "", True
    if rest and not passing:
        yield _lines(rest)


def _end_of_lines(text: str) -> int:
    """Where the last whole line ends. A CR at the very end may be half of a CRLF."""
    return max(text.rfind("\n"), text.rfind("\r", 0, len(text) - 1)) + 1


def _behind_line(text: str) -> tuple[str, bool]:
    """What follows the first line, and whether the line goes on behind this text."""
    ends = [at for at in (text.find("\n"), text.find("\r", 0, len(text) - 1)) if at >= 0]
    if not ends:
        return ("\r" if text.endswith("\r") else ""), True
    end = min(ends)
    return text[end + (2 if text.startswith("\r\n", end) else 1) :], False


def _lines(text: str) -> list[str]:
    lines = list(io.StringIO(text, newline=""))
    if len(text) * 4 <= MAX_ROW_BYTES:
        return lines
    return [
        _long_line(line) if len(line) * 4 > MAX_ROW_BYTES and size_of(line) > MAX_ROW_BYTES else line for line in lines
    ]


def _long_line(line: str) -> str:
    """What is kept of a line that is too long. It opens no quoted cell."""
    return line[:SHOWN_CHARACTERS].replace('"', " ").rstrip("\r\n") + LONG_LINE + "\n"


if TYPE_CHECKING:
    import charset_normalizer
else:
    charset_normalizer = lazy("charset_normalizer", seldom=True)

ENCODING_PIECE = 1_048_576
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
    head = file.read(ENCODING_PIECE)
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
    for piece in iter(lambda: file.read(ENCODING_PIECE), b""):
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
    for piece in iter(lambda: file.read(ENCODING_PIECE), b""):
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
