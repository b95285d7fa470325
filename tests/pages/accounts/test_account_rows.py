"""Every address below /account: what it answers to whom, as a page and as JSON; and what no form does without its token."""

from __future__ import annotations

import pytest_twisted
from support.browsers import newcomer, who
from support.checks.shows import shows

FORM, PEOPLE, TEXT = dict, list, str
FRAME = {"template": TEXT, "title": TEXT}
# path, what JSON holds when it is answered, and the status for: nobody, somebody else, oneself, an administrator.
EVERYBODY, SIGNED_IN, OWN, OWN_ONLY, NOBODY = (
    (200,) * 4,
    (302, 200, 200, 200),
    (302, 403, 200, 200),
    (302, 403, 200, 403),
    (403,) * 4,
)
ROWS = (
    ("/account/", {**FRAME, "accounts": list, "pagination": dict, "top_users": list, "update_feed": list, "total": int, "next": type(None)}, EVERYBODY),
    ("/account/page/1", {**FRAME, "accounts": list, "pagination": dict, "top_users": list, "update_feed": list, "total": int, "next": type(None)}, EVERYBODY),
    ("/account/forgot-password", {**FRAME, "form": dict}, EVERYBODY),
    ("/account/ada", {**FRAME, "user": dict, "projects_contrib": list, "projects_created": list}, EVERYBODY),
    ("/account/ada/projects", {**FRAME, "projects_draft": list, "projects_published": list}, OWN),
    ("/account/ada/update", {
        **FRAME, "form": dict, "password_form": dict, "upload_form": dict, "show_passwd_form": bool, "flash": type(None),
        "usage": dict,
        "ways_in": list,
    }, OWN),
    ("/account/ada/resetapikey", {**FRAME, "form": dict}, OWN),
    ("/account/ada/sessions", {**FRAME, "form": dict, "sessions": list}, OWN_ONLY),
    ("/account/ada/claim", {**FRAME, "form": dict, "answers": int}, OWN_ONLY),
    ("/account/ada/delete", {**FRAME, "form": dict, "projects": list}, OWN),
    ("/account/ada/export", {**FRAME, "form": dict, "export": dict}, OWN_ONLY),
    ("/account/newsletter", {**FRAME, "next": str}, SIGNED_IN),
    ("/account/confirm-email", {}, (302, 404, 404, 404)),
    ("/account/reset-password", {}, NOBODY),
    ("/account/register/confirmation", {}, NOBODY),
    ("/account/nobody", {}, (404,) * 4),
    ("/account/nobody/update", {}, (302, 404, 404, 404)),
)  # fmt: skip
# Every form, and what it would change.
POSTS = (
    "/account/register", "/account/signin", "/account/signout", "/account/forgot-password", "/account/reset-password?key=x",
    "/account/register/confirmation?key=x", "/account/confirm-email", "/account/newsletter", "/account/ada/update",
    "/account/ada/resetapikey", "/account/ada/sessions", "/account/ada/claim", "/account/ada/export", "/account/ada/delete",
    "/account/ada/unlink",
)  # fmt: skip


async def callers(served):
    """Nobody, somebody else, ada, an administrator."""
    bob, ada, boss = [await newcomer(served, name) for name in ("bob", "ada", "boss")]
    await served.database.execute("UPDATE account SET admin = true WHERE name = 'boss'")
    return served.client(), bob, ada, boss


@shows(
    "account-claim",
    "account-forgot",
    "account-key-reset",
    "account-page",
    "account-projects",
    "account-update",
    "format-signin-redirect",
)
@pytest_twisted.ensureDeferred
async def test_each_row_to_each_requester_as_page_and_as_json(served):
    people = await callers(served)
    html = {"Accept": "text/html", "Sec-Fetch-Site": "none"}
    for path, keys, statuses in ROWS:
        for who_, (browser, status) in zip(
            ("nobody", "other", "self", "admin"), zip(people, statuses, strict=True), strict=True
        ):
            page, data = await browser.get(path, headers=html), await browser.page(path)
            assert (page.status, data.status) == (status, status), (path, who_)
            if status == 302:
                assert page.header("location") == data.header("location") == f"/account/signin?next={path}", path
            if status != 200:
                continue
            assert page.header("content-type") == "text/html; charset=utf-8" and "<h1" in page.text, (path, who_)
            fields = data.json()
            assert fields.keys() >= keys.keys() and data.header("content-type") == "application/json", (path, who_)
            wrong = {key: fields[key] for key, sort in keys.items() if not isinstance(fields[key], sort)}
            assert wrong == {}, (path, who_)
            if path != "/account/ada" or who_ != "self":
                assert fields.keys() == keys.keys(), (path, who_)


