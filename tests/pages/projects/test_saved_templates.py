"""Templates that owners save and administrators add; and the sample tasks that come with one."""

from __future__ import annotations

import io
import zipfile

import orjson
import pytest
import pytest_twisted
from support.browsers import lock, newcomer
from support.checks.shows import shows
from support.questions.question_lists import ONE

from crowdd.features.gallery import gallery, template
from crowdd.features.gallery.gallery import SHIPPED

HTML = {"Accept": "text/html"}
PICTURE = (SHIPPED / "boxes" / "01.webp").read_bytes()


def archive(**files: bytes) -> bytes:
    """A zip archive; two underscores in a name are a dot, three a slash."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as out:
        for name, content in files.items():
            out.writestr(name.replace("___", "/").replace("__", "."), content)
    return packed.getvalue()


PROJECT = orjson.dumps({"name": "Ponds", "short_name": "ponds", "description": "Look.", "info": {"questions": ONE}})
TASKS = b'{"url_b": "a.webp"}\n'


async def project_of(served, owner):
    """Ada's project with questions, a task with a secret column and a file, and an answer."""
    await owner.send_form("/project/new", {"name": "Birds", "description": "Which?"}, token_from="/project/new")
    key = served.client((await owner.page("/account/profile")).json()["user"]["api_key"])
    row = (await key.get("/api/project?short_name=birds&all=1")).json()[0]
    path = served.house.base.uploads.store(f"project-{row['id']}", _upload())
    await key.put(f"/api/project/{row['id']}", json={"info": {"questions": ONE, "note": "mine"}})
    info = {"url_b": f"/uploads/{path}", "secret": "the nest is here", "title": "One"}
    await key.post("/api/task", json={"project_id": row["id"], "info": info, "calibration": 1})
    return row["id"]


def _upload():
    from crowdd.core.uploads import Upload

    return Upload("a.webp", PICTURE)


@shows("page-save-template")
@pytest_twisted.ensureDeferred
async def test_an_owner_saves_a_project_without_what_is_private(served):
    ada, bob, root = [await newcomer(served, name) for name in ("ada", "bob", "root")]
    await served.database.execute("UPDATE account SET admin = true WHERE name = 'root'")
    await project_of(served, ada)
    at = "/project/birds/template"
    assert (await bob.page(at)).status == 404 and (await served.client().page(at)).status in (302, 401)
    assert (await ada.page(at)).json()["form"]["name"] == "Birds"
    form = {"name": "My birds", "description": "For every trap.", "samples": "y"}
    saved = (await ada.send_form(at, form, token_from=at)).json()
    address = saved["next"]
    page = (await ada.page(address)).json()
    assert page["card"]["title"] == "My birds" and page["card"]["own"] and not page["card"]["offered"]
    assert page["questions"] == ONE
    (task,) = page["tasks"]
    assert task.keys() == {"url_b", "title"}, "a column that no question shows"
    assert task["url_b"].startswith("/uploads/gallery/t-") and (await ada.get(task["url_b"])).body == PICTURE
    stored = await served.database.fetch("SELECT to_jsonb(t) - 'created' AS all FROM template t")
    assert "secret" not in str(stored[0]["all"]) and "note" not in str(stored[0]["all"])
    # Nobody else's list, page or draft has it.
    token = (await bob.page("/templates/boxes")).json()["form"]["csrf"]
    headers = {"X-CSRFToken": token}
    assert (await bob.page(address)).status == 404
    assert (await bob.post(f"{address}/use", json={}, headers=headers)).status == 404
    assert (await bob.post(f"{address}/delete", json={}, headers=headers)).status == 404
    assert (await served.client().page(address)).status == 404
    assert "My birds" not in str((await bob.page("/templates")).json()) and "My birds" in str(
        (await ada.page("/templates")).json()
    )
    # An administrator offers it to all.
    name = address.rpartition("/")[2]
    listed = (await root.page("/admin/templates")).json()["templates"]
    assert [each["owner"] for each in listed if not each["shipped"]] == ["ada"]
    offered = await root.send_form(f"/admin/templates/{name}", {"btn": "offer"}, token_from="/admin/templates")
    assert offered.json()["status"] == "success"
    assert (await bob.page(address)).json()["card"]["owner"] == "ada"
    draft = (await bob.send_form(f"{address}/use", {}, token_from=address)).json()
    made = (await bob.page(draft["next"])).json()
    assert made["n_tasks"] == 1 and made["project"]["info"]["questions"] == ONE
    assert (await ada.send_form(f"{address}/delete", {}, token_from=address)).json()["status"] == "success"
    assert (await ada.page(address)).status == 404 and (await ada.get(task["url_b"])).status == 404
    assert (await bob.page(draft["next"])).status == 200, "projects made of it stay"


