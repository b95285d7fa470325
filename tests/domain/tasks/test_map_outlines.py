"""What the maps of questions show of a task, and where they begin."""

from __future__ import annotations

import json
from typing import Any

import pytest

from crowdd.features.questions.documents import with_places
from crowdd.features.tasks.map_outlines import MAX_PATHS, outlines_of
from crowdd.features.tasks.marked_media import marked_media
from crowdd.kernel.config.options import tile_address
from crowdd.kinds.answers import AnswerField

RING = [[8.0, 48.0], [9.0, 48.0], [9.0, 49.0], [8.0, 48.0]]
POLYGON = {"type": "Polygon", "coordinates": [RING]}


def asking(**medium: Any) -> dict[str, Any]:
    shown = {"name": "chart", "type": "map", **medium}
    questions = [{"name": "where", "type": "map_place", "on": "chart"}, {"name": "why", "type": "short_text"}]
    return {
        "questions": {"version": 1, "steps": [{"name": "s", "media": [shown], "questions": questions}, {"name": "t"}]}
    }


@pytest.mark.parametrize(
    "value",
    [
        POLYGON,
        json.dumps(POLYGON),
        {"type": "Feature", "geometry": POLYGON, "properties": None},
        {"type": "FeatureCollection", "features": [{"type": "Feature", "geometry": POLYGON}]},
        {"type": "GeometryCollection", "geometries": [{"type": "MultiPolygon", "coordinates": [[RING]]}]},
        {"type": "LineString", "coordinates": RING},
    ],
)
def test_the_lines_of_a_task_are_those_of_its_map(value):
    assert outlines_of(asking(source={"column": "area"}), {"area": value}) == {"where": [[*map(tuple, RING)]]}


@pytest.mark.parametrize(
    "value",
    [None, "", "48,1", "{", 7, [RING], {"type": "Polygon"}, {"type": "Polygon", "coordinates": 3}, {"type": "Point"},
     {"type": "LineString", "coordinates": [[1, 2], [1, "x"]]}, {"type": "LineString", "coordinates": [[1, 200]]}],
)  # fmt: skip
def test_what_is_no_geometry_has_no_lines(value):
    assert outlines_of(asking(source={"column": "area"}), {"area": value}) == {}
    assert outlines_of(asking(), {"area": POLYGON}) == {} == outlines_of({}, {"area": POLYGON})


def test_a_huge_collection_is_bounded():
    value: dict[str, Any] = {"type": "MultiLineString", "coordinates": [[[0, 0], [1, 1]]] * 5000}
    assert len(outlines_of(asking(source={"column": "area"}), {"area": value})["where"]) == MAX_PATHS
    for _ in range(50):
        value = {"type": "GeometryCollection", "geometries": [value]}
    assert outlines_of(asking(source={"column": "area"}), {"area": value}) == {}


def test_marks_and_the_outline_are_on_one_map():
    field = AnswerField(name="where", path=("where",), type="places")
    run = {"id": 1, "info": {"where": [{"geometry": {"type": "Point", "coordinates": [8.5, 48.5]}}]}}
    (alone,) = marked_media([field], [run], [], {}, "", {})
    (shown,) = marked_media([field], [run], [], {}, "", {"where": [[*map(tuple, RING)]]})
    assert alone["outline"] == [] and alone["drawn"] and shown["drawn"]
    (outline,) = shown["outline"]
    (mark,) = shown["people"][0]["value"]
    xs, ys = zip(*outline["points"], strict=True)
    assert min(xs) < mark["x"] < max(xs) and min(ys) < mark["y"] < max(ys)


def test_maps_begin_at_the_columns_of_latitude_and_longitude():
    roles, both = {"Breite": "latitude", "Länge": "longitude"}, {"column": "Breite", "longitude": "Länge"}
    for medium in ({}, {"source": {"column": "Breite"}}):
        shown = with_places(asking(**medium)["questions"], roles)
        assert shown["steps"][0]["media"][0]["source"] == both
    for medium in ({"source": {"column": "area"}}, {"source": {"url": "/x"}}, {"type": "picture"}):
        questions = asking(**medium)["questions"]
        assert with_places(questions, roles) == questions
    assert with_places(asking()["questions"], {"Breite": "latitude"}) == asking()["questions"]


def test_the_map_of_a_site_is_an_https_address_with_three_numbers():
    for good in ("", "https://tiles.example.org/{z}/{x}/{y}.png", "https://t.example.org:8443/a/{z}/{y}/{x}?key=7"):
        assert tile_address(good) == good
    for bad in (
        "http://t.example.org/{z}/{x}/{y}",
        "https://t.example.org/{z}/{x}",
        "https://u@t/{z}/{x}/{y}",
        "{z}{x}{y}",
    ):
        with pytest.raises(ValueError):
            tile_address(bad)
