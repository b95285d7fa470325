"""Whether what is stored is what was meant: pure functions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

PIXELS: Final = 2.0  # of the screen, by which a place may differ
SAMPLED: Final = 2.0  # times: an outline in one stroke is made of points that are apart, and simplified
HUNDREDTH: Final = 0.011  # seconds are rounded to a hundredth
ROUNDED: Final = 0.11  # stored pixels of pictures are rounded to a tenth

Json = dict[str, Any]


def differences(meant: Mapping[str, Any], stored: Mapping[str, Any], grain: Mapping[str, float]) -> list[str]:
    """What differs, in words; nothing where all is as meant. ``grain``: how much of a medium a pixel of the screen is."""
    wrong = []
    for name in sorted({*meant, *stored} - {"questions_version"}):
        if name not in meant:
            wrong.append(f"{name}: {stored[name]!r} is stored, nothing was meant")
        elif name not in stored:
            wrong.append(f"{name}: nothing is stored, {meant[name]!r} was meant")
        else:
            wrong += [f"{name}: {words}" for words in _of(meant[name], stored[name], PIXELS * grain.get(name, 0))]
    return wrong


def _of(meant: Any, stored: Any, far: float) -> list[str]:
    if isinstance(meant, list) and (not meant or isinstance(meant[0], dict)) and isinstance(stored, list):
        if len(meant) != len(stored):
            return [f"{len(stored)} marks are stored, {len(meant)} were meant"]
        return [
            f"mark {n}: {words}"
            for n, (one, other) in enumerate(zip(meant, stored, strict=True), 1)
            for words in _mark(one, other, far)
        ]
    if type(meant) is not type(stored) and not (_is_number(meant) and _is_number(stored)):
        return [f"{stored!r} is stored, {meant!r} was meant"]
    return [] if meant == stored else [f"{stored!r} is stored, {meant!r} was meant"]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _mark(meant: Json, stored: Json, far: float) -> list[str]:
    wrong = [
        f"{name} {stored.get(name)!r} is stored, {meant.get(name)!r} was meant"
        for name in ("label", "text")
        if stored.get(name) != meant.get(name) and (name in meant or name == "label")
    ]
    if "answers" in meant and stored.get("answers") != meant["answers"]:
        wrong.append(f"answers {stored.get('answers')!r} are stored, {meant['answers']!r} were meant")
    if "place" in meant:
        away = _on_earth(meant["place"], stored.get("geometry", {}).get("coordinates", [0, 0]))
        return wrong + ([f"{away / far * PIXELS:.0f} px away"] if away > far + 1e-6 else [])
    if "ring" in meant:
        rings = stored.get("geometry", {}).get("coordinates", [[]])
        return wrong + _ring(meant["ring"], rings[0][:-1], far + 1e-6)
    if "outline" in meant:
        return wrong + _outline(meant["outline"], stored.get("points", []), far * SAMPLED + ROUNDED)
    if "points" in meant:
        points = stored.get("points", [])
        if len(points) != len(meant["points"]):
            return [*wrong, f"{len(points)} corners are stored, {len(meant['points'])} were meant"]
        away = max(_apart(one, other) for one, other in zip(meant["points"], points, strict=True))
        return wrong + ([f"a corner is {away / far * PIXELS:.0f} px away"] if away > far + ROUNDED else [])
    if "box" in meant or "x" in meant:
        return wrong + _rectangle(meant, stored, far)
    tolerance = far + HUNDREDTH if far else 0
    return wrong + [
        f"{name} {stored.get(name)!r} is stored, {meant[name]!r} was meant"
        for name in ("start", "end")
        if name in meant and abs(meant[name] - stored.get(name, math.inf)) > tolerance
    ]


def _rectangle(meant: Json, stored: Json, far: float) -> list[str]:
    if "x" not in stored:
        return ["no place is stored"]
    edges = [("x", meant["x"], stored["x"]), ("y", meant["y"], stored["y"])]
    if "width" in meant:
        edges += [("right", meant["x"] + meant["width"], stored["x"] + stored.get("width", 0))]
        edges += [("bottom", meant["y"] + meant["height"], stored["y"] + stored.get("height", 0))]
    return [
        f"{name} is {(is_ - was) / far * PIXELS:+.0f} px away"
        for name, was, is_ in edges
        if abs(was - is_) > far + ROUNDED
    ]


def _apart(one: Sequence[float], other: Sequence[float]) -> float:
    return math.hypot(one[0] - other[0], one[1] - other[1])


def _on_earth(one: Sequence[float], other: Sequence[float]) -> float:
    """How far two places are apart on a map, in degrees of longitude."""
    return math.hypot(one[0] - other[0], (one[1] - other[1]) / math.cos(math.radians(one[1])))


def _ring(meant: list[Any], stored: list[Any], far: float) -> list[str]:
    """Corners from any of them on, in either direction."""
    if len(meant) != len(stored):
        return [f"{len(stored)} corners are stored, {len(meant)} were meant"]
    turns = [way[n:] + way[:n] for way in (stored, stored[::-1]) for n in range(len(stored))]
    away = min(max(_on_earth(one, other) for one, other in zip(meant, turn, strict=True)) for turn in turns)
    return [f"a corner is {away / far * PIXELS:.0f} px away"] if away > far else []


def _outline(meant: list[Any], stored: list[Any], far: float) -> list[str]:
    """Each corner of one outline is near to the line of the other."""
    if len(stored) < 3:
        return ["no outline is stored"]
    away = max([_from_line(place, stored) for place in meant] + [_from_line(place, meant) for place in stored])
    return [f"the outline is {away / far * PIXELS:.0f} px away"] if away > far else []


def _from_line(place: Sequence[float], corners: list[Any]) -> float:
    return min(_from_edge(place, corners[n - 1], corners[n]) for n in range(len(corners)))


def _from_edge(place: Sequence[float], one: Sequence[float], other: Sequence[float]) -> float:
    length = (one[0] - other[0]) ** 2 + (one[1] - other[1]) ** 2
    if not length:
        return _apart(place, one)
    along = ((place[0] - one[0]) * (other[0] - one[0]) + (place[1] - one[1]) * (other[1] - one[1])) / length
    along = min(1.0, max(0.0, along))
    return _apart(place, (one[0] + along * (other[0] - one[0]), one[1] + along * (other[1] - one[1])))
