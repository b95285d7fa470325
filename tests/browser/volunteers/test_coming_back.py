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
