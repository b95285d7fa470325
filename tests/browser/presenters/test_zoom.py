"""Pictures of presenters can be enlarged, turned and inverted: by keys, buttons, wheel and fingers."""

from __future__ import annotations

from typing import Any

import pytest
from test_accessibility import AXE, RUN_ALL

from crowdd.features.projects import starters

pytestmark = pytest.mark.browser
LIBRARY = "/static/vendor/openseadragon-"
WHOLE = {"open": False, "zoom": 1, "rotation": 0, "inverted": False, "large": False}
_LISTEN = """document.addEventListener("crowdd:zoom", ({ detail: { viewer, ...state } }) => {
    window.viewer = viewer;
    window.zoomed = { open: Boolean(viewer), ...state, zoom: Math.round(state.zoom * 100) / 100 };
}, true)"""
_DRAWN = """() => { const canvas = viewer.canvas.querySelector("canvas"), data = document.createElement("canvas").getContext("2d");
    data.drawImage(canvas, 0, 0, 9, 9); try { return data.getImageData(4, 4, 1, 1).data[3] } catch (error) { return error.name } }"""


def opened(stage: Any, *pictures: str) -> Any:
    """The frame of the picture starter, when its toolbar is there."""
    for number, (task, picture) in enumerate(zip(stage.mine.tasks, pictures, strict=False)):
        stage.mine.owner.api("PUT", f"task/{task}", {"info": {"picture": picture, "title": f"Sample {number}"}})
    frame = stage.show(starters.source("picture"))
    frame.evaluate(_LISTEN)
    frame.get_by_role("toolbar", name="Picture").wait_for()
    return frame


def state(frame: Any) -> dict[str, Any]:
    return frame.evaluate("() => window.zoomed || null") or WHOLE


def asked_library(stage: Any) -> int:
    return sum(asked.path.startswith(LIBRARY) for asked in stage.asked())


@pytest.mark.proof
def test_by_keys_and_buttons_and_back_with_the_next_task(stage: Any) -> None:
    foreign = stage.elsewhere.url + "/picture.svg"
    frame, page = opened(stage, "/static/img/sample-1.svg", foreign, "/static/img/sample-2.svg"), stage.page
    assert asked_library(stage) == 0 and state(frame) == WHOLE
    page.keyboard.press("-")  # nothing to make smaller, nothing to load
    assert stage.page.locator("#offers").inner_text().count("Zoom in") == 1

    page.keyboard.press("+")  # the focus is on the page around the frame
    stage.until(lambda: state(frame)["zoom"] == 1.5)
    page.keyboard.press("r")
    page.keyboard.press("i")
    stage.until(lambda: state(frame)["inverted"])
    assert state(frame) == {"open": True, "zoom": 1.5, "rotation": 90, "inverted": True, "large": False}
    assert asked_library(stage) == 1
    toolbar = frame.get_by_role("toolbar", name="Picture")
    invert = toolbar.get_by_role("button", name="Invert colours")
    assert invert.get_attribute("aria-pressed") == "true"
    stage.until(lambda: "150%" in frame.get_by_role("status").inner_text())
    assert frame.locator("#picture").evaluate("image => getComputedStyle(image).visibility") == "hidden"
    frame.add_script_tag(content=AXE)
    assert frame.evaluate(RUN_ALL) == []

    page.keyboard.press("1")  # answers while the viewer is open
    stage.until(lambda: frame.inner_text("#place") == "Sample 1")
    stage.until(lambda: state(frame) == WHOLE)
    assert frame.locator("#picture").is_visible() and invert.get_attribute("aria-pressed") == "false"
    assert frame.evaluate("document.activeElement.id") == "ask"

    toolbar.get_by_role("button", name="Zoom in").click()  # a picture of another site
    stage.until(lambda: state(frame)["zoom"] == 1.5)
    stage.until(lambda: frame.evaluate(_DRAWN) == "SecurityError")  # it is drawn, and nobody may read it
    toolbar.get_by_role("button", name="Large view").click()
    stage.until(lambda: state(frame)["large"])
    viewer = frame.get_by_role("application", name="Sample 1")
    assert frame.evaluate("document.activeElement.shadowRoot.activeElement === viewer.canvas")
    frame.evaluate("() => viewer.viewport.panTo(viewer.viewport.getHomeBounds().getCenter(), true)")
    middle = frame.evaluate("viewer.viewport.getCenter().x")
    page.keyboard.press("ArrowRight")
    assert frame.evaluate("viewer.viewport.getCenter().x") > middle
    assert viewer.bounding_box()["width"] == frame.evaluate("innerWidth")
    page.keyboard.press("Escape")
    stage.until(lambda: not state(frame)["large"])
    assert stage.page.evaluate("document.activeElement.id") != "leave"  # Esc was used
    page.keyboard.press("0")
    stage.until(lambda: state(frame) == WHOLE)
    page.keyboard.press("2")
    stage.until(lambda: frame.inner_text("#place") == "Sample 2")
    stage.until(lambda: len(stage.runs()) == 2)
    assert asked_library(stage) == 1
    assert stage.console == []


