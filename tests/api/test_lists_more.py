"""Lists that bring more along: related rows, full-text search, favourites."""

import pytest_twisted
from support.checks.shows import shows


async def answered(served, tasks=2):
    """A published project whose first task has both its answers."""
    owner = await served.person("owner")
    project = await served.project(owner, tasks=tasks, published=True)
    for name in ("ann", "bob"):
        person = await served.person(name)
        task = (await person.get(f"/api/{project['id']}/newtask")).json()
        body = {"project_id": project["id"], "task_id": task["id"], "info": name}
        assert (await person.post("/api/taskrun", json=body)).status == 200
    return owner, project


@shows("list-related")
@pytest_twisted.ensureDeferred
async def test_related_rows_come_along(served):
    owner, project = await answered(served)
    first = project["tasks"][0]
    tasks = (await owner.get("/api/task?related=1")).json()
    assert [run["info"] for run in tasks[0]["task_runs"]] == ["ann", "bob"] and tasks[1]["task_runs"] == []
    assert tasks[0]["result"]["task_id"] == first and tasks[1]["result"] is None
    runs = (await owner.get("/api/taskrun?related=True")).json()
    assert {run["task"]["id"] for run in runs} == {first} and {run["result"]["task_id"] for run in runs} == {first}
    results = (await owner.get("/api/result?related=1")).json()
    assert results[0]["task"]["id"] == first and len(results[0]["task_runs"]) == 2
    assert "task_runs" not in (await owner.get("/api/task")).json()[0]


@shows("list-filter-info")
@pytest_twisted.ensureDeferred
async def test_full_text_search_marks_what_it_found(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    texts = ["a red fox crosses", "two foxes in the snow", "a badger digs"]
    body = [{"project_id": project["id"], "info": {"note": text, "n": n}} for n, text in enumerate(texts)]
    await owner.post("/api/task", json=body)
    tasks = (await owner.get("/api/task?info=note::fox&fulltextsearch=1")).json()
    assert {task["info"]["n"] for task in tasks} == {0, 1}
    assert all("<b>fox" in task["headline"] and task["rank"] > 0 for task in tasks)
    either = (await owner.get("/api/task?info=note::badger|snow&fulltextsearch=1")).json()
    assert {task["info"]["n"] for task in either} == {1, 2}
    both = (await owner.get("/api/task?info=note::red%26fox&fulltextsearch=1")).json()
    assert {task["info"]["n"] for task in both} == {0}
    broken = await owner.get("/api/task?info=note::%26%26&fulltextsearch=1")
    assert (broken.status, broken.json()["exception_cls"]) == (415, "ValueError")


@shows("list-filter-info")
@pytest_twisted.ensureDeferred
async def test_keys_of_info_are_compared_together(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    body = [{"project_id": project["id"], "info": {"a": str(n % 2), "b": n}} for n in range(4)]
    await owner.post("/api/task", json=body)
    tasks = (await owner.get("/api/task?info=a::1|b::3")).json()
    assert [task["info"]["b"] for task in tasks] == [3]
    contained = (await owner.get('/api/task?info={"b":2}')).json()
    assert [task["info"]["b"] for task in contained] == [2]


@shows("favorites")
@pytest_twisted.ensureDeferred
async def test_favourites_are_marked_listed_and_unmarked(served):
    owner, person = await served.person("owner"), await served.person("person")
    project = await served.project(owner, tasks=3, published=True)
    marked = await person.post("/api/favorites", json={"task_id": project["tasks"][1]})
    again = await person.post("/api/favorites", json={"task_id": project["tasks"][1]})
    assert (marked.status, again.status) == (200, 200) and marked.json()["id"] == project["tasks"][1]
    assert [task["id"] for task in (await person.get("/api/favorites")).json()] == [project["tasks"][1]]
    assert (await owner.get("/api/favorites")).json() == []
    assert (await owner.get(f"/api/task/{project['tasks'][1]}")).json()["fav_user_ids"] == [person.user_id]
    gone = await person.delete(f"/api/favorites/{project['tasks'][1]}")
    assert (gone.status, gone.json()["id"]) == (200, project["tasks"][1])
    assert (await person.delete(f"/api/favorites/{project['tasks'][1]}")).status == 404


@shows("favorites")
@pytest_twisted.ensureDeferred
async def test_favourites_refuse_what_makes_no_sense(served):
    person, nobody = await served.person("person"), served.client()
    assert (await nobody.get("/api/favorites")).status == 401
    assert (await nobody.post("/api/favorites", json={"task_id": 1})).status == 401
    assert (await person.post("/api/favorites", json={"task_id": 1, "more": 2})).status == 415
    assert (await person.post("/api/favorites", json={"task_id": 99})).status == 404
    assert (await person.put("/api/favorites", json={})).status == 405


@shows("commenting-sso")
@pytest_twisted.ensureDeferred
async def test_commenting_needs_keys(served, serve):
    refused = await served.client().get("/api/commenting/sso")
    assert (refused.status, refused.json()["error_code"]) == (404, "not_configured")
    other = await serve(CROWDD_COMMENTING_PUBLIC_KEY="public", CROWDD_COMMENTING_SECRET_KEY="secret")
    document = (await other.client().get("/api/commenting/sso")).json()
    message, signature, time = document["remote_auth_s3"].split(" ")
    assert document["api_key"] == "public" and message == "e30=" and len(signature) == 40 and time.isdigit()
