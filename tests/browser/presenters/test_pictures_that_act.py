"""Addresses of ours that somebody names as a picture or a link: looking at them changes nothing."""

from __future__ import annotations

import json
import uuid
from typing import Any
from urllib.parse import urlsplit

import psycopg2
import pytest
from support.checks.shows import shows
from support.person import Person

pytestmark = pytest.mark.browser
PASSWORD = "a good password"


def account(url: str, browser: Any, name: str) -> Any:
    """A signed-in context of somebody new."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{url}/account/register")
    for field, words in (
        ("fullname", "Ada"), ("name", name), ("email_addr", f"{name}@example.org"), ("password", PASSWORD), ("confirm", PASSWORD),
    ):  # fmt: skip
        page.fill(f"#{field}", words)
    with page.expect_navigation():
        page.press("#confirm", "Enter")
    return context


@pytest.fixture
def trap(live_server: Any, browser: Any) -> Any:
    """A project whose owner has named acts of an administrator wherever a picture may stand, as stored before that was refused."""
    owner, boss = Person(live_server.url).register(f"owner{uuid.uuid4().hex[:8]}"), f"boss{uuid.uuid4().hex[:8]}"
    me = owner.api("GET", "user", name=owner.name)[0]["id"]
    acts = [f"/admin/users/add/{me}", "/account/signout", f"/api/1/newtask?limit=100&x={me}"]
    story = "\n\n".join(f"![x]({act})" for act in acts) + f"\n\n[see]({acts[0]})"
    made = owner.api(
        "POST",
        "project",
        {"name": f"Trap {me}", "description": "d", "long_description": story, "info": {"task_presenter": "<p>"}},
    )
    owner.api("POST", "task", {"project_id": made["id"], "info": {}})
    owner.publish(made["short_name"])
    context = account(live_server.url, browser, boss)
    with psycopg2.connect(live_server.dsn) as database, database.cursor() as cursor:
        cursor.execute("UPDATE account SET admin = true WHERE name = %s", (boss,))
        picture = json.dumps({"thumbnail_url": acts[0], "avatar_url": acts[0]})
        cursor.execute("UPDATE project SET info = info || %s, featured = true WHERE id = %s", (picture, made["id"]))
        cursor.execute("UPDATE account SET info = info || %s WHERE id = %s", (picture, me))
    yield {
        "owner": owner,
        "me": me,
        "project": made,
        "context": context,
        "url": live_server.url,
        "dsn": live_server.dsn,
    }
    with psycopg2.connect(live_server.dsn) as database, database.cursor() as cursor:
        cursor.execute("UPDATE project SET featured = false WHERE id = %s", (made["id"],))
        cursor.execute("UPDATE account SET admin = false WHERE name = %s", (boss,))
    context.close()


def administrators(trap: Any) -> set[int]:
    with psycopg2.connect(trap["dsn"]) as database, database.cursor() as cursor:
        cursor.execute("SELECT id FROM account WHERE admin")
        return {row[0] for row in cursor.fetchall()}


@shows("get-parts")
def test_pictures_and_links_in_a_text_make_nobody_administrator(trap: Any) -> None:
    page, home = trap["context"].new_page(), f"/project/{trap['project']['short_name']}"
    asked: list[str] = []
    page.on("request", lambda request: asked.append(urlsplit(request.url).path))
    for path in ("/", "/project/", f"{home}/", f"{home}/newtask", f"/account/{trap['owner'].name}/"):
        page.goto(trap["url"] + path, wait_until="networkidle")
        assert trap["me"] not in administrators(trap), path
    assert not [path for path in asked if path.startswith(("/admin/", "/account/signout")) or path == "/api/1/newtask"]

    page.goto(f"{trap['url']}{home}/", wait_until="networkidle")
    page.click("main a:text-is('see')")
    page.wait_for_selector("main form[method=post]")
    assert trap["me"] not in administrators(trap)
    with page.expect_navigation():
        page.click("main form button")
    assert trap["me"] in administrators(trap), "the button of the page acts"


def test_a_picture_that_is_made_by_a_script_is_refused(trap: Any) -> None:
    page = trap["context"].new_page()
    page.goto(trap["url"])
    for path in (f"/admin/users/add/{trap['me']}", "/account/signout"):
        with page.expect_event("console", lambda message: "Content Security Policy" in message.text):
            page.evaluate("path => { new Image().src = path; }", path)
    page.goto(f"{trap['url']}/admin/")
    assert "/admin/" in page.url and trap["me"] not in administrators(trap)
