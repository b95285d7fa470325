"""New passwords: which are refused where, and what the meter beside the field says."""

from __future__ import annotations

import pytest
import pytest_twisted
from argon2 import PasswordHasher
from support.browsers import newcomer, registration, sign_in
from support.checks.shows import shows

from crowdd.features.accounts.feature import AccountsFeature

COMMON = ["This is one of the most common passwords."]
OWN = ["Leave out the name of this site, your name and your e-mail address, or add more beside them."]


@shows("account-passwords")
@pytest.mark.parametrize(
    ("password", "mistakes"),
    [("password123", COMMON), ("lovelace12", OWN), ("short-one", ["Use 10 to 1000 characters."])],
)
@pytest_twisted.ensureDeferred
async def test_a_poor_password_is_refused_at_sign_up(served, password, mistakes):
    form = registration("ada", fullname="Ada Lovelace", password=password, confirm=password)
    refused = (await served.client().send_form("/account/register", form)).json()
    assert refused["form"]["errors"] == {"password": mistakes}


@shows("account-passwords")
@pytest_twisted.ensureDeferred
async def test_a_poor_password_is_refused_in_the_settings_and_by_the_first_administrator(served):
    link = await served.house[AccountsFeature].accounts.first_admin_link()
    form = registration("boss", password="password123", confirm="password123")
    refused = (await served.client().send_form(f"/account/first-admin?key={link}", form)).json()
    assert refused["form"]["errors"] == {"password": COMMON}
    ada = await newcomer(served, "ada")
    form = (await ada.page("/account/ada/update")).json()["password_form"]
    body = {"btn": "Password", "current_password": "x", "new_password": "password123", "confirm": "password123"}
    refused = (await ada.post("/account/ada/update", json=body, headers={"X-CSRFToken": form["csrf"]})).json()
    assert refused["password_form"]["errors"] == {"new_password": COMMON}


@pytest_twisted.ensureDeferred
async def test_passwords_that_people_have_go_on_working(served):
    await served.person("ada")
    old = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash("123456")
    await served.database.execute("UPDATE account SET passwd_hash = %(old)s", {"old": old})
    assert (await sign_in(served.client(), "ada", "123456")).json()["status"] == "success"


@shows("account-passwords")
@pytest_twisted.ensureDeferred
async def test_the_meter_says_what_the_form_would_say(served):
    browser = served.client()
    token = (await browser.page("/account/register")).json()["form"]["csrf"]

    async def meter(password, **more):
        body = {"password": password, "name": "ada", "fullname": "Ada Lovelace", "email_addr": "", **more}
        answer = await browser.post("/account/password-strength", json=body, headers={"X-CSRFToken": token})
        assert answer.status == 200 and answer.header("cache-control") == "no-store"
        return answer.json()

    assert await meter("short") == {
        "score": 0, "acceptable": False,
        "words": "Use 10 characters or more. Use several words that do not belong together.",
    }  # fmt: skip
    own = await meter("lovelace12")
    assert (own["score"], own["acceptable"]) == (1, False) and own["words"].startswith(OWN[0])
    good = {"score": 4, "acceptable": True, "words": "This is a good password."}
    assert await meter("correct horse battery staple") == good
    unasked = await served.client().post("/account/password-strength", json={"password": "x"})
    assert unasked.status == 400 and unasked.json()["reason"] == "csrf"
