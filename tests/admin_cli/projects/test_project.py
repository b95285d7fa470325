"""``crowdctl project load``: a folder becomes a project, once."""

import json
import os
import pty
import signal
import subprocess
from pathlib import Path

import pytest
import pytest_twisted
from support.checks.proofs import examples
from support.servers.live import BIN

from crowdd.database.embedded.cluster import wait_until

EXAMPLE = Path(__file__).parents[3] / "examples/digits"
NOBODY = 65534
ABOUT = {"name": "Night birds", "short_name": "birds", "description": "Who sings?"}


@pytest.fixture
def folder(tmp_path):
    """A project folder with a presenter and no tasks."""
    made = tmp_path / "birds"
    made.mkdir()
    write(made, "project.json", json.dumps(ABOUT))
    write(made, "presenter.html", "<p>Who?</p>")
    return made


def write(folder, name, text):
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())


def write_tasks(folder, tasks):
    write(folder, "tasks.ndjson", "".join(f"{json.dumps(task)}\n" for task in tasks))


def stored(rows):
    return rows("SELECT info, n_answers, priority_0, quorum, calibration FROM task_record ORDER BY id")


@pytest_twisted.ensureDeferred
async def test_example_twice_is_one_project_with_its_files(serve, crowdctl, rows):
    first = crowdctl.json("project", "load", EXAMPLE)
    assert first | {"id": 0} == {
        "id": 0, "short_name": "digits", "created": True, "tasks": 200, "added": 200, "published": True,
        "missing_files": {"values": 0, "tasks": 0, "first": []}, "url": "http://127.0.0.1:8000/project/digits/",
    }  # fmt: skip
    second = crowdctl.json("project", "load", EXAMPLE)
    assert (second["id"], second["created"], second["added"]) == (first["id"], False, 0)
    assert rows("SELECT count(*) AS n, count(DISTINCT info) AS different FROM task") == [{"n": 200, "different": 200}]

    served = await serve(CROWDD_DATA_DIR=crowdctl.environment["CROWDD_DATA_DIR"])
    project = (await served.client().get("/api/project?short_name=digits")).json()[0]
    thumbnail = await served.client().get(project["info"]["thumbnail_url"])
    assert (thumbnail.header("content-type"), thumbnail.body) == ("image/png", (EXAMPLE / "thumbnail.png").read_bytes())
    assert project["info"]["task_presenter"] == (EXAMPLE / "presenter.html").read_text()
    assert project["long_description"] == (EXAMPLE / "long_description.md").read_text()
    task = (await served.client().get(f"/api/project/{first['id']}/newtask")).json()
    picture = await served.client().get(task["info"]["image"])
    assert picture.body == (EXAMPLE / f"images/{task['info']['number']:04}.png").read_bytes()


def test_second_load_changes_what_changed(crowdctl, folder, rows):
    write_tasks(folder, [{"info": {"n": 1}}, {"info": {"n": 2}}])
    crowdctl.json("project", "load", folder)
    rows("UPDATE project SET info = info || '{\"mine\": 1}'")
    write(folder, "project.json", json.dumps({**ABOUT, "description": "Who sang?"}))
    write(folder, "presenter.html", "<p>Who now?</p>")
    write_tasks(folder, [{"info": {"n": 3}}, {"info": {"n": 2}}])
    done = crowdctl.json("project", "load", folder)
    assert (done["created"], done["tasks"], done["added"]) == (False, 2, 1)
    project = rows("SELECT description, info FROM project")[0]
    assert project == {"description": "Who sang?", "info": {"mine": 1, "task_presenter": "<p>Who now?</p>"}}
    assert [row["info"]["n"] for row in stored(rows)] == [1, 2, 3]
    log = rows("SELECT via, action, kind, attribute, after FROM audit WHERE kind IN ('project', 'task') ORDER BY id")
    assert {row["via"] for row in log} == {"cli"}
    assert [(r["action"], r["attribute"]) for r in log if r["kind"] == "project"][-2:] == [
        ("update", "description"), ("update", "info"),
    ]  # fmt: skip
    assert [row["after"] for row in log if row["kind"] == "task"] == [{"tasks": 2}, {"tasks": 1}]


def test_task_that_stands_there_twice_is_two_tasks(crowdctl, folder, rows):
    write_tasks(folder, [{"info": "same"}, {"info": "same"}])
    assert crowdctl.json("project", "load", folder)["added"] == 2
    write_tasks(folder, [{"info": "same"}] * 3)
    assert crowdctl.json("project", "load", folder)["added"] == 1
    assert crowdctl.json("project", "load", folder)["added"] == 0


