"""The outline of the largest connected part of a drawn area."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from PIL import Image

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
