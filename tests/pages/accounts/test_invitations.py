"""Sign-up by invitation: refused without one on every way in, and one account for each invitation."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
import pytest_twisted
import treq
from support.browsers import newcomer, registration, signed_in, who
from support.checks.page_reader import Page, faults
from support.checks.shows import shows
from support.servers.openid import OpenIdProvider, Person
from twisted.internet import reactor
from twisted.internet.defer import ensureDeferred, gatherResults

HTML = {"Accept": "text/html"}
AT = "/account/register"


async def closed(served: Any) -> Any:
    """An administrator on a site that is open by invitation only."""
    await served.person("boss", admin=True)
    boss = await signed_in(served, "boss")
    answer = await boss.send_form("/admin/site/rules", {"signup": "invitation"})
    assert answer.json()["status"] == "success"
    return boss


async def invited(boss: Any, **form: Any) -> str:
    """The address of a new invitation."""
    made = (await boss.send_form("/admin/site/invitations", {"note": "Ada", "days": 3, **form})).json()
    parts = urlsplit(made["link"])
    return f"{parts.path}?{parts.query}"


async def people(served: Any) -> int:
    (row,) = await served.database.fetch("SELECT count(*) AS n FROM account WHERE NOT admin")
    return int(row["n"])


@shows("account-register-invitation")
@pytest_twisted.ensureDeferred
async def test_without_an_invitation_nobody_signs_up(served):
    boss = await closed(served)
    for more in ({}, {"invitation": ""}, {"invitation": "x" * 43}, {"invitation": "x" * 500}):
        refused = await served.client().send_form(AT, registration("ada", **more))
        assert "invitation" in refused.json()["form"]["errors"], more
        page = served.client()
        token = (await page.page(AT)).json()["form"]["csrf"]
        html = await page.post(AT, data=registration("ada", csrf_token=token, **more), headers=HTML)
        assert "by invitation only" in html.text or "has been used" in html.text
        assert 'name="password"' not in html.text and faults(Page(html.text)) == []
    page = (await served.client().get(AT, headers=HTML)).text
    assert "by invitation only" in page and 'name="password"' not in page
    assert await people(served) == 0
    await boss.send_form("/admin/site/rules", {"signup": "open"})
    await newcomer(served, "ada")


@shows("account-register-invitation", "admin-invitations")
@pytest_twisted.ensureDeferred
async def test_an_invitation_makes_one_account_also_for_two_at_once(served):
    boss = await closed(served)
    address = await invited(boss)
    assert 'name="invitation"' in (await served.client().get(address, headers=HTML)).text
    browsers = [served.client() for _ in range(3)]
    tokens = [(await browser.page(address)).json()["form"]["csrf"] for browser in browsers]
    answers = await gatherResults(
        ensureDeferred(browser.post(address, json=registration(f"ada{n}"), headers={"X-CSRFToken": token}))
        for n, (browser, token) in enumerate(zip(browsers, tokens, strict=True))
    )
    assert sorted(answer.json().get("status", "error") for answer in answers) == ["error", "error", "success"]
    assert await people(served) == 1
    assert "has been used" in (await served.client().get(address, headers=HTML)).text
    listed = (await boss.page("/admin/site/invitations")).json()
    assert (listed["invitations"], listed["link"]) == ([], None)
    rows = await served.database.fetch("SELECT action, before, after FROM audit WHERE kind = 'invitation' ORDER BY id")
    assert [row["action"] for row in rows] == ["create", "accept"] and rows[1]["after"]["note"] == "Ada"
    key = address.partition("invitation=")[2]
    assert key not in str(rows)


@shows("admin-invitations", "admin-invitations-withdraw")
@pytest_twisted.ensureDeferred
async def test_an_invitation_expires_and_can_be_withdrawn(served):
    boss = await closed(served)
    late, gone = await invited(boss), await invited(boss, note="Grace")
    first = (await boss.page("/admin/site/invitations")).json()["invitations"][0]
    assert first.keys() == {"id", "created", "expires", "by", "note"} and first["note"] == "Grace"
    assert first["id"] not in gone
    here = f"/admin/site/invitations/{first['id']}/withdraw"
    assert (await boss.send_form(here, {}, "/admin/site")).json()["status"] == "success"
    assert (await boss.send_form(here, {}, "/admin/site")).status == 404
    refused = await served.client().send_form(gone, registration("grace"), AT)
    assert "invitation" in refused.json()["form"]["errors"]
    await served.database.execute("UPDATE clock_shift SET ahead = '73 hours'")
    refused = await served.client().send_form(late, registration("ada"), AT)
    assert "invitation" in refused.json()["form"]["errors"] and await people(served) == 0
    for wrong in ({"days": 0}, {"days": 91}, {"days": "x"}, {"note": "x" * 101}, {"note": "a\nb"}):
        boss = await signed_in(served, "boss")
        made = (await boss.send_form("/admin/site/invitations", {"note": "", "days": 3, **wrong})).json()
        assert made["form"]["errors"].keys() == wrong.keys() and made["link"] is None


@shows("account-register-invitation")
@pytest_twisted.ensureDeferred
async def test_a_confirmed_address_uses_the_invitation_of_the_form(serve):
    served = await serve(CROWDD_ACCOUNTS_CONFIRM_EMAIL="on")
    boss = await closed(served)
    address = await invited(boss)
    assert "invitation" in (await served.client().send_form(AT, registration("eve"))).json()["form"]["errors"]
    browsers = [served.client(), served.client()]
    for browser, name in zip(browsers, ("ada", "bob"), strict=True):
        sent = (await browser.send_form(address, registration(name))).json()
        assert sent["status"] == "sent"
    letters = await served.database.fetch("SELECT text FROM mail WHERE template = 'confirm_registration' ORDER BY id")
    links = [re.search(r"/account/register/confirmation\?key=\S+", letter["text"])[0] for letter in letters]
    await browsers[0].page(links[0])
    second = await browsers[1].page(links[1])
    assert await people(served) == 1 and await who(browsers[0]) == "ada" and await who(browsers[1]) is None
    assert "has been used" in second.text


@pytest.fixture
def provider():
    made = OpenIdProvider(reactor)
    yield made
    pytest_twisted.blockon(made.stop())


async def come(browser: Any, next_: str) -> str:
    begun = await browser.page(f"/google/?next={quote(next_, safe='')}")
    consent = await treq.get(begun.json()["next"], allow_redirects=False)
    back = urlsplit(consent.headers.getRawHeaders("location")[0])
    return str((await browser.get(f"{back.path}?{back.query}")).header("location"))


@shows("account-register-invitation")
@pytest_twisted.ensureDeferred
async def test_people_of_a_provider_need_an_invitation_too(serve, provider):
    served = await serve(**provider.settings("google"))
    known = served.client()
    assert await come(known, "/") == "/"
    boss = await closed(served)
    assert await come(served.client(), "/") == "/"  # an account that there is already
    provider.person = Person(sub="another", email="grace@example.org", name="Grace Hopper")
    browser = served.client()
    assert await come(browser, "/") == AT and await people(served) == 1
    assert "by invitation only" in (await browser.get(AT, headers=HTML)).text
    address = await invited(boss)
    assert await come(browser, address) == address
    page = await browser.page(address)
    assert page.json()["form"]["fullname"] == "Grace Hopper"
    form = registration("grace", email_addr="grace@example.org", password="", confirm="")
    assert (await browser.send_form(address, form)).json()["status"] == "success"
    assert await who(browser) == "grace" and await people(served) == 2