def test_many_tasks_go_in_chunks_and_once(crowdctl, folder, rows):
    write_tasks(folder, [{"info": {"n": n, "share": n / 7}} for n in range(2500)])
    assert crowdctl.json("project", "load", folder)["added"] == 2500
    rows(
        "SELECT delete_tasks(project_id, array_agg(id), now()) FROM task"
        " WHERE (info->>'n')::int < 10 GROUP BY project_id"
    )
    assert crowdctl.json("project", "load", folder)["added"] == 10
    assert rows("SELECT count(DISTINCT info) AS n, count(*) AS all FROM task") == [{"n": 2500, "all": 2500}]


def test_columns_of_a_table_are_attributes_or_info(crowdctl, folder, rows):
    about = {**ABOUT, "n_answers": 5, "category": "sensing", "allow_anonymous_contributors": False}
    write(folder, "project.json", json.dumps(about))
    head = "\ufeffstate,sound,n_answers,priority_0,quorum,calibration,remark\r\n"
    write(folder, "tasks.csv", head + 'completed,a.mp3,2,0.5,3,1,"loud, and\nlong"\r\n,b.mp3,,,,,\r\n')
    crowdctl.json("project", "load", folder)
    first = {"info": {"sound": "a.mp3", "remark": "loud, and\nlong"}, "n_answers": 2, "priority_0": 0.5}
    second = {"info": {"sound": "b.mp3", "remark": ""}, "n_answers": 5, "priority_0": 0.0}
    more = {"quorum": 3, "calibration": 1}, {"quorum": 0, "calibration": 0}
    assert stored(rows) == [first | more[0], second | more[1]]
    project = rows(
        "SELECT c.short_name, p.allow_anonymous_contributors AS open"
        " FROM project p JOIN category c ON c.id = category_id"
    )
    assert project == [{"short_name": "sensing", "open": False}]


def test_rows_without_info_are_info(crowdctl, folder, rows):
    write_tasks(folder, [{"url": "x", "priority_0": 1}, {"info": ["a", None], "n_answers": 4}])
    crowdctl.json("project", "load", folder)
    assert [(r["info"], r["n_answers"], r["priority_0"]) for r in stored(rows)] == [
        ({"url": "x"}, 30, 1.0), (["a", None], 4, 0.0),
    ]  # fmt: skip


def test_files_anywhere_in_info_are_uploaded(crowdctl, folder, tmp_path, rows):
    (tmp_path / "secret.txt").write_text("not yours")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    write(folder, "a b/ü.png", b"one")
    write(folder, "a-b/ü.png", b"two")
    write(folder, ".hidden", b"three")
    paths = ["a b/ü.png", "a-b/ü.png"]
    others = [
        "../secret.txt",
        str(tmp_path / "secret.txt"),
        "link.txt",
        ".hidden",
        "project.json",
        "none.png",
        "x" * 5000,
    ]
    write_tasks(folder, [{"info": {"deep": [{"files": paths}], "others": others}}])
    crowdctl.json("project", "load", folder)
    info = stored(rows)[0]["info"]
    assert info["others"] == others
    uploads = Path(crowdctl.environment["CROWDD_DATA_DIR"])
    assert [(uploads / path.removeprefix("/")).read_bytes() for path in info["deep"][0]["files"]] == [b"one", b"two"]
    assert len(list((uploads / "uploads").rglob("*.*"))) == 2


@pytest.mark.skipif(os.geteuid() != 0, reason="Needs root (sudo pytest …), which alone can give files away.")
def test_what_root_loads_belongs_to_the_owner_of_the_data_folder(crowdctl, folder, rows):
    """The server runs as another user: it has to read these files, and to write beside them."""
    data = Path(crowdctl.environment["CROWDD_DATA_DIR"])
    data.mkdir(exist_ok=True)
    os.chown(data, NOBODY, NOBODY)
    write(folder, "a.png", b"one")
    write_tasks(folder, [{"info": "a.png"}])
    crowdctl.json("project", "load", folder)
    image = data / stored(rows)[0]["info"].removeprefix("/")
    crowdctl.json("user", "export", "examples", "--to", folder / "person.zip")
    made = [data / "secret.key", data / "exports", data / "uploads", image.parent, image]
    assert [(path.name, path.lstat().st_uid) for path in made] == [(path.name, NOBODY) for path in made]
    # What an earlier version has left to root is mended when the folder is loaded again.
    for path in (image, image.parent):
        os.chown(path, 0, 0)
    crowdctl.json("project", "load", folder)
    assert (image.lstat().st_uid, image.parent.lstat().st_uid, image.read_bytes()) == (NOBODY, NOBODY, b"one")


