"""A volunteer's minutes: by touch and by keyboard alone, and all that may come between them and their answer."""

from __future__ import annotations

import importlib.resources
import re
from typing import Any

import pytest
from presenter_page import frame_in
from support.checks.proofs import examples
from support.checks.shows import shows

from crowdd.features.projects import starters

pytestmark = pytest.mark.browser

AXE = importlib.resources.files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")
WRONG = "async () => (await axe.run()).violations.map(v => v.id + ': ' + v.nodes[0].html.slice(0, 200))"
EVENT = "([name, detail]) => document.dispatchEvent(new CustomEvent(name, {detail}))"


def open_starter(stage: Any, name: str = "picture", **sources: str) -> Any:
    """The frame of a project whose tasks are the starter's sample, each with a title of its own."""
    source = starters.source(name)
    for number, task in enumerate(stage.mine.tasks):
        stage.mine.owner.api(
            "PUT", f"task/{task}", {"info": {**starters.samples(source)[0], "title": f"Sample {number}"}}
        )
    stage.mine.show(task_presenter=source, **sources)
    stage.go("/project/MINE/newtask")
    frame = stage.frame()
    stage.until(lambda: frame.inner_text("#place") == "Sample 0")
    return frame


def counted(stage: Any, count: int) -> None:
    stage.until(lambda: stage.page.inner_text("#count") == str(count))


def focused(stage: Any) -> str:
    name: str = stage.page.evaluate("document.activeElement.id || document.activeElement.textContent.trim()")
    return name


# The first minute


