"""People over REST."""

from datetime import UTC, datetime

import pytest_twisted
from support.checks.shows import shows

YEAR = datetime.now(UTC).year
PRIVATE = {
    "id", "email_addr", "api_key", "admin", "pro", "privacy_mode", "subscribed", "newsletter_prompted", "valid_email",
    "confirmation_email_sent", "info", "flags", "category", "catalog_api",
    "google_user_id", "github_user_id", "orcid_user_id",
}  # fmt: skip


@shows("user-public")
@pytest_twisted.ensureDeferred
async def test_others_see_name_and_locale_only(served):
    ada, bob = await served.person("ada"), await served.person("bob")
    for who in (bob, served.client()):
        seen = (await who.get(f"/api/user/{ada.user_id}")).json()
        assert seen.keys() == {"name", "locale", "link"} and seen["name"] == "ada"
    assert [u.keys() for u in (await served.client().get("/api/user")).json()] == [{"name", "locale", "link"}] * 2


@shows("user-public")
@pytest_twisted.ensureDeferred
async def test_who_switches_privacy_off_shows_fullname_and_date(served):
    ada = await served.person("ada")
    await ada.put(f"/api/user/{ada.user_id}", json={"privacy_mode": False})
    seen = (await served.client().get(f"/api/user/{ada.user_id}")).json()
    assert seen.keys() == {"name", "locale", "link", "fullname", "created"} and seen["fullname"] == "Ada"


@shows("user-fields", "user-self")
@pytest_twisted.ensureDeferred
async def test_one_sees_everything_of_oneself_but_no_password(served):
    ada = await served.person("ada")
    mine = (await ada.get(f"/api/user/{ada.user_id}")).json()
    assert mine.keys() >= PRIVATE and mine["api_key"] == ada.key and mine["email_addr"] == "ada@example.org"
    assert "passwd_hash" not in mine


@shows("user-admin")
@pytest_twisted.ensureDeferred
async def test_administrators_see_everybody_and_a_null_for_the_password(served):
    ada, boss = await served.person("ada"), await served.person("boss", admin=True)
    seen = (await boss.get(f"/api/user/{ada.user_id}")).json()
    assert seen.keys() >= PRIVATE - {"api_key"} and seen["passwd_hash"] is None and "api_key" not in seen
    assert [u["id"] for u in (await boss.get(f"/api/user?id=[{ada.user_id},{boss.user_id}]")).json()] == [1, 2]


@shows("record-exposure")
@pytest_twisted.ensureDeferred
async def test_hidden_attributes_are_neither_found_nor_ordered_by(served):
    await served.person("zoe")
    ada, boss = await served.person("ada"), await served.person("boss", admin=True)
    names = ["zoe", "ada", "boss"]
    for query in ("fullname=Zoe", "admin=true", "id=1", f"created={YEAR}", "info=a::b", "privacy_mode=true"):
        assert (await served.client().get(f"/api/user?{query}")).json() == [], query
    for order in ("fullname", "admin", "created", "valid_email"):
        listed = (await ada.get(f"/api/user?orderby={order}&desc=false")).json()
        hidden = [u["name"] for u in listed if u["name"] != "ada"]
        assert hidden == ["zoe", "boss"], order
    assert [u["name"] for u in (await boss.get("/api/user?orderby=fullname")).json()] == sorted(names)


@shows("error-unknown-attribute")
@pytest_twisted.ensureDeferred
async def test_secret_attributes_are_unknown_to_queries(served):
    boss = await served.person("boss", admin=True)
    for name in ("api_key_hash", "email_addr", "passwd_hash", "catalog_api", "google_user_id", "api_key_encrypted"):
        for query in (f"{name}=x", f"orderby={name}"):
            error = (await boss.get(f"/api/user?{query}")).json()
            assert (error["status_code"], error["exception_cls"]) == (415, "AttributeError"), query
            assert name in error["exception_msg"]
    assert (await boss.get("/api/user?orderby=api_key")).status == 415


@shows("user-put")
@pytest_twisted.ensureDeferred
async def test_one_changes_oneself_and_administrators_everybody(served):
    ada, bob = await served.person("ada"), await served.person("bob")
    boss, path = await served.person("boss", admin=True), f"/api/user/{ada.user_id}"
    assert (await served.client().put(path, json={"fullname": "X"})).status == 401
    assert (await bob.put(path, json={"fullname": "X"})).status == 403
    mine = await ada.put(path, json={"fullname": "Ada L.", "info": {"motto": 1}})
    assert (mine.json()["fullname"], mine.json()["info"]) == ("Ada L.", {"motto": 1})
    assert (await boss.put(path, json={"info": {"extra": {"badge": 2}}})).json()["info"] == {"extra": {"badge": 2}}


