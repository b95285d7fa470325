"""Changing one's own answer over the API, with and without an account."""

import psycopg2
import pytest_twisted
from support.browsers import JSON, newcomer
from support.checks.shows import shows
from twisted.internet.defer import ensureDeferred
from twisted.internet.threads import deferToThread

from crowdd.sched.feature import Scheduling


async def answered(volunteer, project):
    """The task that a volunteer was handed and answered."""
    task = (await volunteer.get(f"/api/{project['id']}/newtask")).json()["id"]
    run = {"project_id": project["id"], "task_id": task, "info": "yes"}
    assert (await volunteer.post("/api/taskrun", json=run)).status == 200
    return task


async def correct(volunteer, task, info, **headers):
    return await volunteer.post(f"/api/task/{task}/correct", json={"info": info}, headers=headers)


@shows("taskrun-correct")
@pytest_twisted.ensureDeferred
async def test_with_and_without_an_account_and_for_nobody_else(served):
    owner, ada = await served.person("owner"), await served.person("ada")
    project = await served.project(owner, tasks=1, published=True, n_answers=3)
    tab, stranger = served.client(), served.client()
    for browser in (tab, stranger):
        await browser.get("/project/birds/newtask", headers={"Accept": "text/html"})  # makes it a volunteer
    for volunteer, info in ((ada, "hers"), (tab, {"answer": None})):
        task = await answered(volunteer, project)
        changed = await correct(volunteer, task, info)
        assert changed.status == 200 and changed.json()["info"] == info
    assert [run["info"] for run in (await owner.get("/api/taskrun")).json()] == ["hers", {"answer": None}]
    for other in (owner, stranger):
        refused = await correct(other, task, "mine")
        assert (refused.status, refused.json()["exception_msg"]) == (404, "404 Not Found")
    assert (await correct(ada, 10**12, "x")).status == 404
    assert [run["info"] for run in (await owner.get("/api/taskrun")).json()] == ["hers", {"answer": None}]


@shows("taskrun-correct")
@pytest_twisted.ensureDeferred
async def test_what_completed_a_task_may_be_changed_for_five_minutes(served):
    owner, ada = await served.person("owner"), await served.person("ada")
    project = await served.project(owner, tasks=1, published=True, n_answers=1)
    task = await answered(ada, project)
    assert (await correct(ada, task, "no")).json()["info"] == "no"
    (result,) = (await owner.get("/api/result")).json()
    assert len((await owner.get("/api/result?last_version=false")).json()) == 1
    assert (await owner.get(f"/api/task/{task}")).json()["state"] == "completed" and result["last_version"]
    await served.database.execute("UPDATE clock_shift SET ahead = make_interval(mins => 6)", {})
    refused = await correct(ada, task, "perhaps")
    assert (refused.status, refused.json()["error_code"]) == (403, "in_result")
    assert [run["info"] for run in (await owner.get("/api/taskrun")).json()] == ["no"]


@shows("taskrun-correct")
@pytest_twisted.ensureDeferred
async def test_a_body_says_info_and_nothing_else(served):
    owner, ada = await served.person("owner"), await served.person("ada")
    project = await served.project(owner, tasks=1, published=True)
    path = f"/api/task/{await answered(ada, project)}/correct"
    for body, code in (({}, "missing_attribute"), ({"info": 1, "user_id": 1}, "unknown_attribute"), ([], None)):
        refused = await ada.post(path, json=body)
        assert refused.status == 415 and (code is None or refused.json()["error_code"] == code), body


@pytest_twisted.ensureDeferred
async def test_a_presenter_changes_answers_of_its_own_project_only(served):
    owner, ada = await served.person("owner"), await newcomer(served, "ada")
    project = await served.project(owner, tasks=1, published=True)
    other = await served.project(owner, "other", tasks=1, published=True)
    task = (await ada.get(f"/api/{project['id']}/newtask")).json()["id"]
    run = {"project_id": project["id"], "task_id": task, "info": "yes"}
    assert (await ada.post("/api/taskrun", json=run, headers=JSON)).status == 200
    assert (await correct(ada, task, "no", **{"X-Presenter": str(other["id"])})).status == 404
    assert (await correct(ada, task, "no", **{"X-Presenter": str(project["id"])})).json()["info"] == "no"


