"""What the projects of an account may hold together (docs/configuration.md, [quota])."""

from __future__ import annotations

from io import BytesIO

import pytest_twisted
from support.checks.shows import shows
from twisted.internet.defer import DeferredList, ensureDeferred

from crowdd.sched.statistics import Checking

PNG = b"\x89PNG\r\n\x1a\n" + b"x" * 30_000


async def usage(person):
    page = (await person.page(f"/account/{person.name}/update")).json()["usage"]
    return {name: each["used"] for name, each in page.items()}


async def at_once(*asked):
    done = await DeferredList([ensureDeferred(each) for each in asked])
    return [answer for _ok, answer in done]


async def owner(served, name="ada", **more):
    person = await served.person(name, **more)
    person.name = name
    return person


def refused(answer):
    return answer.status == 403 and answer.json()["error_code"] == "quota_exceeded"


@shows("limit-quota")
@pytest_twisted.ensureDeferred
async def test_an_account_owns_as_many_projects_as_it_may(serve):
    served = await serve(CROWDD_QUOTA_MAX_PROJECTS="2")
    ada, boss = await owner(served), await owner(served, "boss", admin=True)
    first = await served.project(ada, "one")
    await served.project(ada, "two")
    body = {"name": "Three", "short_name": "three", "description": "?"}
    answer = await ada.post("/api/project", json=body)
    assert refused(answer)
    assert answer.json()["exception_msg"] == "An account may own 2 projects (this would be 3)."
    assert (await usage(ada))["projects"] == 2
    await ada.delete(f"/api/project/{first['id']}")
    assert (await ada.post("/api/project", json=body)).status == 200
    for name in ("a", "b", "c"):
        assert "id" in await served.project(boss, name), "administrators have no quota"


@pytest_twisted.ensureDeferred
async def test_two_projects_at_once_do_not_pass_the_last_place(serve):
    served = await serve(CROWDD_QUOTA_MAX_PROJECTS="2")
    ada = await owner(served)
    await served.project(ada, "one")
    bodies = [{"name": f"P{n}", "short_name": f"p{n}", "description": "?"} for n in range(6)]
    answers = await at_once(*(ada.post("/api/project", json=body) for body in bodies))
    assert sorted(answer.status for answer in answers) == [200, 403, 403, 403, 403, 403]
    assert (await usage(ada))["projects"] == 2


@shows("limit-quota")
@pytest_twisted.ensureDeferred
async def test_tasks_of_all_projects_count_and_arrays_are_refused_whole(serve):
    served = await serve(CROWDD_QUOTA_MAX_TASKS="10")
    ada = await owner(served)
    one, two = await served.project(ada, "one", tasks=4), await served.project(ada, "two", tasks=4)
    assert refused(await ada.post("/api/task", json=[{"project_id": one["id"]}] * 3))
    assert (await usage(ada))["tasks"] == 8
    assert (await ada.post("/api/task", json=[{"project_id": one["id"]}] * 2)).status == 200
    assert refused(await ada.post("/api/task", json={"project_id": two["id"]}))
    await ada.delete(f"/api/task/{one['tasks'][0]}")
    answers = await at_once(*(ada.post("/api/task", json={"project_id": p["id"]}) for p in (one, two) * 3))
    assert sorted(answer.status for answer in answers) == [200, 403, 403, 403, 403, 403]
    assert (await usage(ada))["tasks"] == 10


