"""The command palette: found by letters, walked by keys, gone to by Enter; and pages that are fetched ahead."""

from __future__ import annotations

import importlib.resources
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest

pytestmark = pytest.mark.browser

AXE = importlib.resources.files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")
_RUN = """async () => (await axe.run(document, {resultTypes: ['violations']})).violations
    .map(v => v.id + ': ' + v.nodes.slice(0, 3).map(n => n.html.slice(0, 160)).join(' | '))"""


class Owner:
    """An owner of two projects with a page of their browser; ``log`` has what the browser asked for."""

    def __init__(self, person: Any, page: Any, url: str) -> None:
        self.person, self.page, self.url = person, page, url
        self.heath, self.shore = (f"{word}-{uuid.uuid4().hex[:8]}" for word in ("heath", "shore"))
        for short in (self.heath, self.shore):
            made = person.api("POST", "project", {"name": f"Moths of {short}", "short_name": short, "description": "d"})
        self.task = person.api("POST", "task", {"project_id": made["id"], "info": {"n": 1}})["id"]
        self.wrong: list[str] = []
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("console", lambda message: message.type == "error" and self.wrong.append(message.text))

    def go(self, path: str) -> None:
        self.page.goto(self.url + path)

    def options(self) -> list[str]:
        return [
            words.strip() for words in self.page.locator("#palette [role=option] span:first-child").all_inner_texts()
        ]

    def chosen(self) -> str:
        """The option that the field says is active."""
        return str(
            self.page.evaluate(
                "document.getElementById(document.querySelector('#palette input').getAttribute('aria-activedescendant'))?.textContent"
            )
        )

    def open(self) -> None:
        """Opens the palette by its keys and waits for what the server says."""
        with self.page.expect_response("**/palette?**"):
            self.page.keyboard.press("Control+k")
        self.page.locator("#palette [role=option]", has_text="Profile").wait_for()


@pytest.fixture
def owner(live_server: Any, browser: Any, new_person: Callable[[], Any]) -> Iterator[Owner]:
    person = new_person()
    context = browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    context.set_default_timeout(60_000)  # a busy machine is no failure
    context.add_cookies(person.cookies(live_server.url))
    yield Owner(person, context.new_page(), live_server.url)
    context.close()


def test_letters_find_and_keys_go(owner: Owner) -> None:
    page = owner.page
    owner.go(f"/project/{owner.shore}/settings")
    owner.open()
    assert page.evaluate("document.activeElement.getAttribute('role')") == "combobox"
    words = owner.options()
    # The pages of this project first, with its settings by the names that the settings page has; then the others.
    assert words[:2] == ["About", "Results"] and "Task order" in words and "Webhook" in words
    assert [name for name in words if name.startswith("Moths of ")] == [
        f"Moths of {owner.shore}",
        f"Moths of {owner.heath}",
    ]
    assert "Deutsch" in words and "Dark" in words and "Sign out" in words and "Users" not in words
    assert owner.chosen() == "About"
    page.keyboard.press("ArrowUp")
    assert owner.chosen() == words[-1] == "Sign out"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("PageDown")
    assert owner.chosen() == words[8]

    page.keyboard.type("task ord")
    assert owner.options() == ["Task order", "Search all projects for “task ord”"] and owner.chosen() == "Task order"
    page.keyboard.press("Escape")
    assert page.locator("#palette").is_hidden()
    page.locator("[data-palette]:focus").wait_for()  # the browser tells of the closing a moment later
    page.keyboard.press("Enter")
    page.keyboard.type("settings")
    page.keyboard.press("Control+k")
    assert page.locator("#palette").is_hidden()

    page.focus("#main")
    owner.open()
    assert page.input_value("#palette input") == ""
    with page.expect_navigation():
        page.keyboard.type(f"task {owner.task}")
        page.keyboard.press("Enter")  # before the pause is over
    assert page.url == f"{owner.url}/project/{owner.shore}/tasks/{owner.task}"
    owner.open()
    with page.expect_navigation():
        page.keyboard.type(f"moths {owner.heath[-8:]}")
        page.keyboard.press("Enter")
    assert page.url == f"{owner.url}/project/{owner.heath}/"
    assert owner.wrong == []


@pytest.mark.proof
def test_axe_finds_nothing_and_nothing_is_too_wide(owner: Owner) -> None:
    page = owner.page
    for locale, width, theme in (("en", 1280, "light"), ("ar", 390, "dark")):
        page.set_viewport_size({"width": width, "height": 800})
        owner.go("/account/profile")
        if locale != "en":
            with page.expect_navigation():
                page.locator("#palette").page.evaluate(
                    f"document.querySelector('button[name=locale][value={locale}]').click()"
                )
        page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
        with page.expect_response("**/palette?**"):
            page.click("[data-palette]")
        page.locator("#palette [role=option]", has_text=f"Moths of {owner.heath}").wait_for()
        page.keyboard.press("ArrowDown")
        page.evaluate(AXE)
        assert page.evaluate(_RUN) == []
        assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0
        page.keyboard.type("nothing is called so")
        page.locator("#palette [role=option]").and_(page.locator(":only-child")).wait_for()
    assert owner.wrong == []
