"""A page with a word of each reader is compressed once, and arrives as if it had been compressed for them."""

from __future__ import annotations

import gzip
import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdd.http.edge.marked_text import MarkedText

MARK = b"\x00mark\x00"
WORDS = st.binary(min_size=0, max_size=100).filter(lambda word: MARK not in word)


@given(parts=st.lists(WORDS, min_size=1, max_size=5), word=WORDS)
def test_a_word_stands_at_each_mark_in_both_forms(parts, word):
    text = MarkedText.of(MARK.join(parts), MARK)
    assert text.plain(word) == word.join(MARK.join(parts).split(MARK))
    assert gzip.decompress(text.packed(word)) == text.plain(word)


@pytest.mark.parametrize("length", [0, 1, 53, 65_535])
def test_it_is_one_member_with_nothing_behind_it(length):
    text = MarkedText.of(b"<p>" * 5_000 + MARK + b"</p>" * 5_000, MARK)
    reading = zlib.decompressobj(16 + zlib.MAX_WBITS)  # as a browser does: it stops at the end of the first member
    assert reading.decompress(text.packed(b"x" * length)) == text.plain(b"x" * length)
    assert reading.eof and reading.unused_data == b""


def test_a_word_longer_than_a_block_is_refused():
    with pytest.raises(struct.error):
        MarkedText.of(MARK, MARK).packed(b"x" * 65_536)


def test_the_length_tells_nothing_of_a_word_that_the_page_repeats():
    text = MarkedText.of(b"token of somebody " * 100 + MARK + b" token of somebody" * 100, MARK)
    assert len(text.packed(b"token of somebody")) == len(text.packed(b"qz8#kd0-Lw}x5Tg2w"))


def test_what_all_get_is_compressed_well():
    page = b"".join(b'<li class="task" id="t%d">Task %d</li>' % (n, n) for n in range(1_000))
    text = MarkedText.of(page + MARK + page, MARK)
    assert len(text.packed(b"x")) < 1.1 * 2 * len(gzip.compress(page))
    assert text.size < len(page) * 3
