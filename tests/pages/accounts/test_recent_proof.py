"""A recent proof: what protects an account is changed in a session that proved itself within ten minutes."""

from urllib.parse import urlsplit

import pytest
import pytest_twisted
import treq
from support.browsers import PASSWORD, newcomer, sign_in, signed_in, who
from support.checks.shows import shows
from support.factors import code_of, letters, pass_time, prove, set_up_app
from support.servers.openid import OpenIdProvider, Person
from twisted.internet import reactor

NEW = "another good one"
FORM = {"fullname": "Ada L", "name": "ada", "locale": "en"}
# What needs a proof, as somebody called ada sends it.
ACTS = {
    "address": ("/account/ada/update", {**FORM, "btn": "Profile", "email_addr": "new@example.org"}),
    "api key": ("/account/ada/resetapikey", {}),
    "sessions": ("/account/ada/sessions", {"session": "all"}),
    "provider": ("/account/ada/unlink", {"provider": "google"}),
    "new token": ("/account/ada/tokens", {"name": "x", "scope": "read"}),
    "authenticator": ("/account/ada/authenticator", {"code": "123456"}),
    "passkeys": ("/account/ada/passkeys", {"name": "x", "credential": "{}"}),
    "recovery codes": ("/account/ada/recovery-codes", {}),
    "administrator": ("/admin/users/add/2", {}),
}


async def admin(served, name="ada"):
    """The browser of a new administrator."""
    await served.person(name, admin=True)
    return await signed_in(served, name)


async def send(browser, path, body):
    """A form with a token that does not come from its page."""
    token = (await browser.page("/account/prove")).json()["form"]["csrf"]
    return await browser.post(path, json=body, headers={"X-CSRFToken": token})


async def by_key(served, person, path, body):
    """The same by a program that has a key, no session, and a token for forms."""
    program = served.client(Authorization=person.key)
    token = (await program.page("/account/signin")).json()["form"]["csrf"]
    return await program.post(path, json=body, headers={"X-CSRFToken": token})


@shows("account-proof")
@pytest.mark.parametrize("act", ACTS)
@pytest_twisted.ensureDeferred
async def test_act_needs_a_proof_of_the_last_ten_minutes(served, act):
    ada = await admin(served)
    await newcomer(served, "bob")
    path, body = ACTS[act]
    await pass_time(served, minutes=11)
    before = await state(served)
    refused = await send(ada, path, body)
    assert (refused.status, refused.json()["error_code"]) == (403, "proof_needed"), refused.body
    assert await state(served) == before
    assert (await prove(ada)).json()["status"] == "success"
    await pass_time(served, minutes=9)
    assert (await send(ada, path, body)).status not in (401, 403)


@shows("key-no-security")
@pytest.mark.parametrize("act", ACTS)
@pytest_twisted.ensureDeferred
async def test_api_key_is_no_proof(served, act):
    ada = await served.person("ada", admin=True)
    await newcomer(served, "bob")
    path, body = ACTS[act]
    before = await state(served)
    answer = await by_key(served, ada, path, body)
    assert answer.status in (302, 401, 403), answer.body
    assert await state(served) == before


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/account/ada/update", {"btn": "Password", "current_password": PASSWORD, "new_password": NEW, "confirm": NEW}),
        ("/account/ada/delete", {"password": PASSWORD, "confirm": "ada"}),
    ],
)  # fmt: skip
@pytest_twisted.ensureDeferred
async def test_password_in_the_form_is_the_proof_of_a_session_only(served, path, body):
    key = await served.person("ada")
    before = await state(served)
    assert (await by_key(served, key, path, body)).status in (302, 401, 403) and await state(served) == before
    ada = await signed_in(served, "ada")
    await pass_time(served, minutes=11)
    assert (await send(ada, path, body)).json()["status"] == "success"


async def state(served):
    """What is at stake."""
    return await served.database.fetch(
        'SELECT a.id, email_addr, passwd_hash, api_key_hash, admin, second_factor, "restrict",'
        " (SELECT count(*) FROM session), (SELECT count(*) FROM api_token), (SELECT count(*) FROM passkey),"
        " (SELECT count(*) FROM recovery_code) AS codes, (SELECT count(*) FROM totp) AS apps FROM account a ORDER BY id"
    )


