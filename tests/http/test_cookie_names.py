"""Cookies under https belong to this host alone; what people had before is moved or explained."""

from __future__ import annotations

import pytest_twisted
from support import wire
from support.checks.shows import shows

HTTPS = {"CROWDD_HTTP_BASE_URL": "https://crowd.example"}


async def signed_in(served):
    person = await served.person("ada")
    browser = served.client()
    form = {"email": "ada@example.org", "password": "a good password"}
    answer = await browser.send_form("/account/signin", form)
    assert answer.json()["status"] == "success", answer.body
    return person, browser


@shows("session-cookie")
@pytest_twisted.ensureDeferred
async def test_every_cookie_under_https_has_the_prefix(serve):
    served = await serve(**HTTPS)
    _person, browser = await signed_in(served)
    await browser.get("/")
    assert "__Host-session" in browser.cookies
    assert all(name.startswith("__Host-") for name in browser.cookies), browser.cookies
    assert (await browser.page("/account/ada/update")).status == 200


@pytest_twisted.ensureDeferred
async def test_plain_http_has_no_prefix(served):
    _person, browser = await signed_in(served)
    assert "session" in browser.cookies and not any(name.startswith("__Host-") for name in browser.cookies)


@pytest_twisted.ensureDeferred
async def test_session_that_a_sibling_host_could_have_set_counts_for_nothing(serve):
    served = await serve(**HTTPS)
    _person, browser = await signed_in(served)
    victim = served.client()
    victim.cookies = {"session": browser.cookies["__Host-session"]}
    page = await victim.get("/", headers={"Accept": "text/html"})
    assert "Sign in again" in page.text and "session" not in victim.cookies
    assert "Sign in again" not in (await victim.get("/", headers={"Accept": "text/html"})).text
    victim.cookies["session"] = browser.cookies["__Host-session"]
    assert (await victim.page("/account/ada/update")).status in (302, 401, 403)


@pytest_twisted.ensureDeferred
async def test_volunteer_of_the_time_before_https_stays_the_same_volunteer(serve):
    plain, served = await serve(), await serve(**HTTPS)
    owner = await plain.person("owner")
    project = await plain.project(owner, tasks=3, published=True)
    browser = plain.client()
    await browser.get("/about", headers={"Accept": "text/html"})
    old = browser.cookies["volunteer"]
    task = (await browser.get(f"/api/{project['id']}/newtask")).json()
    answer = {"project_id": project["id"], "task_id": task["id"], "info": 1}
    assert (await browser.post("/api/taskrun", json=answer)).status == 200
    moved = served.client()
    moved.cookies = {"volunteer": old}
    progress = f"/api/project/{project['id']}/userprogress"
    assert (await moved.get(progress)).json()["done"] == 1
    await moved.get("/", headers={"Accept": "text/html"})
    assert moved.cookies["__Host-volunteer"] == old and "volunteer" not in moved.cookies
    assert (await moved.get(progress)).json()["done"] == 1


@shows("etag-private")
@pytest_twisted.ensureDeferred
async def test_api_answers_for_one_person_stay_in_no_cache(served):
    person, browser = await signed_in(served)
    for client in (person, browser):
        for path in ("/api/category", "/api/project/999"):
            assert (await client.get(path)).header("cache-control") == "private, no-store"
    assert (await served.client().get("/api/category")).header("cache-control") == "no-cache"
    status, _body = await wire.request(served.base, b"GET /api/category")
    assert status == 200
