"""The presenters to begin with, as they come: by keys, by touch, without a mouse, and when something goes wrong."""

from __future__ import annotations

from typing import Any

import pytest

from crowdd.features.projects import starters

pytestmark = pytest.mark.browser


def open_starter(stage: Any, name: str) -> Any:
    """The frame of a project whose tasks are the starter's sample, each with a title of its own."""
    source = starters.source(name)
    for number, task in enumerate(stage.mine.tasks):
        info = {**starters.samples(source)[0], "title": f"Sample {number}"}
        stage.mine.owner.api("PUT", f"task/{task}", {"info": info})
    frame = stage.show(source)
    stage.until(lambda: frame.inner_text("#place") == "Sample 0")
    return frame


def answers(stage: Any) -> list[Any]:
    return [(run["task_id"], run["info"]["answer"]) for run in stage.runs()]


@pytest.mark.proof
def test_pictures_by_keys_to_the_end(stage: Any) -> None:
    frame = open_starter(stage, "picture")
    for number, key in enumerate("132"):
        stage.until(lambda number=number: frame.inner_text("#place") == f"Sample {number}")
        stage.page.wait_for_timeout(300)  # a key on a task that has just come was meant for the one before
        stage.page.keyboard.press(key)  # the focus is on the page at first, then on the question
        stage.until(lambda number=number: stage.page.inner_text("#count") == str(number + 1))
        if number < 2:
            stage.until(lambda: frame.evaluate("document.activeElement.id") == "ask")
    stage.until(lambda: frame.is_visible("#thanks"))
    assert frame.evaluate("document.activeElement.id") == "thanks-title"
    assert answers(stage) == list(zip(stage.mine.tasks, ("Yes", None, "No"), strict=True))
    assert not stage.console


@pytest.mark.proof
def test_a_double_click_answers_once(stage: Any) -> None:
    frame = open_starter(stage, "picture")
    frame.dblclick("button[value=Yes]")
    stage.until(lambda: stage.page.inner_text("#count") == "1")
    stage.until(lambda: frame.inner_text("#place") == "Sample 1")
    stage.settle(0.5)
    assert len(stage.runs()) == 1


@pytest.mark.proof
def test_texts_by_keyboard_alone(stage: Any) -> None:
    frame = open_starter(stage, "text")
    assert frame.inner_text("#words") == "Wind NNW, 4. Heavy swell from the west all night."
    frame.focus("#field")
    stage.page.keyboard.type("1 storm?")  # while somebody types no key is a shortcut
    stage.page.keyboard.press("Enter")
    stage.until(lambda: frame.inner_text("#place") == "Sample 1")
    stage.until(lambda: frame.evaluate("document.activeElement.id") == "field" and frame.input_value("#field") == "")
    stage.page.wait_for_timeout(300)  # a key on a task that has just come was meant for the one before
    stage.page.keyboard.press("Enter")  # nothing typed, nothing sent
    stage.page.keyboard.press("Tab")
    stage.page.keyboard.press("Tab")
    stage.page.keyboard.press("Enter")  # I can't tell
    stage.until(lambda: frame.inner_text("#place") == "Sample 2")
    stage.page.wait_for_timeout(300)  # a key on a task that has just come was meant for the one before
    stage.page.keyboard.type("calm")
    stage.page.keyboard.press("Control+Enter")
    stage.until(lambda: frame.is_visible("#thanks"))
    stage.until(lambda: len(stage.runs()) == 3)
    assert answers(stage) == list(zip(stage.mine.tasks, ("1 storm?", None, "calm"), strict=True))
    assert not stage.console
