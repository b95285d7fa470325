"""``crowdctl secrets``: a new key is added, everything is encrypted with it, and the old one goes."""

from __future__ import annotations

import urllib.error
import urllib.request
from pathlib import Path

import pytest
from support.servers.live import LiveServer

WORD = ("--password", "a good password")


def test_a_new_key_takes_over_and_the_old_one_finds_keys_as_before(crowdctl, rows):
    crowdctl.json("user", "create", "--name", "bob", "--email", "bob@example.org", *WORD)
    before = rows("SELECT api_key_hash, api_key_encrypted FROM account")
    (only,) = crowdctl.json("secrets", "list")
    assert only["use"] == "encrypts and signs, hashes keys and addresses"
    made = crowdctl.json("secrets", "add", "--yes")
    assert [(key["id"], key["use"]) for key in crowdctl.json("secrets", "list")] == [
        (made["id"], "encrypts and signs"),
        (only["id"], "decrypts, hashes keys and addresses"),
    ]
    done = crowdctl.json("secrets", "rotate")
    assert done[0] == {"table": "account", "column": "api_key_encrypted", "changed": 1, "unreadable": 0}
    after = rows("SELECT api_key_hash, api_key_encrypted FROM account")
    assert after[0]["api_key_hash"] == before[0]["api_key_hash"]
    assert bytes(after[0]["api_key_encrypted"])[4:12].hex() == made["id"]


PROJECT = b'{"name": "Birds", "short_name": "birds", "description": "Who sings?"}'
LOST = "Put the file of this database back"


def key_file(crowdctl) -> Path:
    return Path(crowdctl.environment["CROWDD_DATA_DIR"], "secret.key")


def test_a_lost_key_file_is_refused_by_commands_and_none_is_made(crowdctl, rows):
    crowdctl.json("user", "create", "--name", "bob", "--email", "bob@example.org", *WORD)
    key = key_file(crowdctl).read_bytes()
    key_file(crowdctl).unlink()
    for words in (("admin", "link"), ("user", "show", "bob"), ("secrets", "rotate"), ("jobs", "list")):
        error = crowdctl.refused(*words)
        assert "contains no secret.key" in error and LOST in error and "crowdctl secrets adopt --new-key" in error
    assert [*key_file(crowdctl).parent.iterdir()] == []
    key_file(crowdctl).write_bytes(key)
    assert crowdctl.json("user", "show", "bob")["name"] == "bob"


def test_another_key_file_is_refused_and_doctor_says_so(crowdctl, elsewhere):
    crowdctl.json("admin", "list")
    elsewhere.json("admin", "list")
    key_file(crowdctl).write_bytes(key_file(elsewhere).read_bytes())
    assert "is not the key file of this database" in crowdctl.refused("admin", "link")
    findings = crowdctl("doctor", "--json").json
    (finding,) = [one for one in findings if "is not the key file of this database" in one["what"]]
    assert finding["wrong"] and LOST in finding["todo"]


@pytest.mark.proof
def test_a_server_with_another_key_refuses_to_start_in_a_sentence(crowdctl, dsn):
    crowdctl.json("admin", "list")
    key_file(crowdctl).write_text(f"{'5a' * 32}\n")
    server = LiveServer(dsn, key_file(crowdctl).parent)
    with pytest.raises(
        RuntimeError, match=r"crowdd cannot start: .* is not the key file of this database: .*--new-key"
    ):
        server.start()
    assert server.process.wait() == 1
    workers = LiveServer(dsn, key_file(crowdctl).parent, CROWDD_DAEMON_WORKERS="2")
    with pytest.raises(RuntimeError, match="is not the key file of this database"):
        workers.start()
    assert workers.process.wait() == 1


@pytest.mark.proof
def test_several_workers_make_one_key(dsn, tmp_path):
    server = LiveServer(dsn, tmp_path, CROWDD_DAEMON_WORKERS="2")
    server.start()
    server.stop()
    assert len((tmp_path / "secret.key").read_text().split()) == 1
    assert not (tmp_path / "secret.key.new").exists()


def test_a_new_key_is_adopted_on_purpose_only_and_says_what_stops(crowdctl, rows, dsn, tmp_path):
    before = crowdctl.json("user", "create", "--name", "bob", "--email", "bob@example.org", *WORD)
    link = crowdctl.json("admin", "link")["url"]
    rows("INSERT INTO totp (user_id, encrypted, created, confirmed) SELECT id, 'x', now(), now() FROM account")
    (tmp_path / "birdhouses").mkdir()
    (tmp_path / "birdhouses" / "project.json").write_bytes(PROJECT.replace(b"irds", b"irdhouses"))
    crowdctl("project", "load", tmp_path / "birdhouses", "--owner", "bob")
    rows("INSERT INTO snapshot (project_id, created) SELECT id, now() FROM project LIMIT 1")
    rows(
        "INSERT INTO deposit (snapshot_id, created, url, token_encrypted, publish)"
        " SELECT id, now(), 'https://zenodo.org', 'x', false FROM snapshot"
    )
    rows("UPDATE account SET second_factor = true")
    key_file(crowdctl).unlink()
    preview = crowdctl.json("secrets", "adopt")
    assert (preview["needed"], preview["done"]) == (True, False)
    losses = {loss["what"]: loss["number"] for loss in preview["losses"]}
    assert losses == {
        "account.api_key_encrypted": 1, "project.secret_key_encrypted": 1, "totp.encrypted": 1,
        "deposit.token_encrypted": 1, "one_time_link": 1,
    }  # fmt: skip
    assert not key_file(crowdctl).exists()
    summary = crowdctl("secrets", "adopt", "--new-key", "--yes").output
    assert "1 API keys are replaced" in summary and "authenticator apps are removed" in summary
    assert rows("SELECT token_encrypted FROM deposit") == [{"token_encrypted": None}]
    server = LiveServer(dsn, key_file(crowdctl).parent)
    server.start()
    try:
        assert status(server.url, before["api_key"]) == 401
        new = crowdctl.json("user", "reset-api-key", "bob")["api_key"]
        assert status(server.url, new) == 200
        assert status(link.replace(link[: link.index("/account")], server.url)) == 404
    finally:
        server.stop()
    assert rows("SELECT second_factor FROM account") == [{"second_factor": False}]
    assert crowdctl.json("secrets", "adopt") == {"needed": False, "done": False, "losses": []}


@pytest.mark.proof
def test_keys_that_the_file_still_opens_survive_the_loss_of_the_last_line(crowdctl, dsn):
    bob = crowdctl.json("user", "create", "--name", "bob", "--email", "bob@example.org", *WORD)
    crowdctl.json("secrets", "add", "--yes")
    crowdctl.json("secrets", "rotate")
    first = key_file(crowdctl).read_text().split()[0]
    key_file(crowdctl).write_text(f"{first}\n")
    assert "is not the key file" in crowdctl.refused("user", "show", "bob")
    done = crowdctl.json("secrets", "adopt", "--new-key", "--yes")
    assert done["losses"] == []
    server = LiveServer(dsn, key_file(crowdctl).parent)
    server.start()
    try:
        assert status(server.url, bob["api_key"]) == 200
    finally:
        server.stop()


def status(address: str, key: str = "") -> int:
    """The status of an address; with a key that of a new project: 401 when nobody has the key."""
    headers = {"Authorization": key, "Content-Type": "application/json"}
    asked = urllib.request.Request(f"{address}/api/project", PROJECT, headers) if key else address
    try:
        with urllib.request.urlopen(asked) as response:
            return response.status
    except urllib.error.HTTPError as error:
        return error.code
