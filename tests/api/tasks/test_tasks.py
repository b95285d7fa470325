"""Tasks over REST."""

import pytest_twisted
from support.checks.shows import shows


async def answer(volunteer, project, task_id):
    """A volunteer answers one named task."""
    await volunteer.page(f"/project/{project['short_name']}/task/{task_id}")
    run = {"project_id": project["id"], "task_id": task_id, "info": "yes"}
    return await volunteer.post("/api/taskrun", json=run)


@shows("record-create", "task-create")
@pytest_twisted.ensureDeferred
async def test_a_project_is_enough(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    task = (await owner.post("/api/task", json={"project_id": project["id"]})).json()
    assert (task["n_answers"], task["priority_0"], task["quorum"], task["calibration"]) == (30, 0.0, 0, 0)
    assert (task["state"], task["info"], task["project_id"]) == ("ongoing", None, project["id"])
    assert f"/api/task/{task['id']}'" in task["link"] and "rel='self' title='task'" in task["link"]
    assert task["links"] == [f"<link rel='parent' title='project' href='{project['link'].split(chr(39))[5]}'/>"]


@shows("format-coerced")
@pytest_twisted.ensureDeferred
async def test_values_that_a_type_can_hold_are_coerced(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    body = {"project_id": str(project["id"]), "n_answers": "5", "priority_0": "0.5", "quorum": 1.0, "calibration": "0"}
    task = (await owner.post("/api/task", json=body)).json()
    assert (task["n_answers"], task["priority_0"], task["quorum"]) == (5, 0.5, 1)
    changed = await owner.put(f"/api/task/{task['id']}", json={**task, "n_answers": "6"})
    assert changed.json()["n_answers"] == 6


@shows("task-fields")
@pytest_twisted.ensureDeferred
async def test_any_json_may_be_info(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    for info in ("text", 5, 1.5, [1, {"a": None}], {"ä": "😀", "": []}, True, None):
        task = (await owner.post("/api/task", json={"project_id": project["id"], "info": info})).json()
        assert (await owner.get(f"/api/task/{task['id']}")).json()["info"] == info


@shows("record-array")
@pytest_twisted.ensureDeferred
async def test_an_array_makes_all_or_nothing(served):
    owner, stranger = await served.person("owner"), await served.person("stranger")
    mine, other = await served.project(owner), await served.project(stranger, "other", tasks=1, published=True)
    good = [{"project_id": mine["id"], "info": n} for n in range(3)]
    made = (await owner.post("/api/task", json=good)).json()
    assert [task["info"] for task in made] == [0, 1, 2]
    here = {"project_id": mine["id"]}
    for wrong, status in (
        ({"project_id": other["id"]}, 403), ({**here, "n_answers": 0}, 415), ({}, 415), (5, 415),
        ({"project_id": 999}, 404), ({**here, "x": 1}, 415), ({**here, "id": 1}, 400),
    ):  # fmt: skip
        assert (await owner.post("/api/task", json=[*good, wrong])).status == status, wrong
    assert len((await owner.get("/api/task")).json()) == 3
    assert (await owner.post("/api/task", json=[])).status == 415


@shows("task-create")
@pytest_twisted.ensureDeferred
async def test_only_owners_and_administrators_make_change_and_delete_tasks(served):
    owner, stranger = await served.person("owner"), await served.person("stranger")
    admin = await served.person("boss", admin=True)
    project = await served.project(owner, tasks=2, published=True)
    path = f"/api/task/{project['tasks'][0]}"
    for who, status in ((served.client(), 401), (stranger, 403)):
        assert (await who.post("/api/task", json={"project_id": project["id"]})).status == status
        assert (await who.put(path, json={"info": 1})).status == status
        assert (await who.delete(path)).status == status
    assert (await admin.put(path, json={"info": 1})).json()["info"] == 1
    assert (await owner.delete(path)).status == 204
    assert (await admin.delete(f"/api/task/{project['tasks'][1]}")).status == 204
    assert (await owner.get(path)).status == 404


@shows("attribute-once")
@pytest_twisted.ensureDeferred
async def test_a_task_stays_in_its_project(served):
    owner = await served.person("owner")
    project, other = await served.project(owner, tasks=1), await served.project(owner, "other")
    path = f"/api/task/{project['tasks'][0]}"
    assert (await owner.put(path, json={"project_id": other["id"]})).status == 400
    assert (await owner.put(path, json={"project_id": project["id"], "quorum": 2})).json()["quorum"] == 2


@shows("attribute-server")
@pytest_twisted.ensureDeferred
async def test_the_state_is_the_servers(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=1)
    path = f"/api/task/{project['tasks'][0]}"
    for body in ({"state": "completed"}, {"fav_user_ids": [1]}, {"created": "2001-01-01"}, {"id": 0}):
        assert (await owner.put(path, json=body)).status == 400
    assert (await owner.post("/api/task", json={"project_id": project["id"], "state": "completed"})).status == 400
    record = (await owner.get(path)).json()
    assert (await owner.put(path, json=record)).json() == record


@shows("task-edit")
@pytest_twisted.ensureDeferred
async def test_other_changes_of_a_task_leave_its_state_alone(served):
    owner, volunteer = await served.person("owner"), await served.person("volunteer")
    project = await served.project(owner, tasks=1, published=True, n_answers=1)
    task = (await volunteer.get(f"/api/{project['id']}/newtask")).json()
    answer = {"project_id": project["id"], "task_id": task["id"], "info": 1}
    assert (await volunteer.post("/api/taskrun", json=answer)).status == 200
    for change in ({"info": "another"}, {"priority_0": 0.5}, {"quorum": 3}, {"calibration": 1}):
        changed = (await owner.put(f"/api/task/{task['id']}", json=change)).json()
        assert changed["state"] == "completed" and changed.items() >= change.items()
    assert len((await owner.get("/api/result")).json()) == 1


@shows("task-fields")
@pytest_twisted.ensureDeferred
async def test_volunteers_do_not_learn_which_tasks_are_gold(served):
    owner, volunteer = await served.person("owner"), await served.person("volunteer")
    project = await served.project(owner, tasks=3, published=True)
    gold = project["tasks"][1]
    await owner.put(f"/api/task/{gold}", json={"calibration": 1})
    assert [t["id"] for t in (await owner.get("/api/task?calibration=1")).json()] == [gold]
    assert (await owner.get("/api/task?orderby=calibration&desc=true")).json()[0]["id"] == gold
    for who in (volunteer, served.client()):
        assert (await who.get("/api/task?all=1&calibration=1")).json() == []
        ordered = (await who.get("/api/task?all=1&orderby=calibration")).json()
        assert [t["id"] for t in ordered] == project["tasks"] and not any("calibration" in t for t in ordered)
        after = await who.get(f"/api/task?all=1&orderby=calibration&last_id={gold}")
        assert [t["id"] for t in after.json()] == project["tasks"][2:]
        assert "calibration" not in (await who.get(f"/api/task/{gold}")).json()
        assert "calibration" not in (await who.get(f"/api/{project['id']}/newtask")).json()


@shows("task-reopen")
@pytest_twisted.ensureDeferred
async def test_redundancy_follows_n_answers_at_once(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=1, published=True, n_answers=2)
    path, task_id = f"/api/task/{project['tasks'][0]}", project["tasks"][0]
    assert (await answer(owner, project, task_id)).status == 200

    async def state():
        last = (await owner.get(f"/api/result?task_id={task_id}")).json()
        return (await owner.get(path)).json()["state"], [len(r["task_run_ids"]) for r in last]

    assert await state() == ("ongoing", [])
    await owner.put(path, json={"n_answers": 1})
    assert await state() == ("completed", [1])
    await owner.put(path, json={"info": "edited", "priority_0": 1})
    assert await state() == ("completed", [1])
    await owner.put(path, json={"n_answers": 3})
    assert (await state())[0] == "ongoing"


@shows("task-delete")
@pytest_twisted.ensureDeferred
async def test_deleting_a_task_takes_its_answers_and_results_along(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=1, published=True, n_answers=1)
    assert (await answer(owner, project, project["tasks"][0])).status == 200
    assert len((await owner.get("/api/result")).json()) == 1
    assert (await owner.delete(f"/api/task/{project['tasks'][0]}")).status == 204
    for kind in ("task", "taskrun", "result"):
        assert (await owner.get(f"/api/{kind}")).json() == []
    assert (await owner.get(f"/api/project/{project['id']}")).json()["n_task_runs"] == 0


@pytest_twisted.ensureDeferred
async def test_anybody_may_read_a_task_of_an_open_project(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=1, published=True)
    seen = await served.client().get(f"/api/task/{project['tasks'][0]}?_=123&anything=x")
    assert seen.status == 200 and seen.json()["info"] == {"n": 0}
