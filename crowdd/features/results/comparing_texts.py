"""Compare texts, and marked parts of texts.

A text is what most people write. Without a majority ROVER (Fiscus 1997) aligns the texts word by word, and takes at
each place the word that most of them have. Marked are the characters that at least half of the people mark with the
same label.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import Final

from rapidfuzz.distance import Levenshtein

from crowdd.features.results import comparing
from crowdd.features.results.comparing import MAX_PAIRED, Answer, Compared, agreement, mean, short
from crowdd.features.results.geometry import Span, joined, span_f1, span_iou
from crowdd.kernel.values import Values
from crowdd.kinds.answers import AnswerField
from crowdd.kinds.answers.fields import folded

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


def read_spans(value: Sequence[Values]) -> list[Span]:
    """The parts of an answer, joined. One that ends before it begins is the same as the other way round."""
    spans = ((float(one["start"]), float(one["end"]), comparing.label_of_mark(one)) for one in value)
    return joined((min(start, end), max(start, end), label) for start, end, label in spans)


def span_distance(one: Sequence[Span], other: Sequence[Span]) -> float:
    """1 - F1 in characters."""
    return 1 - span_f1(one, other)


def compare_spans(field: AnswerField, values: Sequence[Answer]) -> Compared:
    """What marked parts say together."""
    answers = [read_spans(value) for value in values]
    if not answers:
        return Compared(0)
    spans = joined(_shared(answers))
    return Compared(
        n=len(answers),
        won=True,
        value=[comparing.label_mark({"start": short(start), "end": short(end)}, label) for start, end, label in spans],
        agreement=agreement(answers, span_distance),
        confidence=mean(span_iou(answer, spans) for answer in answers),
    )


def _shared(answers: Sequence[list[Span]]) -> Iterator[Span]:
    """What at least half of the answers have, and two if there are so many, in pieces."""
    needed = min(len(answers), max(2, -(-len(answers) // 2)))
    edges = [
        (label, at, step) for answer in answers for start, end, label in answer for at, step in ((start, 1), (end, -1))
    ]
    edges.sort()
    n, before = 0, ("", 0.0)
    for label, at, step in edges:
        if n >= needed and before[0] == label:
            yield before[1], at, label
        n, before = n + step, (label, at)


_MAX_LENGTH: Final = 20_000  # characters of which the distance is taken
_MAX_WORDS: Final = 4_000
_MIN_TEXTS, _MIN_WORDS = 3, 3
_WORD: Final = re.compile(r"\n|[^\s]+")


def plain_text(text: str) -> str:
    """A text as it is compared: without differences of case, of spaces and of the form of characters (NFKC)."""
    return folded(" ".join(unicodedata.normalize("NFKC", text).split()))


def text_distance(one: str, other: str) -> float:
    """The edit distance of plain texts as a share of the longer one."""
    return float(Levenshtein.normalized_distance(one[:_MAX_LENGTH], other[:_MAX_LENGTH]))


def compare_texts(field: AnswerField, values: Sequence[Answer]) -> Compared:
    """What texts say together."""
    if not values:
        return Compared(0)
    texts = [plain_text(value) for value in values]
    value = _majority_text(values, texts) or _together(values, texts)
    consensus_text = plain_text(value)
    return Compared(
        n=len(values),
        won=True,
        value=value,
        agreement=agreement(texts, text_distance),
        confidence=1 - mean(text_distance(consensus_text, text) for text in texts),
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
    return word if word == "\n" else plain_text(word)


def _nearest(texts: Sequence[str]) -> int:
    """The text that is nearest to all others (Braylan and Lease 2020); of several the one that was given first."""
    compared = texts[:MAX_PAIRED]
    return min(range(len(compared)), key=lambda nth: sum(text_distance(compared[nth], other) for other in compared))


_SURE: Final = 2 / 3


def unsure_parts(text: str, texts: Sequence[str]) -> list[list[int]]:
    """Where words of a text begin and end that no more than two thirds of these texts have at the same place."""
    matches = [*_WORD.finditer(text)]
    words = [plain_word(each.group()) for each in matches]
    have = [0] * len(words)
    for other in texts:
        others = [plain_word(word) for word in _WORD.findall(other)]
        for step in Levenshtein.opcodes(words, others):
            if step.tag == "equal":
                for nth in range(step.src_start, step.src_end):
                    have[nth] += 1
    return [
        [each.start(), each.end()]
        for each, n in zip(matches, have, strict=True)
        if len(texts) > 1 and n <= _SURE * len(texts) and each.group() != "\n"
    ]
