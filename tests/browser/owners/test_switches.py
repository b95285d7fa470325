"""Switches show their new state at once, and the old one again when the server refuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg2
import pytest

pytestmark = pytest.mark.browser


def test_featuring_is_shown_at_once_and_taken_back_when_it_is_refused(
    live_server: Any, browser: Any, new_person: Callable[[], Any], new_project: Callable[[], Any]
) -> None:
    admin, project = new_person(), new_project()
    with psycopg2.connect(live_server.dsn) as connection, connection.cursor() as cursor:
        cursor.execute("UPDATE account SET admin = true WHERE name = %s", (admin.name,))
    context = browser.new_context()
    context.set_default_timeout(60_000)  # a busy machine is no failure
    context.add_cookies(admin.cookies(live_server.url))
    page = context.new_page()
    page.goto(f"{live_server.url}/admin/featured")
    form = page.locator(f"form[action^='/admin/featured/{project.id}']")
    button = form.get_by_role("button")

    def featured() -> Any:
        return admin.api("GET", f"project/{project.id}")["featured"]

    shown: list[Any] = []

    def seen(route: Any) -> None:
        """Notes what the button says while the request is under way."""
        shown.append(button.text_content())
        route.continue_()

    # Pressed twice, it asks once: the second press comes while the first is under way.
    page.route("**/admin/featured/*", seen)
    with page.expect_response("**/admin/featured/*"):
        page.evaluate("form => { form.requestSubmit(); form.requestSubmit(); }", form.element_handle())
    form.and_(page.locator("[aria-busy=false]")).wait_for()
    assert shown == [f"Stop featuring: {project.short_name}"] and featured() is True
    assert form.get_attribute("action") == f"/admin/featured/{project.id}/remove"
    assert page.url.endswith("/admin/featured") and page.locator(".toast").count() == 0

    page.unroute("**/admin/featured/*")
    page.route("**/admin/featured/**", lambda route: route.fulfill(status=503, body=""))
    button.click()
    page.get_by_role("alert").filter(has_text="This was not saved. Try again.").wait_for()
    assert button.text_content() == f"Stop featuring: {project.short_name}" and featured() is True
    page.unroute("**/admin/featured/**")
    with page.expect_response("**/admin/featured/**"):
        button.click()
    form.and_(page.locator("[aria-busy=false]")).wait_for()
    assert button.text_content() == f"Feature: {project.short_name}" and featured() is False
    context.close()