@shows("page-save-template")
@pytest_twisted.ensureDeferred
async def test_a_locked_project_gives_no_tasks_and_one_without_questions_nothing(served, monkeypatch):
    ada = await newcomer(served, "ada")
    project_id = await project_of(served, ada)
    at = "/project/birds/template"
    owner = type("Owner", (), {"user_id": 1})
    await lock(served, "birds", owner, "s3cret-words")
    saved = (await ada.send_form(at, {"name": "x", "samples": "y"}, token_from=at)).json()
    assert (await ada.page(saved["next"])).json()["tasks"] == []
    monkeypatch.setattr(gallery, "MAX_OWN", 1)
    assert (await ada.send_form(at, {"name": "y"}, token_from=at)).status == 403, "one too many"
    monkeypatch.undo()
    wrong = (await ada.send_form(at, {"name": "x" * 121}, token_from=at)).json()
    assert "at most 120" in str(wrong["form"]["errors"])
    await served.database.execute("UPDATE project SET info = '{}' WHERE id = %(id)s", {"id": project_id})
    refused = (await ada.send_form(at, {"name": "x"}, token_from=at)).json()
    assert "no questions" in str(refused["form"]["errors"]["name"])


@shows("admin-templates")
@pytest_twisted.ensureDeferred
async def test_an_administrator_adds_a_folder_as_zip(served):
    root, ada = await newcomer(served, "root"), await newcomer(served, "ada")
    await served.database.execute("UPDATE account SET admin = true WHERE name = 'root'")
    assert (await ada.page("/admin/templates")).status == 403

    async def send(content: bytes):
        token = (await root.page("/admin/templates")).json()["form"]["csrf"]
        files = {"file": ("a.zip", "application/zip", io.BytesIO(content))}
        return await root.post("/admin/templates?response_format=json", data={"csrf_token": token}, files=files)

    good = archive(
        top___project__json=PROJECT, top___tasks__ndjson=TASKS, top___a__webp=PICTURE, top___evil__html=b"<script>"
    )
    done = await send(good)
    assert done.json()["status"] == "success", done.text
    (row,) = await served.database.fetch("SELECT token, owner_id, offered FROM template")
    assert row["owner_id"] is None and row["offered"]
    names = await served.database.fetch("SELECT name FROM template_file")
    assert [each["name"] for each in names] == ["a.webp"], "only what tasks show"
    page = (await ada.page(f"/templates/{row['token']}")).json()
    assert (await ada.get(page["tasks"][0]["url_b"])).body == PICTURE
    before = await served.database.fetch("SELECT count(*) AS n FROM template")
    for content, words in (
        (b"PK\x03\x04 nothing", "cannot be read"),
        (archive(readme__txt=b"x"), "has no project.json"),
        (archive(project__json=b"{}"), "name is missing"),
        (
            archive(project__json=PROJECT, tasks__ndjson=TASKS, a__webp=b"<script>alert(1)</script>"),
            "not what its name says",
        ),
        (archive(project__json=PROJECT, tasks__ndjson=b" " * 30_000_000), "at most 5 MB"),
        (
            archive(project__json=PROJECT, tasks__ndjson=TASKS, a__webp=b"RIFF\0\0\0\0WEBP" + b"\0" * 30_000_000),
            "at most 5 MB",
        ),
        (archive(project__json=orjson.dumps({"name": "x", "short_name": "x"})), "has no questions"),
    ):
        refused = await send(content)
        assert words in str(refused.json()["form"]["errors"]), refused.text
    climbing = archive(project__json=PROJECT, ______evil__webp=PICTURE)
    await send(climbing)
    after = await served.database.fetch("SELECT count(*) AS n FROM template")
    assert after[0]["n"] <= before[0]["n"] + 1


