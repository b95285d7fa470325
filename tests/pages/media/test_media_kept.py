"""Media files go with their project, and move with its folder."""

from __future__ import annotations

import json

import pytest_twisted
from support.media import TUS, begin, brought, create, picture, tasks_of, upload, zipped
from support.servers.queue_runner import worked

from crowdd.features.batches.feature import BatchesFeature
from crowdd.features.gallery import folder_export, folder_import, folders
from crowdd.features.gallery.feature import GalleryFeature
from crowdd.features.media.feature import MediaFeature
from crowdd.features.projects.feature import ProjectsFeature
from crowdd.kernel.requester import SYSTEM


@pytest_twisted.ensureDeferred
async def test_files_go_with_their_project(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    await brought(served, owner, {"a.jpg": picture(1), "b.jpg": picture(2)})
    batch = await begin(owner)
    url = (await create(owner, batch, "c.jpg", 5)).header("location")
    (first, _) = await tasks_of(owner, project)
    assert (await owner.get(first["picture"])).status == 200
    # a task that goes leaves its file: other texts may show it
    task = (await owner.get(f"/api/task?project_id={project['id']}&limit=1")).json()[0]
    await owner.delete(f"/api/task/{task['id']}")
    assert (await owner.get(first["picture"])).status == 200
    usage = await served.house.base.quota.usage(served.database, owner.user_id)
    assert usage["bytes"]["used"] > 1000
    assert (await owner.delete(f"/api/project/{project['id']}")).status == 204
    await worked(served)
    assert (await owner.get(first["picture"])).status == 404
    assert (await owner.request("HEAD", url, headers=TUS)).status == 404
    assert await served.database.fetch("SELECT FROM media_batch UNION ALL SELECT FROM media_file") == []
    incoming = served.house[BatchesFeature].media_batches._incoming
    assert len(incoming.files(before=2.0**40)) == 1
    await served.house[BatchesFeature].media_batches.sweep(2.0**40)
    assert incoming.files(before=2.0**40) == []
    assert [key async for key, _size in served.house[MediaFeature].media_store.keys(project["id"])] == []


@pytest_twisted.ensureDeferred
async def test_files_move_with_the_folder_of_a_project(served, tmp_path):
    owner = await served.person("owner")
    project = await served.project(owner)
    await brought(served, owner, {"a.jpg": picture(1), "b.jpg": picture(2)})
    before = await tasks_of(owner, project)
    house = served.house
    row = await house[ProjectsFeature].projects.page("birds", SYSTEM)
    await folder_export.unload(house[GalleryFeature].unloading, row, tmp_path / "birds", lambda done: None)
    about = tmp_path / "birds" / "project.json"
    about.write_text(json.dumps({**json.loads(about.read_text()), "name": "Fish", "short_name": "fish"}))
    done = await folder_import.load(
        house[GalleryFeature].loading, folders.read_folder(tmp_path / "birds"), owner="owner"
    )
    assert done.added == 2
    after = await tasks_of(owner, {"id": done.id})
    for old, new in zip(before, after, strict=True):
        assert new["filename"] == old["filename"] and new["picture"] != old["picture"]
        assert (await owner.get(new["picture"])).body == (await owner.get(old["picture"])).body
        assert (await owner.get(new["thumbnail"])).body == (await owner.get(old["thumbnail"])).body


@pytest_twisted.ensureDeferred
async def test_a_project_that_was_deleted_while_its_files_are_prepared_gets_no_task(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    batch = await begin(owner)
    await upload(owner, batch, "all.zip", zipped({f"{n}.jpg": picture(n) for n in range(3)}))
    await owner.delete(f"/api/project/{project['id']}")
    items = await worked(served)
    assert {item["state"] for item in items if item["name"] == "prepare_media"} <= {"dead", "done"}
    assert await served.database.fetch("SELECT FROM task WHERE project_id = %(id)s", {"id": project["id"]}) == []


@pytest_twisted.ensureDeferred
async def test_an_owner_who_is_none_any_more_gets_no_tasks(served):
    owner, other = await served.person("owner"), await served.person("other")
    project = await served.project(owner)
    batch = await begin(owner)
    await upload(owner, batch, "a.jpg", picture(1))
    sql = "UPDATE project SET owner_id = %(id)s, owners_ids = ARRAY[%(id)s::bigint] WHERE id = %(project)s"
    await served.database.execute(sql, {"id": other.user_id, "project": project["id"]})
    (item,) = await worked(served)
    if item["state"] == "done":  # it was quicker than the change
        return
    assert item["state"] == "dead" and await tasks_of(other, project) == []
    state = (await other.page(f"{batch}/live")).json()
    assert state["state"] == "stopped"
    await other.post(f"{batch}/resume", json={})
    await other.post(f"{batch}/close", json={})
    await worked(served)
    assert len(await tasks_of(other, project)) == 1


@pytest_twisted.ensureDeferred
async def test_a_full_account_refuses_what_a_file_has_become(serve):
    """A small file may become a large one: the quota is looked at again when it is stored."""
    served = await serve(CROWDD_QUOTA_MAX_BYTES="20000")
    owner = await served.person("owner")
    project = await served.project(owner)
    files = {f"{n}.png": picture(n, (900, 600), "PNG", optimize=True) for n in range(4)}
    done = await brought(served, owner, files, keep_original=True)
    assert done["state"] == "done" and done["refused"] >= 1
    assert done["added"] == len(await tasks_of(owner, project))
    stored = {key async for key, _size in served.house[MediaFeature].media_store.keys(project["id"])}
    rows = await served.database.fetch("SELECT path FROM upload_file")
    assert stored == {row["path"] for row in rows}
