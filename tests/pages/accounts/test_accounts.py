"""Signing up, in and out in a browser."""

from time import monotonic

import pytest_twisted
from support.browsers import PASSWORD, newcomer, registration, sign_in, signed_in, who
from support.checks.shows import shows


def cookie_line(answer, name):
    """The Set-Cookie line of a cookie."""
    lines = answer.headers.getRawHeaders("set-cookie") or []
    return next((line for line in lines if line.startswith(f"{name}=")), None)


@shows("account-register")
@pytest_twisted.ensureDeferred
async def test_who_signs_up_is_signed_in(served):
    browser = await newcomer(served, "ada")
    assert await who(browser) == "ada"
    profile = (await browser.page("/account/profile")).json()["user"]
    assert (profile["admin"], profile["email_addr"], len(profile["api_key"]) > 30) == (False, "ada@example.org", True)


@shows("caller-first-admin")
@pytest_twisted.ensureDeferred
async def test_nobody_becomes_an_administrator_by_being_first(served):
    browser = served.client()
    await browser.send_form("/account/register", {**registration("ada"), "admin": True})
    assert (await browser.page("/account/profile")).json()["user"]["admin"] is False


@shows("account-register", "format-form")
@pytest_twisted.ensureDeferred
async def test_a_form_with_mistakes_says_which(served):
    await newcomer(served, "ada")
    browser = served.client()
    for change, field in (
        ({"name": "a"}, "name"), ({"name": "a b"}, "name"), ({"name": "a" * 36}, "name"), ({"name": "a/b"}, "name"),
        ({"name": "Signin"}, "name"), ({"name": "profile"}, "name"), ({"name": "a|b"}, "name"), ({"name": "ADA"}, "name"),
        ({"fullname": "   "}, "fullname"), ({"fullname": "x" * 101}, "fullname"), ({"email_addr": "x"}, "email_addr"),
        ({"email_addr": "a b@example.org"}, "email_addr"), ({"email_addr": "ADA@example.org"}, "email_addr"),
        ({"email_addr": f"{'x' * 250}@example.org"}, "email_addr"), ({"password": "short"}, "password"),
        ({"confirm": "another password"}, "confirm"), ({"password": "", "confirm": ""}, "password"),
    ):  # fmt: skip
        answer = (await browser.send_form("/account/register", {**registration("bob"), **change})).json()
        assert field in answer["form"]["errors"], change
        assert all(isinstance(words, list) for words in answer["form"]["errors"].values())
        assert answer["form"]["password"] is None is answer["form"]["confirm"]
    assert await who(browser) is None


@shows("session-whole-form")
@pytest_twisted.ensureDeferred
async def test_front_ends_may_post_the_whole_form_back(served):
    browser = served.client()
    form = (await browser.page("/account/register")).json()["form"]
    filled = {**form, **registration("ada"), "errors": {}, "unknown": None}
    answer = await browser.post("/account/register", json=filled, headers={"X-CSRFToken": form["csrf"]})
    assert answer.status == 200 and await who(browser) == "ada"


@shows("account-signin-post")
@pytest_twisted.ensureDeferred
async def test_an_unknown_address_and_a_wrong_password_get_the_same_words(served):
    await served.person("ada")
    answers = [
        (await sign_in(served.client(), name, password)).json()
        for name, password in (("ada", "wrong password"), ("nobody", PASSWORD), ("ada", ""))
    ]
    messages = [(answer["status"], answer["flash"], answer["form"]["errors"]) for answer in answers]
    assert messages == [messages[0]] * 3 and messages[0][0] == "error"


@shows("account-signin-post")
@pytest_twisted.ensureDeferred
async def test_one_signs_in_by_address_or_by_nickname(served):
    await served.person("ada")
    for login in ("ada@example.org", "ADA@Example.org", " ada@example.org ", "ada", "Ada"):
        browser = served.client()
        answer = await browser.send_form("/account/signin", {"email": login, "password": PASSWORD})
        assert answer.json()["status"] == "success" and await who(browser) == "ada", login


@shows("session-server", "user-blocked")
@pytest_twisted.ensureDeferred
async def test_a_blocked_account_cannot_sign_in_nor_stay(served):
    browser = await newcomer(served, "ada")
    await served.database.execute('UPDATE account SET "restrict" = true')
    assert await who(browser) is None
    assert (await sign_in(served.client(), "ada")).json()["status"] == "error"


