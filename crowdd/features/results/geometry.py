"""How far boxes, points, areas and parts of a text are the same."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Final

import attrs

from crowdd.kernel.lazy import lazy

if TYPE_CHECKING:
    from PIL import Image, ImageChops, ImageDraw
else:
    # For polygons, which are compared in a process or a thread.
    Image, ImageChops = lazy("PIL.Image", seldom=True), lazy("PIL.ImageChops", seldom=True)
    ImageDraw = lazy("PIL.ImageDraw", seldom=True)

RASTER: Final = 512
"""Pixels of the longer side of the raster on which areas are compared."""

Box = tuple[float, float, float, float]
"""The left, top, right and bottom side."""
Point = tuple[float, float]
Span = tuple[float, float, str]
"""The start, the end and the label of a part of a text or of a recording; the label as JSON, "" without one."""
Weights = Mapping[tuple[int, int], float]
"""How alike the nth mark of one answer and the mth of another are; pairs that are not alike at all are left out."""


def box_iou(one: Box, other: Box) -> float:
    """Intersection over union, 0 to 1. Boxes without an area are alike only if they are equal."""
    if one == other:
        return 1.0
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    if width <= 0 or height <= 0:
        return 0.0
    both = width * height
    return both / (_area(one) + _area(other) - both)


def _area(box: Box) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])


def f1(matched: int, n_one: int, n_other: int) -> float:
    """The harmonic mean of precision and recall, if so many of the marks of two answers match. 1 without any marks."""
    return 2 * matched / (n_one + n_other) if n_one + n_other else 1.0


# ------------------------------------------------------------------------------------------------------------- matching


def best_pairs(weights: Weights) -> list[tuple[int, int]]:
    """Pairs with the largest sum of weights, which are above 0, in which no mark occurs twice.

    By shortest augmenting paths (Jonker and Volgenant 1987) over the pairs that there are: marks are alike to few
    others, and most are matched to the one that they are most alike.
    """
    rows: dict[int, list[tuple[int, float]]] = {}
    for (i, j), weight in weights.items():
        rows.setdefault(i, []).append((j, weight))
    matching = _Matching(rows)
    for i in matching.begin():
        matching.augment(i)
    return sorted((i, j) for j, i in matching.row_at.items())


class _Matching:
    """Rows and columns that are matched, with the potentials of both. A row may stay alone, at no cost."""

    def __init__(self, rows: Mapping[int, Sequence[tuple[int, float]]]) -> None:
        self._rows = rows
        self._of_row = {i: -max(weight for _, weight in edges) for i, edges in rows.items()}
        self._of_column: dict[int, float] = {}
        self._column_at: dict[int, int] = {}
        self.row_at: dict[int, int] = {}

    def begin(self) -> list[int]:
        """Matches each row to its best column while that is free; the other rows."""
        left = []
        for i, edges in self._rows.items():
            j = max(edges, key=lambda edge: edge[1])[0]
            if j in self.row_at:
                left.append(i)
            else:
                self.row_at[j], self._column_at[i] = i, j
        return left

    def augment(self, first: int) -> None:
        """Matches one more row, or leaves that row alone that costs the least."""
        apart: dict[int, float] = {}  # of columns, on the shortest way
        came_from: dict[int, int] = {}
        waiting: list[tuple[float, int]] = []
        scanned = dict[int, float]()  # columns to which the shortest way is known
        row, so_far = first, 0.0
        alone, lowest = first, math.inf  # the row that stays alone, and what that costs
        while True:
            of_row = self._of_row[row]
            if so_far - of_row < lowest:
                alone, lowest = row, so_far - of_row
            for j, weight in self._rows[row]:
                if j in scanned:
                    continue
                cost = so_far - weight - of_row - self._of_column.get(j, 0.0)
                if cost < apart.get(j, math.inf):
                    apart[j], came_from[j] = cost, row
                    heappush(waiting, (cost, j))
            while waiting and waiting[0][1] in scanned:
                heappop(waiting)
            if not waiting or waiting[0][0] >= lowest:
                end, total = self._column_at.pop(alone, None), lowest
                break
            so_far, column = heappop(waiting)
            if column not in self.row_at:
                end, total = column, so_far
                break
            scanned[column] = so_far
            row = self.row_at[column]
        self._of_row[first] += total
        for column, way in scanned.items():
            less = total - way
            self._of_row[self.row_at[column]] += less
            self._of_column[column] = self._of_column.get(column, 0.0) - less
        while end is not None:
            row = came_from[end]
            self.row_at[end], self._column_at[row], end = row, end, self._column_at.get(row) if row != first else None


# ---------------------------------------------------------------------------------------------------------------- areas


@attrs.frozen(eq=False)
class Drawn:
    """An area on a raster: an image with 1 inside and 0 outside, and its pixels as the bits of a number."""

    image: Image.Image
    bits: int


def drawn_of(image: Image.Image) -> Drawn:
    """The area of the pixels that are not 0."""
    return Drawn(image, int.from_bytes(image.point(_SET, "1").tobytes(), "big"))


_SET: Final = [0, *[255] * 255]


class Raster:
    """A raster that covers all of these areas, each given by its corners, and no more."""

    def __init__(self, areas: Iterable[Sequence[Point]]) -> None:
        corners = [corner for area in areas for corner in area]
        xs, ys = [x for x, _ in corners], [y for _, y in corners]
        self._left, self._top = min(xs), min(ys)
        width, height = max(xs) - self._left, max(ys) - self._top
        self._scale = (max(width, height) or 1.0) / (RASTER - 1)
        self._decimals = max(0, 1 - math.floor(math.log10(self._scale)))
        self._size = (round(width / self._scale) + 1, round(height / self._scale) + 1)

    def drawn(self, area: Sequence[Point]) -> Drawn:
        """An area. Where it crosses itself, inside is what is encircled once."""
        image = Image.new("L", self._size)
        pixels = [((x - self._left) / self._scale, (y - self._top) / self._scale) for x, y in area]
        ImageDraw.Draw(image).polygon(pixels, fill=1)
        return drawn_of(image)

    def place(self, column: int, row: int) -> Point:
        """The place of a pixel, with as many decimals as it is exact."""
        x, y = self._left + column * self._scale, self._top + row * self._scale
        return round(x, self._decimals), round(y, self._decimals)


def pixel_iou(one: Drawn, other: Drawn) -> float:
    """Intersection over union of areas on the same raster; 1 if both are empty."""
    either = (one.bits | other.bits).bit_count()
    return (one.bits & other.bits).bit_count() / either if either else 1.0


def covered_by(areas: Sequence[Drawn], needed: int) -> Drawn:
    """The pixels that so many of at most 255 areas cover."""
    counts = areas[0].image
    for each in areas[1:]:
        counts = ImageChops.add(counts, each.image)
    return drawn_of(counts.point([int(n >= needed) for n in range(256)]))


def area_iou(one: Sequence[Point], other: Sequence[Point]) -> float:
    """Intersection over union of two areas, on a raster of their own."""
    if are_apart(one, other):
        return 0.0
    raster = Raster([one, other])
    return pixel_iou(raster.drawn(one), raster.drawn(other))


def are_apart(one: Sequence[Point], other: Sequence[Point]) -> bool:
    """Whether two areas lie beside each other, so that nothing has to be drawn."""
    return any(
        max(corner[axis] for corner in a) < min(corner[axis] for corner in b)
        for axis in (0, 1)
        for a, b in ((one, other), (other, one))
    )


# ---------------------------------------------------------------------------------------------------------------- spans


def joined(spans: Iterable[Span]) -> list[Span]:
    """The same parts, sorted by label, without overlaps and without empty ones."""
    merged_spans: list[Span] = []
    for start, end, label in sorted(spans, key=lambda span: (span[2], span[0], span[1])):
        if start >= end:
            continue
        if merged_spans and merged_spans[-1][2] == label and start <= merged_spans[-1][1]:
            merged_spans[-1] = (merged_spans[-1][0], max(end, merged_spans[-1][1]), label)
        else:
            merged_spans.append((start, end, label))
    return merged_spans


def length(spans: Iterable[Span]) -> float:
    """How many characters or seconds joined parts have together, for each label by itself."""
    return sum(end - start for start, end, _ in spans)


def common_length(one: Sequence[Span], other: Sequence[Span]) -> float:
    """How much of joined parts is in both, with the same label."""
    total, i, j = 0.0, 0, 0
    while i < len(one) and j < len(other):
        (start, end, label), (from_, to, named) = one[i], other[j]
        if label == named:
            total += max(0, min(end, to) - max(start, from_))
        if (label, end) <= (named, to):
            i += 1
        else:
            j += 1
    return total


def span_iou(one: Sequence[Span], other: Sequence[Span]) -> float:
    """Intersection over union of joined parts; 1 if both are empty."""
    both = common_length(one, other)
    either = length(one) + length(other) - both
    return both / either if either else 1.0


def span_f1(one: Sequence[Span], other: Sequence[Span]) -> float:
    """The harmonic mean of precision and recall of joined parts, by length; 1 if both are empty."""
    total = length(one) + length(other)
    return 2 * common_length(one, other) / total if total else 1.0
