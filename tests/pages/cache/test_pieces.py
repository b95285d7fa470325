"""A page that is drawn in pieces, while others have their turns in between."""

import pytest
from twisted.internet.defer import ensureDeferred
from twisted.internet.task import Clock

from crowdd.http.page_cache import PIECE_SECONDS, join_pieces


class Busy(Clock):
    """A clock on which each piece takes 0.4 of the time after which others come first."""

    def pieces(self, *words):
        for word in words:
            self.rightNow += 0.4 * PIECE_SECONDS
            if isinstance(word, Exception):
                raise word
            yield word


def test_others_come_about_every_millisecond_and_no_piece_is_lost():
    clock, order = Busy(), []
    words = list("abcdefgh")
    text = ensureDeferred(join_pieces(clock, (order.append(word) or word for word in clock.pieces(*words))))
    assert order == ["a", "b", "c"]
    while clock.getDelayedCalls():
        clock.callLater(0, order.append, "other")
        clock.advance(0)
    assert order == ["a", "b", "c", "d", "e", "f", "other", "g", "h"]
    assert text.result == "abcdefgh"


def test_a_short_text_is_made_at_once():
    clock = Clock()
    assert ensureDeferred(join_pieces(clock, iter(("a", "b")))).result == "ab"
    assert not clock.getDelayedCalls()


def test_two_texts_take_turns():
    clock, order = Busy(), []
    both = [
        ensureDeferred(join_pieces(clock, (order.append(word) or word for word in clock.pieces(*words))))
        for words in ("abcdef", "ABCDEF")
    ]
    while clock.getDelayedCalls():
        clock.advance(0)
    assert [text.result for text in both] == ["abcdef", "ABCDEF"]
    assert order[:6] == ["a", "b", "c", "A", "B", "C"]


def test_an_error_in_a_later_piece_reaches_who_waits():
    clock = Busy()
    text = ensureDeferred(join_pieces(clock, clock.pieces("a", "b", "c", "d", ValueError("broken"))))
    assert not text.called
    clock.advance(0)
    with pytest.raises(ValueError, match="broken"):
        raise text.result.value
    text.addErrback(lambda _: None)
