"""Without a mouse: signing up, signing in, a new picture, and a category of the site."""

from __future__ import annotations

import uuid
from typing import Any

import psycopg2
import pytest

pytestmark = pytest.mark.browser

# The accessible name of what has the focus, as far as our pages name things.
_NAME = """() => { const e = document.activeElement;
    return (e.labels?.[0]?.textContent || e.getAttribute('aria-label') || e.textContent || '').trim(); }"""
_MAXIMUM = 60
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000004000000040802000000269309290000001449444154789c63e40a68628001260624809b03002b8400e4"
    "b2cc82da0000000049454e44ae426082"
)


class Hands:
    """Somebody who has a keyboard and nothing else."""

    def __init__(self, page: Any, url: str) -> None:
        self.page, self.url = page, url
        # Somebody who listens, or the browser on a busy machine opens its own window now and then, which nobody sees.
        page.on("filechooser", lambda _: None)

    def to(self, words: str) -> None:
        """Moves the focus on until what has it is called that, and sees that it can be seen there."""
        for _ in range(_MAXIMUM):
            self.page.keyboard.press("Tab")
            if self.page.evaluate(_NAME).startswith(words):
                notify = self.page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
                assert notify != "none", f"{words} has the focus and does not show it"
                return
        raise AssertionError(f"The keyboard does not reach {words!r} on {self.page.url}")

    def write(self, words: str, text: str) -> None:
        """Fills in the field of that name."""
        self.to(words)
        self.page.keyboard.type(text)

    def press(self, words: str) -> None:
        """Presses the button or link of that name; another page comes."""
        self.to(words)
        with self.page.expect_navigation():
            self.page.keyboard.press("Enter")

    def open(self, path: str) -> None:
        self.page.goto(self.url + path)


@pytest.mark.proof
def test_the_whole_way_without_a_mouse(live_server: Any, browser: Any, tmp_path: Any) -> None:
    name, password = f"keys{uuid.uuid4().hex[:8]}", "a sentence to sign in"
    context = browser.new_context()
    hands = Hands(context.new_page(), live_server.url)
    hands.open("/")
    hands.press("Sign in")
    hands.press("Create an account")
    hands.write("Name", "Ruth Keys")
    hands.write("User name", name)
    hands.write("E-mail", f"{name}@example.org")
    hands.write("Password", password)
    hands.write("Password again", password)
    hands.press("Create account")
    hands.to("Your account")
    hands.page.keyboard.press("Enter")
    hands.press("Sign out")

    hands.press("Sign in")
    hands.write("E-mail or user name", name)
    hands.write("Password", password)
    hands.press("Sign in")

    (tmp_path / "me.png").write_bytes(PNG)
    hands.open(f"/account/{name}/update")
    hands.to("Picture")
    with hands.page.expect_file_chooser() as chosen:
        hands.page.keyboard.press("Enter")
    chosen.value.set_files(tmp_path / "me.png")
    hands.press("Use this picture")
    assert "Your picture has been updated." in hands.page.inner_text("main")

    with psycopg2.connect(live_server.dsn) as connection, connection.cursor() as cursor:
        cursor.execute("UPDATE account SET admin = true WHERE name = %s", (name,))
    hands.open("/")
    hands.to("Your account")
    hands.page.keyboard.press("Enter")
    hands.press("Administration")
    hands.press("Categories")
    hands.write("Name", f"Subject of {name}")
    hands.write("In one sentence", "What it is about.")
    hands.press("Add the category")
    assert "Category added." in hands.page.inner_text("main")
    assert f"Subject of {name}" in hands.page.inner_text("main ul")
    context.close()
