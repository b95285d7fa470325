"""Marks on media, as volunteers make them: each type by mouse and by keyboard, in the frame of a project."""

from __future__ import annotations

import re
from typing import Any

import pytest
from support.questions.marked_lists import every_mark, only
from support.questions.marking import (
    Surface,
    answers,
    ask,
    button,
    by_keyboard,
    field,
    forward,
    near,
    picture,
    press,
    select,
    with_media,
)
from support.questions.question_lists import ONE
from test_accessibility import AXE, RUN_IN

pytestmark = pytest.mark.browser
LIBRARIES = ("annotorious", "text-annotator", "wavesurfer", "leaflet", "openseadragon", "marks/")
MEDIA_FRAGMENTS = "http://www.w3.org/TR/media-frags/"


@pytest.fixture(scope="module")
def desk(make_stage: Any) -> Any:
    return with_media(make_stage(viewport={"width": 1280, "height": 800}))


@pytest.mark.proof
def test_every_type_by_mouse(desk: Any) -> None:
    document, before = every_mark(), len(desk.mine.runs())
    frame = ask(desk, document)
    boxes = field(frame, "boxes_box")
    photo = picture(desk, frame)
    photo.drag((100, 100), (300, 250))
    boxes.get_by_label("Right").check()  # of the next mark
    photo.drag((400, 300), (500, 500))
    assert boxes.locator(".mark").all_inner_texts()[0].startswith("Box 1: Left")
    boxes.get_by_label("Yes").locator("visible=true").check()
    boxes.get_by_role("button", name="Draw").click()  # off
    photo.click((200, 175))  # the first one: it gets handles
    photo.drag((300, 250), (320, 260))
    points = field(frame, "boxes_point").get_by_role("button", name="Draw")
    points.click()
    photo.click((600, 100), (650, 150))
    points.click()
    photo.click((650, 150))
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


def families(desk: Any) -> set[str]:
    """Those whose scripts the frame has loaded: a family's libraries are in its script."""
    return {match[1] for one in desk.asked() if (match := re.search(r"/bundles/(?!task)(\w+)\.js", one.path))}


def test_nothing_of_a_library_is_loaded_before_a_list_uses_it(desk: Any) -> None:
    frame = ask(desk, ONE)
    button(frame, "Fox").wait_for()
    assert families(desk) == {"choices"}
    assert [one.path for one in desk.asked() if any(name in one.path for name in LIBRARIES)] == []
    frame = ask(desk, only("text_spans", "text", "/letter.txt"))
    field(frame, "one_text_spans")
    assert families(desk) == {"text"}


@pytest.mark.proof
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
    boxes.get_by_text("Exact position").locator("visible=true").press("Enter")
    boxes.get_by_label("Width", exact=True).locator("visible=true").focus()
    keyboard.press("Control+a")
    keyboard.type("120")
    keyboard.press("Enter")
    assert "120 ×" in boxes.locator(".mark").nth(1).inner_text()
    by_keyboard(desk, frame, "boxes_point", "Add a point", "Control+ArrowLeft")
    press(desk, frame, "Next")
    line = by_keyboard(desk, frame, "lines_line", "Add a line")
    line.get_by_text("Exact position").locator("visible=true").press("Enter")
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
    desk.page.wait_for_timeout(1_600)  # until then a letter belongs to the text
    desk.press_out_of_frame("z")
    frame.evaluate(AXE)
    for step in document["steps"]:
        [name, *_] = (question["name"] for question in step["questions"])
        shown = field(frame, name)
        desk.until(lambda: shown.locator(".mark-item").count() == len(info[name]))  # noqa: B023
        for theme in ("dark", "light"):
            desk.page.emulate_media(color_scheme=theme, reduced_motion="reduce")  # colours change at once
            assert frame.evaluate(RUN_IN[theme]) == [], (name, theme)
        if step is not document["steps"][-1]:
            press(desk, frame, "Next")
    frame.get_by_role("textbox", name="Line 1").fill("Dear Maria,")
    press(desk, frame, "Send")
    desk.until(lambda: desk.mine.runs()[-1]["info"] != info)
    changed = answers(desk, before + 1, document)
    assert changed == info | {"writing_transcription": [{"text": "Dear Maria,"}, second]}


@pytest.mark.proof
def test_marks_on_a_turned_picture_are_in_pixels_of_what_is_seen(desk: Any) -> None:
    document, before = only("box", "picture", "/turned.jpg"), len(desk.mine.runs())
    frame = ask(desk, document)
    by_keyboard(desk, frame, "one_box", "Add a box")
    press(desk, frame, "Send")
    [box] = answers(desk, before + 1, document)["one_box"]
    assert (box["x"], box["y"], box["width"], box["height"]) == (300, 225, 200, 150)
