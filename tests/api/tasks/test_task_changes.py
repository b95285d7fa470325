"""Owners change many tasks, withdraw answers, take tasks out (the routes of features/tasks/change_api.py)."""

import pytest
import pytest_twisted
from support.checks.shows import shows

DONE = {"dry_run": False, "queue_item": None}


@pytest.fixture
def busy(served):
    """An owner with a published project of three tasks that want one answer, two of them answered by a volunteer."""

    async def make():
        owner, volunteer = await served.person("owner"), await served.person("volunteer")
        project = await served.project(owner, tasks=3, published=True, n_answers=1)
        for _ in range(2):
            await contribute(volunteer, project)
        return owner, volunteer, project

    return make


async def contribute(who, project, info=1):
    """Asks for a task and answers it."""
    task = (await who.get(f"/api/project/{project['id']}/newtask")).json()
    run = {"project_id": project["id"], "task_id": task["id"], "info": info}
    return (await who.post("/api/taskrun", json=run)).json()


def at(project, change, query=""):
    return f"/api/project/{project['id']}/{change}{query}"


@shows("change-effect", "change-redundancy")
@pytest_twisted.ensureDeferred
async def test_redundancy_is_previewed_then_changed(served, busy):
    owner, _, project = await busy()
    expected = {"tasks": 3, "completed": 0, "reopened": 2, "answers": 0}
    response = await owner.post(at(project, "redundancy", "?dry_run=1"), json={"n_answers": 2})
    assert (response.status, response.json()) == (200, {**expected, "dry_run": True, "queue_item": None})
    assert (await owner.get(f"/api/task/{project['tasks'][0]}")).json()["n_answers"] == 1
    response = await owner.post(at(project, "redundancy"), json={"n_answers": 2})
    assert response.json() == {**expected, **DONE}
    assert [task["state"] for task in (await owner.get("/api/task")).json()] == ["ongoing"] * 3
    some = {"n_answers": 1, "task_ids": [project["tasks"][1], project["tasks"][2], 99999]}
    assert (await owner.post(at(project, "redundancy"), json=some)).json() == {
        **expected,
        **DONE,
        "tasks": 2,
        "completed": 1,
        "reopened": 0,
    }


@shows("change-priority")
@pytest_twisted.ensureDeferred
async def test_priority_of_some_tasks(served, busy):
    owner, _, project = await busy()
    body = {"priority_0": 0.5, "task_ids": project["tasks"][:2]}
    assert (await owner.post(at(project, "priority"), json=body)).json()["tasks"] == 2
    assert [task["priority_0"] for task in (await owner.get("/api/task")).json()] == [0.5, 0.5, 0.0]


@shows("change-withdraw")
@pytest_twisted.ensureDeferred
async def test_spam_is_withdrawn(served, busy):
    owner, volunteer, project = await busy()
    stranger = served.client()
    await stranger.get("/about")
    run = await contribute(stranger, project, "spam")
    bodies = ({"user_id": (await volunteer.page("/account/profile")).json()["user"]["id"]}, {"taskrun_id": run["id"]})
    for body, answers in zip(bodies, (2, 1), strict=True):
        preview = (await owner.post(at(project, "withdraw", "?dry_run=true"), json=body)).json()
        assert preview == {
            "tasks": answers,
            "completed": 0,
            "reopened": answers,
            "answers": answers,
            "dry_run": True,
            "queue_item": None,
        }
        assert (await owner.post(at(project, "withdraw"), json=body)).json() == {**preview, **DONE}
    assert (await owner.get("/api/taskrun?all=1")).json() == []
    assert (await owner.get(f"/api/project/{project['id']}")).json()["n_completed_tasks"] == 0
    assert (await volunteer.get(at(project, "newtask"))).json()["id"] in project["tasks"]


