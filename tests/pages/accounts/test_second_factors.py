"""Second factors: authenticator apps by pyotp, recovery codes, and the second step of signing in."""

import pyotp
import pytest
import pytest_twisted
from support.browsers import newcomer, sign_in, signed_in, who
from support.checks.shows import shows
from support.factors import code_of, letters, now, pass_time, set_up_app
from twisted.internet.defer import ensureDeferred, gatherResults

from crowdd.features.signin.feature import SigninFeature
from crowdd.features.signin.second_factors import matching_step

SECOND = "/account/signin/second"


async def with_app(served, name="ada"):
    """Somebody with an authenticator app: a browser that is signed in, the secret, the recovery codes."""
    browser = await newcomer(served, name)
    return browser, *await set_up_app(served, browser, name)


async def half_in(served, name="ada"):
    """A browser that gave the right password, and owes the second factor."""
    browser = served.client()
    answer = (await sign_in(browser, name)).json()
    assert (answer["next"], answer["status"]) == (SECOND, "second_factor")
    return browser


async def give(browser, code):
    return await browser.send_form(SECOND, {"code": code})


@shows("account-authenticator")
@pytest_twisted.ensureDeferred
async def test_app_is_set_up_by_its_first_code(served):
    ada = await newcomer(served, "ada")
    at = "/account/ada/authenticator"
    shown = (await ada.page(at)).json()["authenticator"]
    assert shown["uri"].startswith("otpauth://totp/") and shown["secret"] in shown["uri"]
    wrong = await ada.send_form(at, {"code": "000000"})
    assert wrong.json()["status"] == "error" and wrong.json()["form"]["errors"]["code"]
    assert (await ada.page(at)).json()["authenticator"]["secret"] == shown["secret"]
    right = (await ada.send_form(at, {"code": await code_of(served, shown["secret"])})).json()
    assert right["status"] == "success" and len(set(right["codes"])) == 10
    after = (await ada.page(at)).json()["authenticator"]
    assert after["since"] and after["secret"] is None
    assert [letter["recipient"] for letter in await letters(served, "second_factor_changed")] == ["ada@example.org"]


@pytest_twisted.ensureDeferred
async def test_page_of_the_app_has_a_qr_code(served):
    ada = await newcomer(served, "ada")
    html = (await ada.get("/account/ada/authenticator")).text
    assert '<svg class="qr"' in html and 'd="M' in html


@shows("account-signin-second", "format-status")
@pytest_twisted.ensureDeferred
async def test_password_alone_no_longer_signs_in(served):
    _ada, secret, _codes = await with_app(served)
    browser = await half_in(served)
    assert await who(browser) is None and "session" not in browser.cookies
    assert (await give(browser, "123456")).json()["form"]["errors"]["code"]
    assert await who(browser) is None
    answer = (await give(browser, await code_of(served, secret))).json()
    assert (answer["status"], await who(browser)) == ("success", "ada")


@pytest_twisted.ensureDeferred
async def test_browser_is_led_to_the_second_step_and_on_to_where_it_went(served):
    _ada, secret, _codes = await with_app(served)
    browser = served.client()
    token = (await browser.page("/account/signin")).json()["form"]["csrf"]
    form = {"email": "ada", "password": "a good password", "next": "/about", "csrf_token": token}
    answer = await browser.post("/account/signin", data=form)
    assert (answer.status, answer.header("location")) == (302, SECOND)
    assert "authenticator app" in (await browser.get(SECOND)).text
    token = (await browser.page(SECOND)).json()["form"]["csrf"]
    done = await browser.post(SECOND, data={"code": await code_of(served, secret), "csrf_token": token})
    assert (done.status, done.header("location")) == (302, "/about")


@shows("account-signin-second")
@pytest_twisted.ensureDeferred
async def test_code_is_accepted_once(served):
    _ada, secret, _codes = await with_app(served)
    first, second = await half_in(served), await half_in(served)
    code = await code_of(served, secret)
    assert (await give(first, code)).json()["status"] == "success"
    assert (await give(second, code)).json()["status"] == "error" and await who(second) is None
    assert (await give(second, await code_of(served, secret, steps=-1))).json()["status"] == "error"


