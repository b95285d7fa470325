"""Every type of question on small windows, at 200 % and from right to left: it fits, and marks land where the pointer is."""

from __future__ import annotations

from typing import Any

import pytest
from support.questions.marked_lists import every_mark
from support.questions.marking import Surface, answers, ask, button, field, forward, near, picture, select, with_media
from support.questions.question_lists import every_form
from test_accessibility import AXE, RUN_ALL
from test_questions import choose

pytestmark = pytest.mark.browser
TWICE: dict[str, Any] = {"viewport": {"width": 640, "height": 400}, "device_scale_factor": 2}
"""A window of 1280 pixels at 200 %."""
SMALL: dict[str, Any] = {"viewport": {"width": 320, "height": 640}}
"""1280 pixels at 400 %, as WCAG 1.4.10 has it."""
NEXT = {"en": "Next", "ar": "التالي"}
TOO_WIDE = """() => [...document.querySelectorAll("body *")].filter((part) => {
    const {left, right, width, height} = part.getBoundingClientRect(), root = document.documentElement;
    const inside = part.closest(".scroll, .marks-palette, .text, .leaflet-container, .openseadragon-container, .waves, .tags, svg, .sr, .only > .question > :first-child");
    return width > 1 && height > 1 && !inside && (left < -0.5 || right > root.clientWidth + 0.5);
}).map((part) => part.outerHTML.slice(0, 90))"""


def relaxed(document: Any) -> Any:
    """The same without conditions and required answers, so that each step can be seen."""
    for step in document["steps"]:
        step.pop("show_if", None)
        for question in step["questions"]:
            for name in ("required", "show_if"):
                question.pop(name, None)
    return document


def fits(stage: Any, frame: Any) -> None:
    """Nothing has to be scrolled sideways, neither the page nor the frame."""
    for place in (stage.page, frame):
        wide, width = place.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert wide <= width, (wide, width)
    assert frame.evaluate(TOO_WIDE) == []


@pytest.mark.proof
@pytest.mark.parametrize(
    ("options", "language"),
    [
        (TWICE, "en"),
        (SMALL, "en"),
        (SMALL, "ar"),
    ],
    ids=["200 %", "320 px", "320 px Arabic"],
)
def test_every_type_fits(make_stage: Any, options: dict[str, Any], language: str) -> None:
    stage = with_media(make_stage(**options, locale=language, reduced_motion="reduce"))
    for document in (relaxed(every_form()), relaxed(every_mark())):
        frame = ask(stage, document)
        frame.evaluate(AXE)
        for nth, step in enumerate(document["steps"]):
            if nth:
                forward(frame, NEXT[language])
            if any("on" in question for question in step["questions"]):
                for question in step["questions"]:
                    shown = field(frame, question["name"])
                    shown.locator(".marks-tools button:nth-child(2)").press("Enter")
                    shown.locator(".mark-item.chosen").wait_for()
            frame.locator("form h1").wait_for()
            fits(stage, frame)
            if language == "ar":
                assert frame.evaluate(RUN_ALL) == [], step["name"]
    stage.context.close()


@pytest.mark.proof
def test_every_form_is_answered_from_right_to_left_and_at_200_percent(make_stage: Any) -> None:
    stage = with_media(make_stage(**TWICE, locale="ar", reduced_motion="reduce"))
    document = every_form()
    frame = ask(stage, document)

    def of(name: str) -> Any:
        return frame.locator(f"[data-question={name}]")

    for name, label in (("animal", "Fox"), ("colours", "Grey"), ("colours", "White"), ("young", "لا أعرف")):
        choose(stage, of(name).get_by_label(label))
    of("age").locator("input").fill("3")
    forward(frame, NEXT["ar"])
    frame.get_by_role("heading", name="Words").wait_for()
    choose(stage, of("clear").get_by_label("4", exact=True))
    Surface(stage, of("light").locator("input[type=range]"), (10, 1)).click(
        (2, 0.5)
    )  # the highest value is at the left
    of("name").locator("input").fill("ثعلب")
    of("story").locator("textarea").fill("One")
    of("day").locator("input").fill("2024-02-29")
    forward(frame, NEXT["ar"])
    of("first").get_by_role("button", name="Play").first.click()
    for row, label in enumerate(("It rests", "It hunts")):
        choose(stage, of("habits").locator("tbody tr").nth(row).get_by_label(label))
    forward(frame, NEXT["ar"])
    choose(stage, of("sly").get_by_label("نعم"))
    forward(frame, "إرسال")
    info = answers(stage, 1, document)
    assert 8 <= info.pop("light") <= 10
    assert info == {
        "animal": "fox",
        "colours": ["grey", "white"],
        "young": None,
        "age": 3,
        "clear": 4,
        "name": "ثعلب",
        "story": "One",
        "day": "2024-02-29",
        "first": ["food", "play", "sleep"],
        "habits": {"day": "rests", "night": "hunts"},
        "sly": True,
        "questions_version": 1,
    }
    stage.context.close()


