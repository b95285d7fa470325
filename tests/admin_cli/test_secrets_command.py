"""``crowdctl secrets``: a new key is added, everything is sealed with it, and the old one goes."""

from __future__ import annotations

from pathlib import Path

WORD = ("--password", "a good password")


def test_a_new_key_takes_over_and_the_old_one_finds_keys_as_before(crowdctl, rows):
    crowdctl.json("user", "create", "--name", "bob", "--email", "bob@example.org", *WORD)
    before = rows("SELECT api_key_hash, api_key_sealed FROM account")
    (only,) = crowdctl.json("secrets", "list")
    assert only["use"] == "seals and signs, finds and hides addresses"
    made = crowdctl.json("secrets", "add", "--yes")
    assert [(key["id"], key["use"]) for key in crowdctl.json("secrets", "list")] == [
        (made["id"], "seals and signs"),
        (only["id"], "opens, finds and hides addresses"),
    ]
    done = crowdctl.json("secrets", "rotate")
    assert done[0] == {"table": "account", "column": "api_key_sealed", "changed": 1, "unreadable": 0}
    after = rows("SELECT api_key_hash, api_key_sealed FROM account")
    assert after[0]["api_key_hash"] == before[0]["api_key_hash"]
    assert bytes(after[0]["api_key_sealed"])[4:12].hex() == made["id"]


def test_secrets_of_a_lost_key_are_told(crowdctl):
    crowdctl.json("user", "create", "--name", "bob", "--email", "bob@example.org", *WORD)
    Path(crowdctl.environment["CROWDD_DATA_DIR"], "secret.key").unlink()
    ended = crowdctl("secrets", "rotate", "--json")
    assert ended.status == 1 and ended.json[0]["unreadable"] == 1
