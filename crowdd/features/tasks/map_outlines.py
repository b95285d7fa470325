"""What the maps of questions show of a task: the lines of its GeoJSON. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

import orjson

from crowdd.features.results.geometry import Point
from crowdd.kernel import exact_json
from crowdd.kernel.values import Json, Values
from crowdd.kinds.questions import QUESTIONS
from crowdd.kinds.questions.options import is_number

Path = list[Point]
"""Longitude and latitude of the corners of a line, of a ring, or of a single point."""
MAX_PATHS: Final = 200
_MAX_CORNERS: Final = 5000  # of a path
_MAX_DEPTH: Final = 4  # collections in each other
_NESTED: Final = {"Point": 0, "MultiPoint": 1, "LineString": 1, "MultiLineString": 2, "Polygon": 2, "MultiPolygon": 3}


def outlines_of(info: Values, task_info: Json) -> dict[str, list[Path]]:
    """The lines on the map of each question, by its name. Those of a project, and of a task with its own ``info``."""
    if not isinstance(task_info, dict) or not isinstance(info.get(QUESTIONS), dict):
        return {}
    outlines: dict[str, list[Path]] = {}
    for step in info[QUESTIONS]["steps"]:
        maps = [medium for medium in step.get("media", []) if medium["type"] == "map"]
        columns = {medium["name"]: medium.get("source", {}).get("column") for medium in maps}
        for question in step.get("questions", []):
            column = columns.get(question.get("on"))
            value = task_info.get(column) if isinstance(column, str) else None
            if paths := [*islice(_paths(_read(value), 0), MAX_PATHS)]:
                outlines[question["name"]] = paths
    return outlines


def _read(value: Json) -> Json:
    """GeoJSON that may be stored as a text."""
    if not isinstance(value, str) or not value.lstrip().startswith("{"):
        return value
    try:
        return exact_json.loads(value)
    except orjson.JSONDecodeError:
        return None


def _paths(value: Json, depth: int) -> Iterator[Path]:
    if not isinstance(value, dict) or depth > _MAX_DEPTH:
        return
    members = value.get("features") or value.get("geometries") or [value.get("geometry")]
    nested = _NESTED.get(str(value.get("type")))
    if nested is not None:
        yield from _lines(value.get("coordinates"), nested)
    elif isinstance(members, list):
        for member in members[:MAX_PATHS]:
            yield from _paths(member, depth + 1)


def _lines(coordinates: Json, nested: int) -> Iterator[Path]:
    if nested > 1:
        for part in coordinates if isinstance(coordinates, list) else ():
            yield from _lines(part, nested - 1)
        return
    corners = coordinates if nested else [coordinates]
    path = [*map(_corner, corners[:_MAX_CORNERS])] if isinstance(corners, list) else []
    if path and all(path):
        yield [corner for corner in path if corner is not None]


def _corner(value: Json) -> Point | None:
    if not isinstance(value, list) or len(value) < 2:
        return None
    x, y = value[0], value[1]
    return (x, y) if is_number(x) and is_number(y) and abs(x) <= 180 and abs(y) <= 90 else None
