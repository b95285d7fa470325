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
    stage.page.route("**/presenter/bridge.js*", lambda route: held.append(route))
    stage.mine.show(task_presenter=stage.fill(SIMPLE))
    stage.page.goto(stage.witness.url + stage.fill("/project/MINE/newtask"), wait_until="commit")
    frame = stage.until(lambda: frame_in(stage.page.query_selector("#presenter iframe")))
    frame.wait_for_function("window.pybossa && document.querySelector('button')")  # it is there, and has said hello
    stage.until(lambda: held)
    assert not [asked for asked in stage.asked() if "/newtask?" in asked.path and asked.path.startswith("/api")]
    for route in held:
        route.continue_()
    stage.until(lambda: frame.inner_text("#work") == f"Task {stage.mine.tasks[0]}")
    assert stage.page.locator("#presenter iframe").count() == 1
    assert len([asked for asked in stage.asked() if "_presenter=1" in asked.path]) == 1
    frame.click("button[value=yes]")
    stage.until(lambda: len(stage.runs()) == 1)
    assert not stage.console


@pytest.mark.proof
def test_a_frame_that_reloads_itself_before_the_scripts_are_there_is_begun_again(stage: Any) -> None:
    held: list[Any] = []
    stage.page.route("**/presenter/bridge.js*", lambda route: held.append(route))
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