@shows("task-put-back", "task-retire")
@pytest_twisted.ensureDeferred
async def test_a_task_is_taken_out_and_put_back(served, busy):
    owner, volunteer, project = await busy()
    last = project["tasks"][2]
    response = await owner.post(f"/api/task/{last}/retire", json={"reason": "cancelled", "note": "blurred"})
    assert response.json() == {"tasks": 1, "completed": 0, "reopened": 0, "answers": 0, **DONE}
    seen = (await owner.get(f"/api/task/{last}")).json()
    assert (seen["state"], seen["closed"], seen["retired_note"]) == ("completed", "cancelled", "blurred")
    assert seen["retired_by"] == (await owner.page("/account/profile")).json()["user"]["id"] and seen["retired_at"]
    public = (await volunteer.get(f"/api/task/{last}")).json()
    assert public["closed"] == "cancelled" and not {"retired_by", "retired_note", "retired_at"} & public.keys()
    assert [row["id"] for row in (await owner.get("/api/task?closed=complete")).json()] == project["tasks"][:2]
    nothing = await volunteer.get(at(project, "newtask"))
    assert (nothing.json(), nothing.header("x-no-task")) == ({}, "none")
    assert (await owner.get(f"/api/project/{project['id']}")).json()["overall_progress"] == 100
    assert (await owner.post(f"/api/task/{last}/reopen", json={})).json()["reopened"] == 1
    assert (await volunteer.get(at(project, "newtask"))).json()["id"] == last


@pytest_twisted.ensureDeferred
async def test_what_is_done_is_written_down(served, busy):
    owner, _, project = await busy()
    await owner.post(at(project, "redundancy"), json={"n_answers": 2})
    await owner.post(f"/api/task/{project['tasks'][0]}/retire")
    rows = await served.database.fetch(
        "SELECT action, kind, object_id, user_name, after FROM audit WHERE action IN ('redundancy', 'retire') ORDER BY id"
    )
    assert [(row["action"], row["kind"], row["user_name"]) for row in rows] == [
        ("redundancy", "project", "owner"),
        ("retire", "task", "owner"),
    ]
    assert rows[0]["after"] == {"n_answers": 2, "tasks": 3}
    assert rows[1]["object_id"] == project["tasks"][0]


@shows("change-effect")
@pytest_twisted.ensureDeferred
async def test_only_owners_and_administrators_change_tasks(served, busy):
    owner, volunteer, project = await busy()
    admin = await served.person("boss", admin=True)
    paths = [at(project, "redundancy"), at(project, "priority"), at(project, "withdraw")]
    paths += [at(project, "stopping"), at(project, "lift")]
    paths += [f"/api/task/{project['tasks'][0]}/{verb}" for verb in ("retire", "reopen")]
    bodies = {
        "redundancy": {"n_answers": 5},
        "priority": {"priority_0": 1},
        "withdraw": {"user_id": 1},
        "lift": {"user_id": 1},
    }
    for path in paths:
        body = bodies.get(path.rsplit("/", 1)[1], {})
        for query in ("", "?dry_run=1"):
            assert (await volunteer.post(path + query, json=body)).status == 403, path
            assert (await served.client().post(path + query, json=body)).status == 401, path
        presenter = await owner.post(path, json=body, headers={"X-Presenter": str(project["id"])})
        assert presenter.status == 401, path
        assert (await admin.post(path, json=body)).status == 200, path


LABEL = {"name": "answer", "at": "/answer", "type": "label", "choices": ["fox", "owl"]}


@shows("change-stopping", "result-reason")
@pytest_twisted.ensureDeferred
async def test_tasks_stop_early_when_the_owner_wants_it(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=2, published=True, n_answers=5)
    path = f"/api/project/{project['id']}"
    info = (await owner.get(path)).json()["info"]
    assert (await owner.put(path, json={"info": {**info, "answers": [LABEL]}})).status == 200
    body = {"min_answers": 2, "confidence": 0.6}
    preview = (await owner.post(f"{path}/stopping?dry_run=1", json=body)).json()
    done = (await owner.post(f"{path}/stopping", json=body)).json()
    assert (preview["tasks"], done["tasks"], done["completed"], done["queue_item"]) == (2, 2, 0, None)
    assert (await owner.get(path)).json()["info"]["trust"] == body
    for nth in range(2):
        person = await served.person(f"person{nth}")
        task = (await person.get(f"/api/{project['id']}/newtask")).json()
        assert task["n_answers"] == 5
        answer = {"project_id": project["id"], "task_id": task["id"], "info": {"answer": "fox"}}
        assert (await person.post("/api/taskrun", json=answer)).status == 200
    (result,) = (await served.client().get(f"/api/result?project_id={project['id']}")).json()
    assert (result["reason"], len(result["task_run_ids"])) == ("sure", 2)
    assert [each["value"] for each in result["posterior"]] == ["fox", "owl"]
    assert result["posterior"][0]["probability"] == result["model"] > 0.6
    assert result["confidence"] is None, "nobody has measured it"
    (event,) = await served.house.base.db.fetch("SELECT data FROM event WHERE kind = 'task_completed'")
    assert (event["data"]["label"], event["data"]["reason"]) == ("fox", "sure")
    assert (await owner.get(f"/api/task/{result['task_id']}")).json()["state"] == "completed"
    changed = (await owner.put(path, json={"info": {**info, "answers": [LABEL], "trust": None}})).json()
    assert changed["info"]["trust"] is None
    assert (await owner.post(f"{path}/stopping", json={"completed": True})).json()["reopened"] == 1
    for wrong in (
        {"min_answers": 0, "confidence": 0.9},
        {"min_answers": 2},
        {**body, "confidence": 1},
        {"completed": "perhaps"},
    ):
        assert (await owner.post(f"{path}/stopping", json=wrong)).json()["error_code"] == "invalid_value"


