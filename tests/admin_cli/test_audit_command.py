"""``crowdctl audit``: the audit log and the security log, by account, kind and time."""

from __future__ import annotations

import pytest_twisted
from support.browsers import sign_in
from twisted.internet.threads import deferToThread

from crowdd.kernel.requester import SYSTEM

WORD = ("--password", "a good password")


def test_acts_are_shown_by_person_and_kind(crowdctl):
    crowdctl.json("admin", "create", "--name", "ada", "--email", "ada@example.org", *WORD)
    crowdctl.json("category", "add", "--name", "Maps")
    acts = crowdctl.json("audit")
    assert [(act["user_name"], act["kind"]) for act in acts] == [
        (SYSTEM.user_name, "category"),
        (SYSTEM.user_name, "user"),
    ]
    assert [act["kind"] for act in crowdctl.json("audit", "--kind", "user", "--since", "1h")] == ["user"]
    assert crowdctl.json("audit", "--account", "nobody") == []
    assert crowdctl.json("audit", "--since", "2100-01-01") == []
    assert "category" in crowdctl("audit").output


def test_changes_by_the_command_line_are_in_the_security_log(crowdctl):
    crowdctl.json("admin", "create", "--name", "ada", "--email", "ada@example.org", *WORD)
    crowdctl.json("user", "create", "--name", "bob", "--email", "bob@example.org", *WORD)
    crowdctl.json("admin", "add", "bob")
    shown = crowdctl.json("audit", "--security", "--account", "bob")
    assert [(row["kind"], row["user_name"], row["detail"]) for row in shown] == [("admin_made", "bob", "cli")]
    assert len(crowdctl.json("audit", "--security", "--kind", "admin_made", "--kind", "sign_in")) == 2
    assert crowdctl.json("audit", "--security", "--since", "2100-01-01T00:00") == []
    (letter,) = crowdctl.json("mail", "list")
    assert (letter["template"], letter["recipient"]) == ("new_administrator", "ada@example.org")


@pytest_twisted.ensureDeferred
async def test_ten_wrong_passwords_and_one_right_add_up_to_eleven(served, crowdctl):
    await served.person("ada")
    for password in [*["a wrong password"] * 10, "a good password"]:
        await sign_in(served.client(), "ada", password)
    await served.house.base.security_log.close()
    kinds = [word for kind in ("sign_in", "sign_in_failed", "sign_in_throttled") for word in ("--kind", kind)]
    rows = await deferToThread(crowdctl.json, "audit", "--security", "--account", "ada@example.org", *kinds)
    assert sum(row["count"] for row in rows) == 11 and {row["user_name"] for row in rows} == {"ada"}
