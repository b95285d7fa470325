"""A task in hand: released, skipped, renewed, waited for."""

import psycopg2
import pytest
import pytest_twisted
from support.browsers import JSON, lock, newcomer
from support.checks.shows import shows
from twisted.internet.defer import ensureDeferred, gatherResults

from crowdd.features.tasks.feature import TasksFeature


def newtask(project, query=""):
    return f"/api/{project['id']}/newtask{query}"


@pytest.fixture
def later(dsn):
    """Lets time go by: ``later(seconds)``."""
    connection = psycopg2.connect(dsn, options="-c search_path=public,code")
    connection.autocommit = True

    def move(seconds):
        with connection.cursor() as cursor:
            cursor.execute("UPDATE clock_shift SET ahead = ahead + make_interval(secs => %s)", (seconds,))

    yield move
    connection.close()


async def task_of(client, project, query=""):
    return (await client.get(newtask(project, query))).json().get("id")


async def release(client, task, **body):
    answer = await client.post(f"/api/task/{task}/release", json=body)
    assert answer.status == 200, answer.text
    return answer.json()["released"]


async def renew(client, task):
    answer = await client.post(f"/api/task/{task}/renew", json={})
    assert answer.status == 200, answer.text
    return answer.json()


@shows("lease-release")
@pytest_twisted.ensureDeferred
async def test_a_released_task_is_for_others_at_once_and_comes_back_first(served):
    owner, ada, ben = [await served.person(name) for name in ("owner", "ada", "ben")]
    project = await served.project(owner, tasks=2, published=True, n_answers=1)
    first, second = project["tasks"]
    assert await task_of(ada, project) == first and await task_of(ben, project) == second
    assert await release(ada, first) is True
    assert await release(ada, first) is False  # she has it no longer
    assert await task_of(ada, project) == first
    await release(ada, first)
    assert (
        await ben.post("/api/taskrun", json={"project_id": project["id"], "task_id": second, "info": 1})
    ).status == 200
    assert await task_of(ben, project) == first


@shows("lease-skip")
@pytest_twisted.ensureDeferred
async def test_a_skipped_task_comes_last_and_only_to_who_skipped_it(served):
    owner, ada, ben = [await served.person(name) for name in ("owner", "ada", "ben")]
    project = await served.project(owner, tasks=3, published=True, n_answers=5)
    first, second, third = project["tasks"]
    assert await task_of(ada, project) == first
    assert await release(ada, first, skip=True)
    assert await task_of(ben, project) == first
    for task in (second, third, first):
        assert await task_of(ada, project) == task
        run = {"project_id": project["id"], "task_id": task, "info": 1}
        assert (await ada.post("/api/taskrun", json=run)).status == 200
    assert await task_of(ada, project) is None


@shows("lease-release")
@pytest_twisted.ensureDeferred
async def test_several_tasks_are_given_back_at_once_but_only_of_one_project_and_ones_own(served):
    owner, ada, ben = [await served.person(name) for name in ("owner", "ada", "ben")]
    project = await served.project(owner, tasks=3, published=True, n_answers=5)
    other = await served.project(owner, "other", tasks=1, published=True)
    first, second, third = project["tasks"]
    await ada.get(newtask(project, "?limit=2"))
    elsewhere = await task_of(ada, other)
    assert await task_of(ben, project) == first
    assert await release(ada, third, also=[second, elsewhere, first, 999999]) is True
    assert [await renew(ben, first), await renew(ada, elsewhere)][0]["state"] == "leased"
    assert (await renew(ada, elsewhere))["seconds_left"] > 0
    assert await task_of(ada, project) == first


@pytest_twisted.ensureDeferred
async def test_an_answer_on_its_way_while_the_page_was_closed_is_kept_and_counts(served):
    owner, ada = await served.person("owner"), await served.person("ada")
    project = await served.project(owner, tasks=1, published=True, n_answers=1)
    (task,) = project["tasks"]
    await task_of(ada, project)
    await release(ada, task)
    assert (
        await ada.post("/api/taskrun", json={"project_id": project["id"], "task_id": task, "info": 1})
    ).status == 200
    assert (await owner.get(f"/api/task/{task}")).json()["state"] == "completed"


@shows("lease-release")
@pytest_twisted.ensureDeferred
async def test_who_may_release_what(served):
    owner, ada = await served.person("owner"), await served.person("ada")
    project = await served.project(owner, tasks=2, published=True, n_answers=1)
    other = await served.project(owner, "other", tasks=1, published=True)
    task = await task_of(ada, project)
    for path in ("release", "renew"):
        assert (await ada.post(f"/api/task/999999/{path}", json={})).status == 404
        assert (await ada.get(f"/api/task/{task}/{path}")).status == 405
        strange = await ada.post(f"/api/task/{task}/{path}", json={}, headers={**JSON, "X-Presenter": str(other["id"])})
        assert strange.status == 404
    for body, name in (
        ({"skip": "maybe"}, "ValueError"),
        ({"also": [-1]}, "ValueError"),
        ({"also": {}}, "ValueError"),
        ({"also": [1] * 201}, "ValueError"),
        ({"what": 1}, "AttributeError"),
        ([], "ValueError"),
    ):
        refused = await ada.post(f"/api/task/{task}/release", json=body)
        assert (refused.status, refused.json()["exception_cls"]) == (415, name)
    ours = {**JSON, "X-Presenter": str(project["id"])}
    assert (await ada.post(f"/api/task/{task}/release", json={}, headers=ours)).json() == {"released": True}
    assert (await release(owner, task)) is False  # not hers, however much she owns