@shows("change-lift")
@pytest_twisted.ensureDeferred
async def test_a_volunteer_who_seemed_no_better_than_chance_counts_again(served):
    owner, spammer = await served.person("owner"), await served.person("spammer")
    project = await served.project(owner, tasks=1, published=True, n_answers=1)
    path = f"/api/project/{project['id']}"
    info = (await owner.get(path)).json()["info"]
    await owner.put(path, json={"info": {**info, "answers": [LABEL]}})
    await served.house.base.db.execute(
        "INSERT INTO reliability (project_id, actor, generation, counts) SELECT project_id, 'u:' || a.id, generation, false"
        " FROM trust_model, account a WHERE a.name = 'spammer'"
    )
    (row,) = await served.house.base.db.fetch("SELECT id FROM account WHERE name = 'spammer'")
    task = (await spammer.get(f"/api/{project['id']}/newtask")).json()
    answer = {"project_id": project["id"], "task_id": task["id"], "info": {"answer": "fox"}}
    assert (await spammer.post("/api/taskrun", json=answer)).status == 200, "they are not told"
    assert (await owner.get("/api/result")).json() == []
    preview = (await owner.post(f"{path}/lift?dry_run=1", json={"user_id": row["id"]})).json()
    done = (await owner.post(f"{path}/lift", json={"user_id": row["id"]})).json()
    assert (preview["answers"], done["answers"], done["completed"]) == (1, 1, 1)
    assert len((await owner.get("/api/result")).json()) == 1


@shows("change-effect")
@pytest_twisted.ensureDeferred
async def test_what_makes_no_sense_is_refused(served, busy):
    owner, _, project = await busy()
    task = project["tasks"][0]
    for path, body, status, code in (
        (at(project, "redundancy"), {"n_answers": 0}, 415, "invalid_value"),
        (at(project, "redundancy"), {}, 415, "missing_attribute"),
        (at(project, "redundancy"), [], 415, "invalid_value"),
        (at(project, "redundancy"), {"n_answers": 2, "tasks": []}, 415, "unknown_attribute"),
        (at(project, "redundancy"), {"n_answers": 2, "task_ids": ["x"]}, 415, "invalid_value"),
        (at(project, "redundancy"), {"n_answers": 2, "task_ids": 7}, 415, "invalid_value"),
        (at(project, "redundancy", "?dry_run=perhaps"), {"n_answers": 2}, 415, "invalid_value"),
        (at(project, "priority"), {"priority_0": "high"}, 415, "invalid_value"),
        (at(project, "withdraw"), {}, 415, "missing_attribute"),
        (at(project, "withdraw"), {"user_id": 1, "external_uid": "x"}, 415, "invalid_value"),
        (at(project, "withdraw"), {"taskrun_id": 99999}, 404, "not_found"),
        ("/api/project/99999/redundancy", {"n_answers": 2}, 404, "not_found"),
        (f"/api/project/{'9' * 30}/redundancy", {"n_answers": 2}, 404, "not_found"),
        ("/api/task/99999/retire", {}, 404, "not_found"),
        (f"/api/task/{task}/retire", {"reason": "boring"}, 415, "invalid_value"),
        (f"/api/task/{task}/reopen", {"reason": "x"}, 415, "unknown_attribute"),
    ):
        refused = await owner.post(path, json=body)
        assert (refused.status, refused.json()["error_code"]) == (status, code), (path, body)
    assert {task["n_answers"] for task in (await owner.get("/api/task")).json()} == {1}
