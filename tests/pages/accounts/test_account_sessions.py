"""Where somebody is signed in, and signing out there."""

import pytest
import pytest_twisted
from support.browsers import newcomer, signed_in, who
from support.checks.shows import shows

from crowdd.features.accounts import session_statements
from crowdd.features.accounts.feature import AccountsFeature
from crowdd.features.accounts.sessions import device_words

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0"


async def listed(browser, name="ada"):
    page = (await browser.page(f"/account/{name}/sessions")).json()
    assert page.keys() == {"sessions", "form", "template", "title"}
    return page["sessions"]


async def end(browser, which, name="ada"):
    return await browser.send_form(f"/account/{name}/sessions", {"session": which})


@shows("account-sessions")
@pytest_twisted.ensureDeferred
async def test_sessions_are_listed_without_what_opens_them(served):
    ada = await newcomer(served, "ada")
    other = served.client(**{"User-Agent": FIREFOX})
    await other.send_form("/account/signin", {"email": "ada", "password": "a good password"})
    sessions = await listed(ada)
    assert [session.keys() for session in sessions] == [{"id", "device", "created", "last_seen", "current"}] * 2
    assert {(session["device"], session["current"]) for session in sessions} == {
        ("Firefox on Linux", False),
        ("?", True),
    }
    shown = (await ada.page("/account/ada/sessions")).text + (await ada.get("/account/ada/sessions")).text
    assert ada.cookies["session"] not in shown and other.cookies["session"] not in shown


@shows("account-sessions")
@pytest_twisted.ensureDeferred
async def test_one_session_is_ended_and_the_others_go_on(served):
    ada, other = await newcomer(served, "ada"), await signed_in(served, "ada")
    (foreign,) = [session["id"] for session in await listed(ada) if not session["current"]]
    assert (await end(ada, foreign)).json()["status"] == "success"
    assert (await who(ada), await who(other)) == ("ada", None)
    assert (await end(ada, foreign)).status == 404 and (await end(ada, "nonsense")).status == 415


@pytest_twisted.ensureDeferred
async def test_nobody_ends_a_session_of_somebody_else(served):
    ada, bob = await newcomer(served, "ada"), await newcomer(served, "bob")
    (mine,) = [session["id"] for session in await listed(ada)]
    assert (await end(bob, mine, "bob")).status == 404 and await who(ada) == "ada"


@shows("account-sessions")
@pytest_twisted.ensureDeferred
async def test_signing_out_everywhere(served):
    ada, other, bob = await newcomer(served, "ada"), await signed_in(served, "ada"), await newcomer(served, "bob")
    answer = await end(ada, "all")
    assert answer.json()["next"] == "/account/signin" and "session" not in ada.cookies
    assert (await who(ada), await who(other), await who(bob)) == (None, None, "bob")


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        (FIREFOX, "Firefox on Linux"),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1 Version/17.5 Safari/604.1", "Safari on iPhone"),
        ("Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/130.0 Safari/537.36 Edg/130.0", "Edge on Windows"),
        ("Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 Chrome/130.0 Mobile Safari/537.36", "Chrome on Android"),
        ("curl/8.5.0", "curl"), ("<script>alert(1)</script>", "<script>alert"), ("", "?"),
    ],
)  # fmt: skip
def test_a_browser_in_words(agent, words):
    assert device_words(agent) == words


@shows("account-signout")
@pytest_twisted.ensureDeferred
async def test_a_browser_that_signs_out_forgets_what_scripts_stored_and_keeps_its_other_cookies(served):
    ada = await newcomer(served, "ada")
    await ada.send_form("/preferences", {"theme": "dark"}, token_from="/account/ada/sessions")
    page = await ada.page("/account/profile")
    assert page.header("clear-site-data") is None
    before = set(ada.cookies)
    left = await ada.send_form("/account/signout", {}, token_from="/account/ada/sessions")
    assert left.status == 200 and left.header("clear-site-data") == '"storage"'
    assert set(ada.cookies) == before - {"session"} and "theme" in before
    again = await signed_in(served, "ada")
    assert (await end(again, "all")).header("clear-site-data") == '"storage"'


@shows("account-session-limit")
@pytest_twisted.ensureDeferred
async def test_a_further_sign_in_ends_the_session_used_least_recently(served, monkeypatch):
    monkeypatch.setattr(session_statements, "MAX_SESSIONS", 3)
    first, bob = await newcomer(served, "ada"), await newcomer(served, "bob")
    second, third = await signed_in(served, "ada"), await signed_in(served, "ada")
    await served.database.execute(
        "UPDATE session SET last_seen = last_seen - interval '1 day' WHERE id ="
        " (SELECT id FROM session WHERE user_id = %(ada)s ORDER BY id OFFSET 1 LIMIT 1)",
        {"ada": (await served.house[AccountsFeature].accounts.find_by_name("ada"))["id"]},
    )
    fourth = await signed_in(served, "ada")
    assert [await who(browser) for browser in (first, second, third, fourth)] == ["ada", None, "ada", "ada"]
    assert len(await listed(fourth)) == 3 and await who(bob) == "bob"
