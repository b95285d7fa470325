"""People in Chromium with a virtual authenticator, which makes passkeys and answers with them."""

from __future__ import annotations

import uuid
from typing import Any

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

    def fill_in_password(self, word: str) -> None:
        """Sends the form of the sign-in page."""
        self.go("/account/signin")
        self.page.fill("#email", self.name)
        self.page.fill("#password", word)
        self.click("main form:not([data-passkey]) button.main")

    def use_passkey(self, purpose: str) -> None:
        """Presses the button for passkeys: signin, second or prove."""
        self.click(f"form[data-passkey={purpose}] button")

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
