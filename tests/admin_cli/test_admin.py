"""``crowdctl admin`` and ``crowdctl user``: administrators, links, keys."""

import pytest
import pytest_twisted

from crowdd.kernel.requester import SYSTEM

ADA = ("--name", "ada", "--email", "ada@example.org")
PASSWORD = ("--password", "a good password")


@pytest.fixture
def ada(crowdctl):
    """The administrator ada, as ``admin create`` tells of her."""
    return crowdctl.json("admin", "create", *ADA, *PASSWORD, "--fullname", "Ada Lovelace")


def audit(rows):
    return [(r["via"], r["user_name"], r["action"]) for r in rows("SELECT * FROM audit ORDER BY id")]


@pytest_twisted.ensureDeferred
async def test_key_and_password_of_a_created_administrator_work(serve, crowdctl, ada):
    served = await serve(CROWDD_DATA_DIR=crowdctl.environment["CROWDD_DATA_DIR"])
    me = (await served.client(ada["api_key"]).get(f"/api/user/{ada['id']}")).json()
    assert (me["name"], me["fullname"], me["admin"]) == ("ada", "Ada Lovelace", True)
    browser = served.client()
    signed_in = await browser.send_form("/account/signin", {"email": "ada@example.org", "password": PASSWORD[1]})
    assert signed_in.json()["status"] == "success"


def test_created_twice_is_one_account(crowdctl, ada, rows):
    again = crowdctl.json("admin", "create", "--name", "ADA", *ADA[2:], "--password", "something else")
    assert (again["id"], again["api_key"], again["created"]) == (ada["id"], ada["api_key"], False)
    assert audit(rows) == [("cli", SYSTEM.user_name, "create")]


def test_account_that_is_there_becomes_administrator(crowdctl, ada, rows):
    rows("UPDATE account SET admin = false")
    assert "Found administrator ada" in crowdctl("admin", "create", *ADA, *PASSWORD).output
    assert rows("SELECT admin FROM account") == [{"admin": True}]


def test_password_from_standard_input_is_not_shown(crowdctl, rows):
    ended = crowdctl("admin", "create", *ADA, told="a secret of mine\n")
    assert ended.status == 0
    assert "secret" not in ended.output + ended.complaint
    assert rows("SELECT passwd_hash LIKE '$argon2id$v=19$m=19456,t=2,p=1$%' AS hashed FROM account") == [
        {"hashed": True}
    ]


def test_no_password_at_all(crowdctl):
    assert "--password" in crowdctl.refused("admin", "create", *ADA, status=2)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--name", "ada", "--email", "nowhere", *PASSWORD), "email_addr: Enter a valid e-mail address."),
        (("--name", "examples", "--email", "ada@example.org", *PASSWORD), "name: This name is reserved."),
        ((*ADA, "--password", "short"), "password: Use 10"),
    ],
)
def test_account_that_the_rules_refuse(crowdctl, words, said, rows):
    assert said in crowdctl.refused("admin", "create", *words)
    assert rows("SELECT id FROM account") == []


def test_name_or_address_of_somebody_else(crowdctl, ada):
    other = crowdctl.refused("admin", "create", "--name", "ada", "--email", "eve@example.org", *PASSWORD)
    assert "another e-mail" in other
    taken = crowdctl.refused("admin", "create", "--name", "eve", "--email", "ada@example.org", *PASSWORD)
    assert "An account with this e-mail address already exists." in taken


def test_add_remove_list(crowdctl, ada, rows):
    crowdctl("admin", "create", "--name", "bob", "--email", "bob@example.org", *PASSWORD)
    assert crowdctl.json("admin", "remove", "ada")["changed"]
    assert [row["name"] for row in crowdctl.json("admin", "list")] == ["bob"]
    assert crowdctl("admin", "remove", "ada").output == "ada is not an administrator.\n"
    crowdctl("admin", "add", "ada")
    crowdctl("admin", "remove", "bob")
    assert crowdctl("admin", "add", "ada@example.org").output == "ada is an administrator already.\n"
    assert crowdctl("admin", "add", "ada").output == "ada is an administrator already.\n"
    listed = crowdctl.json("admin", "list")
    assert [(row["id"], row["name"], row["email_addr"]) for row in listed] == [(ada["id"], "ada", "ada@example.org")]
    made = [action for _, _, action in audit(rows)]
    assert made == ["create", "create", "remove_admin", "add_admin", "remove_admin"]


def test_the_last_administrator_stays(crowdctl, ada, rows):
    assert crowdctl.refused("admin", "remove", "ada").startswith("Error: You cannot remove the last administrator.")
    crowdctl("admin", "create", "--name", "bob", "--email", "bob@example.org", *PASSWORD)
    rows('UPDATE account SET "restrict" = true WHERE name = %s', "bob")
    assert "You cannot remove the last administrator." in crowdctl.refused("admin", "remove", "ada"), (
        "who is blocked cannot help"
    )
    assert rows("SELECT admin FROM account ORDER BY id") == [{"admin": True}, {"admin": True}]


def test_list_shows_names_as_text(crowdctl, ada, rows):
    rows("UPDATE account SET fullname = %s", "[bold]Eve[/] \x1b[31m:smile:")
    table = crowdctl("admin", "list").output
    assert "[bold]Eve[/] \N{REPLACEMENT CHARACTER}[31m:smile:" in table
    assert len(table.splitlines()) == 2


@pytest.mark.parametrize("words", [("admin", "add"), ("admin", "remove"), ("user", "reset-api-key")])
def test_nobody_of_that_name(crowdctl, words):
    assert crowdctl.refused(*words, "nobody") == "Error: Account nobody does not exist."


@pytest_twisted.ensureDeferred
async def test_link_makes_the_first_administrator_and_only_the_last_one_works(serve, crowdctl):
    served = await serve(CROWDD_DATA_DIR=crowdctl.environment["CROWDD_DATA_DIR"])
    old, new = (crowdctl.json("admin", "link")["url"].removeprefix("http://127.0.0.1:8000") for _ in range(2))
    assert (await served.client().get(old)).status == 404
    assert (await served.client().get(new)).status == 200


def test_no_link_once_there_is_an_administrator(crowdctl, ada):
    assert crowdctl.json("admin", "link") == {"url": None}
    assert "already" in crowdctl("admin", "link").output


@pytest_twisted.ensureDeferred
async def test_new_key_ends_the_old_one(serve, crowdctl, ada, rows):
    served = await serve(CROWDD_DATA_DIR=crowdctl.environment["CROWDD_DATA_DIR"])
    new = crowdctl.json("user", "reset-api-key", "ada")["api_key"]
    assert new != ada["api_key"]
    answers = [await served.client(key).get(f"/api/user/{ada['id']}") for key in (ada["api_key"], new)]
    assert ["email_addr" in answer.json() for answer in answers] == [False, True]
    assert audit(rows)[-1] == ("cli", SYSTEM.user_name, "reset_api_key")