@shows("page-sample-tasks")
@pytest_twisted.ensureDeferred
async def test_sample_tasks_are_named_and_can_be_removed_or_kept(served):
    ada, bob = await newcomer(served, "ada"), await newcomer(served, "bob")
    await ada.send_form("/templates/boxes/use", {}, token_from="/templates/boxes")
    key = served.client((await ada.page("/account/profile")).json()["user"]["api_key"])
    row = (await key.get("/api/project?short_name=boxes-1&all=1")).json()[0]
    await key.post("/api/task", json={"project_id": row["id"], "info": {"picture": "/uploads/mine.png"}})
    for page in ("publish", "tasks/import"):
        assert "Remove the 3 sample tasks" in (await ada.get(f"/project/boxes-1/{page}", headers=HTML)).text
    at = "/project/boxes-1/samples"
    assert (await bob.send_form(at, {}, token_from="/templates/boxes")).status == 404
    done = (await ada.send_form(at, {"next": "/project/boxes-1/publish"}, token_from="/templates/boxes")).json()
    assert "3 sample tasks deleted" in done["flash"] and done["next"] == "/project/boxes-1/publish"
    left = (await key.get(f"/api/task?project_id={row['id']}&all=1")).json()
    assert [task["info"]["picture"] for task in left] == ["/uploads/mine.png"]
    assert "sample task" not in (await ada.get("/project/boxes-1/publish", headers=HTML)).text
    await ada.send_form("/templates/survey/use", {}, token_from="/templates/survey")
    response = (await ada.send_form("/project/survey-1/samples", {"keep": "y"}, token_from="/templates/survey")).json()
    assert "1 sample task is kept" in response["flash"]
    assert (await ada.page("/project/survey-1/")).json()["n_tasks"] == 1
    assert await served.database.fetch("SELECT FROM sample_task") == []


@shows("page-sample-tasks")
@pytest_twisted.ensureDeferred
async def test_publishing_settles_sample_tasks_of_a_project_with_own_ones(served):
    """Own tasks and samples are not published together by accident, and programs decide for themselves."""
    ada = await newcomer(served, "ada")
    key = served.client((await ada.page("/account/profile")).json()["user"]["api_key"])
    for name, form, n_tasks in (
        ("boxes", {"samples": "remove"}, 1),
        ("outline", {"samples": "keep"}, 4),
        ("compare", {}, 4),
    ):
        await ada.send_form(f"/templates/{name}/use", {}, token_from="/templates/boxes")
        at = f"/project/{name}-1/"
        chosen = 'name="samples" value="remove" checked'
        assert chosen not in (await ada.get(f"{at}publish", headers=HTML)).text, "there are no own tasks yet"
        row = (await key.get(f"/api/project?short_name={name}-1&all=1")).json()[0]
        await key.post("/api/task", json={"project_id": row["id"], "info": {"picture": "/uploads/mine.png"}})
        assert chosen in (await ada.get(f"{at}publish", headers=HTML)).text
        done = (await ada.send_form(f"{at}publish", form, token_from=f"{at}publish")).json()
        assert done["status"] == "success", done
        assert (await ada.page(at)).json()["n_tasks"] == n_tasks
    left = await served.database.fetch("SELECT DISTINCT project_id FROM sample_task")
    assert [each["project_id"] for each in left] == [row["id"]]


@pytest.mark.parametrize("name", ["a.html", "x" * 200 + ".png", "a.svg"])
def test_a_file_of_another_type_is_refused(name):
    with pytest.raises(template.InvalidValueError):
        template.require_file_name(name)