@pytest.mark.proof
def test_by_wheel_and_double_click_while_the_page_scrolls_by_itself(stage: Any) -> None:
    frame, page = opened(stage, "/static/img/sample-1.svg"), stage.page
    page.set_viewport_size({"width": 1000, "height": 400})
    page.emulate_media(reduced_motion="reduce")
    frame.locator("#picture").hover()
    page.mouse.wheel(0, 40)
    stage.until(lambda: page.evaluate("document.scrollingElement.scrollTop") > 0)
    assert asked_library(stage) == 0
    frame.locator("#picture").hover()  # it has moved away under the mouse
    page.keyboard.down("Control")
    page.mouse.wheel(0, -100)
    page.keyboard.up("Control")
    stage.until(lambda: state(frame)["zoom"] == 1.5)
    assert frame.evaluate("viewer.viewport.getZoom(true) === viewer.viewport.getZoom()")  # no animation
    stage.until(
        lambda: frame.evaluate("viewer.canvas.style.touchAction") == "none"
    )  # only now the wheel is the viewer's
    page.mouse.wheel(0, -100)  # without Ctrl, once it is open
    stage.until(lambda: state(frame)["zoom"] > 1.5)
    page.keyboard.press("0")
    stage.until(lambda: state(frame) == WHOLE)
    frame.locator("#picture").dblclick()
    stage.until(lambda: state(frame)["zoom"] == 1.5)


@pytest.mark.proof
def test_two_fingers_zoom_and_one_scrolls(make_stage: Any) -> None:
    stage = make_stage(has_touch=True, viewport={"width": 390, "height": 700})
    frame, page = opened(stage, "/static/img/sample-1.svg"), stage.page
    devtools = stage.context.new_cdp_session(page)
    box = frame.locator("#picture").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def touch(kind: str, *points: tuple[float, float]) -> None:
        devtools.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y} for x, y in points]})

    touch("touchStart", (x - 20, y), (x + 20, y))
    for distance in (30, 40, 50, 60):
        touch("touchMove", (x - distance, y), (x + distance, y))
    stage.until(lambda: state(frame)["zoom"] > 1)
    touch("touchMove", (x - 60, y), (x + 60, y))
    stage.until(lambda: state(frame)["zoom"] == 3)
    touch("touchEnd")
    assert asked_library(stage) == 1 and page.evaluate("visualViewport.scale") == 1
    stage.until(lambda: frame.evaluate("viewer.canvas.style.touchAction") == "none")
    before = frame.evaluate("viewer.viewport.getCenter().x")
    touch("touchStart", (x, y))
    for step in range(1, 6):
        touch("touchMove", (x - 15 * step, y))
    touch("touchEnd")
    stage.until(lambda: frame.evaluate("viewer.viewport.getCenter().x") > before)
    frame.evaluate("() => { viewer.viewport.goHome(true); }")
    stage.until(lambda: frame.evaluate("viewer.canvas.style.touchAction") == "pan-x pan-y")
    touch("touchStart", (x, y))
    for step in range(1, 9):
        touch("touchMove", (x, y - 15 * step))
    touch("touchEnd")
    stage.until(lambda: page.evaluate("document.scrollingElement.scrollTop") > 0)


@pytest.mark.proof
def test_full_screen_is_the_volunteers_and_keeps_the_page(stage: Any) -> None:
    frame, page = opened(stage, "/static/img/sample-1.svg"), stage.page
    refused = "document.body.requestFullscreen().then(() => 'granted', () => 'refused')"
    frame.locator("#ask").click()  # not even with a gesture
    assert frame.evaluate(refused) == "refused"
    assert not page.evaluate("Boolean(document.fullscreenElement)")
    button = page.get_by_role("button", name="Full screen")
    button.click()
    stage.until(lambda: button.get_attribute("aria-pressed") == "true")
    assert page.evaluate("document.fullscreenElement === document.documentElement")
    assert page.locator("#whose").is_visible() and stage.usable()
    button.click()
    stage.until(lambda: button.get_attribute("aria-pressed") == "false")
