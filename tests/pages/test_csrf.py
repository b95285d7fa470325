"""Forms are believed with a token of this browser and this session, from our own pages only."""

import pytest_twisted
from support.browsers import PASSWORD, newcomer, sign_in, who
from support.checks.shows import shows

JSON = {"Content-Type": "application/json"}


async def token_of(browser, path="/account/ada/resetapikey"):
    return (await browser.page(path)).json()["form"]["csrf"]


async def reset(browser, **headers):
    """The status of a request for a new key."""
    return (await browser.post("/account/ada/resetapikey", json={}, headers=headers)).status


@shows("error-pages", "session-csrf")
@pytest_twisted.ensureDeferred
async def test_a_form_without_a_good_token_changes_nothing(served):
    browser, bob = await newcomer(served, "ada"), await newcomer(served, "bob")
    before = (await browser.page("/account/profile")).json()["user"]["api_key"]
    anonymous = served.client()
    foreign = [await token_of(bob, "/account/bob/resetapikey"), await token_of(anonymous, "/account/signin")]
    own = await token_of(browser)
    spoilt = [own[:-1] + ("0" if own[-1] != "0" else "1"), "x" + own, own.split(".")[1], f".{own.split('.')[1]}"]
    for token in ("", ".", "nonsense", "\u00e9", *foreign, *spoilt):
        answer = await browser.post("/account/ada/resetapikey", json={}, headers={"X-CSRFToken": token.encode()})
        assert (answer.status, answer.json()["description"]) == (400, "CSRF validation failed."), token
        assert answer.json()["reason"] == "csrf"
    assert await reset(browser) == 400
    assert (await browser.page("/account/profile")).json()["user"]["api_key"] == before


@shows("session-csrf")
@pytest_twisted.ensureDeferred
async def test_the_token_comes_in_a_header_or_a_field(served):
    browser = await newcomer(served, "ada")
    for headers in ("X-CSRFToken", "X-CSRF-Token"):
        assert await reset(browser, **{headers: await token_of(browser)}) == 200
    field = {"csrf_token": await token_of(browser)}
    assert (await browser.post("/account/ada/resetapikey", data=field)).status == 302
    assert (await browser.post("/account/ada/resetapikey", json=field)).status == 200
    assert (await browser.post("/account/ada/resetapikey", files={"x": b"y"}, data=field)).status == 302


@shows("session-csrf-binding")
@pytest_twisted.ensureDeferred
async def test_a_token_works_more_than_once_and_each_is_different(served):
    browser = await newcomer(served, "ada")
    first, second = await token_of(browser), await token_of(browser)
    assert first != second
    assert [await reset(browser, **{"X-CSRFToken": token}) for token in (first, second, first)] == [200] * 3


@shows("session-csrf-binding")
@pytest_twisted.ensureDeferred
async def test_a_token_ends_with_its_session(served):
    browser = await newcomer(served, "ada")
    token = await token_of(browser)
    await browser.page("/account/signout")
    await sign_in(browser, "ada")
    assert await reset(browser, **{"X-CSRFToken": token}) == 400
    assert await reset(browser, **{"X-CSRFToken": await token_of(browser)}) == 200


@pytest_twisted.ensureDeferred
async def test_a_token_from_before_signing_in_is_no_good_after(served):
    await served.person("ada")
    browser = served.client()
    token = await token_of(browser, "/account/signin")
    form = {"email": "ada@example.org", "password": PASSWORD}
    assert (await browser.post("/account/signin", json=form, headers={"X-CSRFToken": token})).status == 200
    assert await reset(browser, **{"X-CSRFToken": token}) == 400


@pytest_twisted.ensureDeferred
async def test_nobody_is_signed_in_by_another_sites_form(served):
    await served.person("ada")
    form = {"email": "ada@example.org", "password": PASSWORD}
    browser = served.client()
    assert (await browser.post("/account/signin", data=form)).status == 400
    mine = served.client()
    token = await token_of(mine, "/account/signin")
    assert (await browser.post("/account/signin", data={**form, "csrf_token": token})).status == 400
    assert await who(browser) is None


@pytest_twisted.ensureDeferred
async def test_another_origin_is_refused_even_with_a_token(served):
    browser = await newcomer(served, "ada")
    for headers in (
        {"Origin": "https://evil.example"}, {"Origin": served.base + ".evil.example"}, {"Sec-Fetch-Site": "cross-site"},
        {"Origin": "ftp://" + served.base.partition("//")[2]},
    ):  # fmt: skip
        assert await reset(browser, **headers, **{"X-CSRFToken": await token_of(browser)}) in (400, 403), headers
    for headers in ({"Origin": served.base}, {"Sec-Fetch-Site": "same-origin"}):
        assert await reset(browser, **headers, **{"X-CSRFToken": await token_of(browser)}) == 200, headers


@pytest_twisted.ensureDeferred
async def test_an_opaque_origin_is_refused(served):
    browser = await newcomer(served, "ada")
    assert await reset(browser, **{"X-CSRFToken": await token_of(browser), "Origin": "null"}) == 403


@shows("session-csrf")
@pytest_twisted.ensureDeferred
async def test_a_key_needs_no_token(served):
    ada = await served.person("ada")
    await served.project(ada, "birds", tasks=1)
    assert (await ada.post("/project/birds/publish", json={})).status == 200


@pytest_twisted.ensureDeferred
async def test_a_wrong_key_does_not_replace_the_token(served):
    browser = await newcomer(served, "ada")
    assert (await browser.post("/account/ada/resetapikey?api_key=wrong", json={})).status in (400, 302)
    assert (await browser.post("/preferences?api_key=wrong", data={"theme": "dark"})).status == 400
