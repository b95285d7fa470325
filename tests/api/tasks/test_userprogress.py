"""How far somebody is."""

import pytest_twisted
from support.browsers import lock
from support.checks.shows import shows


@shows("caller-external", "family-callers", "userprogress")
@pytest_twisted.ensureDeferred
async def test_done_and_total_for_each_kind_of_caller(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=3, published=True)
    browser, neighbour, anonymous = served.client(), served.client(), served.client()
    for client in (browser, neighbour):
        await client.get("/about")
    for who in (owner, browser, anonymous):
        task = (await who.get(f"/api/{project['id']}/newtask")).json()
        run = {"project_id": project["id"], "task_id": task["id"], "info": 1}
        assert (await who.post("/api/taskrun", json=run)).status == 200
    for who, done in ((owner, 1), (browser, 1), (anonymous, 1), (served.client(), 1), (neighbour, 0)):
        for reference in (project["id"], "birds"):
            seen = (await who.get(f"/api/project/{reference}/userprogress?_=1")).json()
            assert seen == {"done": done, "total": 3}


@shows("userprogress")
@pytest_twisted.ensureDeferred
async def test_an_unknown_project_is_not_found(served):
    for reference in ("999", "nothing", "9" * 30, "%E2%82%AC"):
        refused = await served.client().get(f"/api/project/{reference}/userprogress")
        assert (refused.status, refused.json()["target"]) == (404, "userprogress"), reference


@pytest_twisted.ensureDeferred
async def test_a_locked_project_tells_only_those_inside(served):
    owner, admin = await served.person("owner"), await served.person("boss", admin=True)
    stranger = await served.person("stranger")
    project = await served.project(owner, tasks=1, published=True)
    await lock(served, "birds", owner, "sesame")
    for reference in (project["id"], "birds"):
        path = f"/api/project/{reference}/userprogress"
        for who in (stranger, served.client()):
            refused = await who.get(path)
            assert (refused.status, refused.json()["error_code"]) == (403, "project_password")
            assert (await who.get(path, headers={"X-Project-Password": "sesame"})).status == 200
        for who in (owner, admin):
            assert (await who.get(path)).json() == {"done": 0, "total": 1}
