"""Writing to the API with a session cookie: no token, but no other site's page either."""

import pytest_twisted
from support.browsers import newcomer
from support.checks.shows import shows

JSON = {"Content-Type": "application/json"}


async def create(browser, number, body='{"name": "p%d"}', **headers):
    """The answer to a project's creation."""
    return await browser.post("/api/project", data=(body % number).encode(), headers=headers)


@shows("session-api-write")
@pytest_twisted.ensureDeferred
async def test_json_of_our_own_pages_is_believed(served):
    browser = await newcomer(served, "ada")
    headers = [
        {}, {"Origin": served.base}, {"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"}, {"Origin": served.base, "Sec-Fetch-Site": "same-origin"},
        {"Content-Type": "application/json; charset=utf-8"},
    ]  # fmt: skip
    for number, more in enumerate(headers):
        assert (await create(browser, number, **{**JSON, **more})).status == 200, more


@shows("session-api-write")
@pytest_twisted.ensureDeferred
async def test_a_plain_body_of_the_same_origin_is_believed(served):
    browser = await newcomer(served, "ada")
    assert (await create(browser, 1, **{"Sec-Fetch-Site": "same-origin"})).status == 200


@shows("session-api-write")
@pytest_twisted.ensureDeferred
async def test_what_another_sites_page_can_send_is_refused(served):
    browser = await newcomer(served, "ada")
    headers = [
        {"Content-Type": "application/x-www-form-urlencoded"}, {"Content-Type": "text/plain"}, {"Content-Type": ""},
        {"Content-Type": "multipart/form-data; boundary=x"}, {**JSON, "Origin": "https://evil.example"},
        {**JSON, "Origin": "http://127.0.0.1.evil.example"}, {**JSON, "Sec-Fetch-Site": "cross-site", "Origin": "https://x"},
        {**JSON, "Origin": served.base.replace("http:", "https:") + "0"}, {**JSON, "Origin": "null"},
        {**JSON, "Sec-Fetch-Site": "cross-site"}, {"Content-Type": "text/plain", "Sec-Fetch-Site": "same-site"},
    ]  # fmt: skip
    for number, more in enumerate(headers):
        refused = await create(browser, number, **more)
        assert (refused.status, refused.json()["exception_cls"]) == (403, "Forbidden"), more
    for method, path in (("DELETE", "/api/project/1"), ("PUT", "/api/project/1")):
        assert (await browser.request(method, path)).status == 403
    assert (await browser.get("/api/project?all=1")).json() == []


@pytest_twisted.ensureDeferred
async def test_reading_with_a_cookie_needs_nothing(served):
    browser = await newcomer(served, "ada")
    assert (await browser.get("/api/user/1")).json()["email_addr"] == "ada@example.org"


@pytest_twisted.ensureDeferred
async def test_a_key_is_believed_from_everywhere(served):
    ada = await served.person("ada")
    answer = await create(ada, 1, **{"Content-Type": "text/plain", "Origin": "https://elsewhere.example"})
    assert answer.status == 200


@shows("session-api-write")
@pytest_twisted.ensureDeferred
async def test_a_configured_front_end_is_believed(serve):
    served = await serve(CROWDD_HTTP_ALLOWED_ORIGINS="https://front.example")
    browser = await newcomer(served, "ada")
    assert (await create(browser, 1, **JSON, Origin="https://front.example")).status == 200
    assert (await create(browser, 2, **JSON, Origin="https://other.example")).status == 403


@shows("session-api-write")
@pytest_twisted.ensureDeferred
async def test_cookies_across_sites_want_the_token(serve):
    served = await serve(CROWDD_HTTP_CROSS_SITE_COOKIES="on", CROWDD_HTTP_ALLOWED_ORIGINS="https://front.example")
    browser = await newcomer(served, "ada")
    origin = {**JSON, "Origin": "https://front.example"}
    assert (await create(browser, 1, **origin)).status == 400
    token = (await browser.page("/account/ada/resetapikey")).json()["form"]["csrf"]
    assert (await create(browser, 1, **origin, **{"X-CSRFToken": token})).status == 200


@shows("cors-opaque")
@pytest_twisted.ensureDeferred
async def test_an_opaque_origin_may_not_even_read(served):
    for method, path in (("GET", "/api/project"), ("GET", "/"), ("POST", "/api/taskrun"), ("GET", "/%61pi/project")):
        refused = await served.client().request(method, path, headers={"Origin": "null", **JSON})
        assert refused.status == 403, path
    hidden = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "image"}
    assert (await served.client().get("/api/1/newtask", headers=hidden)).status == 403
    opened = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "document"}
    assert (await served.client().get("/", headers=opened)).status == 200


@shows("session-volunteer-header")
@pytest_twisted.ensureDeferred
async def test_a_page_made_for_somebody_who_is_signed_out_writes_nothing_as_a_stranger(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=1, published=True)
    browser = await newcomer(served, "ada")
    ada = (await browser.page("/account/profile")).json()["user"]["id"]
    task = (await browser.get(f"/api/{project['id']}/newtask", headers={"X-Volunteer": str(ada)})).json()["id"]
    run = {"project_id": project["id"], "task_id": task, "info": 1}
    for stranger in (served.client(), await newcomer(served, "ben")):
        refused = await stranger.post("/api/taskrun", json=run, headers={"X-Volunteer": str(ada)})
        assert (refused.status, refused.json()["error_code"]) == (401, "signed_out")
    stored = await browser.post("/api/taskrun", json=run, headers={"X-Volunteer": str(ada)})
    assert (stored.status, stored.json()["user_id"]) == (200, ada)
