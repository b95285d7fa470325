"""Accounts in Chromium, by keyboard: signing up, a picture and its part, signing in again."""

from __future__ import annotations

import uuid
from io import BytesIO
from typing import Any

import pytest
from PIL import Image

pytestmark = pytest.mark.browser


def halves() -> bytes:
    """Red on the left, blue on the right."""
    made = Image.new("RGB", (400, 200), (255, 0, 0))
    made.paste((0, 0, 255), (200, 0, 400, 200))
    out = BytesIO()
    made.save(out, "PNG")
    return out.getvalue()


@pytest.mark.proof
def test_signing_up_choosing_a_picture_and_coming_back_without_a_mouse(live_server: Any, browser: Any) -> None:
    context = browser.new_context()
    context.set_default_timeout(45_000)
    page, wrong = context.new_page(), []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda message: message.type == "error" and wrong.append(message.text))
    name, password = f"person{uuid.uuid4().hex[:8]}", "a good password"

    page.goto(f"{live_server.url}/account/register")
    page.focus("#fullname")
    for words in ("Ada King", name, f"{name}@example.org", password, password):
        page.keyboard.type(words)
        page.keyboard.press("Tab")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    page.goto(f"{live_server.url}/account/{name}/update")
    assert not page.is_visible(".crop canvas")
    page.set_input_files("#avatar", {"name": "a.png", "mimeType": "image/png", "buffer": halves()})
    page.wait_for_selector(".crop canvas", state="visible")
    before = int(page.input_value("[name=x1]"))
    page.focus(".crop canvas")
    for _ in range(30):
        page.keyboard.press("ArrowRight")
    assert int(page.input_value("[name=x1]")) > before and page.input_value("[name=x2]") == "400"
    page.focus("button[value=Upload]")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    seen = page.get_attribute("img.face.lg", "src")
    picture = Image.open(BytesIO(context.request.get(live_server.url + seen).body())).convert("RGB")
    assert picture.size == (256, 256) and picture.getpixel((200, 100)) == (0, 0, 255)

    page.focus("summary[aria-label^='Your account']")
    page.keyboard.press("Enter")
    page.focus("button[form=sign-out]")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    page.goto(f"{live_server.url}/account/signin")
    page.focus("#email")
    page.keyboard.type(name)
    page.keyboard.press("Tab")
    page.keyboard.type(password)
    with page.expect_navigation():
        page.keyboard.press("Enter")
    page.goto(f"{live_server.url}/account/profile")
    assert "Ada King" in page.inner_text("h1") and wrong == []
    context.close()
