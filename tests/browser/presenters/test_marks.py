"""Marks on media, as volunteers make them: each type by mouse and by keyboard, in the frame of a project."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest
from support.marked_lists import SITE, every_mark, media, only
from support.question_lists import ONE
from test_accessibility import AXE, RUN_ALL

from crowdd.kinds.questions import answer_schema

pytestmark = pytest.mark.browser
LIBRARIES = ("annotorious", "text-annotator", "wavesurfer", "leaflet", "openseadragon", "marks/")
MEDIA_FRAGMENTS = "http://www.w3.org/TR/media-frags/"


def with_media(stage: Any) -> Any:
    """A stage whose browser finds the media of ``support.marked_lists``."""
    files = media()

    def answer(route: Any) -> None:
        kind, content = files[route.request.url.removeprefix(SITE)]
        headers = {"Content-Type": kind, "Access-Control-Allow-Origin": "*"}
        route.fulfill(status=200, headers=headers, body=content)

    stage.context.route(f"{SITE}/**", answer)
    return stage


@pytest.fixture(scope="module")
def desk(make_stage: Any) -> Any:
    return with_media(make_stage(viewport={"width": 1280, "height": 800}))


def ask(stage: Any, document: Any) -> Any:
    """The frame with the questions of a document."""
    stage.begin()
    stage.mine.show(questions=document)
    stage.go("/project/MINE/newtask")
    frame = stage.frame()
    frame.wait_for_selector("form.say")
    return frame


def button(place: Any, name: str) -> Any:
    return place.get_by_role("button", name=name, exact=True)


def field(frame: Any, name: str) -> Any:
    """The field of a question, once its marks can be drawn."""
    found = frame.locator(f"[data-question={name}]")
    found.locator(".marks-tools button:nth-child(2):enabled").wait_for()
    return found


def forward(frame: Any, name: str = "Next") -> None:
    button(frame, name).click()


def answers(stage: Any, n: int, document: Any) -> Any:
    """The last of ``n`` answers, once it is there; it is valid."""
    runs = stage.until(lambda: (found := stage.mine.runs()) and len(found) == n and found)
    info = runs[-1]["info"]
    jsonschema_rs.validate(answer_schema(document), info)
    return info


class Surface:
    """Where a medium is on the screen: its own pixels are asked for by a pointer."""

    pause = 30  # milliseconds

    def __init__(self, stage: Any, place: Any, size: tuple[float, float]) -> None:
        self.stage, self.place, self.size = stage, place, size

    def at(self, x: float, y: float) -> tuple[float, float]:
        self.place.scroll_into_view_if_needed()
        box = self.stage.until(lambda: (found := self.place.bounding_box()) and found == self.still() and found)
        return box["x"] + x / self.size[0] * box["width"], box["y"] + y / self.size[1] * box["height"]

    def still(self) -> Any:
        """Where it is a moment later: the frame may still grow."""
        self.stage.page.wait_for_timeout(self.pause)
        return self.place.bounding_box()

    def reach(self, x: float, y: float) -> None:
        """Moves the mouse there. After the page has scrolled, Chromium may take a while to find the frame under it."""
        place, mouse = self.at(x, y), self.stage.page.mouse

        def over() -> bool:
            mouse.move(place[0] - 1, place[1])
            mouse.move(*place)
            return bool(self.place.evaluate("place => place.matches(':hover') || !!place.querySelector(':hover')"))

        self.stage.until(over)

    def drag(self, *points: tuple[float, float]) -> None:
        mouse = self.stage.page.mouse
        self.reach(*points[0])
        mouse.down()
        for point in points[1:]:
            mouse.move(*self.at(*point), steps=4)
        mouse.up()

    def click(self, *points: tuple[float, float]) -> None:
        for point in points:
            self.reach(*point)
            self.stage.page.mouse.down()
            self.stage.page.mouse.up()


def near(value: Any, wanted: Any, by: float = 2) -> bool:
    """Whether numbers are as wanted within ``by``: pixels of a screen are no pixels of a picture."""
    if isinstance(wanted, dict):
        return set(value) >= set(wanted) and all(near(value[key], wanted[key], by) for key in wanted)
    if isinstance(wanted, list):
        return len(value) == len(wanted) and all(near(one, two, by) for one, two in zip(value, wanted, strict=True))
    if isinstance(wanted, float | int) and not isinstance(wanted, bool):
        return abs(value - wanted) <= by
    return bool(value == wanted)


def picture(stage: Any, frame: Any) -> Surface:
    return Surface(stage, frame.locator(".marked:visible svg.a9s-annotationlayer"), (800, 600))


def test_every_type_by_mouse(desk: Any) -> None:
    document, before = every_mark(), len(desk.mine.runs())
    frame = ask(desk, document)
    boxes = field(frame, "boxes_box")
    photo = picture(desk, frame)
    photo.drag((100, 100), (300, 250))
    photo.drag((400, 300), (500, 500))
    assert boxes.locator(".mark").all_inner_texts()[0].startswith("Box 1: Left")
    boxes.get_by_label("Right").check()
    boxes.get_by_label("Yes").locator("visible=true").check()
    photo.click((200, 175))  # the first one: it gets handles
    photo.drag((300, 250), (320, 260))
    field(frame, "boxes_point").get_by_role("button", name="Draw").click()
    photo.click((600, 100), (650, 150))
    photo.drag((650, 150), (700, 200))
    desk.until(lambda: field(frame, "boxes_point").locator(".mark-item").count() == 2)
    forward(frame)

    field(frame, "lines_line")
    photo = picture(desk, frame)
    photo.click((100, 100), (200, 150))
    photo.reach(300, 100)
    desk.page.mouse.dblclick(*photo.at(300, 100))
    forward(frame)

    areas = field(frame, "areas_polygon")
    photo = picture(desk, frame)
    photo.click((100, 100), (300, 100), (200, 300), (101, 101))
    desk.until(lambda: areas.locator(".mark-item").count() == 1)
    field(frame, "areas_freehand").get_by_role("button", name="Draw").click()
    photo.drag((400, 300), (600, 300), (600, 500), (400, 500), (402, 310))
    forward(frame)

    field(frame, "counted_count")
    photo = picture(desk, frame)
    photo.click((100, 100), (400, 300), (700, 500))
    button(frame, "Undo").click()
    forward(frame)

    words = field(frame, "words_text_spans")
    select(desk, frame, 24, 28)
    desk.until(lambda: words.locator(".mark-item").count() == 1)
    forward(frame)

    field(frame, "sounds_sound_segments")
    line = Surface(desk, frame.locator(".waves:visible"), (10, 1))
    line.drag((2, 0.5), (4, 0.5))
    forward(frame)

    field(frame, "films_video_segments")
    line = Surface(desk, frame.locator(".waves:visible"), (10, 1))
    line.drag((5, 0.5), (6, 0.5))
    forward(frame)

    places = field(frame, "places_map_place")
    ground = Surface(desk, frame.locator(".map:visible"), (100, 100))
    ground.click((50, 50))
    desk.until(lambda: places.locator(".mark-item").count() == 1)
    forward(frame)

    regions = field(frame, "regions_map_area")
    ground = Surface(desk, frame.locator(".map:visible"), (100, 100))
    ground.click((40, 60), (60, 60), (60, 40), (40, 60))
    desk.until(lambda: regions.locator(".mark-item").count() == 1)
    forward(frame)

    writing = field(frame, "writing_transcription")
    button(writing, "Add a line").click()
    writing.get_by_role("textbox", name="Line 1").fill("Dear Mary,")
    picture(desk, frame).drag((100, 50), (500, 100))
    forward(frame, "Send")

    info = answers(desk, before + 1, document)
    first, second = info["boxes_box"]
    assert near(first, {"x": 100, "y": 100, "width": 220, "height": 160, "label": "left", "answers": {}}), first
    assert near(second, {"x": 400, "y": 300, "width": 100, "height": 200, "label": "right"}), second
    assert second["answers"] == {"hidden": True}
    wanted = "xywh=pixel:{x},{y},{width},{height}".format(**first)
    assert first["selector"] == {"type": "FragmentSelector", "conformsTo": MEDIA_FRAGMENTS, "value": wanted}
    assert near(info["boxes_point"], [{"x": 600, "y": 100}, {"x": 700, "y": 200}]), info["boxes_point"]
    assert near(info["lines_line"], [{"points": [[100, 100], [200, 150], [300, 100]]}])
    assert near(info["areas_polygon"], [{"points": [[100, 100], [300, 100], [200, 300]]}])
    corners = " ".join(f"{x:g},{y:g}" for x, y in info["areas_polygon"][0]["points"])
    svg = f'<svg xmlns="http://www.w3.org/2000/svg"><polygon points="{corners}"/></svg>'
    assert info["areas_polygon"][0]["selector"] == {"type": "SvgSelector", "value": svg}
    assert near(info["areas_freehand"][0]["points"][0], [400, 300])
    assert near(info["counted_count"], [{"x": 100, "y": 100}, {"x": 400, "y": 300}], 3), info["counted_count"]
    assert info["words_text_spans"] == [
        {
            "start": 23,
            "end": 27,
            "text": "Mary",
            "label": "left",
            "selector": {"type": "TextPositionSelector", "start": 23, "end": 27},
        }
    ]
    assert near(info["sounds_sound_segments"], [{"start": 2, "end": 4}], 0.1)
    assert near(info["films_video_segments"], [{"start": 5, "end": 6}], 0.1)
    assert near(info["places_map_place"][0]["geometry"]["coordinates"], [2.35, 48.85], 0.001)
    [ring] = info["regions_map_area"][0]["geometry"]["coordinates"]
    assert len(ring) == 4 and ring[0] == ring[-1]
    assert near(info["writing_transcription"], [{"text": "Dear Mary,", "x": 100, "y": 50, "width": 400, "height": 50}])
    assert [line for line in desk.console if "SPANS" not in line and "Took" not in line] == []


def select(stage: Any, frame: Any, start: int, end: int) -> None:
    """Selects a part of the text by mouse; places are those of JavaScript."""
    ends = frame.evaluate(
        """([start, end]) => [start, end].map((at) => {
            const range = document.createRange(), words = document.querySelector(".words:not([hidden])").firstChild;
            range.setStart(words, at); range.collapse(true);
            const {x, y, height} = range.getBoundingClientRect(); return [x, y + height / 2]; })""",
        [start, end],
    )
    frame_box = stage.page.locator("#presenter iframe").bounding_box()
    (x, y), (right, down) = [(frame_box["x"] + left, frame_box["y"] + top) for left, top in ends]
    stage.page.mouse.move(x, y)
    stage.page.mouse.down()
    stage.page.mouse.move((x + right) / 2, down)
    stage.page.mouse.move(right, down)
    stage.page.mouse.up()


def test_nothing_of_a_library_is_loaded_before_a_list_uses_it(desk: Any) -> None:
    frame = ask(desk, ONE)
    button(frame, "Fox").wait_for()
    assert [one.path for one in desk.asked() if any(name in one.path for name in LIBRARIES)] == []
    frame = ask(desk, only("text_spans", "text", "/letter.txt"))
    field(frame, "one_text_spans")
    assert {name for one in desk.asked() for name in LIBRARIES if name in one.path} == {"text-annotator", "marks/"}


def by_keyboard(stage: Any, frame: Any, name: str, add: str, *keys: str) -> Any:
    """Adds a mark with the button and presses keys on it; answers the field."""
    found = field(frame, name)
    button(found, add).focus()
    stage.page.keyboard.press("Enter")
    for key in keys:
        stage.page.keyboard.press(key)
    return found


def test_every_type_by_keyboard(desk: Any) -> None:
    document, before = every_mark(), len(desk.mine.runs())
    frame = ask(desk, document)
    keyboard = desk.page.keyboard
    boxes = by_keyboard(desk, frame, "boxes_box", "Add a box", "ArrowRight", "ArrowDown", "Shift+ArrowRight")
    assert frame.locator("[role=status]").inner_text() == "Box 1: Left: 308, 233; 208 × 150."
    assert boxes.locator(".mark").get_attribute("aria-expanded") == "true"
    by_keyboard(desk, frame, "boxes_box", "Add a box", "Delete")
    assert frame.locator("[role=status]").inner_text() == "Box 2 deleted."
    assert frame.evaluate("document.activeElement.className") == "mark"  # the one that is left
    keyboard.press("Control+z")
    desk.until(lambda: boxes.locator(".mark-item").count() == 2)
    boxes.locator(".mark").nth(1).focus()
    keyboard.press("Enter")
    keyboard.press("r")  # the key of a label
    boxes.get_by_label("Width", exact=True).locator("visible=true").focus()
    keyboard.press("Control+a")
    keyboard.type("120")
    keyboard.press("Enter")
    assert "120 ×" in boxes.locator(".mark").nth(1).inner_text()
    by_keyboard(desk, frame, "boxes_point", "Add a point", "Control+ArrowLeft")
    press(desk, frame, "Next")
    line = by_keyboard(desk, frame, "lines_line", "Add a line")
    button(line, "Add a point").focus()
    keyboard.press("Enter")
    line.get_by_label("Y", exact=True).fill("100")
    keyboard.press("Tab")
    press(desk, frame, "Next")
    by_keyboard(desk, frame, "areas_polygon", "Add an area", "Shift+ArrowDown")
    by_keyboard(desk, frame, "areas_freehand", "Add an area", "ArrowUp")
    press(desk, frame, "Next")
    by_keyboard(desk, frame, "counted_count", "Add a point", "ArrowUp")
    press(desk, frame, "Next")
    words = by_keyboard(desk, frame, "words_text_spans", "Add a mark", "ArrowRight", "Shift+ArrowRight")
    assert "“wrote مرحبا”" in words.locator(".mark").inner_text()
    press(desk, frame, "Next")
    by_keyboard(desk, frame, "sounds_sound_segments", "Add a segment", "ArrowRight", "Shift+ArrowRight")
    press(desk, frame, "Next")
    films = field(frame, "films_video_segments")
    films.get_by_label("There is nothing to mark").focus()
    keyboard.press("Space")
    press(desk, frame, "Next")
    by_keyboard(desk, frame, "places_map_place", "Add a place", "ArrowUp")
    press(desk, frame, "Next")
    by_keyboard(desk, frame, "regions_map_area", "Add an area", "ArrowRight")
    press(desk, frame, "Next")
    writing = by_keyboard(desk, frame, "writing_transcription", "Add a line")
    keyboard.type("Dear Mary,")
    keyboard.press("Enter")
    keyboard.type("how are you?")
    button(writing.locator(".mark-item").nth(1), "Add a box").focus()
    keyboard.press("Enter")
    keyboard.press("ArrowDown")
    press(desk, frame, "Send")
    info = answers(desk, before + 1, document)
    assert [{key: box[key] for key in ("x", "y", "width", "height", "label")} for box in info["boxes_box"]] == [
        {"x": 308, "y": 233, "width": 208, "height": 150, "label": "left"},
        {"x": 312, "y": 237, "width": 120, "height": 150, "label": "right"},
    ]
    assert [(point["x"], point["y"]) for point in info["boxes_point"]] == [(399, 300)]
    assert info["lines_line"][0]["points"] == [[300, 300], [400, 100], [500, 300]]
    assert info["areas_polygon"][0]["points"] == [[320, 240], [480, 240], [480, 368], [320, 368]]
    assert info["areas_freehand"][0]["points"][0] == [480, 292]
    assert (info["counted_count"][0]["x"], info["counted_count"][0]["y"]) == (400, 292)
    assert info["words_text_spans"][0] | {"selector": None} == {
        "start": 8, "end": 19, "text": "wrote مرحبا", "label": "left", "selector": None
    }  # fmt: skip
    assert info["sounds_sound_segments"][0]["selector"]["value"] == "t=0.1,0.7"
    assert info["films_video_segments"] == []
    longitude, latitude = info["places_map_place"][0]["geometry"]["coordinates"]
    assert near(longitude, 2.35, 0.001) and latitude > 48.851
    assert len(info["regions_map_area"][0]["geometry"]["coordinates"][0]) == 5
    first, second = info["writing_transcription"]
    assert first == {"text": "Dear Mary,"}
    assert second["text"] == "how are you?" and second["width"] == 200
    assert [line for line in desk.console if "SPANS" not in line and "Took" not in line] == []


    # The same answer is drawn again when it is to be changed, and nothing of it is lost on the way.
    desk.page.locator("#change:visible").wait_for()
    desk.press_out_of_frame("z")
    frame.evaluate(AXE)
    for step in document["steps"]:
        [name, *_] = (question["name"] for question in step["questions"])
        shown = field(frame, name)
        desk.until(lambda: shown.locator(".mark-item").count() == len(info[name]))  # noqa: B023
        for theme in ("dark", "light"):
            desk.page.emulate_media(color_scheme=theme, reduced_motion="reduce")  # colours change at once
            assert frame.evaluate(RUN_ALL) == [], (name, theme)
        if step is not document["steps"][-1]:
            press(desk, frame, "Next")
    frame.get_by_role("textbox", name="Line 1").fill("Dear Maria,")
    press(desk, frame, "Send")
    desk.until(lambda: desk.mine.runs()[-1]["info"] != info)
    changed = answers(desk, before + 1, document)
    assert changed == info | {"writing_transcription": [{"text": "Dear Maria,"}, second]}


def test_marks_on_a_turned_picture_are_in_pixels_of_what_is_seen(desk: Any) -> None:
    document, before = only("box", "picture", "/turned.jpg"), len(desk.mine.runs())
    frame = ask(desk, document)
    by_keyboard(desk, frame, "one_box", "Add a box")
    press(desk, frame, "Send")
    [box] = answers(desk, before + 1, document)["one_box"]
    assert (box["x"], box["y"], box["width"], box["height"]) == (300, 225, 200, 150)


def press(stage: Any, frame: Any, name: str) -> None:
    button(frame, name).focus()
    stage.page.keyboard.press("Enter")
