"""``crowdctl project``: listed, shown, opened, paused, featured, deleted, as the server does it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.media import picture

from crowdd.core.secrets import load
from crowdd.features.projects.projects import new_secret_key


@pytest.fixture
def birds(crowdctl, tmp_path):
    """A project that could be published, and one beside it."""
    folder = tmp_path / "birds"
    folder.mkdir()
    word = ("--password", "a good password")
    crowdctl.json("user", "create", "--name", "bob", "--email", "bob@example.org", *word)
    made = {}
    for name in ("birds", "bees"):
        (folder / "project.json").write_text(json.dumps({"name": name, "short_name": name, "category": "sensing"}))
        (folder / "presenter.html").write_text("<p>Who?</p>")
        (folder / "tasks.ndjson").write_text('{"info": 1}\n')
        made[name] = crowdctl.json("project", "load", folder, "--owner", "bob")["id"]
    return made["birds"]


def acts(rows):
    sql = "SELECT via, action FROM audit WHERE kind = 'project' AND action NOT IN ('create', 'update') ORDER BY id"
    return [(row["via"], row["action"]) for row in rows(sql)]


def names(crowdctl, *words):
    return [row["short_name"] for row in crowdctl.json("project", "list", *words)]


def test_opened_paused_and_featured(crowdctl, birds, rows):
    shown = crowdctl.json("project", "show", "birds")
    assert (shown["published"], shown["paused"], shown["lacks"], shown["n_tasks"]) == (False, False, [], 1)
    assert shown["url"] == "http://127.0.0.1:8000/project/birds/" and "secret_key" not in shown
    assert crowdctl.json("project", "publish", "birds")["changed"]
    assert crowdctl("project", "publish", str(birds)).output == "birds is published already.\n"
    assert crowdctl.json("project", "feature", "birds")["changed"]
    assert crowdctl("project", "feature", "birds").output == "birds is featured already.\n"
    assert crowdctl.json("project", "pause", "birds")["changed"]
    shown = crowdctl.json("project", "show", str(birds))
    assert (shown["published"], shown["paused"], shown["featured"]) == (False, True, True)
    assert crowdctl("project", "feature", "birds", "--remove").output == "birds is not featured now.\n"
    assert acts(rows) == [("cli", "publish"), ("cli", "pause")]


def test_listed_by_what_they_are(crowdctl, birds):
    crowdctl.json("project", "publish", "birds")
    assert names(crowdctl) == ["birds", "bees"]
    assert names(crowdctl, "--published") == ["birds"]
    assert names(crowdctl, "--not-published", "--owner", "bob@example.org") == ["bees"]
    assert names(crowdctl, "--category", "thinking") == names(crowdctl, "--featured") == []
    assert names(crowdctl, "--limit", "1") == ["birds"]
    assert names(crowdctl, "--after", str(birds)) == ["bees"]


@pytest.mark.proof
def test_a_list_goes_on_beyond_a_page(crowdctl, birds, rows):
    rows(
        "INSERT INTO project (created, updated, name, short_name, owner_id, owners_ids, category_id, secret_key_encrypted)"
        " SELECT clock(), clock(), 'n' || n, 'n' || n, owner_id, owners_ids, category_id, secret_key_encrypted"
        " FROM project, generate_series(1, 150) n WHERE id = %s",
        birds,
    )
    rows("INSERT INTO project_ledger (project_id) SELECT id FROM project ON CONFLICT DO NOTHING")
    keys = load(Path(crowdctl.environment["CROWDD_DATA_DIR"]))
    for row in rows("SELECT id FROM project"):  # a secret opens in its own row only
        rows("UPDATE project SET secret_key_encrypted = %s WHERE id = %s", new_secret_key(keys, row["id"]), row["id"])
    assert len(names(crowdctl, "--limit", "151")) == 151


def test_deleted_with_everything_in_it(crowdctl, birds, rows):
    assert crowdctl.json("project", "delete", "birds", "--yes") == {"id": birds, "short_name": "birds"}
    assert rows("SELECT count(*) AS n FROM task WHERE project_id = %s", birds) == [{"n": 0}]
    assert names(crowdctl) == ["bees"]
    assert acts(rows) == [("cli", "delete")]


def test_files_are_what_their_owner_downloads_and_an_export_goes_on_where_it_was(crowdctl, birds, tmp_path):
    target, folder = tmp_path / "out", tmp_path / "out" / "answers"
    done = crowdctl.json("project", "export", "birds", "--to", target)
    assert [Path(file["file"]).relative_to(target).as_posix() for file in done] == [
        "tasks.ndjson", "presenter.html", "project.json",
        *(f"answers/{birds}_birds_{kind}.json" for kind in ("task", "task_run", "result")),
    ]  # fmt: skip
    (task,) = json.loads((folder / f"{birds}_birds_task.json").read_text())
    assert (task["project_id"], task["info"]) == (birds, 1)
    assert json.loads((folder / f"{birds}_birds_result.json").read_text()) == []
    assert "--resume" in crowdctl.refused("project", "export", "birds", "--to", target)
    (target / "tasks.ndjson").write_text("kept")
    (folder / f"{birds}_birds_task.json").unlink()
    (folder / f"{birds}_birds_result.json").write_text("kept")
    crowdctl.json("project", "export", str(birds), "--to", target, "--resume")
    assert (target / "tasks.ndjson").read_text() == "kept"
    assert json.loads((folder / f"{birds}_birds_task.json").read_text()) == [task]
    assert (folder / f"{birds}_birds_result.json").read_text() == "kept"
    (table,) = crowdctl.json("project", "export", "birds", "--to", target, "--type", "task", "--format", "csv")
    assert Path(table["file"]).read_text("utf-8-sig").splitlines()[0].startswith("id,")
    assert [*target.rglob("*.part")] == []
    crowdctl.json("project", "export", "birds", "--to", tmp_path / "few", "--type", "result")
    assert [path.name for path in (tmp_path / "few").rglob("*.*")] == [f"{birds}_birds_result.json"]


def test_an_export_has_what_changed_behind_a_cursor(crowdctl, birds, rows, tmp_path):
    export = ("project", "export", "birds", "--type", "task", "--format", "ndjson")

    def changes(folder, since):
        (file,) = crowdctl.json(*export, "--to", tmp_path / folder, "--since", since)
        assert Path(file["file"]).name == f"{birds}_birds_task_changes.ndjson"
        *lines, last = [json.loads(line) for line in Path(file["file"]).read_text().splitlines()]
        return lines, last["cursor"]

    (task,), cursor = changes("first", "")
    assert task["info"] == 1
    rows("SELECT delete_tasks(%s, ARRAY[%s]::bigint[], clock())", birds, task["id"])
    assert changes("second", cursor)[0] == [{"id": task["id"], "deleted": True}]
    assert "--type" in crowdctl.refused("project", "export", "birds", "--to", tmp_path / "x", "--since", "", status=2)
    csv = crowdctl.refused(
        "project", "export", "birds", "--to", tmp_path / "x", "--type", "task", "--format", "csv", "--since", ""
    )
    assert "format=ndjson" in csv


def test_media_of_a_folder_are_copied_and_wait_for_the_server(crowdctl, birds, rows, tmp_path):
    folder = tmp_path / "trip"
    (folder / "day 1").mkdir(parents=True)
    for number, name in enumerate(["a.jpg", "day 1/12_front.jpg", "day 1/12_back.jpg", ".DS_Store"]):
        (folder / name).write_bytes(picture(number))
    done = crowdctl.json("project", "add-media", "birds", folder, "--by-name", "--answers", "7")
    assert (done["copied"], done["present"], done["refused"]) == (3, 0, {})
    (batch,) = rows("SELECT id, grouping, n_answers, closed IS NOT NULL AS closed, open_files FROM media_batch")
    assert batch == {"id": done["batch"], "grouping": "name", "n_answers": 7, "closed": True, "open_files": 3}
    files = rows("SELECT id, path, bytes, state FROM media_file ORDER BY path")
    assert [file["path"] for file in files] == ["a.jpg", "day 1/12_back.jpg", "day 1/12_front.jpg"]
    data = Path(crowdctl.environment["CROWDD_DATA_DIR"])
    assert {file["state"] for file in files} == {"waiting"}
    assert (data / "media" / str(files[0]["id"])).read_bytes() == picture(0)
    assert rows("SELECT name, via FROM queue_item") == [{"name": "prepare_media", "via": "cli"}]
    # what was interrupted is gone on with
    rows("UPDATE media_batch SET closed = NULL")
    (folder / "b.jpg").write_bytes(picture(9))
    done = crowdctl.json("project", "add-media", "birds", folder, "--by-name", "--answers", "7")
    assert (done["batch"], done["copied"], done["present"]) == (batch["id"], 1, 3)
    summary = crowdctl("project", "add-media", "bees", folder).output
    assert summary.startswith("4 files copied, 0 were there already, 0 refused.\n")
    (tmp_path / "none").mkdir()
    assert "has no files" in crowdctl.refused("project", "add-media", "birds", tmp_path / "none")


def test_what_was_exported_is_loaded_on_another_server_and_exported_again_as_it_was(
    crowdctl, elsewhere, rows, tmp_path
):
    folder = tmp_path / "birds"
    (folder / "songs").mkdir(parents=True)
    (folder / "songs/1.mp3").write_bytes(b"ID3 sings")
    (folder / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    about = {
        "name": "Birds", "short_name": "birds", "description": "Who sings?", "category": "sensing", "published": True,
        "allow_anonymous_contributors": False, "zip_download": False, "webhook": "https://birds.example.org/told",
        "info": {"sched": "breadth_first", "thumbnail_url": "picture.png", "tutorial": "one\r\ntwo", "n": [1, None]},
    }  # fmt: skip
    guides = {
        "field_guide": {
            "version": 1,
            "entries": [
                {"name": "owl", "title": {"de": "Eule"}, "pictures": [{"url": "picture.png", "credit": "Ada"}]}
            ],
        },
        "guided_tutorial": {
            "version": 1,
            "tasks": [{"name": "one", "info": {"photo": "picture.png"}}],
            "steps": [{"name": "look", "title": "Look", "text": "*Here*", "picture": {"url": "picture.png"}}],
        },
    }
    (folder / "project.json").write_text(json.dumps(about | {"info": about["info"] | guides}))
    (folder / "presenter.html").write_text("<p>Wer singt? ü</p>\n")
    (folder / "long_description.md").write_text("# Birds\n")
    tasks = [
        {"info": {"song": "songs/1.mp3", "more": ["songs/1.mp3", "songs"]}, "n_answers": 2, "priority_0": 0.5},
        {"info": 3, "calibration": 1, "quorum": 2}, {"info": 3}, {"info": "gone"},
    ]  # fmt: skip
    (folder / "tasks.ndjson").write_text("".join(json.dumps(task) + "\n" for task in tasks))
    crowdctl.json("project", "load", folder)
    places = {"container": f"project-{crowdctl.json('project', 'show', 'birds')['id']}", "thumbnail": "picture.png"}
    rows("UPDATE project SET info = info || %s::jsonb", json.dumps(places))  # as a picture that was set on a page
    rows("UPDATE task_ledger SET retired = true WHERE task_id = (SELECT max(task_id) FROM task_ledger)")
    rows(
        "INSERT INTO retirement SELECT project_id, task_id, 'cancelled', '', NULL, clock() FROM task_ledger WHERE retired"
    )
    first, second = tmp_path / "first", tmp_path / "second"
    made = crowdctl("project", "export", "birds", "--to", first).output.splitlines()
    assert len(made) == 8 and made[-1] == f"{first / 'files'} (2 files)"
    loaded = elsewhere.json("project", "load", first)
    assert (loaded["tasks"], loaded["added"], loaded["published"]) == (3, 3, True)
    elsewhere.json("project", "export", "birds", "--to", second)

    made = [json.loads((each / "project.json").read_text()) for each in (first, second)]
    assert [each["info"].pop("thumbnail_url").startswith("files/") for each in made] == [True, True]
    for each in made:
        info = each["info"]
        picture = info["field_guide"]["entries"][0]["pictures"][0]["url"]
        assert picture.startswith("files/") and picture == info["guided_tutorial"]["steps"][0]["picture"]["url"]
        assert (info.pop("field_guide_version"), info.pop("guided_tutorial_version")) == (1, 1)
        text = json.dumps({name: info.pop(name) for name in guides}).replace(picture, "picture.png")
        assert json.loads(text) == guides
    assert made[0] == made[1] == {**about, "info": {"sched": "breadth_first", "tutorial": "one\r\ntwo", "n": [1, None]}}
    for name in ("presenter.html", "long_description.md"):
        assert (second / name).read_bytes() == (first / name).read_bytes() == (folder / name).read_bytes()
    plain = {"n_answers": 30, "priority_0": 0.0, "quorum": 0, "calibration": 0}
    for each in (first, second):
        song, *others = [json.loads(line) for line in (each / "tasks.ndjson").read_text().splitlines()]
        assert (each / song["info"]["song"]).read_bytes() == b"ID3 sings"
        assert song["info"]["more"] == [song["info"]["song"], "songs"] and song["priority_0"] == 0.5
        assert others == [{**plain, "info": 3, "calibration": 1, "quorum": 2}, {**plain, "info": 3}]


def test_given_to_somebody_else_with_or_without_those_before(crowdctl, birds, rows):
    word = ("--password", "a good password")
    eve = crowdctl.json("user", "create", "--name", "eve", "--email", "eve@example.org", *word)["id"]
    done = crowdctl.json("project", "transfer", "birds", "--to", "eve", "--yes")
    assert (done["short_name"], done["owner"]) == ("birds", "eve")
    shown = crowdctl.json("project", "show", "birds")
    assert (shown["owner_id"], shown["owners_ids"]) == (eve, [eve])
    crowdctl.json("project", "transfer", str(birds), "--to", "bob@example.org", "--keep-owners", "--yes")
    shown = crowdctl.json("project", "show", "birds")
    assert shown["owner_id"] != eve and {*shown["owners_ids"]} == {shown["owner_id"], eve}
    assert acts(rows) == [("cli", "transfer")] * 2
    crowdctl.json("user", "block", "eve")
    assert "eve is blocked" in crowdctl.refused("project", "transfer", "birds", "--to", "eve", "--yes")


def test_earlier_questions_and_guides_move_along_under_their_numbers(crowdctl, elsewhere, rows, tmp_path):
    folder, first, second = (tmp_path / name for name in ("birds", "first", "second"))
    folder.mkdir()
    (folder / "song.mp3").write_bytes(b"ID3 sings")

    def write(words: str) -> None:
        question = {"name": "q", "type": "short_text", "text": words, "help": {"picture": "song.mp3"}}
        guide = {"version": 1, "entries": [{"name": "owl", "title": words}]}
        questions = {"version": 1, "steps": [{"name": "one", "questions": [question]}]}
        about = {"name": "Birds", "short_name": "birds", "description": "Who sings?"}
        (folder / "project.json").write_text(
            json.dumps(about | {"info": {"questions": questions, "field_guide": guide}})
        )

    for words in ("One?", "Two?", "Three?"):
        write(words)
        crowdctl.json("project", "load", folder)
    crowdctl.json("project", "export", "birds", "--to", first)
    for _ in range(2):  # the second time nothing is added
        elsewhere.json("project", "load", first)
    elsewhere.json("project", "export", "birds", "--to", second)
    original, again = (json.loads((each / "versions.json").read_text()) for each in (first, second))
    assert {key: [row["version"] for row in versions] for key, versions in original.items()} == {
        "questions": [1, 2],
        "field_guide": [1, 2],
    }
    assert [row["document"]["entries"][0]["title"] for row in original["field_guide"]] == ["One?", "Two?"]
    for file, asked in zip((first, second), (original, again), strict=True):
        question = asked["questions"][1]["document"]["steps"][0]["questions"][0]
        assert question["text"] == "Two?" and (file / question["help"]["picture"]).read_bytes() == b"ID3 sings"
        info = json.loads((file / "project.json").read_text())["info"]
        assert (info["questions_version"], info["field_guide_version"]) == (3, 3)
    times = [[row["created"] for versions in each.values() for row in versions] for each in (original, again)]
    assert times[0] == times[1]
    (first / "versions.json").write_text(json.dumps(original | {"questions": original["questions"][::-1]}))
    assert "versions.json, questions: each version must be higher" in elsewhere.refused("project", "load", first)
