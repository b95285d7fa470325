"""Drafts are private: strangers get 404 by id and by name unless they have the "try it" link."""

import pytest_twisted
from support.browsers import lock, newcomer
from support.checks.shows import shows
from twisted.internet.defer import DeferredList, ensureDeferred

PAGE = {"Content-Type": "application/json"}
HTML = {"Accept": "text/html"}


async def draft(served):
    """An owner, a draft with two tasks, and the path of its "try it" link."""
    owner = await served.person("owner")
    project = await served.project(owner, tasks=2, n_answers=1)
    return owner, project, await link_of(served, owner)


async def link_of(served, owner):
    link = (await owner.page("/project/birds/publish")).json()["try_link"]
    return link[link.index("/project/") :]


async def visitor(served, link):
    """A browser that has opened the link."""
    browser = served.client()
    opened = await browser.get(link, headers=HTML)
    assert (opened.status, opened.header("location")) == (302, "/project/birds/")
    return browser


async def paths_of(owner, project):
    """Every address by which something of a draft could be reached."""
    number, (first, _) = project["id"], project["tasks"]
    task = (await owner.get(f"/api/{number}/newtask")).json()["id"]
    body = {"project_id": number, "task_id": task, "info": 1}
    run = (await owner.post("/api/taskrun", json=body)).json()["id"]
    result = (await owner.get(f"/api/result?project_id={number}")).json()[0]["id"]
    made = {"project_id": number, "title": "News", "body": "Much.", "published": True}
    post = (await owner.post("/api/blogpost", json=made)).json()["id"]
    material = (await owner.post("/api/helpingmaterial", json={"project_id": number})).json()["id"]
    predicted = {"project_id": number, "task_id": first, "model": "m", "question": "q", "value": 1}
    prediction = (await owner.post("/api/prediction", json=predicted)).json()["id"]
    objects = {
        "project": number, "task": first, "taskrun": run, "result": result, "blogpost": post,
        "helpingmaterial": material, "projectstats": number, "prediction": prediction,
    }  # fmt: skip
    api = [f"/api/{kind}/{row_id}" for kind, row_id in objects.items()]
    api += [f"/api/{number}/newtask", f"/api/project/{number}/userprogress", "/api/project/birds/userprogress"]
    pages = (
        "",
        "stats",
        "tasks",
        "tasks/browse",
        f"tasks/{first}",
        "newtask",
        f"task/{first}",
        "tutorial",
        "results",
        "blog",
        "live",
    )
    framed = [f"/project/birds/{name}?_presenter=1" for name in ("newtask", "tutorial", "results")]
    return api, [f"/project/birds/{name}" for name in pages] + framed


@shows("error-404", "state-draft")
@pytest_twisted.ensureDeferred
async def test_a_draft_is_404_for_strangers_by_id_and_by_name(served):
    owner, project, _ = await draft(served)
    api, pages = await paths_of(owner, project)
    for client in (served.client(), await served.person("stranger")):
        for path in api:
            refused = await client.get(path)
            assert (refused.status, refused.json().get("exception_msg")) == (404, "404 Not Found"), (path, refused.body)
        for path in pages:
            assert (await client.get(path, headers=PAGE)).status == 404, path
    admin = await served.person("admin", admin=True)
    for client in (owner, admin):
        for path in api:
            assert (await client.get(path)).status == 200, path


@shows("state-draft")
@pytest_twisted.ensureDeferred
async def test_a_stranger_cannot_tell_a_draft_from_nothing_by_writing(served):
    _, project, _ = await draft(served)
    stranger = await served.person("stranger")
    for body in ({"project_id": project["id"], "info": 1}, {"project_id": 999, "info": 1}):
        assert (await stranger.post("/api/task", json=body)).status == 404
    assert (await stranger.put(f"/api/project/{project['id']}", json={"name": "Mine"})).status == 404
    assert (await stranger.delete(f"/api/task/{project['tasks'][0]}")).status == 404
    assert (await stranger.post("/api/favorites", json={"task_id": project["tasks"][0]})).status == 404
    assert (await stranger.page("/project/birds/settings")).status == 404
    for name in ("birds", "nothing"):
        signed_out = await served.client().page(f"/project/{name}/settings")
        assert (signed_out.status, signed_out.header("location").split("?")[0]) == (302, "/account/signin")


