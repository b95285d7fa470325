"""Questions in the windows of phones, upright and lying, and in forced colours."""

from __future__ import annotations

import io
from typing import Any, Final

import pytest
from PIL import Image
from support.checks.proofs import examples
from support.checks.shows import shows
from support.questions.marked_lists import SITE
from support.questions.marking import Fingers, answers, ask, button, field, picture, with_media

pytestmark = pytest.mark.browser
PHOTO: Final = {"name": "photo", "type": "picture", "source": {"url": f"{SITE}/photo.jpg"}, "description": "A pond"}
CHOICE: Final = {"name": "it", "type": "yes_no", "text": "Is it a duck?", "required": True, "unsure": True}
LOOK: Final = {"version": 1, "steps": [{"name": "look", "media": [PHOTO], "questions": [CHOICE]}]}
BOXES: Final = {
    "version": 1,
    "steps": [
        {
            "name": "look",
            "media": [PHOTO],
            "questions": [
                {
                    "name": "birds",
                    "type": "box",
                    "text": "Where are birds?",
                    "on": "photo",
                    "labels": [
                        {"value": name.lower(), "text": name} for name in ("Duck", "Goose", "Swan", "Heron", "Coot")
                    ],
                    "each": [{"name": "flies", "type": "yes_no", "text": "Does it fly?"}],
                }
            ],
        }
    ],
}
SIZES: Final = {
    "320": (320, 640),
    "360": (360, 740),
    "390": (390, 844),
    "768": (768, 1024),
    "lying": (844, 390),
    "lying and small": (667, 375),
}


def visible(stage: Any, place: Any) -> bool:
    """Whether all of something is on the screen, between what the page keeps at the top and at the bottom."""
    box, frame = place.bounding_box(), stage.page.locator("#presenter iframe").bounding_box()
    deck = stage.page.locator(".deck").bounding_box()
    return bool(box["y"] >= frame["y"] - 1 and box["y"] + box["height"] <= deck["y"] + 1)


def are_apart(one: Any, other: Any) -> bool:
    """Whether neither lies over the other one on the screen."""
    a, b = one.bounding_box(), other.bounding_box()
    return any(
        first[side] + first[length] <= second[side] + 0.5
        for side, length in (("x", "width"), ("y", "height"))
        for first, second in ((a, b), (b, a))
    )


@examples("lying", "320")
@pytest.mark.parametrize("size", SIZES)
def test_picture_and_answers_fit_the_window(make_stage: Any, new_project: Any, size: str) -> None:
    width, height = SIZES[size]
    options = {"viewport": {"width": width, "height": height}, "has_touch": True, "is_mobile": True}
    stage = with_media(make_stage(**options, reduced_motion="reduce"))
    stage.mine = new_project(tasks=1)
    frame = ask(stage, LOOK)
    image, answer = frame.locator(".picture img"), frame.locator("button.answer").first
    stage.until(lambda: image.evaluate("image => image.naturalWidth") and answer.is_visible())
    stage.settle(0.5)
    assert stage.page.evaluate("document.documentElement.scrollWidth") <= width
    assert stage.page.locator(".whose").count() == 0  # there is no script of the owner in it
    assert are_apart(frame.locator(".viewer .bar"), frame.locator(".viewer .view"))
    assert button(frame, "Turn by 90 degrees").is_visible() is not size.startswith("lying")  # there it is one of more
    if size.startswith("lying"):
        assert visible(stage, image) and visible(stage, answer)
        assert image.bounding_box()["height"] > 140
        assert answer.bounding_box()["x"] >= image.bounding_box()["x"] + image.bounding_box()["width"]


def test_a_window_that_is_turned_is_laid_out_again(make_stage: Any, new_project: Any) -> None:
    stage = with_media(make_stage(viewport={"width": 390, "height": 844}, reduced_motion="reduce"))
    stage.mine = new_project(tasks=1)
    frame = ask(stage, LOOK)
    image, answer = frame.locator(".picture img"), frame.locator("button.answer").first
    stage.until(answer.is_visible)

    def beside() -> bool:
        return bool(answer.bounding_box()["x"] > image.bounding_box()["x"] + image.bounding_box()["width"] - 1)

    assert not beside()
    stage.page.set_viewport_size({"width": 844, "height": 390})
    stage.until(beside)
    stage.page.set_viewport_size({"width": 390, "height": 844})
    stage.until(lambda: not beside())


