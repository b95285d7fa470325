"""The builder offers a column of the tasks as the suggested answer, and its preview shows it."""

from __future__ import annotations

from typing import Any

import pytest
from question_builder import build, status, written
from test_question_builder import save, single_choice

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def shared(make_stage: Any) -> Any:
    return make_stage(viewport={"width": 1280, "height": 900})


@pytest.mark.proof
def test_a_column_is_chosen_as_the_suggested_answer(shared: Any, new_project: Any) -> None:
    page = build(shared, new_project)
    project = shared.mine
    for task in project.tasks:
        record = project.owner.api("GET", f"task/{task}")
        project.owner.api("PUT", f"task/{task}", {"info": {**record["info"], "guess": "owl"}})
    page.reload()
    single_choice(page)
    page.locator("summary", has_text="More settings").first.click()
    page.get_by_label("Suggested answer").select_option(label="A column of the tasks")
    page.get_by_label("Column with the suggestion").fill("guess")
    page.get_by_label("Tasks without the suggestion (%)").fill("0")
    [question] = written(page)["steps"][0]["questions"]
    assert question["suggest"] == {"column": "guess", "hidden_share": 0}
    status(shared, "No problems")
    preview = page.frame_locator(".b-preview iframe, iframe").last
    preview.get_by_text("This is a suggestion.").wait_for()
    page.get_by_label("Tasks without the suggestion (%)").fill("200")
    page.get_by_text("This must be a number from 0 to 1.", exact=True).wait_for()
    page.get_by_label("Suggested answer").select_option(label="None")
    assert "suggest" not in written(page)["steps"][0]["questions"][0]
    page.get_by_label("Suggested answer").select_option(label="A column of the tasks")
    page.get_by_label("Column with the suggestion").fill("guess")
    status(shared, "No problems")
    save(page)
    stored = project.owner.api("GET", f"project/{project.id}")["info"]["questions"]
    assert stored["steps"][0]["questions"][0]["suggest"] == {"column": "guess"}
    assert shared.console == []
