"""The project page moves while somebody looks at it."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.browser


def streams(stage: Any) -> int:
    return sum(asked.path.endswith("/live") for asked in stage.asked())


def answer(person: Any, project: Any) -> None:
    task = person.ask("GET", f"/api/{project.id}/newtask").json
    body = {"project_id": project.id, "task_id": task["id"], "info": "yes"}
    assert person.ask("POST", "/api/taskrun", body).status == 200


def test_figures_and_bar_move_without_a_reload(stage: Any, new_person: Any, new_project: Any) -> None:
    stage.mine = new_project(tasks=3, n_answers=1)
    ada = new_person()
    stage.go("/project/MINE/")
    page = stage.page
    finished = page.locator("#figures .meta")
    assert page.inner_text("#progress") == "0\u00a0% of the answers needed" and page.is_hidden("#last")
    assert finished.inner_text() == "0 of 3 tasks are finished"
    stage.until(lambda: streams(stage) == 1)
    page.evaluate("window.stays = true")
    answer(ada, stage.mine)
    stage.until(lambda: finished.inner_text() == "1 of 3 tasks are finished")
    assert page.inner_text("[data-figure=n_task_runs]") == "1" and page.inner_text("[data-figure=to_go]") == "2"
    assert (
        page.inner_text("[data-count=n_task_runs]") == "answer"
        and page.inner_text("[data-count=to_go]") == "tasks to go"
    )
    assert (
        page.inner_text("#progress") == "33\u00a0% of the answers needed"
        and page.evaluate("document.querySelector('#figures progress').value") == 33
    )
    assert page.inner_text("#last").startswith("Last answer: ") and page.inner_text("#last").endswith("ago")
    assert page.inner_text("#progress-news") == ""  # not so often that it would be talk
    for _ in range(2):
        answer(ada, stage.mine)
    stage.until(
        lambda: page.inner_text("#progress-news") == "100\u00a0% of the answers needed"
    )  # the end is said at once
    assert page.evaluate("document.querySelector('#figures progress').classList.contains('done')")
    assert page.is_hidden("#changed")
    stage.mine.owner.ask("POST", f"/project/{stage.mine.short_name}/pause", {}, Authorization=stage.mine.owner.key)
    stage.until(lambda: page.is_visible("#changed"))
    assert page.evaluate("window.stays") and stage.console == []


def test_a_page_that_nobody_looks_at_has_no_stream(stage: Any) -> None:
    stage.go("/project/MINE/")
    stage.until(lambda: streams(stage) == 1)
    hide = "Object.defineProperty(document, 'hidden', {value: HOW, configurable: true}); document.dispatchEvent(new Event('visibilitychange'))"
    stage.page.evaluate(hide.replace("HOW", "true"))
    answer(stage.mine.owner, stage.mine)
    stage.settle(0.8)
    assert stage.page.inner_text("[data-figure=n_task_runs]") == "0" and streams(stage) == 1
    stage.page.evaluate(hide.replace("HOW", "false"))
    stage.until(lambda: stage.page.inner_text("[data-figure=n_task_runs]") == "1")
    assert streams(stage) == 2


@pytest.mark.proof
def test_who_wants_no_motion_sees_none(stage: Any) -> None:
    stage.page.emulate_media(reduced_motion="reduce")
    stage.go("/project/MINE/")
    stage.until(lambda: streams(stage) == 1)
    answer(stage.mine.owner, stage.mine)
    stage.until(lambda: stage.page.inner_text("[data-figure=n_task_runs]") == "1")
    moved = stage.page.locator(".moved").first
    assert moved.evaluate("element => getComputedStyle(element).animationName") == "none"
