"""An owner's way in Chromium: from signing in to the first own answer, and the preview of a presenter."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from browser import own_files

pytestmark = pytest.mark.browser
MAX_CLICKS = 8


def opened(browser: Any) -> Any:
    context = browser.new_context()
    context.set_default_timeout(60_000)  # a busy machine is no failure
    return context.new_page()


def errors_of(page: Any) -> list[str]:
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    return wrong


def test_from_signing_in_to_the_first_own_answer(
    live_server: Any, browser: Any, new_person: Callable[[], Any], tmp_path: Path
) -> None:
    person = new_person()
    page, clicks, short = opened(browser), [], f"gate-{uuid.uuid4().hex[:8]}"
    wrong = errors_of(page)

    def click(place: Any) -> None:
        place.click()
        clicks.append(place)

    def button(words: str) -> Any:
        return page.get_by_role("button", name=words, exact=True)

    page.goto(f"{live_server.url}/account/signin")
    page.fill("#email", f"{person.name}@example.org")
    page.fill("#password", "a-long-password-1")
    click(page.get_by_role("main").get_by_role("button", name="Sign in", exact=True))
    page.wait_for_url("**/")
    click(page.get_by_role("navigation", name="Site").get_by_role("link", name="Start a project"))
    page.fill("#name", f"Night {short}")
    page.fill("#short_name", short)
    page.fill("#description", "Which animal came through?")
    click(button("Create the project"))
    page.locator("#builder").get_by_role("heading", name="What do you ask?").wait_for()
    click(button("Start with an example"))
    written = page.locator("#builder .b-item").get_by_label("Question", exact=True)
    assert written.first.input_value() == "Which animal came through?", "it asks what the project asks"
    choices = page.locator("#builder .b-choice input[id$=-text]")
    for nth, words in enumerate(("A fox", "A marten")):
        choices.nth(nth).fill(words)
    click(button("Save and add tasks"))
    page.wait_for_url("**/tasks/media")
    page.set_input_files("#files", own_files.pictures(tmp_path))
    clicks.append("the files")  # they are sent at once
    page.wait_for_url("**/tasks/media/*")
    click(page.get_by_role("main").get_by_role("link", name="Try it", exact=True).last)
    frame = page.frame_locator("#presenter iframe")
    frame.get_by_role("heading", name="Which animal came through?", level=1).wait_for()
    click(frame.get_by_role("button", name="A marten"))
    page.locator("#count", has_text="1").wait_for()
    runs = person.api("GET", "taskrun", project_id=person.api("GET", "project", short_name=short)[0]["id"])
    assert [run["info"]["seen"] for run in runs] == ["a_marten"]
    assert len(clicks) <= MAX_CLICKS and wrong == []
    page.context.close()


@pytest.mark.proof
def test_the_preview_follows_what_is_typed_and_keeps_nothing(
    live_server: Any, browser: Any, new_person: Callable[[], Any]
) -> None:
    person, page = new_person(), opened(browser)
    short = f"seen-{uuid.uuid4().hex[:8]}"
    project = person.api("POST", "project", {"name": short, "short_name": short, "description": "What is it?"})
    page.context.add_cookies(person.cookies(live_server.url))
    wrong = errors_of(page)
    page.goto(f"{live_server.url}/project/{short}/tasks/taskpresentereditor?template=picture")
    page.locator("summary", has_text="HTML and script").click()
    page.get_by_role("button", name="Save this text").click()
    frame = page.frame_locator("#preview iframe")
    frame.get_by_role("button", name="No", exact=True).wait_for()
    page.focus("[name=answers]")
    page.fill("[name=answers]", "A fox")
    frame.get_by_role("button", name="A fox").wait_for()
    page.keyboard.press("End")
    page.keyboard.type("\nA marten")  # the frame that was drawn meanwhile does not take the keys
    frame.get_by_role("button", name="A marten").click()
    page.locator("#preview-said", has_text="A marten").wait_for()
    assert page.input_value("[name=answers]") == "A fox\nA marten"
    assert person.api("GET", "taskrun", project_id=project["id"]) == []
    page.get_by_role("button", name="Save", exact=True).click()
    page.wait_for_load_state()
    assert page.input_value("[name=answers]") == "A fox\nA marten"

    hostile = (
        "<h1 class='say'>Mine</h1><script>document.body.dataset.got = String(document.cookie) + localStorage.length;"
    )
    hostile += " try { parent.document.title = 'taken' } catch (e) { document.body.dataset.parent = e.name }</script>"
    page.locator("summary", has_text="HTML and script").click()
    page.fill("[name=editor]", hostile)
    frame.get_by_role("heading", name="Mine").wait_for()
    body = frame.locator("body[data-parent]")
    assert (body.get_attribute("data-got"), body.get_attribute("data-parent")) == ("0", "SecurityError")
    assert "taken" not in page.title() and wrong == []
    page.context.close()
