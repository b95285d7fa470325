"""What happens between two tasks, and while somebody presses: nothing of one task reaches the next, and nothing is lost."""

from __future__ import annotations

from typing import Any, Final

import pytest
from presenters import OWN_LIBRARY, SIMPLE
from support.checks.proofs import examples
from support.questions.marked_lists import SITE
from support.questions.marking import ask, field, with_media

pytestmark = pytest.mark.browser
EVENT: Final = "([name, detail]) => document.dispatchEvent(new CustomEvent(name, {detail}))"
SIZES: Final[dict[str, dict[str, Any]]] = {
    "desktop": {"viewport": {"width": 1280, "height": 900}},
    "phone": {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True},
    "landscape": {"viewport": {"width": 844, "height": 390}, "has_touch": True, "is_mobile": True},
}
BY_HAND: Final = """<button value=yes>Yes</button><script>
    const name = location.pathname.split("/")[2], [button] = document.querySelectorAll("button");
    const next = async () => { button.task = await (await fetch(`/api/${name}/newtask`)).json(); button.disabled = !button.task.id; };
    button.onclick = async () => {
      const { id, project_id } = button.task;
      await fetch("/api/taskrun", { method: "POST", body: JSON.stringify({ task_id: id, project_id, info: { choice: "yes" } }) });
      await next();
    };
    next();
    </script>"""
OWN_KEYS: Final = """<script>
    addEventListener("keydown", ({ key }) => key === "1" && document.querySelector("button").click());
    addEventListener("keyup", ({ key }) => key === "2" && document.querySelector("button").click());
    </script>"""
PRESENTERS: Final = {"the frame's library": SIMPLE, "its own library": OWN_LIBRARY, "no library": BY_HAND}
WORK: Final = {
    "version": 1,
    "steps": [
        {
            "name": "look",
            "media": [
                {"name": "photo", "type": "picture", "source": {"url": f"{SITE}/photo.jpg"}, "description": "A pond"}
            ],
            "questions": [
                {"name": "ducks", "type": "box", "text": "Draw a box around each duck.", "on": "photo"},
                {"name": "more", "type": "short_text", "text": "Is there anything to add?"},
            ],
        }
    ],
}


def answered(stage: Any, n: int) -> None:
    """There are so many answers, and no more of them come."""
    stage.until(lambda: len(stage.runs()) >= n)
    stage.settle(0.6)
    assert len(stage.runs()) == n


def held(stage: Any, key: str) -> None:
    """A key is held for almost a second."""
    for _ in range(28):
        stage.page.keyboard.down(key)
        stage.page.wait_for_timeout(33)
    stage.page.keyboard.up(key)


@examples("the frame's library")
@pytest.mark.parametrize("name", PRESENTERS)
def test_one_press_or_key_answers_one_task_of_any_presenter(stage: Any, new_project: Any, name: str) -> None:
    stage.mine = new_project(tasks=8)
    frame = stage.show(PRESENTERS[name] + OWN_KEYS)
    button, page = frame.locator("button").first, stage.page
    stage.until(lambda: stage.handed() and button.is_enabled())
    stage.settle(0.6)
    box = button.bounding_box()
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    for count in (1, 2):  # a button of a mouse that bounces
        page.mouse.down(click_count=count)
        page.mouse.up(click_count=count)
    answered(stage, 1)
    for key in ("1", "2"):
        for _ in range(2):  # a key that bounces slowly
            page.keyboard.press(key, delay=10)
            page.wait_for_timeout(90)
    answered(stage, 3)
    held(stage, "1")
    answered(stage, 4)
    for count in (1, 2):  # later it is another press
        page.mouse.down(click_count=1)
        page.mouse.up(click_count=1)
        answered(stage, 4 + count)


@examples("phone")
@pytest.mark.parametrize("size", SIZES)
def test_a_notice_waits_until_what_is_pressed_is_released(make_stage: Any, new_project: Any, size: str) -> None:
    stage = make_stage(**SIZES[size], reduced_motion="reduce")
    stage.mine = new_project(tasks=5)
    choice = {"name": "it", "type": "yes_no", "text": "Is it old?", "required": True}
    stage.mine.show(questions={"version": 1, "steps": [{"name": "look", "questions": [choice]}]})
    for n in range(2):
        stage.go("/project/MINE/newtask")
        page, target = stage.page, stage.frame().locator("button.answer").first
        target.wait_for()
        if n:  # the second task
            before = stage.frame().locator(".over").inner_text()
            target.click()
            stage.until(lambda before=before: stage.frame().locator(".over").inner_text() != before)
        stage.settle(0.6)
        target.scroll_into_view_if_needed()
        box, runs = target.bounding_box(), len(stage.runs())
        spot = {"x": box["x"] + 20, "y": box["y"] + 12}
        finger = stage.context.new_cdp_session(page) if "has_touch" in SIZES[size] else None
        if finger:
            finger.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [spot]})
        else:
            page.mouse.move(**spot)
            page.mouse.down()
        page.wait_for_timeout(60)
        page.evaluate("for (const each of document.querySelectorAll('#throttled, #lapsed')) each.hidden = false")
        page.wait_for_timeout(100)
        assert target.bounding_box() == box
        if finger:
            finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        else:
            page.mouse.up()
        stage.until(lambda runs=runs: len(stage.runs()) == runs + 1)
        stage.until(lambda page=page: page.evaluate("document.getElementById('banners').offsetHeight") > 40)


def test_what_was_begun_goes_along_when_somebody_signs_in(make_stage: Any, new_person: Any) -> None:
    stage = with_media(make_stage(viewport={"width": 1280, "height": 900}, reduced_motion="reduce"))
    begin_work(stage)
    assert stage.path() in stage.page.locator("#sign-up a").get_attribute("href").replace("%2F", "/")
    ada = new_person()
    stage.sign_in(ada)  # in another tab
    stage.page.evaluate(EVENT, ["presenter:restart", {"task": int(stage.path().rpartition("/")[2])}])
    stage.page.wait_for_timeout(500)
    assert_work(stage)  # the frame alone is loaded again
    stage.page.reload()
    assert stage.page.get_attribute("#presenter", "data-volunteer")
    frame = assert_work(stage)
    frame.get_by_role("button", name="Send", exact=True).click()
    (run,) = stage.until(stage.runs)
    assert run["user_id"] == ada.profile()["user"]["id"]
    assert run["info"]["more"] == "Two of them" and len(run["info"]["ducks"]) == 1
    left = """[sessionStorage, localStorage].flatMap((area) =>
      Object.keys(area).filter((key) => /^presenter-\\d+-$/.test(key)).flatMap((key) => Object.keys(JSON.parse(area[key]))))"""
    assert set(stage.page.evaluate(left)) <= {"mark-keys"}  # that what keys do was read is no work


def begin_work(stage: Any) -> None:
    """A box and some words, which are not sent."""
    frame = ask(stage, WORK)
    ducks = field(frame, "ducks")
    ducks.get_by_role("button", name="Add a box", exact=True).click()
    frame.locator("[data-question=more] input").fill("Two of them")
    stage.page.wait_for_timeout(300)  # the page keeps it a moment later


def assert_work(stage: Any) -> Any:
    """The frame, in which the box and the words are there."""

    def there() -> Any:
        frame = stage.frame()
        words = frame.locator("[data-question=more] input")
        shown = words.count() and words.input_value() == "Two of them"
        return frame if shown and frame.locator("[data-question=ducks] .mark-item").count() == 1 else None

    return stage.until(there)
