"""The presenter's frame begins to load before the page's scripts are there, and misses nothing by it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from presenter_page import frame_in
from presenters import SIMPLE

pytestmark = pytest.mark.browser
KEEPS = "<p id='kept'></p><script>document.getElementById('kept').textContent = localStorage.note || 'nothing'; localStorage.note = 'mine'</script>"


def test_the_frame_waits_for_no_script_of_the_page(stage: Any) -> None:
    held: list[Any] = []
    stage.page.route("**/bundles/task.js*", lambda route: held.append(route))
    stage.mine.show(task_presenter=stage.fill(SIMPLE))
    stage.page.goto(stage.witness.url + stage.fill("/project/MINE/newtask"), wait_until="commit")
    frame = stage.until(lambda: frame_in(stage.page.query_selector("#presenter iframe")))
    frame.wait_for_function("window.pybossa && document.querySelector('button')")  # it is there, and has said hello
    stage.until(lambda: held and asked_for_tasks(stage))  # the first one is asked for at once
    for route in held:
        route.continue_()
    stage.until(lambda: frame.inner_text("#work") == f"Task {stage.mine.tasks[0]}")
    assert stage.page.locator("#presenter iframe").count() == 1
    assert len([asked for asked in stage.asked() if "_presenter=1" in asked.path]) == 1
    assert len([asked for asked in asked_for_tasks(stage) if asked.endswith("offset=0")]) == 1
    frame.click("button[value=yes]")
    stage.until(lambda: len(stage.runs()) == 1)
    assert not stage.console


LATE = "getComputedStyle(document.querySelector('#first .late')).opacity"
QUESTION = {"name": "seen", "type": "yes_no", "text": "Is there a bird?", "required": True, "unsure": True}
LOOK = {
    "name": "look",
    "questions": [QUESTION],
    "media": [{"name": "photo", "type": "picture", "source": {"column": "x"}}],
}


def test_the_question_is_there_before_scripts_and_style_sheets(stage: Any) -> None:
    held: list[Any] = []
    stage.page.route("**/static/bundles/*", lambda route: held.append(route))
    stage.mine.show(questions={"version": 1, "steps": [LOOK]})
    stage.page.goto(stage.witness.url + stage.fill("/project/MINE/newtask"), wait_until="commit")
    first = stage.page.locator("#first")
    first.get_by_text("Is there a bird?").wait_for()
    assert first.locator(".answers p:visible").all_inner_texts() == ["Yes", "No", "I can’t tell"]
    box = first.locator(".see").bounding_box()
    assert box["width"] > 300 and box["height"] > 200  # as large as the picture is going to be
    assert stage.page.evaluate(LATE) == "0"
    stage.until(lambda: stage.page.evaluate(LATE) == "1")
    assert "Slow connection. Loading the task (" in first.locator(".late").inner_text()
    for route in held:
        route.continue_()
    stage.page.unroute("**/static/bundles/*")
    first.wait_for(state="detached")
    assert stage.page.frame_locator("#presenter iframe").locator("form h1").inner_text() == "Is there a bird?"


def test_the_page_brings_the_files_of_questions_and_the_frame_loads_them_where_that_failed(stage: Any) -> None:
    loaded: list[str] = []
    stage.mine.show(questions={"version": 1, "steps": [LOOK]})
    for failing in (False, True):
        stage.begin()
        loaded.clear()
        stage.page.on("request", lambda asked: "bundles/choices" in asked.url and loaded.append(asked.resource_type))
        if failing:
            stage.page.route(
                "**/bundles/choices*",
                lambda route: route.abort() if route.request.resource_type == "fetch" else route.continue_(),
            )
        stage.go("/project/MINE/newtask")
        frame = stage.frame()
        frame.wait_for_selector("form.say h1")
        assert frame.evaluate("getComputedStyle(document.querySelector('.see')).position") == "relative"
        assert sorted(loaded) == ["fetch", "fetch", *(["script", "stylesheet"] if failing else [])]


@pytest.mark.proof
def test_a_frame_that_reloads_itself_before_the_scripts_are_there_is_begun_again(stage: Any) -> None:
    held: list[Any] = []
    stage.page.route("**/bundles/task.js*", lambda route: held.append(route))
    reloads = "<script>setTimeout(() => location.reload(), 200)</script>"
    stage.mine.show(task_presenter=stage.fill(SIMPLE + reloads))
    stage.page.goto(stage.witness.url + stage.fill("/project/MINE/newtask"), wait_until="commit")
    stage.until(lambda: held)
    stage.until(lambda: len([asked for asked in stage.asked() if "_presenter=1" in asked.path]) > 1)
    stage.mine.show(task_presenter=stage.fill(SIMPLE))
    stage.until(lambda: stage.page.evaluate("presenterEarly.heard.length") > 1)
    for route in held:
        route.continue_()
    stage.until(lambda: stage.frame().inner_text("#work") == f"Task {stage.mine.tasks[0]}")


@pytest.mark.proof
def test_what_a_presenter_keeps_is_there_from_the_beginning(stage: Any) -> None:
    frame = stage.show(KEEPS)
    assert frame.inner_text("#kept") == "nothing"
    stage.until(lambda: "mine" in (stage.page.evaluate(f"localStorage['presenter-{stage.mine.id}-']") or ""))
    stage.page.reload()
    stage.until(lambda: stage.frame().inner_text("#kept") == "mine")


def asked_for_tasks(stage: Any) -> list[str]:
    return [
        asked.path.partition("?")[2]
        for asked in stage.asked()
        if asked.path.startswith("/api/project/") and "/newtask?" in asked.path
    ]


def test_the_first_task_is_asked_for_while_the_frame_loads_and_once(stage: Any) -> None:
    held: list[Any] = []
    stage.page.route(re.compile("_presenter=1"), lambda route: held.append(route))
    stage.mine.show(task_presenter=stage.fill(SIMPLE))
    stage.page.goto(stage.witness.url + stage.fill("/project/MINE/newtask"), wait_until="commit")
    stage.until(lambda: held and asked_for_tasks(stage) == ["offset=0"])
    for route in held:
        route.continue_()
    stage.until(lambda: stage.frame().inner_text("#work") == f"Task {stage.mine.tasks[0]}")
    stage.until(lambda: asked_for_tasks(stage) == ["offset=0", "offset=1"])
    stage.until(lambda: stage.handed() == stage.mine.tasks[:2])


@pytest.mark.proof
def test_who_begins_otherwise_gets_what_he_asks_for(stage: Any) -> None:
    frame = stage.show("<p>begins otherwise</p>")
    stage.until(lambda: asked_for_tasks(stage) == ["offset=0"])
    assert stage.handed() == []  # nobody has been shown it: it is not held either
    query = "limit=2"
    got = frame.evaluate(
        f"presenterBridge.api('GET', '/api/project/{stage.mine.id}/newtask?{query}').then((got) => JSON.parse(got.body))"
    )
    assert [task["id"] for task in got] == stage.handed() == stage.mine.tasks[:2]
    assert asked_for_tasks(stage) == ["offset=0", query]


@pytest.mark.proof
def test_a_task_that_was_opened_is_not_asked_for_ahead(stage: Any) -> None:
    stage.show(SIMPLE, path="/project/MINE/task/MINE_TASK1")
    stage.until(lambda: stage.frame().inner_text("#work") == f"Task {stage.mine.tasks[1]}")
    stage.until(lambda: stage.handed())
    assert "offset=0" not in asked_for_tasks(stage)[:1]
