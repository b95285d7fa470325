"""Words with one slip of the keys: what was meant."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

MIN_SWAPPED: Final = 4  # characters of a word that is looked for with letters in another order
MIN_LENGTH: Final = 5  # and of one with a letter missing, too many or wrong; shorter ones come close to too many words
MAX_LENGTH: Final = 20


def slips(word: str) -> str:
    """What a word with one slip may mean: alternatives of a regular expression, for PostgreSQL and Python alike.

    Two neighbouring letters in the other order, a letter missing (not the first), one too many, or another one. "" for
    a very short or long word, and one that is not letters and digits alone.
    """
    if not MIN_SWAPPED <= len(word) <= MAX_LENGTH or not word.isalnum():
        return ""
    return "|".join(other for other in dict.fromkeys(_alternatives(word)) if other != word)


def _alternatives(word: str) -> Iterator[str]:
    for at in range(len(word) - 1):
        yield word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    if len(word) < MIN_LENGTH:
        return
    for at in range(len(word)):
        yield rf"{word[:at]}\w{word[at + 1 :]}"
        yield word[:at] + word[at + 1 :]
        if at:
            yield rf"{word[:at]}\w{word[at:]}"
