"""Deep-zoom pictures of another site, and what is drawn on them while they are enlarged and turned."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import pytest
from PIL import Image
from support.checks.proofs import examples
from support.questions.marked_lists import SITE, only, step
from support.questions.marking import Surface, answers, ask, button, field, forward, near, press, with_media
from support.tiles import HEIGHT, WIDTH, TileServer

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def library() -> Iterator[TileServer]:
    with TileServer() as site:
        yield site


@pytest.fixture(scope="module")
def desk(make_stage: Any, new_project: Any) -> Any:
    stage = with_media(make_stage(viewport={"width": 1280, "height": 800}, reduced_motion="reduce"))
    stage.mine = new_project(tasks=10)
    return stage


def medium(address: str) -> dict[str, Any]:
    return {"name": "sheet", "type": "zoom_picture", "source": {"url": address}, "description": "A sheet"}


def surface(stage: Any, frame: Any) -> Surface:
    return Surface(stage, frame.locator(".marked:visible svg.a9s-annotationlayer"), (WIDTH, HEIGHT))


@examples("/two/info.json")
@pytest.mark.parametrize("path", ["/two/info.json", "/three/info.json", "/deep.dzi"])
def test_a_picture_in_tiles_is_shown_enlarged_and_marked(desk: Any, library: TileServer, path: str) -> None:
    document = {"version": 1, "steps": [step("one", medium(library.url + path), "point")]}
    before = len(desk.mine.runs())
    library.asked.clear()
    frame = ask(desk, document)
    field(frame, "one_point")
    sheet = surface(desk, frame)
    sheet.click((1900, 100))
    for _ in range(3):
        button(frame, "Zoom in").click()
    middle = 1000, 750
    desk.until(lambda: sheet.place.bounding_box()["width"] > WIDTH)
    sheet.click(middle)
    desk.until(lambda: frame.locator(".mark-item").count() == 2)
    forward(frame, "Send")
    first, second = answers(desk, before + 1, document)["one_point"]
    assert near(first, {"x": 1900, "y": 100}, 3), first
    assert near(second, {"x": 1000, "y": 750}, 1), second
    assert path in library.asked and not [asked for asked in library.asked if asked not in library.files]
    largest = "/0/default.jpg" if path.endswith("json") else "_files/11/"
    assert [asked for asked in library.asked if largest in asked]


@pytest.mark.proof
def test_a_description_that_other_sites_may_not_read_is_said_not_to_load(desk: Any, library: TileServer) -> None:
    for path in ("/closed/info.json", "/none/info.json"):
        frame = ask(desk, {"version": 1, "steps": [step("one", medium(library.url + path), "point")]})
        frame.get_by_text("This part of the task did not load.").wait_for()
        frame.get_by_text("This question needs something that did not load. Skip the task, please.").wait_for()
        assert frame.locator("form.say").is_visible() and desk.page.locator("#skip").is_visible()


TURNED = ("box", "line", "polygon", "freehand", "point")


@pytest.mark.proof
@pytest.mark.parametrize("turns", [1, 2, 3])
def test_marks_are_drawn_on_a_turned_picture_where_the_pointer_is(desk: Any, turns: int) -> None:
    place = only("box", "zoom_picture", "/photo.jpg")["steps"][0]["media"][0]
    document = {"version": 1, "steps": [step("one", place, *TURNED)]}
    before = len(desk.mine.runs())
    frame = ask(desk, document)
    field(frame, "one_box")
    for _ in range(turns):
        button(frame, "Turn by 90 degrees").click()

    class Turned(Surface):
        """Pixels of the picture, which is turned on the screen."""

        def at(self, x: float, y: float) -> tuple[float, float]:
            return super().at(*turn(x, y))

        def at_once(self, x: float, y: float) -> tuple[float, float]:
            return super().at_once(*turn(x, y))

    def turn(x: float, y: float) -> tuple[float, float]:
        return [(600 - y, x), (800 - x, 600 - y), (y, 800 - x)][turns - 1]

    def draw_line() -> None:
        photo.click((100, 300), (300, 350), (500, 300))
        desk.until(lambda: frame.locator(".a9s-rubberband .dot").count() == 3)  # a key may overtake a click
        desk.page.keyboard.press("Enter")

    size = (800, 600) if turns == 2 else (600, 800)
    photo = Turned(desk, frame.locator(".marked:visible svg.a9s-annotationlayer"), size)
    photo.drag((100, 100), (300, 250))
    for name, acts in {
        "line": draw_line,
        "polygon": lambda: photo.click((500, 100), (700, 100), (600, 250), (501, 101)),
        "freehand": lambda: photo.drag((500, 350), (700, 350), (700, 500), (500, 500), (502, 360)),
        "point": lambda: photo.click((400, 550)),
    }.items():
        button(field(frame, f"one_{name}"), "Draw").click()
        acts()
        marks = frame.locator(f"[data-question=one_{name}] .mark-item")
        desk.until(lambda: marks.count() == 1)  # noqa: B023
    press(desk, frame, "Send")
    info = answers(desk, before + 1, document)
    assert near(info["one_box"], [{"x": 100, "y": 100, "width": 200, "height": 150}], 3), info["one_box"]
    assert near(info["one_line"], [{"points": [[100, 300], [300, 350], [500, 300]]}], 3), info["one_line"]
    assert near(info["one_polygon"], [{"points": [[500, 100], [700, 100], [600, 250]]}], 3), info["one_polygon"]
    assert near(info["one_freehand"][0]["points"][0], [500, 350], 3), info["one_freehand"]
    assert near(info["one_point"], [{"x": 400, "y": 550}], 3), info["one_point"]


PIXELS = "place => [place.querySelector('.ground canvas') !== null, getComputedStyle(place.querySelector('.sheet img')).opacity]"


def asking(stage: Any, library: TileServer, document: dict[str, Any]) -> Any:
    """The frame in which the project asks for points; from now on the library counts what it is asked for."""
    library.asked.clear()
    stage.begin()
    stage.mine.show(questions=document)
    stage.go("/project/MINE/newtask")
    frame = stage.frame()
    field(frame, "one_point")
    return frame


@pytest.mark.proof
@pytest.mark.parametrize("kind", ["picture", "zoom_picture"])
def test_a_reduced_picture_is_refined_by_its_tiles_where_it_is_enlarged(
    make_stage: Any, new_project: Any, library: TileServer, kind: str
) -> None:
    stage = with_media(make_stage(viewport={"width": 1280, "height": 800}, reduced_motion="reduce"))
    stage.mine = new_project(tasks=2, n_answers=1)
    first, second = stage.mine.tasks
    for task, tiles in ((first, {"scan_tiles": f"{library.url}/deep.dzi"}), (second, {})):
        stage.mine.owner.api("PUT", f"task/{task}", {"info": {"scan": f"{SITE}/photo.jpg", **tiles}})
    picture = {"name": "sheet", "type": kind, "source": {"column": "scan"}, "description": "A sheet"}
    document = {"version": 1, "steps": [step("one", picture, "point")]}
    frame = asking(stage, library, document)
    place, sheet = frame.locator(".viewer"), Surface(stage, frame.locator("svg.a9s-annotationlayer"), (800, 600))
    stage.until(lambda: sheet.place.bounding_box()["width"] > 300)
    assert library.asked == [] and place.evaluate(PIXELS) == [False, "1"]
    for _ in range(4):
        button(frame, "Zoom in").click()
    stage.until(lambda: place.evaluate(PIXELS) == [True, "0"])
    assert [asked for asked in library.asked if "_files/11/" in asked]
    image = Image.open(io.BytesIO(place.locator(".view").screenshot())).convert("L")
    shade = image.getpixel((image.width // 2, image.height // 2 + 40))
    assert isinstance(shade, int) and shade > 240  # the cross that only tiles have
    sheet.click((400, 300))
    stage.until(lambda: frame.locator(".mark-item").count() == 1)
    button(frame, "Show the whole picture").click()
    sheet.click((100, 550))
    stage.until(lambda: frame.locator(".mark-item").count() == 2)
    forward(frame, "Send")
    marked, other = answers(stage, 1, document)["one_point"]
    assert near(marked, {"x": 400, "y": 300}, 1) and near(other, {"x": 100, "y": 550}, 2), (marked, other)
    stage.until(lambda: place.evaluate(PIXELS) == [False, "1"])  # the next picture has none
    for _ in range(4):
        button(frame, "Zoom in").click()
    library.asked.clear()
    sheet.click((400, 300))
    stage.until(lambda: frame.locator(".mark-item").count() == 1)
    assert library.asked == [] and place.evaluate(PIXELS) == [False, "1"]


@pytest.mark.proof
def test_a_picture_whose_tiles_do_not_load_stays_as_it_is(
    make_stage: Any, new_project: Any, library: TileServer
) -> None:
    stage = with_media(make_stage(viewport={"width": 1280, "height": 800}, reduced_motion="reduce"))
    stage.mine = new_project(tasks=1)
    info = {"scan": f"{SITE}/photo.jpg", "scan_tiles": f"{library.url}/none.dzi"}
    stage.mine.owner.api("PUT", f"task/{stage.mine.tasks[0]}", {"info": info})
    picture = {"name": "sheet", "type": "picture", "source": {"column": "scan"}, "description": "A sheet"}
    library.asked.clear()
    stage.begin()
    stage.mine.show(questions={"version": 1, "steps": [step("one", picture, "point")]})
    stage.go("/project/MINE/newtask")
    frame = stage.frame()
    field(frame, "one_point")
    for _ in range(4):
        button(frame, "Zoom in").click()
    stage.until(lambda: "/none.dzi" in library.asked)
    Surface(stage, frame.locator("svg.a9s-annotationlayer"), (800, 600)).click((400, 300))
    stage.until(lambda: frame.locator(".mark-item").count() == 1)
    assert frame.locator(".viewer").evaluate(PIXELS)[1] == "1"
    assert frame.get_by_text("did not load").count() == 0


@pytest.mark.proof
@pytest.mark.parametrize("finer", [{"scan_tiles": "/deep.dzi"}, {"original": "/whole.jpg"}], ids=["tiles", "original"])
def test_full_size_is_that_of_the_file_and_not_of_the_reduced_picture(
    make_stage: Any, new_project: Any, library: TileServer, finer: dict[str, str]
) -> None:
    stage = with_media(make_stage(viewport={"width": 1280, "height": 800}, reduced_motion="reduce"))
    stage.mine = new_project(tasks=1)
    more = {column: library.url + path for column, path in finer.items()}
    stage.mine.owner.api("PUT", f"task/{stage.mine.tasks[0]}", {"info": {"scan": f"{SITE}/photo.jpg", **more}})
    sheet = {"name": "sheet", "type": "picture", "source": {"column": "scan"}, "description": "A sheet"}
    document = {"version": 1, "steps": [step("one", sheet, "point")]}
    frame = asking(stage, library, document)
    place, drawn = frame.locator(".viewer"), Surface(stage, frame.locator("svg.a9s-annotationlayer"), (800, 600))
    stage.until(lambda: drawn.place.bounding_box()["width"] > 300)
    assert library.asked == []
    button(frame, "Full size").click()
    stage.until(lambda: place.evaluate(PIXELS) == [True, "0"] and drawn.place.bounding_box()["width"] == WIDTH)
    image = Image.open(io.BytesIO(place.locator(".view").screenshot())).convert("L")
    shade = image.getpixel((image.width // 2, image.height // 2 + 40))
    assert isinstance(shade, int) and shade > 240  # the cross that only the file has
    drawn.click((400, 300))
    stage.until(lambda: frame.locator(".mark-item").count() == 1)
    forward(frame, "Send")
    assert near(answers(stage, 1, document)["one_point"], [{"x": 400, "y": 300}], 1)
