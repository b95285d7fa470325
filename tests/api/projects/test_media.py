"""Files over REST: helping materials, blog posts, announcements."""

import pytest_twisted
from support.checks.shows import shows

PNG = b"\x89PNG\r\n\x1a\n" + b"\x00" * 40


def multipart(fields, content=PNG, filename="../../evil name.png"):
    """A body as clients send it, and its headers."""
    parts = [f'--b\r\nContent-Disposition: form-data; name="{k}"\r\n\r\n{v}\r\n'.encode() for k, v in fields.items()]
    head = (
        f'--b\r\nContent-Disposition: form-data; name="file"; filename="{filename}"\r\nContent-Type: image/png\r\n\r\n'
    )
    body = b"".join(parts) + head.encode() + content + b"\r\n--b--\r\n"
    return {"data": body, "headers": {"Content-Type": "multipart/form-data; boundary=b"}}


@shows("record-file")
@pytest_twisted.ensureDeferred
async def test_a_file_comes_with_a_helping_material_and_goes_with_it(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    made = await owner.post("/api/helpingmaterial", **multipart({"project_id": project["id"], "info": '{"a": 1}'}))
    assert made.status == 200, made.body
    material = made.json()
    path = material["media_url"].removeprefix(served.house.base.settings.base_url)
    assert path.endswith(".png") and "evil" not in path
    assert material["info"] == {"a": 1, "container": f"project-{project['id']}", "file_name": path.rpartition("/")[2]}
    file = await served.client().get(path)
    assert (file.status, file.body, file.header("content-type")) == (200, PNG, "image/png")
    assert file.header("x-content-type-options") == "nosniff" and file.header("set-cookie") is None
    assert (await owner.delete(f"/api/helpingmaterial/{material['id']}")).status == 204
    assert (await served.client().get(path)).status == 404


@shows("record-file")
@pytest_twisted.ensureDeferred
async def test_a_new_file_takes_the_place_of_the_old_one(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    first = (await owner.post("/api/helpingmaterial", **multipart({"project_id": project["id"]}))).json()
    second = (await owner.put(f"/api/helpingmaterial/{first['id']}", **multipart({}, b"GIF89a" + b"\x00" * 9))).json()
    assert second["media_url"] != first["media_url"] and second["media_url"].endswith(".gif")
    base = served.house.base.settings.base_url
    assert (await owner.get(first["media_url"].removeprefix(base))).status == 404
    assert (await owner.get(second["media_url"].removeprefix(base))).status == 200


@shows("record-file-types")
@pytest_twisted.ensureDeferred
async def test_what_a_browser_might_run_is_only_offered_as_a_download(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    for content in (
        b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>",
        b"<!doctype html><script>1</script>",
    ):
        made = await owner.post("/api/helpingmaterial", **multipart({"project_id": project["id"]}, content, "x.svg"))
        file = await served.client().get(made.json()["media_url"].removeprefix(served.house.base.settings.base_url))
        assert file.header("content-type") == "application/octet-stream"
        assert file.header("content-disposition") == "attachment"


@shows("record-file-types")
@pytest_twisted.ensureDeferred
async def test_a_refused_file_leaves_nothing_behind(served):
    owner, stranger = await served.person("owner"), await served.person("stranger")
    project = await served.project(owner)
    fields = {"project_id": project["id"]}
    assert (await stranger.post("/api/helpingmaterial", **multipart(fields))).status == 404  # a draft
    assert (await owner.post("/api/helpingmaterial", **multipart({**fields, "nonsense": "1"}))).status == 415
    assert (await owner.post("/api/helpingmaterial", **multipart({**fields, "priority": "high"}))).status == 415
    assert not [path for path in served.house.base.uploads.folder.rglob("*") if path.is_file()]


@shows("blogpost-who")
@pytest_twisted.ensureDeferred
async def test_posts_are_shown_when_they_are_published(served):
    owner, reader = await served.person("owner"), served.client()
    project = await served.project(owner, tasks=1, published=True)
    post = (
        await owner.post("/api/blogpost", json={"project_id": project["id"], "title": "News", "body": "Much."})
    ).json()
    assert post["user_id"] == owner.user_id and post["published"] is False
    assert (await reader.get(f"/api/blogpost/{post['id']}")).status == 401
    assert (await reader.get("/api/blogpost")).json() == []
    assert (await owner.put(f"/api/blogpost/{post['id']}", json={"published": True})).status == 200
    assert [entry["id"] for entry in (await reader.get("/api/blogpost")).json()] == [post["id"]]
    assert (await owner.get(f"/api/project/{project['id']}")).json()["n_blogposts"] == 1


@shows("announcement-fields", "announcement-who")
@pytest_twisted.ensureDeferred
async def test_only_administrators_announce(served):
    admin, person, reader = await served.person("admin", admin=True), await served.person("person"), served.client()
    body = {"title": "Down on Sunday", "body": "For an hour."}
    assert (await person.post("/api/announcement", json=body)).status == 403
    assert (await reader.post("/api/announcement", json=body)).status == 401
    made = (await admin.post("/api/announcement", json=body)).json()
    assert (made["user_id"], made["published"]) == (admin.user_id, True)
    assert "links" not in made and "rel='self' title='announcement'" in made["link"]
    assert [entry["title"] for entry in (await reader.get("/api/announcement")).json()] == ["Down on Sunday"]
    await admin.put(f"/api/announcement/{made['id']}", json={"published": False})
    assert (await reader.get("/api/announcement")).json() == []