@pytest_twisted.ensureDeferred
async def test_what_does_not_protect_the_account_needs_no_proof(served):
    ada = await newcomer(served, "ada")
    await pass_time(served, days=1)
    form = {**FORM, "btn": "Profile", "email_addr": "ada@example.org", "fullname": "Ada Lovelace"}
    assert (await ada.send_form("/account/ada/update", form)).json()["status"] == "success"


@shows("account-proof")
@pytest_twisted.ensureDeferred
async def test_browser_is_led_to_prove_and_comes_back(served):
    ada = await newcomer(served, "ada")
    await pass_time(served, minutes=11)
    led = await ada.get("/account/ada/tokens?x=1")
    assert led.header("location") == "/account/prove?next=/account/ada/tokens%3Fx%3D1"
    assert "<iframe" not in (html := (await ada.get(led.header("location"))).text)
    assert 'name="next" value="/account/ada/tokens?x=1"' in html
    token = (await ada.page("/account/prove")).json()["form"]["csrf"]
    form = {"password": PASSWORD, "csrf_token": token, "next": "/account/ada/tokens?x=1"}
    done = await ada.post("/account/prove", data=form)
    assert (done.status, done.header("location")) == (302, "/account/ada/tokens?x=1")
    assert (await ada.get("/account/ada/tokens")).status == 200


@pytest_twisted.ensureDeferred
async def test_browser_that_sent_a_form_comes_back_to_its_page(served):
    ada = await newcomer(served, "ada")
    await pass_time(served, minutes=11)
    token = (await ada.page("/account/prove")).json()["form"]["csrf"]
    for referer, back in ((f"{served.base}/account/profile", "/account/profile"), ("https://evil.example/x", "/")):
        headers = {"Referer": referer}
        led = await ada.post("/account/ada/resetapikey", data={"csrf_token": token}, headers=headers)
        assert led.header("location") == f"/account/prove?next={back}"


@pytest_twisted.ensureDeferred
async def test_wrong_password_proves_nothing(serve):
    served = await serve(CROWDD_ACCOUNTS_MAX_LOGIN_FAILURES="3")
    ada = await newcomer(served, "ada")
    await pass_time(served, minutes=11)
    for _try in range(3):
        assert (await prove(ada, "something else")).json()["status"] == "error"
    assert (await prove(ada)).status == 429
    assert (await send(ada, "/account/ada/resetapikey", {})).status == 403


@shows("account-proof")
@pytest_twisted.ensureDeferred
async def test_code_of_the_app_is_a_proof_and_a_recovery_code_is_not(served):
    ada = await newcomer(served, "ada")
    secret, codes = await set_up_app(served, ada, "ada")
    await pass_time(served, minutes=11)
    assert (await ada.send_form("/account/prove", {"code": codes[0]})).json()["status"] == "error"
    code = await code_of(served, secret)
    assert (await ada.send_form("/account/prove", {"code": code})).json()["status"] == "success"
    assert (await ada.send_form("/account/ada/resetapikey", {}, "/account/prove")).status == 200


@pytest_twisted.ensureDeferred
async def test_proof_of_one_session_is_none_of_another(served):
    ada, other = await newcomer(served, "ada"), await signed_in(served, "ada")
    await pass_time(served, minutes=11)
    await prove(ada)
    assert (await send(ada, "/account/ada/resetapikey", {})).status == 200
    assert (await send(other, "/account/ada/resetapikey", {})).status == 403


@shows("account-proof")
@pytest_twisted.ensureDeferred
async def test_proof_lasts_as_long_as_the_setting_says(serve):
    served = await serve(CROWDD_ACCOUNTS_PROOF_MINUTES="60")
    ada = await newcomer(served, "ada")
    await pass_time(served, minutes=59)
    assert (await send(ada, "/account/ada/resetapikey", {})).status == 200
    await pass_time(served, minutes=2)
    assert (await send(ada, "/account/ada/resetapikey", {})).status == 403


