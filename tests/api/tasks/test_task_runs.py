"""Answers over REST: a lease first, one per person, nothing forged."""

from datetime import datetime

import pytest_twisted
from support.browsers import newcomer
from support.checks.shows import shows


async def lease(volunteer, project):
    """The task that the volunteer is handed."""
    return (await volunteer.get(f"/api/{project['id']}/newtask")).json()


def run_of(project, task_id, **more):
    return {"project_id": project["id"], "task_id": task_id, "info": "yes", **more}


async def advance(served, hours):
    """Moves the time of leases."""
    await served.database.execute("UPDATE clock_shift SET ahead = make_interval(hours => %(h)s)", {"h": hours})


@shows("taskrun-fields", "taskrun-submit")
@pytest_twisted.ensureDeferred
async def test_an_answer_is_stored_with_its_times(served):
    owner, volunteer = await served.person("owner"), await served.person("volunteer")
    project = await served.project(owner, tasks=1, published=True)
    task = await lease(volunteer, project)
    run = (await volunteer.post("/api/taskrun", json=run_of(project, task["id"], info={"a": [1, None]}))).json()
    assert (run["info"], run["user_id"], run["user_ip"]) == ({"a": [1, None]}, volunteer.user_id, None)
    assert (run["external_uid"], run["timeout"], run["calibration"]) == (None, None, None)
    assert datetime.fromisoformat(run["created"]) < datetime.fromisoformat(run["finish_time"])
    assert (await owner.get(f"/api/taskrun/{run['id']}")).json() == run | {"circumstances": None}


@shows("taskrun-lease")
@pytest_twisted.ensureDeferred
async def test_without_a_lease_there_is_no_answer(served):
    owner, volunteer = await served.person("owner"), await served.person("volunteer")
    project = await served.project(owner, tasks=2, published=True)
    task = await lease(volunteer, project)
    await volunteer.get(f"/api/task/{project['tasks'][1]}")
    other = await served.person("other")
    for who, task_id in ((other, task["id"]), (volunteer, project["tasks"][1]), (served.client(), task["id"])):
        refused = await who.post("/api/taskrun", json=run_of(project, task_id))
        assert (refused.status, refused.json()["exception_cls"]) == (403, "Forbidden")
        assert refused.json()["exception_msg"] == "You must request a task first!"
    assert (await owner.get("/api/taskrun")).json() == []
    assert (await volunteer.post("/api/taskrun", json=run_of(project, task["id"]))).status == 200


@shows("lease-task", "page-task", "taskrun-project-page")
@pytest_twisted.ensureDeferred
async def test_the_page_of_a_task_hands_it_out(served):
    owner, volunteer = await served.person("owner"), await served.person("volunteer")
    project = await served.project(owner, tasks=2, published=True)
    second = project["tasks"][1]
    assert (await volunteer.page(f"/project/birds/task/{second}")).status == 200
    assert (await volunteer.post("/api/taskrun", json=run_of(project, second))).status == 200


@shows("taskrun-once")
@pytest_twisted.ensureDeferred
async def test_a_person_answers_a_task_once(served):
    owner, volunteer = await served.person("owner"), await served.person("volunteer")
    project = await served.project(owner, tasks=1, published=True, n_answers=5)
    task = await lease(volunteer, project)
    assert (await volunteer.post("/api/taskrun", json=run_of(project, task["id"]))).status == 200
    again = await volunteer.post("/api/taskrun", json=run_of(project, task["id"]))
    assert (again.status, again.json()["error_code"]) == (403, "duplicate")
    await volunteer.page(f"/project/birds/task/{task['id']}")
    assert (await volunteer.post("/api/taskrun", json=run_of(project, task["id"]))).status == 403
    assert len((await owner.get("/api/taskrun")).json()) == 1


@shows("taskrun-ids")
@pytest_twisted.ensureDeferred
async def test_wrong_ids_are_told_apart(served):
    owner = await served.person("owner")
    project, other = await served.project(owner, tasks=1, published=True), await served.project(owner, "other")
    task = await lease(owner, project)
    unknown = (await owner.post("/api/taskrun", json=run_of(project, 99999))).json()
    assert (unknown["status_code"], unknown["exception_msg"]) == (403, "Invalid task_id")
    foreign = (await owner.post("/api/taskrun", json=run_of(other, task["id"]))).json()
    assert (foreign["status_code"], foreign["exception_msg"]) == (403, "Invalid project_id")
    assert (await owner.post("/api/taskrun", json=run_of(project, task["id"]))).status == 200


@shows("taskrun-refused")
@pytest_twisted.ensureDeferred
async def test_a_refusal_does_not_use_up_the_lease(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=1, published=True)
    task = await lease(owner, project)
    for wrong in ({"calibration": "x"}, {"wrong": 1}, {"id": 5}, {"finish_time": "2001-01-01"}, {"created": None}):
        assert (await owner.post("/api/taskrun", json=run_of(project, task["id"], **wrong))).status in (400, 415)
    assert (await owner.post("/api/taskrun", json=run_of(project, task["id"]))).status == 200


