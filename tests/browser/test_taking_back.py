"""An account that its person takes back by a letter from somebody with a passkey and an authenticator app, in Chromium.

The letters are real: crowdd sends them to a mail server. Passkeys are of a virtual authenticator.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyotp
import pytest
from authenticators import PASSWORD, Visitor
from support.checks.proofs import examples
from support.checks.shows import shows
from support.servers.live import LiveServer
from support.servers.mail_server import MailServer

pytestmark = pytest.mark.browser
NEW = "another good one"


class Holder(Visitor):
    """Somebody who signed up with the address of ada before ada did."""

    secret = ""

    @property
    def address(self) -> str:
        return f"{self.name}@example.org"

    def add_app(self) -> None:
        """Sets an authenticator app up."""
        self.go(f"/account/{self.name}/authenticator")
        self.secret = self.page.input_value("#secret")
        self.page.fill("#code", pyotp.TOTP(self.secret).now())
        self.click("main form:has(#code) button.main")

    def add_factors(self) -> None:
        """Sets up all that outlives a password."""
        self.add_passkey("Phone of the holder")
        self.add_app()

    def asks_to_confirm(self) -> None:
        """Has the site write to the address."""
        self.go("/account/confirm-email")
        self.click("main form button")


class Ada(Visitor):
    """The person who reads the letters."""

    def open_link(self, link: str) -> None:
        self.page.goto(link.replace("127.0.0.1", "localhost"))

    def asks_for_letter(self, address: str) -> None:
        self.go("/account/forgot-password")
        self.page.fill("#email_addr", address)
        self.click("main form button.main")

    def choose_password(self, *keep: str) -> None:
        """Sends the form of the page in the letter, with these boxes ticked."""
        for label in keep:
            self.page.get_by_label(label).check()
        self.page.fill("#new_password", NEW)
        self.page.fill("#confirm", NEW)
        self.click("main form button.main")


@pytest.fixture(scope="module")
def site(postgres: Any) -> Iterator[tuple[LiveServer, MailServer]]:
    """A site with mail whose operator lets people sign up without a letter, and the mail server."""
    folder = Path(tempfile.mkdtemp(prefix="crowdd-mail-", dir="/tmp"))
    post = MailServer(folder / "letters")
    data = folder / "data"
    data.mkdir()
    server = LiveServer(postgres.make(), data, CROWDD_ACCOUNTS_CONFIRM_EMAIL="off", **post.settings)
    server.start()
    yield server, post
    server.stop()
    post.stop()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def post(site: tuple[LiveServer, MailServer]) -> MailServer:
    return site[1]


@pytest.fixture
def come(browser: Any, site: tuple[LiveServer, MailServer]) -> Iterator[Callable[[type[Any]], Any]]:
    """Makes people: each is a browser of their own with an authenticator of their own."""
    made: list[Visitor] = []

    def come(kind: type[Any]) -> Any:
        made.append(kind(browser, site[0].url))
        return made[-1]

    yield come
    for each in made:
        each.context.close()


def try_passkey(holder: Holder) -> str | None:
    """Who the holder's passkey signs in, alone."""
    holder.context.clear_cookies()
    holder.go("/account/signin")
    holder.use_passkey("signin")
    return holder.who


def prove_address(holder: Holder, ada: Ada, post: MailServer) -> None:
    """Ada opens the link of a letter that the holder had the site send."""
    holder.asks_to_confirm()
    ada.open_link(post.link_to(holder.address, "/account/register/confirmation"))
    ada.click("main form button")


def recover(holder: Holder, ada: Ada, post: MailServer, *keep: str) -> str:
    """Ada resets the password by a letter; what the page in the letter said."""
    ada.asks_for_letter(holder.address)
    ada.open_link(post.link_to(holder.address, "/account/reset-password"))
    shown = ada.page.inner_text("main")
    ada.choose_password(*keep)
    return str(shown)


@shows("account-ways-in", "account-passkeys")
@examples("True")
@pytest.mark.parametrize("confirmed", [False, True])
def test_factors_from_before_the_proof_end_with_the_letter(
    come: Callable[[type[Any]], Any], post: MailServer, confirmed: bool
) -> None:
    """Ada may even have confirmed the address after the holder had set them up."""
    holder, ada = come(Holder), come(Ada)
    holder.register()
    holder.add_factors()
    if confirmed:
        prove_address(holder, ada, post)
    assert try_passkey(holder) is None and "before the e-mail address was confirmed" in holder.page.inner_text("body")
    holder.fill_in_password(PASSWORD)
    holder.use_passkey("second")
    assert holder.who == holder.name, "after the password it is a second factor"
    shown = recover(holder, ada, post)
    assert "Did you set these up yourself?" not in shown
    assert ada.who == holder.name, "no factor of somebody else is asked for"
    assert "Removed from your account: Passkeys, Recovery codes, Authenticator app." in ada.page.inner_text("body")
    assert holder.who is None and try_passkey(holder) is None
    holder.fill_in_password(PASSWORD)
    assert holder.who is None and "/second" not in holder.page.url
    ada.go(f"/account/{holder.name}/security")
    assert "None. Sign in with your fingerprint" in ada.page.inner_text("main")
    assert holder.wrong == ada.wrong == []


@shows("account-ways-in")
@pytest.mark.proof
def test_factors_from_after_the_proof_are_shown_and_end_unless_they_are_confirmed(
    come: Callable[[type[Any]], Any], post: MailServer
) -> None:
    holder, ada = come(Holder), come(Ada)
    holder.register()
    prove_address(holder, ada, post)
    holder.add_factors()
    assert try_passkey(holder) == holder.name, "the address was proved when it was added"
    shown = recover(holder, ada, post)
    assert "Did you set these up yourself?" in shown and "Passkey: Phone of the holder" in shown
    assert shown.count("added on") == 3, "the passkey, the app and the recovery codes, each with its date"
    assert ada.who == holder.name, "no factor of somebody else is asked for"
    assert holder.who is None and try_passkey(holder) is None
    assert "not accepted" in holder.page.inner_text("body")


@shows("account-ways-in")
@pytest.mark.proof
def test_a_passkey_that_its_person_confirms_stays_and_is_asked_for(
    come: Callable[[type[Any]], Any], post: MailServer
) -> None:
    """Ada herself signed up, and has forgotten the password."""
    ada = come(Holder)
    ada.register()
    reader = come(Ada)
    prove_address(ada, reader, post)
    ada.add_factors()
    ada.sign_out()
    ada.go("/account/forgot-password")
    ada.page.fill("#email_addr", ada.address)
    ada.click("main form button.main")
    ada.page.goto(post.link_to(ada.address, "/account/reset-password").replace("127.0.0.1", "localhost"))
    Ada.choose_password(ada, "Passkey: Phone of the holder")
    assert ada.page.url.endswith("/account/signin/second") and ada.who is None
    ada.use_passkey("second")
    assert ada.who == ada.name
    ada.go(f"/account/{ada.name}/security")
    assert "Not set up. An app" in ada.page.inner_text("main"), "what was not confirmed is gone"
    assert try_passkey(ada) == ada.name