@shows("limit-quota")
@pytest_twisted.ensureDeferred
async def test_bytes_of_tasks_texts_answers_and_files_count_and_come_back(serve):
    served = await serve(CROWDD_QUOTA_MAX_BYTES="100000")
    ada = await owner(served)
    project = await served.project(ada, tasks=1, published=True)
    before = (await usage(ada))["bytes"]
    made = (await ada.post("/api/task", json={"project_id": project["id"], "info": "x" * 50_000})).json()
    assert (await usage(ada))["bytes"] == before + 50_002
    assert refused(await ada.post("/api/task", json={"project_id": project["id"], "info": "x" * 50_000}))
    assert refused(await ada.put(f"/api/task/{made['id']}", json={"info": "x" * 99_999}))
    assert refused(await ada.put(f"/api/project/{project['id']}", json={"long_description": "word " * 9_999}))
    post = {"project_id": project["id"], "title": "t", "body": "word " * 9_999}
    assert refused(await ada.post("/api/blogpost", json=post))
    assert (await ada.put(f"/api/task/{made['id']}", json={"info": 1})).status == 200
    assert (await usage(ada))["bytes"] == before + 1
    assert (await ada.delete(f"/api/task/{made['id']}")).status == 204
    assert (await usage(ada))["bytes"] == before


@pytest_twisted.ensureDeferred
async def test_files_count_and_a_refused_one_leaves_nothing(serve):
    served = await serve(CROWDD_QUOTA_MAX_BYTES="50000")
    ada = await owner(served)
    project = await served.project(ada)
    before = (await usage(ada))["bytes"]

    async def upload():
        files = {"file": ("a.png", BytesIO(PNG))}
        return await ada.post("/api/helpingmaterial", files=files, data={"project_id": str(project["id"])})

    first = await upload()
    assert first.status == 200
    assert (await usage(ada))["bytes"] > before + len(PNG)
    assert refused(await upload())
    folder = served.house.base.uploads.folder / f"project-{project['id']}"
    assert len(list(folder.iterdir())) == 1
    await ada.delete(f"/api/helpingmaterial/{first.json()['id']}")
    assert (await usage(ada))["bytes"] == before


@shows("limit-quota")
@pytest_twisted.ensureDeferred
async def test_small_answers_are_taken_from_everybody_and_large_ones_need_room(serve):
    served = await serve(CROWDD_QUOTA_MAX_BYTES="60000")
    ada = await owner(served)
    project = await served.project(ada, tasks=1, published=True, n_answers=9)

    async def answer(size):
        volunteer = await served.person(f"volunteer{size}")
        await volunteer.get(f"/api/project/{project['id']}/newtask")
        body = {"project_id": project["id"], "task_id": project["tasks"][0], "info": "x" * size}
        return await volunteer.post("/api/taskrun", json=body)

    assert (await answer(50_000)).status == 200
    assert (await answer(15_000)).status == 200
    assert (await usage(ada))["bytes"] > 60_000
    assert refused(await answer(17_000))
    assert (await answer(10)).status == 200
    assert refused(await ada.post("/api/task", json={"project_id": project["id"], "info": 1}))
    assert (await ada.put(f"/api/project/{project['id']}", json={"description": "Still?"})).status == 200


@pytest_twisted.ensureDeferred
async def test_bytes_are_those_of_a_recount_whatever_happens(served):
    ada = await owner(served)
    project = await served.project(ada, tasks=3, published=True, n_answers=1)
    other = await served.project(ada, "other", tasks=2)
    volunteer = served.client()
    for task in project["tasks"]:
        await volunteer.get(f"/api/project/{project['id']}/newtask")
        body = {"project_id": project["id"], "task_id": task, "info": {"said": "ü" * task}}
        run = (await volunteer.post("/api/taskrun", json=body)).json()
    await ada.delete(f"/api/taskrun/{run['id']}")
    result = (await ada.get("/api/result")).json()[0]
    await ada.put(f"/api/result/{result['id']}", json={"info": {"seen": "bird"}})
    await served.database.fetch("SELECT fold_stats()")
    await ada.delete(f"/api/task/{other['tasks'][0]}")
    await ada.post("/project/other/publish", json={})
    assert [d async for d in Checking(served.database).run()] == []
    await served.database.execute("UPDATE project_stat SET bytes = bytes + 7")
    differences = [d async for d in Checking(served.database).run(repair=True)]
    assert {(d.what, d.repaired) for d in differences} == {("project_stat.bytes", True)}
    assert [d async for d in Checking(served.database).run()] == []
    await ada.delete(f"/api/project/{project['id']}")
    assert (await usage(ada))["projects"] == 1
