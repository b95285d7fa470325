"""The map in the data folder of a site is drawn where an owner chose it, light or dark, and without another server."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser.presenter_page import Project, frame_in
from support.map_files import map_file
from support.person import Person
from support.questions.marked_lists import step
from support.servers.live import LiveServer
from support.until import until_on

pytestmark = [pytest.mark.browser, pytest.mark.proof]
_COLOURS = """(map) => {
  const box = map.getBoundingClientRect(), middle = box.left + box.width / 2, height = box.top + box.height / 2;
  return [-60, 60].map((beside) => { // water of one tile, land of the next
    const x = middle + beside;
    for (const tile of map.querySelectorAll("canvas.leaflet-tile-loaded")) {
      const at = tile.getBoundingClientRect(), grain = tile.width / at.width;
      if (x >= at.left && x < at.right && height >= at.top && height < at.bottom) {
        return [...tile.getContext("2d").getImageData((x - at.left) * grain, (height - at.top) * grain, 1, 1).data].join();
      }
    }
    return "";
  });
}"""


@pytest.fixture(scope="module")
def site(postgres: Any) -> Iterator[LiveServer]:
    """A site that offers a map of its own, shown with an attribution."""
    data = Path(tempfile.mkdtemp(prefix="crowdd-map-", dir="/tmp"))
    (data / "world.pmtiles").write_bytes(map_file())
    server = LiveServer(postgres.make(), data, CROWDD_MAPS_FILE="world.pmtiles", CROWDD_MAPS_ATTRIBUTION="Our map")
    server.start()
    yield server
    server.stop()
    shutil.rmtree(data, ignore_errors=True)


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    context = browser.new_context(color_scheme="light", reduced_motion="reduce")
    context.set_default_timeout(60_000)  # a busy machine is no failure
    yield context.new_page()
    context.close()


def colours(page: Any, theme: str) -> list[str]:
    """What is drawn west and east of the middle of the map, once both are."""
    page.emulate_media(color_scheme=theme)
    place = page.frame_locator("#presenter iframe").locator(".map:visible")
    place.wait_for()
    seen = list[str]()

    def settled() -> bool:
        before, seen[:] = list(seen), place.evaluate(_COLOURS)
        return all(seen) and before == seen

    until_on(page, settled)
    return seen


def test_a_map_of_a_file_is_drawn_light_and_dark(site: LiveServer, page: Any) -> None:
    owner = Person(site.url).register("mapper")
    project = Project(owner, "places", 1)
    chart = {"name": "chart", "type": "map", "center": [0, 0], "zoom": 2, "description": "A chart", "site_map": True}
    project.show(questions={"version": 1, "steps": [step("where", chart, "map_place")]})
    asked, wrong = list[str](), list[str]()
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: message.type == "error" and wrong.append(message.text))
    page.goto(f"{site.url}/project/places/newtask")
    light = colours(page, "light")
    frame = frame_in(page.wait_for_selector("#presenter iframe"))
    assert frame is not None and frame.get_by_text("Our map").count() == 1
    assert frame.locator(".leaflet-ground-pane").count() == 0, "the file takes the place of the land that comes along"
    assert light[0] != light[1], "land is no water"
    page.emulate_media(color_scheme="dark")
    until_on(page, lambda: all(one != other for one, other in zip(colours(page, "dark"), light, strict=True)))
    assert {url.split("/")[2] for url in asked if url.startswith("http")} == {site.url.split("/")[2]}
    assert any(url.endswith("/site.pmtiles") for url in asked) and wrong == []


def test_a_map_whose_file_is_missing_says_so_and_one_without_it_is_drawn(site: LiveServer, page: Any) -> None:
    owner = Person(site.url).register("charter")
    project = Project(owner, "charts", 1)
    chart = {"name": "chart", "type": "map", "center": [0, 0], "zoom": 2, "description": "A chart"}
    file = site.data / "world.pmtiles"
    asked = list[str]()
    page.on("request", lambda request: asked.append(request.url))
    project.show(questions={"version": 1, "steps": [step("where", chart, "map_place")]})
    page.goto(f"{site.url}/project/charts/newtask")
    page.frame_locator("#presenter iframe").locator(".leaflet-ground-pane[data-shown]").wait_for(state="attached")
    assert not any(url.endswith("/site.pmtiles") for url in asked), "the owner did not choose it"
    project.show(questions={"version": 1, "steps": [step("where", {**chart, "site_map": True}, "map_place")]})
    hidden = file.rename(file.with_suffix(".away"))
    try:
        page.goto(f"{site.url}/project/charts/newtask")
        page.frame_locator("#presenter iframe").locator(".unseen").wait_for()
    finally:
        hidden.rename(file)
