"""Maps as drawings: where the places of a map are, its lines, its land and its scale. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Final, TypedDict

import attrs

from crowdd.features.results.base_map import Edges, draw_land
from crowdd.features.results.geometry import Point as Place
from crowdd.features.results.rows import PlaceBin

WIDTH: Final = 640  # of drawings, in units of the SVG
_HEIGHTS: Final = (240.0, 480.0)
_MIN_SPAN: Final = 0.01  # degrees
_KM: Final = 111.32  # of a degree of latitude
_MAX_SCALED: Final = 40  # degrees of latitude: the scale of a larger map would be wrong in most places
_LINES: Final = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 45)
_MAX_RADIUS: Final = 16.0  # radius of a point


class Line(TypedDict):
    """A meridian (``x``) or a parallel (``y``), where it is drawn and its degrees."""

    at: float
    degrees: str


class Point(TypedDict):
    x: float
    y: float
    radius: float
    group: int
    n: int
    place: str


class MapDrawing(TypedDict):
    """``scale`` is the length of ``km`` kilometres; 0 for a map of half a continent or more.

    ``land`` and ``borders`` are paths; "" where they are not known well enough.
    """

    height: float
    land: str
    borders: str
    meridians: list[Line]
    parallels: list[Line]
    points: list[Point]
    km: float
    scale: float


@attrs.frozen
class Frame:
    """The part of the earth that a map shows: a degree of longitude is as wide as it is half-way up."""

    edges: Edges
    wide: float
    """Of a degree of longitude."""
    high: float
    """Of a degree of latitude."""
    height: float

    @classmethod
    def around(cls, places: Sequence[Place]) -> Frame:
        """With all places in it."""
        (left, right), (bottom, top) = _range(x for x, _ in places), _range(y for _, y in places)
        shrink = max(math.cos(math.radians((bottom + top) / 2)), 0.1)
        unit = WIDTH / (right - left)
        wanted = (top - bottom) * unit / shrink
        height = min(max(wanted, _HEIGHTS[0]), _HEIGHTS[1])
        if wanted > height:
            middle, unit = (left + right) / 2, height * shrink / (top - bottom)
            left, right = middle - WIDTH / unit / 2, middle + WIDTH / unit / 2
        else:
            middle, half = (bottom + top) / 2, height * shrink / unit / 2
            bottom, top = middle - half, middle + half
        return cls((left, bottom, right, top), unit, unit / shrink, height)

    def place(self, place: Place) -> Place:
        """Where a place is drawn."""
        return round((place[0] - self.edges[0]) * self.wide, 1), round((self.edges[3] - place[1]) * self.high, 1)

    def drawn(self) -> MapDrawing:
        """The map without points."""
        left, bottom, right, top = self.edges
        km = _nice(WIDTH / 4 / self.high * _KM) if top - bottom <= _MAX_SCALED else 0
        land, borders = draw_land(self.edges, self.place)
        return MapDrawing(
            height=round(self.height, 1),
            land=land,
            borders=borders,
            meridians=[Line(at=self.place((at, top))[0], degrees=_degrees(at)) for at in _lines(left, right, 180)],
            parallels=[Line(at=self.place((left, at))[1], degrees=_degrees(at)) for at in _lines(bottom, top, 90)],
            points=[],
            km=km,
            scale=round(km / _KM * self.high, 1),
        )


def draw_map(points: Sequence[PlaceBin]) -> MapDrawing:
    """Points on a map."""
    frame = Frame.around([(point["x"], point["y"]) for point in points])
    highest = max(point["n"] for point in points)

    def drawn(point: PlaceBin) -> Point:
        x, y = frame.place((point["x"], point["y"]))
        return Point(
            x=x,
            y=y,
            radius=round(6 if highest == 1 else 5 + (_MAX_RADIUS - 5) * math.sqrt(point["n"] / highest), 1),
            group=point["group"],
            n=point["n"],
            place=f"{round(point['y'], 4):.7g}°, {round(point['x'], 4):.7g}°",
        )

    return {**frame.drawn(), "points": [*map(drawn, sorted(points, key=lambda point: -point["n"]))]}


def _range(values: Iterable[float]) -> tuple[float, float]:
    """The least and the greatest with a margin of a tenth."""
    numbers = list(values)
    middle, half = (min(numbers) + max(numbers)) / 2, max(max(numbers) - min(numbers), _MIN_SPAN) * 0.6
    return middle - half, middle + half


def _lines(first: float, last: float, limit: float) -> list[float]:
    step = next((step for step in _LINES if (last - first) / step <= 6), _LINES[-1])
    numbers = range(math.ceil(first / step), math.floor(last / step) + 1)
    return [round(number * step, 3) for number in numbers if abs(number * step) <= limit]


def _degrees(value: float) -> str:
    return f"{value:g}°".replace("-", "−")


def _nice(limit: float) -> float:
    """The greatest of 1, 2, 5, 10 and so on that is not more."""
    power = 10 ** math.floor(math.log10(limit))
    return next(float(f"{factor * power:g}") for factor in (5, 2, 1) if factor * power <= limit)
