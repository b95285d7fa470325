"""Two faces of each page, and the headers around them."""

import pytest
import pytest_twisted
from support.browsers import newcomer
from support.checks.shows import shows

from crowdd.http.edge.headers import prefers_json

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


@shows("family-pages", "format-json")
@pytest_twisted.ensureDeferred
async def test_json_is_for_those_who_ask_for_it(served):
    for headers, query, json in (
        ({}, "", False), ({"Accept": BROWSER}, "", False), ({"Accept": "*/*"}, "", False),
        ({"Content-Type": "application/json"}, "", True), ({"Content-Type": "application/json; charset=utf-8"}, "", True),
        ({"Content-Type": "APPLICATION/JSON"}, "", True), ({"Content-Type": "application/jsonp"}, "", False),
        ({"Content-Type": "text/plain; x=application/json"}, "", False),
        ({"Accept": "application/json"}, "", True), ({"Accept": "application/json, text/plain, */*"}, "", True),
        ({"Accept": "text/html;q=0.5, application/json"}, "", True),
        ({"Accept": "text/html, application/json;q=0.9"}, "", False),
        ({"Accept": BROWSER}, "?response_format=json", True), ({}, "?response_format=html", False),
        ({"Content-Type": "application/json", "Accept": BROWSER}, "", True),
    ):  # fmt: skip
        for path in ("/", "/account/signin", "/nothing"):
            answer = await served.client().get(path + query, headers=headers)
            expected = "application/json" if json else "text/html; charset=utf-8"
            assert answer.header("content-type") == expected, (path, headers, query)
            vary = answer.header("vary").replace(" ", "").split(",")
            assert {"Accept", "Content-Type", "Cookie"} <= set(vary)


@shows("format-json")
@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        ("", False), ("application/json;q=0", False), ("application/json;q=x", False), ("application/json;q=nan", False),
        ("text/html;q=0.9,application/json;q=0.8", False), ("text/html;q=0.8,application/json;q=0.9", True),
        ("application/json;q=0.1", True), (",,;;,", False), ("Application/JSON", True), ("a;q=1;" * 1000, False),
    ],
)  # fmt: skip
def test_the_accept_header_is_weighed(accept, expected):
    assert prefers_json(accept) is expected


@shows("format-redirect")
@pytest_twisted.ensureDeferred
async def test_a_redirect_is_a_redirect_for_people_and_a_next_for_programs(served):
    ada = await served.person("ada")
    page = await ada.get("/account/signin")
    assert (page.status, page.header("location"), page.body) == (302, "/", b"")
    assert (await ada.page("/account/signin")).json() == {"next": "/"}


@shows("format-policies")
@pytest_twisted.ensureDeferred
async def test_our_pages_run_no_strange_script_and_stand_in_no_frame(served):
    browser = await newcomer(served, "ada")
    nonces = set()
    for path in ("/", "/account/profile", "/account/ada/resetapikey", "/nothing", "/account/signin"):
        page = await browser.get(path)
        policy = dict(part.strip().partition(" ")[::2] for part in page.header("content-security-policy").split(";"))
        assert policy["default-src"] == policy["base-uri"] == policy["frame-ancestors"] == "'none'"
        assert policy["style-src"] == policy["form-action"] == policy["frame-src"] == "'self'"
        nonces.add(policy["script-src"])
        assert "unsafe" not in policy["script-src"]
        assert page.header("x-content-type-options") == "nosniff" and page.header("x-frame-options") == "DENY"
        assert page.header("referrer-policy") == "strict-origin-when-cross-origin"
        assert page.header("cross-origin-opener-policy") == "same-origin"
        assert page.header("cache-control") == "no-store"
    assert len({nonce for nonce in nonces if "nonce-" in nonce}) >= 4


@shows("format-policies")
@pytest_twisted.ensureDeferred
async def test_json_of_a_page_is_data_and_not_kept(served):
    browser = await newcomer(served, "ada")
    answer = await browser.page("/account/profile")
    assert answer.header("content-security-policy") == "sandbox; default-src 'none'; frame-ancestors 'none'"
    assert answer.header("x-content-type-options") == "nosniff" and answer.header("cache-control") == "no-store"