@shows("lease-release")
@pytest_twisted.ensureDeferred
async def test_a_page_that_is_closed_sends_text_and_other_sites_send_nothing(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=1, published=True, n_answers=5)
    browser = await newcomer(served, "ada")
    task = await task_of(browser, project)
    path = f"/api/task/{task}/release"
    text = {"Content-Type": "text/plain;charset=UTF-8"}
    for site in ("cross-site", "same-site"):
        forged = await browser.post(
            path, data=b"", headers={**text, "Sec-Fetch-Site": site, "Origin": "https://evil.example"}
        )
        assert (forged.status, forged.json()["error_code"]) == (403, "cross_site")
    opaque = await browser.post(path, data=b"", headers={**text, "Origin": "null"})
    assert opaque.status == 403
    beacon = {**text, "Sec-Fetch-Site": "same-origin", "Origin": served.base}
    assert (await browser.post(path, data=b"", headers=beacon)).json() == {"released": True}
    await task_of(browser, project)
    assert (await browser.post(path, data=b'{"skip": true}', headers=beacon)).json() == {"released": True}
    nobody = served.client()
    await nobody.get("/about")
    task = await task_of(nobody, project)
    assert (await nobody.post(path, data=b"", headers=beacon)).json() == {"released": True}


@shows("lease-end", "lease-renew")
@pytest_twisted.ensureDeferred
async def test_a_lease_is_prolonged_while_somebody_is_at_it_but_not_for_ever(served, later):
    owner, ada, ben = [await served.person(name) for name in ("owner", "ada", "ben")]
    project = await served.project(owner, tasks=1, published=True, n_answers=1)
    task = await task_of(ada, project)
    for _ in range(7):
        later(3000)
        lease = await renew(ada, task)
        assert lease["state"] == "leased" and 0 < lease["seconds_left"] <= 3600
        assert await task_of(ben, project) is None
    assert lease["seconds_left"] <= 600  # of six hours
    later(700)
    assert await renew(ada, task) == {"state": "late", "seconds_left": None}
    assert await task_of(ben, project) == task
    assert (await renew(ada, task))["state"] == "late"
    assert (
        await ada.post("/api/taskrun", json={"project_id": project["id"], "task_id": task, "info": 1})
    ).status == 200
    assert (await renew(ada, task))["state"] == "answered"


@shows("lease-renew")
@pytest_twisted.ensureDeferred
async def test_who_comes_back_too_late_gets_the_task_again_where_a_place_is_free(served, later):
    owner, ada, ben = [await served.person(name) for name in ("owner", "ada", "ben")]
    project = await served.project(owner, tasks=1, published=True, n_answers=1)
    task = await task_of(ada, project)
    later(4000)
    assert await task_of(ben, project) == task
    await release(ben, task)
    assert (await renew(ada, task))["state"] == "leased"
    assert await task_of(ben, project) is None
    await release(ada, task, skip=True)
    assert (await renew(ada, task))["state"] == "none"  # she does not want it
    assert (await renew(owner, task))["state"] == "none"  # never handed out to her


@shows("lease-time")
@pytest_twisted.ensureDeferred
async def test_the_time_for_a_task_is_the_owners_choice(served, later):
    owner, ada, ben = [await served.person(name) for name in ("owner", "ada", "ben")]
    project = await served.project(owner, tasks=1, published=True, n_answers=1)
    path, info = f"/api/project/{project['id']}", project["info"]
    for wrong in (59, 604801, "300", 1.5, True, -1):
        refused = await owner.put(path, json={"info": {**info, "lease_seconds": wrong}})
        assert (refused.status, refused.json()["exception_cls"]) == (415, "ValueError"), wrong
    assert (await owner.put(path, json={"info": {**info, "lease_seconds": 120}})).status == 200
    task = await task_of(ada, project)
    waiting = await ben.get(newtask(project))
    assert 100 < int(waiting.header("retry-after")) <= 120
    later(121)
    assert await task_of(ben, project) == task
    await owner.put(path, json={"info": info})
    await release(ben, task)
    await task_of(ada, project)
    assert int((await ben.get(newtask(project))).header("retry-after")) > 3500


