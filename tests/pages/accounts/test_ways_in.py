"""Every way into an account: declared in one list, and ended when its person takes the account back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import attrs
import pytest
import pytest_twisted
from support.browsers import PASSWORD, newcomer, sign_in, who
from support.checks.shows import shows
from support.factors import code_of, letters, pass_time, prove, set_up_app
from support.servers.queue_runner import worked
from support.until import until
from twisted.internet.defer import ensureDeferred

from crowdd.features.accounts import statements as account_statements
from crowdd.features.accounts.feature import AccountsFeature
from crowdd.features.people.feature import PeopleFeature
from crowdd.features.signin import statements as signin_statements
from crowdd.features.signin.access_revocation import Fate, fate
from crowdd.features.signin.feature import SigninFeature
from crowdd.features.signin.providers import ProviderIdentity
from crowdd.features.signin.ways_in import Ends, ways_in
from crowdd.kernel.errors import FormError
from crowdd.kernel.requester import SYSTEM, Requester
from crowdd.kinds.user import USER

NEW = "another good one"
FORM = {"new_password": NEW, "confirm": NEW}
SECOND = "/account/signin/second"
PROVED = "UPDATE account SET valid_email = true"
OTHERWISE = {
    # What people did, own or are told, none of which lets anybody in.
    "account_deletion", "analysis", "aside_answer", "announcement", "audit", "blogpost", "collection", "deposit", "favourite",
    "idempotency", "import_source", "media_batch", "personal_export", "certificate", "board_place", "queue_item", "review_opinion", "security_log", "snapshot",
    "snapshot_schedule", "task_comment", "notice", "muted_project", "group_member", "task_import", "task_run", "template", "upload_file", "barred_volunteer", "gold_task",
    "guide_version", "question_version", "retirement", "helpingmaterial",
    # Counters, and from where keys were used.
    "key_network", "person_stat", "score_count", "stat_delta",
}  # fmt: skip
PROFILE = {
    "id", "created", "name", "fullname", "email_addr", "admin", "pro", "restrict", "privacy_mode", "subscribed",
    "newsletter_prompted", "valid_email", "confirmation_email_sent", "consent", "locale", "flags", "category", "catalog_api", "info", "name_skeleton",
    "avatar_file", "second_factor", "last_signed_in", "news_seen", "digest_due", "digest_until", "digest_without", "off_boards",
}  # fmt: skip


# The list


@pytest_twisted.ensureDeferred
async def test_every_table_and_column_that_authenticates_is_declared(served):
    """A new way in is a table with a ``user_id`` or a column of ``account``: it has to be declared, or named above."""
    declared = {stored for way in ways_in(served.house[AccountsFeature].accounts) for stored in way.stored}
    rows = await served.database.fetch(
        "SELECT c.table_name AS name FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name)"
        " WHERE c.table_schema = current_schema() AND c.column_name = 'user_id' AND t.table_type = 'BASE TABLE'"
    )
    tables = {row["name"] for row in rows}
    columns = await served.database.fetch(
        "SELECT column_name AS name FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = 'account'"
    )
    stored = tables | {f"account.{row['name']}" for row in columns}
    assert declared - stored == set()
    assert {name for name in stored - declared if not name.startswith("account.")} - OTHERWISE == set()
    assert {name for name in stored - declared if name.startswith("account.")} == {
        f"account.{name}" for name in PROFILE
    }


@pytest_twisted.ensureDeferred
async def test_every_declared_way_in_is_tried_here(served):
    declared = ways_in(served.house[AccountsFeature].accounts)
    assert {way.name for way in declared} == {*PLANTED}
    assert {way.name for way in declared if way.ends is Ends.UNLESS_KEPT} == {*KEEPABLE}


@pytest.mark.parametrize(
    ("proved", "second", "demanded", "expected"),
    [
        (False, False, False, Fate.ENDS), (False, True, True, Fate.ENDS), (True, True, False, Fate.ASKED),
        (True, False, True, Fate.ASKED), (True, True, True, Fate.STAYS),
    ],
)  # fmt: skip
def test_what_a_recovery_does_to_a_way_in(proved, second, demanded, expected):
    assert fate({"address_proved": proved}, second=second, demanded=demanded) is expected


# An account with all of them


@attrs.define
class Holder:
    """Somebody who was in the account of ada before, with every way in; ``served`` is the site."""

    served: Any
    browser: Any
    user_id: int = 0
    secret: str = ""
    codes: list[str] = attrs.Factory(list)
    token: str = ""
    key: str = ""
    link: str = ""
    pending: str = ""

    @classmethod
    async def comes(cls, served: Any, *, proved: bool) -> Holder:
        """Signs up with ada's address; ``proved``: somebody proves the address before the rest is set up."""
        holder = cls(served, await newcomer(served, "ada"))
        if proved:
            await served.database.execute(PROVED)
        user = (await holder.browser.page("/account/profile")).json()["user"]
        holder.user_id, holder.key = user["id"], user["api_key"]
        answer = await holder.browser.send_form("/account/ada/tokens", {"name": "x", "scope": "everything"})
        holder.token = answer.json()["token"]
        await served.house[SigninFeature].social_login.connect(holder.user_id, holder.there, SYSTEM)
        assert await signin_statements.insert_passkey(
            served.database, holder.user_id, b"credential", b"key", 0, "Phone"
        )
        holder.secret, holder.codes = await set_up_app(served, holder.browser, "ada")
        holder.link = await holder.link_to_reset()
        return holder

    @property
    def there(self) -> ProviderIdentity:
        """Who the holder is at a provider."""
        return ProviderIdentity("github", "the holder", token="secret")

    async def link_to_reset(self) -> str:
        """A link in a letter to ada."""
        await self.served.client().send_form("/account/forgot-password", {"email_addr": "ada@example.org"})
        await worked(self.served)
        text = (await letters(self.served, "reset_password"))[-1]["text"]
        address = next(word for word in text.split() if "?key=" in word)
        return address[address.index("/account/") :]

    async def code_works(self, code: str) -> bool:
        try:
            await self.served.house[SigninFeature].second_factors.check_code(self.user_id, code, SYSTEM)
        except FormError:
            return False
        return True

    async def works(self) -> set[str]:
        """The names of the ways in that let the holder in."""
        return {name for name, try_it in PLANTED.items() if await try_it(self)}


