"""A volunteer comes back: their home page, an answer to a comment, what they want to be told. By touch and by keyboard."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from first_hour import Hands

pytestmark = [pytest.mark.browser, pytest.mark.proof]
SIZES = {
    "phone": {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True},
    "keyboard": {"viewport": {"width": 1280, "height": 800}},
}


@attrs.define
class Fingers(Hands):
    """Hands that tap."""

    def press(self, place: Any, key: str = "Enter") -> None:
        place.wait_for(state="visible")
        place.tap()


def hands_of(browser: Any, url: str, person: Any, size: str) -> Hands:
    context = browser.new_context(reduced_motion="reduce", **SIZES[size])
    context.set_default_timeout(45_000)
    context.add_cookies(person.cookies(url))
    page = context.new_page()
    return Fingers(page) if size == "phone" else Hands(page, keyboard=True)


def fits(page: Any) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


@pytest.mark.parametrize("size", SIZES)
def test_somebody_comes_back_and_reads_what_became_of_it(
    live_server: Any, browser: Any, new_person: Any, new_project: Any, size: str
) -> None:
    ada, project = new_person(), new_project(tasks=3, n_answers=1)
    at, url = f"/project/{project.short_name}", live_server.url
    task = ada.api("GET", f"{project.id}/newtask")
    ada.api("POST", "taskrun", {"project_id": project.id, "task_id": task["id"], "info": "fox"})
    form = f"{at}/task/{task['id']}/comment"
    token = {"X-CSRFToken": ada.ask("GET", form).json["form"]["csrf"]}
    assert ada.ask("POST", form, {"kind": "question", "text": "Short ears?"}, **token).status == 200

    owner = hands_of(browser, url, project.owner, size)
    owner.page.goto(f"{url}{at}/comments")
    row = owner.page.locator("tr", has_text="Short ears?")
    owner.press(row.locator("summary"))
    owner.write(row.locator("textarea"), "It is a young one.")
    with owner.page.expect_navigation():
        owner.press(row.get_by_role("button", name="Send answer"))
    assert "Your answer has been sent." in owner.page.inner_text("body") and fits(owner.page)

    mine = hands_of(browser, url, ada, size)
    page = mine.page
    page.goto(f"{url}/")
    words = page.inner_text("main")
    assert "Go on where you stopped" in words and "Of your last 1, 1 has its result." in words and fits(page)
    assert "It is a young one." in words and "Small questions" not in words
    with page.expect_navigation():
        mine.press(page.locator(".again .btn.main"))
    assert page.url.startswith(f"{url}{at}/newtask")
    page.goto(f"{url}/")
    with page.expect_navigation():
        mine.press(page.get_by_role("link", name="answered your comment"))
    assert page.url == f"{url}{form}" and "It is a young one." in page.inner_text("main") and fits(page)

    page.goto(f"{url}/account/{ada.name}/news")
    assert "New" in page.inner_text("main .list") and fits(page)
    mine.press(page.get_by_label("Send me news by e-mail"), "Space")
    with page.expect_navigation():
        mine.press(page.get_by_role("button", name="Save"))
    assert page.get_by_label("Send me news by e-mail").is_checked()
    for hands in (owner, mine):
        hands.page.context.close()


@pytest.mark.parametrize("size", SIZES)
def test_two_who_answered_a_task_talk_about_it_and_an_owner_hides_a_comment(
    live_server: Any, browser: Any, new_person: Any, new_project: Any, size: str
) -> None:
    ada, bob, project = new_person(), new_person(), new_project(tasks=1, n_answers=5)
    at, url = f"/project/{project.short_name}", live_server.url
    form = f"{url}{at}/task/{project.tasks[0]}/comment"
    owner, one, other = [hands_of(browser, url, person, size) for person in (project.owner, ada, bob)]
    owner.page.goto(f"{url}{at}/settings#shared-comments")
    choice = owner.page.locator("#shared-comments")
    if choice.locator("summary").count() and not choice.locator("form").is_visible():
        owner.press(choice.locator("summary").first)
    if size == "phone":
        owner.press(choice.locator("label", has_text="Volunteers who have answered a task read them"))
    else:
        owner.reach(choice.locator("input[value=n]"))
        owner.page.keyboard.press("ArrowUp")
    with owner.page.expect_navigation():
        owner.press(choice.get_by_role("button", name="Save"))

    one.page.goto(form)
    assert "The owners of the project and administrators" in one.page.inner_text("main")
    for person in (ada, bob):
        task = person.api("GET", f"{project.id}/newtask")
        person.api("POST", "taskrun", {"project_id": project.id, "task_id": task["id"], "info": "fox"})
    one.page.goto(form)
    assert "Everybody who has answered this task reads it" in one.page.inner_text("main") and fits(one.page)
    if size == "phone":
        one.press(one.page.locator("label", has_text="I noticed something"))
    else:  # of radio buttons, Tab reaches one
        one.press(one.page.get_by_label("Something is wrong with this task"), "Space")
        one.page.keyboard.press("ArrowUp")
    one.write(one.page.locator("textarea"), "<b>I know this hand.</b>")
    with one.page.expect_navigation():
        one.press(one.page.get_by_role("button", name="Send comment"))

    other.page.goto(form)
    assert "<b>I know this hand.</b>" in other.page.inner_text("main") and fits(other.page)
    with other.page.expect_navigation():
        other.press(other.page.get_by_role("button", name="Report"))
    assert "has been reported" in other.page.inner_text("body")
    owner.page.goto(f"{url}{at}/comments")
    row = owner.page.locator("tr", has_text="I know this hand.")
    assert "1 report" in row.inner_text() and fits(owner.page)
    with owner.page.expect_navigation():
        owner.press(row.get_by_role("button", name="Hide"))
    other.page.reload()
    assert "I know this hand." not in other.page.inner_text("main")
    one.page.reload()
    assert "Hidden by the owners" in one.page.inner_text("main")
    for hands in (owner, one, other):
        hands.page.context.close()
