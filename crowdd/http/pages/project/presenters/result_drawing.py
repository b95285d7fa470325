"""Where the points of a map and the bars of a timeline are drawn. Pure functions of bins."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from typing import TypedDict

from crowdd.domain.tasks.outcomes.result_charts import Charts
from crowdd.storage.tasks.outcomes.rows import PlaceBin, TimeBin

WIDTH = 640  # of drawings, in units of the SVG
_HEIGHTS = (240.0, 480.0)
_MIN_SPAN = 0.01  # degrees
_KM = 111.32  # of a degree of latitude
_MAX_SCALED = 40  # degrees of latitude: the scale of a larger map would be wrong in most places
_LINES = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 45)
_MAX_RADIUS = 16.0  # radius of a point
_HIGH = 160  # of bars


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
    """``scale`` is the length of ``km`` kilometres; 0 for a map of half a continent or more."""

    height: float
    meridians: list[Line]
    parallels: list[Line]
    points: list[Point]
    km: float
    scale: float


class Piece(TypedDict):
    group: int
    n: int
    y: float
    height: float


class Bar(TypedDict):
    """``label`` is the time in figures; ``counts`` are its tasks by group."""

    label: str
    x: float
    width: float
    n: int
    pieces: list[Piece]
    counts: list[int]


class TimelineDrawing(TypedDict):
    """``highest`` is what the full height stands for, even so that half of it is whole.

    Every ``named``-th bar has its label drawn.
    """

    highest: int
    named: int
    bars: list[Bar]


class Drawings(TypedDict):
    map: MapDrawing | None
    timeline: TimelineDrawing | None


def drawings(charts: Charts) -> Drawings:
    """Both charts, as far as there are any."""
    map_, timeline, groups = charts["map"], charts["timeline"], len(charts["answers"]) + 2
    return Drawings(
        map=draw_map(map_["points"]) if map_ else None,
        timeline=draw_timeline(timeline["times"], groups) if timeline else None,
    )


def draw_map(points: Sequence[PlaceBin]) -> MapDrawing:
    """Points on a plain map: a degree of longitude is as wide as it is half-way between top and bottom."""
    (left, right), (bottom, top) = _range(point["x"] for point in points), _range(point["y"] for point in points)
    shrink = max(math.cos(math.radians((bottom + top) / 2)), 0.1)
    unit = WIDTH / (right - left)  # of a degree of longitude
    wanted = (top - bottom) * unit / shrink
    height = min(max(wanted, _HEIGHTS[0]), _HEIGHTS[1])
    if wanted > height:
        middle, unit = (left + right) / 2, height * shrink / (top - bottom)
        left, right = middle - WIDTH / unit / 2, middle + WIDTH / unit / 2
    else:
        middle, half = (bottom + top) / 2, height * shrink / unit / 2
        bottom, top = middle - half, middle + half
    high = unit / shrink  # of a degree of latitude
    highest = max(point["n"] for point in points)
    km = _nice(WIDTH / 4 / high * _KM) if top - bottom <= _MAX_SCALED else 0
    return MapDrawing(
        height=round(height, 1),
        meridians=[Line(at=round((at - left) * unit, 1), degrees=_degrees(at)) for at in _lines(left, right, 180)],
        parallels=[Line(at=round((top - at) * high, 1), degrees=_degrees(at)) for at in _lines(bottom, top, 90)],
        points=[
            Point(
                x=round((point["x"] - left) * unit, 1),
                y=round((top - point["y"]) * high, 1),
                radius=round(4 if highest == 1 else 3 + (_MAX_RADIUS - 3) * math.sqrt(point["n"] / highest), 1),
                group=point["group"],
                n=point["n"],
                place=f"{point['y']:.4g}°, {point['x']:.4g}°",
            )
            for point in sorted(points, key=lambda point: -point["n"])
        ],
        km=km,
        scale=round(km / _KM * high, 1),
    )


def draw_timeline(times: Sequence[TimeBin], groups: int) -> TimelineDrawing:
    """Stacked bars from the first time to the last; times without tasks have empty ones."""
    counts = {label: [0] * groups for label in _times(sorted({bin_["time"] for bin_ in times}))}
    for bin_ in times:
        counts[bin_["time"]][min(bin_["group"], groups - 1)] += bin_["n"]
    highest = max(sum(row) for row in counts.values())
    highest += highest % 2 if highest > 1 else 0
    wide = WIDTH / len(counts)
    bars = [
        Bar(
            label=_label(label),
            x=round(nth * wide + wide * 0.1, 1),
            width=round(wide * 0.8, 1),
            n=sum(row),
            pieces=_pieces(row, highest),
            counts=row,
        )
        for nth, (label, row) in enumerate(counts.items())
    ]
    return TimelineDrawing(highest=highest, named=-(-len(bars) // 6), bars=bars)


def _pieces(row: Sequence[int], highest: int) -> list[Piece]:
    pieces, below = [], 0
    for group, n in enumerate(row):
        if n:
            top = round(_HIGH - _HIGH * (below + n) / highest, 1)
            pieces.append(Piece(group=group, n=n, y=top, height=round(_HIGH * n / highest, 1)))
        below += n
    return pieces


def _times(times: Sequence[str]) -> list[str]:
    """All times from the first to the last, by what they are: 2 to 4 characters of a year, a month or a day."""
    first, last = times[0], times[-1]
    if len(first) <= 4:
        return [str(number).zfill(len(first)) for number in range(int(first), int(last) + 1)]
    if len(first) == 7:
        months = range(_months(first), _months(last) + 1)
        return [f"{number // 12:04}-{number % 12 + 1:02}" for number in months]
    # A date that no calendar has stands where it would be.
    begin = date(int(first[:4]), int(first[5:7]), 1)
    days = (str(begin + timedelta(days=number)) for number in range(31))
    return sorted({*times, *(day for day in days if first <= day <= last)})


def _months(text: str) -> int:
    return int(text[:4]) * 12 + int(text[5:7]) - 1


def _label(time: str) -> str:
    return f"{time}00–{time}99" if len(time) == 2 else f"{time}0–{time}9" if len(time) == 3 else time


def _range(values: Iterable[float]) -> tuple[float, float]:
    """The least and the greatest with a margin of a twentieth."""
    numbers = list(values)
    middle, half = (min(numbers) + max(numbers)) / 2, max(max(numbers) - min(numbers), _MIN_SPAN) * 0.55
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
