"""The viewer of pictures: what is marked is where the pointer was, however the picture is enlarged, moved and turned."""

from __future__ import annotations

import io
import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import playwright
import pytest
from PIL import Image, ImageDraw
from support.questions.marked_lists import SITE, only
from support.questions.marking import Fingers, answers, ask, button, field, forward, near, press, with_media

pytestmark = pytest.mark.browser
LARGE: Final = (12_000, 9_000)
SPOT: Final = (6_000, 4_400, 6_200, 4_600)
"""A rectangle of another colour, nearly in the middle."""
ZOOMS: Final = (
    ("Zoom out", 2, 0.45, 0.55),
    ("Show the whole picture", 1, 0.9, 1.05),
    ("Zoom in", 3, 2.5, 3.6),
    ("Zoom in", 2, 7, 8.5),
)
"""Buttons, how often they are pressed, and between which two sizes the picture then is."""
NODE: Final = Path(playwright.__file__).parent / "driver" / "node"
VIEWPORT: Final = Path(__file__).parents[3] / "crowdd/http/static/questions/viewer/viewport.js"


def large_picture() -> bytes:
    image = Image.new("1", LARGE, 1)
    ImageDraw.Draw(image).rectangle(SPOT, fill=0)
    held = io.BytesIO()
    image.save(held, "PNG")
    return held.getvalue()


@pytest.fixture
def desk(make_stage: Any, new_project: Any) -> Iterator[Callable[..., Any]]:
    """Makes stages that find the large picture. They end with their test: each has it decoded, in 400 megabytes."""
    content, made = large_picture(), []
    assert len(content) < 100_000
    headers = {"Content-Type": "image/png", "Access-Control-Allow-Origin": "*"}

    def make(**options: Any) -> Any:
        stage = with_media(make_stage(reduced_motion="reduce", **options))
        made.append(stage)
        stage.context.route(f"{SITE}/large.png", lambda route: route.fulfill(status=200, headers=headers, body=content))
        stage.mine = new_project(n_answers=1)
        return stage

    yield make
    for stage in made:
        stage.context.close()


class View:
    """A picture as it is seen: its sheet on the screen, and how it is turned."""

    def __init__(self, stage: Any, frame: Any) -> None:
        self.stage = stage
        self.sheet, self.view = frame.locator(".sheet").first, frame.locator(".view").first

    def still(self) -> Any:
        def twice() -> Any:
            before = self.sheet.bounding_box()
            self.stage.page.wait_for_timeout(40)
            return before == self.sheet.bounding_box() and before

        return self.stage.until(twice)

    @property
    def degrees(self) -> int:
        return int(self.sheet.evaluate("sheet => /rotate\\((\\d+)deg/.exec(sheet.style.transform)[1]"))

    def middle(self, right: float = 0, down: float = 0) -> tuple[float, float]:
        """A whole pixel of the screen: a mouse is at no other one."""
        box = self.view.bounding_box()
        return round(box["x"] + box["width"] / 2 + right), round(box["y"] + box["height"] / 2 + down)

    def pixel(self, x: float, y: float) -> tuple[float, float]:
        """The pixel of the picture at a place of the screen."""
        return self.pixels([(x, y)])[0]

    def pixels(self, places: list[tuple[float, float]]) -> list[tuple[float, float]]:
        box, degrees = self.still(), self.degrees

        def pixel(x: float, y: float) -> tuple[float, float]:
            across, down = (x - box["x"]) / box["width"], (y - box["y"]) / box["height"]
            turned = {0: (across, down), 90: (down, 1 - across), 180: (1 - across, 1 - down), 270: (1 - down, across)}
            return turned[degrees][0] * LARGE[0], turned[degrees][1] * LARGE[1]

        return [pixel(x, y) for x, y in places]

    @property
    def scale(self) -> float:
        """Pixels of the screen for one of the picture."""
        return float(self.still()["width"] / LARGE[1 if self.degrees % 180 else 0])

    def is_where_it_says(self) -> bool:
        """Whether the rectangle in the picture, without marks, is seen where its pixels are said to be."""
        x, y = self.middle()  # asked for once: a busy machine takes a minute for hundreds of boxes
        places = [(x + right, y + down) for right in range(-72, 73, 8) for down in range(-60, 61, 8)]
        near_edge = 2 / self.scale
        seen = Image.open(io.BytesIO(self.stage.page.screenshot())).convert("L")

        def differs(place: tuple[float, float], pixel: tuple[float, float]) -> bool:
            x, y = pixel
            edges = [abs(x - edge) for edge in (0, LARGE[0], *SPOT[::2])] + [
                abs(y - edge) for edge in (0, LARGE[1], *SPOT[1::2])
            ]
            if min(edges) < near_edge:
                return False
            within = SPOT[0] < x < SPOT[2] and SPOT[1] < y < SPOT[3]
            beside = not (0 <= x <= LARGE[0] and 0 <= y <= LARGE[1])
            shade = seen.getpixel((round(place[0]), round(place[1])))
            return (within or beside) is not (isinstance(shade, int) and shade < 128)

        return not any(differs(*both) for both in zip(places, self.pixels(places), strict=True))