@pytest_twisted.ensureDeferred
async def test_one_code_sent_twice_at_once_signs_in_once(served):
    _ada, secret, _codes = await with_app(served)
    browsers = [await half_in(served) for _number in range(4)]
    code = await code_of(served, secret)
    answers = await gatherResults([ensureDeferred(give(browser, code)) for browser in browsers])
    assert sorted(answer.json()["status"] for answer in answers) == ["error", "error", "error", "success"]


@pytest_twisted.ensureDeferred
async def test_clock_of_the_phone_may_be_half_a_minute_off(served):
    _ada, secret, _codes = await with_app(served)
    for steps, status in ((-1, "success"), (1, "success"), (2, "error"), (-2, "error")):
        # The beginning of a half minute: the code must not change between its calculation and its check.
        await pass_time(served, seconds=150 - await now(served) % 30)
        browser = await half_in(served)
        answer = await give(browser, await code_of(served, secret, steps=steps))
        assert answer.json()["status"] == status, steps


@pytest.mark.parametrize(("steps", "found"), [(-2, None), (-1, 99), (0, 100), (1, 101), (2, None)])
def test_matching_step_of_a_code(steps, found):
    secret = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
    assert matching_step(secret, pyotp.TOTP(secret).at(3000 + 30 * steps), 3000.0) == found


@pytest_twisted.ensureDeferred
async def test_second_step_is_throttled_from_everywhere(serve):
    served = await serve(CROWDD_ACCOUNTS_MAX_LOGIN_FAILURES="3")
    _ada, secret, _codes = await with_app(served)
    browser = await half_in(served)
    answers = await gatherResults([ensureDeferred(give(browser, f"00000{n}")) for n in range(8)])
    assert {answer.status for answer in answers} <= {200, 429}
    assert sum(answer.status == 200 for answer in answers) <= 3
    assert (await give(await half_in(served), await code_of(served, secret))).status == 429
    await pass_time(served, minutes=16)
    assert (await give(await half_in(served), await code_of(served, secret))).json()["status"] == "success"


@shows("account-signin-second")
@pytest_twisted.ensureDeferred
async def test_second_step_ends_after_five_minutes(served):
    _ada, secret, _codes = await with_app(served)
    browser = await half_in(served)
    token = (await browser.page(SECOND)).json()["form"]["csrf"]
    await pass_time(served, minutes=6)
    body = {"code": await code_of(served, secret)}
    answer = (await browser.post(SECOND, json=body, headers={"X-CSRFToken": token})).json()
    assert (answer["next"], answer["status"]) == ("/account/signin", "error") and await who(browser) is None


@pytest_twisted.ensureDeferred
async def test_second_step_without_a_password_leads_to_sign_in(served):
    answer = (await served.client().page(SECOND)).json()
    assert (answer["next"], answer["status"]) == ("/account/signin", "error")


@shows("account-signin-second")
@pytest_twisted.ensureDeferred
async def test_recovery_code_signs_in_once(served):
    _ada, _secret, codes = await with_app(served)
    spoken = codes[0].upper().replace("-", " ")
    assert (await give(await half_in(served), spoken)).json()["status"] == "success"
    assert (await give(await half_in(served), codes[0])).json()["status"] == "error"
    (letter,) = await letters(served, "recovery_code_used")
    assert letter["recipient"] == "ada@example.org" and "9" in letter["text"] and codes[0] not in letter["text"]


@pytest_twisted.ensureDeferred
async def test_recovery_code_used_twice_at_once_signs_in_once(served):
    _ada, _secret, codes = await with_app(served)
    browsers = [await half_in(served) for _number in range(4)]
    answers = await gatherResults([ensureDeferred(give(browser, codes[3])) for browser in browsers])
    assert sorted(answer.json()["status"] for answer in answers) == ["error", "error", "error", "success"]
    assert len(await letters(served, "recovery_code_used")) == 1


@pytest_twisted.ensureDeferred
async def test_new_recovery_codes_end_the_earlier_ones(served):
    ada, _secret, codes = await with_app(served)
    new = (await ada.send_form("/account/ada/recovery-codes", {})).json()["codes"]
    assert len(new) == 10 and not set(new) & set(codes)
    assert (await give(await half_in(served), codes[0])).json()["status"] == "error"
    assert (await give(await half_in(served), new[0])).json()["status"] == "success"


