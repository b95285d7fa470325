"""What single-page front ends send to /api: a session cookie and ``Content-Type: application/json`` on everything."""

from __future__ import annotations

from typing import Any

import pytest_twisted
from support.browsers import newcomer
from support.checks.shows import shows
from support.servers.served import Client, Served

JSON = {"Content-Type": "application/json"}
PNG = b"\x89PNG\r\n\x1a\n" + b"\x00" * 40


async def front_end(served: Served, name: str, *, admin: bool = False) -> Client:
    """The browser of somebody who signed in through a front end."""
    browser = await newcomer(served, name)
    profile = (await browser.page("/account/profile")).json()["user"]
    browser.user_id = profile["id"]
    if admin:
        await served.database.execute("UPDATE account SET admin = true WHERE id = %(id)s", {"id": profile["id"]})
    return browser


def multipart(**more: str) -> dict[str, Any]:
    head = '--b\r\nContent-Disposition: form-data; name="file"; filename="blob"\r\n'
    body = head.encode() + b"Content-Type: image/png\r\n\r\n" + PNG + b"\r\n--b--\r\n"
    headers = {"Content-Type": "multipart/form-data; boundary=b", "Sec-Fetch-Site": "same-origin", **more}
    return {"data": body, "headers": headers}


@shows("format-body-get")
@pytest_twisted.ensureDeferred
async def test_a_get_may_have_the_body_of_an_empty_object(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=1, published=True)
    for path in (
        "/api/category", "/api/project?all=1", f"/api/project/{project['id']}", f"/api/task/{project['tasks'][0]}",
        f"/api/project/{project['id']}/newtask", "/api/project/birds/userprogress", "/api/announcement",
    ):  # fmt: skip
        answer = await served.client().request("GET", path, json={})
        assert answer.status == 200, (path, answer.body)


@shows("session-api-write")
@pytest_twisted.ensureDeferred
async def test_a_session_writes_json_without_a_token(served):
    browser = await front_end(served, "ada")
    made = await browser.post("/api/project", json={"name": "Made here"})
    assert made.status == 200, made.body
    path = f"/api/project/{made.json()['id']}"
    assert (await browser.put(path, json={"description": "changed"})).json()["description"] == "changed"
    assert (await browser.delete(path, headers=JSON)).status == 204


@pytest_twisted.ensureDeferred
async def test_a_form_of_another_site_writes_nothing(served):
    browser = await front_end(served, "ada")
    foreign = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
    for headers in ({**JSON, **foreign}, {"Content-Type": "text/plain", **foreign}, {"Content-Type": "text/plain"}):
        answer = await browser.post("/api/project", data=b'{"name": "Forged"}', headers=headers)
        assert answer.status == 403, headers
    assert (await browser.get("/api/project")).json() == []


@pytest_twisted.ensureDeferred
async def test_collections_are_categories_with_info(served):
    admin = await front_end(served, "admin", admin=True)
    for number in range(3):
        body = {"name": f"Shelf {number}", "short_name": f"shelf{number}", "description": "A shelf"}
        shelf = (await admin.post("/api/category", json=body)).json()
        info = {**shelf["info"], "published": number != 1, "presenter": "iiif"}
        assert (await admin.put(f"/api/category/{shelf['id']}", json={"info": info})).json()["info"] == info
    path = "/api/category?info=published::true&orderby=created&desc=true"
    project_lists = (await served.client().get(path, headers=JSON)).json()
    assert [shelf["short_name"] for shelf in project_lists] == ["shelf2", "shelf0"]
    both = (await served.client().get("/api/category?info=published::true|presenter::iiif")).json()
    assert len(both) == 2
    assert [s["name"] for s in (await served.client().get("/api/category?short_name=shelf1")).json()] == ["Shelf 1"]


@pytest_twisted.ensureDeferred
async def test_projects_of_a_category_and_featured_ones(served):
    owner, admin = await served.person("owner"), await front_end(served, "admin", admin=True)
    for name in ("birds", "fish"):
        project = await served.project(owner, name, tasks=1, published=True)
    category = (await admin.get("/api/category")).json()[0]["id"]
    await admin.put(f"/api/project/{project['id']}", json={"featured": True})
    for true in ("true", "1"):
        projects = (await admin.get(f"/api/project?category_id={category}&featured={true}&all=1&desc=1")).json()
        assert [one["short_name"] for one in projects] == ["fish"]
    down = (await admin.get("/api/project?all=1&orderby=id&desc=1")).json()
    assert [one["short_name"] for one in down] == ["fish", "birds"]