@shows("attribute-recorded", "taskrun-who")
@pytest_twisted.ensureDeferred
async def test_who_answered_is_what_the_server_knows_not_what_a_body_says(served):
    owner, victim = await served.person("owner"), await served.person("victim")
    project = await served.project(owner, tasks=2, published=True)
    volunteer, anonymous = await served.person("volunteer"), served.client()
    forged = {"user_id": victim.user_id, "user_ip": "9.9.9.9", "timeout": 5, "media_url": "https://x.example/y"}
    for who, expected in ((volunteer, volunteer.user_id), (anonymous, None)):
        task = await lease(who, project)
        run = (await who.post("/api/taskrun", json=run_of(project, task["id"], **forged))).json()
        assert (run["user_id"], run["timeout"], run["media_url"]) == (expected, None, None)
        address = (await owner.get(f"/api/taskrun/{run['id']}")).json()["user_ip"]
        assert address not in ("9.9.9.9", "127.0.0.1") and (address is None) == (expected is not None)
    claimed = run_of(project, project["tasks"][1], external_uid="somebody")
    assert (await anonymous.post("/api/taskrun", json=claimed)).status == 401


@shows("caller-anonymous", "caller-cookie")
@pytest_twisted.ensureDeferred
async def test_browsers_behind_one_address_are_different_volunteers(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=1, published=True, n_answers=3)
    for _ in range(3):
        browser = served.client()
        await browser.get("/project/birds/newtask")
        task = await lease(browser, project)
        assert (await browser.post("/api/taskrun", json=run_of(project, task["id"]))).status == 200
    assert (await owner.get(f"/api/task/{project['tasks'][0]}")).json()["state"] == "completed"


@shows("caller-anonymous")
@pytest_twisted.ensureDeferred
async def test_clients_without_cookies_behind_one_address_are_one_volunteer(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=1, published=True, n_answers=3)
    task = await lease(served.client(), project)
    assert (await served.client().post("/api/taskrun", json=run_of(project, task["id"]))).status == 200
    assert await lease(served.client(), project) == {}


@shows("record-array", "taskrun-array")
@pytest_twisted.ensureDeferred
async def test_an_array_is_stored_whole_or_not_at_all(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=4, published=True)
    first, second, third = (await owner.get(f"/api/{project['id']}/newtask?limit=3")).json()
    unleased = run_of(project, project["tasks"][3])
    good = [run_of(project, task["id"], info=task["id"]) for task in (third, first)]
    for wrong in (unleased, good[0], {**unleased, "wrong": 1}, 5, run_of(project, 99999)):
        assert (await owner.post("/api/taskrun", json=[*good, wrong])).status in (403, 415), wrong
        assert (await owner.get("/api/taskrun")).json() == []
    stored = (await owner.post("/api/taskrun", json=good)).json()
    assert [run["info"] for run in stored] == [third["id"], first["id"]]
    assert (await owner.post("/api/taskrun", json=run_of(project, second["id"]))).status == 200


@shows("taskrun-late")
@pytest_twisted.ensureDeferred
async def test_a_late_answer_counts_while_its_place_is_free(served):
    owner, volunteer = await served.person("owner"), await served.person("volunteer")
    project = await served.project(owner, tasks=1, published=True, n_answers=1)
    task = await lease(volunteer, project)
    await advance(served, 2)
    run = (await volunteer.post("/api/taskrun", json=run_of(project, task["id"]))).json()
    assert 3600 <= run["timeout"] <= 3660
    assert (await owner.get(f"/api/task/{task['id']}")).json()["state"] == "completed"


@shows("taskrun-late")
@pytest_twisted.ensureDeferred
async def test_a_late_answer_without_a_place_is_kept_and_does_not_count(served):
    owner = await served.person("owner")
    slow, quick = await served.person("slow"), await served.person("quick")
    project = await served.project(owner, tasks=1, published=True, n_answers=1)
    task = await lease(slow, project)
    await advance(served, 2)
    assert (await lease(quick, project))["id"] == task["id"]
    assert (await quick.post("/api/taskrun", json=run_of(project, task["id"]))).status == 200
    late = await slow.post("/api/taskrun", json=run_of(project, task["id"]))
    assert late.status == 200 and late.json()["timeout"] >= 3600
    assert [len(r["task_run_ids"]) for r in (await owner.get("/api/result")).json()] == [1]
    assert len((await owner.get("/api/taskrun")).json()) == 2
    await owner.put(f"/api/task/{task['id']}", json={"n_answers": 2})
    assert [len(r["task_run_ids"]) for r in (await owner.get("/api/result")).json()] == [2]


