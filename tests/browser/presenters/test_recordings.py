"""Sounds and videos: a player that goes by keys, shows what is heard, repeats a part, and loads a recording once."""

from __future__ import annotations

from typing import Any

import pytest
from support.questions.marked_lists import SITE, step
from support.questions.marking import Surface, answers, ask, button, field, with_media

pytestmark = pytest.mark.browser
CALL = {"name": "call", "type": "sound", "source": {"url": f"{SITE}/call.wav"}, "description": "A call"}
SEGMENTS = {
    "version": 1,
    "steps": [step("birds", CALL, "sound_segments", labels=[{"value": "wren", "text": "Wren", "key": "w"}])],
}
CHOICE = {
    "version": 1,
    "steps": [
        {"name": "hear", "media": [CALL], "questions": [{"name": "bird", "type": "yes_no", "text": "Is it a bird?"}]}
    ],
}
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


@pytest.fixture(scope="module")
def desk(make_stage: Any) -> Any:
    return with_media(make_stage(viewport={"width": 1280, "height": 900}, reduced_motion="reduce"))


def heard(stage: Any, document: Any) -> tuple[Any, list[str]]:
    """The frame once the wave is drawn, and the addresses of recordings that were asked for."""
    asked: list[str] = []
    stage.context.on("request", lambda request: asked.append(request.url) if "call.wav" in request.url else None)
    frame = ask(stage, document)
    frame.locator(".player-bar").wait_for()
    frame.wait_for_function("document.querySelector('.player-bar span').textContent === '0:00.0 / 0:10.0'")
    stage.until(lambda: "␣" in stage.page.locator("#offers kbd").all_text_contents())  # the page knows its keys
    return frame, asked


def now(frame: Any) -> float:
    return float(frame.evaluate("document.querySelector('audio').currentTime"))


def paused(frame: Any) -> bool:
    return bool(frame.evaluate("document.querySelector('audio').paused"))


@pytest.mark.parametrize("document", [CHOICE, SEGMENTS], ids=["choice", "segments"])
def test_a_recording_is_loaded_once_and_played_by_keys(desk: Any, document: Any) -> None:
    desk.begin()
    frame, asked = heard(desk, document)
    for focus in ("page", "frame"):
        if focus == "frame":
            frame.locator("form.say h1").first.click()
            desk.until(lambda: desk.page.evaluate("document.activeElement.localName") == "iframe")
        scrolled = desk.page.evaluate("scrollY")
        desk.page.keyboard.press(" ", delay=80)
        desk.until(lambda: not paused(frame))
        desk.page.keyboard.press(" ", delay=80)
        desk.until(lambda: paused(frame))
        before = now(frame)
        desk.page.keyboard.press("ArrowRight", delay=80)
        desk.until(lambda before=before: abs(now(frame) - before - 2) < 0.2)
        desk.page.keyboard.press("ArrowLeft", delay=80)
        desk.until(lambda before=before: abs(now(frame) - before) < 0.2)
        assert desk.page.evaluate("scrollY") == scrolled
    frame.get_by_label("Speed").select_option("0.5")
    assert frame.evaluate("document.querySelector('audio').playbackRate") == 0.5
    assert len(asked) == 1


def test_a_segment_repeats_and_is_marked_where_the_line_is_enlarged(desk: Any) -> None:
    desk.begin()
    frame, _ = heard(desk, SEGMENTS)
    before = len(desk.mine.runs())
    marks = field(frame, "birds_sound_segments")
    assert button(frame, "Repeat the segment").is_hidden()
    button(frame, "Show a shorter time").click()
    waves = frame.locator(".waves:visible")
    wide = "document.querySelector('.waves > div:not(.tags)').shadowRoot.querySelector('.wrapper').clientWidth"
    frame.wait_for_function(f"{wide} > 1.9 * document.querySelector('.waves').clientWidth")
    Surface(desk, waves, (5, 1)).drag((1, 0.5), (2, 0.5))  # half of it is shown
    assert marks.locator(".mark-item").count() == 1
    number = frame.locator(".waves .tags span").bounding_box()
    assert abs(number["x"] - waves.bounding_box()["x"] - waves.bounding_box()["width"] / 5) < 3
    button(frame, "Repeat the segment").click()
    frame.wait_for_function("document.querySelector('audio').currentTime > 1.7")
    frame.wait_for_function("document.querySelector('audio').currentTime < 1.5")  # it has begun again
    assert not paused(frame)
    button(frame, "Repeat the segment").click()
    frame.wait_for_function("document.querySelector('audio').currentTime > 2.3")
    button(frame, "Pause playing").click()
    button(frame, "Send").click()
    (mark,) = answers(desk, before + 1, SEGMENTS)["birds_sound_segments"]
    assert abs(mark["start"] - 1) < 0.1 and abs(mark["end"] - 2) < 0.1


def test_the_spectrogram_is_there_on_demand_with_its_scale(desk: Any) -> None:
    desk.begin()
    asked: list[str] = []
    desk.context.on("request", lambda request: asked.append(request.url))
    frame, _ = heard(desk, CHOICE)
    waves, shown = (
        frame.locator(".waves"),
        "(place) => [...place.querySelectorAll('div')].flatMap((each) => [...(each.shadowRoot?.querySelectorAll('canvas') ?? [])]).length",
    )
    low, few = waves.bounding_box()["height"], waves.evaluate(shown)
    assert not any("spectrogram" in each for each in asked)
    toggle = button(frame, "Spectrogram")
    toggle.click()
    desk.until(lambda: waves.evaluate(shown) > few and waves.bounding_box()["height"] > low + 100)
    assert toggle.get_attribute("aria-pressed") == "true"
    toggle.click()
    desk.until(lambda: waves.bounding_box()["height"] < low + 10)


def test_by_fingers_on_a_phone(make_stage: Any, new_project: Any) -> None:
    stage = with_media(make_stage(**PHONE, reduced_motion="reduce"))
    stage.mine = new_project(tasks=1)
    frame, asked = heard(stage, CHOICE)
    assert stage.page.evaluate("document.documentElement.scrollWidth") == 390
    button(frame, "Play").tap()
    stage.until(lambda: now(frame) > 0.1)
    button(frame, "2 seconds forward").tap()
    stage.until(lambda: now(frame) > 2)
    button(frame, "Pause playing").tap()
    stage.until(lambda: paused(frame))
    place = frame.locator(".waves").bounding_box()
    stage.page.touchscreen.tap(place["x"] + place["width"] * 0.7, place["y"] + 60)
    stage.until(lambda: abs(now(frame) - 7) < 0.2)
    assert len(asked) == 1
