"""``crowdctl project import``: a file in a preview, added, interrupted and resumed."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess

import psycopg2
import pytest
from support.servers.live import BIN

from crowdd.database.embedded.cluster import wait_until

FIGURES = ("rows", "added", "updated", "present", "refused")


@pytest.fixture
def birds(crowdctl, tmp_path):
    """A project without tasks."""
    folder = tmp_path / "birds"
    folder.mkdir()
    crowdctl.json("user", "create", "--name", "bob", "--email", "bob@example.org", "--password", "a good password")
    (folder / "project.json").write_text(json.dumps({"name": "Birds", "short_name": "birds", "category": "sensing"}))
    (folder / "tasks.ndjson").write_text("")
    crowdctl.json("project", "load", folder, "--owner", "bob")
    return tmp_path


def figures(done):
    return [done[name] for name in FIGURES]


def test_a_file_is_previewed_then_added_and_found_again(crowdctl, birds, rows):
    file = birds / "tasks.csv"
    file.write_text("n,w,n_answers\n1,a,3\n2,b,3\n3,c,many\n")
    dry = crowdctl.json("project", "import", "birds", file, "--dry-run")
    assert (dry["state"], figures(dry)) == ("preview", [3, 2, 0, 0, 1])
    assert dry["refused_rows"][0]["line"] == 4 and rows("SELECT FROM task") == [] == rows("SELECT FROM task_import")
    assert "1 of 3 rows" in crowdctl.refused("project", "import", "birds", file)
    assert rows("SELECT FROM task") == [] == rows("SELECT FROM task_import")
    done = crowdctl.json("project", "import", "birds", file, "--on-error", "skip", "--key", "n")
    assert (done["state"], figures(done)) == ("done", [3, 2, 0, 0, 1])
    file.write_text("n,w\n1,a\n2,changed\n4,d\n")
    summary = crowdctl("project", "import", "birds", file, "--key", "n").output
    assert summary == "Rows: 3 = 1 added + 1 updated + 1 already there + 0 refused\n"
    assert [row["w"] for row in rows("SELECT info->>'w' AS w FROM task ORDER BY id")] == ["a", "changed", "d"]
    file.write_text("n,v\n4,more\n")
    crowdctl("project", "import", "birds", file, "--key", "n", "--keep-columns")
    assert rows("SELECT info FROM task ORDER BY id")[-1]["info"] == {"n": "4", "w": "d", "v": "more"}
    assert {row["via"] for row in rows("SELECT via FROM audit WHERE action = 'import'")} == {"cli"}


@pytest.mark.proof
def test_what_was_interrupted_goes_on_where_it_was_and_nothing_is_doubled(crowdctl, birds, rows, dsn):
    file, number = birds / "many.csv", 5000
    file.write_text("n\n" + "".join(f"{n:0600}\n" for n in range(number)))  # read in the background
    command = [BIN / "crowdctl", "project", "import", "birds", file]
    with contextlib.closing(psycopg2.connect(dsn)) as other, other.cursor() as cursor:
        with subprocess.Popen(command, env=crowdctl.environment, stderr=subprocess.PIPE, text=True) as process:
            assert wait_until(lambda: rows("SELECT count(*) AS n FROM task")[0]["n"] > 0, 60)
            cursor.execute("LOCK TABLE task IN SHARE MODE")  # it adds no more until it is interrupted
            process.send_signal(signal.SIGINT)
            assert process.stderr.read().strip() == "Aborted!"
        other.rollback()
    assert 0 < rows("SELECT count(*) AS n FROM task")[0]["n"] < number
    # At once, not when the task has had no heartbeat for a minute.
    done = crowdctl.json("project", "import", "birds", "--resume")
    assert figures(done) == [number, number, 0, 0, 0]
    assert rows("SELECT count(DISTINCT info) AS n, count(*) AS all FROM task") == [{"n": number, "all": number}]
