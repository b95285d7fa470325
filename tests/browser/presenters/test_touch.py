"""Questions on a phone: each type is answered with fingers, and two fingers move and enlarge instead of drawing."""

from __future__ import annotations

from typing import Any

import pytest
from support.questions.marked_lists import every_mark, only
from support.questions.marking import Fingers, Surface, answers, ask, button, field, forward, near, picture, with_media
from support.questions.question_lists import every_form

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def phone(make_stage: Any) -> Any:
    size = {"width": 390, "height": 800}
    return with_media(make_stage(viewport=size, has_touch=True, is_mobile=True, reduced_motion="reduce"))


def tap(place: Any) -> None:
    """Taps something, once the page stands still around it."""
    target = place.locator("visible=true").first
    target.evaluate("place => place.scrollIntoView({block: 'center'})")
    before = None
    while (now := target.bounding_box()) != before:
        before = now
        target.page.wait_for_timeout(60)
    target.tap()


def top(stage: Any, frame: Any) -> bool:
    """Whether the step begins on the screen."""
    begins = stage.page.locator("#presenter iframe").bounding_box()["y"]
    return bool(begins >= -1 and frame.evaluate("document.querySelector('.questions').scrollTop") == 0)


def test_a_tap_leaves_a_slider_where_it_stands(phone: Any, new_project: Any) -> None:
    question = {"name": "light", "type": "rating", "text": "How light is it?", "min": 0, "max": 10, "slider": True}
    document = {"version": 1, "steps": [{"name": "look", "questions": [question]}]}
    phone.mine = new_project(n_answers=1)
    frame = ask(phone, document)
    shown = frame.locator("output")
    assert shown.inner_text() == "Not set"
    tap(frame.locator("input[type=range]"))  # in the middle, where it stands
    phone.until(lambda: shown.inner_text() == "5")
    forward(frame, "Send")
    assert answers(phone, 1, document)["light"] == 5


@pytest.mark.proof
def test_every_type_of_form_by_touch(phone: Any, new_project: Any) -> None:
    document = every_form()
    phone.mine = new_project(n_answers=1)
    frame = ask(phone, document)
    fingers = Fingers(phone)

    def of(name: str) -> Any:
        return frame.locator(f"[data-question={name}]")

    tap(of("animal").get_by_text("Fox"))
    tap(of("colours").get_by_text("Grey"))
    tap(of("colours").get_by_text("White"))
    tap(of("young").get_by_text("I can’t tell"))
    of("age").locator("input").fill("3")
    forward(frame)
    frame.get_by_role("heading", name="Words").wait_for()
    phone.until(lambda: top(phone, frame))
    tap(of("clear").get_by_text("4", exact=True))
    slider = Surface(phone, of("light").locator("input[type=range]"), (10, 1))
    fingers.drag(slider, (5, 0.5), (7.9, 0.5))
    of("name").locator("input").fill("Reynard")
    of("story").locator("textarea").fill("One")
    of("day").locator("input").fill("2024-02-29")
    forward(frame)
    tap(of("first").get_by_role("button", name="Move up: Play"))
    rows = of("habits").locator("tbody tr")
    tap(rows.nth(0).get_by_text("It rests"))
    tap(rows.nth(1).get_by_text("It hunts"))
    forward(frame)
    tap(of("sly").get_by_text("Yes"))
    forward(frame, "Send")
    info = answers(phone, 1, document)
    assert 8 <= info.pop("light") <= 10
    assert info == {
        "animal": "fox",
        "colours": ["grey", "white"],
        "young": None,
        "age": 3,
        "clear": 4,
        "name": "Reynard",
        "story": "One",
        "day": "2024-02-29",
        "first": ["food", "play", "sleep"],
        "habits": {"day": "rests", "night": "hunts"},
        "sly": True,
        "questions_version": 1,
    }


def word(frame: Any, start: int, end: int) -> Any:
    """Where a part of the text is, in the text."""
    return frame.evaluate(
        """([start, end]) => {
            const root = document.querySelector(".words:not([hidden])"), range = document.createRange();
            range.setStart(root.firstChild, start); range.setEnd(root.firstChild, end);
            const {x, y, width, height} = range.getBoundingClientRect(), {x: left, y: top} = root.getBoundingClientRect();
            return [x + width / 2 - left, y + height / 2 - top]; }""",
        [start, end],
    )


def marks(frame: Any, name: str) -> Any:
    return frame.locator(f"[data-question={name}] .mark-item")


# With each way to touch: fingers drag and tap on a picture, drag over a sound, and close an area on a map by a tap.
EACH_TIME = ("boxes", "sounds", "regions")


