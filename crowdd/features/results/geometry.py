"""How far boxes, points, areas and parts of a text are the same."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

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
    """Pairs with the largest sum of weights, in which no mark occurs twice (Kuhn 1955, "Hungarian method")."""
    matched_pairs = []
    for component in _components(weights):
        rows, columns = sorted({i for i, _ in component}), sorted({j for _, j in component})
        swapped = len(rows) > len(columns)
        one, other = (columns, rows) if swapped else (rows, columns)
        table = [[weights.get((j, i) if swapped else (i, j), 0.0) for j in other] for i in one]
        pairs = [(one[i], other[j]) for i, j in _assigned(table)]
        matched_pairs += [(j, i) if swapped else (i, j) for i, j in pairs]
    return [pair for pair in matched_pairs if pair in weights]


def _components(weights: Weights) -> Iterable[list[tuple[int, int]]]:
    """The pairs in groups that have no mark in common. Marks are alike to few others, so groups are small."""
    place: dict[tuple[bool, int], tuple[bool, int]] = {}

    def root(mark: tuple[bool, int]) -> tuple[bool, int]:
        while (above := place.setdefault(mark, mark)) != mark:
            place[mark] = mark = place.setdefault(above, above)
        return mark

    for i, j in weights:
        place[root((True, i))] = root((False, j))
    groups: dict[tuple[bool, int], list[tuple[int, int]]] = {}
    for pair in weights:
        groups.setdefault(root((True, pair[0])), []).append(pair)
    return groups.values()


def _assigned(table: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """A column for each row, with the largest sum. There are at least as many columns as rows."""
    n_rows, n_columns = len(table), len(table[0])
    of_row, of_column = [0.0] * n_rows, [0.0] * (n_columns + 1)
    row_at = [-1] * (n_columns + 1)  # the last column stands for the row that is being assigned
    for row in range(n_rows):
        row_at[n_columns], column = row, n_columns
        smallest, came_from = [math.inf] * n_columns, [n_columns] * n_columns
        seen = [False] * (n_columns + 1)
        while row_at[column] >= 0:
            seen[column] = True
            i = row_at[column]
            step, nearest = math.inf, -1
            for j in range(n_columns):
                if not seen[j]:
                    left = -table[i][j] - of_row[i] - of_column[j]
                    if left < smallest[j]:
                        smallest[j], came_from[j] = left, column
                    if smallest[j] < step:
                        step, nearest = smallest[j], j
            for j in range(n_columns + 1):
                if seen[j]:
                    of_row[row_at[j]] += step
                    of_column[j] -= step
                elif j < n_columns:
                    smallest[j] -= step
            column = nearest
        while column != n_columns:
            row_at[column], column = row_at[came_from[column]], came_from[column]
    return [(i, j) for j, i in enumerate(row_at[:n_columns]) if i >= 0]


# ---------------------------------------------------------------------------------------------------------------- areas


class Raster:
    """A raster that covers all of these areas, each given by its corners."""

    def __init__(self, areas: Iterable[Sequence[Point]]) -> None:
        corners = [corner for area in areas for corner in area]
        xs, ys = [x for x, _ in corners], [y for _, y in corners]
        self._left, self._top = min(xs), min(ys)
        self._scale = (max(max(xs) - self._left, max(ys) - self._top) or 1.0) / (RASTER - 1)
        self._decimals = max(0, 1 - math.floor(math.log10(self._scale)))

    def drawn(self, area: Sequence[Point]) -> Image.Image:
        """The pixels of an area: 1 inside, 0 outside. Where it crosses itself, inside is what is encircled once."""
        image = Image.new("L", (RASTER, RASTER))
        pixels = [((x - self._left) / self._scale, (y - self._top) / self._scale) for x, y in area]
        ImageDraw.Draw(image).polygon(pixels, fill=1)
        return image

    def place(self, column: int, row: int) -> Point:
        """The place of a pixel, with as many decimals as it is exact."""
        x, y = self._left + column * self._scale, self._top + row * self._scale
        return round(x, self._decimals), round(y, self._decimals)


def n_pixels(image: Image.Image) -> int:
    """How many pixels are not 0."""
    counts = image.histogram()
    return sum(counts) - counts[0]


def pixel_iou(one: Image.Image, other: Image.Image) -> float:
    """Intersection over union of drawn areas; 1 if both are empty."""
    either = n_pixels(ImageChops.lighter(one, other))
    return n_pixels(ImageChops.darker(one, other)) / either if either else 1.0


def covered_by_half(drawn: Sequence[Image.Image]) -> Image.Image:
    """The pixels that at least half of at most 255 drawn areas cover."""
    counts = drawn[0]
    for each in drawn[1:]:
        counts = ImageChops.add(counts, each)
    return counts.point([int(2 * n >= len(drawn)) for n in range(256)])


def area_iou(one: Sequence[Point], other: Sequence[Point]) -> float:
    """Intersection over union of two areas, on a raster of their own."""
    raster = Raster([one, other])
    return pixel_iou(raster.drawn(one), raster.drawn(other))


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
