"""A presenter that takes the focus all the time and writes down every key: what it must never get."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.browser

SECRET = "Zq7Kx9wYv3"
# It tells the whole page's history of keys, so that a frame that was loaded anew hides nothing.
THIEF = """<input id=trap><div style="height:20000px"></div><script>
  setInterval(() => { window.focus(); trap.focus({ preventScroll: true }) }, 20);
  addEventListener("keydown", (event) => console.log("key:" + event.key), true);
</script>"""
PATHS = ("newtask", "task/MINE_TASK0", "tutorial", "results", "tasks/taskpresentereditor")


def stolen(stage: Any) -> str:
    return "".join(line.removeprefix("key:") for line in stage.console if line.startswith("key:"))


def show_thief(stage: Any, path: str = "/project/MINE/newtask", **sources: str) -> Any:
    stage.mine.show(task_presenter=THIEF, **sources)
    stage.go(path)
    return stage.page


def wait_until_it_steals(stage: Any) -> None:
    """Types one key until the thief sees it: it runs, and it has the focus."""

    def typed() -> bool:
        stage.page.keyboard.press("x")
        return "x" in stolen(stage)

    stage.until(typed)


def test_a_password_typed_in_the_new_tab_does_not_reach_the_presenter(stage: Any, new_person: Any) -> None:
    ada = new_person()
    stage.sign_in(ada)
    page = show_thief(stage)
    wait_until_it_steals(stage)
    ada.ask("GET", "/account/signout")
    page.evaluate("document.dispatchEvent(new CustomEvent('presenter:signed-out'))")
    assert page.locator("input[type=password]").count() == 0
    with stage.context.expect_page() as opened:
        page.click("#away a")
    stage.console.clear()
    tab = opened.value
    tab.fill("#email", ada.name)
    tab.focus("#password")
    tab.keyboard.type(SECRET, delay=40)
    assert tab.input_value("#password") == SECRET
    assert stolen(stage) == ""


def test_no_key_pressed_in_a_dialog_of_the_page_reaches_the_presenter(stage: Any) -> None:
    page = show_thief(stage, tutorial="<p>How to do it</p>")
    page.locator("#tutorial[open]").wait_for()
    page.wait_for_selector("#tutorial iframe")
    page.keyboard.type(SECRET, delay=40)
    assert page.locator("#presenter iframe").count() == 0
    # Everything that begins the frame with a task waits until the dialog is closed.
    page.evaluate("document.dispatchEvent(new CustomEvent('presenter:anew'))")
    page.keyboard.type(SECRET, delay=40)
    assert page.locator("#presenter iframe").count() == 0
    page.click("#tutorial .btn.main")
    wait_until_it_steals(stage)
    assert stolen(stage).strip("x") == ""


def test_the_panels_have_no_field_for_text_and_leave_the_frame_as_it_is(stage: Any) -> None:
    stage.mine.owner.api("PUT", f"project/{stage.mine.id}", {"long_description": "Look."})
    frame = stage.show(
        "<input id=note><script>pybossa.presentTask(() => 0); pybossa.run('MINE'); window.mark = 1</script>"
    )
    page = stage.page
    stage.until(lambda: page.is_visible("#skip"))
    frame.fill("#note", "half an answer")
    for panel, button in (("keys", "#keys-open"), ("help", "#help-open"), ("why", "#skip")):
        page.click(button)
        assert page.is_visible(f"#{panel}") and page.get_attribute(button, "aria-expanded") == "true"
        assert page.locator(":modal").count() == 0
        assert page.locator(f"#{panel} :is(input:not([type=checkbox]), textarea, [contenteditable])").count() == 0
        page.keyboard.press("Escape")
        assert page.is_hidden(f"#{panel}")
        assert page.evaluate("document.activeElement.id") == button.removeprefix("#")
    assert frame.input_value("#note") == "half an answer" and frame.evaluate("window.mark") == 1


@pytest.mark.parametrize("path", PATHS)
def test_pages_with_a_frame_say_whose_content_it_is_and_have_no_password_field(stage: Any, path: str) -> None:
    stage.sign_in(stage.mine.owner)
    page = show_thief(stage, f"/project/MINE/{path}", tutorial=THIEF, results=THIEF)
    if path in PATHS[:2]:
        page.click("#tutorial .btn.main")
    page.locator("#presenter iframe, #preview iframe").wait_for()
    assert page.locator("input[type=password]").count() == 0
    line = page.locator(".whose:visible")
    assert line.inner_text() == f"Content by {stage.mine.owner.name}. Do not enter a password here."
    if path not in PATHS[:4]:
        return
    page.wait_for_function("document.documentElement.scrollHeight > 15000")
    page.evaluate("scrollTo(0, 10000)")
    stage.until(lambda: page.evaluate("scrollY") > 9000)
    assert 0 <= line.bounding_box()["y"] < 10  # it stays on the screen


def test_dialogs_of_a_frame_never_become_dialogs_of_the_page(stage: Any) -> None:
    stage.mine.show(task_presenter="<script>alert('a'); confirm('b'); prompt('Your password?')</script>")
    stage.go("/project/MINE/newtask")
    frame = stage.frame()
    frame.locator("dialog").wait_for()
    assert stage.page.locator("dialog").count() == 0
    assert stage.page.evaluate("document.activeElement.tagName") in ("BODY", "IFRAME")