@shows("newtask-none")
@pytest_twisted.ensureDeferred
async def test_how_many_tasks_are_in_other_hands_is_told_truthfully(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=3, published=True, n_answers=1)
    *people, ben = [await served.person(f"person{number}") for number in range(4)]
    tasks = [await task_of(person, project) for person in people]
    assert sorted(tasks) == project["tasks"]
    messages = []
    for person, task in zip(people, tasks, strict=True):
        plain, why = await ben.get(newtask(project)), (await ben.get(newtask(project, "?explain=1"))).json()
        assert plain.json() == {} and plain.header("x-no-task") == why["reason"] == "wait"
        assert int(plain.header("x-held-tasks")) == why["held_tasks"] and 0 < why["retry_after"] <= 3600
        messages.append(why["message"])
        run = {"project_id": project["id"], "task_id": task, "info": 1}
        assert (await person.post("/api/taskrun", json=run)).status == 200
    assert messages == [f"Others are working on the last {words}." for words in ("3 tasks", "2 tasks", "task")]
    done = await ben.get(newtask(project, "?explain=1"))
    assert done.json() == {"reason": "none", "message": "You have answered all the tasks available to you."}
    assert done.header("x-held-tasks") is None and (await ben.get(newtask(project))).json() == {}
    assert (await ben.get(newtask(project, "?explain=x"))).status == 415


@pytest_twisted.ensureDeferred
async def test_locked_and_paused_projects(served):
    owner, ada = await served.person("owner"), await served.person("ada")
    project = await served.project(owner, tasks=1, published=True, n_answers=1)
    task = await task_of(ada, project)
    await owner.post("/project/birds/pause", json={})
    assert (await renew(ada, task))["state"] == "leased"  # what is on its way may be finished
    await release(ada, task)
    refused = await ada.post(f"/api/task/{task}/renew", json={})
    assert (refused.status, refused.json()["error_code"]) == (403, "paused")
    await owner.post("/project/birds/publish", json={})
    await lock(served, "birds", owner, "sesame")
    assert (await ada.post(f"/api/task/{task}/renew", json={})).json()["error_code"] == "project_password"
    knows = {**JSON, "X-Project-Password": "sesame"}
    assert (await ada.post(f"/api/task/{task}/renew", json={}, headers=knows)).json()["state"] == "leased"
    assert await release(ada, task)  # giving back is always allowed


@pytest_twisted.ensureDeferred
async def test_releasing_twice_at_once_frees_one_place(served, dsn):
    owner, ada = await served.person("owner"), await served.person("ada")
    project = await served.project(owner, tasks=1, published=True, n_answers=3)
    task = await task_of(ada, project)
    both = await gatherResults([ensureDeferred(release(ada, task)) for _ in range(4)])
    assert sorted(both) == [False, False, False, True]
    with psycopg2.connect(dsn, options="-c search_path=public,code") as connection, connection.cursor() as cursor:
        cursor.execute("SELECT leases, (SELECT count(*) FROM lease) FROM task_ledger")
        assert cursor.fetchall() == [(0, 0)]
    connection.close()


@shows("lease-skip")
@pytest_twisted.ensureDeferred
async def test_why_a_task_was_skipped_is_counted_and_nobody_named(served, dsn):
    owner, ada, ben, cid = [await served.person(name) for name in ("owner", "ada", "ben", "cid")]
    project = await served.project(owner, tasks=2, published=True)
    first, second = project["tasks"]

    async def hold(who):
        await who.get(f"/api/{project['id']}/newtask?limit=2")

    async def skip(who, task, **body):
        return await who.post(f"/api/task/{task}/release", json={"skip": True, **body})

    await hold(ada)  # not at once: a task that is just being handed out to somebody else is passed over
    await hold(ben)
    answers = await gatherResults([ensureDeferred(skip(who, first, reason="broken")) for who in (ada, ben)])
    assert [answer.json() for answer in answers] == [{"released": True}] * 2
    await skip(ada, second)
    await skip(ben, second, reason="")
    assert (await skip(ada, second, reason="dull")).status == 415
    await cid.post(f"/api/task/{first}/release", json={"skip": True, "reason": "unsure"})  # who never had it
    await ada.post(f"/api/task/{first}/renew", json={})
    await hold(ada)  # who skips it again is not counted again, whatever the reason
    assert (await skip(ada, first, reason="unsure")).json() == {"released": True}
    assert await served.house[TasksFeature].leases.skips(project["id"], first) == {"broken": 2}
    assert await served.house[TasksFeature].leases.skips(project["id"], second) == {"none": 2}
    page = f"/project/{project['short_name']}/tasks/{first}"
    shown, hidden = [(await who.get(page, headers={"Accept": "text/html"})).text for who in (owner, ada)]
    assert "It is broken or does not load" in shown and "It is broken or does not load" not in hidden
    assert (await owner.delete(f"/api/task/{first}")).status == 204
    assert await served.house[TasksFeature].leases.skips(project["id"], first) == {}
