"""``crowdctl user``: what the server then says of the same people."""

from __future__ import annotations

import json
import pwd
import zipfile
from pathlib import Path

import pytest
import pytest_twisted

from crowdd.kernel.requester import SYSTEM, unix_user

WORD = ("--password", "a good password")


@pytest.fixture
def bob(crowdctl):
    """What ``user create`` tells of him."""
    return crowdctl.json("user", "create", "--name", "bob", "--email", "bob@example.org", *WORD, "--locale", "de")


def audit(rows):
    return [(r["via"], r["user_name"], r["action"]) for r in rows("SELECT * FROM audit ORDER BY id")]


def test_created_listed_searched_and_shown_by_any_name(crowdctl, bob, rows):
    eve = crowdctl.json(
        "user", "create", "--name", "eve", "--email", "eve@example.org", "--fullname", "Eve Curie", *WORD
    )
    assert [row["name"] for row in crowdctl.json("user", "list")] == ["bob", "eve"]
    assert [row["id"] for row in crowdctl.json("user", "list", "--after", str(bob["id"]))] == [eve["id"]]
    assert [row["name"] for row in crowdctl.json("user", "list", "--search", "CURIE")] == ["eve"]
    assert [row["name"] for row in crowdctl.json("user", "list", "--limit", "1")] == ["bob"]
    shown = [crowdctl.json("user", "show", name) for name in ("Bob", "bob@example.org", str(bob["id"]))]
    assert shown[0] == shown[1] == shown[2]
    assert (shown[0]["locale"], shown[0]["admin"], shown[0]["projects"]) == ("de", False, [])
    assert "api_key" not in shown[0] and "passwd_hash" not in shown[0]
    assert audit(rows) == [("cli", SYSTEM.user_name, "create")] * 2


@pytest_twisted.ensureDeferred
async def test_who_is_blocked_gets_in_no_more_and_then_again(serve, crowdctl, bob, rows):
    served = await serve(CROWDD_DATA_DIR=crowdctl.environment["CROWDD_DATA_DIR"])

    async def known():
        return "email_addr" in (await served.client(bob["api_key"]).get(f"/api/user/{bob['id']}")).json()

    assert await known()
    assert crowdctl.json("user", "block", "bob")["changed"]
    assert not await known()
    assert crowdctl("user", "block", "bob").output == "bob is blocked already.\n"
    assert crowdctl.json("user", "unblock", "bob@example.org")["changed"]
    assert await known()
    assert [act for _, _, act in audit(rows)] == ["create", "block", "unblock"]


def test_second_factors_of_somebody_who_lost_them_are_removed(crowdctl, bob, rows):
    rows(
        "WITH t AS (INSERT INTO totp VALUES (%s, '', clock(), clock()) RETURNING user_id)"
        " UPDATE account SET second_factor = true WHERE id IN (SELECT user_id FROM t) RETURNING id",
        bob["id"],
    )
    assert crowdctl.json("user", "remove-factors", "bob", "--yes")["removed"] == 1
    assert rows("SELECT second_factor, (SELECT count(*) FROM totp) AS apps FROM account") == [
        {"second_factor": False, "apps": 0}
    ]
    assert audit(rows)[-1] == ("cli", SYSTEM.user_name, "remove_second_factors")
    assert [row["template"] for row in rows("SELECT template FROM mail")] == ["second_factor_changed"]
    assert crowdctl("user", "remove-factors", "bob", "--yes").output == "Removed 0 second factors of bob.\n"


@pytest_twisted.ensureDeferred
async def test_new_password_works_and_ends_sessions(serve, crowdctl, bob, rows):
    served = await serve(CROWDD_DATA_DIR=crowdctl.environment["CROWDD_DATA_DIR"])
    browser = served.client()
    await browser.send_form("/account/signin", {"email": "bob@example.org", "password": WORD[1]})
    ended = crowdctl("user", "reset-password", "bob", told="another good one\n")
    assert (ended.status, ended.output) == (0, "bob has a new password.\n")
    assert rows("SELECT count(*) AS n FROM session") == [{"n": 0}]
    answers = [
        await served.client().send_form("/account/signin", {"email": "bob@example.org", "password": word})
        for word in (WORD[1], "another good one")
    ]
    assert [answer.json()["status"] for answer in answers] == ["error", "success"]
    assert audit(rows)[-1] == ("cli", SYSTEM.user_name, "change_password")
    written = [row["template"] for row in rows("SELECT template FROM mail ORDER BY id")]
    assert written == ["password_changed", "new_device"]


