"""A text that differs by a word for each reader, and is compressed once for all of them.

What gzip writes (RFC 1952) is a sequence of blocks (RFC 1951), a checksum and a length. The blocks between the words
are kept. A word goes in as a block that is not compressed, so the length of the whole tells nothing about it.
"""

from __future__ import annotations

import struct
import zlib
from typing import Final, Self

import attrs

_HEAD: Final = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"  # no name, no time, no system
_END: Final = b"\x01\x00\x00\xff\xff"  # the last block: stored, and empty
_LEVEL: Final = 6  # it is compressed once in a while and sent often


@attrs.frozen
class MarkedText:
    """``texts`` stand before, between and behind the words, ``blocks`` are the same compressed."""

    texts: tuple[bytes, ...] = attrs.field(repr=False)
    blocks: tuple[bytes, ...] = attrs.field(repr=False)

    @classmethod
    def of(cls, text: bytes, mark: bytes) -> Self:
        """A text in which the mark stands wherever each reader has a word of their own."""
        compressor = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
        texts = tuple(text.split(mark))
        # After a full flush nothing refers to what stands before it, and the next block begins at a byte.
        blocks = (compressor.compress(part) + compressor.flush(zlib.Z_FULL_FLUSH) for part in texts)
        return cls(texts, tuple(blocks))

    @property
    def size(self) -> int:
        """The bytes that are kept."""
        return sum(map(len, (*self.texts, *self.blocks)))

    def plain(self, word: bytes) -> bytes:
        """The text with a word."""
        return word.join(self.texts)

    def packed(self, word: bytes) -> bytes:
        """The same in gzip's form. A word has at most 65,535 bytes."""
        text = self.plain(word)
        length = len(word)
        stored = struct.pack("<BHH", 0, length, length ^ 0xFFFF) + word
        return _HEAD + stored.join(self.blocks) + _END + struct.pack("<II", zlib.crc32(text), len(text) & 0xFFFFFFFF)
