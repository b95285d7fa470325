"""A presenter that takes the focus all the time and writes down every key: what it must never get."""

from __future__ import annotations

from typing import Any

import pytest
from support.checks.proofs import examples
from support.checks.shows import shows

pytestmark = pytest.mark.browser

SECRET = "Zq7Kx9wYv3"
# It tells the whole page's history of keys, so that a frame that was reloaded hides nothing.
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
    page.evaluate("document.dispatchEvent(new CustomEvent('presenter:restart'))")
    page.keyboard.type(SECRET, delay=40)
    assert page.locator("#presenter iframe").count() == 0
    page.click("#tutorial .btn.main")
    wait_until_it_steals(stage)
    assert stolen(stage).strip("x") == ""


@pytest.mark.proof
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


@examples("newtask")
@shows("presenter-no-password")
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
    stage.until(lambda: page.evaluate("document.documentElement.scrollHeight") > 15000)
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


# It says over the bridge that keys were pressed, and dispatches made-up ones in its own document.
FORGER = """<button id=go>x</button><script>
  let port;
  const post = MessagePort.prototype.postMessage;
  MessagePort.prototype.postMessage = function (...words) { port = this; return post.apply(this, words) };
  pybossa.presentTask(() => 0);
  pybossa.run("MINE");
  presenterBridge.offer({});
  window.forge = (key) => {
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    port.postMessage(JSON.stringify({ op: "key", key }));
  };
</script>"""


def test_made_up_keys_mark_no_favourite_and_open_nothing(stage: Any, new_person: Any) -> None:
    ada = new_person()
    stage.sign_in(ada)
    stage.mine.owner.api("PUT", f"project/{stage.mine.id}", {"long_description": "Look."})
    frame = stage.show(FORGER)
    page = stage.page
    page.locator("#favourite").wait_for()
    stage.until(lambda: page.is_visible("#skip"))
    page.evaluate("window.told = []")
    page.evaluate("document.addEventListener('presenter:key', ({ detail }) => told.push(detail.key))")
    frame.click("#go")  # it has a click of the volunteer, too
    for key in ("f", "?", "h", "s", "z"):
        frame.evaluate("key => forge(key)", key)
    stage.until(lambda: page.evaluate("told.length") == 5)
    assert [page.is_visible(f"#{panel}") for panel in ("keys", "help", "why")] == [False] * 3
    assert page.get_attribute("#favourite", "aria-pressed") == "false"
    assert not [asked for asked in stage.asked() if asked.method != "GET" and "favorites" in asked.path]
    frame.focus("#go")
    stage.press_out_of_frame("f")  # a key that was pressed
    stage.until(lambda: page.get_attribute("#favourite", "aria-pressed") == "true")
    stage.until(lambda: [task["id"] for task in ada.ask("GET", "/api/favorites").json] == [stage.mine.tasks[0]])


def test_one_click_opens_one_tab(stage: Any) -> None:
    frame = stage.show("""<button id=go onclick="for (let i = 0; i < 50; i++)
      setTimeout(() => window.open('OUTSIDE/ad?' + i), 10 * i)">x</button>""")
    frame.click("#go")
    stage.settle()
    assert len(stage.context.pages) == 2
    frame.click("#go")  # a second click may open a second one
    stage.until(lambda: len(stage.context.pages) == 3)


STORING = """<p id=said></p><script>
  said.textContent = localStorage.diary || "empty";
  localStorage.diary = "what I saw"; sessionStorage.diary = "what I saw";
  const ticking = URL.createObjectURL(new Blob(["setInterval(() => postMessage(0), 50)"]));
  new Worker(ticking).onmessage = () => console.log("tick");
</script>"""
KEPT = (
    "[localStorage, sessionStorage].flatMap((area) => Object.keys(area)).filter((key) => key.startsWith('presenter-'))"
)


@pytest.mark.proof
def test_what_a_presenter_stored_and_its_workers_end_with_sign_out_in_another_tab(stage: Any, new_person: Any) -> None:
    ada = new_person()
    stage.sign_in(ada)
    frame = stage.show(STORING)
    stage.until(lambda: len(stage.page.evaluate(KEPT)) == 2 and "tick" in stage.console)
    assert frame.inner_text("#said") == "empty"
    tab = stage.context.new_page()
    tab.goto(f"{stage.witness.url}/project/{stage.mine.short_name}/")
    tab.click("summary[aria-label*=account]")
    tab.click("button[form=sign-out]")
    tab.wait_for_url(stage.witness.url + "/")
    stage.until(lambda: stage.page.is_visible("#away"))
    assert stage.page.locator("#presenter iframe").count() == 0
    stage.until(lambda: stage.page.evaluate(KEPT) == [])
    stage.console.clear()
    stage.settle(0.5)
    assert "tick" not in stage.console
    ada.sign_in()
    stage.sign_in(ada)
    tab.reload()
    stage.until(lambda: stage.frame().inner_text("#said") == "empty")  # it starts over, with nothing stored


def test_accounts_of_one_browser_do_not_read_what_a_presenter_stored_for_the_other(stage: Any, new_person: Any) -> None:
    stage.sign_in(new_person())
    stage.show(STORING)
    stage.until(lambda: len(stage.page.evaluate(KEPT)) == 2)
    stage.sign_in(new_person())
    stage.page.reload()
    stage.until(lambda: stage.frame().inner_text("#said") == "empty")