def zoom_of(view: View) -> float:
    view.still()
    box, sheet = view.view.bounding_box(), view.sheet.bounding_box()
    return max(sheet["width"] / box["width"], sheet["height"] / box["height"])


@pytest.mark.proof
@pytest.mark.parametrize("turns", [0, 1, 3])
@pytest.mark.parametrize("hand", ["mouse", "finger"])
def test_marks_are_where_the_pointer_was_at_every_zoom(desk: Callable[..., Any], hand: str, turns: int) -> None:
    finger = {"has_touch": True, "is_mobile": True, "viewport": {"width": 390, "height": 800}}
    stage = desk(**(finger if hand == "finger" else {"viewport": {"width": 1280, "height": 800}}))
    document = only("point", "picture", "/large.png")
    document["steps"][0]["questions"].append({**document["steps"][0]["questions"][0], "name": "boxes", "type": "box"})
    frame = ask(stage, document)
    points, boxes = field(frame, "one_point"), field(frame, "boxes")
    view, page = View(stage, frame), stage.page
    touch = Fingers(stage) if hand == "finger" else None
    if button(frame, "More tools").is_visible():
        button(frame, "More tools").click()
    for _ in range(turns):
        button(frame, "Turn by 90 degrees").click()

    resting = view.view.bounding_box()

    def settled() -> None:
        """The focus of a button at the edge scrolls the frame by some pixels, and it comes back a moment later."""
        if not touch:
            stage.until(lambda: view.view.bounding_box() == resting)
        view.still()

    def go(*places: tuple[float, float]) -> None:
        if touch:
            touch.send("Start", places[0])
            for place in places[1:]:
                touch.send("Move", ((places[0][0] + place[0]) / 2, (places[0][1] + place[1]) / 2))
                touch.send("Move", place)
            page.wait_for_timeout(80)
            touch.send("End")
            page.wait_for_timeout(350)  # what follows sooner is a second tap
        else:
            page.mouse.move(*places[0])
            page.mouse.down()
            page.wait_for_timeout(80)
            for place in places[1:]:
                page.mouse.move(*place, steps=3)
            page.mouse.up()

    def zooms() -> Iterator[int]:
        for n, (name, times, smallest, largest) in enumerate(ZOOMS):
            for _ in range(times):
                press(stage, frame, name)
            assert smallest <= zoom_of(view) <= largest, (name, zoom_of(view))
            yield n

    for _ in zooms():
        stage.until(view.is_where_it_says)  # the picture may still be drawn
    wanted: list[tuple[tuple[float, float], float]] = []
    drawn: list[tuple[tuple[float, float], tuple[float, float], float]] = []
    press(stage, frame, "Show the whole picture")
    for n in zooms():
        if n:
            button(points, "Draw").click()
        settled()
        place = view.middle(-20, 10)
        go(place)
        wanted.append((view.pixel(*place), view.scale))
        stage.until(lambda: points.locator(".mark-item").count() == len(wanted))
        button(boxes, "Draw").click()
        settled()
        one, two = view.middle(-40, -30), view.middle(30, 25)
        go(one, two)
        drawn.append((view.pixel(*one), view.pixel(*two), view.scale))
        stage.until(lambda: boxes.locator(".mark-item").count() == len(drawn))
    forward(frame, "Send")
    info = answers(stage, 1, document)
    for (pixel, scale), mark in zip(wanted, info["one_point"], strict=True):
        assert near(mark, {"x": pixel[0], "y": pixel[1]}, 1.5 / scale), (mark, pixel, scale)
    for (one, two, scale), mark in zip(drawn, info["boxes"], strict=True):
        corner = min(one[0], two[0]), min(one[1], two[1])
        meant = {"x": corner[0], "y": corner[1], "width": abs(one[0] - two[0]), "height": abs(one[1] - two[1])}
        assert near(mark, meant, 2.5 / scale), (mark, meant, scale)


