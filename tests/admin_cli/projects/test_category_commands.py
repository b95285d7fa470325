"""``crowdctl category`` and ``crowdctl announcement``: what the API then answers, and what was written down."""

from __future__ import annotations

import os
import pty
import subprocess

import pytest
import pytest_twisted
from support.servers.live import BIN


def acts(rows, kind):
    return [row["action"] for row in rows("SELECT action FROM audit WHERE kind = %s ORDER BY id", kind)]


def test_category_is_added_changed_and_removed(crowdctl, rows):
    made = crowdctl.json("category", "add", "--name", "Old maps", "--description", "Places.")
    assert (made["short_name"], made["description"]) == ("old-maps", "Places.")
    changed = crowdctl.json("category", "edit", "old-maps", "--name", "Maps", "--short-name", "maps")
    assert (changed["id"], changed["name"], changed["description"]) == (made["id"], "Maps", "Places.")
    assert crowdctl.json("category", "edit", str(made["id"]), "--description", "")["description"] == ""
    listed = crowdctl.json("category", "list")
    assert [(row["short_name"], row["n_projects"]) for row in listed] == [("maps", 0), ("thinking", 0), ("sensing", 0)]
    assert crowdctl("category", "remove", "maps", "--yes").output == "Removed maps.\n"
    assert [row["short_name"] for row in crowdctl.json("category", "list")] == ["thinking", "sensing"]
    assert acts(rows, "category") == ["create", "update", "update", "update", "delete"]


def test_the_last_category_stays(crowdctl):
    crowdctl.json("category", "remove", "sensing", "--yes")
    assert "You cannot delete the last category." in crowdctl.refused("category", "remove", "thinking", "--yes")


@pytest_twisted.ensureDeferred
async def test_announcement_is_seen_when_it_is_published(served, crowdctl, rows):
    async def seen():
        return [row["title"] for row in (await served.client().get("/api/announcement")).json()]

    made = crowdctl.json("announcement", "add", "--title", "News", "--body", "Birds!", "--draft")
    number = str(made["id"])
    assert await seen() == []
    crowdctl.json("announcement", "edit", number, "--title", "Good news", "--media-url", "https://example.org/x.png")
    assert crowdctl("announcement", "publish", number).output == f"Announcement {number} is published.\n"
    assert await seen() == ["Good news"]
    assert not crowdctl.json("announcement", "edit", number, "--draft")["published"]
    assert await seen() == []
    (listed,) = crowdctl.json("announcement", "list")
    assert (listed["id"], listed["title"], listed["published"]) == (made["id"], "Good news", False)
    assert crowdctl.json("announcement", "remove", number, "--yes") == {"id": made["id"]}
    assert crowdctl.json("announcement", "list") == []
    assert acts(rows, "announcement") == ["create", "update", "update", "update", "update", "delete"]


@pytest.mark.parametrize(("said", "gone"), [(b"n\n", False), (b"y\n", True)], ids=["no", "yes"])
def test_at_a_terminal_it_is_asked_whether_that_is_meant(crowdctl, said, gone):
    ours, its = pty.openpty()
    command = [BIN / "crowdctl", "category", "remove", "sensing"]
    with subprocess.Popen(command, env=crowdctl.environment, stdin=its, stdout=its, stderr=its) as process:
        os.close(its)
        shown = b""
        while b"[y/N]" not in shown:
            shown += os.read(ours, 1024)
        assert b"The category sensing will be removed. This cannot be undone." in shown
        os.write(ours, said)
    os.close(ours)
    assert process.returncode == int(not gone)
    left = [row["short_name"] for row in crowdctl.json("category", "list")]
    assert left == (["thinking"] if gone else ["thinking", "sensing"])
