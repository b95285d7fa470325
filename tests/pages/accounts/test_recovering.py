"""An account that its person takes back: what a new password ends, and what an API key may not do."""

from __future__ import annotations

import pytest_twisted
from support.browsers import PASSWORD, newcomer, sign_in, signed_in, who
from support.checks.shows import shows
from support.servers.queue_runner import worked
from twisted.internet.defer import ensureDeferred, gatherResults

from crowdd.features.accounts.feature import AccountsFeature
from crowdd.features.signin import providers
from crowdd.features.signin.feature import SigninFeature
from crowdd.kernel.requester import SYSTEM

CONFIRM = {"CROWDD_ACCOUNTS_CONFIRM_EMAIL": "on"}
NEW = {"new_password": "another good one", "confirm": "another good one"}
LETTERS = "SELECT recipient, template, text FROM mail ORDER BY id"


async def link_of(served, template):
    """The path of the link in the newest letter of a sort."""
    text = [row["text"] for row in await served.database.fetch(LETTERS) if row["template"] == template][-1]
    address = next(word for word in text.split() if "?key=" in word)
    return address[address.index("/account/") :]


async def forgotten(served, email="ada@example.org"):
    await served.client().send_form("/account/forgot-password", {"email_addr": email})
    await worked(served)
    return await link_of(served, "reset_password")


async def key_of(browser):
    return (await browser.page("/account/profile")).json()["user"]["api_key"]


async def change_address(browser, name, email, csrf=""):
    csrf = csrf or await csrf_of_profile(browser, name)
    body = {"btn": "Profile", "email_addr": email}
    return await browser.post(f"/account/{name}/update", json=body, headers={"X-CSRFToken": csrf})


async def csrf_of_profile(browser, name):
    return (await browser.page(f"/account/{name}/update")).json()["form"]["csrf"]


async def connect(served, name, provider="github"):
    """As after signing in there, whatever the provider says."""
    row = await served.house[AccountsFeature].accounts.find(name)
    identity = providers.ProviderIdentity(provider, f"{provider} of {name}", token="secret")
    await served.house[SigninFeature].social_login.connect(row["id"], identity, SYSTEM)


async def connected(served, name):
    row = await served.house[AccountsFeature].accounts.profile(
        (await served.house[AccountsFeature].accounts.find(name))["id"]
    )
    return [provider for provider in providers.PROVIDERS if row[f"{provider}_user_id"]]


@shows("account-reset")
@pytest_twisted.ensureDeferred
async def test_a_reset_by_mail_ends_every_way_in_of_whoever_registered_the_address(served):
    attacker = await newcomer(served, "ada")
    key = await key_of(attacker)
    await connect(served, "ada")
    program = served.client(key)
    me = (await attacker.page("/account/profile")).json()["user"]
    assert me["valid_email"] is False and me["email_addr"] == "ada@example.org"
    assert (await program.get(f"/api/user/{me['id']}")).json()["email_addr"] == "ada@example.org"
    person = served.client()
    done = (await person.send_form(await forgotten(served), NEW)).json()
    assert done["flash"] == (
        "Your password has been changed. You are signed out everywhere else, and you have a new API key. Removed from"
        " your account: GitHub."
    )
    assert (await who(person), await who(attacker)) == ("ada", None)
    assert "email_addr" not in (await program.get(f"/api/user/{me['id']}")).json()
    assert await key_of(person) != key and await connected(served, "ada") == []
    assert await served.database.fetch("SELECT FROM provider_token") == []
    assert (await person.page("/account/profile")).json()["user"]["valid_email"] is True
    (letter,) = [row for row in await served.database.fetch(LETTERS) if row["template"] == "password_changed"]
    assert "API key was replaced" in letter["text"]
    assert "Removed from your account: GitHub." in letter["text"]