@shows("limit-attempts")
@pytest_twisted.ensureDeferred
async def test_guessing_ends_after_ten_attempts(served):
    await served.person("ada")
    await served.person("bob")
    begun = monotonic()
    for _ in range(10):
        assert (await sign_in(served.client(), "ada", "wrong password")).status == 200
    held = await sign_in(served.client(), "ada")
    assert held.status == 429 and 900 - (monotonic() - begun) - 1 <= int(held.header("retry-after")) <= 900
    assert (await sign_in(served.client(), "bob")).json()["status"] == "success"
    await served.database.execute("UPDATE clock_shift SET ahead = '16 minutes'")
    assert (await sign_in(served.client(), "ada")).json()["status"] == "success"


@shows("limit-attempts")
@pytest_twisted.ensureDeferred
async def test_an_address_that_fails_at_many_accounts_is_held_up(serve):
    served = await serve(CROWDD_ACCOUNTS_MAX_LOGIN_FAILURES="2")
    await served.person("ada")
    for number in range(20):
        assert (await sign_in(served.client(), f"person{number}", "wrong password")).status == 200
    assert (await sign_in(served.client(), "ada")).status == 429


@shows("limit-attempts")
@pytest_twisted.ensureDeferred
async def test_a_device_that_signed_in_before_is_not_held_up_by_others(served):
    known = await newcomer(served, "ada")
    await known.page("/account/signout")
    for _ in range(10):
        await sign_in(served.client(), "ada", "wrong password")
    assert (await sign_in(served.client(), "ada")).status == 429
    assert (await sign_in(known, "ada")).json()["status"] == "success"
    await known.page("/account/signout")
    for _ in range(10):
        assert (await sign_in(known, "ada", "wrong password")).status == 200
    assert (await sign_in(known, "ada")).status == 429


@pytest_twisted.ensureDeferred
async def test_a_known_device_is_known_for_its_own_people_only(served):
    mallory = await newcomer(served, "mallory")
    await served.person("ada")
    await mallory.page("/account/signout")
    for _ in range(10):
        await sign_in(mallory, "ada", "wrong password")
    assert (await sign_in(mallory, "ada")).status == 429


@shows("session-signin")
@pytest_twisted.ensureDeferred
async def test_each_sign_in_makes_a_new_session(served):
    browser = served.client()
    browser.cookies["session"] = "chosen-by-somebody-else"
    await served.person("ada")
    await sign_in(browser, "ada")
    first = browser.cookies["session"]
    assert first != "chosen-by-somebody-else" and len(first) > 40
    await browser.page("/account/signout")
    assert "session" not in browser.cookies
    await sign_in(browser, "ada")
    assert browser.cookies["session"] != first
    fixed = served.client()
    fixed.cookies["session"] = "chosen-by-somebody-else"
    assert await who(fixed) is None


@shows("account-signout", "session-server")
@pytest_twisted.ensureDeferred
async def test_after_signing_out_the_old_cookie_is_worth_nothing(served):
    browser, other = await newcomer(served, "ada"), await signed_in(served, "ada")
    cookie = browser.cookies["session"]
    await browser.page("/account/signout")
    thief = served.client()
    thief.cookies["session"] = cookie
    assert await who(thief) is None and await who(other) == "ada"


@shows("session-server")
@pytest_twisted.ensureDeferred
async def test_a_session_ends_when_it_is_not_used(served):
    browser = await newcomer(served, "ada")
    await served.database.execute("UPDATE clock_shift SET ahead = '29 days'")
    assert await who(browser) == "ada"
    await served.database.execute("UPDATE clock_shift SET ahead = '58 days'")
    assert await who(browser) == "ada"
    await served.database.execute("UPDATE clock_shift SET ahead = '89 days'")
    assert await who(browser) is None