@pytest_twisted.ensureDeferred
async def test_an_invited_person_chooses_the_password(serve, crowdctl, rows):
    """An administrator had to type a password for everybody, on a command line that others can read."""
    served = await serve(CROWDD_DATA_DIR=crowdctl.environment["CROWDD_DATA_DIR"])
    words = ("--name", "eve", "--email", "eve@example.org", "--locale", "de")
    done = crowdctl.json("user", "invite", *words)
    assert rows("SELECT passwd_hash, locale FROM account WHERE name = 'eve'") == [{"passwd_hash": None, "locale": "de"}]
    path = done["link"].partition("/account/")[2]
    browser = served.client()
    answer = await browser.send_form(
        f"/account/{path}", {"new_password": "a good password", "confirm": "a good password"}
    )
    assert answer.json()["status"] == "success", answer.json()
    entry = {"email": "eve@example.org", "password": "a good password"}
    assert (await served.client().send_form("/account/signin", entry)).json()["status"] == "success"
    assert [act for _, _, act in audit(rows)][:2] == ["create", "make_reset_link"]
    assert "taken" in crowdctl.refused("user", "invite", *words)


def test_a_reset_link_is_printed_and_changes_nothing(crowdctl, bob, rows):
    before = rows("SELECT passwd_hash FROM account")
    link = crowdctl("user", "reset-password", "bob", "--link").output
    assert "/account/reset-password?key=" in link
    assert rows("SELECT passwd_hash FROM account") == before and rows("SELECT id FROM mail") == []
    crowdctl.json("user", "block", "bob")
    assert "bob is blocked." in crowdctl.refused("user", "reset-password", "bob", "--link")


@pytest.mark.parametrize(
    ("login", "environ", "name"),
    [
        (str(pwd.getpwnam("daemon").pw_uid), {"SUDO_USER": "bin"}, "daemon"),
        ("4294967295", {"SUDO_USER": "ada"}, "ada"),
        ("", {}, "root"),
    ],
)
def test_the_audit_log_has_the_user_of_the_machine(login, environ, name):
    """All administrators of a machine had the same name there."""
    assert unix_user(login, environ, 0) == name


def test_who_typed_it_stands_in_the_audit_log(crowdctl, bob):
    crowdctl("user", "block", "bob")
    newest = crowdctl.json("audit")[0]
    assert newest["user_name"] == SYSTEM.user_name and newest["user_name"].startswith("crowdctl (")


def test_letter_for_a_new_password_changes_nothing(crowdctl, bob, rows):
    before = rows("SELECT passwd_hash FROM account")
    assert crowdctl.json("user", "reset-password", str(bob["id"]), "--email")["email"]
    assert rows("SELECT passwd_hash FROM account") == before
    (letter,) = rows("SELECT recipient, template, text FROM mail")
    assert (letter["recipient"], letter["template"]) == ("bob@example.org", "reset_password")
    crowdctl.json("user", "block", "bob")
    assert "blocked" in crowdctl.refused("user", "reset-password", "bob", "--email")


def test_deleted_at_once_and_cleared_away_by_the_queue(crowdctl, bob, rows):
    assert crowdctl.json("user", "delete", "bob", "--yes") == {"id": bob["id"], "name": "bob"}
    assert [row["name"] for row in crowdctl.json("queue", "list", "--state", "waiting")] == ["delete_account"]
    assert crowdctl.json("queue", "work") == {"items": 1}
    assert crowdctl.json("user", "list") == []
    (item,) = crowdctl.json("queue", "list")
    shown = crowdctl.json("queue", "show", str(item["id"]), "--wait")
    assert shown["state"] == "done"
    assert crowdctl("queue", "work").output == "Nothing is due.\n"


def test_everything_about_somebody_is_in_the_file(crowdctl, bob, rows, tmp_path):
    target = tmp_path / "bob.zip"
    done = crowdctl.json("user", "export", "bob", "--to", target)
    assert done["bytes"] == target.stat().st_size
    assert target.stat().st_mode & 0o777 == 0o600
    with zipfile.ZipFile(target) as archive:
        (account,) = json.loads(archive.read("account.json"))
    assert (account["id"], account["email_addr"]) == (bob["id"], "bob@example.org")
    assert audit(rows)[-1] == ("cli", SYSTEM.user_name, "export")
    assert rows("SELECT count(*) AS n FROM mail") == [{"n": 0}]
    assert [*Path(crowdctl.environment["CROWDD_DATA_DIR"], "exports").iterdir()] == []