@pytest_twisted.ensureDeferred
async def test_providers_that_were_connected_after_the_proof_stay_when_they_are_confirmed(served):
    person = await newcomer(served, "ada")
    await person.send_form(await forgotten(served), NEW)
    await connect(served, "ada")
    form = {"new_password": PASSWORD, "confirm": PASSWORD, "keep": ["provider-github"]}
    again = await person.send_form(await forgotten(served), form)
    assert "GitHub" not in again.json()["flash"] and await connected(served, "ada") == ["github"]


@pytest_twisted.ensureDeferred
async def test_a_change_of_address_that_was_begun_before_a_reset_is_refused(serve):
    served = await serve(**CONFIRM)
    await served.person("ada")
    thief = await signed_in(served, "ada")
    assert (await change_address(thief, "ada", "evil@example.org")).json()["status"] == "success"
    trap = await link_of(served, "confirm_address")
    await served.client().send_form(await forgotten(served), NEW)
    assert (await served.client().page(trap)).status == 403
    assert (await served.house[AccountsFeature].accounts.find("ada"))["email_addr"] == "ada@example.org"


@pytest_twisted.ensureDeferred
async def test_a_change_of_address_that_meets_a_reset_leaves_no_link_or_no_reset(serve):
    served = await serve(**CONFIRM)
    await served.person("ada")
    for n in range(5):
        password = NEW["confirm"] if n % 2 else PASSWORD
        thief, victim = served.client(), served.client()
        await sign_in(thief, "ada", password)
        link = await forgotten(served)
        await served.database.execute("DELETE FROM attempt_count")
        new = {"new_password": PASSWORD if n % 2 else NEW["confirm"]}
        form = {**new, "confirm": new["new_password"]}
        # Both have their forms before: who has been signed out gets none.
        csrf, token = await csrf_of_profile(thief, "ada"), (await victim.page(link)).json()["form"]["csrf"]
        reset = victim.post(link, json=form, headers={"X-CSRFToken": token})
        race = [change_address(thief, "ada", f"evil{n}@example.org", csrf), reset]
        answers = await gatherResults([ensureDeferred(each) for each in race])
        assert answers[1].json()["status"] == "success"
        assert await served.database.fetch("SELECT FROM one_time_link WHERE purpose = 'address'") == []


@pytest_twisted.ensureDeferred
async def test_a_new_password_ends_sessions_and_letters_but_not_the_key(serve):
    served = await serve(**CONFIRM)
    await served.person("ada")
    ada, thief = await signed_in(served, "ada"), await signed_in(served, "ada")
    key = await key_of(ada)
    await change_address(thief, "ada", "evil@example.org")
    trap = await link_of(served, "confirm_address")
    form = (await ada.page("/account/ada/update")).json()["password_form"]
    body = {"btn": "Password", "current_password": PASSWORD, **NEW}
    done = await ada.post("/account/ada/update", json=body, headers={"X-CSRFToken": form["csrf"]})
    assert done.json()["flash"] == "Your password has been changed. You are signed out everywhere else."
    assert (await who(ada), await who(thief)) == ("ada", None)
    assert (await served.client().page(trap)).status == 403 and await key_of(ada) == key


@shows("account-update-password")
@pytest_twisted.ensureDeferred
async def test_whoever_suspects_somebody_replaces_the_key_and_disconnects_all_providers(served):
    ada = await newcomer(served, "ada")
    await served.database.execute("UPDATE account SET valid_email = true")
    await connect(served, "ada", "google")
    key = await key_of(ada)
    form = (await ada.page("/account/ada/update")).json()["password_form"]
    body = {"btn": "Password", "current_password": PASSWORD, **NEW, "revoke": True}
    done = await ada.post("/account/ada/update", json=body, headers={"X-CSRFToken": form["csrf"]})
    assert "a new API key. Removed from your account: Google." in done.json()["flash"]
    assert await key_of(ada) != key and await connected(served, "ada") == []