@shows("user-info-guarded")
@pytest_twisted.ensureDeferred
async def test_badges_and_pictures_in_info_are_not_written_by_their_person(served):
    ada, boss = await served.person("ada"), await served.person("boss", admin=True)
    path = f"/api/user/{ada.user_id}"
    for name in ("extra", "container", "avatar", "avatar_url"):
        refused = await ada.put(path, json={"info": {name: "/uploads/user-1/mine.png"}})
        assert (refused.status, refused.json()["exception_msg"]) == (403, f"You may not change info.{name}.")
    stored = {"extra": {"badge": 1}, "avatar_url": "/uploads/user-1/a.png"}
    assert (await boss.put(path, json={"info": stored})).json()["info"] == stored
    assert (await ada.put(path, json={"info": {"motto": "x"}})).json()["info"] == {**stored, "motto": "x"}
    whole = {**stored, "motto": "y"}
    assert (await ada.put(path, json={"info": whole})).json()["info"] == whole
    assert (await ada.put(path, json={"info": {**whole, "extra": {"badge": 2}}})).status == 403


@shows("user-put-admin")
@pytest_twisted.ensureDeferred
async def test_nobody_makes_himself_an_administrator(served):
    ada, boss = await served.person("ada"), await served.person("boss", admin=True)
    for change in ({"admin": True}, {"pro": True}, {"flags": 1}):
        assert (await ada.put(f"/api/user/{ada.user_id}", json=change)).status == 403
    by_key = await boss.put(f"/api/user/{ada.user_id}", json={"admin": True})
    assert (by_key.status, by_key.json()["error_code"]) == (403, "session_needed")
    browser = await boss.by_session()
    assert (await browser.put(f"/api/user/{ada.user_id}", json={"admin": True})).json()["admin"] is True
    assert (await browser.put(f"/api/user/{boss.user_id}", json={"admin": False})).status == 403


@shows("user-put")
@pytest_twisted.ensureDeferred
async def test_identity_is_not_changed_over_rest(served):
    ada, boss = await served.person("ada"), await served.person("boss", admin=True)
    for who in (ada, boss):
        for change in (
            {"email_addr": "x@example.org"}, {"api_key": "known"}, {"id": 9}, {"name": "eve"}, {"created": "2001"},
            {"passwd_hash": "x"}, {"valid_email": True},
        ):  # fmt: skip
            answer = await who.put(f"/api/user/{ada.user_id}", json=change)
            assert answer.status == 400 and answer.json()["error_code"] == "reserved_attribute", change
    whole = (await ada.get(f"/api/user/{ada.user_id}")).json()
    assert (await ada.put(f"/api/user/{ada.user_id}", json=whole)).json() == whole


@shows("user-no-post")
@pytest_twisted.ensureDeferred
async def test_users_are_not_made_or_deleted_over_rest(served):
    boss = await served.person("boss", admin=True)
    for who in (boss, served.client()):
        made = await who.post("/api/user", json={"name": "eve"})
        gone = await who.delete(f"/api/user/{boss.user_id}")
        for answer, allowed in ((made, "GET, HEAD, OPTIONS"), (gone, "GET, HEAD, OPTIONS, PUT")):
            assert answer.status == 405 and answer.header("allow") == allowed
            assert answer.json()["exception_cls"] == "MethodNotAllowed"


@shows("user-blocked")
@pytest_twisted.ensureDeferred
async def test_blocked_people_are_shown_to_administrators_only(served):
    ada, boss = await served.person("ada"), await served.person("boss", admin=True)
    await served.database.execute("UPDATE account SET \"restrict\" = true WHERE name = 'ada'")
    assert [u["name"] for u in (await served.client().get("/api/user")).json()] == ["boss"]
    assert (await served.client().get(f"/api/user/{ada.user_id}")).status == 401
    assert (await boss.get(f"/api/user/{ada.user_id}")).json()["restrict"] is True
    assert (await ada.get("/api/project")).json() == [] and (await ada.post("/api/project", json={})).status == 401
    assert (await ada.post("/api/project", json={"name": "x"})).status == 401