@shows("get-acts", "get-asks")
@pytest_twisted.ensureDeferred
async def test_get_signs_out_programs_and_asks_browsers(served):
    cases = (
        ({"Content-Type": "application/json"}, True), ({"Content-Type": "application/json; charset=utf-8"}, True),
        ({"Sec-Fetch-Site": "same-origin"}, False), ({"Sec-Fetch-Site": "none"}, False), ({}, False),
        ({"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Dest": "image"}, False),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "document"}, False), ({"Sec-Fetch-Site": "same-site"}, False),
        ({"Accept": "application/json"}, False), ({"Content-Type": "text/plain"}, False),
    )  # fmt: skip
    for number, (headers, signs_out) in enumerate(cases):
        browser = await newcomer(served, f"person{number}")
        answer = await browser.get("/account/signout", headers=headers)
        assert (answer.status in (200, 403), await who(browser) is None) == (True, signs_out), headers
        assert answer.text.count('action="/account/signout"') == (2 if answer.status == 200 and not signs_out else 0), (
            headers
        )
    format_only = await newcomer(served, "last")
    assert (await format_only.get("/account/signout?response_format=json")).status == 403


@pytest_twisted.ensureDeferred
async def test_the_button_signs_out_with_its_token(served):
    browser = await newcomer(served, "ada")
    assert (await browser.post("/account/signout")).status == 400 and await who(browser) == "ada"
    token = (await browser.page("/account/ada/resetapikey")).json()["form"]["csrf"]
    answer = await browser.post("/account/signout", data={"csrf_token": token})
    assert (answer.status, answer.header("location")) == (302, "/") and await who(browser) is None


@shows("session-cookie")
@pytest_twisted.ensureDeferred
async def test_cookies_are_out_of_reach_of_scripts_and_other_sites(served):
    browser = served.client()
    welcome = await browser.get("/account/register")
    done = await browser.send_form("/account/register", registration("ada"))
    for answer, name in ((welcome, "volunteer"), (welcome, "csrf"), (done, "session"), (done, "device")):
        line = cookie_line(answer, name)
        assert all(word in line for word in ("Path=/", "SameSite=Lax", "HttpOnly")) and "Secure" not in line, line
    assert "Max-Age=2592000" in cookie_line(done, "session") and "Max-Age" not in cookie_line(welcome, "csrf")


@shows("session-cookie")
@pytest_twisted.ensureDeferred
async def test_under_https_cookies_are_secure(serve):
    served = await serve(CROWDD_HTTP_BASE_URL="https://crowd.example")
    line = cookie_line(await served.client().get("/about"), "__Host-volunteer")
    assert "Secure" in line and "SameSite=Lax" in line


@pytest_twisted.ensureDeferred
async def test_for_a_front_end_elsewhere_cookies_cross_sites_and_are_secure(serve):
    served = await serve(CROWDD_HTTP_CROSS_SITE_COOKIES="on")
    line = cookie_line(await served.client().get("/about"), "volunteer")
    assert "Secure" in line and "SameSite=None" in line


@shows("account-key-reset")
@pytest_twisted.ensureDeferred
async def test_only_oneself_and_administrators_make_a_new_key(served):
    ada, bob = await newcomer(served, "ada"), await newcomer(served, "bob")
    await served.person("boss", admin=True)
    boss = await signed_in(served, "boss")
    assert (await bob.page("/account/ada/resetapikey")).status == 403
    token = (await bob.page("/account/bob/resetapikey")).json()["form"]["csrf"]
    assert (await bob.post("/account/ada/resetapikey", json={}, headers={"X-CSRFToken": token})).status == 403
    assert (await boss.send_form("/account/ada/resetapikey", {})).json()["status"] == "success"
    anonymous = await served.client().page("/account/ada/resetapikey")
    assert (anonymous.status, anonymous.header("location")) == (302, "/account/signin?next=/account/ada/resetapikey")
    assert await who(ada) == "ada"


@pytest_twisted.ensureDeferred
async def test_who_is_not_there_is_not_found(served):
    for name in ("nobody", "%00", "%FF", "a%2Fb", "x" * 500):
        answer = await served.client().page(f"/account/{name}")
        assert answer.status in (404, 415) and "user" not in answer.json(), name


@shows("key-stored")
@pytest_twisted.ensureDeferred
async def test_secrets_are_stored_as_hashes_only(served):
    browser = await newcomer(served, "ada")
    key = (await browser.page("/account/profile")).json()["user"]["api_key"]
    rows = await served.database.fetch("SELECT a::text AS t FROM account a UNION ALL SELECT s::text FROM session s")
    stored = " ".join(row["t"] for row in rows)
    for secret in (key, PASSWORD, browser.cookies["session"]):
        assert secret not in stored and secret.encode().hex() not in stored
    assert "$argon2id$" in stored