@shows("list-filter-integers")
@pytest_twisted.ensureDeferred
async def test_tasks_of_several_projects(served):
    owner = await served.person("owner")
    made = [await served.project(owner, name, tasks=2, published=True) for name in ("birds", "fish", "frogs")]
    first, second, _ = [project["id"] for project in made]
    for query in (f"[{first},{second}]", f"{first},{second}", f"%5B{first},%20{second}%5D"):
        tasks = (await served.client().get(f"/api/task?project_id={query}", headers=JSON)).json()
        assert [task["project_id"] for task in tasks] == [first, first, second, second]


@shows("user-put")
@pytest_twisted.ensureDeferred
async def test_a_person_changes_info_and_an_administrator_the_role(served):
    person, admin = await front_end(served, "person"), await front_end(served, "admin", admin=True)
    path = f"/api/user/{person.user_id}"
    info = {"reading": {"shelves": [1, 2]}, "colour": "blue"}
    assert (await person.put(path, json={"info": info})).json()["info"] == info
    assert (await person.get(path, headers=JSON)).json()["info"] == info
    assert (await person.put(path, json={"admin": True})).status == 403
    assert (await admin.put(path, json={"admin": True})).json()["admin"] is True


@shows("record-file")
@pytest_twisted.ensureDeferred
async def test_announcements_are_written_illustrated_and_published(served):
    admin, reader = await front_end(served, "admin", admin=True), served.client()
    body = {"title": "News", "body": "Much.", "published": False, "info": {"tag": "a"}}
    made = (await admin.post("/api/announcement", json=body)).json()
    path = f"/api/announcement/{made['id']}"
    illustrated = await admin.put(path, **multipart())
    assert illustrated.status == 200 and illustrated.json()["media_url"].endswith(".png"), illustrated.body
    assert illustrated.json()["info"]["tag"] == "a" and illustrated.json()["title"] == "News"
    listed = "/api/announcement?published=true&orderby=created&desc=true&limit=50&offset=0"
    assert (await reader.get(listed)).json() == []
    assert (await admin.put(path, json={"published": True, "info": {"tag": "b"}})).json()["info"] == {"tag": "b"}
    assert [announcement["id"] for announcement in (await reader.get(listed, headers=JSON)).json()] == [made["id"]]


@shows("cors-configured")
@pytest_twisted.ensureDeferred
async def test_a_front_end_of_a_configured_origin_writes_json_and_files(serve):
    origin = "https://front.example"
    served = await serve(CROWDD_HTTP_ALLOWED_ORIGINS=origin)
    admin = await front_end(served, "admin", admin=True)
    here = {"Origin": origin, "Sec-Fetch-Site": "same-site"}
    made = await admin.post("/api/announcement", json={"title": "News", "body": "."}, headers=here)
    assert made.status == 200 and made.header("access-control-allow-credentials") == "true", made.body
    path = f"/api/announcement/{made.json()['id']}"
    illustrated = await admin.put(path, **multipart(**here))
    assert illustrated.status == 200 and illustrated.json()["media_url"].endswith(".png"), illustrated.body
    elsewhere = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
    assert (await admin.put(path, **multipart(**elsewhere))).status == 403


@shows("list-offset")
@pytest_twisted.ensureDeferred
async def test_infinite_lists_go_on_by_offset_until_nothing_comes(served):
    admin = await front_end(served, "admin", admin=True)
    for number in range(5):
        await admin.post("/api/announcement", json={"title": f"No. {number}", "body": "."})
    seen, offset = [], 0
    while page := (await admin.get(f"/api/announcement?orderby=created&desc=true&limit=2&offset={offset}")).json():
        seen += [row["title"] for row in page]
        offset += 2
    assert seen == [f"No. {number}" for number in (4, 3, 2, 1, 0)]


@shows("list-last-id")
@pytest_twisted.ensureDeferred
async def test_whole_lists_go_on_by_the_last_id(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=130, published=True)
    seen, last = [], 0
    while page := (await served.client().get(f"/api/task?project_id={project['id']}&limit=100&last_id={last}")).json():
        seen += [task["id"] for task in page]
        last = seen[-1]
    assert seen == project["tasks"]