@pytest.mark.proof
def test_marks_land_where_the_pointer_is_from_right_to_left_and_at_200_percent(make_stage: Any) -> None:
    stage = with_media(make_stage(**TWICE, locale="ar", reduced_motion="reduce"))
    document = relaxed(every_mark())
    frame = ask(stage, document)

    def drawn(name: str) -> None:
        stage.until(lambda: frame.locator(f"[data-question={name}] .mark-item").count() == 1)

    field(frame, "boxes_box")
    picture(stage, frame).drag((100, 100), (300, 250))
    drawn("boxes_box")
    button(field(frame, "boxes_point"), "رسم").press("Enter")
    picture(stage, frame).click((600, 100))
    drawn("boxes_point")
    forward(frame, NEXT["ar"])
    field(frame, "lines_line")
    photo = picture(stage, frame)
    photo.click((100, 100), (200, 150))
    photo.reach(300, 100)
    stage.page.mouse.dblclick(*photo.at(300, 100))
    drawn("lines_line")
    forward(frame, NEXT["ar"])
    field(frame, "areas_polygon")
    picture(stage, frame).click((100, 100), (300, 100), (200, 300), (101, 101))
    drawn("areas_polygon")
    button(field(frame, "areas_freehand"), "رسم").press("Enter")
    picture(stage, frame).drag((400, 300), (600, 300), (600, 500), (400, 500), (402, 310))
    drawn("areas_freehand")
    forward(frame, NEXT["ar"])
    field(frame, "counted_count")
    picture(stage, frame).click((700, 500))
    drawn("counted_count")
    forward(frame, NEXT["ar"])
    field(frame, "words_text_spans")
    frame.locator(".words:visible").scroll_into_view_if_needed()
    select(stage, frame, 24, 28)
    drawn("words_text_spans")
    forward(frame, NEXT["ar"])
    field(frame, "sounds_sound_segments")
    Surface(stage, frame.locator(".waves:visible"), (10, 1)).drag((2, 0.5), (4, 0.5))
    drawn("sounds_sound_segments")
    forward(frame, NEXT["ar"])
    field(frame, "films_video_segments")
    Surface(stage, frame.locator(".waves:visible"), (10, 1)).drag((5, 0.5), (6, 0.5))
    drawn("films_video_segments")
    forward(frame, NEXT["ar"])
    field(frame, "places_map_place")
    Surface(stage, frame.locator(".map:visible"), (100, 100)).click((50, 50))
    drawn("places_map_place")
    forward(frame, NEXT["ar"])
    field(frame, "regions_map_area")
    Surface(stage, frame.locator(".map:visible"), (100, 100)).click((40, 60), (60, 60), (60, 40), (40, 60))
    drawn("regions_map_area")
    forward(frame, NEXT["ar"])
    writing = field(frame, "writing_transcription")
    picture(stage, frame).drag((100, 50), (500, 100))
    drawn("writing_transcription")
    writing.get_by_role("textbox").first.fill("مريم العزيزة")
    forward(frame, "إرسال")
    info = answers(stage, 1, document)
    assert near(info["boxes_box"], [{"x": 100, "y": 100, "width": 200, "height": 150}], 3), info["boxes_box"]
    assert near(info["boxes_point"], [{"x": 600, "y": 100}], 3), info["boxes_point"]
    assert near(info["lines_line"], [{"points": [[100, 100], [200, 150], [300, 100]]}], 3), info["lines_line"]
    assert near(info["areas_freehand"][0]["points"][0], [400, 300], 3), info["areas_freehand"]
    assert near(info["films_video_segments"], [{"start": 5, "end": 6}], 0.1), info["films_video_segments"]
    assert len(info["regions_map_area"][0]["geometry"]["coordinates"][0]) == 4, info["regions_map_area"]
    assert near(info["writing_transcription"], [{"text": "مريم العزيزة", "x": 100, "y": 50, "width": 400}], 3)
    assert near(info["areas_polygon"], [{"points": [[100, 100], [300, 100], [200, 300]]}], 3), info["areas_polygon"]
    assert near(info["counted_count"], [{"x": 700, "y": 500}], 4), info["counted_count"]
    assert info["words_text_spans"][0]["text"] == "Mary"
    assert near(info["sounds_sound_segments"], [{"start": 2, "end": 4}], 0.1), info["sounds_sound_segments"]
    assert near(info["places_map_place"][0]["geometry"]["coordinates"], [2.35, 48.85], 0.002)
