"""GeoJSON and GPX as rows: a row for each feature, waypoint, route or track. Pure.

Points have a latitude and a longitude. Lines and areas have those of their first corner, and their ``geometry`` as
GeoJSON in a text, as maps of questions take it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from xml.parsers import expat

import orjson

from crowdd.features.imports.prepared.rows_file import RowsFile
from crowdd.kernel import exact_json
from crowdd.kernel.errors import InvalidValueError
from crowdd.kernel.languages import _
from crowdd.kernel.values import Json, JsonObject, Values

_MAX_DEPTH: Final = 6  # of arrays in each other
_POINTS: Final = {"wpt": "waypoint", "rtept": "", "trkpt": ""}
_PATHS: Final = {"rte": "route", "trk": "track"}
_TEXTS: Final = {
    "name": "name",
    "desc": "description",
    "cmt": "comment",
    "ele": "elevation",
    "time": "time",
    "sym": "symbol",
    "type": "type",
}
_MAX_TEXT: Final = 10_000  # characters


def convert_geojson(source: Path, target: Path, about: Values, _sheet: str) -> None:
    """Writes a row for each feature: its properties, and where it is."""
    content = source.read_bytes().removeprefix(b"\xef\xbb\xbf")
    try:
        features, shapes = _features(exact_json.loads(content)), _features(orjson.loads(content))
    except orjson.JSONDecodeError as error:
        words = _("The GeoJSON cannot be read: %(reason)s. Save it as UTF-8.", reason=exact_json.reason(error))
        raise InvalidValueError(words) from None
    out = RowsFile(target, about)
    for feature, shape in zip(features, shapes, strict=True):
        if not isinstance(feature, dict) or not isinstance(shape, dict) or feature.get("type") != "Feature":
            out.refuse(_("It is not a feature of GeoJSON."), orjson.dumps(feature)[:1000])
        else:
            _add_feature(out, feature, shape.get("geometry"))
    out.close()


def _features(document: Json) -> list[Json]:
    features = document.get("features", [document]) if isinstance(document, dict) else []
    return features if isinstance(features, list) else []


def _add_feature(out: RowsFile, feature: JsonObject, geometry: Json) -> None:
    """``geometry`` has doubles, which are as exact as places need."""
    properties = feature.get("properties")
    row: Values = dict(properties) if isinstance(properties, dict) else {}
    if feature.get("id") is not None:
        row.setdefault("id", feature["id"])
    if isinstance(geometry, dict):
        first = next(_positions(geometry.get("coordinates"), 0), None)
        if first is not None and not _is_place(*first):
            words = _("Its coordinates are no longitude and latitude in degrees. Save it in WGS 84 (EPSG:4326).")
            out.refuse(words, orjson.dumps(feature)[:1000])
            return
        if first is not None:
            row.setdefault("latitude", first[1])
            row.setdefault("longitude", first[0])
        if geometry.get("type") != "Point":
            row["geometry"] = orjson.dumps(geometry).decode()
    out.add(row)


def _positions(coordinates: Json, depth: int) -> Iterator[tuple[float, float]]:
    if not isinstance(coordinates, list) or depth > _MAX_DEPTH:
        return
    numbers = [each for each in coordinates[:2] if isinstance(each, int | float) and not isinstance(each, bool)]
    if len(numbers) == 2:
        yield numbers[0], numbers[1]
    else:
        for each in coordinates:
            yield from _positions(each, depth + 1)


def _is_place(longitude: float, latitude: float) -> bool:
    return math.isfinite(longitude) and abs(longitude) <= 180 and abs(latitude) <= 90


def convert_gpx(source: Path, target: Path, about: Values, _sheet: str) -> None:
    """Writes a row for each waypoint, route and track of a GPX file (1.0 or 1.1)."""
    out = RowsFile(target, about)
    try:
        with source.open("rb") as file:
            _GpxReader(out).parser.ParseFile(file)
    except expat.ExpatError as error:
        words = _("The GPX file cannot be read: line %(line)s is no XML.", line=error.lineno)
        raise InvalidValueError(words) from None
    out.close()


class _GpxReader:
    """Reads elements as they come; ``parser`` is to be fed. A file that declares entities is refused."""

    def __init__(self, out: RowsFile) -> None:
        self._out, self._row, self._point = out, Values(), Values()
        self._lines: list[list[list[float]]] = []
        self._names: list[str] = []
        self._text = ""
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.StartElementHandler, self.parser.EndElementHandler = self._start, self._end
        self.parser.CharacterDataHandler, self.parser.StartDoctypeDeclHandler = self._read, self._refuse

    def _refuse(self, *_declaration: object) -> None:
        raise InvalidValueError(_("The GPX file declares a document type, which none needs. Export it again."))

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        name = name.rpartition(" ")[2]
        self._names.append(name)
        self._text = ""
        if name in _PATHS:
            self._row, self._lines = {"kind": _PATHS[name]}, [[]]
        elif name == "trkseg" and self._lines[-1:] != [[]]:
            self._lines.append([])
        elif name in _POINTS:
            place = {"latitude": _degrees(attributes.get("lat")), "longitude": _degrees(attributes.get("lon"))}
            self._point = {"kind": _POINTS[name], **place}

    def _read(self, text: str) -> None:
        if len(self._text) < _MAX_TEXT:
            self._text += text

    def _end(self, name: str) -> None:
        name = name.rpartition(" ")[2]
        self._names.pop()
        parent = self._names[-1] if self._names else ""
        if name in _TEXTS and parent in (*_POINTS, *_PATHS) and self._text.strip():
            (self._point if parent in _POINTS else self._row)[_TEXTS[name]] = self._text.strip()
        elif name == "wpt":
            self._add(self._point)
        elif name in _POINTS and self._lines:
            self._lines[-1].append([self._point["longitude"], self._point["latitude"]])
        elif name in _PATHS:
            self._add_path()

    def _add_path(self) -> None:
        lines = [line for line in self._lines if len(line) > 1]
        if lines:
            longitude, latitude = lines[0][0]
            place = {"latitude": latitude, "longitude": longitude, "geometry": _geometry(lines)}
            self._add({**self._row, **place})
        else:
            self._out.refuse(_("It has fewer than two points."), str(self._row.get("name", "")).encode())
        self._lines = []

    def _add(self, row: Values) -> None:
        if _is_place(row["longitude"], row["latitude"]):
            self._out.add(row)
        else:
            self._out.refuse(_("It has no latitude and longitude in degrees."), str(row.get("name", "")).encode())


def _geometry(lines: list[list[list[float]]]) -> str:
    if len(lines) == 1:
        return orjson.dumps({"type": "LineString", "coordinates": lines[0]}).decode()
    return orjson.dumps({"type": "MultiLineString", "coordinates": lines}).decode()


def _degrees(text: str | None) -> float:
    """The number of an attribute; not a number for anything else."""
    try:
        return float(text or "nan")
    except ValueError:
        return math.nan