@shows("account-key-shown")
@pytest_twisted.ensureDeferred
async def test_api_key_is_shown_after_a_proof_or_to_the_key_itself(served):
    program = await served.person("ada")
    ada = await signed_in(served, "ada")
    me = f"/api/user/{program.user_id}"
    assert (await ada.page("/account/profile")).json()["user"]["api_key"] == program.key
    assert (await ada.get(me)).json()["api_key"] == program.key == (await program.get(me)).json()["api_key"]
    await pass_time(served, minutes=11)
    assert (await ada.page("/account/profile")).json()["user"]["api_key"] is None
    assert "api_key" not in (await ada.get(me)).json()
    html = (await ada.get("/account/profile")).text
    assert program.key not in html and "/account/prove?next=/account/profile" in html


@shows("user-admin")
@pytest_twisted.ensureDeferred
async def test_administrators_key_does_not_read_keys_of_others(served):
    grace, ada = await served.person("grace", admin=True), await served.person("ada")
    assert "api_key" not in (await grace.get(f"/api/user/{ada.user_id}")).json()
    browser = await signed_in(served, "grace")
    assert (await browser.get(f"/api/user/{ada.user_id}")).json()["api_key"] == ada.key


@shows("user-put-admin")
@pytest_twisted.ensureDeferred
async def test_administrators_are_not_made_over_the_api_without_a_proof(served):
    grace, ada = await served.person("grace", admin=True), await served.person("ada")
    refused = await grace.put(f"/api/user/{ada.user_id}", json={"admin": True})
    assert (refused.status, refused.json()["error_code"]) == (403, "session_needed")
    browser = await signed_in(served, "grace")
    await pass_time(served, minutes=11)
    refused = await browser.put(f"/api/user/{ada.user_id}", json={"admin": True})
    assert (refused.status, refused.json()["error_code"]) == (403, "proof_needed")
    await prove(browser)
    assert (await browser.put(f"/api/user/{ada.user_id}", json={"admin": True})).json()["admin"] is True


# Administrators --------------------------------------------------------------------------------------------------------


@shows("admin-who")
@pytest_twisted.ensureDeferred
async def test_administration_asks_again_after_half_an_hour_without_use(served):
    grace = await admin(served, "grace")
    for _turn in range(3):
        await pass_time(served, minutes=29)
        assert (await grace.page("/admin/users")).status == 200
    await pass_time(served, minutes=31)
    refused = await grace.page("/admin/users")
    assert (refused.status, refused.json()["error_code"]) == (403, "proof_needed")
    assert (await grace.get("/admin/users")).header("location") == "/account/prove?next=/admin/users"
    assert await who(grace) == "grace"
    await prove(grace)
    assert (await grace.page("/admin/users")).status == 200


@shows("admin-who")
@pytest_twisted.ensureDeferred
async def test_administration_asks_again_after_twelve_hours_of_use(served):
    grace = await admin(served, "grace")
    for _turn in range(25):
        await pass_time(served, minutes=28)
        assert (await grace.page("/admin/users")).status == 200
    await pass_time(served, minutes=25)
    assert (await grace.page("/admin/users")).json()["error_code"] == "proof_needed"


@shows("admin-who")
@pytest_twisted.ensureDeferred
async def test_administrators_without_a_second_factor_are_led_to_set_one_up(serve):
    served = await serve(CROWDD_ACCOUNTS_REQUIRE_SECOND_FACTOR="admins")
    grace = await admin(served, "grace")
    assert (await grace.get("/admin/users")).header("location") == "/account/grace/security"
    refused = await grace.page("/admin/users")
    assert (refused.status, refused.json()["error_code"]) == (403, "second_factor_needed")
    await set_up_app(served, grace, "grace")
    assert (await grace.page("/admin/users")).status == 200
    ada = await newcomer(served, "ada")
    assert (await ada.page("/admin/users")).json()["error_code"] == "forbidden"


# Sessions --------------------------------------------------------------------------------------------------------------


