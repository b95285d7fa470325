"""Questions on a phone: each type is answered with fingers, and two fingers move and enlarge instead of drawing."""

from __future__ import annotations

from typing import Any

import pytest
from marking import Fingers, Surface, answers, ask, button, field, forward, near, picture, with_media
from support.questions.marked_lists import every_mark, only
from support.questions.question_lists import every_form

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def phone(make_stage: Any) -> Any:
    size = {"width": 390, "height": 800}
    return with_media(make_stage(viewport=size, has_touch=True, is_mobile=True, reduced_motion="reduce"))


def tap(place: Any) -> None:
    """Taps something, once the page stands still around it."""
    found = place.locator("visible=true").first
    found.evaluate("place => place.scrollIntoView({block: 'center'})")
    before = None
    while (now := found.bounding_box()) != before:
        before = now
        found.page.wait_for_timeout(60)
    found.tap()


def top(stage: Any, frame: Any) -> bool:
    """Whether the step begins on the screen, below what the page keeps there."""
    begins = stage.page.locator("#presenter iframe").bounding_box()["y"]
    line = stage.page.locator("#whose").bounding_box()
    return begins >= line["y"] + line["height"] - 1


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


def test_every_type_of_marks_by_touch(phone: Any, new_project: Any) -> None:
    document = every_mark()
    phone.mine = new_project(n_answers=1)
    frame = ask(phone, document)
    fingers = Fingers(phone)

    def until(name: str, n: int = 1) -> None:
        phone.until(lambda: marks(frame, name).count() == n)

    field(frame, "boxes_box")
    fingers.drag(picture(phone, frame), (100, 100), (300, 250))
    until("boxes_box")
    tap(button(field(frame, "boxes_point"), "Draw"))
    fingers.tap(picture(phone, frame), (600, 100), (650, 400))
    until("boxes_point", 2)
    forward(frame)

    field(frame, "lines_line")
    fingers.tap(picture(phone, frame), (100, 100), (200, 150), (300, 100), (300, 100))
    until("lines_line")
    forward(frame)

    field(frame, "areas_polygon")
    fingers.tap(picture(phone, frame), (100, 100), (300, 100), (200, 300), (102, 102))
    until("areas_polygon")
    tap(button(field(frame, "areas_freehand"), "Draw"))
    fingers.drag(picture(phone, frame), (400, 300), (600, 300), (600, 500), (400, 500), (402, 310), steps=3)
    until("areas_freehand")
    forward(frame)

    field(frame, "counted_count")
    fingers.tap(picture(phone, frame), (100, 100), (400, 300), (700, 500))
    until("counted_count", 3)
    forward(frame)

    field(frame, "words_text_spans")
    text = frame.locator(".words:visible")
    size = text.bounding_box()
    letter = Surface(phone, text, (size["width"], size["height"]))
    fingers.tap(letter, word(frame, 24, 28))
    until("words_text_spans")
    tap(frame.get_by_role("button", name="One word more"))
    fingers.tap(letter, word(frame, 9, 14))
    until("words_text_spans", 2)
    forward(frame)

    field(frame, "sounds_sound_segments")
    fingers.drag(Surface(phone, frame.locator(".waves:visible"), (10, 1)), (2, 0.5), (4, 0.5))
    until("sounds_sound_segments")
    forward(frame)

    field(frame, "films_video_segments")
    fingers.drag(Surface(phone, frame.locator(".waves:visible"), (10, 1)), (6, 0.5), (5, 0.5))
    until("films_video_segments")
    forward(frame)

    field(frame, "places_map_place")
    fingers.tap(Surface(phone, frame.locator(".map:visible"), (100, 100)), (50, 50))
    until("places_map_place")
    forward(frame)

    field(frame, "regions_map_area")
    ground = Surface(phone, frame.locator(".map:visible"), (100, 100))
    fingers.tap(ground, (40, 60), (60, 60), (60, 40), (40, 60))
    until("regions_map_area")
    forward(frame)

    writing = field(frame, "writing_transcription")
    fingers.drag(picture(phone, frame), (100, 50), (500, 100))
    until("writing_transcription")
    writing.get_by_role("textbox", name="Line 1").fill("Dear Mary,")
    forward(frame, "Send")

    info = answers(phone, 1, document)
    assert near(info["boxes_box"], [{"x": 100, "y": 100, "width": 200, "height": 150}], 3), info["boxes_box"]
    assert near(info["boxes_point"], [{"x": 600, "y": 100}, {"x": 650, "y": 400}], 3), info["boxes_point"]
    assert near(info["lines_line"], [{"points": [[100, 100], [200, 150], [300, 100]]}], 3), info["lines_line"]
    assert near(info["areas_polygon"], [{"points": [[100, 100], [300, 100], [200, 300]]}], 3), info["areas_polygon"]
    assert near(info["areas_freehand"][0]["points"][0], [400, 300], 3)
    wanted = [{"x": 100, "y": 100}, {"x": 400, "y": 300}, {"x": 700, "y": 500}]
    assert near(info["counted_count"], wanted, 4), info["counted_count"]
    assert [mark["text"] for mark in info["words_text_spans"]] == ["Mary in", "wrote"]
    assert near(info["sounds_sound_segments"], [{"start": 2, "end": 4}], 0.1), info["sounds_sound_segments"]
    assert near(info["films_video_segments"], [{"start": 5, "end": 6}], 0.1), info["films_video_segments"]
    assert near(info["places_map_place"][0]["geometry"]["coordinates"], [2.35, 48.85], 0.001)
    assert len(info["regions_map_area"][0]["geometry"]["coordinates"][0]) == 4
    assert near(info["writing_transcription"], [{"text": "Dear Mary,", "x": 100, "y": 50, "width": 400}], 3)


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


def test_a_finger_scrolls_where_nothing_is_drawn_and_two_enlarge_a_plain_picture(phone: Any) -> None:
    frame = ask(phone, only("box", "picture", "/photo.jpg"))
    fingers = Fingers(phone)
    boxes = field(frame, "one_box")
    photo = picture(phone, frame)

    def scale() -> Any:
        return phone.page.evaluate("visualViewport.scale")

    fingers.pinch(photo, (400, 300), 100, 400)
    phone.until(lambda: scale() > 1.5)
    assert marks(frame, "one_box").count() == 0
    fingers.pinch(photo, (400, 300), 400, 100)
    phone.until(lambda: scale() < 1.1)
    tap(button(boxes, "Draw"))
    fingers.drag(photo, (400, 500), (400, 100))
    phone.until(lambda: phone.page.evaluate("scrollY") > 20)
    assert marks(frame, "one_box").count() == 0
