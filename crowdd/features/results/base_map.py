"""Land and borders of the earth (Natural Earth), as paths of a drawing. Pure, but for the file that is read once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import accumulate, chain
from pathlib import Path
from typing import Final

import attrs
import orjson

from crowdd.features.results.geometry import Point
from crowdd.kernel.values import Values

_FOLDER: Final = Path(__file__).parents[2] / "http" / "static" / "vendor" / "world-atlas-2.0.2"
_COARSE: Final = 60  # degrees of longitude: wider maps need no fine coast
_MIN_SPAN: Final = 0.3  # degrees: below that the coast is too coarse to be true
_HALF: Final = 180  # degrees
_APART: Final = 1.0  # units of a drawing, below which a further corner is not seen
Edges = tuple[float, float, float, float]
"""West, south, east and north, in degrees."""


@attrs.frozen
class _Shape:
    """Corners in degrees, and the edges around them."""

    corners: Sequence[Point]
    edges: Edges

    @classmethod
    def of(cls, corners: Sequence[Point]) -> _Shape:
        xs, ys = [x for x, _ in corners], [y for _, y in corners]
        return cls(corners, (min(xs), min(ys), max(xs), max(ys)))

    def meets(self, edges: Edges) -> bool:
        """Whether it may lie in a part of the map."""
        west, south, east, north = self.edges
        return west <= edges[2] and east >= edges[0] and south <= edges[3] and north >= edges[1]


@attrs.frozen
class _World:
    land: Sequence[_Shape]
    borders: Sequence[_Shape]


@lru_cache(maxsize=2)
def _world(name: str) -> _World:
    """The rings of the land, and the arcs that two countries share, of a file of TopoJSON."""
    topology = orjson.loads((_FOLDER / name).read_bytes())
    (wide, high), (west, south) = topology["transform"]["scale"], topology["transform"]["translate"]
    arcs = []
    for steps in topology["arcs"]:
        xs, ys = ([*accumulate(along)] for along in zip(*steps, strict=True))
        arcs.append([(x * wide + west, y * high + south) for x, y in zip(xs, ys, strict=True)])

    def outline(numbers: Sequence[int]) -> list[Point]:
        ways = [arcs[number] if number >= 0 else arcs[~number][::-1] for number in numbers]
        return [*chain(ways[0][:1], *(way[1:] for way in ways))]

    used: dict[int, int] = {}
    for country in topology["objects"]["countries"]["geometries"]:
        for number in {number if number >= 0 else ~number for part in _rings(country) for number in part}:
            used[number] = used.get(number, 0) + 1
    land = [outline(part) for geometry in topology["objects"]["land"]["geometries"] for part in _rings(geometry)]
    borders = [arcs[number] for number, n in used.items() if n > 1]
    return _World(
        [_Shape.of(each) for shape in land for each in _both(_unrolled(shape, closed=True))],
        [_Shape.of(each) for line in borders for each in _both(_unrolled(line))],
    )


def _unrolled(line: Sequence[Point], *, closed: bool = False) -> list[Point]:
    """A line that goes on beyond 180 degrees in place of jumping to the other edge.

    A ring around the south pole is closed there.
    """
    turn, way = 0, list[Point]()
    for nth, (x, y) in enumerate(line):
        before = line[nth - 1][0] if nth else x
        if abs(x - before) > _HALF:
            turn += 2 * _HALF if x < before else -2 * _HALF
        way.append((x + turn, y))
    return [*way, (way[-1][0], -90.0), (way[0][0], -90.0)] if closed and turn else way


def _both(line: list[Point]) -> Iterable[list[Point]]:
    """The line, and once more at the other edge of the map what goes beyond one."""
    yield line
    if max(x for x, _ in line) > _HALF:
        yield [(x - 2 * _HALF, y) for x, y in line]
    if min(x for x, _ in line) < -_HALF:
        yield [(x + 2 * _HALF, y) for x, y in line]


def _rings(geometry: Values) -> Iterable[list[int]]:
    """The rings of a polygon or of several, as numbers of arcs."""
    if geometry["type"] == "Polygon":
        return geometry["arcs"]
    return chain.from_iterable(geometry.get("arcs", []))


def draw_land(edges: Edges, place: Callable[[Point], Point]) -> tuple[str, str]:
    """The paths of the land and of the borders between these edges, each corner where ``place`` has it; "" without.

    Maps of a place so small that the coast would be wrong there have neither.
    """
    wide = edges[2] - edges[0]
    if wide < _MIN_SPAN:
        return "", ""
    world = _world("countries-110m.json" if wide > _COARSE else "countries-50m.json")
    land = (_clip(shape.corners, edges) for shape in world.land if shape.meets(edges))
    borders = (shape.corners for shape in world.borders if shape.meets(edges))
    return "".join(_path(each, place, "Z") for each in land), "".join(_path(each, place, "") for each in borders)


def _clip(corners: Sequence[Point], edges: Edges) -> Sequence[Point]:
    """The part of an area that lies between edges (Sutherland and Hodgman)."""
    for axis, edge, sign in ((0, edges[0], 1), (0, edges[2], -1), (1, edges[1], 1), (1, edges[3], -1)):
        inside = [sign * (corner[axis] - edge) >= 0 for corner in corners]
        if all(inside):
            continue
        clipped: list[Point] = []
        for nth, (corner, within) in enumerate(zip(corners, inside, strict=True)):
            before = corners[nth - 1]
            if within != inside[nth - 1]:
                share = (edge - before[axis]) / (corner[axis] - before[axis])
                clipped.append(
                    (before[0] + share * (corner[0] - before[0]), before[1] + share * (corner[1] - before[1]))
                )
            if within:
                clipped.append(corner)
        corners = clipped
        if not corners:
            break
    return corners


def _path(corners: Sequence[Point], place: Callable[[Point], Point], end: str) -> str:
    """A path through places, without corners that would not be seen."""
    places = [place(corner) for corner in corners]
    drawn = places[:1]
    for nth, (x, y) in enumerate(places):
        is_last = nth == len(places) - 1 and not end
        if is_last or abs(x - drawn[-1][0]) > _APART or abs(y - drawn[-1][1]) > _APART:
            drawn.append((x, y))
    if len(drawn) < (3 if end else 2):
        return ""
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in drawn) + end