@shows("session-server")
@pytest_twisted.ensureDeferred
async def test_session_in_daily_use_ends_after_ninety_days(served):
    ada = await newcomer(served, "ada")
    for _month in range(4):
        await pass_time(served, days=22)
        assert await who(ada) == "ada"
    await pass_time(served, days=3)
    assert await who(ada) is None


@pytest_twisted.ensureDeferred
async def test_letter_tells_of_a_sign_in_on_a_new_device(served):
    ada = await newcomer(served, "ada")
    assert await letters(served, "new_device") == []
    await ada.post(
        "/account/signout", json={}, headers={"X-CSRFToken": (await ada.page("/account/prove")).json()["form"]["csrf"]}
    )
    await sign_in(ada, "ada")
    assert await letters(served, "new_device") == []
    other = served.client(**{"User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0"})
    await sign_in(other, "ada")
    (letter,) = await letters(served, "new_device")
    assert letter["recipient"] == "ada@example.org" and "Firefox on Linux" in letter["text"]
    assert "/account/ada/security" in letter["text"]
    await sign_in(served.client(), "ada", "wrong")
    assert len(await letters(served, "new_device")) == 1


# People without a password ----------------------------------------------------------------------------------------------


@pytest.fixture
def provider():
    made = OpenIdProvider(reactor)
    yield made
    pytest_twisted.blockon(made.stop())


async def age_proof(served):
    """Makes every proof eleven minutes old; the provider's clock stands still."""
    await served.database.execute("UPDATE session SET proved = proved - interval '11 minutes'")


async def consented(browser, address):
    """From the address at the provider back to the site; where it ends."""
    consent = await treq.get(address, allow_redirects=False)
    back = urlsplit(consent.headers.getRawHeaders("location")[0])
    return (await browser.get(f"{back.path}?{back.query}")).header("location")


async def through(browser):
    """Out to the provider and back, to sign in or to connect."""
    return await consented(browser, (await browser.page("/google/")).json()["next"])


async def prove_there(browser, next_="/"):
    """The same as a proof."""
    answer = await browser.send_form("/account/prove/google", {"next": next_}, "/account/prove")
    assert answer.status == 200, answer.body
    return await consented(browser, answer.json()["next"])


@shows("account-providers-connect")
@pytest_twisted.ensureDeferred
async def test_people_without_a_password_prove_with_their_provider(serve, provider):
    served = await serve(**provider.settings("google"))
    ada = served.client()
    await through(ada)
    name = await who(ada)
    await age_proof(served)
    assert (await ada.get(f"/account/{name}/tokens")).header("location").startswith("/account/prove")
    assert "/account/prove/google" in (await ada.get("/account/prove")).text
    assert await prove_there(ada, f"/account/{name}/tokens") == f"/account/{name}/tokens"
    assert (await ada.get(f"/account/{name}/tokens")).status == 200


@pytest_twisted.ensureDeferred
async def test_another_account_there_proves_nothing(serve, provider):
    served = await serve(**provider.settings("google"))
    ada = served.client()
    await through(ada)
    await age_proof(served)
    provider.person = Person("somebody-else", "Eve", "eve@example.org")
    await prove_there(ada)
    assert (await ada.get(f"/account/{await who(ada)}/tokens")).header("location").startswith("/account/prove")


@pytest_twisted.ensureDeferred
async def test_connecting_a_provider_needs_a_proof(serve, provider):
    served = await serve(**provider.settings("google"))
    ada = await newcomer(served, "ada")
    await age_proof(served)
    assert (await ada.get("/google/")).header("location").startswith("/account/prove")
    assert (await ada.page("/google/")).json()["error_code"] == "proof_needed"
    assert (await ada.send_form("/account/prove/google", {}, "/account/prove")).status == 403
    await prove(ada)
    assert await through(ada) == "/account/ada/update"


@pytest_twisted.ensureDeferred
async def test_provider_does_not_replace_the_second_factor(serve, provider):
    served = await serve(**provider.settings("google"))
    ada = served.client()
    await through(ada)
    await set_up_app(served, ada, await who(ada))
    again = served.client()
    assert await through(again) == "/account/signin/second" and await who(again) is None
