"""Presenters of the family, in the styles that there are, unchanged: each to its end, and what its style leans on."""

from __future__ import annotations

from typing import Any

import pytest
from presenters import FAMILY, RESULTS
from support.checks.proofs import examples

pytestmark = pytest.mark.browser


# A module that begins when the page is there; the others go to their end in make proofs.
@examples("module")
@pytest.mark.parametrize("name", FAMILY)
def test_a_presenter_works_to_its_end(stage: Any, name: str) -> None:
    stage.show(FAMILY[name].source)
    for task in stage.mine.tasks:
        frame = stage.until(lambda task=task: showing(stage, task))
        frame.click(".go")
        stage.until(lambda task=task: len(stage.runs()) > stage.mine.tasks.index(task))
    stage.until(lambda: stage.frame().is_visible("#end"))
    assert [run["task_id"] for run in stage.runs()] == stage.mine.tasks
    assert stage.runs()[0]["info"] == FAMILY[name].answer
    assert stage.page.inner_text("#count") == "3"
    assert not stage.console


def showing(stage: Any, task: int) -> Any:
    """The frame, when it shows the task; it may be reloaded meanwhile."""
    frame = stage.frame()
    return frame if frame.evaluate("document.getElementById('task-id')?.textContent") == str(task) else None


@pytest.mark.proof
def test_bootstraps_modal_its_icons_and_its_tooltip(stage: Any) -> None:
    frame = stage.show(FAMILY["modal"].source)
    stage.until(lambda: frame.inner_text("#task-id") == str(stage.mine.tasks[0]))
    frame.hover(".go")
    assert "Black all over" in frame.locator(".tooltip").inner_text()
    frame.click("[data-target='#guide']")
    frame.locator("#inside").wait_for(state="visible")
    frame.evaluate("document.fonts.load('16px \"Glyphicons Halflings\"', '\\ue043')")
    assert frame.evaluate("[...document.fonts].some(f => f.family.includes('Glyphicons') && f.status === 'loaded')")
    frame.click("#guide .close")
    frame.locator("#inside").wait_for(state="hidden")
    assert not stage.console


@pytest.mark.proof
def test_a_page_of_results_reads_its_lists(stage: Any, new_person: Any, new_project: Any) -> None:
    stage.mine = new_project(tasks=2, n_answers=1)
    person = new_person()
    task = person.ask("GET", f"/api/{stage.mine.id}/newtask").json["id"]
    body = {"project_id": stage.mine.id, "task_id": task, "info": "oak"}
    assert person.ask("POST", "/api/taskrun", body).status == 200
    stage.mine.show(results=stage.fill(RESULTS))
    stage.go("/project/MINE/results")
    frame = stage.frame()
    stage.until(lambda: frame.inner_text("#sum") == f"1 results of {stage.mine.short_name}, for en")
    assert frame.inner_text("#results") == f"{task}: oak"
    assert not stage.console
