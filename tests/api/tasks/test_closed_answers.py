"""What owners close is closed: answers and results of a project, in every way out."""

import pytest_twisted
from support.checks.shows import shows

PAGE = {"Content-Type": "application/json"}


async def closed(served, **changes):
    """An owner, two volunteers with accounts, and a project of two tasks: one complete, one with one answer."""
    owner, ada, bob = [await served.person(name) for name in ("owner", "ada", "bob")]
    project = await served.project(owner, tasks=2, published=True)
    assert (await owner.put(f"/api/project/{project['id']}", json=changes)).status == 200
    first, second = project["tasks"]
    for who, info in ((ada, "adas-word"), (bob, "bobs-word")):
        await answer(who, project, info)
    await answer(ada, project, "adas-second-word")
    return owner, ada, bob, project, first, second


async def answer(who, project, info):
    task = (await who.get(f"/api/{project['id']}/newtask")).json()["id"]
    made = await who.post("/api/taskrun", json={"project_id": project["id"], "task_id": task, "info": info})
    assert made.status == 200, made.body
    return made.json()


async def infos(client, path):
    answered = await client.get(path)
    assert answered.status == 200, answered.body
    return [row["info"] for row in answered.json()]


@shows("project-closed")
@pytest_twisted.ensureDeferred
async def test_closed_answers_are_listed_to_owners_and_their_authors_only(served):
    owner, ada, bob, project, *_ = await closed(served, zip_download=False)
    path = f"/api/taskrun?project_id={project['id']}&all=1"
    stranger = await served.person("stranger")
    assert await infos(served.client(), path) == [] == await infos(stranger, path)
    assert await infos(ada, path) == ["adas-word", "adas-second-word"]
    assert await infos(bob, path) == ["bobs-word"]
    assert await infos(owner, path) == ["adas-word", "bobs-word", "adas-second-word"]
    results = f"/api/result?project_id={project['id']}&all=1"
    assert await infos(served.client(), results) == [] == await infos(ada, results)
    assert len(await infos(owner, results)) == 1


@shows("project-closed")
@pytest_twisted.ensureDeferred
async def test_closed_answers_are_refused_by_id(served):
    owner, ada, bob, project, *_ = await closed(served, zip_download=False)
    runs = (await owner.get(f"/api/taskrun?project_id={project['id']}")).json()
    result = (await owner.get(f"/api/result?project_id={project['id']}")).json()[0]["id"]
    assert (await served.client().get(f"/api/taskrun/{runs[0]['id']}")).status == 401
    assert (await bob.get(f"/api/taskrun/{runs[0]['id']}")).status == 403
    assert (await ada.get(f"/api/taskrun/{runs[0]['id']}")).status == 200
    assert (await served.client().get(f"/api/result/{result}")).status == 401
    assert (await owner.get(f"/api/result/{result}")).status == 200


@shows("project-closed")
@pytest_twisted.ensureDeferred
async def test_closed_answers_come_out_by_no_other_way(served):
    owner, _, _, project, first, _ = await closed(served, zip_download=False)
    stranger = served.client()
    ways = (
        f"/api/task?project_id={project['id']}&related=1", f"/api/taskrun?info=adas-word&project_id={project['id']}",
        f"/api/taskrun?task_id={first}", "/project/birds/tasks/export?type=task_run&format=json",
        "/project/birds/tasks/export?type=result&format=csv", f"/project/birds/tasks/{first}", "/project/birds/tasks/browse",
        "/project/birds/results", f"/project/birds/{first}/results.json", "/project/birds/stats",
    )  # fmt: skip
    for path in ways:
        response = await stranger.get(path, headers={} if path.startswith("/api") else PAGE)
        assert "word" not in response.text, path
    bridge = served.client()
    bridge.headers = {"X-Presenter": str(project["id"])}
    assert await infos(bridge, f"/api/taskrun?project_id={project['id']}") == []
    related = (await owner.get(f"/api/task?project_id={project['id']}&related=1")).json()
    assert [len(task["task_runs"]) for task in related] == [2, 1]


@shows("record-rights")
@pytest_twisted.ensureDeferred
async def test_a_page_of_a_list_is_full_although_some_answers_are_closed(served):
    owner, ada, *_ = await closed(served, zip_download=False)
    opened = await served.project(owner, "open", tasks=3, published=True)
    for number in range(3):
        await answer(ada, opened, number)
    assert await infos(served.client(), "/api/taskrun?limit=3") == [0, 1, 2]


@shows("project-closed-open-tasks")
@pytest_twisted.ensureDeferred
async def test_answers_of_an_open_task_are_hidden_until_it_is_complete(served):
    info = {"task_presenter": "<p>?</p>", "answers_when_complete": True}
    owner, ada, bob, project, _, second = await closed(served, info=info)
    stranger = served.client()
    path = f"/api/taskrun?project_id={project['id']}&all=1"
    assert await infos(stranger, path) == ["adas-word", "bobs-word"] == await infos(bob, path)
    assert await infos(ada, path) == ["adas-word", "bobs-word", "adas-second-word"] == await infos(owner, path)
    runs = (await owner.get(path)).json()
    assert (await bob.get(f"/api/taskrun/{runs[-1]['id']}")).status == 403
    for way in ("/project/birds/tasks/export?type=task_run&format=json", "/project/birds/tasks/export?type=task_run&format=csv",
                f"/project/birds/tasks/{second}"):  # fmt: skip
        response = await stranger.get(way, headers=PAGE)
        assert response.status == 200 and "adas-second-word" not in response.text, way
    assert "adas-word" in (await stranger.get("/project/birds/tasks/export?type=task_run&format=json")).text
    await answer(bob, project, "bobs-second-word")
    assert await infos(stranger, path) == ["adas-word", "bobs-word", "adas-second-word", "bobs-second-word"]


@pytest_twisted.ensureDeferred
async def test_who_may_see_answers_is_true_or_false(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    refused = await owner.put(f"/api/project/{project['id']}", json={"info": {"answers_when_complete": "yes"}})
    assert (refused.status, "answers_when_complete" in refused.text) == (415, True)