@pytest.mark.proof
def test_the_first_minute_by_touch_on_a_phone(make_stage: Any) -> None:
    stage = make_stage(viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    open_starter(stage)
    page = stage.page
    stage.go("/project/MINE/")
    page.tap("a.btn.main")
    frame = stage.frame()
    stage.until(lambda: frame.inner_text("#place") == "Sample 0")
    assert page.inner_text("#said") == "You need no account."
    assert not page.is_visible("#sign-up")
    for number in range(3):
        stage.until(lambda number=number: frame.inner_text("#place") == f"Sample {number}")
        frame.tap("button[value=No]" if number % 2 else "button[value=Yes]")
        counted(stage, number + 1)
    stage.until(lambda: "Saved" in page.inner_text("#said"))
    stage.until(lambda: page.is_visible("#sign-up"))
    page.tap("#sign-up-no")
    stage.until(lambda: page.is_visible("#others"))
    links = page.locator("#others a").evaluate_all("all => all.map(each => each.pathname)")
    assert links and f"/project/{stage.mine.short_name}/" not in links
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    page.tap("#leave")
    stage.until(lambda: stage.path() == f"/project/{stage.mine.short_name}/")
    assert len(stage.runs()) == 3 and not stage.console


@pytest.mark.proof
def test_the_first_minute_by_keyboard_alone_on_a_narrow_screen(stage: Any) -> None:
    open_starter(stage)
    page, press = stage.page, stage.page.keyboard.press
    page.set_viewport_size({"width": 360, "height": 740})
    stage.go("/project/MINE/")
    for _ in range(40):
        if focused(stage) != "Start":
            press("Tab")
    press("Enter")
    stage.until(lambda: stage.path().endswith(("/newtask", f"/task/{stage.mine.tasks[0]}")))
    frame = stage.frame()
    stage.until(lambda: frame.inner_text("#place") == "Sample 0")
    press("?")
    page.locator("#keys").wait_for()
    keys = page.locator("#keys kbd").all_inner_texts()
    assert {"1", "2", "3", "H", "S", "?", "Esc"} <= {*keys}
    press("Escape")
    press("1")
    counted(stage, 1)
    stage.until(lambda: frame.inner_text("#place") == "Sample 1")
    assert frame.evaluate("document.activeElement.id") == "ask"  # the new question has the focus, and is told
    stage.until(lambda: page.inner_text("#presenter-news") == f"Task {stage.mine.tasks[1]}")
    page.wait_for_timeout(300)  # a key on a task that has just come was meant for the one before
    stage.press_out_of_frame("s")
    page.locator("#why").wait_for()
    press("Enter")
    stage.until(lambda: stage.frame().inner_text("#place") == "Sample 2")
    press("3")
    counted(stage, 2)
    stage.until(lambda: stage.frame().inner_text("#place") == "Sample 1")  # what was skipped comes last
    stage.frame().focus("#ask")
    press("Escape")
    stage.until(lambda: focused(stage) == "leave")
    press("Enter")
    stage.until(lambda: stage.path() == f"/project/{stage.mine.short_name}/")
    first, _, last = stage.mine.tasks
    assert [(run["task_id"], run["info"]["answer"]) for run in stage.runs()] == [(first, "Yes"), (last, None)]


@examples("ar-dark")
@pytest.mark.parametrize(("locale", "theme"), [("en", "light"), ("ar", "dark")])
def test_axe_finds_nothing_on_the_page_and_in_its_frame(
    make_stage: Any, new_person: Any, locale: str, theme: str
) -> None:
    stage = make_stage(
        viewport={"width": 320, "height": 640}, locale=locale, color_scheme=theme, reduced_motion="reduce"
    )
    if locale == "en":
        stage.sign_in(new_person())
    stage.mine.owner.api("PUT", f"project/{stage.mine.id}", {"long_description": "# How\n\nLook **closely**."})
    page = stage.page
    stage.mine.show(task_presenter=starters.source("picture"), tutorial="<div class='say'><h1>Like this</h1></div>")
    stage.go("/project/MINE/newtask")
    page.locator("#tutorial[open]").wait_for()
    page.evaluate(AXE)
    violations = {"tutorial": page.evaluate(WRONG)}
    page.click("#tutorial .btn.main")
    frame = stage.frame()
    frame.locator("#place").wait_for()
    frame.evaluate(AXE)
    for name in ("keys", "why"):
        page.evaluate(f"document.getElementById('{name}').hidden = false")
        violations[name] = page.evaluate(WRONG)
        page.evaluate(f"document.getElementById('{name}').hidden = true")
    page.click("#help-open")
    page.evaluate("for (const one of document.querySelectorAll('.flash, .toast, #others, #change')) one.hidden = false")
    violations |= {"page": page.evaluate(WRONG), "frame": frame.evaluate(WRONG)}
    assert {name: wrong for name, wrong in violations.items() if wrong} == {}
    assert page.get_attribute("html", "dir") == ("rtl" if locale == "ar" else "ltr")
    for part in (page, frame):
        assert part.evaluate("document.documentElement.scrollWidth") <= 320


# What may come between


def answer_signed_out(stage: Any, person: Any) -> Any:
    """The frame of a volunteer whose session has ended, and who answered after that."""
    stage.sign_in(person)
    frame = open_starter(stage, "text")
    person.ask("GET", "/account/signout")  # in another window
    frame.fill("#field", "a storm")
    frame.press("#field", "Enter")
    stage.until(lambda: stage.page.is_visible("#away"))
    return frame


def test_signing_in_again_in_a_new_tab_sends_the_answer_that_waited(stage: Any, new_person: Any) -> None:
    ada = new_person()
    frame = answer_signed_out(stage, ada)
    assert stage.runs() == []
    assert stage.page.locator("input[type=password], dialog").count() == 0
    with stage.context.expect_page() as opened:
        stage.page.click("#away a")
    tab = opened.value
    tab.fill("#email", ada.name)
    tab.fill("#password", "a-long-password-1")
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/project/**")
    stage.until(lambda: len(stage.runs()) == 1)  # nothing was pressed in the volunteer's tab
    (run,) = stage.runs()
    assert run["info"] == {"answer": "a storm"} and run["user_id"]  # under their own name
    stage.until(lambda: stage.page.is_hidden("#away"))
    stage.until(lambda: frame.inner_text("#place") == "Sample 1")
    counted(stage, 1)
    assert not tab.evaluate("window.opener")


def test_signing_in_as_somebody_else_sends_nothing(stage: Any, new_person: Any) -> None:
    ada, eve = new_person(), new_person()
    answer_signed_out(stage, ada)
    stage.sign_in(eve)
    stage.page.evaluate("dispatchEvent(new Event('focus'))")
    stage.until(lambda: stage.page.is_visible("#away-other"))
    assert stage.runs() == []
    ada.sign_in()
    stage.sign_in(ada)
    stage.page.evaluate("dispatchEvent(new Event('focus'))")
    stage.until(lambda: len(stage.runs()) == 1)
    assert stage.runs()[0]["user_id"] == ada.profile()["user"]["id"]


@pytest.mark.proof
def test_who_signs_in_meanwhile_keeps_his_task(stage: Any, new_person: Any) -> None:
    frame = open_starter(stage)
    ada = new_person()
    stage.sign_in(ada)  # in another tab; the lease is the stranger's he was
    frame.click("button[value=Yes]")
    stage.until(lambda: len(stage.runs()) == 1)
    assert stage.runs()[0]["user_id"] == ada.profile()["user"]["id"]
    assert stage.page.is_hidden("#refused")


@pytest.mark.proof
def test_a_limit_is_waited_out(stage: Any) -> None:
    frame = open_starter(stage)
    refused: list[str] = []

    def limit(route: Any) -> None:
        if refused:
            return route.fallback()
        refused.append(route.request.url)
        body = '{"status": "failed", "status_code": 429, "exception_cls": "TooManyRequests", "exception_msg": "slowly"}'
        return route.fulfill(status=429, headers={"Retry-After": "90"}, content_type="application/json", body=body)

    stage.page.route("**/api/taskrun", limit)
    frame.click("button[value=Yes]")
    stage.until(lambda: stage.page.is_visible("#throttled"))
    assert re.fullmatch(r"1:\d\d", stage.page.inner_text("#throttled-for"))
    assert stage.runs() == []
    stage.page.evaluate("dispatchEvent(new Event('online'))")  # which ends every wait
    stage.until(lambda: len(stage.runs()) == 1)
    stage.until(lambda: stage.page.is_hidden("#throttled"))


def test_the_next_task_needs_no_server_and_answers_wait_for_the_line(stage: Any) -> None:
    frame = open_starter(stage)
    stage.until(lambda: stage.mine.tasks[1] in stage.handed())
    stage.settle()  # its picture, too
    stage.context.set_offline(True)
    frame.click("button[value=Yes]")
    stage.until(lambda: frame.inner_text("#place") == "Sample 1")  # it was there already
    frame.click("button[value=No]")
    stage.until(lambda: "2 answers" in stage.page.inner_text("#unsent"))
    assert stage.runs() == []
    stage.context.set_offline(False)
    stage.until(lambda: len(stage.runs()) == 2)
    stage.until(lambda: stage.page.is_hidden("#offline"))
    stage.until(lambda: frame.inner_text("#place") == "Sample 2")
    assert {run["info"]["answer"] for run in stage.runs()} == {"Yes", "No"}


def test_the_bar_moves_and_a_pause_is_told(stage: Any, new_person: Any, new_project: Any) -> None:
    stage.mine = new_project(tasks=3, n_answers=1)
    frame = open_starter(stage)
    other = new_person()
    task = other.ask("GET", f"/api/{stage.mine.id}/newtask").json["id"]
    body = {"project_id": stage.mine.id, "task_id": task, "info": "yes"}
    assert other.ask("POST", "/api/taskrun", body).status == 200
    stage.until(lambda: stage.page.inner_text("#done") == "1")
    assert stage.page.evaluate("document.querySelector('#progress').value") == 33  # of the answers
    name, key = stage.mine.short_name, stage.mine.owner.key
    stage.mine.owner.ask("POST", f"/project/{name}/pause", {}, Authorization=key)
    stage.until(lambda: stage.page.is_visible("#closed"))
    assert "paused" in stage.page.inner_text("#closed")
    frame.click("button[value=Yes]")  # the one that he has still counts
    stage.until(lambda: stage.page.inner_text("#done") == "2")
    stage.mine.owner.ask("POST", f"/project/{name}/publish", {}, Authorization=key)
    stage.until(lambda: stage.page.is_hidden("#closed"))


@shows("volunteer-barred")
def test_who_was_barred_is_told_on_the_page(stage: Any, new_person: Any, new_project: Any) -> None:
    stage.mine = new_project(tasks=3)
    ada = new_person()
    stage.mine.owner.api("POST", f"project/{stage.mine.id}/bar", {"user_name": ada.name})
    stage.mine.show(task_presenter=starters.source("text"))
    stage.sign_in(ada)
    stage.go("/project/MINE/newtask")
    stage.until(lambda: stage.page.is_visible("#closed"))
    assert "The owner of this project does not accept answers from you." in stage.page.inner_text("#closed")


def test_the_tutorial_opens_once_before_the_task_and_then_in_a_new_tab(stage: Any) -> None:
    stage.mine.owner.api("PUT", f"project/{stage.mine.id}", {"long_description": "Look."})
    tutorial = "<h1 tabindex=-1 id=how>Like this</h1><script>how.focus()</script>"
    stage.mine.show(task_presenter=starters.source("text"), tutorial=tutorial)
    stage.go("/project/MINE/newtask")
    page = stage.page
    shown = stage.until(lambda: frame_in(page.query_selector("#tutorial[open] iframe")))
    stage.until(lambda: shown.inner_text("#how") == "Like this")
    assert page.locator("#presenter iframe").count() == 0 and stage.handed() == []  # no task is held meanwhile
    shown.focus("#how")
    page.keyboard.press("Escape")  # inside its frame
    page.locator("#tutorial[open]").wait_for(state="detached")
    frame = stage.frame()
    stage.until(lambda: stage.handed() != [])
    page.reload()
    frame = stage.frame()
    stage.until(lambda: frame.is_visible("#field"))
    assert page.is_hidden("#tutorial")
    frame.fill("#field", "half an answer")
    page.click("#help-open")
    with stage.context.expect_page() as opened:
        page.click("#help a[target]")
    again = stage.frame(opened.value)
    stage.until(lambda: again.inner_text("#how") == "Like this")
    opened.value.close()
    assert frame.input_value("#field") == "half an answer"


def test_a_favourite_by_one_key_or_one_click(stage: Any, new_person: Any) -> None:
    ada = new_person()
    stage.sign_in(ada)
    open_starter(stage)
    page = stage.page
    page.locator("#favourite").wait_for()
    page.focus("#leave")
    page.keyboard.press("f")
    stage.until(lambda: page.get_attribute("#favourite", "aria-pressed") == "true")
    stage.until(lambda: [task["id"] for task in ada.ask("GET", "/api/favorites").json] == [stage.mine.tasks[0]])
    page.reload()
    stage.until(lambda: page.get_attribute("#favourite", "aria-pressed") == "true")
    page.click("#favourite")
    stage.until(lambda: page.get_attribute("#favourite", "aria-pressed") == "false")
    stage.until(lambda: ada.ask("GET", "/api/favorites").json == [])
    # Shown before the server has answered, and taken back when it refuses.
    shown: list[Any] = []

    def refuse(route: Any) -> None:
        shown.append(page.get_attribute("#favourite", "aria-pressed"))
        route.fulfill(status=503, json={})

    page.route("**/api/favorites**", refuse)
    page.click("#favourite")
    page.locator("#said", has_text="The favourite was not saved. Try again.").wait_for()
    assert shown == ["true"] and page.get_attribute("#favourite", "aria-pressed") == "false"


@pytest.mark.proof
def test_milestones_are_told_beside_the_task(stage: Any, new_person: Any) -> None:
    stage.sign_in(new_person())
    open_starter(stage)
    for _ in range(9):
        stage.page.evaluate(EVENT, ["presenter:saved", {"task": 0}])
    assert stage.page.inner_text("#said") == "Saved ✓"
    stage.page.evaluate(EVENT, ["presenter:saved", {"task": 0}])
    assert "10 answers from you" in stage.page.inner_text("#said")
    assert stage.page.evaluate("document.querySelector('dialog[open]')") is None
