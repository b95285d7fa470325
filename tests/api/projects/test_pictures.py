"""Addresses of pictures in records: uploads of this server and pictures of other sites, nothing else of ours."""

import pytest
import pytest_twisted
from support.browsers import newcomer
from support.checks.shows import shows

ACTS = (
    "/admin/users/add/7", "/account/signout", "//evil.example/x.png", "/uploads/../admin/users/add/7", "/uploads/project-1/",
    "/uploads/project-1/a.png?next=/admin", "http://other.example/a.png", "javascript:alert(1)", "https://me@other.example/a.png",
    "https:///a.png", "https://other.example\\@x/a.png", 7,
)  # fmt: skip
PICTURES = ("/uploads/project-1/a.png", "https://other.example/a.png?size=3", "", None)


@shows("project-picture-addresses")
@pytest_twisted.ensureDeferred
async def test_project_takes_pictures_and_no_other_address_of_ours(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    base = served.house.base.settings.base_url
    for address in (*ACTS, f"{base}/admin/users/add/7", f"{base}/uploads/a/b?x"):
        refused = await owner.put(f"/api/project/{project['id']}", json={"info": {"thumbnail_url": address}})
        assert (refused.status, refused.json()["exception_cls"]) == (415, "ValueError"), address
        assert "info.thumbnail_url" in refused.json()["exception_msg"]
        made = await owner.post(
            "/api/project", json={"name": "x", "short_name": "x", "info": {"thumbnail_url": address}}
        )
        assert made.status == 415, address
    for address in (*PICTURES, f"{base}/uploads/project-1/a.png"):
        taken = await owner.put(f"/api/project/{project['id']}", json={"info": {"thumbnail_url": address}})
        assert taken.status == 200 and taken.json()["info"]["thumbnail_url"] == address


@shows("project-picture-addresses")
@pytest.mark.parametrize("address", ACTS[:-1])
@pytest_twisted.ensureDeferred
async def test_blog_post_and_announcement_take_no_other_address_of_ours(served, address):
    owner = await served.person("owner")
    project = await served.project(owner)
    await served.database.execute("UPDATE account SET admin = true")
    post = {"project_id": project["id"], "title": "t", "body": "b", "media_url": address}
    assert (await owner.post("/api/blogpost", json=post)).status == 415
    good = (await owner.post("/api/blogpost", json={**post, "media_url": "https://other.example/a.png"})).json()
    assert (await owner.put(f"/api/blogpost/{good['id']}", json={"media_url": address})).status == 415
    assert (await owner.post("/api/announcement", json={"title": "t", "body": "b", "media_url": address})).status == 415


@shows("project-picture-addresses")
@pytest_twisted.ensureDeferred
async def test_person_takes_no_other_address_of_ours_as_picture(served):
    ada = await served.person("ada")
    for address in ACTS:
        answer = await ada.put(f"/api/user/{ada.user_id}", json={"info": {"avatar_url": address}})
        assert answer.status in (403, 415), address


@shows("lease-task", "page-task")
@pytest_twisted.ensureDeferred
async def test_page_of_a_task_leases_by_its_script_and_not_for_who_looks_at_it(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=2, published=True)
    first = (await owner.get(f"/api/task?project_id={project['id']}&limit=1")).json()[0]["id"]
    page, path = f"/project/{project['short_name']}/task/{first}", f"/api/task/{first}/lease"

    async def leases():
        return (await served.database.fetch("SELECT count(*) AS n FROM lease"))[0]["n"]

    crawler, browser = served.client(), served.client()
    assert (await crawler.get(page, headers={"User-Agent": "Googlebot/2.1"})).status == 200
    assert (await crawler.get(page, headers={"Accept": "application/json"})).status == 200
    assert (await browser.get(page, headers={"Sec-Fetch-Dest": "document", "Sec-Fetch-Site": "none"})).status == 200
    assert (await browser.get(page, headers={"Sec-Fetch-Dest": "image", "Sec-Fetch-Site": "same-origin"})).status == 403
    assert await leases() == 0
    assert (await browser.post(path, json={})).json() == {"state": "leased"} and await leases() == 1
    answer = {"project_id": project["id"], "task_id": first, "info": 1}
    assert (await browser.post("/api/taskrun", json=answer)).status == 200
    assert (await browser.post(path, json={})).json() == {"state": "answered"}
    program = served.client()
    assert (await program.page(page)).status == 200 and await leases() == 1, "a front end has no script of ours"
    assert (await program.page(f"/project/{project['short_name']}/task/999999")).status == 404
    assert (await crawler.get(f"/project/{project['short_name']}/task/999999")).status == 404
    assert (await crawler.post("/api/task/999999/lease", json={})).status == 404


@shows("newtask-navigation")
@pytest_twisted.ensureDeferred
async def test_newtask_leases_nothing_for_pictures_links_and_prefetches(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=2, published=True)
    browser = await newcomer(served, "ada")
    for headers in (
        {"Sec-Fetch-Dest": "image", "Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Dest": "document", "Sec-Fetch-Site": "none"},
        {"Sec-Purpose": "prefetch;prerender"}, {"Purpose": "prefetch"}, {"Sec-Fetch-Dest": "object"},
    ):  # fmt: skip
        for path in (f"/api/{project['id']}/newtask", f"/api/project/{project['id']}/newtask?limit=100"):
            assert (await browser.get(path, headers=headers)).status == 403, headers
    assert await served.database.fetch("SELECT 1 FROM lease") == []
    for headers in ({"Sec-Fetch-Dest": "empty", "Sec-Fetch-Site": "same-origin"}, {}):
        assert (await browser.get(f"/api/{project['id']}/newtask", headers=headers)).json()["id"]


@shows("get-parts")
@pytest_twisted.ensureDeferred
async def test_parts_of_pages_come_from_static_files_and_uploads_only(served):
    dests = ("image", "audio", "video", "track", "style", "script", "font", "manifest", "object", "embed")
    for dest in dests:
        headers = {"Sec-Fetch-Dest": dest, "Sec-Fetch-Site": "same-origin"}
        for path in ("/", "/account/signin", "/api/project", "/project/x/newtask?_presenter=1"):
            assert (await served.client().get(path, headers=headers)).status == 403, (dest, path)
        assert (await served.client().get("/static/style.css", headers=headers)).status == 200
        assert (await served.client().get("/uploads/site/none.png", headers=headers)).status == 404