@pytest.mark.proof
@pytest.mark.parametrize("steps", [EACH_TIME, ()], ids=["each way to touch", "every type"])
def test_marks_are_made_by_touch(phone: Any, new_project: Any, steps: tuple[str, ...]) -> None:
    document = every_mark()
    names = [each["name"].removeprefix("step_") for each in document["steps"]]
    if steps:
        document["steps"] = [each for each in document["steps"] if each["name"].removeprefix("step_") in steps]
        names = [name for name in names if name in steps]
    phone.mine = new_project(n_answers=1)
    frame = ask(phone, document)
    marking = Marking(phone, frame)
    for number, name in enumerate(names, 1):
        getattr(marking, name)()
        forward(frame, *(["Send"] if number == len(names) else []))
    info = answers(phone, 1, document)
    for name in names:
        getattr(marking, f"{name}_are_stored")(info)


class Marking:
    """Marks made with fingers, by the step that asks for them, and what is then stored."""

    def __init__(self, stage: Any, frame: Any) -> None:
        self.stage, self.frame, self.fingers = stage, frame, Fingers(stage)

    def until(self, name: str, n: int = 1) -> None:
        self.stage.until(lambda: marks(self.frame, name).count() == n)

    def picture(self) -> Surface:
        return picture(self.stage, self.frame)

    def shown(self, selector: str, size: tuple[float, float]) -> Surface:
        return Surface(self.stage, self.frame.locator(f"{selector}:visible"), size)

    def boxes(self) -> None:
        field(self.frame, "boxes_box")
        self.fingers.drag(self.picture(), (100, 100), (300, 250))
        self.until("boxes_box")
        tap(button(field(self.frame, "boxes_point"), "Draw"))
        self.fingers.tap(self.picture(), (600, 100), (650, 400))
        self.until("boxes_point", 2)

    def boxes_are_stored(self, info: dict[str, Any]) -> None:
        assert near(info["boxes_box"], [{"x": 100, "y": 100, "width": 200, "height": 150}], 3), info["boxes_box"]
        assert near(info["boxes_point"], [{"x": 600, "y": 100}, {"x": 650, "y": 400}], 3), info["boxes_point"]

    def lines(self) -> None:
        field(self.frame, "lines_line")
        self.fingers.tap(self.picture(), (100, 100), (200, 150), (300, 100), (300, 100))
        self.until("lines_line")

    def lines_are_stored(self, info: dict[str, Any]) -> None:
        assert near(info["lines_line"], [{"points": [[100, 100], [200, 150], [300, 100]]}], 3), info["lines_line"]

    def areas(self) -> None:
        field(self.frame, "areas_polygon")
        self.fingers.tap(self.picture(), (100, 100), (300, 100), (200, 300), (102, 102))
        self.until("areas_polygon")
        tap(button(field(self.frame, "areas_freehand"), "Draw"))
        around = (400, 300), (600, 300), (600, 500), (400, 500), (402, 310)
        self.fingers.drag(self.picture(), *around, steps=3)
        self.until("areas_freehand")

    def areas_are_stored(self, info: dict[str, Any]) -> None:
        assert near(info["areas_polygon"], [{"points": [[100, 100], [300, 100], [200, 300]]}], 3), info["areas_polygon"]
        assert near(info["areas_freehand"][0]["points"][0], [400, 300], 3)

    def counted(self) -> None:
        field(self.frame, "counted_count")
        self.fingers.tap(self.picture(), (100, 100), (400, 300), (700, 500))
        self.until("counted_count", 3)

    def counted_are_stored(self, info: dict[str, Any]) -> None:
        wanted = [{"x": 100, "y": 100}, {"x": 400, "y": 300}, {"x": 700, "y": 500}]
        assert near(info["counted_count"], wanted, 4), info["counted_count"]

    def words(self) -> None:
        field(self.frame, "words_text_spans")
        size = self.frame.locator(".words:visible").bounding_box()
        letter = self.shown(".words", (size["width"], size["height"]))
        self.fingers.tap(letter, word(self.frame, 24, 28))
        self.until("words_text_spans")
        tap(self.frame.get_by_role("button", name="One word more"))
        self.fingers.tap(letter, word(self.frame, 9, 14))
        self.until("words_text_spans", 2)

    def words_are_stored(self, info: dict[str, Any]) -> None:
        assert [mark["text"] for mark in info["words_text_spans"]] == ["Mary in", "wrote"]

    def sounds(self) -> None:
        field(self.frame, "sounds_sound_segments")
        self.fingers.drag(self.shown(".waves", (10, 1)), (2, 0.5), (4, 0.5))
        self.until("sounds_sound_segments")

    def sounds_are_stored(self, info: dict[str, Any]) -> None:
        assert near(info["sounds_sound_segments"], [{"start": 2, "end": 4}], 0.1), info["sounds_sound_segments"]

    def films(self) -> None:
        field(self.frame, "films_video_segments")
        self.fingers.drag(self.shown(".waves", (10, 1)), (6, 0.5), (5, 0.5))
        self.until("films_video_segments")

    def films_are_stored(self, info: dict[str, Any]) -> None:
        assert near(info["films_video_segments"], [{"start": 5, "end": 6}], 0.1), info["films_video_segments"]

    def places(self) -> None:
        field(self.frame, "places_map_place")
        self.fingers.tap(self.shown(".map", (100, 100)), (50, 50))
        self.until("places_map_place")

    def places_are_stored(self, info: dict[str, Any]) -> None:
        assert near(info["places_map_place"][0]["geometry"]["coordinates"], [2.35, 48.85], 0.001)

    def regions(self) -> None:
        field(self.frame, "regions_map_area")
        self.fingers.tap(self.shown(".map", (100, 100)), (40, 60), (60, 60), (60, 40), (40, 60))
        self.until("regions_map_area")

    def regions_are_stored(self, info: dict[str, Any]) -> None:
        assert len(info["regions_map_area"][0]["geometry"]["coordinates"][0]) == 4

    def writing(self) -> None:
        writing = field(self.frame, "writing_transcription")
        self.fingers.drag(self.picture(), (100, 50), (500, 100))
        self.until("writing_transcription")
        writing.get_by_role("textbox", name="Line 1").fill("Dear Mary,")

    def writing_are_stored(self, info: dict[str, Any]) -> None:
        assert near(info["writing_transcription"], [{"text": "Dear Mary,", "x": 100, "y": 50, "width": 400}], 3)


