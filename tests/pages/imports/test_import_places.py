"""GeoJSON and GPX files become tasks: features, waypoints, routes and tracks."""

from __future__ import annotations

import json
from typing import Any

import pytest
import pytest_twisted
from support.checks.shows import shows
from support.importing import AT, figures, looked_at, tasks_of
from support.servers.queue_runner import worked

from crowdd.features.imports.files.inspection import detect
from crowdd.features.imports.prepared import geodata
from crowdd.kernel.errors import InvalidValueError

POLYGON = {"type": "Polygon", "coordinates": [[[8, 48], [9, 48], [9, 49.5], [8, 48]]]}
FEATURES = [
    {"type": "Feature", "id": 7, "properties": {"name": "Ulm", "n": 12345678901234567890},
     "geometry": {"type": "Point", "coordinates": [9.99, 48.4, 478]}},
    {"type": "Feature", "properties": None, "geometry": POLYGON},
    {"type": "Feature", "properties": {"name": "nowhere"}, "geometry": None},
    {"type": "Feature", "properties": {}, "geometry": {"type": "Point", "coordinates": [569000, 5361000]}},
    "no feature",
]  # fmt: skip
GPX = """<?xml version="1.0"?><!-- a walk --><gpx version="1.1" xmlns="http://www.topografix.com/GPX/1/1">
<metadata><name>All of it</name></metadata>
<wpt lat="48.4" lon="9.99"><ele>478</ele><name>Ulm &amp; more</name><extensions><name>x</name></extensions></wpt>
<wpt lat="many" lon="9.99"><name>bad</name></wpt>
<trk><name>Walk</name><trkseg><trkpt lat="48" lon="9"><time>t</time></trkpt><trkpt lat="48.1" lon="9.1"/></trkseg>
<trkseg><trkpt lat="49" lon="10"/><trkpt lat="49.5" lon="10"/></trkseg></trk>
<rte><name>Way</name><rtept lat="1" lon="2"><name>begin</name></rtept><rtept lat="1.5" lon="2"/></rte>
<trk><name>empty</name><trkseg/></trk></gpx>"""


async def added(served: Any, content: bytes, name: str) -> tuple[list[Any], dict[str, Any]]:
    owner = await served.person("owner")
    project = await served.project(owner)
    upload = await looked_at(owner, content, name)
    begun = (await owner.post(f"{AT}/{upload['id']}", json={"on_error": "skip"})).json()
    assert begun["status"] == "success", begun
    await worked(served)
    return [task["info"] for task in await tasks_of(owner, project)], upload


@shows("page-import-one")
@pytest_twisted.ensureDeferred
async def test_features_are_tasks_with_their_place_and_their_shape(served):
    content = json.dumps({"type": "FeatureCollection", "features": FEATURES}, indent=1).encode()
    infos, upload = await added(served, content, "places.geojson")
    assert upload["format"] == "geojson" and figures(upload["preview"]) == {"added": 3, "refused": 2}
    ulm, area, nowhere = infos
    assert ulm == {"name": "Ulm", "n": 12345678901234567890, "id": 7, "latitude": 48.4, "longitude": 9.99}
    assert json.loads(area.pop("geometry")) == POLYGON and area == {"latitude": 48, "longitude": 8}
    assert nowhere == {"name": "nowhere"}
    assert upload["suggested"].get("latitude") == "latitude" and upload["suggested"].get("longitude") == "longitude"


@shows("page-import-one")
@pytest_twisted.ensureDeferred
async def test_waypoints_routes_and_tracks_are_tasks(served):
    infos, upload = await added(served, GPX.encode(), "walk.gpx")
    assert upload["format"] == "gpx" and figures(upload["preview"]) == {"added": 3, "refused": 2}
    ulm, walk, way = infos
    assert ulm == {"kind": "waypoint", "name": "Ulm & more", "elevation": "478", "latitude": 48.4, "longitude": 9.99}
    assert (walk["kind"], walk["name"], walk["latitude"], walk["longitude"]) == ("track", "Walk", 48, 9)
    lines = [[[9, 48], [9.1, 48.1]], [[10, 49], [10, 49.5]]]
    assert json.loads(walk["geometry"]) == {"type": "MultiLineString", "coordinates": lines}
    assert json.loads(way["geometry"]) == {"type": "LineString", "coordinates": [[2, 1], [2, 1.5]]}
    assert way["name"] == "Way", "not that of its point"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('<!DOCTYPE gpx [<!ENTITY a "aaaa">]><gpx><wpt lat="1" lon="2"><name>&a;</name></wpt></gpx>', "document type"),
        ("<gpx><wpt></gpx>", "line 1"),
        ("<gpx>", "line 1"),
    ],
)
def test_a_hostile_or_broken_gpx_is_refused(tmp_path, text, words):
    (tmp_path / "x.gpx").write_text(text)
    with pytest.raises(InvalidValueError, match=words):
        geodata.convert_gpx(tmp_path / "x.gpx", tmp_path / "rows", {}, "")


def test_broken_geojson_is_refused_and_other_xml_is_no_gpx(tmp_path):
    (tmp_path / "x").write_text('{"type": "FeatureCollection", "features": [')
    with pytest.raises(InvalidValueError, match="cannot be read"):
        geodata.convert_geojson(tmp_path / "x", tmp_path / "rows", {}, "")
    for text in ("<?xml version='1.0'?><kml/>", "<gpxx></gpxx>"):
        (tmp_path / "y").write_text(text)
        with pytest.raises(InvalidValueError, match="XML"):
            detect(tmp_path / "y")
