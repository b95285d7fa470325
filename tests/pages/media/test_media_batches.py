"""Media that owners bring: each file becomes one task, whatever happens on the way."""

from __future__ import annotations

import io

import pytest_twisted
from PIL import Image
from support.checks.shows import shows
from support.media import AT, begin, brought, close, files_of, picture, state, tasks_of, upload, zipped
from support.servers.queue_runner import worked

from crowdd.features.media.feature import MediaFeature
from crowdd.sched.feature import Scheduling


@shows("page-media", "page-media-one", "page-media-live")
@pytest_twisted.ensureDeferred
async def test_each_picture_becomes_a_task(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    files = {f"trip/{n}.jpg": picture(n) for n in range(3)}
    done = await brought(served, owner, files, n_answers=5)
    assert (done["state"], done["files"], done["added"], done["tasks"]) == ("done", 3, 3, 3)
    infos = await tasks_of(owner, project)
    assert [info["filename"] for info in infos] == sorted(files)
    first = infos[0]
    assert (first["width"], first["height"], first["type"][:6]) == (480, 320, "image/")
    for address, width in ((first["picture"], 480), (first["thumbnail"], 400)):
        sent = await owner.get(address)
        assert sent.status == 200 and sent.header("content-type").startswith("image/")
        assert Image.open(io.BytesIO(sent.body)).width == width
    tasks = (await owner.get(f"/api/task?project_id={project['id']}")).json()
    assert {task["n_answers"] for task in tasks} == {5}
    page = (await owner.get(done["at"], headers={"Accept": "text/html"})).text
    assert first["thumbnail"] in page and "Files: 3 = 3 added + 0 already there + 0 refused" in page


@shows("page-media-one")
@pytest_twisted.ensureDeferred
async def test_tasks_come_in_the_order_of_names_however_their_files_arrive(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    batch = await begin(owner)
    for n in (10, 2, 1):
        await upload(owner, batch, f"trip/{n}.jpg", picture(n))
        await worked(served)
    assert ((await state(owner, batch))["left"], await tasks_of(owner, project)) == (3, [])
    await close(served, owner, batch)
    assert [info["filename"] for info in await tasks_of(owner, project)] == ["trip/1.jpg", "trip/2.jpg", "trip/10.jpg"]


@shows("page-media-once")
@pytest_twisted.ensureDeferred
async def test_the_same_content_is_stored_once_and_is_no_second_task(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    done = await brought(served, owner, {"a.jpg": picture(1), "b.jpg": picture(1), "c.jpg": picture(2)})
    assert (done["added"], done["present"], done["tasks"]) == (2, 1, 2)
    again = await brought(served, owner, {"other.jpg": picture(2), "d.jpg": picture(3)})
    assert (again["added"], again["present"], again["tasks"]) == (1, 1, 1)
    infos = await tasks_of(owner, project)
    assert len({info["picture"] for info in infos}) == 3
    media_keys = [key async for key, _size in served.house[MediaFeature].media_store.keys(project["id"])]
    assert len(media_keys) == len(set(media_keys)) == 6  # of each picture one for the web and a thumbnail
    # a task that is deleted makes room for its picture again
    task = (await owner.get(f"/api/task?project_id={project['id']}&limit=1")).json()[0]
    await owner.delete(f"/api/task/{task['id']}")
    third = await brought(served, owner, {"e.jpg": picture(1)})
    assert (third["added"], third["present"]) == (1, 0)
    assert [difference async for difference in served.house[Scheduling].checking.run()] == []


@pytest_twisted.ensureDeferred
async def test_files_that_belong_together_become_one_task_when_the_batch_is_closed(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    batch = await begin(owner, grouping="name")
    for n, name in ((2, "13_front.jpg"), (0, "12b.jpg"), (1, "12a.jpg")):  # several arrive at a time, in any order
        await upload(owner, batch, name, picture(n))
    await worked(served)
    now = await state(owner, batch)
    assert (now["state"], now["left"], now["tasks"]) == ("open", 3, 0)
    done = await close(served, owner, batch)
    assert (done["state"], done["added"], done["tasks"]) == ("done", 3, 2)
    infos = await tasks_of(owner, project)
    assert [[info["filename"], info.get("filename_2")] for info in infos] == [
        ["12a.jpg", "12b.jpg"],
        ["13_front.jpg", None],
    ]
    assert infos[0]["picture"] != infos[0]["picture_2"]
    again = await brought(served, owner, {"12a.jpg": picture(1), "12b.jpg": picture(0)}, grouping="name")
    assert (again["added"], again["present"], again["tasks"]) == (0, 2, 0)


@pytest_twisted.ensureDeferred
async def test_members_of_an_archive_become_tasks_and_an_archive_in_it_is_refused(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    inner = zipped({"deep.jpg": picture(9)})
    files = {
        "a/1.jpg": picture(1),
        "a/2.jpg": picture(2),
        "__MACOSX/a/._1.jpg": b"x",
        "in.zip": inner,
        "notes.txt": b"hi",
    }
    done = await brought(served, owner, {"all.zip": zipped(files)})
    assert (done["files"], done["added"], done["refused"], done["tasks"]) == (4, 2, 2, 2)
    assert [info["filename"] for info in await tasks_of(owner, project)] == ["a/1.jpg", "a/2.jpg"]
    reasons = {file["path"]: file["reason"] for file in await files_of(owner, done["at"]) if file["state"] == "refused"}
    assert reasons.keys() == {"in.zip", "notes.txt"} and all(len(each) > 10 for each in reasons.values())
    page = (await owner.get(done["at"], headers={"Accept": "text/html"})).text
    assert reasons["notes.txt"] in page


@pytest_twisted.ensureDeferred
async def test_pages_of_a_document_become_tasks_or_one_task(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    letter = io.BytesIO()
    pages = [Image.new("RGB", (60, 80), colour) for colour in ("red", "green", "blue")]
    pages[0].save(letter, "PDF", save_all=True, append_images=pages[1:])
    done = await brought(served, owner, {"letter.pdf": letter.getvalue()})
    assert (done["files"], done["added"], done["tasks"]) == (3, 3, 3)
    infos = await tasks_of(owner, project)
    assert [(info["filename"], info["page"]) for info in infos] == [("letter.pdf", n) for n in (1, 2, 3)]
    fish = await served.project(owner, "fish")
    done = await brought(served, owner, {"letter.pdf": letter.getvalue()}, "/project/fish/tasks/media", grouping="name")
    assert (done["added"], done["tasks"]) == (3, 1)
    (info,) = await tasks_of(owner, fish)
    assert {"picture", "picture_2", "picture_3"} <= info.keys()


@pytest_twisted.ensureDeferred
async def test_a_batch_whose_background_task_failed_goes_on_where_it_was(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    batch = await begin(owner)
    await upload(owner, batch, "0.jpg", picture(0))
    await worked(served)
    await upload(owner, batch, "1.jpg", picture(1))
    await upload(owner, batch, "2.jpg", picture(2))
    sql = "UPDATE queue_item SET state = 'dead', error = 'The disk is broken.' WHERE state IN ('waiting', 'running')"
    await served.database.execute(sql)
    await owner.post(f"{batch}/close", json={})
    stopped = await state(owner, batch)
    assert (stopped["files"], stopped["added"] + stopped["left"]) == (3, 3)
    await owner.post(f"{batch}/resume", json={})
    await worked(served)
    done = await state(owner, batch)
    assert (done["state"], done["added"], done["tasks"]) == ("done", 3, 3)
    assert len(await tasks_of(owner, project)) == 3


@pytest_twisted.ensureDeferred
async def test_a_form_without_scripts_brings_several_files(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    browser = await owner.by_session()
    token = (await browser.page(AT)).json()["form"]["csrf"]
    files = [("files", (f"{n}.png", "image/png", io.BytesIO(picture(n, format_="PNG")))) for n in range(2)]
    files.append(("files", ("empty.png", "image/png", io.BytesIO(b""))))
    answer = await browser.post(AT, data={"csrf_token": token, "grouping": "file"}, files=files)
    assert answer.status == 302, answer.text
    await worked(served)
    done = await state(owner, answer.header("location"))
    assert (done["state"], done["added"], done["refused"], len(await tasks_of(owner, project))) == ("done", 2, 1, 2)
    nothing = await browser.post(
        AT, data={"csrf_token": token}, files=[("other", ("x", "text/plain", io.BytesIO(b"x")))]
    )
    assert nothing.status == 200 and "Choose files first." in nothing.text