def test_a_finger_moves_the_mark_that_was_chosen_and_not_the_page(phone: Any, new_project: Any) -> None:
    phone.mine = new_project(n_answers=1)
    document = only("box", "picture", "/photo.jpg")
    frame = ask(phone, document)
    fingers, boxes = Fingers(phone), field(frame, "one_box")
    photo = picture(phone, frame)
    fingers.drag(photo, (100, 100), (400, 300))
    phone.until(lambda: boxes.locator(".mark-item").count() == 1)
    tap(boxes.get_by_role("button", name="Draw", exact=True))  # off
    fingers.tap(photo, (250, 200))
    boxes.locator(".mark-item.selected").wait_for()
    fingers.drag(photo, (250, 200), (350, 240))
    forward(frame, "Send")
    [box] = answers(phone, 1, document)["one_box"]
    assert near([{**box, "label": None}], [{"x": 200, "y": 140, "width": 300, "height": 200}], 4), box


@pytest.mark.proof
@pytest.mark.parametrize("kind", ["box", "polygon", "freehand", "point"])
def test_two_fingers_enlarge_a_picture_and_draw_nothing(phone: Any, kind: str) -> None:
    frame = ask(phone, only(kind, "zoom_picture", "/photo.jpg"))
    fingers = Fingers(phone)
    field(frame, f"one_{kind}")
    before = picture(phone, frame)
    width = before.place.bounding_box()["width"]
    fingers.pinch(before, (200, 300), 60, 180)
    wider = phone.until(lambda: (now := before.place.bounding_box()["width"]) > 1.5 * width and now)
    assert near(wider / width, 3, 0.5)
    assert marks(frame, f"one_{kind}").count() == 0
    if kind == "point":  # what is drawn then lands where the finger is
        fingers.tap(before, (200, 300))
        phone.until(lambda: marks(frame, "one_point").count() == 1)
        assert near(
            [float(n) for n in marks(frame, "one_point").locator(".num").inner_text().split(", ")], [200, 300], 3
        )


@pytest.mark.proof
def test_a_finger_scrolls_where_nothing_is_drawn_and_two_enlarge_the_picture_only(phone: Any) -> None:
    frame = ask(phone, only("box", "picture", "/photo.jpg"))
    fingers = Fingers(phone)
    boxes = field(frame, "one_box")
    photo = picture(phone, frame)
    width = photo.still()["width"]

    fingers.pinch(photo, (400, 300), 100, 400)
    phone.until(lambda: photo.still()["width"] > 1.5 * width)
    assert phone.page.evaluate("visualViewport.scale") == 1
    assert marks(frame, "one_box").count() == 0
    forward(frame, "More tools")
    forward(frame, "Show the whole picture")
    phone.until(lambda: abs(photo.still()["width"] - width) < 1)
    tap(button(boxes, "Draw"))
    phone.page.set_viewport_size({"width": 390, "height": 480})
    fingers.drag(photo, (400, 500), (400, 100))
    phone.until(lambda: frame.evaluate("document.querySelector('.questions').scrollTop") > 20)
    phone.page.set_viewport_size({"width": 390, "height": 800})
    assert marks(frame, "one_box").count() == 0
