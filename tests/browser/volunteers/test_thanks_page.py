"""What a volunteer hears after answers: a stroke, thanks before any offer, what became of the last ones, and all of it at the end."""

from __future__ import annotations

from typing import Any

import pytest
from presenters import KEYS
from test_accessibility import AXE, RUN_ALL

pytestmark = pytest.mark.browser
EVENT = "([name, detail]) => document.dispatchEvent(new CustomEvent(name, {detail}))"
INKS = """() => [...document.querySelectorAll("#marks path:not(.new)")].map((each) => {
    const { stroke, filter } = getComputedStyle(each), { color } = getComputedStyle(document.getElementById("marks"));
    return stroke === color && filter === "none" ? "the same, without a shadow" : `${stroke} on ${color}, ${filter}`; })"""
STROKE = "() => { const stroke = document.querySelector('#marks .new'); return stroke && getComputedStyle(stroke).animation; }"


def saved(stage: Any, times: int = 1) -> str:
    """What is said after answers."""
    for _ in range(times):
        stage.page.evaluate(EVENT, ["presenter:saved", {"task": 0}])
    said: str = stage.page.inner_text("#said")
    return said


def opened(stage: Any) -> Any:
    frame = stage.show(KEYS)
    stage.until(lambda: frame.inner_text("#work").startswith("Task"))
    return frame


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_the_count_moves_with_a_stroke_that_draws_itself(stage: Any, motion: str) -> None:
    stage.page.emulate_media(reduced_motion=motion)
    opened(stage)
    saved(stage)
    animation = stage.page.evaluate(STROKE)
    assert ("draw" in animation and "0.18s" in animation) is (motion == "no-preference"), animation
    assert stage.page.inner_text("#count") == "1"
    saved(stage)
    assert stage.page.evaluate(INKS) == ["the same, without a shadow"]


def test_thanks_come_before_any_offer_and_never_with_one(stage: Any) -> None:
    opened(stage)
    page = stage.page
    assert saved(stage) == "Thank you! Saved ✓" and page.is_hidden("#sign-up")
    assert saved(stage) == "Saved ✓" and page.is_hidden("#sign-up")
    assert saved(stage) == "Saved ✓" and page.is_visible("#sign-up")
    for tens in (10, 20):
        saved(stage, 6 if tens == 10 else 8)
        assert saved(stage).startswith(f"{tens} answers from you") and page.is_hidden("#sign-up")
        assert saved(stage) == "Saved ✓" and page.is_visible("#sign-up")


def test_the_tenth_answer_tells_how_many_have_a_result(stage: Any, new_project: Any) -> None:
    stage.mine = new_project(tasks=12, n_answers=1)
    for task in stage.mine.tasks[5:]:
        stage.mine.owner.api("PUT", f"task/{task}", {"n_answers": 2})
    frame = opened(stage)
    for task in stage.mine.tasks[:10]:
        stage.until(lambda task=task: frame.inner_text("#work") == f"Task {task}")
        frame.click("text=Yes")
    stage.until(lambda: stage.page.inner_text("#said") == "Thank you! 5 of your last 10 already have a result.")


def test_the_end_shows_what_this_person_did_and_where_to_go_on(stage: Any, new_project: Any) -> None:
    new_project(tasks=1)
    stage.mine = new_project(tasks=3, n_answers=1)
    stage.mine.owner.api("PUT", f"task/{stage.mine.tasks[2]}", {"n_answers": 2})
    frame = opened(stage)
    for task in stage.mine.tasks:
        stage.until(lambda task=task: frame.inner_text("#work") == f"Task {task}")
        assert stage.page.is_hidden("#did") and stage.page.is_hidden("#others")
        frame.click("text=Yes")
    page = stage.page
    page.wait_for_selector("#did:visible")
    text = page.inner_text("#did")
    assert "3 answers from you. Thank you!" in text and "2 of them have their result." in text
    assert (
        page.locator("#did .answer-marks path").count() == 3 and page.locator("#did .answer-marks .wait").count() == 1
    )
    assert page.locator("#did .reading").count() == 2
    assert page.locator(f"#did a[href='/project/{stage.mine.short_name}/results']").is_visible()
    assert "/account/register" in page.get_attribute("#did a[href*=register]", "href")
    links = page.locator("#others h3 a").evaluate_all("all => all.map((each) => each.pathname)")
    assert links and f"/project/{stage.mine.short_name}/" not in links
    assert page.locator("#others .card > :is(img, svg)").count() == len(links)
    page.evaluate(AXE)
    assert page.evaluate(RUN_ALL) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]
    stage.go("/project/MINE/thanks")
    assert page.inner_text("#thanks") == "3 answers from you. Thank you!"
    page.evaluate(AXE)
    assert page.evaluate(RUN_ALL) == []


def test_another_task_takes_the_end_away(stage: Any, new_project: Any) -> None:
    stage.mine = new_project(tasks=1, n_answers=1)
    frame = opened(stage)
    frame.click("text=Yes")
    stage.page.wait_for_selector("#did:visible")
    stage.page.evaluate(EVENT, ["presenter:task", {"task": stage.mine.tasks[0]}])
    assert stage.page.is_hidden("#did") and stage.page.is_hidden("#others")
