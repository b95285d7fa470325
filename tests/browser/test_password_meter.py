"""The meter beside a new password, in Chromium."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.browser


def test_the_meter_follows_what_is_typed_and_is_read_out(live_server: Any, browser: Any) -> None:
    context = browser.new_context()
    context.set_default_timeout(45_000)
    page, wrong = context.new_page(), []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda message: message.type == "error" and wrong.append(message.text))
    page.goto(f"{live_server.url}/account/register")
    assert not page.is_visible(".strength")
    page.fill("#password", "password123")
    words = page.get_by_role("status").filter(has_text="This is one of the most common passwords.")
    words.wait_for()
    assert page.evaluate("document.querySelector('.strength meter').value") == 0
    page.fill("#password", "correct horse battery staple")
    page.get_by_role("status").filter(has_text="This is a good password.").wait_for()
    assert page.evaluate("document.querySelector('.strength meter').value") == 4
    page.fill("#password", "")
    page.wait_for_selector(".strength", state="hidden")
    assert wrong == []
    context.close()