async def password(holder: Holder) -> bool:
    return (await sign_in(holder.served.client(), "ada", PASSWORD)).json()["status"] != "error"


async def session(holder: Holder) -> bool:
    return await who(holder.browser) == "ada"


async def link(holder: Holder) -> bool:
    return (await holder.served.client().page(holder.link)).status == 200


async def known_device(holder: Holder) -> bool:
    row = await account_statements.find_by_login(holder.served.database, "ada")
    return f"~{row['id']}.{row['access_version']}" in holder.browser.cookies["device"]


async def unconfirmed_authenticator(holder: Holder) -> bool:
    """The app that the account is offered is the one whose secret the holder has seen."""
    return bool(holder.pending) and (await pending_secret(holder)) == holder.pending


async def pending_secret(holder: Holder) -> str:
    """The secret of the app that the account of ada is offered."""
    enrolment = await holder.served.house[SigninFeature].second_factors.totp.enrolment(holder.user_id, "ada", SYSTEM)
    return enrolment.secret


async def _speaks(holder: Holder, key: str) -> bool:
    answer = await holder.served.client(Authorization=key).get(f"/api/user/{holder.user_id}")
    return "email_addr" in answer.json()


async def api_key(holder: Holder) -> bool:
    return await _speaks(holder, holder.key)


async def api_token(holder: Holder) -> bool:
    return await _speaks(holder, holder.token)


async def provider(holder: Holder) -> bool:
    row = await account_statements.find_by_provider(holder.served.database, holder.there.provider, holder.there.id)
    return row is not None


async def passkey(holder: Holder) -> bool:
    return await signin_statements.find_passkey(holder.served.database, b"credential") is not None


