"""Passkeys in Chromium, with a virtual authenticator: registered, used to sign in, as second factor, and removed."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from support.checks.shows import shows

pytestmark = pytest.mark.browser
PASSWORD = "a good password"
AUTHENTICATOR = {
    "protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True,
    "isUserVerified": True, "automaticPresenceSimulation": True,
}  # fmt: skip


class Visitor:
    """A browser context with a virtual authenticator, at the address where passkeys work."""

    def __init__(self, browser: Any, url: str) -> None:
        self.url = url.replace("127.0.0.1", "localhost")
        self.context = browser.new_context()
        self.context.set_default_timeout(45_000)
        self.page, self.wrong = self.context.new_page(), list[str]()
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.session = self.context.new_cdp_session(self.page)
        self.session.send("WebAuthn.enable")
        made = self.session.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR})
        self.authenticator = made["authenticatorId"]
        self.name = f"person{uuid.uuid4().hex[:8]}"

    def go(self, path: str) -> None:
        self.page.goto(self.url + path)

    def click(self, selector: str) -> None:
        """Presses a button that leads to another page."""
        with self.page.expect_navigation():
            self.page.click(selector)

    def register(self) -> None:
        self.go("/account/register")
        values = {"fullname": "Ada King", "name": self.name, "email_addr": f"{self.name}@example.org"}
        for field, value in {**values, "password": PASSWORD, "confirm": PASSWORD}.items():
            self.page.fill(f"#{field}", value)
        self.click("main form button.main")

    def add_passkey(self, label: str) -> None:
        self.go(f"/account/{self.name}/passkeys")
        self.page.fill("#name", label)
        self.click("form[data-passkey=register] button")

    def sign_out(self) -> None:
        with self.page.expect_navigation():
            self.page.evaluate("document.getElementById('sign-out').submit()")

    def credentials(self) -> list[Any]:
        response = self.session.send("WebAuthn.getCredentials", {"authenticatorId": self.authenticator})
        return response["credentials"]

    @property
    def who(self) -> str | None:
        answer = self.context.request.get(f"{self.url}/account/profile", headers={"Accept": "application/json"})
        return answer.json().get("user", {}).get("name")


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
def ada(visitor: Callable[[], Visitor]) -> Visitor:
    """Somebody with a passkey, signed in."""
    person = visitor()
    person.register()
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
    ada.go("/account/signin")
    ada.page.fill("#email", ada.name)
    ada.page.fill("#password", PASSWORD)
    ada.click("main form:not([data-passkey]) button.main")
    assert ada.page.url.endswith("/account/signin/second") and ada.who is None
    ada.click("form[data-passkey=second] button")
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
