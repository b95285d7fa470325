"""Passkeys in Chromium, with a virtual authenticator: registered, used to sign in, as second factor, and removed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import psycopg2
import pytest
from authenticators import PASSWORD, Visitor
from support.checks.shows import shows

pytestmark = pytest.mark.browser


@pytest.fixture
def visitor(browser: Any, live_server: Any) -> Iterator[Callable[[], Visitor]]:
    made: list[Visitor] = []

    def come() -> Visitor:
        made.append(Visitor(browser, live_server.url))
        return made[-1]

    yield come
    for each in made:
        each.context.close()


@pytest.fixture
def ada(visitor: Callable[[], Visitor], live_server: Any) -> Visitor:
    """Somebody with a proved address and a passkey, signed in."""
    person = visitor()
    person.register()
    with psycopg2.connect(live_server.dsn) as database, database.cursor() as cursor:
        cursor.execute("UPDATE account SET valid_email = true WHERE name = %s", (person.name,))
    person.add_passkey("Laptop")
    return person


@shows("account-passkeys")
def test_passkey_is_registered_and_signs_in_without_a_password(ada: Visitor) -> None:
    assert len(ada.page.locator(".codes li").all()) == 10
    ada.go(f"/account/{ada.name}/passkeys")
    assert "Laptop" in ada.page.inner_text("main") and len(ada.credentials()) == 1
    ada.sign_out()
    assert ada.who is None
    ada.go(f"/account/signin?next=/account/{ada.name}/projects")
    ada.click("form[data-passkey=signin] button")
    assert ada.who == ada.name and ada.page.url.endswith(f"/account/{ada.name}/projects")
    assert ada.wrong == []


@pytest.mark.proof
def test_passkey_is_the_second_factor_after_the_password(ada: Visitor) -> None:
    ada.sign_out()
    ada.fill_in_password(PASSWORD)
    assert ada.page.url.endswith("/account/signin/second") and ada.who is None
    ada.use_passkey("second")
    assert ada.who == ada.name


def test_passkey_is_a_proof(ada: Visitor) -> None:
    ada.go(f"/account/prove?next=/account/{ada.name}/tokens")
    ada.click("form[data-passkey=prove] button")
    assert ada.page.url.endswith(f"/account/{ada.name}/tokens")


def test_answer_of_a_passkey_is_accepted_once(ada: Visitor) -> None:
    ada.sign_out()
    ada.go("/account/signin")
    cookies = {}
    sent: list[str] = []

    def note(request: Any) -> None:
        if request.url.endswith("/account/signin/passkey"):
            sent.append(request.post_data)
            cookies.update(request.all_headers())

    ada.page.on("request", note)
    ada.click("form[data-passkey=signin] button")
    assert ada.who == ada.name and len(sent) == 1
    fresh = ada.context.browser.new_context()
    headers = {"Cookie": cookies["cookie"], "Content-Type": "application/x-www-form-urlencoded", "Origin": ada.url}
    address = f"{ada.url}/account/signin/passkey"
    again = fresh.request.post(address, data=sent[0], headers=headers, max_redirects=0)
    assert again.status == 302 and "session=" not in again.headers.get("set-cookie", "")
    fresh.close()


def test_cloned_authenticator_is_refused(ada: Visitor) -> None:
    """A copy of the key counts from where it was copied; the counter that we know is higher by then."""
    (copied,) = ada.credentials()
    for _turn in range(2):
        ada.sign_out()
        ada.go("/account/signin")
        ada.click("form[data-passkey=signin] button")
    assert ada.who == ada.name
    ada.sign_out()
    ada.session.send("WebAuthn.clearCredentials", {"authenticatorId": ada.authenticator})
    ada.session.send("WebAuthn.addCredential", {"authenticatorId": ada.authenticator, "credential": copied})
    ada.go("/account/signin")
    ada.click("form[data-passkey=signin] button")
    assert ada.who is None and "not accepted" in ada.page.inner_text("body")


@pytest.mark.proof
def test_device_that_does_not_check_its_person_is_no_sign_in(ada: Visitor) -> None:
    ada.sign_out()
    setting = {"authenticatorId": ada.authenticator, "isUserVerified": False}
    ada.session.send("WebAuthn.setUserVerified", setting)
    ada.go("/account/signin")
    ada.page.click("form[data-passkey=signin] button")
    # Locators, because the policy of the page refuses what wait_for_function evaluates again.
    refusals = ada.page.locator("[data-passkey-error]:not([hidden])").or_(ada.page.get_by_text("did not verify"))
    refusals.first.wait_for()
    assert ada.who is None


@shows("account-passkeys")
def test_removed_passkey_signs_nobody_in(ada: Visitor) -> None:
    ada.go(f"/account/{ada.name}/passkeys")
    ada.click("button[name=remove]")
    ada.sign_out()
    ada.go("/account/signin")
    ada.click("form[data-passkey=signin] button")
    assert ada.who is None and "not accepted" in ada.page.inner_text("body")