async def authenticator(holder: Holder) -> bool:
    await pass_time(holder.served, seconds=60)  # each code works once
    return await holder.code_works(await code_of(holder.served, holder.secret))


async def recovery_codes(holder: Holder) -> bool:
    return await holder.code_works(holder.codes.pop())


# How each is tried; the names are those of the declarations.
PLANTED: dict[str, Callable[[Holder], Awaitable[bool]]] = {
    each.__name__: each
    for each in (
        password, session, link, known_device, unconfirmed_authenticator, api_key, api_token, provider, passkey, authenticator,
        recovery_codes,
    )
}  # fmt: skip
KEEPABLE = {"provider", "passkey", "authenticator", "recovery_codes"}
AT_ONCE = {*PLANTED} - {"unconfirmed_authenticator"}  # an account has that one or an authenticator app


async def recover(holder: Holder, way: str, keep: list[str]) -> Any:
    """Ada resets the password by a letter, or changes it because somebody else had access; the answer and her browser."""
    if way == "letter":
        ada = holder.served.client()
        return ada, await ada.send_form(await holder.link_to_reset(), {**FORM, "keep": keep})
    ada = holder.served.client()
    await sign_in(ada, "ada")
    await ada.send_form(SECOND, {"code": holder.codes.pop()})
    form = (await ada.page("/account/ada/update")).json()["password_form"]
    body = {"btn": "Password", "current_password": PASSWORD, **FORM, "revoke": True, "keep": keep}
    return ada, await ada.post("/account/ada/update", json=body, headers={"X-CSRFToken": form["csrf"]})


@pytest_twisted.ensureDeferred
async def test_all_ways_in_work_before(served):
    holder = await Holder.comes(served, proved=False)
    assert await holder.works() == AT_ONCE


@shows("account-reset", "account-update-password", "account-ways-in")
@pytest.mark.parametrize("way", ["letter", "suspicion"])
@pytest.mark.parametrize("proved", [False, True])
@pytest_twisted.ensureDeferred
async def test_who_takes_the_account_back_ends_every_way_in(served, way, proved):
    holder = await Holder.comes(served, proved=proved)
    ada, answer = await recover(holder, way, [])
    assert answer.json()["status"] == "success" and await who(ada) == "ada", (
        "a factor of somebody else locks nobody out"
    )
    assert await holder.works() == set()
    assert answer.json()["flash"] == (
        "Your password has been changed. You are signed out everywhere else, and you have a new API key. Removed from your"
        " account: GitHub, Passkeys, Authenticator app, Recovery codes."
    )
    (letter,) = await letters(served, "password_changed")
    assert "Removed from your account: GitHub, Passkeys, Authenticator app, Recovery codes." in letter["text"]
    assert "Phone" not in letter["text"], "the holder's words are not sent"
    assert (await sign_in(served.client(), "ada", NEW)).json()["status"] == "success"


@shows("account-ways-in")
@pytest.mark.parametrize("way", ["letter", "suspicion"])
@pytest_twisted.ensureDeferred
async def test_what_was_set_up_after_the_proof_is_shown_and_kept_when_it_is_confirmed(served, way):
    holder = await Holder.comes(served, proved=True)
    page = (await served.client().page(await holder.link_to_reset())).json()["ways_in"]
    settings = (await holder.browser.page("/account/ada/update")).json()["ways_in"]
    assert page == settings
    shown = [(each["kind"], each["name"], bool(each["created"])) for each in page]
    expected = [("provider", "GitHub"), ("passkey", "Phone"), ("authenticator", ""), ("recovery_codes", "")]
    assert shown == [(kind, name, True) for kind, name in expected]
    html = (await served.client().get(await holder.link_to_reset())).text
    assert all(f'name="keep" value="{each["id"]}">' in html for each in page) and "added on" in html
    ada, answer = await recover(holder, way, [each["id"] for each in page if each["kind"] != "provider"])
    assert "Removed from your account: GitHub." in (await letters(served, "password_changed"))[0]["text"]
    assert await holder.works() == {"passkey", "authenticator", "recovery_codes"}
    if way == "letter":
        assert (answer.json()["next"], await who(ada)) == (SECOND, None), "what is kept is asked for"
        await pass_time(served, seconds=60)
        code = await code_of(served, holder.secret)
        assert (await ada.send_form(SECOND, {"code": code})).json()["status"] == "success"


