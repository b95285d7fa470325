"""What the browser library pybossa.js sends, request by request: cookies, no key, no CSRF token, a cache buster."""

from __future__ import annotations

from typing import Any

import pytest
import pytest_twisted
from support.browsers import newcomer
from support.checks.shows import shows
from support.servers.served import Client, Served


async def browser_of(served: Served, who: str) -> Client:
    """The browser of somebody who opened the project's page: with an account or without."""
    browser = await newcomer(served, "volunteer") if who == "signed in" else served.client()
    await browser.get("/project/birds/newtask")
    return browser


async def stage(served: Served, who: str, **more: Any) -> tuple[dict[str, Any], Client]:
    owner = await served.person("owner")
    project = await served.project(owner, tasks=3, published=True, **more)
    return project, await browser_of(served, who)


both = pytest.mark.parametrize("who", ["signed in", "anonymous"])


@shows("list-unknown")
@both
@pytest_twisted.ensureDeferred
async def test_run_finds_the_project_and_preloads_while_the_first_task_is_shown(who, served):
    _, browser = await stage(served, who)
    projects = (await browser.get("/api/project?all=1&short_name=birds&_=1700000000000")).json()
    assert len(projects) == 1 and projects[0]["description"] == "Is there a bird?"
    path = f"/api/project/{projects[0]['id']}/newtask"
    first = (await browser.get(f"{path}?offset=0&_=1700000000001")).json()
    second = (await browser.get(f"{path}?offset=1&_=1700000000002")).json()
    assert first["id"] != second["id"] and first["info"] == {"n": 0}
    answer = {"project_id": projects[0]["id"], "task_id": first["id"], "info": {"bird": True}}
    assert (await browser.post("/api/taskrun", json=answer)).status == 200
    # The preloaded task is shown now; what is preloaded next is another one.
    third = (await browser.get(f"{path}?offset=1&_=1700000000003")).json()
    assert third["id"] not in (first["id"], second["id"])
    assert (await browser.post("/api/taskrun", json={**answer, "task_id": second["id"]})).status == 200


@both
@pytest_twisted.ensureDeferred
async def test_the_same_task_comes_back_when_there_is_no_other_and_nothing_after_the_last(who, served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=1, published=True)
    browser = await browser_of(served, who)
    path = f"/api/project/{project['id']}/newtask"
    only = (await browser.get(f"{path}?offset=0&_=1")).json()
    assert (
        (await browser.get(f"{path}?offset=1&_=2")).json() == {} == (await browser.get(f"{path}?offset=2&_=3")).json()
    )
    await browser.post("/api/taskrun", json={"project_id": project["id"], "task_id": only["id"], "info": 1})
    done = await browser.get(f"{path}?offset=0&_=4")
    assert (done.status, done.json()) == (200, {})


@shows("taskrun-submit")
@both
@pytest_twisted.ensureDeferred
async def test_save_task_by_number_asks_for_the_task_first(who, served):
    project, browser = await stage(served, who)
    handed = (await browser.get(f"/api/project/{project['id']}/newtask?offset=0&_=1")).json()
    task = (await browser.get(f"/api/task/{handed['id']}?_=2")).json()
    assert (task["id"], task["project_id"]) == (handed["id"], project["id"])
    body = {"project_id": task["project_id"], "task_id": task["id"], "info": "by number"}
    saved = await browser.post("/api/taskrun", json=body)
    assert saved.status == 200 and saved.json()["info"] == "by number"
    assert (saved.json()["user_id"] is None) is (who == "anonymous")


@shows("taskrun-project-page")
@both
@pytest_twisted.ensureDeferred
async def test_a_task_of_the_address_is_shown_by_its_page_and_can_be_answered(who, served):
    project, browser = await stage(served, who)
    number = project["tasks"][2]
    assert (await browser.get(f"/project/birds/task/{number}")).status == 200  # also what pushState leads to
    assert (await browser.post(f"/api/task/{number}/lease", json={})).json() == {
        "state": "leased"
    }  # by the page's script
    task = (await browser.get(f"/api/task/{number}?_=1")).json()
    body = {"project_id": task["project_id"], "task_id": task["id"], "info": [1, {"any": None}]}
    assert (await browser.post("/api/taskrun", json=body)).json()["info"] == body["info"]


@shows("userprogress")
@both
@pytest_twisted.ensureDeferred
async def test_user_progress_says_done_and_total(who, served):
    project, browser = await stage(served, who)
    path = "/api/project/birds/userprogress?_=1"
    assert (await browser.get(path)).json() == {"done": 0, "total": 3}
    task = (await browser.get(f"/api/project/{project['id']}/newtask?offset=0&_=1")).json()
    await browser.post("/api/taskrun", json={"project_id": project["id"], "task_id": task["id"], "info": 1})
    assert (await browser.get(path)).json() == {"done": 1, "total": 3}


@shows("cors-api")
@pytest_twisted.ensureDeferred
async def test_another_site_uses_the_library_by_cors(serve):
    """Any site reads; those that the operator named take tasks and answer them, too."""
    served = await serve(CROWDD_HTTP_ALLOWED_ORIGINS="https://friend.example")
    project, _ = await stage(served, "anonymous")
    friend = served.client(Origin="https://friend.example")
    task = await friend.get(f"/api/project/{project['id']}/newtask?offset=0&_=1")
    assert task.status == 200 and task.header("access-control-allow-origin") == "https://friend.example"
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type"}
    preflight = await friend.request("OPTIONS", "/api/taskrun", headers=asked)
    assert preflight.status == 204 and "Content-Type" in preflight.header("access-control-allow-headers")
    body = {"project_id": project["id"], "task_id": task.json()["id"], "info": 1}
    elsewhere = served.client(Origin="https://elsewhere.example")
    read = await elsewhere.get("/api/project?all=1&short_name=birds&_=1")
    assert (read.status, len(read.json()), read.header("access-control-allow-origin")) == (200, 1, "*")
    for refused in (
        await elsewhere.get(f"/api/project/{project['id']}/newtask?offset=0&_=1"),
        await elsewhere.post("/api/taskrun", json=body),
    ):
        assert (refused.status, refused.json()["error_code"]) == (403, "cross_origin")
    saved = await friend.post("/api/taskrun", json=body)
    assert saved.status == 200 and saved.header("access-control-allow-origin") == "https://friend.example"
