"""``next`` leads to a page of this site or nowhere."""

from urllib.parse import quote

import pytest_twisted
from support.browsers import PASSWORD, registration
from support.checks.shows import shows

AWAY = [
    "//evil.example", "///evil.example", "////evil.example", "https://evil.example", "http:evil.example", "https:/evil",
    "\\\\evil.example", "/\\evil.example", "\\/evil.example", "/\t/evil.example", "/\n/evil.example", "/\r/evil.example",
    "\t//evil.example", " //evil.example", "javascript:alert(1)", "JavaScript:alert(1)", "data:text/html,x",
    "evil.example", "@evil.example", "//evil.example@here", "/\x00/evil.example", "/\u2028/evil.example", "//[::1", "",
    "/a\\b", "/\x7f",
]  # fmt: skip
HERE = ["/", "/project/birds/", "/account/profile?a=b&c=d#e", "/project/v%C3%B6gel/"]


@shows("account-signin-next")
@pytest_twisted.ensureDeferred
async def test_signing_in_never_leads_away(served):
    await served.person("ada")
    form = {"email": "ada@example.org", "password": PASSWORD}
    for address in AWAY + HERE:
        expected = address if address in HERE else "/"
        browser = served.client()
        token = (await browser.page("/account/signin")).json()["form"]["csrf"]
        path = f"/account/signin?next={quote(address, safe='')}"
        answer = await browser.post(path, json=form, headers={"X-CSRFToken": token})
        assert answer.json()["next"] == expected, address
        again = await browser.page(path)
        assert again.json() == {"next": expected}, address


@pytest_twisted.ensureDeferred
async def test_a_field_of_the_form_never_leads_away_either(served):
    browser = served.client()
    token = (await browser.page("/account/signin")).json()["form"]["csrf"]
    for address in AWAY:
        if "\x00" in address:
            continue
        form = {"theme": "dark", "next": address, "csrf_token": token}
        answer = await browser.post("/preferences", data=form)
        assert (answer.status, answer.header("location")) == (302, "/"), address
    good = {"theme": "dark", "next": "/project/birds/", "csrf_token": token}
    assert (await browser.post("/preferences", data=good)).header("location") == "/project/birds/"


@shows("account-signin-next")
@pytest_twisted.ensureDeferred
async def test_the_sign_in_page_leads_back_to_where_one_wanted_to_go(served):
    owner = await served.person("owner")
    await served.project(owner, "vögel")
    wanted = await served.client().get("/project/v%C3%B6gel/publish")
    assert wanted.status == 302
    where = wanted.header("location")
    assert (await served.client().page(where)).json()["next"] == "/project/v%C3%B6gel/publish"


@pytest_twisted.ensureDeferred
async def test_an_address_cannot_add_a_header(served):
    owner = await served.person("owner")
    await served.project(owner)
    for path in ("/project/birds%0D%0ASet-Cookie:%20a=b/publish", "/project/birds/publish?next=%0D%0AX-Evil:%201"):
        answer = await served.client().get(path)
        assert answer.header("x-evil") is None and "a=b" not in str(answer.headers.getRawHeaders("set-cookie"))


@pytest_twisted.ensureDeferred
async def test_signing_up_never_leads_away_either(served):
    for number, address in enumerate((*AWAY, HERE[1])):
        browser = served.client()
        form = registration(f"person{number}")
        token = (await browser.page("/account/register")).json()["form"]["csrf"]
        path = f"/account/register?next={quote(address, safe='')}"
        answer = await browser.post(path, json=form, headers={"X-CSRFToken": token})
        assert answer.json()["next"] == (address if address in HERE else "/"), address