@shows("account-ways-in")
@pytest.mark.parametrize("way", ["letter", "suspicion"])
@pytest_twisted.ensureDeferred
async def test_what_was_set_up_before_the_proof_is_not_shown_and_ends_though_it_is_confirmed(served, way):
    holder = await Holder.comes(served, proved=False)
    await served.database.execute(PROVED)
    page = (await served.client().page(await holder.link_to_reset())).json()
    assert page["ways_in"] == [] == (await holder.browser.page("/account/ada/update")).json()["ways_in"]
    ids = [row["id"] for row in await served.database.fetch("SELECT 'passkey-' || id AS id FROM passkey")]
    ada, _answer = await recover(holder, way, [*ids, "authenticator", "recovery_codes", "provider-github"])
    assert await who(ada) == "ada" and await holder.works() == set()


@pytest_twisted.ensureDeferred
async def test_a_password_that_is_only_changed_leaves_keys_and_factors(served):
    holder = await Holder.comes(served, proved=False)
    form = (await holder.browser.page("/account/ada/update")).json()["password_form"]
    body = {"btn": "Password", "current_password": PASSWORD, **FORM, "keep": []}
    answer = await holder.browser.post("/account/ada/update", json=body, headers={"X-CSRFToken": form["csrf"]})
    assert answer.json()["flash"] == "Your password has been changed. You are signed out everywhere else."
    # The browser in which it was changed goes on and is known.
    gone = {"password", "link"}
    assert await holder.works() == AT_ONCE - gone
    assert await letters(served, "new_device") == []


@pytest_twisted.ensureDeferred
async def test_a_secret_that_somebody_saw_before_a_new_password_is_offered_to_nobody_later(served):
    holder = Holder(served, await newcomer(served, "ada"), user_id=1)
    holder.pending = await pending_secret(holder)
    assert await unconfirmed_authenticator(holder)
    await served.house[PeopleFeature].profiles.set_password(1, NEW, SYSTEM)
    assert not await unconfirmed_authenticator(holder)


@shows("account-ways-in")
@pytest_twisted.ensureDeferred
async def test_a_letter_is_not_enough_where_the_site_demands_a_second_factor(serve):
    served = await serve(CROWDD_ACCOUNTS_REQUIRE_SECOND_FACTOR="admins")
    holder = await Holder.comes(served, proved=True)
    await served.database.execute("UPDATE account SET admin = true")
    page = (await served.client().page(await holder.link_to_reset())).json()
    assert [each["kind"] for each in page["ways_in"]] == ["provider"]
    ada, answer = await recover(holder, "letter", [])
    assert (answer.json()["next"], await who(ada)) == (SECOND, None)
    assert await holder.works() == {"passkey", "authenticator", "recovery_codes"}


@pytest_twisted.ensureDeferred
async def test_factors_from_before_the_proof_end_even_there(serve):
    served = await serve(CROWDD_ACCOUNTS_REQUIRE_SECOND_FACTOR="admins")
    holder = await Holder.comes(served, proved=False)
    await served.database.execute("UPDATE account SET admin = true")
    ada, _answer = await recover(holder, "letter", [])
    assert await who(ada) == "ada" and await holder.works() == set()


@shows("account-passkeys")
@pytest_twisted.ensureDeferred
async def test_passkeys_say_whether_they_sign_in_alone(served):
    ada = await newcomer(served, "ada")
    await signin_statements.insert_passkey(served.database, 1, b"before", b"key", 0, "Before")
    await served.database.execute(PROVED)
    await signin_statements.insert_passkey(served.database, 1, b"after", b"key", 0, "After")
    listed = (await ada.page("/account/ada/passkeys")).json()["passkeys"]
    assert [(each["name"], each["address_proved"]) for each in listed] == [("Before", False), ("After", True)]
    html = (await ada.get("/account/ada/passkeys")).text
    assert html.count("After your password only") == 1