@pytest.mark.proof
@pytest.mark.parametrize("kind", ["box", ""])
def test_a_picture_has_the_same_tools_with_marks_and_without(desk: Callable[..., Any], kind: str) -> None:
    stage = desk(viewport={"width": 1280, "height": 800})
    document = only("box", "picture", "/large.png")
    if not kind:
        document["steps"][0]["questions"] = [{"name": "it", "type": "short_text", "text": "What is it?"}]
    frame = ask(stage, document)
    if kind:
        field(frame, "one_box")
    view, page = View(stage, frame), stage.page
    stage.until(lambda: 0.95 < zoom_of(view) < 1.05)
    place = view.middle(100, 60)
    before = view.pixel(*place)
    page.mouse.move(*place)
    for _ in range(6):
        page.mouse.wheel(0, -100)
    stage.until(lambda: zoom_of(view) > 2.5)
    assert near(list(view.pixel(*place)), list(before), 1.5 / view.scale)  # what is under the pointer stays there
    assert frame.locator(".overview").is_visible()
    frame.locator("form.say .over").click()  # the keys are the frame's
    page.mouse.move(*place)

    page.keyboard.down(" ")  # moves it, and draws nothing
    page.mouse.down()
    page.mouse.move(place[0] - 90, place[1] - 50, steps=4)
    page.mouse.up()
    page.keyboard.up(" ")
    assert near(list(view.pixel(place[0] - 90, place[1] - 50)), list(before), 2 / view.scale)
    assert frame.locator(".mark-item").count() == 0

    overview = frame.locator(".overview").bounding_box()
    page.mouse.click(overview["x"] + overview["width"] / 2, overview["y"] + overview["height"] / 2)
    assert near(list(view.pixel(*view.middle())), [LARGE[0] / 2, LARGE[1] / 2], 150)
    assert frame.locator(".mark-item").count() == 0

    page.keyboard.press("i", delay=80)
    button(frame, "Brightness and contrast").click()
    frame.get_by_role("slider", name="Brightness").fill("150")
    stage.until(lambda: "invert(1)" in view.sheet.locator("img").first.evaluate("it => getComputedStyle(it).filter"))
    assert "brightness(1.5)" in view.sheet.locator("img").first.evaluate("it => getComputedStyle(it).filter")
    button(frame, "Full size").click()
    assert near(view.scale, 1, 0.001)
    button(frame, "Large view").click()
    stage.until(lambda: view.view.bounding_box()["width"] == frame.evaluate("innerWidth"))
    page.keyboard.press("Escape")
    stage.until(lambda: view.view.bounding_box()["width"] < frame.evaluate("innerWidth"))
    page.keyboard.press("0", delay=80)
    stage.until(lambda: frame.locator(".overview").is_hidden())
    assert stage.console == []


@pytest.mark.proof
@pytest.mark.parametrize(("height", "is_told"), [(3000, True), ("?", False)])  # half of a size is none
def test_the_size_of_the_original_goes_with_the_answer(desk: Callable[..., Any], height: object, is_told: bool) -> None:
    stage = desk(viewport={"width": 1280, "height": 800})
    document = only("point", "picture", "/photo.jpg")
    size = {"original_width": 4000, "original_height": height}
    for task in stage.mine.tasks:
        stage.mine.owner.api("PUT", f"task/{task}", {"info": size})
    stage.begin()
    stage.mine.show(questions=document)
    stage.go("/project/MINE/newtask")
    frame = stage.frame()
    frame.wait_for_selector("form.say")
    field(frame, "one_point")
    forward(frame, "Send")
    info = answers(stage, 1, document)
    assert {name: info[name] for name in size if name in info} == (size if is_told else {})


def test_places_in_the_picture_and_in_the_room_are_the_same_at_every_zoom_and_turn() -> None:
    """The numbers of the viewer, as the browser reckons them."""
    done = subprocess.run(
        [NODE, "--input-type=module", "-"],
        input=VIEWPORT.read_text()
        + """
        const port = new Viewport(), seen = [];
        port.fill({ width: 390, height: 290 });
        port.begin({ width: 12000, height: 9000 });
        for (const turns of [0, 1, 2, 3]) for (const zoom of [0.5, 1, 3, 8]) {
          port.begin(port.picture);
          for (let n = 0; n < turns; n++) port.turn();
          const place = [150, 120], before = port.inPicture(place);
          port.scaleTo(zoom * port.whole, place);
          const back = port.inRoom(port.inPicture(place)), moved = port.inPicture(place);
          seen.push([port.zoom, port.degrees, Math.hypot(back[0] - 150, back[1] - 120), zoom > 1 ? Math.hypot(before[0] - moved[0], before[1] - moved[1]) : 0]);
        }
        port.panBy(1e9, -1e9);
        seen.push([port.inRoom([0, 0]).every(Number.isFinite), ...port.centre]);
        console.log(JSON.stringify(seen));""",
        capture_output=True,
        text=True,
        check=True,
    )
    *turned, [finite, x, y] = json.loads(done.stdout)
    assert len(turned) == 16 and finite and 0 <= x <= LARGE[0] and 0 <= y <= LARGE[1]
    assert all(back < 1e-6 and moved < 1e-6 for _, _, back, moved in turned), turned
    assert [round(zoom, 6) for zoom, *_ in turned] == [0.5, 1, 3, 8] * 4
