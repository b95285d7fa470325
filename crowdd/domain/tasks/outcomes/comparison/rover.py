"""ROVER (Fiscus 1997): aligns texts word by word, and takes at each place the word that most of them have."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

_MATCH, _DELETE, _INSERT = range(3)
_FIRST_BAND: Final = 32
Place = Counter[str]
"""How many texts have which word at a place; "" for those that have none there."""


def rover(texts: Sequence[Sequence[str]], key: Callable[[str], str] = str) -> list[str]:
    """The words of one text that texts make together.

    Words with the same key are the same. They are written as most texts write them.

    Of words that are equally frequent the longer one is taken, then the later one in the alphabet, as in crowd-kit.
    """
    written: dict[str, Counter[str]] = {}
    for word in (word for text in texts for word in text):
        written.setdefault(key(word), Counter())[word] += 1
    keys = [[key(word) for word in text] for text in texts]
    places = [Counter({word: 1}) for word in keys[0]]
    for n, text in enumerate(keys[1:], 1):
        places = _aligned(places, text, n)
    chosen = (max((n, len(word), word) for word, n in place.items())[2] for place in places)
    return [max(written[word].items(), key=lambda each: (each[1], each[0]))[0] for word in chosen if word]


def _aligned(places: list[Place], words: Sequence[str], n: int) -> list[Place]:
    """The places with one more text, after ``n`` others. Costs words times the texts' difference."""
    free = sum("" in place for place in places)
    band = max(_FIRST_BAND, abs(len(places) - len(words)))
    while True:
        cost, steps = _steps(places, words, band)
        # No better way leaves the band: each step aside costs 1, but where a text had no word already.
        if cost + free <= band or band >= max(len(places), len(words)):
            return _joined(places, words, steps, band, n)
        band *= 2


def _steps(places: Sequence[Place], words: Sequence[str], band: int) -> tuple[float, list[bytearray]]:
    """The least cost, and the step into each pair of a word and a place that are at most ``band`` apart."""
    m = len(places)
    above: list[float] = [float(j) for j in range(min(m, band) + 1)]
    steps = [bytearray([_DELETE]) * len(above)]
    first = 0  # the place that ``above`` begins with
    for i, word in enumerate(words, 1):
        low, high = max(0, i - band), min(m, i + band)
        row: list[float] = []
        taken = bytearray()
        for j in range(low, high + 1):
            match = above[j - 1 - first] if j > first else math.inf
            insert = above[j - first] + 1 if j - first < len(above) else math.inf
            step, best = _INSERT, insert
            if j:
                place = places[j - 1]
                match += word not in place
                delete = row[-1] + ("" not in place) if row else math.inf
                if match <= delete and match <= insert:
                    step, best = _MATCH, match
                elif delete <= insert:
                    step, best = _DELETE, delete
            row.append(best)
            taken.append(step)
        steps.append(taken)
        above, first = row, low
    return above[m - first], steps


def _joined(
    places: Sequence[Place], words: Sequence[str], steps: Sequence[bytearray], band: int, n: int
) -> list[Place]:
    i, j, joined_places = len(words), len(places), []
    while i or j:
        step = steps[i][j - max(0, i - band)]
        place = Counter({"": n}) if step == _INSERT else places[j - 1]
        place["" if step == _DELETE else words[i - 1]] += 1
        joined_places.append(place)
        i, j = i - (step != _DELETE), j - (step != _INSERT)
    return joined_places[::-1]
