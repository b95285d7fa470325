"""Pages of owners are asked for when their link is pressed (record 48)."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pytest
from support.until import until_on

pytestmark = pytest.mark.browser


def test_a_pressed_link_of_an_owner_is_fetched_ahead_and_others_are_not(
    witness: Any, browser: Any, new_person: Callable[[], Any]
) -> None:
    person, short = new_person(), f"ahead-{uuid.uuid4().hex[:8]}"
    info = {"task_presenter": "<p>?</p>"}
    made = person.api("POST", "project", {"name": short, "short_name": short, "description": "d", "info": info})
    person.api("POST", "task", {"project_id": made["id"], "info": {"n": 1}})
    context = browser.new_context()
    context.set_default_timeout(60_000)  # a busy machine is no failure
    context.add_cookies(person.cookies(witness.url))
    page = context.new_page()
    wrong: list[str] = []
    page.on("console", lambda message: message.type == "error" and wrong.append(message.text))

    def asked(path: str) -> list[str]:
        """What each request for the path says of its purpose."""
        return [each.header("sec-purpose") for each in witness.log if each.path == f"/project/{short}/{path}"]

    def press(link: Any) -> None:
        link.hover()
        page.mouse.down()

    page.goto(f"{witness.url}/project/{short}/settings")
    press(page.locator(".tabs a", has_text="Statistics"))
    until_on(page, lambda: asked("stats"))
    with page.expect_navigation():
        page.mouse.up()
    assert page.locator("h1").is_visible() and asked("stats") == ["prefetch"]
    kind = "performance.getEntriesByType('navigation')[0].deliveryType"
    assert page.evaluate(kind) == "navigational-prefetch"
    # A page with a presenter, which may lease a task, is asked for by the click alone.
    page.goto(f"{witness.url}/project/{short}/")
    page.evaluate("document.querySelector('main').insertAdjacentHTML('afterbegin', '<a id=task href=newtask>Task</a>')")
    with page.expect_navigation():
        press(page.locator("#task"))
        page.mouse.up()
    assert asked("newtask") == [""] and page.evaluate(kind) == "" and wrong == []
    context.close()
