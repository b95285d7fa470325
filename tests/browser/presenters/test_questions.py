"""Questions as data, as volunteers meet them: each type by mouse and by keyboard, steps, conditions, languages."""

from __future__ import annotations

import importlib.resources
from typing import Any

import jsonschema_rs
import pytest
from support.question_lists import ONE, every_form

from crowdd.kinds.questions import answer_schema

pytestmark = pytest.mark.browser
AXE = importlib.resources.files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")
RUN_AXE = """async () => (await axe.run(document, {resultTypes: ['violations']})).violations
    .map(v => v.id + ': ' + v.nodes.slice(0, 3).map(n => n.html.slice(0, 160)).join(' | '))"""


@pytest.fixture(scope="module")
def shared(make_stage: Any) -> Any:
    return make_stage()


def ask(stage: Any, document: Any) -> Any:
    """The frame with the questions of a document."""
    stage.begin()
    stage.mine.show(questions=document)
    stage.go("/project/MINE/newtask")
    frame = stage.frame()
    frame.wait_for_selector("form.say")
    return frame


def question(frame: Any, name: str) -> Any:
    return frame.locator(f"[data-question={name}]")


def button(frame: Any, name: str) -> Any:
    return frame.get_by_role("button", name=name, exact=True)


def stored(stage: Any, n: int, document: Any) -> Any:
    """The last of ``n`` answers, once it is there; it is valid."""
    runs = stage.until(lambda: (found := stage.mine.runs()) and len(found) == n and found)
    jsonschema_rs.validate(answer_schema(document), runs[-1]["info"])
    return runs[-1]["info"]


def test_every_type_is_answered_by_mouse(shared: Any) -> None:
    document = every_form()
    frame = ask(shared, document)
    button(frame, "Next").click()
    assert question(frame, "animal").locator(".bad").inner_text() == "Answer this question."
    assert not question(frame, "colours").locator(".bad").is_visible() and not question(frame, "age").is_visible()
    frame.get_by_label("Fox").check()
    assert not question(frame, "animal").locator(".bad").is_visible()
    frame.get_by_label("Grey").check()
    button(frame, "Next").click()
    assert question(frame, "colours").locator(".bad").inner_text() == "Choose at least 2."
    frame.get_by_label("Red").check()
    question(frame, "young").get_by_label("I can’t tell").check()
    question(frame, "age").locator("input").fill("3.5")
    button(frame, "Next").click()
    assert question(frame, "age").locator(".bad").inner_text() == "Enter a whole number."
    question(frame, "age").locator("input").fill("3")
    button(frame, "Next").click()
    assert frame.evaluate("document.activeElement.textContent") == "Words"
    question(frame, "clear").locator("label", has_text="4").click()
    question(frame, "light").locator("input[type=range]").click()
    question(frame, "light").get_by_label("I can’t tell").check()
    question(frame, "name").locator("input").fill(" Reynard ")
    question(frame, "story").locator("textarea").fill("One\nTwo")
    question(frame, "day").locator("input").fill("2019-05-01")
    button(frame, "Next").click()
    assert question(frame, "day").locator(".bad").inner_text() == "Enter January 1, 2020 or later."
    question(frame, "day").locator("input").fill("2024-02-29")
    button(frame, "Next").click()
    frame.get_by_role("button", name="Move up: Play").click()
    frame.get_by_role("button", name="Move up: Play").click()
    matrix = question(frame, "habits")
    matrix.locator("tbody tr").nth(0).locator("input").nth(1).check()
    button(frame, "Next").click()
    assert matrix.locator(".bad").first.inner_text() == "Choose an answer in every row."
    matrix.locator("tbody tr").nth(1).locator("input").nth(0).check()
    button(frame, "Next").click()
    question(frame, "sly").get_by_label("Yes").check()
    button(frame, "Send").click()
    assert stored(shared, 1, document) == {
        "animal": "fox",
        "colours": ["red", "grey"],
        "young": None,
        "age": 3,
        "clear": 4,
        "light": None,
        "name": "Reynard",
        "story": "One\nTwo",
        "day": "2024-02-29",
        "first": ["play", "food", "sleep"],
        "habits": {"day": "rests", "night": "hunts"},
        "sly": True,
        "questions_version": 1,
    }
    assert shared.console == []
