"""What was typed is not dropped because another button, or another form, was pressed."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest
from PIL import Image

from crowdd.features.projects import starters

pytestmark = pytest.mark.browser


@pytest.fixture
def owner_page(live_server: Any, browser: Any, new_person: Callable[[], Any]) -> Any:
    """A page of somebody who owns a draft with the picture starter: the page, the person, the project."""
    person, short = new_person(), f"form-{uuid.uuid4().hex[:8]}"
    info = {"task_presenter": starters.source("picture")}
    project = person.api("POST", "project", {"name": short, "short_name": short, "description": "d", "info": info})
    context = browser.new_context()
    context.set_default_timeout(60_000)
    context.add_cookies(person.cookies(live_server.url))
    page = context.new_page()
    page.goto(f"{live_server.url}/project/{short}/tasks/taskpresentereditor")
    yield page, person, project
    context.close()


@pytest.mark.proof
def test_another_starter_takes_along_what_was_typed(owner_page: Any) -> None:
    page, person, project = owner_page

    def asked() -> Any:
        return starters.asked(person.api("GET", f"project/{project['id']}")["info"]["task_presenter"])

    page.fill("[name=question]", "Which moth?")
    page.fill("[name=answers]", "Cinnabar\nHeath")
    page.get_by_role("button", name="a text with a field").click()
    page.frame_locator("#preview iframe").locator("#field").wait_for()
    assert page.input_value("[name=question]") == "Which moth?" and page.is_visible("text=This is not saved yet.")
    assert asked()["question"] == "What do you see?"
    page.get_by_role("button", name="Save", exact=True).click()
    page.locator(".flash", has_text="Saved. Volunteers see it when you publish the project.").wait_for()
    assert asked() == {"question": "Which moth?", "unsure": "I can’t tell", "text": "", "picture": ""}
    page.get_by_role("button", name="a picture with buttons").click()
    page.fill("[name=answers]", "Cinnabar\nHeath")
    page.get_by_role("button", name="a text with a field").click()
    page.frame_locator("#preview iframe").locator("#field").wait_for()
    page.get_by_role("button", name="a picture with buttons").click()
    page.frame_locator("#preview iframe").get_by_role("button", name="Heath").wait_for()
    page.get_by_role("button", name="Save", exact=True).click()
    page.locator(".flash", has_text="Saved.").wait_for()
    assert asked() == {
        **starters.asked(starters.source("picture")),
        "question": "Which moth?",
        "answers": ["Cinnabar", "Heath"],
    }
    page.get_by_role("button", name="Save", exact=True).click()
    page.locator(".flash", has_text="Nothing has changed.").wait_for()


@pytest.mark.proof
def test_the_text_and_its_words_are_saved_by_either_button(owner_page: Any) -> None:
    page, person, project = owner_page
    page.fill("[name=question]", "Which moth?")
    page.locator("summary", has_text="HTML and script").click()
    page.fill("[name=editor]", page.input_value("[name=editor]") + "<!-- mine -->")
    assert page.input_value("[name=question]") == "Which moth?"
    page.fill("[name=editor]", page.input_value("[name=editor]").replace("Which moth?", "Which fly?"))
    assert page.input_value("[name=question]") == "Which fly?"
    page.get_by_role("button", name="Save", exact=True).click()
    page.locator(".flash", has_text="Saved.").wait_for()
    stored = person.api("GET", f"project/{project['id']}")["info"]["task_presenter"]
    assert starters.asked(stored)["question"] == "Which fly?" and stored.endswith("<!-- mine -->")


@pytest.mark.proof
def test_the_picture_and_the_story_are_one_form(owner_page: Any) -> None:
    page, person, project = owner_page
    at = f"{person.url}/project/{project['short_name']}/update"

    def stored() -> Any:
        return person.api("GET", f"project/{project['id']}")

    def choose(content: bytes) -> None:
        page.set_input_files("[name=avatar]", {"name": "a.png", "mimeType": "image/png", "buffer": content})
        page.get_by_role("button", name="Save", exact=True).click()

    page.goto(at)
    page.fill("[name=long_description]", "Nobody has counted them.")
    choose(b"no picture at all")
    page.locator("[id=avatar-error]").wait_for()
    assert page.input_value("[name=long_description]") == "Nobody has counted them."
    assert stored()["long_description"] == ""
    other = f"{project['short_name']}-2"
    person.api("POST", "project", {"name": other, "short_name": other, "description": "d"})
    page.fill("[name=short_name]", other)  # taken
    choose(drawn())
    page.locator(".flash", has_text="Your picture is saved.").wait_for()
    assert page.locator(".pictured img").count() == 1 and "thumbnail" in stored()["info"]
    page.fill("[name=short_name]", project["short_name"])
    page.get_by_role("button", name="Save", exact=True).click()
    page.wait_for_url(f"**/project/{project['short_name']}/")
    assert stored()["long_description"] == "Nobody has counted them."


@pytest.mark.proof
def test_a_button_asks_before_another_form_loses_what_was_typed(owner_page: Any) -> None:
    page, person, _project = owner_page
    asked: list[str] = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
    page.goto(f"{person.url}/account/{person.name}/update")
    page.click("#fullname")
    page.keyboard.type("!")
    with page.expect_event("dialog"):
        page.locator("button[value=External]").click()
    assert asked == ["beforeunload"] and page.input_value("#fullname").endswith("!")
    page.locator("button[value=Profile]").click()
    page.locator(".flash", has_text="Your profile has been updated.").wait_for()
    assert asked == ["beforeunload"]


def test_leaving_a_page_asks_before_what_was_typed_is_gone(owner_page: Any) -> None:
    page, person, project = owner_page
    asked: list[str] = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
    page.goto(f"{person.url}/project/{project['short_name']}/update")
    page.locator(".crumbs a").first.click()  # nothing is typed: nothing is asked
    page.wait_for_url(f"{person.url}/")
    page.go_back()
    before = page.input_value("#name")
    page.fill("#name", before + "!")
    page.locator(".crumbs a").first.click()
    page.wait_for_function("() => document.getElementById('name').value.endsWith('!')")
    assert asked == ["beforeunload"] and page.url.endswith("/update")
    page.fill("#name", before)
    page.locator(".crumbs a").first.click()
    page.wait_for_url(f"{person.url}/")
    assert asked == ["beforeunload"]


def test_a_long_text_is_kept_until_it_is_saved_and_goes_with_the_session(owner_page: Any) -> None:
    page, person, project = owner_page
    at, field = f"{person.url}/project/{project['short_name']}/update", "#long_description"
    offer, drafts = (
        page.locator("form .flash", has_text="was not saved"),
        "Object.keys(localStorage).filter(k => k.startsWith('draft '))",
    )

    def typed(text: str) -> None:
        page.goto(at)
        page.fill(field, text)
        page.wait_for_function(f"() => {drafts}.length === 1")

    page.on("dialog", lambda dialog: dialog.accept())
    typed("Nobody has counted them.")
    page.goto(at)
    assert page.input_value(field) == ""
    offer.get_by_role("button", name="Restore it").click()
    assert page.input_value(field) == "Nobody has counted them." and not offer.count()
    page.fill("#name", "")  # refused: the draft stays
    page.get_by_role("button", name="Save", exact=True).click()
    page.locator("#name-error").wait_for()
    assert page.evaluate(f"{drafts}.length") == 1
    page.fill("#name", project["short_name"])
    page.get_by_role("button", name="Save", exact=True).click()
    page.wait_for_url(f"**/project/{project['short_name']}/")
    page.wait_for_function(f"() => {drafts}.length === 0")
    typed("Somebody has.")
    page.goto(at)
    offer.get_by_role("button", name="Discard it").click()
    assert page.evaluate(f"{drafts}.length") == 0
    typed("Somebody will.")
    page.locator("details.menu summary").last.click()
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url(f"{person.url}/**")
    page.wait_for_function(f"() => {drafts}.length === 0")


def test_a_draft_of_another_account_is_not_shown_and_removed(owner_page: Any) -> None:
    page, person, project = owner_page
    at = f"{person.url}/project/{project['short_name']}/update"
    put = "localStorage.setItem('draft somebody ' + location.pathname + ' long_description', JSON.stringify({text: 'Mine', at: Date.now()}))"
    page.goto(at)
    page.evaluate(put)
    page.goto(at)
    page.wait_for_function("() => !Object.keys(localStorage).some(k => k.startsWith('draft '))")
    assert not page.locator("form .flash", has_text="was not saved").count()


def drawn() -> bytes:
    out = BytesIO()
    Image.new("RGB", (90, 60), (0, 0, 255)).save(out, "PNG")
    return out.getvalue()
