"""Land and borders under maps that have no pictures of their own."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from support.questions.marked_lists import step
from support.questions.marking import Surface, answers, ask, field, forward, near, with_media

pytestmark = pytest.mark.browser

TILE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
OFFERED = """addEventListener("DOMContentLoaded", () => {
  const told = JSON.stringify({ tiles: "https://site.test/{z}/{x}/{y}.png", attribution: "Site maps" });
  document.head.append(Object.assign(document.createElement("script"), { id: "questions-map", type: "application/json", textContent: told }));
});"""  # as a site with [maps] tiles has it in each frame
BERN, BISCAY, PACIFIC = [7.45, 46.95], [-6.0, 45.5], [-110.0, -17.0]
_COLUMN = """(map) => {
  const box = map.getBoundingClientRect(), canvas = map.querySelector(".leaflet-ground-pane canvas"), drawn = canvas.getBoundingClientRect();
  const x = box.left + box.width / 2 - drawn.left, grain = canvas.width / drawn.width, middle = box.top + box.height / 2 - drawn.top;
  const rows = Array.from({ length: 60 }, (_, nth) => middle - 30 + nth);
  return rows.filter((y) => canvas.getContext("2d").getImageData(x * grain, y * grain, 1, 1).data[3]);
}"""
_COLOUR = """(map) => {
  const box = map.getBoundingClientRect(), canvas = map.querySelector(".leaflet-ground-pane canvas"), drawn = canvas.getBoundingClientRect();
  const x = box.left + box.width / 2 - drawn.left, y = box.top + box.height / 2 - drawn.top, grain = canvas.width / drawn.width;
  return [...canvas.getContext("2d").getImageData(x * grain, y * grain, 1, 1).data];
}"""


@pytest.fixture(scope="module")
def desk(make_stage: Any, new_project: Any) -> Any:
    stage = with_media(make_stage(viewport={"width": 1280, "height": 800}, reduced_motion="reduce"))
    stage.mine = new_project(tasks=10)
    return stage


def map_at(place: list[float], zoom: int, **more: Any) -> dict[str, Any]:
    return {"name": "chart", "type": "map", "center": place[::-1], "zoom": zoom, "description": "A chart", **more}


def is_drawn(frame: Any) -> bool:
    """Whether land is drawn in the middle of the map."""
    return bool(frame.locator(".map:visible").evaluate(_COLOUR)[3])


@pytest.mark.parametrize(("zoom", "file"), [(3, "countries-110m.json"), (6, "countries-50m.json")])
def test_there_is_land_where_land_is_and_none_in_the_sea(desk: Any, zoom: int, file: str) -> None:
    asked = list[str]()
    desk.page.context.on("request", lambda request: asked.append(request.url))
    for place, is_land in ((BERN, True), (BISCAY, False)):
        frame = ask(desk, {"version": 1, "steps": [step("where", map_at(place, zoom), "map_place")]})
        field(frame, "where_map_place")
        desk.until(lambda frame=frame: frame.locator(f".leaflet-ground-pane[data-shown='{file}']").count() == 1)
        desk.until(lambda frame=frame, land=is_land: is_drawn(frame) == land)
    assert asked and {url.split("/")[2] for url in asked} == {desk.page.url.split("/")[2]}


def test_no_line_runs_across_the_sea_from_one_edge_of_the_map_to_the_other(desk: Any) -> None:
    frame = ask(desk, {"version": 1, "steps": [step("where", map_at(PACIFIC, 2), "map_place")]})
    field(frame, "where_map_place")
    desk.until(lambda: frame.locator(".leaflet-ground-pane[data-shown]").count() == 1)
    assert frame.locator(".map:visible").evaluate(_COLUMN) == [], "islands beside the date line are no belts"


def test_a_place_is_marked_where_the_coast_shows_it(desk: Any) -> None:
    document = {"version": 1, "steps": [step("where", map_at(BERN, 6), "map_place")]}
    before = len(desk.mine.runs())
    frame = ask(desk, document)
    field(frame, "where_map_place")
    desk.until(lambda: frame.locator(".leaflet-ground-pane[data-shown]").count() == 1)
    ground = Surface(desk, frame.locator(".map:visible"), (100, 100))
    ground.click((50, 50))
    desk.until(lambda: frame.locator(".mark-item").count() == 1)
    forward(frame, "Send")
    (mark,) = answers(desk, before + 1, document)["where_map_place"]
    assert near(mark["geometry"]["coordinates"], BERN, 0.05)


def test_pictures_of_a_map_take_the_place_of_the_land(desk: Any) -> None:
    desk.context.route("https://tiles.test/**", lambda route: route.fulfill(content_type="image/png", body=TILE))
    tiles = "https://tiles.test/{z}/{x}/{y}.png"
    frame = ask(desk, {"version": 1, "steps": [step("where", map_at(BERN, 6, tiles=tiles), "map_place")]})
    field(frame, "where_map_place")
    desk.until(lambda: frame.locator(".map:visible .leaflet-tile-pane").count() == 1)
    assert frame.locator(".leaflet-ground-pane").count() == 0


@pytest.mark.proof
def test_the_map_of_the_site_is_shown_where_its_owner_chose_that_and_begins_at_two_columns(
    desk: Any, new_project: Any
) -> None:
    asked = list[str]()
    desk.mine = new_project(tasks=1)

    def tile(route: Any) -> None:
        asked.append(route.request.url)
        route.fulfill(content_type="image/png", body=TILE)

    desk.context.route("https://site.test/**", tile)
    bare = {"name": "chart", "type": "map", "zoom": 10, "description": "A chart"}
    document = {"version": 1, "steps": [step("where", {**bare, "site_map": True}, "map_place")]}
    desk.begin()
    desk.page.add_init_script(OFFERED)
    desk.mine.owner.api("PUT", f"task/{desk.mine.tasks[0]}", {"info": {"Breite": "46,95", "Länge": "7,45"}})
    roles = {"Breite": "latitude", "Länge": "longitude"}
    desk.mine.show(questions=document, column_roles=roles)
    desk.go("/project/MINE/newtask")
    frame = desk.frame()
    field(frame, "where_map_place")
    desk.until(lambda: frame.locator(".map:visible .leaflet-tile-loaded").count())
    assert frame.locator(".leaflet-ground-pane").count() == 0 and frame.get_by_text("Site maps").count() == 1
    columns = {tuple(map(int, url.removeprefix("https://site.test/").removesuffix(".png").split("/"))) for url in asked}
    assert {z for z, _, _ in columns} == {10} and any((x, y) == (533, 360) for _, x, y in columns), columns
    asked.clear()
    desk.mine.add_task()
    desk.mine.show(questions={"version": 1, "steps": [step("where", map_at(BERN, 6), "map_place")]})
    desk.go("/project/MINE/newtask")
    frame = desk.frame()
    field(frame, "where_map_place")
    desk.until(lambda: frame.locator(".leaflet-ground-pane[data-shown]").count() == 1)
    assert asked == [], "the owner did not choose it"