# Two at once


async def token_of(browser: Any) -> str:
    """A token for forms of this browser."""
    return (await browser.page("/account/prove")).json()["form"]["csrf"]


ACTS = {
    "new token": ("/account/ada/tokens", {"name": "x", "scope": "everything"}),
    "new key": ("/account/ada/resetapikey", {}),
    "authenticator": ("/account/ada/authenticator", {"code": ""}),
    "recovery codes": ("/account/ada/recovery-codes", {}),
    "address": ("/account/ada/update", {"btn": "Profile", "email_addr": "evil@example.org"}),
    "password": ("/account/ada/update", {"btn": "Password", "current_password": PASSWORD, **FORM}),
}


async def stored(served: Any) -> list[Any]:
    """What lets somebody in."""
    return await served.database.fetch(
        "SELECT email_addr, passwd_hash, api_key_hash, access_version, (SELECT count(*) FROM api_token), (SELECT count(*) FROM recovery_code) AS codes,"
        " (SELECT array_agg(code_hash::text ORDER BY code_hash) FROM recovery_code) AS hashes, (SELECT count(*) FROM totp WHERE confirmed IS NOT NULL) AS apps,"
        " (SELECT count(*) FROM provider_connection) AS providers FROM account WHERE name = 'ada'"
    )


async def while_it_waits(served: Any, act: Any, then: Callable[[Any], Awaitable[object]]) -> Any:
    """The answer to a request that was let in and waits for the account, while ``then`` is done and committed before it."""
    waits = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    begun: list[Any] = []

    async def work(tx: Any) -> None:
        await account_statements.lock_address(tx, 1)
        begun.append(ensureDeferred(act))
        await until(lambda: served.database.fetch(waits))
        await then(tx)

    await served.database.transaction(work)
    return await begun[0]


async def end_sessions(tx: Any) -> None:
    await tx.execute("DELETE FROM session")


@pytest.mark.parametrize("act", ACTS)
@pytest_twisted.ensureDeferred
async def test_what_a_session_began_before_it_ended_is_not_done_afterwards(served, act):
    thief = await newcomer(served, "ada")
    path, body = ACTS[act]
    if act == "authenticator":
        secret = (await thief.page("/account/ada/authenticator")).json()["authenticator"]["secret"]
        body = {"code": await code_of(served, secret)}
    elif act == "recovery codes":
        await signin_statements.insert_passkey(served.database, 1, b"credential", b"key", 0, "Phone")
        await served.database.execute("UPDATE account SET second_factor = true")
    before, token = await stored(served), await token_of(thief)
    request = thief.post(path, json=body, headers={"X-CSRFToken": token})
    answer = await while_it_waits(served, request, end_sessions)
    assert answer.status in (302, 401), answer.body
    assert await stored(served) == before


@pytest_twisted.ensureDeferred
async def test_no_provider_is_connected_by_a_session_that_has_ended(served):
    await served.person("ada")
    thief = Requester(user_id=1, user_name="ada", session=b"ended", proved=True)
    connecting = served.house[SigninFeature].social_login.connect(1, ProviderIdentity("github", "thief"), thief)
    with pytest.raises(Exception, match="signed out"):
        await connecting
    assert (await stored(served))[0]["providers"] == 0


@pytest_twisted.ensureDeferred
async def test_no_secret_of_an_app_is_made_for_a_session_that_has_ended(served):
    thief = await newcomer(served, "ada")
    answer = await while_it_waits(served, thief.page("/account/ada/authenticator"), end_sessions)
    assert answer.status in (302, 401), answer.body
    assert await served.database.fetch("SELECT FROM totp") == []


