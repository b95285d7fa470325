"""From the bytes of a file to text, and to lines of text.

Nothing raises here. A byte that the encoding does not know becomes UNDECODABLE, a line beyond MAX_ROW_BYTES becomes its
beginning and LONG_LINE. Both are lone surrogates, which no decoder produces, so that nothing in a file looks like them.
"""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from crowdd.domain.transfer.task_files.limits import MAX_ROW_BYTES, SHOWN_CHARACTERS, size_of
from crowdd.domain.transfer.task_files.utf16 import realigned

UNDECODABLE = "\udcff"
LONG_LINE = "\udcfe"
PIECE = 131_072  # bytes that are read at once
_UTF8_BOM = codecs.BOM_UTF8
_ERRORS = "crowdd.undecodable"


def _mark(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return UNDECODABLE, error.end


codecs.register_error(_ERRORS, _mark)


def decoded(file: BinaryIO, encoding: str) -> Iterator[str]:
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
        return realigned(_read(file), big), "utf-16-be" if big else "utf-16-le"
    if head != _UTF8_BOM:
        file.seek(0)
    return _read(file), "utf-8" if encoding == "utf-8-sig" else encoding


def _read(file: BinaryIO) -> Iterator[bytes]:
    while piece := file.read(PIECE):
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