@shows("taskrun-put")
@pytest_twisted.ensureDeferred
async def test_an_author_changes_an_answer_as_long_as_it_may_be_corrected(served):
    owner, volunteer = await served.person("owner"), await served.person("volunteer")
    project = await served.project(owner, tasks=1, published=True, n_answers=2)
    task = await lease(volunteer, project)
    path = f"/api/taskrun/{(await volunteer.post('/api/taskrun', json=run_of(project, task['id']))).json()['id']}"
    assert (await volunteer.put(path, json={"info": "no"})).json()["info"] == "no"
    assert (await owner.put(path, json={"info": "mine"})).status == 403
    assert (await served.client().put(path, json={"info": "x"})).status == 401
    for change in ({"user_id": 1}, {"task_id": 9}, {"project_id": 9}, {"user_ip": "1.1.1.1"}, {"timeout": 1}):
        assert (await volunteer.put(path, json=change)).status == 400, change
    await lease(owner, project)
    await owner.post("/api/taskrun", json=run_of(project, task["id"]))
    assert (await volunteer.put(path, json={"info": "again", "calibration": 3})).json()["calibration"] == 3
    assert len((await owner.get("/api/result?last_version=false")).json()) == 1
    await served.database.execute("UPDATE clock_shift SET ahead = make_interval(mins => 6)", {})
    for change in ({"info": "too late"}, {"calibration": 4}):
        frozen = await volunteer.put(path, json=change)
        assert (frozen.status, frozen.json()["error_code"]) == (403, "in_result"), change
    assert (await volunteer.get(path)).json()["info"] == "again"


@shows("task-reopen", "taskrun-delete")
@pytest_twisted.ensureDeferred
async def test_deleting_a_counted_answer_opens_the_task_again(served):
    owner, stranger = await served.person("owner"), await served.person("stranger")
    project = await served.project(owner, tasks=1, published=True, n_answers=1)
    task = await lease(owner, project)
    run = (await owner.post("/api/taskrun", json=run_of(project, task["id"]))).json()
    assert (await stranger.delete(f"/api/taskrun/{run['id']}")).status == 403
    assert (await owner.delete(f"/api/taskrun/{run['id']}")).status == 204
    assert (await owner.get(f"/api/task/{task['id']}")).json()["state"] == "ongoing"
    assert (await owner.get("/api/result")).json() == []
    assert (await lease(stranger, project))["id"] == task["id"]


@shows("state-trial", "taskrun-draft")
@pytest_twisted.ensureDeferred
async def test_trial_answers_go_when_the_project_is_published(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=1, n_answers=1)
    task = await lease(owner, project)
    assert (await owner.post("/api/taskrun", json=run_of(project, task["id"]))).status == 200
    assert len((await owner.get("/api/taskrun")).json()) == 1
    await owner.post("/project/birds/publish", json={})
    assert (await owner.get("/api/taskrun")).json() == [] == (await owner.get("/api/result")).json()
    assert (await lease(owner, project))["id"] == task["id"]


@pytest_twisted.ensureDeferred
async def test_a_session_answers_without_a_token(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=1, published=True)
    browser = await newcomer(served, "ada")
    task = await lease(browser, project)
    run = await browser.post("/api/taskrun", json=run_of(project, task["id"]))
    assert run.status == 200 and run.json()["user_id"] == owner.user_id + 1


@shows("taskrun-next")
@pytest_twisted.ensureDeferred
async def test_an_answer_brings_the_next_task_to_those_who_ask_for_it(served):
    owner, ada, bob = [await served.person(name) for name in ("owner", "ada", "bob")]
    project = await served.project(owner, tasks=3, published=True, n_answers=1)
    next_ = {"Prefer": "respond-async, next"}
    first = {who: await lease(who, project) for who in (ada, bob)}

    async def answer(who, task, **more):
        made = await who.post("/api/taskrun", json=run_of(project, task["id"]), **more)
        assert made.status == 200, made.text
        return made

    plain = await answer(ada, first[ada])
    assert "next_task" not in plain.json() and plain.header("preference-applied") is None
    assert len({each["id"] for each in first.values()} | {(await lease(ada, project))["id"]}) == 3
    # The last place of the third task is Ada's: nothing is left for Bob, and Ada's own is the one that newtask gives.
    last = await answer(bob, first[bob], headers=next_)
    assert last.json()["next_task"] is None and last.header("preference-applied") == "next"
    await ada.post("/api/taskrun", json=run_of(project, (await lease(ada, project))["id"]))
    more = await served.project(owner, short_name="more", tasks=3, published=True, n_answers=2)
    task = await lease(ada, more)
    body = {**run_of(more, task["id"]), "info": "no"}
    once = {**next_, "Idempotency-Key": "k1"}
    made, repeated = [(await ada.post("/api/taskrun", json=body, headers=once)).json() for _ in range(2)]
    assert made == repeated and made["next_task"] == await lease(ada, more) != task
    assert (await ada.post("/api/taskrun", json=run_of(more, made["next_task"]["id"]))).status == 200  # it was leased
    # The answer of somebody who may not go on is stored all the same.
    task = await lease(bob, more)
    assert (await owner.post("/project/more/pause", json={})).status == 200
    stored = await bob.post("/api/taskrun", json=run_of(more, task["id"]), headers=next_)
    assert (stored.status, stored.json()["next_task"]) == (200, None)
    many = await ada.post("/api/taskrun", json=[run_of(more, (await lease(ada, more)).get("id", 0))], headers=next_)
    assert many.header("preference-applied") is None