@shows("account-key-shown")
@pytest_twisted.ensureDeferred
async def test_a_request_from_before_a_new_password_does_not_read_the_new_key(served):
    ada = await served.person("ada")
    accounts_, records = served.house[AccountsFeature].accounts, served.house.base.records
    by_session = Requester(user_id=1, user_name="ada", session=b"x", proved=True)
    for who_asks in (
        by_session,
        attrs.evolve(by_session, admin=True),
        attrs.evolve(by_session, session=b"", by_key=True),
    ):
        row = await accounts_.profile(1)
        assert accounts_.own_key(row, who_asks) == ada.key == (await records.get(USER, who_asks, 1))["api_key"]
    holder = Holder(served, served.client())
    await served.client().send_form(await holder.link_to_reset(), FORM)
    for who_asks in (
        by_session,
        attrs.evolve(by_session, admin=True),
        attrs.evolve(by_session, session=b"", by_key=True),
    ):
        assert accounts_.own_key(await accounts_.profile(1), who_asks) is None
        assert "api_key" not in await records.get(USER, who_asks, 1)
        today = attrs.evolve(who_asks, access_version=1)
        assert (await records.get(USER, today, 1))["api_key"] == accounts_.own_key(await accounts_.profile(1), today)


@shows("session-server")
@pytest_twisted.ensureDeferred
async def test_a_sign_in_that_began_with_the_password_of_before_opens_no_session(served):
    await served.person("ada")
    thief = served.client()

    async def new_password(tx: Any) -> None:
        await account_statements.set_password(tx, 1, "nobody knows")
        await end_sessions(tx)

    token = (await thief.page("/account/signin")).json()["form"]["csrf"]
    form = {"email": "ada@example.org", "password": PASSWORD}
    answer = await while_it_waits(
        served, thief.post("/account/signin", json=form, headers={"X-CSRFToken": token}), new_password
    )
    assert answer.status in (302, 401) and await who(thief) is None
    assert await served.database.fetch("SELECT FROM session") == []


@pytest_twisted.ensureDeferred
async def test_a_sign_in_that_waits_for_its_second_factor_ends_with_the_password(served):
    ada = await newcomer(served, "ada")
    _secret, codes = await set_up_app(served, ada, "ada")
    thief = served.client()
    assert (await sign_in(thief, "ada")).json()["status"] == "second_factor"
    await served.house[PeopleFeature].profiles.set_password(1, NEW, SYSTEM)
    answer = await thief.send_form(SECOND, {"code": codes[0]})
    assert answer.status in (302, 401) and await who(thief) is None


@pytest_twisted.ensureDeferred
async def test_a_browser_that_was_known_is_a_new_device_after_a_recovery(served):
    holder = await Holder.comes(served, proved=False)
    await recover(holder, "letter", [])
    before = len(await letters(served, "new_device"))
    browser = served.client()
    browser.cookies["device"] = holder.browser.cookies["device"]
    await sign_in(browser, "ada", NEW)
    assert len(await letters(served, "new_device")) == before + 1
    await signed_in_again(browser)
    assert len(await letters(served, "new_device")) == before + 1


async def signed_in_again(browser: Any) -> None:
    """Signs out and in with the new password."""
    await browser.post("/account/signout", json={}, headers={"X-CSRFToken": await token_of(browser)})
    assert (await sign_in(browser, "ada", NEW)).json()["status"] == "success"


@pytest_twisted.ensureDeferred
async def test_a_proof_is_as_good_as_before_for_the_person_who_changes_the_password(served):
    ada = await newcomer(served, "ada")
    await pass_time(served, minutes=11)
    form = (await ada.page("/account/ada/update")).json()["password_form"]
    body = {"btn": "Password", "current_password": PASSWORD, **FORM}
    assert (await ada.post("/account/ada/update", json=body, headers={"X-CSRFToken": form["csrf"]})).status == 200
    assert await who(ada) == "ada" and (await ada.page("/account/ada/tokens")).status == 200
    assert (await prove(ada, NEW)).json()["status"] == "success"
    assert await who(await signed_in_with(served, NEW)) == "ada"


async def signed_in_with(served: Any, word: str) -> Any:
    """A browser in which ada signed in with this password."""
    browser = served.client()
    await sign_in(browser, "ada", word)
    return browser
