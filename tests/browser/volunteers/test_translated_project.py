"""A translator's afternoon: texts side by side, by keyboard; then a volunteer reads them on a phone, and answers."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from first_hour import Hands
from presenter_page import Project
from support.person import Person
from support.until import until_on
from test_accessibility import AXE, RUN_ALL
from test_coming_back import Fingers, fits, hands_of

pytestmark = [pytest.mark.browser, pytest.mark.proof]
ANIMAL = {
    "name": "animal",
    "type": "single_choice",
    "text": "Which animal do you see?",
    "required": True,
    "choices": [{"value": "duck", "text": "Duck"}, {"value": "coot", "text": "Coot"}],
}
QUESTIONS = {
    "version": 1,
    "steps": [{"name": "look", "title": "Look closely", "questions": [ANIMAL]}],
}
GUIDE = {"version": 1, "entries": [{"name": "mallard", "title": "Mallard", "text": "Its head is **green**."}]}
GERMAN = {
    "project/name": "Am Teich",
    "project/description": "Welche Tiere leben hier?",
    "questions/look/title": "Sieh genau hin",
    "questions/animal/text": "Welches Tier siehst du?",
    "questions/animal/choices/duck/text": "Ente",
    "field_guide/entries/mallard/title": "Stockente",
    "field_guide/entries/mallard/text": "Ihr Kopf ist **grün**.",
}
"""All but the other choice."""


def looked_at(page: Any) -> None:
    """Nothing is too wide, and axe says nothing."""
    assert fits(page), page.url
    page.evaluate(AXE)
    assert page.evaluate(RUN_ALL) == [], page.url


def volunteer_of(browser: Any, locale: str) -> Any:
    context = browser.new_context(
        locale=locale, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True, reduced_motion="reduce"
    )
    context.set_default_timeout(45_000)
    return Fingers(context.new_page())


def prepared(project: Any, translator: Person) -> None:
    """The project asks in English, and somebody may translate it."""
    project.show(language="en", questions=QUESTIONS, field_guide=GUIDE)
    at, owner = f"/project/{project.short_name}/translators", project.owner
    token = {"X-CSRFToken": owner.ask("GET", at).json["form"]["csrf"]}
    assert owner.ask("POST", at, {"user": translator.name}, **token).status == 200


def test_a_translator_writes_and_volunteers_read_and_answer_alike(
    live_server: Any, browser: Any, new_person: Any
) -> None:
    tom, url = new_person(), live_server.url
    project = Project(new_person(), f"pond-{uuid.uuid4().hex[:8]}", tasks=1, n_answers=5)
    prepared(project, tom)
    at = f"{url}/project/{project.short_name}"
    hands: Hands = hands_of(browser, url, tom, "keyboard")
    page = hands.page
    page.goto(f"{at}/languages")
    looked_at(page)
    with page.expect_navigation():
        hands.press(page.get_by_role("link", name="Translate Deutsch"))
    looked_at(page)
    named = "inputs => inputs.map(each => [each.value, each.name.replace('key', 'text')])"
    for key, name in page.eval_on_selector_all("input[name^=key]", named):
        if key in GERMAN:
            hands.write(page.locator(f"#{name}"), GERMAN[key])
    with page.expect_navigation():
        hands.press(page.get_by_role("button", name="Save"))
    assert "Saved. 1 text is left." in page.inner_text("body")
    with page.expect_navigation():
        hands.press(page.get_by_role("link", name="Missing 1"))
    assert page.locator("textarea").count() == 1 and "Coot" in page.inner_text("main")
    looked_at(page)

    german = volunteer_of(browser, "de-DE")
    mine = german.page
    mine.goto(at)
    assert mine.inner_text("h1") == "Am Teich" and "Welche Tiere leben hier?" in mine.inner_text("main")
    looked_at(mine)
    mine.goto(f"{at}/newtask")
    frame = mine.frame_locator("iframe")
    frame.get_by_text("Ente").wait_for()
    assert frame.get_by_text("Coot").get_attribute("lang") == "en", "what is not translated says so"
    assert "Welches Tier siehst du?" in frame.locator("body").inner_text()
    looked_at(mine)
    frame.get_by_text("Ente").tap()
    until_on(mine, lambda: len(project.runs()) == 1)
    mine.goto(f"{at}/fieldguide")
    assert "Stockente" in mine.inner_text("main") and mine.locator("strong", has_text="grün").count() == 1

    english = volunteer_of(browser, "en-GB")
    theirs = english.page
    theirs.goto(f"{at}/newtask")
    frame = theirs.frame_locator("iframe")
    frame.get_by_text("Duck").wait_for()
    assert "Which animal do you see?" in frame.locator("body").inner_text()
    frame.get_by_text("Duck").tap()
    until_on(theirs, lambda: len(project.runs()) == 2)
    first, second = (run["info"] for run in project.runs())
    assert first == second and first["animal"] == "duck"
    for each in (hands, german, english):
        each.page.context.close()
