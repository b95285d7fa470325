"""What people change of their own account: four buttons under one address, projects, newsletter."""

import pytest_twisted
from support.browsers import PASSWORD, newcomer, sign_in, signed_in, who
from support.checks.shows import shows

FORM = {"catalog_api", "csrf", "email_addr", "errors", "fullname", "id", "locale", "name", "privacy_mode", "subscribed"}
PASSWORD_FORM = {"confirm", "csrf", "current_password", "errors", "new_password"}
UPLOAD_FORM = {"avatar", "csrf", "errors", "id", "x1", "x2", "y1", "y2"}
KEYS = {"form", "password_form", "upload_form", "show_passwd_form", "flash", "template", "title", "usage", "ways_in"}


async def profile_of(browser):
    return (await browser.page("/account/profile")).json()["user"]


async def update(browser, name, btn, /, **changes):
    """Posts the whole form back as front ends do, with changes."""
    page = (await browser.page(f"/account/{name}/update")).json()
    which = {"Password": "password_form", "Upload": "upload_form"}.get(btn, "form")
    body = {**page[which], "btn": btn, **changes}
    return await browser.post(f"/account/{name}/update", json=body, headers={"X-CSRFToken": page[which]["csrf"]})


@shows("account-update")
@pytest_twisted.ensureDeferred
async def test_the_view_has_the_keys_of_the_interface(served):
    ada = await newcomer(served, "ada")
    page = (await ada.page("/account/ada/update")).json()
    assert page.keys() == KEYS and page["flash"] is None and page["show_passwd_form"] is True
    assert (page["form"].keys(), page["password_form"].keys(), page["upload_form"].keys()) == (
        FORM, PASSWORD_FORM, UPLOAD_FORM,
    )  # fmt: skip
    assert (page["form"]["name"], page["form"]["privacy_mode"], page["form"]["subscribed"]) == ("ada", True, False)
    html = await ada.get("/account/ada/update")
    assert html.status == 200 and 'name="btn" value="Profile"' in html.text


@shows("account-update-post")
@pytest_twisted.ensureDeferred
async def test_a_profile_is_changed_and_nothing_else(served):
    ada = await newcomer(served, "ada")
    before = await profile_of(ada)
    done = await update(
        ada, "ada", "Profile", fullname="Ada King", privacy_mode=False, subscribed=True, id=99, admin=True, pro=True,
        passwd_hash="x", api_key="x", valid_email=False, restrict=True, catalog_api="not by this button",
    )  # fmt: skip
    assert done.json() == {
        "next": "/account/ada/update", "flash": "Your profile has been updated.", "status": "success",
    }  # fmt: skip
    after = await profile_of(ada)
    assert {key for key in after if after[key] != before[key]} == {"fullname", "privacy_mode", "subscribed"}
    assert (await sign_in(served.client(), "ada")).json()["status"] == "success"


@pytest_twisted.ensureDeferred
async def test_a_new_name_is_a_new_address_and_keeps_the_session(served):
    ada = await newcomer(served, "ada")
    assert (await update(ada, "ada", "Profile", name="lovelace")).json()["next"] == "/account/lovelace/update"
    assert await who(ada) == "lovelace" and (await ada.page("/account/ada")).status == 404


@pytest_twisted.ensureDeferred
async def test_mistakes_and_what_is_taken_are_told_per_field(served):
    ada = await newcomer(served, "ada")
    await served.person("bob")
    for changes, field in (
        ({"name": "b b"}, "name"), ({"name": "BOB"}, "name"), ({"name": "sessions"}, "name"), ({"fullname": " "}, "fullname"),
        ({"fullname": "Ada\nBcc: all@example.org"}, "fullname"), ({"email_addr": "x"}, "email_addr"),
        ({"email_addr": "bob@example.org"}, "email_addr"), ({"email_addr": "a@b.org\r\nBcc: c@d.org"}, "email_addr"),
        ({"locale": "tlh"}, "locale"),
    ):  # fmt: skip
        answer = (await update(ada, "ada", "Profile", **changes)).json()
        assert answer["status"] == "error" and list(answer["form"]["errors"]) == [field], changes
        assert answer.keys() == KEYS | {"status"} and answer["password_form"]["errors"] == {}
    assert (await profile_of(ada))["name"] == "ada"


@pytest_twisted.ensureDeferred
async def test_boxes_of_a_page_are_off_when_they_are_not_ticked(served):
    ada = await newcomer(served, "ada")
    token = (await ada.page("/account/ada/update")).json()["form"]["csrf"]
    fields = {"name": "ada", "fullname": "Ada", "email_addr": "ada@example.org", "locale": "en", "btn": "Profile"}
    await ada.post("/account/ada/update", data={**fields, "csrf_token": token, "subscribed": "y"})
    seen = await profile_of(ada)
    assert (seen["privacy_mode"], seen["subscribed"]) == (False, True)
    only = {"btn": "Profile", "csrf_token": token, "fullname": "Countess"}
    assert (await ada.post("/account/ada/update", json=only)).json()["status"] == "success"
    seen = await profile_of(ada)
    assert (seen["fullname"], seen["subscribed"]) == ("Countess", True)


@shows("account-update-post")
@pytest_twisted.ensureDeferred
async def test_the_button_must_be_one_of_four(served):
    ada = await newcomer(served, "ada")
    for btn in ("profile", "", "Delete", None):
        assert (await update(ada, "ada", btn)).status == 415, btn