def test_file_with_new_content_keeps_its_address(crowdctl, folder, rows):
    write(folder, "a.png", b"one")
    write_tasks(folder, [{"info": "a.png"}])
    crowdctl.json("project", "load", folder)
    image = Path(crowdctl.environment["CROWDD_DATA_DIR"]) / stored(rows)[0]["info"].removeprefix("/")
    before = image.stat().st_ino
    crowdctl.json("project", "load", folder)
    assert (image.read_bytes(), image.stat().st_ino) == (b"one", before)
    write(folder, "a.png", b"two")
    assert crowdctl.json("project", "load", folder)["added"] == 0
    assert image.read_bytes() == b"two"


class TestOwner:
    @staticmethod
    def of_birds(rows):
        sql = "SELECT a.name, a.passwd_hash, a.email_addr FROM project p JOIN account a ON a.id = p.owner_id"
        return rows(sql)[0]

    @staticmethod
    def make(crowdctl, name):
        words = ("--name", name, "--email", f"{name}@example.org", "--password", "a good password")
        return crowdctl.json("admin", "create", *words)

    def test_before_there_is_anybody_nobody_can_sign_in_as_him(self, crowdctl, folder, rows):
        crowdctl.json("project", "load", folder)
        owner = self.of_birds(rows)
        assert (owner["name"], owner["passwd_hash"]) == ("examples", None)
        assert owner["email_addr"].endswith("@example.invalid")
        assert crowdctl.json("admin", "link")["url"]

    def test_first_administrator_or_who_is_named(self, crowdctl, folder, rows):
        self.make(crowdctl, "ada")
        crowdctl.json("project", "load", folder)
        assert self.of_birds(rows)["name"] == "ada"
        self.make(crowdctl, "eve")
        assert "has another owner" in crowdctl.refused("project", "load", folder, "--owner", "eve")
        write(folder, "project.json", json.dumps({**ABOUT, "name": "Day birds", "short_name": "day"}))
        crowdctl.json("project", "load", folder, "--owner", "eve@example.org")
        assert [
            row["user_name"] for row in rows("SELECT user_name FROM audit WHERE kind = 'project' AND action = 'create'")
        ] == ["ada", "eve"]

    def test_nobody_of_that_name(self, crowdctl, folder, rows):
        assert "Account nobody does not exist" in crowdctl.refused("project", "load", folder, "--owner", "nobody")
        assert rows("SELECT id FROM project") == []


class TestPublishing:
    @staticmethod
    def published(rows):
        return rows("SELECT published FROM project")[0]["published"]

    def test_only_when_told(self, crowdctl, folder, rows):
        write_tasks(folder, [{"info": 1}])
        crowdctl.json("project", "load", folder)
        assert not self.published(rows)
        assert crowdctl.json("project", "load", folder, "--publish")["published"]
        assert self.published(rows)
        assert crowdctl.json("project", "load", folder, "--no-publish")["published"]

    def test_what_the_folder_says_does_not_end_a_pause(self, crowdctl, folder, rows):
        write(folder, "project.json", json.dumps({**ABOUT, "published": True}))
        write_tasks(folder, [{"info": 1}])
        assert not crowdctl.json("project", "load", folder, "--no-publish")["published"]
        assert crowdctl.json("project", "load", folder)["published"]
        rows("SELECT pause(id, now()) FROM project")
        assert not crowdctl.json("project", "load", folder)["published"]
        assert crowdctl.json("project", "load", folder, "--publish")["published"]

    def test_what_is_missing_is_said(self, crowdctl, folder):
        assert "lacks tasks" in crowdctl.refused("project", "load", folder, "--publish")


