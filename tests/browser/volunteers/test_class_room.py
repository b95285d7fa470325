"""A class of 28 on one address: the teacher makes a group, pupils join with its code and answer, and the board shows it."""

from __future__ import annotations

from typing import Any

import pytest
from presenters import KEYS
from support.person import Person
from support.until import until_on
from test_accessibility import AXE, RUN_ALL
from test_coming_back import SIZES, fits, hands_of

pytestmark = [pytest.mark.browser, pytest.mark.proof]
PUPILS, PATIENCE = 28, 400.0


def looked_at(page: Any) -> None:
    """Nothing is too wide, and axe says nothing."""
    assert fits(page), page.url
    page.evaluate(AXE)
    assert page.evaluate(RUN_ALL) == [], page.url


def pupil_over_http(url: str, code: str, number: int) -> Person:
    pupil = Person(url)
    token = {"X-CSRFToken": pupil.ask("GET", "/join").json["form"]["csrf"]}
    joined = pupil.ask("POST", "/join", {"code": code, "name": f"Otter{number}", "number": ""}, **token)
    assert joined.json["next"] == "/group", joined.text
    return pupil


@pytest.mark.parametrize("size", SIZES)
def test_a_class_answers_together(live_server: Any, browser: Any, new_person: Any, new_project: Any, size: str) -> None:
    ruth, project, url = new_person(), new_project(tasks=1, n_answers=PUPILS), live_server.url
    project.show(task_presenter=KEYS.replace("MINE", project.short_name), counted_per_group=PUPILS)

    teacher = hands_of(browser, url, ruth, size)
    page = teacher.page
    page.goto(f"{url}/account/{ruth.name}/groups")
    teacher.write(page.get_by_label("Name", exact=True), "Class 5b")
    page.get_by_label("Number of people").fill(str(PUPILS))
    page.get_by_label("Last day").fill(page.evaluate("new Date(Date.now() + 9e9).toISOString().slice(0, 10)"))
    looked_at(page)
    with page.expect_navigation():
        teacher.press(page.get_by_role("button", name="Create group"))
    assert "Nobody has joined yet." in page.inner_text("main")
    looked_at(page)
    code = page.inner_text(".group-code")
    assert len(code) == 6
    with page.expect_navigation():
        teacher.press(page.get_by_role("link", name="Board for a screen"))
    assert fits(page)

    # One pupil in Chromium, by the address that the QR code has.
    pupil = hands_of(browser, url, Person(url), size)
    mine = pupil.page
    mine.goto(f"{url}/join/{code}")
    looked_at(mine)
    pupil.write(mine.get_by_label("Name"), "Ada Lovelace")
    with mine.expect_navigation():
        pupil.press(mine.get_by_role("button", name="Join"))
    assert "Use one word" in mine.inner_text("main") and fits(mine)
    mine.get_by_label("Name").fill("")
    pupil.write(mine.get_by_label("Name"), "Wolf")
    with mine.expect_navigation():
        pupil.press(mine.get_by_role("button", name="Join"))
    assert mine.url == f"{url}/group" and "You are Wolf here." in mine.inner_text("main")
    assert "Your number is" in mine.inner_text(".flashes")
    looked_at(mine)
    mine.goto(f"{url}/project/{project.short_name}/newtask")
    yes = mine.frame_locator("iframe").get_by_text("Yes")
    yes.wait_for()
    yes.tap() if size == "phone" else yes.click()
    until_on(mine, lambda: len(project.runs()) == 1)

    # The others on the same address, over HTTP.
    for number in range(1, PUPILS):
        other = pupil_over_http(url, code, number)
        task = other.api("GET", f"{project.id}/newtask")
        assert task["id"] == project.tasks[0], number
        other.api("POST", "taskrun", {"project_id": project.id, "task_id": task["id"], "info": "yes"})
    assert project.owner.api("GET", f"task/{project.tasks[0]}")["state"] == "completed"

    # The board has moved by itself.
    until_on(page, lambda: _figures(page) == [PUPILS] * 3)
    with page.expect_navigation():
        teacher.press(page.get_by_role("link", name="Class 5b"))
    if size == "phone":
        teacher.press(page.locator("label", has_text="Names on the board"))
    else:
        teacher.press(page.get_by_label("Names on the board"), "Space")
    with page.expect_navigation():
        teacher.press(page.get_by_role("button", name="Save"))
    assert fits(page)
    with page.expect_navigation():
        teacher.press(page.get_by_role("link", name="Board for a screen"))
    assert "Wolf" in page.inner_text("#board")
    looked_at(page)
    mine.goto(f"{url}/group")
    assert _figures(mine) == [1, PUPILS, PUPILS]
    with mine.expect_navigation():
        pupil.press(mine.get_by_role("button", name="Free this device"))
    assert mine.url == f"{url}/join"
    for hands in (teacher, pupil):
        hands.page.context.close()


def _figures(page: Any) -> list[int]:
    return [int(text) for text in page.locator(".figures dd").all_inner_texts()]
