"""Compare transcriptions: lines of text, each with its place on the page or without one.

Lines of several people that stand at the same place are one line. Their texts are compared as single texts are (ROVER),
and the parts that people do not agree about are marked. Lines without places are compared as one text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cmp_to_key
from typing import Final

from crowdd.features.results import comparing
from crowdd.features.results.comparing import Answer, Compared, agreement, mean, short
from crowdd.features.results.comparing_texts import compare_texts, plain_text, text_distance, unsure_parts
from crowdd.features.results.geometry import Box
from crowdd.kernel.values import Values
from crowdd.kinds.answers import AnswerField
from crowdd.kinds.questions.options import is_number

_MIN_OVERLAP: Final = 0.5  # of the smaller one of two boxes
_SIDES: Final = ("x", "y", "width", "height")


def read_transcript(value: Sequence[Values]) -> str:
    """The text of an answer as it is compared, line by line."""
    return "\n".join(plain_text(line["text"]) for line in value)


def compare_transcripts(field: AnswerField, values: Sequence[Answer]) -> Compared:
    """What transcriptions say together. The only answer is its own consensus."""
    if len(values) < 2:
        return Compared(1, True, values[0], 1.0, 1.0) if values else Compared(0)
    placed = all(is_number(line.get(side)) for value in values for line in value for side in _SIDES)
    lines = _by_place(field, values) if placed else _by_order(field, values)
    texts = [read_transcript(value) for value in values]
    together = read_transcript(lines)
    return Compared(
        n=len(values),
        won=True,
        value=lines,
        agreement=agreement(texts, text_distance),
        confidence=1 - mean(text_distance(together, text) for text in texts),
    )


def _by_order(field: AnswerField, values: Sequence[Answer]) -> list[Values]:
    texts = ["\n".join(line["text"] for line in value) for value in values]
    lines = str(compare_texts(field, texts).value).split("\n")
    words = "\n".join(lines)
    unsure, begin, transcribed = unsure_parts(words, texts), 0, list[Values]()
    for line in lines:
        end = begin + len(line)
        parts = [[start - begin, stop - begin] for start, stop in unsure if begin <= start < end]
        if line:
            transcribed.append({"text": line, **({"unsure": parts} if parts else {})})
        begin = end + 1
    return transcribed


def _by_place(field: AnswerField, values: Sequence[Answer]) -> list[Values]:
    """The lines that at least half of the people have, and two, in the order in which they write them."""
    marks = [
        comparing.Mark(person, (*_box(line), float(nth)), line["text"])
        for person, value in enumerate(values)
        for nth, line in enumerate(value)
    ]
    near = comparing.find_near_marks(marks, lambda place: place[2], _overlap)
    texts = [read_transcript(value) for value in values]
    people = comparing.nearest_first(values, comparing.pair_distances(texts, text_distance))
    lines = list[tuple[Mapping[int, float], float, Values]]()
    for members in comparing.find_members(marks, near, people):
        left, top, right, bottom, _ = comparing.middle([mark.place for mark in members])
        versions = [mark.label for mark in members]
        text = str(compare_texts(field, versions).value)
        unsure = unsure_parts(text, versions)
        box = {"x": short(left), "y": short(top), "width": short(right - left), "height": short(bottom - top)}
        numbers = {mark.person: mark.place[4] for mark in members}
        lines.append((numbers, top, {"text": text, **box, **({"unsure": unsure} if unsure else {})}))
    return [line for _, _, line in sorted(lines, key=cmp_to_key(_order))]


def _order(one: tuple[Mapping[int, float], float, Values], other: tuple[Mapping[int, float], float, Values]) -> int:
    """Below 0 if a line comes before another one: most of those who have both write it first, or it is the upper one.

    Each line has its number in the answers of people, and its upper side.
    """
    (numbers, top, _), (others, beside, _) = one, other
    later = sum((nth > others[who]) - (nth < others[who]) for who, nth in numbers.items() if who in others)
    return later or (top > beside) - (top < beside)


Place = tuple[float, float, float, float, float]
"""The sides of a line, and its number among the lines of its answer."""


def _box(line: Values) -> Box:
    x, y, width, height = (float(line[side]) for side in _SIDES)
    return x, y, x + width, y + height


def _overlap(one: Place, other: Place) -> float:
    """The part of the smaller box that lies in the other one, if that is half of it at least."""
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    smaller = min((box[2] - box[0]) * (box[3] - box[1]) for box in (one, other))
    if one[:4] == other[:4]:
        return 1.0
    share = width * height / smaller if width > 0 and height > 0 and smaller > 0 else 0.0
    return min(share, 1.0) if share >= _MIN_OVERLAP else 0.0