@shows("state-try-link")
@pytest_twisted.ensureDeferred
async def test_with_the_link_a_browser_sees_and_tries_the_draft(served):
    _, project, link = await draft(served)
    browser = await visitor(served, link)
    assert (await browser.page("/project/birds/")).json()["project"]["name"] == "Birds"
    assert (await browser.get(f"/api/project/{project['id']}")).status == 200
    for _ in project["tasks"]:
        task = (await browser.get(f"/api/{project['id']}/newtask")).json()["id"]
        body = {"project_id": project["id"], "task_id": task, "info": 1}
        assert (await browser.post("/api/taskrun", json=body)).status == 200
    assert (await browser.get(f"/api/project/{project['id']}/userprogress")).json() == {"done": 2, "total": 2}
    assert (await served.client().get(link, headers=PAGE)).json()["project"]["name"] == "Birds"


@shows("state-try-link")
@pytest_twisted.ensureDeferred
async def test_a_program_sends_the_key_of_the_link_as_a_header(served):
    _, project, link = await draft(served)
    key = link.partition("try=")[2]
    assert len(key) == 32  # 128 bits
    program = served.client()
    for sent, status in (
        (key, 200),
        (key[:-1] + ("0" if key[-1] != "0" else "1"), 404),
        ("", 404),
        (f"try-{key}", 404),
    ):
        answered = await program.get(f"/api/task/{project['tasks'][0]}", headers={"X-Draft-Key": sent})
        assert answered.status == status, sent


@pytest_twisted.ensureDeferred
async def test_a_lock_is_not_opened_by_the_header_of_drafts(served):
    owner, project, _ = await draft(served)
    await owner.post("/project/birds/publish", json={})
    await lock(served, "birds", owner, "sesame")
    row = await served.database.fetch("SELECT lock_id FROM project", {})
    refused = await served.client().get(f"/api/project/{project['id']}", headers={"X-Draft-Key": row[0]["lock_id"]})
    assert refused.status == 401


@shows("state-try-link")
@pytest_twisted.ensureDeferred
async def test_a_new_link_ends_the_old_one(served):
    owner, project, link = await draft(served)
    browser = await visitor(served, link)
    stranger = await served.person("stranger")
    assert (await stranger.post("/project/birds/trylink", json={})).status == 404
    made = await owner.post("/project/birds/trylink", json={})
    assert (made.status, made.json()["status"]) == (200, "success")
    assert (await browser.get(f"/api/project/{project['id']}")).status == 404
    assert (await browser.get(link, headers=HTML)).status == 404
    assert await link_of(served, owner) != link
    assert (await visitor(served, await link_of(served, owner))).cookies


@shows("state-try-link")
@pytest_twisted.ensureDeferred
async def test_the_link_ends_when_the_project_is_published(served):
    owner, _, link = await draft(served)
    await owner.post("/project/birds/publish", json={})
    assert (await owner.page("/project/birds/publish")).json()["try_link"] is None
    late = await served.client().get(link, headers=HTML)
    assert (late.status, late.header("location")) == (302, "/project/birds/")
    assert "unlocked=" not in (late.header("set-cookie") or "")
    assert (await served.client().page("/project/birds/")).status == 200
    refused = await owner.post("/project/birds/trylink", json={})
    assert (refused.status, refused.json()["reason"]) == (403, "no_draft")


@pytest_twisted.ensureDeferred
async def test_two_new_links_at_once_leave_one_that_works(served):
    owner, _, _ = await draft(served)
    both = [ensureDeferred(owner.post("/project/birds/trylink", json={})) for _ in range(2)]
    assert [made.status for _, made in await DeferredList(both)] == [200, 200]
    await visitor(served, await link_of(served, owner))
    keys = await served.database.fetch("SELECT p.draft_key = l.draft_key AS same FROM project p, project_ledger l", {})
    assert keys == [{"same": True}]


@pytest_twisted.ensureDeferred
async def test_an_owner_tries_the_own_draft_through_its_presenter(served):
    browser = await newcomer(served, "owner")
    owner = served.client((await browser.page("/account/profile")).json()["user"]["api_key"])
    project = await served.project(owner, tasks=1)
    mark = {"X-Presenter": str(project["id"])}
    task = await browser.get(f"/api/{project['id']}/newtask", headers=mark)
    assert task.json()["id"] == project["tasks"][0]
    assert (await browser.get(f"/api/task/{project['tasks'][0]}", headers=mark)).status == 200
    assert (await browser.get("/api/project/birds/userprogress", headers=mark)).json() == {"done": 0, "total": 1}
    body = {"project_id": project["id"], "task_id": project["tasks"][0], "info": 1}
    assert (await browser.post("/api/taskrun", json=body, headers=mark)).status == 200


@shows("state-pause")
@pytest_twisted.ensureDeferred
async def test_a_paused_project_stays_in_sight(served):
    owner, project, _ = await draft(served)
    await owner.post("/project/birds/publish", json={})
    await owner.post("/project/birds/pause", json={})
    assert (await served.client().get(f"/api/project/{project['id']}")).status == 200
    assert (await served.client().page("/project/birds/")).status == 200
