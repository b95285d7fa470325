"""Texts: what most people write, otherwise what their texts say together word by word."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from statistics import median
from typing import Final

from rapidfuzz.distance import Levenshtein

from crowdd.domain.tasks.outcomes.comparison.compared import MAX_PAIRED, Answer, Compared, agreement, mean
from crowdd.domain.tasks.outcomes.comparison.rover import rover
from crowdd.kinds.answers import AnswerField

_MAX_LENGTH: Final = 20_000  # characters of which the distance is taken
_MAX_WORDS: Final = 4_000
_MIN_TEXTS, _MIN_WORDS = 3, 3
_WORD: Final = re.compile(r"\n|[^\s]+")


def plain(text: str) -> str:
    """A text as it is compared: without differences of case, of spaces and of the form of characters (NFKC)."""
    return " ".join(unicodedata.normalize("NFKC", text).lower().split())


def distance(one: str, other: str) -> float:
    """The edit distance of plain texts as a share of the longer one."""
    return float(Levenshtein.normalized_distance(one[:_MAX_LENGTH], other[:_MAX_LENGTH]))


def compare(field: AnswerField, values: Sequence[Answer]) -> Compared:
    """What texts say together."""
    if not values:
        return Compared(0)
    texts = [plain(value) for value in values]
    value = _majority_text(values, texts) or _together(values, texts)
    consensus_text = plain(value)
    return Compared(
        n=len(values),
        won=True,
        value=value,
        agreement=agreement(texts, distance),
        confidence=1 - mean(distance(consensus_text, text) for text in texts),
    )


def _majority_text(values: Sequence[str], texts: Sequence[str]) -> str | None:
    """The text of more than half, as most of them write it."""
    ((text, n),) = Counter(texts).most_common(1)
    if 2 * n <= len(texts):
        return None
    return Counter(value for value, each in zip(values, texts, strict=True) if each == text).most_common(1)[0][0]


def _together(values: Sequence[str], texts: Sequence[str]) -> str:
    words = [_WORD.findall(value) for value in values]
    lengths = list(map(len, words))
    if len(values) < _MIN_TEXTS or median(lengths) < _MIN_WORDS or max(lengths) > _MAX_WORDS:
        return values[_nearest(texts)]
    return re.sub(r" ?\n ?", "\n", " ".join(rover(words, plain_word)))


def plain_word(word: str) -> str:
    """A word as it is compared; the end of a line is a word, too."""
    return word if word == "\n" else plain(word)


def _nearest(texts: Sequence[str]) -> int:
    """The text that is nearest to all others (Braylan and Lease 2020); of several the one that was given first."""
    compared = texts[:MAX_PAIRED]
    return min(range(len(compared)), key=lambda nth: sum(distance(compared[nth], other) for other in compared))
