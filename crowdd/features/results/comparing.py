"""What comparing answers needs for all types: sets of choices, clusters of marks, outlines of areas, and the outcome.

Marks of several people that mean the same are found by DBSCAN (Ester et al. 1996), in which each person counts once.
The outline is that of the largest connected part of a drawn area.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from statistics import median
from typing import TYPE_CHECKING, Any, Final, Generic, TypeAlias, TypeVar

import attrs

from crowdd.kernel.values import Values
from crowdd.kinds.answers.fields import key

if TYPE_CHECKING:
    from PIL import Image

T = TypeVar("T")
P = TypeVar("P", bound=tuple[float, ...])


Pixel = tuple[int, int]
_TOLERANCE: Final = 1.0  # pixels that the outline may be beside the edge
# The neighbours of a pixel, clockwise from the one on its left.
_AROUND: Final = ((-1, 0), (-1, -1), (0, -1), (1, -1), (1, 0), (1, 1), (0, 1), (-1, 1))


def outline(image: Image.Image) -> list[Pixel]:
    """The corners of the largest part whose pixels are not 0; holes in it are left out. The image has such pixels."""
    edge = _traced(_largest(image))
    if len(edge) < 3:
        return _square(edge)
    far = max(range(len(edge)), key=lambda nth: math.dist(edge[0], edge[nth]))
    corners = [*_simplified(edge[: far + 1])[:-1], *_simplified([*edge[far:], edge[0]])[:-1]]
    return corners if len(corners) > 2 else _square(corners)


def _square(pixels: Sequence[Pixel]) -> list[Pixel]:
    """Around an area that is no wider than a pixel: an area has three corners at least."""
    (left, top), (right, bottom) = (tuple(edge(axis) for axis in zip(*pixels, strict=True)) for edge in (min, max))
    return [(left, top), (right + 1, top), (right + 1, bottom + 1), (left, bottom + 1)]


def _largest(image: Image.Image) -> set[Pixel]:
    """The pixels of the largest connected part, found by runs of pixels in rows."""
    width, height = image.size
    data, above, parts = image.tobytes(), list[tuple[int, int, int]](), list[list[tuple[int, int, int]]]()
    place: list[int] = []

    def root(nth: int) -> int:
        while place[nth] != nth:
            place[nth] = nth = place[place[nth]]
        return nth

    for row in range(height):
        here = []
        for start, end in _runs(data[row * width : (row + 1) * width]):
            touching = {root(part) for left, right, part in above if left <= end and start <= right}
            part = min(touching, default=len(place))
            if part == len(place):
                place.append(part)
                parts.append([])
            for other in touching:
                place[other] = part
            parts[part].append((row, start, end))
            here.append((start, end, part))
        above = here
    whole: dict[int, list[tuple[int, int, int]]] = {}
    for nth, runs in enumerate(parts):
        whole.setdefault(root(nth), []).extend(runs)
    largest = max(whole.values(), key=lambda runs: sum(end - start for _, start, end in runs))
    return {(column, row) for row, start, end in largest for column in range(start, end)}


def _runs(row: bytes) -> list[tuple[int, int]]:
    """Where pixels that are not 0 begin and end in a row of 0 and 1."""
    runs, start = [], row.find(b"\1")
    while start >= 0:
        end = row.find(b"\0", start)
        end = len(row) if end < 0 else end
        runs.append((start, end))
        start = row.find(b"\1", end)
    return runs


def _traced(pixels: set[Pixel]) -> list[Pixel]:
    """The pixels at the edge, one after the other (Moore's tracing, with Jacob's stopping rule)."""
    first = min(pixels, key=lambda pixel: (pixel[1], pixel[0]))
    edge, at, came_from = [first], first, 0
    begun = None
    while True:
        for turn in range(1, 9):
            direction = (came_from + turn) % 8
            step = (at[0] + _AROUND[direction][0], at[1] + _AROUND[direction][1])
            if step in pixels:
                break
        else:
            return edge
        if (at, direction) == begun:
            return edge[:-1]
        begun = begun or (at, direction)
        before = _AROUND[(direction - 1) % 8]
        background = (at[0] + before[0] - step[0], at[1] + before[1] - step[1])
        at, came_from = step, _AROUND.index(background)
        edge.append(at)


def _simplified(line: Sequence[Pixel]) -> list[Pixel]:
    """Fewer points of a line, with the same ends (Douglas and Peucker 1973)."""
    indices, waiting = {0, len(line) - 1}, [(0, len(line) - 1)]
    while waiting:
        start, end = waiting.pop()
        if end - start < 2:
            continue
        nth = max(range(start + 1, end), key=lambda at: _beside(line[at], line[start], line[end]))
        if _beside(line[nth], line[start], line[end]) > _TOLERANCE:
            indices.add(nth)
            waiting += [(start, nth), (nth, end)]
    return [line[nth] for nth in sorted(indices)]


def _beside(point: Pixel, start: Pixel, end: Pixel) -> float:
    """How far a point is from the line between two others."""
    long = math.dist(start, end)
    if not long:
        return math.dist(point, start)
    return abs((end[0] - start[0]) * (start[1] - point[1]) - (start[0] - point[0]) * (end[1] - start[1])) / long


Answer: TypeAlias = Any
"""What an answer says at a field, as JSON that fits the type of the field."""
MAX_PAIRED: Final = 50
"""Of more values the pairs of so many are compared, those that were given first."""
_DIGITS: Final = 7


@attrs.frozen
class Compared:
    """``n`` values were compared. ``value`` is their consensus where ``won``; agreement and confidence are 0 to 1.

    As in ``result``: without values nothing but ``n`` is known, and a single value agrees with itself.
    """

    n: int
    won: bool = False
    value: Answer = None
    agreement: float | None = None
    confidence: float | None = None

    @property
    def as_json(self) -> Values:
        """As ``store_compared`` takes it."""
        value = {"value": self.value} if self.won else {}
        return {**value, "answers": self.n, "agreement": self.agreement, "confidence": self.confidence}


def mean(values: Iterable[float], empty: float = 1.0) -> float:
    """The mean; ``empty`` without values."""
    numbers = list(values)
    return sum(numbers) / len(numbers) if numbers else empty


def agreement(values: Sequence[T], distance: Callable[[T, T], float]) -> float:
    """1 - the mean distance of pairs."""
    return 1 - mean((distance(one, other) for one, other in combinations(values[:MAX_PAIRED], 2)), 0.0)


def short(number: float) -> float:
    """A number of a consensus with as many digits as matter; a whole one as an integer."""
    rounded = float(f"{number:.{_DIGITS}g}")
    return int(rounded) if rounded.is_integer() else rounded


Labels = frozenset[tuple[type, Answer]]


def read_labels(value: Iterable[Answer]) -> Labels:
    """The choices of an answer."""
    return frozenset(map(key, value))


def labels_distance(one: Labels, other: Labels) -> float:
    """1 - Jaccard index x MASI weight (Passonneau 2006)."""
    if one == other:
        return 0.0
    both, either = one & other, one | other
    return 1 - len(both) / len(either) * (2 / 3 if both in (one, other) else 1 / 3)


_NONE = "null"


@attrs.frozen
class Mark(Generic[P]):
    """A mark of the nth answer (``person``) with its place and its label, as JSON; "" without one."""

    person: int
    place: P
    label: str = ""


@attrs.frozen
class Cluster(Generic[P]):
    """Marks that mean the same, one of each of ``people``: where it is, and the label that most of them give it."""

    place: P
    label: str
    people: int


def label_of_mark(mark: Values) -> str:
    """The label of a mark in an answer."""
    return json.dumps(mark["label"], ensure_ascii=False) if "label" in mark else ""


def label_mark(mark: Values, label: str) -> Values:
    """A mark with its label."""
    return {**mark, "label": json.loads(label)} if label else mark


def find_clusters(marks: Sequence[Mark[P]], near: Sequence[Sequence[int]], n_people: int) -> list[Cluster[P]]:
    """Clusters of at least half of the people, and of two.

    ``near`` has for each mark the marks within eps of it, itself included.
    """
    needed = max(2, -(-n_people // 2))
    cores = {nth for nth, others in enumerate(near) if len({marks[other].person for other in others}) >= needed}
    groups, seen = [], set[int]()
    for nth in range(len(marks)):
        if nth in cores and nth not in seen:
            members = _reached(nth, near, cores, seen)
            groups.append(_cluster([marks[each] for each in members]))
    return groups


def _reached(first: int, near: Sequence[Sequence[int]], cores: set[int], seen: set[int]) -> list[int]:
    members, waiting = [], [first]
    seen.add(first)
    while waiting:
        nth = waiting.pop()
        members.append(nth)
        for other in near[nth] if nth in cores else ():
            if other not in seen:
                seen.add(other)
                waiting.append(other)
    return sorted(members)


def _cluster(members: Sequence[Mark[P]]) -> Cluster[P]:
    """One mark of each person: of several the nearest to the middle of all."""
    middle = _middle([mark.place for mark in members])
    chosen: dict[int, Mark[P]] = {}
    for mark in sorted(members, key=lambda mark: sum(abs(a - b) for a, b in zip(mark.place, middle, strict=True))):
        chosen.setdefault(mark.person, mark)
    labels = Counter(mark.label for mark in chosen.values()).most_common(2)
    tied = len(labels) > 1 and labels[0][1] == labels[1][1]
    return Cluster(_middle([mark.place for mark in chosen.values()]), "" if tied else labels[0][0], len(chosen))


def _middle(places: Sequence[P]) -> P:
    middle: Any = tuple(median(side) for side in zip(*places, strict=True))
    return middle


def find_near_marks(
    marks: Sequence[Mark[P]], reach: Callable[[P], float], are_near: Callable[[P, P], bool]
) -> list[list[int]]:
    """For each mark those near it. ``reach``: no mark whose place begins right of it is near."""
    order = sorted(range(len(marks)), key=lambda nth: marks[nth].place[0])
    near = [[nth] for nth in range(len(marks))]
    for at, nth in enumerate(order):
        end = reach(marks[nth].place)
        for other in order[at + 1 :]:
            if marks[other].place[0] > end:
                break
            if are_near(marks[nth].place, marks[other].place):
                near[nth].append(other)
                near[other].append(nth)
    return near


def measure_confidence(marks: Sequence[Cluster[P]], counts: Sequence[int]) -> float:
    """The mean share of the people who made each mark; without any mark, the share of those who made none."""
    if not marks:
        return sum(not count for count in counts) / len(counts)
    return mean(cluster.people / len(counts) for cluster in marks)


def list_marks(answers: Iterable[Sequence[tuple[P, str]]]) -> list[Mark[P]]:
    """The marks of all answers, each given as place and label."""
    return [Mark(person, place, label) for person, marks in enumerate(answers) for place, label in marks]