@shows("account-update-password", "session-server")
@pytest_twisted.ensureDeferred
async def test_a_new_password_ends_all_other_sessions(served):
    ada, elsewhere = await newcomer(served, "ada"), await signed_in(served, "ada")
    old = ada.cookies["session"]
    new = {"new_password": "a new password", "confirm": "a new password"}
    answer = await update(ada, "ada", "Password", current_password=PASSWORD, **new)
    assert answer.json()["status"] == "success" and ada.cookies["session"] != old
    assert (await who(ada), await who(elsewhere)) == ("ada", None)
    assert (await sign_in(served.client(), "ada")).json()["status"] == "error"
    assert (await sign_in(served.client(), "ada", "a new password")).json()["status"] == "success"


@pytest_twisted.ensureDeferred
async def test_a_password_is_changed_by_who_knows_the_old_one(served):
    ada = await newcomer(served, "ada")
    for sent, field in (
        ({"current_password": "wrong", "new_password": "a new password", "confirm": "a new password"}, "current_password"),
        ({"current_password": PASSWORD, "new_password": "a new password", "confirm": "another"}, "confirm"),
        ({"current_password": PASSWORD, "new_password": "short", "confirm": "short"}, "new_password"),
    ):  # fmt: skip
        page = (await update(ada, "ada", "Password", **sent)).json()
        assert page["status"] == "error" and list(page["password_form"]["errors"]) == [field]
        assert all(page["password_form"][name] is None for name in ("current_password", "new_password", "confirm"))
    wrong = {"current_password": "wrong", "new_password": "a new password", "confirm": "a new password"}
    statuses = [(await update(ada, "ada", "Password", **wrong)).status for _ in range(11)]
    assert statuses == [200] * 9 + [429] * 2


@shows("account-update-post")
@pytest_twisted.ensureDeferred
async def test_external_changes_the_key_of_the_catalogue_only(served):
    ada = await newcomer(served, "ada")
    done = await update(ada, "ada", "External", catalog_api=" k3y ", fullname="Somebody Else")
    assert done.json()["status"] == "success"
    seen = await profile_of(ada)
    assert (seen["catalog_api"], seen["fullname"]) == ("k3y", "Ada")
    assert list((await update(ada, "ada", "External", catalog_api="x" * 501)).json()["form"]["errors"]) == [
        "catalog_api"
    ]
    await update(ada, "ada", "External", catalog_api="")
    assert (await profile_of(ada))["catalog_api"] is None


@pytest_twisted.ensureDeferred
async def test_whose_settings_these_are(served):
    ada, bob = await newcomer(served, "ada"), await newcomer(served, "bob")
    boss = await served.person("boss", admin=True)
    anonymous = await served.client().page("/account/ada/update")
    assert (anonymous.status, anonymous.header("location")) == (302, "/account/signin?next=/account/ada/update")
    for path in ("update", "projects", "sessions", "claim"):
        assert (await bob.page(f"/account/ada/{path}")).status == 403, path
        assert (await served.client().get(f"/account/ada/{path}")).status == 302, path
    token = (await bob.page("/account/bob/update")).json()["form"]["csrf"]
    forged = {"btn": "Profile", "fullname": "Bob was here"}
    assert (await bob.post("/account/ada/update", json=forged, headers={"X-CSRFToken": token})).status == 403
    assert (await boss.post("/account/ada/update", json={"btn": "Profile", "fullname": "Ada Byron"})).status == 200
    assert (await profile_of(ada))["fullname"] == "Ada Byron"
    words = {"btn": "Password", "current_password": PASSWORD, "new_password": "by the boss", "confirm": "by the boss"}
    assert (await boss.post("/account/ada/update", json=words)).json()["status"] == "error"
    assert (await boss.page("/account/ada/sessions")).status == 403
    assert (await boss.page("/account/ada/update")).json()["show_passwd_form"] is False


@shows("account-projects")
@pytest_twisted.ensureDeferred
async def test_projects_published_and_drafts(served):
    ada = await served.person("ada")
    await served.project(ada, "draft")
    await served.project(ada, "open", tasks=1, published=True)
    page = (await ada.page("/account/ada/projects")).json()
    assert page.keys() == {"projects_draft", "projects_published", "template", "title"}
    assert [p["short_name"] for p in page["projects_draft"]] == ["draft"]
    assert [(p["short_name"], p["owner_id"]) for p in page["projects_published"]] == [("open", ada.user_id)]
    assert (await ada.get("/account/ada/projects")).status == 200


@shows("account-newsletter")
@pytest_twisted.ensureDeferred
async def test_the_newsletter_asks_and_takes_an_answer(served):
    ada = await newcomer(served, "ada")
    page = (await ada.page("/account/newsletter")).json()
    assert page.keys() == {"template", "title", "next"} and (await profile_of(ada))["newsletter_prompted"] is True
    for word, wanted in (("true", True), ("False", False), ("True", True)):
        answer = (await ada.page(f"/account/newsletter?subscribe={word}")).json()
        assert answer.keys() == {"next", "flash", "status"} and answer["status"] == "success"
        assert (await profile_of(ada))["subscribed"] is wanted
    crossing = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "document"}
    asked = await ada.get("/account/newsletter?subscribe=false", headers=crossing)
    assert asked.status == 200 and 'name="subscribe"' in asked.text
    assert (await ada.get("/account/newsletter?subscribe=false", headers={"Accept": "application/json"})).status == 403
    assert (await ada.page("/account/newsletter?subscribe=maybe")).status == 415
    assert (await profile_of(ada))["subscribed"] is True
    assert (await served.client().page("/account/newsletter")).status == 302