@pytest_twisted.ensureDeferred
async def test_who_is_signed_in_needs_no_door(served):
    _, _, ada, _ = await callers(served)
    for path in ("/account/register", "/account/signin"):
        assert (await ada.page(path)).json() == {"next": "/"}
        assert (await ada.get(path)).header("location") == "/"


@pytest_twisted.ensureDeferred
async def test_no_form_is_believed_without_its_token_or_from_elsewhere(served):
    nobody, bob, ada, _ = await callers(served)
    before = await everything(served)
    foreign = (await bob.page("/account/bob/update")).json()["form"]["csrf"]
    own = (await ada.page("/account/ada/update")).json()["form"]["csrf"]
    elsewhere = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
    body = {
        "btn": "Profile", "fullname": "Forged", "password": "a good password", "confirm": "ada", "session": "all", "subscribe": "true",
        "email": "ada@example.org", "email_addr": "ada@example.org", "provider": "google",
    }  # fmt: skip
    for path in POSTS:
        for headers in (
            {}, {"X-CSRFToken": ""}, {"X-CSRFToken": "nonsense"}, {"X-CSRFToken": foreign}, {"X-CSRFToken": own, **elsewhere},
            {"X-CSRFToken": own, "Origin": "null"},
        ):  # fmt: skip
            for sent in ({"json": body}, {"data": body}):
                answer = await ada.post(path, headers=headers, **sent)
                assert answer.status in (400, 403), (path, headers, answer.status)
        plain = await nobody.post(path, data=body)
        assert plain.status in (400, 403), path
    assert await who(ada) == "ada" and await everything(served) == before


async def everything(served):
    """What none of these may change."""
    tables = (
        "account",
        "session",
        "one_time_link",
        "mail",
        "queue_item",
        "personal_export",
        "account_deletion",
        "provider_connection",
        "provider_token",
    )
    return {name: await served.database.fetch(f"SELECT t::text FROM {name} t ORDER BY 1") for name in tables}


@shows("get-acts")
@pytest_twisted.ensureDeferred
async def test_a_get_changes_nothing_that_another_sites_page_could_cause(served):
    _, _, ada, _ = await callers(served)
    await ada.page("/account/newsletter")
    before = await everything(served)
    for headers in ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "document"}, {"Accept": "application/json"}, {}):
        for path in (
            "/account/signout", "/account/newsletter?subscribe=true", "/account/ada/export?response_format=json", "/account/ada/delete",
            "/account/ada/resetapikey", "/account/confirm-email", "/account/ada/claim", "/account/ada/unlink", "/google/",
        ):  # fmt: skip
            await ada.get(path, headers=headers)
    assert await who(ada) == "ada" and await everything(served) == before


@pytest_twisted.ensureDeferred
async def test_what_a_form_does_not_have_is_not_taken_from_it(served):
    browser = served.client()
    form = {
        "name": "ada", "fullname": "Ada", "email_addr": "ada@example.org", "password": "a good password", "confirm": "a good password",
    }  # fmt: skip
    more = {
        "admin": True, "id": 1000, "passwd_hash": "x", "pro": True, "restrict": False, "api_key": "mine", "valid_email": True,
        "google_user_id": "1", "flags": 7, "info": {"a": 1}, "created": "2001-01-01", "locale": "xx", "privacy_mode": False,
    }  # fmt: skip
    await browser.send_form("/account/register", {**form, **more})
    me = (await browser.page("/account/profile")).json()["user"]
    fields = {
        key: me[key]
        for key in ("admin", "pro", "valid_email", "google_user_id", "flags", "info", "locale", "privacy_mode")
    }
    assert fields == {
        "admin": False, "pro": False, "valid_email": False, "google_user_id": None, "flags": None, "info": {}, "locale": "en",
        "privacy_mode": True,
    }  # fmt: skip
    assert me["id"] != 1000 and me["api_key"] != "mine" and not me["created"].startswith("2001")


@pytest_twisted.ensureDeferred
async def test_no_page_of_accounts_can_be_framed_or_kept(served):
    people = await callers(served)
    for path, _, statuses in ROWS:
        answer = await people[2].get(path, headers={"Accept": "text/html", "Sec-Fetch-Site": "none"})
        assert answer.header("x-frame-options") == "DENY" or statuses[2] == 404, path
        assert "frame-ancestors 'none'" in answer.header("content-security-policy"), path
        assert answer.header("cache-control") == "no-store", path
        if answer.status == 200:
            scripts = answer.text.count("<script")
            assert (
                scripts == answer.text.count('nonce="')
                and " onclick=" not in answer.text
                and "style=" not in answer.text
            ), path
