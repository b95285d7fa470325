"""``crowdctl project snapshot``: the hash is that of the content on every server, and a changed byte is found."""

from __future__ import annotations

import json

import pytest
from support.ledger import Ledger
from support.outside.repository import TOKEN, FakeRepository

WORD = ("--password", "a good password")


@pytest.fixture
def folder(tmp_path):
    """A project that can be published, with nasty tasks, a hidden column and a licence."""
    made = tmp_path / "birds"
    made.mkdir()
    info = {"column_roles": {"nest": "hidden"}, "dataset": {"license": "CC0-1.0", "authors": [{"name": "Ada"}]}}
    (made / "project.json").write_text(
        json.dumps({"name": "Birds", "short_name": "birds", "category": "sensing", "info": info})
    )
    (made / "presenter.html").write_text("<p>Who sings?</p>")
    tasks = [
        {"info": {"n": n, "id": 12345678901234567890 + n, "nest": "x", "text": "𝄞 ف", "share": n / 3}, "n_answers": 1}
        for n in range(5)
    ]
    (made / "tasks.ndjson").write_text("".join(json.dumps(task) + "\n" for task in tasks))
    return made


def loaded(place, folder):
    place.json("user", "create", "--name", "bob", "--email", "bob@example.org", *WORD)
    return place.json("project", "load", folder, "--owner", "bob")["id"]


@pytest.mark.proof
def test_a_project_has_the_same_hash_on_another_server(crowdctl, elsewhere, folder, tmp_path, dsn, rows):
    first = loaded(crowdctl, folder)
    made = crowdctl.json("project", "snapshot", "make", "birds")
    assert made["known"] is False and made["url"].endswith(f"/project/birds/snapshots/{made['hash']}")
    assert crowdctl.json("project", "snapshot", "make", str(first)) == {**made, "known": True}
    crowdctl.json("project", "export", "birds", "--to", tmp_path / "out")
    # Other ids there, and another moment.
    elsewhere.json("user", "create", "--name", "eve", "--email", "eve@example.org", *WORD)
    (tmp_path / "other").mkdir()
    (tmp_path / "other/project.json").write_text('{"name": "Bees", "short_name": "bees"}')
    (tmp_path / "other/tasks.ndjson").write_text('{"info": 1}\n')
    elsewhere.json("project", "load", tmp_path / "other", "--owner", "eve")
    loaded(elsewhere, tmp_path / "out")
    assert elsewhere.json("project", "snapshot", "make", "birds")["hash"] == made["hash"]
    ledger = Ledger(dsn)
    crowdctl.json("project", "publish", "birds")
    ledger.contribute(first, "c:1")
    ledger.close()
    other = crowdctl.json("project", "snapshot", "make", "birds")
    assert other["hash"] != made["hash"]
    listed = crowdctl.json("project", "snapshot", "list", "birds")
    assert [(each["hash"], each["state"], each["public"]) for each in listed] == [
        (other["hash"], "done", False), (made["hash"], "done", False),
    ]  # fmt: skip
    ended = crowdctl("project", "snapshot", "verify", made["hash"])
    assert (ended.status, ended.output.rpartition(" ")[2]) == (0, f"{made['hash']}\n")
    (stored,) = rows("SELECT key FROM snapshot_file WHERE name = 'answers.ndjson' ORDER BY bytes DESC LIMIT 1")
    path = next(path for path in tmp_path.rglob("*.snap") if stored["key"].endswith(path.name))
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    ended = crowdctl("project", "snapshot", "verify", other["hash"])
    assert (ended.status, ended.output.partition(" ")[0]) == (1, "answers.ndjson")
    assert crowdctl.refused("project", "snapshot", "verify", "0" * 64).endswith(
        "There is no snapshot with the hash " + "0" * 64 + "."
    )
    (tmp_path / "no.zip").write_text("no archive")
    assert "is not a ZIP archive" in crowdctl.refused("project", "snapshot", "verify", tmp_path / "no.zip")


def test_check_compares_the_audit_log_with_the_ends_that_snapshots_have(crowdctl, folder, rows):
    loaded(crowdctl, folder)
    made = crowdctl.json("project", "snapshot", "make", "birds")
    assert crowdctl.json("check") == []
    (last,) = rows("SELECT position FROM audit_chain")
    rows("DELETE FROM audit WHERE position >= 2")
    rows("UPDATE audit_chain SET position = 1, hash = (SELECT hash FROM audit WHERE position = 1)")
    # The row of the snapshot says what fits; its manifest is a file.
    rows('UPDATE snapshot SET manifest = manifest || \'{"audit_log": {"position": 0, "hash": ""}}\'')
    ended = crowdctl("check")
    assert ended.status == 1 and made["hash"] in ended.output and "audit log at position" in ended.output
    difference = crowdctl("check", "--json").json[-1]
    assert (difference["check"], difference["snapshot"]) == ("audit log in snapshot", made["hash"])
    assert difference["position"] <= last["position"]


def test_a_snapshot_is_deposited_and_goes_on_when_it_is_called_again(crowdctl, folder, tmp_path, rows):
    repository = FakeRepository()
    try:
        loaded(crowdctl, folder)
        hash_ = crowdctl.json("project", "snapshot", "make", "birds")["hash"]
        (tmp_path / "token").write_text(f"{TOKEN}\n")
        allowed = {"CROWDD_OUTGOING_ALLOWED_HOSTS": repository.host}
        words = (
            "project",
            "snapshot",
            "deposit",
            "birds",
            hash_,
            "--url",
            repository.url,
            "--token-file",
            tmp_path / "token",
        )
        repository.refuse = lambda method, path: 503 if path.endswith("README.md") else None
        complaint = crowdctl.refused(*words, status=3, **allowed)
        assert "503" in complaint and TOKEN not in complaint
        repository.refuse = lambda method, path: None
        sent = repository.made("PUT", "/api/files/.*")
        done = crowdctl("project", "snapshot", "deposit", *words[3:], "--json", **allowed).json
        assert (done["state"], done["doi"]) == ("uploaded", "") and len(repository.depositions) == 1
        assert repository.made("PUT", "/api/files/.*") - sent < len(repository.files["b1"])
        done = crowdctl(*words, "--publish", "--json", **allowed).json
        assert (done["state"], done["doi"]) == ("published", "10.5072/zenodo.1")
        assert rows("SELECT token_encrypted FROM deposit") == [{"token_encrypted": None}]
    finally:
        repository.close()
