"""Words with one slip of the keys."""

from __future__ import annotations

import re

from crowdd.core.text.words import slip_pattern


def means(word: str, meant: str) -> bool:
    return re.fullmatch(slip_pattern(word), meant) is not None


def test_one_slip_of_each_kind_is_forgiven() -> None:
    for slip in ("idgits", "digts", "diggits", "digots", "fdigits", "figits"):
        assert means(slip, "digits"), slip
    assert means("dose", "does")


def test_two_slips_and_slips_in_very_short_or_long_words_are_not() -> None:
    assert not means("dgts", "digits") and not means("dgitsi", "digits") and not means("mouth", "moths")
    assert not means("noth", "moth") and not means("moh", "moth")
    assert (
        slip_pattern("eel")
        == slip_pattern("aaaa")
        == slip_pattern("a" * 21)
        == slip_pattern("(igits")
        == slip_pattern("")
        == ""
    )