def test_files_that_are_not_there_are_named_and_strict_refuses_them(crowdctl, folder, rows):
    write(folder, "images/one.jpg", b"one")
    write(
        folder, "tasks.csv", "image,note\nimages/one.jpg,fine\nimages/none.jpg,Is it there?\nImages/One.jpg,gone.mp3\n"
    )
    error = crowdctl.refused("project", "load", folder, "--strict")
    places = (
        "tasks.csv, line 3, `image`: images/none.jpg",
        "tasks.csv, line 4, `image`: Images/One.jpg (images/one.jpg is there)",
        "tasks.csv, line 4, `note`: gone.mp3",
    )
    assert "3 values name files that are not in the folder, in 2 tasks: " in error
    assert all(place in error for place in places)
    assert rows("SELECT id FROM project") == []
    loaded = crowdctl("project", "load", folder)
    assert loaded.status == 0 and "Created birds: 3 of 3 tasks added" in loaded.output
    assert loaded.complaint.startswith("Warning: 3 values") and all(place in loaded.complaint for place in places)
    missing = crowdctl.json("project", "load", folder)["missing_files"]
    assert (missing["values"], missing["tasks"]) == (3, 2)
    first = {"column": "image", "value": "images/none.jpg", "similar": ""}
    assert missing["first"][0].items() >= first.items() and missing["first"][0]["task"].endswith("tasks.csv, line 3")
    write(folder, "tasks.csv", "image\nimages/one.jpg\n")
    again = crowdctl("project", "load", folder, "--strict")
    assert (again.status, again.complaint) == (0, "")


def test_if_empty_leaves_a_server_in_use_alone(crowdctl, folder, rows):
    assert "Created birds" in crowdctl("project", "load", folder, "--if-empty").output
    write(folder, "project.json", json.dumps({**ABOUT, "description": "Changed"}))
    assert "nothing was loaded" in crowdctl("project", "load", folder, "--if-empty").output
    assert rows("SELECT description FROM project") == [{"description": "Who sings?"}]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"colour": 1}, "no attribute 'colour'"),
        ({"category": "poetry"}, "Category poetry does not exist. Categories: thinking, sensing"),
        ({"n_answers": "many"}, "tasks.ndjson, line 1: `n_answers` is not an integer"),
    ],
)
def test_folder_that_cannot_be_used_changes_nothing(crowdctl, folder, rows, more, said):
    write(folder, "project.json", json.dumps(ABOUT | more))
    write_tasks(folder, [{"info": 1}])
    assert said in crowdctl.refused("project", "load", folder)
    assert rows("SELECT id FROM project") == []


def test_folder_that_is_not_there(crowdctl):
    assert "gone" in crowdctl.refused("project", "load", "gone", status=2)


def test_name_of_another_project(crowdctl, folder):
    crowdctl.json("project", "load", folder)
    write(folder, "project.json", json.dumps({**ABOUT, "short_name": "other"}))
    assert "A project with this name exists already." in crowdctl.refused("project", "load", folder)


@examples("1001-True")
@pytest.mark.parametrize(("tasks", "seen"), [(1001, True), (1000, False)])
def test_progress_is_shown_on_a_terminal(crowdctl, folder, tasks, seen):
    write_tasks(folder, [{"info": n} for n in range(tasks)])
    shown = on_a_terminal(crowdctl.environment, [BIN / "crowdctl", "project", "load", folder])
    assert ("Loading tasks" in shown, "Created birds" in shown) == (seen, True)


@pytest.mark.proof
def test_what_was_interrupted_goes_on_and_nothing_is_doubled(crowdctl, folder, rows):
    write_tasks(folder, [{"info": n} for n in range(12_000)])
    command = [BIN / "crowdctl", "project", "load", folder]
    with subprocess.Popen(command, env=crowdctl.environment, stderr=subprocess.PIPE, text=True) as process:
        assert wait_until(lambda: rows("SELECT count(*) AS n FROM task")[0]["n"] > 0, 60)
        process.send_signal(signal.SIGINT)
        assert process.stderr.read().strip() == "Aborted!"
    assert 0 < crowdctl.json("project", "load", folder)["added"] < 12_000
    assert rows("SELECT count(DISTINCT info) AS n, count(*) AS all FROM task") == [{"n": 12_000, "all": 12_000}]


def on_a_terminal(environment, command):
    """What a command shows on a terminal."""
    ours, its = pty.openpty()
    with subprocess.Popen(command, env={**environment, "TERM": "xterm"}, stdout=its, stderr=its) as process:
        os.close(its)
        shown = b""
        try:
            while piece := os.read(ours, 65536):
                shown += piece
        except OSError:  # Linux: the other end was closed
            pass
    os.close(ours)
    assert process.returncode == 0, shown
    return shown.decode()