@shows("taskrun-put")
@pytest_twisted.ensureDeferred
async def test_a_put_that_meets_the_completion_is_in_a_version_of_its_own(served, dsn):
    owner, ada = await served.person("owner"), await served.person("ada")
    project = await served.project(owner, tasks=1, published=True, n_answers=2)
    task = await answered(ada, project)
    (run,) = (await owner.get("/api/taskrun")).json()
    await owner.get(f"/api/{project['id']}/newtask")
    connection = psycopg2.connect(dsn, options="-c search_path=public,code")
    cursor = connection.cursor()
    actor = f"u:{owner.user_id}"
    sql = "SELECT state FROM submit(%s, %s, %s, %s, NULL, NULL, '1', NULL, NULL, clock())"
    cursor.execute(sql, (project["id"], actor, task, owner.user_id))
    assert cursor.fetchone() == ("counted",)
    put = ensureDeferred(ada.put(f"/api/taskrun/{run['id']}", json={"info": "no"}))
    await deferToThread(_commit_when_awaited, connection, dsn)
    assert (await put).json()["info"] == "no"
    assert len((await owner.get("/api/result?last_version=false")).json()) == 1
    connection.close()


async def label_project(served, owner, **more):
    """A published project whose answers name a cat or a dog, two for each task."""
    project = await served.project(owner, tasks=1, published=True, n_answers=2)
    info = (await owner.get(f"/api/project/{project['id']}")).json()["info"]
    info["answers"] = [{"name": "seen", "at": "/answer", "type": "label", "choices": ["cat", "dog"]}]
    assert (await owner.put(f"/api/project/{project['id']}", json={"info": info | more})).status == 200
    return project


@shows("taskrun-put")
@pytest_twisted.ensureDeferred
async def test_what_a_put_says_is_what_the_result_says(served):
    owner, ada, ben = await served.person("owner"), await served.person("ada"), await served.person("ben")
    project = await label_project(served, owner)
    for volunteer, label in ((ada, "cat"), (ben, "dog")):
        task = (await volunteer.get(f"/api/{project['id']}/newtask")).json()["id"]
        body = {"project_id": project["id"], "task_id": task, "info": {"answer": label}}
        run = (await volunteer.post("/api/taskrun", json=body)).json()
        if volunteer is ada:
            assert (await ada.put(f"/api/taskrun/{run['id']}", json={"info": {"answer": "dog"}})).status == 200
    (result,) = (await owner.get("/api/result")).json()
    assert result["consensus"]["seen"]["value"] == "dog" and result["consensus"]["seen"]["agreement"] == 1
    assert [each.sentence() async for each in served.house[Scheduling].checking.run()] == []


@shows("volunteer-barred", "taskrun-put")
@pytest_twisted.ensureDeferred
async def test_a_barred_volunteer_rewrites_nothing(served):
    owner, ada = await served.person("owner"), await served.person("ada")
    root = await served.person("root", admin=True)
    project = await served.project(owner, tasks=1, published=True, n_answers=2)
    task = await answered(ada, project)
    (run,) = (await owner.get("/api/taskrun")).json()
    path = f"/api/taskrun/{run['id']}"
    bar = {"user_name": "ada", "set_aside": False}
    assert (await owner.post(f"/api/project/{project['id']}/bar", json=bar)).status == 200
    for refused in (
        await ada.put(path, json={"info": "SPAM"}),
        await ada.put(path, json={"calibration": 1}),
        await correct(ada, task, "SPAM"),
    ):
        assert (refused.status, refused.json()["error_code"]) == (403, "barred")
    assert [run["info"] for run in (await owner.get("/api/taskrun")).json()] == ["yes"]
    assert (await root.put(path, json={"info": "said by the administrator"})).status == 200


def _commit_when_awaited(connection, dsn):
    """Commits once another session waits for this one."""
    with psycopg2.connect(dsn) as looking, looking.cursor() as cursor:
        for _ in range(100_000):
            cursor.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE %s = ANY (pg_blocking_pids(pid))",
                (connection.get_backend_pid(),),
            )
            if cursor.fetchone()[0]:
                break
        else:
            raise AssertionError("nobody waited")
    connection.commit()
