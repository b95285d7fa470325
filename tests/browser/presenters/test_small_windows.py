"""Questions in the windows of phones, upright and lying, and in forced colours."""

from __future__ import annotations

import io
from typing import Any, Final

import pytest
from PIL import Image
from support.checks.proofs import examples
from support.questions.marked_lists import SITE
from support.questions.marking import ask, with_media

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
            "questions": [{"name": "ducks", "type": "box", "text": "Where are ducks?", "on": "photo"}],
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
    box, height = place.bounding_box(), stage.page.viewport_size["height"]
    top = stage.page.locator("#whose").bounding_box()
    deck = stage.page.locator(".deck").bounding_box()["height"]
    return bool(box["y"] >= top["y"] + top["height"] - 1 and box["y"] + box["height"] <= height - deck + 1)


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
    line = stage.page.locator("#whose")
    assert line.bounding_box()["height"] < 40  # one line
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