def phone_with(make_stage: Any, new_project: Any, document: Any, size: str) -> tuple[Any, Any]:
    """A phone with a task, and the frame with it."""
    width, height = SIZES[size]
    options = {"viewport": {"width": width, "height": height}, "has_touch": True, "is_mobile": True}
    stage = with_media(make_stage(**options, reduced_motion="reduce"))
    stage.mine = new_project(tasks=1)
    return stage, ask(stage, document)


@shows("page-task-thumb")
@examples("320", "lying")
@pytest.mark.parametrize("size", SIZES)
def test_what_one_marks_with_stays_under_the_thumb(make_stage: Any, new_project: Any, size: str) -> None:
    stage, frame = phone_with(make_stage, new_project, BOXES, size)
    question, send = field(frame, "birds"), button(frame, "Send")
    labels = frame.locator(".marks-labels .choice")
    surface, fingers, scope = picture(stage, frame), Fingers(stage), question.locator(".mark-item:visible")
    at_rest = surface.place.bounding_box()
    for nth in range(3):
        fingers.drag(surface, (100 + 200 * nth, 100), (200 + 200 * nth, 250))
        stage.until(lambda n=nth: frame.locator(".mark-item").count() == n + 1)
        stage.settle(0.3)
        assert surface.place.bounding_box() == at_rest  # the picture is where it was
        assert visible(stage, send) and visible(stage, labels.first)
        assert scope.count() == 1 and scope.get_by_text("Does it fly?").is_visible()  # the others are folded
    assert stage.page.evaluate("document.documentElement.scrollHeight") <= SIZES[size][1]
    for place in (stage.page, frame):
        assert place.evaluate("document.documentElement.scrollWidth") <= SIZES[size][0]
    labels.last.evaluate("label => label.scrollIntoView({inline: 'end', block: 'nearest'})")  # sideways in its row
    labels.last.tap()
    stage.until(lambda: frame.locator(".marks-labels input").last.is_checked())
    assert visible(stage, labels.last) and surface.place.bounding_box() == at_rest
    button(question, "Marks: 3").tap()
    stage.until(lambda: scope.count() == 3)
    send.tap()
    assert [mark["label"] for mark in answers(stage, 1, BOXES)["birds"]] == ["duck"] * 3


def swipe(stage: Any, frame: Any, right: float, down: float = 0) -> None:
    """A finger goes across the picture."""
    picture_box = frame.locator(".picture").bounding_box()
    x, y = picture_box["x"] + picture_box["width"] / 2, picture_box["y"] + 40
    line = stage.context.new_cdp_session(stage.page)
    for kind, share in (("touchStart", 0.0), *(("touchMove", n / 8) for n in range(1, 9))):
        spot = {"x": x + right * share, "y": y + down * share}
        line.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [spot]})
    line.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    line.detach()


@shows("page-task-thumb")
@pytest.mark.parametrize(("locale", "right", "given"), [("en", -130, True), ("en", 130, False), ("ar", 130, True)])
def test_a_finger_across_gives_the_answer_that_stands_there(
    make_stage: Any, new_project: Any, locale: str, right: float, given: bool
) -> None:
    stage = with_media(
        make_stage(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True, locale=locale)
    )
    stage.mine = new_project(tasks=1)
    frame = ask(stage, LOOK)
    stage.until(frame.locator("button.answer").first.is_visible)
    stage.until(lambda: frame.locator(".answers:not([inert])").count())
    swipe(stage, frame, right / 3)  # too little
    swipe(stage, frame, 20, 130)  # down the page
    assert stage.mine.runs() == []
    swipe(stage, frame, right)
    assert answers(stage, 1, LOOK)["it"] is given


def test_what_is_chosen_is_seen_in_forced_colours(make_stage: Any, new_project: Any) -> None:
    stage = with_media(make_stage(forced_colors="active", viewport={"width": 1280, "height": 900}))
    stage.mine = new_project(tasks=1)
    frame = ask(stage, BOXES)
    draw = frame.get_by_role("button", name="Draw", exact=True)
    stage.until(lambda: draw.get_attribute("aria-pressed") == "true")
    assert draw.evaluate("each => getComputedStyle(each).outlineStyle") == "solid"
    draw.click()
    stage.until(lambda: draw.get_attribute("aria-pressed") == "false")
    frame.locator("form.say h1").first.click()
    assert draw.evaluate("each => getComputedStyle(each).outlineStyle") == "none"
    bar = stage.page.locator("#progress")
    bar.evaluate("bar => { bar.value = 60; }")
    image = Image.open(io.BytesIO(bar.screenshot())).convert("RGB")
    done, left = ({image.getpixel((x, image.height // 2)) for x in range(*part)} for part in ((100, 200), (1000, 1100)))
    assert done - left  # how far it is