@pytest_twisted.ensureDeferred
async def test_an_address_that_was_changed_is_not_proved(served):
    ada = await newcomer(served, "ada")
    await ada.send_form(await forgotten(served), NEW)
    assert (await ada.page("/account/profile")).json()["user"]["valid_email"] is True
    await change_address(ada, "ada", "new@example.org")
    me = (await ada.page("/account/profile")).json()["user"]
    assert (me["email_addr"], me["valid_email"]) == ("new@example.org", False)
    assert "not confirmed" in (await ada.get("/account/profile")).text


@pytest_twisted.ensureDeferred
async def test_letters_greet_nobody_whose_address_is_not_proved(served):
    await newcomer(served, "buy.at.evil.example")
    await served.database.execute("UPDATE account SET email_addr = 'victim@example.org'")
    link = await forgotten(served, "victim@example.org")
    letter = (await served.database.fetch(LETTERS))[-1]
    assert "evil" not in letter["text"] and letter["text"].startswith("Hello,")
    await served.client().send_form(link, NEW)
    await forgotten(served, "victim@example.org")
    assert (await served.database.fetch(LETTERS))[-1]["text"].startswith("Hello buy.at.evil.example,")


@pytest_twisted.ensureDeferred
async def test_who_asks_elsewhere_ends_nobodys_link(serve):
    served = await serve(CROWDD_HTTP_TRUSTED_PROXIES="127.0.0.1")
    await served.person("ada")

    async def ask(address):
        browser = served.client(**{"X-Forwarded-For": address})
        await browser.send_form("/account/forgot-password", {"email_addr": "ada@example.org"})
        await worked(served)
        return await link_of(served, "reset_password")

    mine = await ask("192.0.2.1")
    others = [await ask("192.0.2.66") for _ in range(3)]
    assert [(await served.client().page(link)).status for link in (mine, *others)] == [200, 403, 200, 200]


# API keys


@shows("key-scope")
@pytest_twisted.ensureDeferred
async def test_a_key_acts_below_api_and_project_and_on_the_export_only(served):
    person = await served.person("ada", admin=True)
    await served.project(person, tasks=1, published=True)
    program = served.client(Authorization=person.key)
    assert (await program.get(f"/api/user/{person.user_id}")).json()["email_addr"] == "ada@example.org"
    assert (await program.page("/project/birds/settings")).status == 200
    assert (await program.page("/account/ada/export")).status == 200
    for path in (
        "/account/ada/update", "/account/ada/sessions", "/account/ada/delete", "/account/ada/resetapikey",
        "/account/ada/projects", "/admin/", "/admin/users", "/account/exports/update",
    ):  # fmt: skip
        answer = await program.page(path)
        assert (answer.status, "/account/signin?next=" in (answer.header("location") or "")) == (302, True), path
    assert (await program.page("/account/profile")).json()["status"] == "not_signed_in"


@shows("key-no-security")
@pytest_twisted.ensureDeferred
async def test_a_key_changes_nothing_of_an_account(served):
    person, bob = await served.person("ada", admin=True), await served.person("bob")
    program = served.client(Authorization=person.key)
    before = await served.database.fetch("SELECT * FROM account ORDER BY id")
    token = (await program.page("/account/signin")).json()["form"]["csrf"]
    for headers in ({}, {"X-CSRFToken": token}):
        for path, body in (
            ("/account/ada/update", {"btn": "Profile", "email_addr": "evil@example.org"}),
            ("/account/ada/update", {"btn": "Password", "current_password": PASSWORD, **NEW}),
            ("/account/ada/resetapikey", {}), ("/account/ada/unlink", {"provider": "github"}),
            ("/account/ada/delete", {"password": PASSWORD}), ("/account/ada/sessions", {"session": "all"}),
            (f"/admin/users/add/{bob.user_id}", {}), ("/account/newsletter", {"subscribe": "true"}),
        ):  # fmt: skip
            assert (await program.post(path, json=body, headers=headers)).status in (302, 400, 401, 403), path
    await program.page(f"/admin/users/add/{bob.user_id}")
    assert await served.database.fetch("SELECT * FROM account ORDER BY id") == before