@shows("account-authenticator")
@pytest_twisted.ensureDeferred
async def test_recovery_codes_are_stored_as_hashes_and_shown_once(served):
    ada, _secret, codes = await with_app(served)
    rows = await served.database.fetch("SELECT code_hash::text AS stored FROM recovery_code")
    assert len(rows) == 10 and not any(code.replace("-", "") in row["stored"] for code in codes for row in rows)
    page = await ada.page("/account/ada/recovery-codes")
    assert page.json()["left"] == 10 and page.json()["codes"] == []


@pytest_twisted.ensureDeferred
async def test_no_recovery_codes_without_a_second_factor(served):
    ada = await newcomer(served, "ada")
    assert (await ada.send_form("/account/ada/recovery-codes", {})).status == 404


@pytest_twisted.ensureDeferred
async def test_removing_the_last_factor_ends_the_second_step_and_the_codes(served):
    ada, _secret, _codes = await with_app(served)
    await ada.send_form("/account/ada/authenticator", {"btn": "Remove"})
    assert await who(await signed_in(served, "ada")) == "ada"
    assert await served.database.fetch("SELECT FROM recovery_code") == []


@pytest_twisted.ensureDeferred
async def test_new_password_by_letter_keeps_the_second_factor_that_its_person_confirms(served):
    ada = await newcomer(served, "ada")
    await served.database.execute("UPDATE account SET valid_email = true")
    secret, _codes = await set_up_app(served, ada, "ada")
    browser = served.client()
    await browser.send_form("/account/forgot-password", {"email_addr": "ada@example.org"})
    await served.house[SigninFeature].recovery.write(1)
    (letter, *_more) = await letters(served, "reset_password")
    path = letter["text"].partition("/account/reset-password")[2].split()[0]
    form = {"new_password": "another good one", "confirm": "another good one", "keep": ["authenticator"]}
    answer = (await browser.send_form(f"/account/reset-password{path}", form)).json()
    assert (answer["next"], answer["status"]) == (SECOND, "second_factor") and await who(browser) is None
    assert (await give(browser, await code_of(served, secret))).json()["status"] == "success"


@pytest_twisted.ensureDeferred
async def test_nobody_sees_or_changes_factors_of_others(served):
    await with_app(served)
    bob = await newcomer(served, "bob")
    for page in ("security", "authenticator", "passkeys", "recovery-codes", "tokens"):
        assert (await bob.page(f"/account/ada/{page}")).status == 403, page
    token = (await bob.page("/account/bob/authenticator")).json()["form"]["csrf"]
    answer = await bob.post("/account/ada/authenticator", json={"btn": "Remove"}, headers={"X-CSRFToken": token})
    assert answer.status == 403


@shows("account-authenticator")
@pytest_twisted.ensureDeferred
async def test_overview_says_what_protects_the_account(served):
    ada, _secret, _codes = await with_app(served)
    security = (await ada.page("/account/ada/security")).json()["security"]
    assert security == {
        "password": True, "authenticator": True, "passkeys": 0, "recovery_codes": 10, "tokens": 0, "sessions": 1,
    }  # fmt: skip
    html = (await ada.get("/account/ada/security")).text
    assert all(f"/account/ada/{page}" in html for page in ("passkeys", "authenticator", "recovery-codes", "tokens"))


@pytest_twisted.ensureDeferred
async def test_operator_removes_factors_of_somebody_who_lost_them(served):
    from crowdd.kernel.requester import SYSTEM

    await with_app(served)
    assert await served.house[SigninFeature].second_factors.remove_all(1, SYSTEM) == 1
    assert await who(await signed_in(served, "ada")) == "ada"
    acts = await served.database.fetch("SELECT action, via FROM audit WHERE action = 'remove_second_factors'")
    assert [(act["action"], act["via"]) for act in acts] == [("remove_second_factors", "cli")]
    assert "operator" in (await letters(served, "second_factor_changed"))[-1]["text"]
