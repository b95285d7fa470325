"""Results over REST: made by the server, filled by owners."""

import pytest_twisted
from support.checks.shows import shows


async def completed(served, owner):
    """A project with one completed task; its result."""
    project = await served.project(owner, tasks=1, published=True, n_answers=1)
    task = (await owner.get(f"/api/{project['id']}/newtask")).json()
    await owner.post("/api/taskrun", json={"project_id": project["id"], "task_id": task["id"], "info": 1})
    return project, (await owner.get("/api/result")).json()[0]


@shows("result-fields", "task-complete")
@pytest_twisted.ensureDeferred
async def test_a_completed_task_has_one_result_of_exactly_its_answers(served):
    owner = await served.person("owner")
    project, result = await completed(served, owner)
    runs = (await owner.get("/api/taskrun")).json()
    assert result["task_run_ids"] == [run["id"] for run in runs] and result["last_version"] is True
    assert (result["project_id"], result["task_id"], result["info"]) == (project["id"], project["tasks"][0], None)
    assert [link.split("'")[3] for link in result["links"]] == ["project", "task"]
    assert [link.split("'")[3] for link in runs[0]["links"]] == ["task", "project"]


@shows("result-info")
@pytest_twisted.ensureDeferred
async def test_owners_fill_info_and_nothing_else(served):
    owner, stranger = await served.person("owner"), await served.person("stranger")
    _, result = await completed(served, owner)
    path = f"/api/result/{result['id']}"
    sent = {"info": {"answer": 5}, "link": result["link"], "links": result["links"]}
    assert (await owner.put(path, json=sent)).json()["info"] == {"answer": 5}
    assert (await stranger.put(path, json=sent)).status == 403
    assert (await served.client().put(path, json=sent)).status == 401
    for name, value in (("task_run_ids", [1, 2]), ("last_version", False), ("task_id", 9), ("project_id", 9)):
        assert (await owner.put(path, json={name: value})).status == 400
    assert (await owner.put(path, json={**result, "info": 1})).json()["info"] == 1
    assert (await stranger.get(path)).json()["info"] == 1


@shows("result-create")
@pytest_twisted.ensureDeferred
async def test_nobody_makes_or_deletes_a_result(served):
    admin = await served.person("boss", admin=True)
    _, result = await completed(served, admin)
    assert (await admin.post("/api/result", json={"info": 1})).status == 403
    assert (await served.client().post("/api/result", json={"info": 1})).status == 401
    assert (await admin.delete(f"/api/result/{result['id']}")).status == 403
    assert (await served.client().delete(f"/api/result/{result['id']}")).status == 401


@shows("list-last-version", "result-versions")
@pytest_twisted.ensureDeferred
async def test_a_list_shows_last_versions_unless_asked_for_others(served):
    owner = await served.person("owner")
    project, first = await completed(served, owner)
    await owner.put(f"/api/task/{project['tasks'][0]}", json={"n_answers": 2})
    volunteer = await served.person("volunteer")
    await volunteer.get(f"/api/{project['id']}/newtask")
    run = {"project_id": project["id"], "task_id": project["tasks"][0], "info": 2}
    assert (await volunteer.post("/api/taskrun", json=run)).status == 200
    last = (await owner.get("/api/result")).json()
    assert [len(result["task_run_ids"]) for result in last] == [2]
    old = (await owner.get("/api/result?last_version=false")).json()
    assert [result["id"] for result in old] == [first["id"]]