@pytest_twisted.ensureDeferred
async def test_what_a_person_wrote_is_text_on_every_page(served):
    owner = await served.person("owner")
    evil = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"
    body = {"name": evil, "short_name": "evil", "description": evil, "long_description": evil + "\n\n[x](javascript:x)"}
    project = (await owner.post("/api/project", json={**body, "info": {"task_presenter": "<p>"}})).json()
    await owner.post("/api/task", json={"project_id": project["id"], "info": 1})
    await owner.post("/project/evil/publish", json={})
    await owner.put(f"/api/user/{owner.user_id}", json={"fullname": evil, "privacy_mode": False, "info": {"a": evil}})
    browser = served.client()
    pages = ["/", "/project/evil/", "/project/evil/newtask", "/account/owner", f"/{evil}", "/project/<script>/password"]
    for who in (browser, owner):
        for path in pages:
            text = (await who.get(path.replace(" ", "%20").replace("<", "%3C").replace('"', "%22"))).text
            assert "<script>alert" not in text and "<img src=x" not in text and 'href="javascript:' not in text, path


@shows("page-preferences")
@pytest_twisted.ensureDeferred
async def test_the_theme_is_remembered(served):
    browser = served.client()
    token = (await browser.page("/account/signin")).json()["form"]["csrf"]
    assert (await browser.post("/preferences", data={"theme": "dark"})).status == 400
    await browser.post("/preferences", data={"theme": "dark", "csrf_token": token, "next": "/"})
    assert browser.cookies["theme"] == "dark"
    await browser.post("/preferences", data={"theme": "<script>", "csrf_token": token})
    assert "theme" not in browser.cookies


@shows("error-method")
@pytest_twisted.ensureDeferred
async def test_405_of_a_page_says_what_is_allowed(served):
    for method, path, allowed in (
        ("POST", "/", "GET, HEAD, OPTIONS"), ("PUT", "/account/signin", "GET, HEAD, OPTIONS, POST"),
        ("GET", "/project/x/pause", "OPTIONS, POST"),
    ):  # fmt: skip
        answer = await served.client().request(method, path)
        assert (answer.status, answer.header("allow")) == (405, allowed), path


@shows("error-pages")
@pytest_twisted.ensureDeferred
async def test_an_error_page_as_json_has_status_sentence_and_code(served):
    for path, status, code in (("/project/nothing/", 404, "not_found"), ("/nothing", 404, "not_found")):
        answer = await served.client().page(path)
        error = answer.json()
        assert (answer.status, error["code"], error["title"]) == (status, status, str(status)), path
        assert error["reason"] == error["error_code"] == code and error["description"], path


@pytest_twisted.ensureDeferred
async def test_a_form_of_any_kind_is_read(served):
    browser = served.client()
    token = (await browser.page("/account/signin")).json()["form"]["csrf"]
    headers = {"X-CSRFToken": token}
    form = "application/x-www-form-urlencoded"
    for data, kind, status in (
        (b"email=a&password=b", form, 200), (b'{"email": "a", "password": "b"}', "application/json", 200),
        (b"--x\r\nContent-Disposition: form-data; name=\"email\"\r\n\r\na\r\n--x--\r\n", "multipart/form-data; boundary=x", 200),
        (b"email=%FF", form, 415), (b"email=%00", form, 415), (b"[1]", "application/json", 415), (b"{", "application/json", 415),
        (b'{"email": {"a": 1}}', "application/json", 415), (b'{"email": null, "password": 5}', "application/json", 200),
        (b"&".join(b"a%d=1" % n for n in range(1200)), form, 415), (b"garbage", "multipart/form-data", 415),
        (b"garbage", "multipart/form-data; boundary=x", 415), (b"", "application/json", 200), (b"", "", 200),
    ):  # fmt: skip
        answer = await browser.post("/account/signin", data=data, headers={**headers, "Content-Type": kind})
        assert answer.status == status, (data[:40], kind, answer.body[:200])
