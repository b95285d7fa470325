"""What comparing answers needs for all types: sets of choices, clusters of marks, outlines of areas, and the outcome.

Marks of several people that mean the same are found by matching person by person, so that two marks of one person never
mean the same. The outline is that of the largest connected part of a drawn area.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from statistics import median
from typing import TYPE_CHECKING, Any, Final, Generic, TypeAlias, TypeVar

import attrs

from crowdd.features.results.geometry import best_pairs
from crowdd.kernel.values import Values
from crowdd.kinds.answers import AnswerField
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
    edge = _traced(_Part.largest(image))
    if len(edge) < 3:
        return _square(edge)
    far = max(range(len(edge)), key=lambda nth: math.dist(edge[0], edge[nth]))
    corners = [*_simplified(edge[: far + 1])[:-1], *_simplified([*edge[far:], edge[0]])[:-1]]
    return corners if len(corners) > 2 else _square(corners)


def _square(pixels: Sequence[Pixel]) -> list[Pixel]:
    """Around an area that is no wider than a pixel: an area has three corners at least."""
    (left, top), (right, bottom) = (tuple(edge(axis) for axis in zip(*pixels, strict=True)) for edge in (min, max))
    return [(left, top), (right + 1, top), (right + 1, bottom + 1), (left, bottom + 1)]


@attrs.frozen
class _Part:
    """A connected part of an image: a byte for each pixel, 0 outside, with a column and a row of them around it."""

    first: Pixel  # the uppermost, of these the left one
    width: int  # of a row of ``inside``
    inside: bytearray

    @classmethod
    def largest(cls, image: Image.Image) -> _Part:
        """The one with the most pixels, found by runs of pixels in rows."""
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
        inside = bytearray((width + 2) * (height + 2))
        for row, start, end in largest:
            at = (row + 1) * (width + 2) + 1
            inside[at + start : at + end] = b"\1" * (end - start)
        row, start, _ = min(largest)
        return cls((start, row), width + 2, inside)


def _runs(row: bytes) -> list[tuple[int, int]]:
    """Where pixels that are not 0 begin and end in a row of 0 and 1."""
    runs, start = [], row.find(b"\1")
    while start >= 0:
        end = row.find(b"\0", start)
        end = len(row) if end < 0 else end
        runs.append((start, end))
        start = row.find(b"\1", end)
    return runs


def _traced(part: _Part) -> list[Pixel]:
    """The pixels at the edge, one after the other (Moore's tracing, with Jacob's stopping rule)."""
    width, inside = part.width, part.inside
    steps = [row * width + column for column, row in _AROUND]
    first = at = (part.first[1] + 1) * width + part.first[0] + 1
    edge, came_from = [first], 0
    begun = None
    while True:
        for turn in range(1, 9):
            direction = (came_from + turn) % 8
            if inside[at + steps[direction]]:
                break
        else:
            break
        if (at, direction) == begun:
            edge.pop()
            break
        begun = begun or (at, direction)
        background = at + steps[(direction - 1) % 8]
        at += steps[direction]
        came_from = steps.index(background - at)
        edge.append(at)
    return [(nth % width - 1, nth // width - 1) for nth in edge]


def _simplified(line: Sequence[Pixel]) -> list[Pixel]:
    """Fewer points of a line, with the same ends (Douglas and Peucker 1973)."""
    indices, waiting = {0, len(line) - 1}, [(0, len(line) - 1)]
    while waiting:
        start, end = waiting.pop()
        if end - start < 2:
            continue
        beside = _beside(line[start + 1 : end], line[start], line[end])
        farthest = max(beside)
        if farthest > _TOLERANCE:
            nth = start + 1 + beside.index(farthest)
            indices.add(nth)
            waiting += [(start, nth), (nth, end)]
    return [line[nth] for nth in sorted(indices)]


def _beside(points: Sequence[Pixel], start: Pixel, end: Pixel) -> list[float]:
    """How far points are from the line between two others."""
    (x, y), (dx, dy) = start, (end[0] - start[0], end[1] - start[1])
    long = math.hypot(dx, dy)
    if not long:
        return [math.dist(point, start) for point in points]
    return [abs(dx * (y - row) - (x - column) * dy) / long for column, row in points]


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


def pair_distances(values: Sequence[T], distance: Callable[[T, T], float]) -> dict[tuple[int, int], float]:
    """How far the values of each pair are apart, by their numbers."""
    pairs = combinations(range(min(len(values), MAX_PAIRED)), 2)
    return {(one, other): distance(values[one], values[other]) for one, other in pairs}


def agreement(values: Sequence[T], distance: Callable[[T, T], float]) -> float:
    """1 - the mean distance of pairs."""
    return 1 - mean(pair_distances(values, distance).values(), 0.0)


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
    """Marks that mean the same, one of each person: where it is, and the label that most of them give it, if any.

    ``people`` have made it and say the same of it: where labels are disputed, those who give the most frequent one.
    """

    place: P
    label: str
    people: int


def label_of_mark(mark: Values) -> str:
    """The label of a mark in an answer."""
    return json.dumps(mark["label"], ensure_ascii=False) if "label" in mark else ""


def label_mark(mark: Values, label: str) -> Values:
    """A mark with its label."""
    return {**mark, "label": json.loads(label)} if label else mark


Near = Sequence[Mapping[int, float]]
"""For each mark those near it, with how alike both are: above 0, 1 for equal ones."""


def find_clusters(
    marks: Sequence[Mark[P]], near: Near, people: Sequence[int], middle_of: Callable[[Sequence[P]], P] | None = None
) -> list[Cluster[P]]:
    """Clusters of ``find_members``, each at the middle of its marks."""
    return [_cluster(members, middle_of or middle) for members in find_members(marks, near, people)]


def find_members(marks: Sequence[Mark[P]], near: Near, people: Sequence[int]) -> list[list[Mark[P]]]:
    """The marks of clusters of at least half of the ``people``, and of two, in the order of their first marks.

    The marks of one person after the other, in the order of ``people``, join what others have marked, as well as they
    fit together (``best_pairs``): a mark fits a cluster if it is near half of its marks. A mark that fits none begins
    one. Then each person is matched again to the clusters that are large enough, so that little depends on the order.
    """
    clusters = _Clusters(near)
    own: dict[int, list[int]] = {person: [] for person in people}
    for nth, mark in enumerate(marks):
        own[mark.person].append(nth)
    for person in people:
        for nth in clusters.join(own[person]):
            clusters.begin(nth)
    needed = max(2, -(-len(people) // 2))
    clusters.keep(needed)
    for person in people:
        clusters.leave(own[person])
        clusters.join(own[person])
    clusters.keep(needed)
    return [[marks[nth] for nth in sorted(members)] for members in sorted(clusters.members, key=min)]


@attrs.define
class _Clusters:
    """Marks by their numbers, in clusters."""

    near: Near
    members: list[set[int]] = attrs.Factory(list)
    _of_mark: dict[int, int] = attrs.Factory(dict)

    def join(self, marks: Sequence[int]) -> list[int]:
        """Has the marks of one person join clusters, at most one each; those that fit none."""
        weights = {(nth, cluster): alike for nth in marks for cluster, alike in self._fitting(nth)}
        matched = best_pairs(weights)
        for nth, cluster in matched:
            self._put(nth, cluster)
        joined = {nth for nth, _ in matched}
        return [nth for nth in marks if nth not in joined]

    def begin(self, nth: int) -> None:
        """Makes a mark a cluster of its own."""
        self.members.append(set())
        self._put(nth, len(self.members) - 1)

    def leave(self, marks: Sequence[int]) -> None:
        """Takes marks out of their clusters."""
        for nth in marks:
            if nth in self._of_mark:
                self.members[self._of_mark.pop(nth)].remove(nth)

    def keep(self, needed: int) -> None:
        """Forgets the clusters with fewer marks."""
        large = [members for members in self.members if len(members) >= needed]
        self.members, self._of_mark = [], {}
        for members in large:
            self.members.append(set())
            for nth in members:
                self._put(nth, len(self.members) - 1)

    def _put(self, nth: int, cluster: int) -> None:
        self.members[cluster].add(nth)
        self._of_mark[nth] = cluster

    def _fitting(self, nth: int) -> list[tuple[int, float]]:
        """The clusters that a mark is near to half of, each with the mean of how alike it is to their marks."""
        sums: dict[int, list[float]] = {}
        for other, alike in self.near[nth].items():
            if other in self._of_mark:
                sums.setdefault(self._of_mark[other], []).append(alike)
        return [
            (cluster, sum(each) / len(self.members[cluster]))
            for cluster, each in sums.items()
            if 2 * len(each) >= len(self.members[cluster])
        ]


def _cluster(members: Sequence[Mark[P]], middle_of: Callable[[Sequence[P]], P]) -> Cluster[P]:
    labels = Counter(mark.label for mark in members).most_common(2)
    tied = len(labels) > 1 and labels[0][1] == labels[1][1]
    return Cluster(middle_of([mark.place for mark in members]), "" if tied else labels[0][0], labels[0][1])


def middle(places: Sequence[P]) -> P:
    """The median of each coordinate."""
    medians: Any = tuple(median(side) for side in zip(*places, strict=True))
    return medians


def find_near_marks(
    marks: Sequence[Mark[P]], reach: Callable[[P], float], alike: Callable[[P, P], float]
) -> list[dict[int, float]]:
    """For each mark those of others near it, with how ``alike`` both are (0: they are not near).

    ``reach``: no mark whose place begins right of it is near one that begins further left.
    """
    order = sorted(range(len(marks)), key=lambda nth: marks[nth].place[0])
    near: list[dict[int, float]] = [{} for _ in marks]
    for at, nth in enumerate(order):
        mark = marks[nth]
        end = reach(mark.place)
        for other in order[at + 1 :]:
            beside = marks[other]
            if beside.place[0] > end:
                break
            if beside.person != mark.person and (likeness := alike(mark.place, beside.place)) > 0:
                near[nth][other] = near[other][nth] = likeness
    return near


_SHARE: Final = 0.02  # of the diagonal
_HAND: Final = 10.0  # pixels of a picture


def measure_reach(field: AnswerField, values: Sequence[Answer]) -> float:
    """How far apart two points or lines may be that mean the same: the tolerance, if the field has one."""
    return measure_near(values) if field.tolerance is None else field.tolerance


def measure_near(values: Sequence[Answer]) -> float:
    """The same without a tolerance: 2 % of the diagonal.

    Answers do not say how large the picture is. Its size is taken to be that of what they mark, from its first corner.
    Marks of questions are in pixels and have a selector: no hand is more exact than 10 of them, also near that corner.
    """
    marks = [mark for value in values for mark in value]
    places = [place for mark in marks for place in mark.get("points") or [(mark["x"], mark["y"])]]
    far = _SHARE * math.hypot(*(max((float(place[axis]) for place in places), default=0.0) for axis in (0, 1)))
    return max(far, _HAND) if any("selector" in mark for mark in marks) else far


def nearest_first(values: Sequence[T], distances: Mapping[tuple[int, int], float]) -> list[int]:
    """The numbers of the values, the nearest to all others first; of several, those that were given first."""
    sums = [0.0] * len(values)
    for (one, other), apart in distances.items():
        sums[one] += apart
        sums[other] += apart
    compared = min(len(values), MAX_PAIRED)
    return [*sorted(range(compared), key=sums.__getitem__), *range(compared, len(values))]


def measure_confidence(marks: Sequence[Cluster[P]], counts: Sequence[int]) -> float:
    """The mean share of the people who made each mark and agree about its label; without any, of those without."""
    if not marks:
        return sum(not count for count in counts) / len(counts)
    return mean(cluster.people / len(counts) for cluster in marks)


def list_marks(answers: Iterable[Sequence[tuple[P, str]]]) -> list[Mark[P]]:
    """The marks of all answers, each given as place and label."""
    return [Mark(person, place, label) for person, marks in enumerate(answers) for place, label in marks]
