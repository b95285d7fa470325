"""Redundancy, priority, order and deletion of tasks on pages, each with its effect before; the work that goes on."""

from __future__ import annotations

from typing import Any

import pytest_twisted
from support.browsers import lock
from support.checks.shows import shows
from support.servers.queue_runner import worked

from crowdd.database.schema import list_schedulers
from crowdd.features.tasks import changes, settings

CHANGES = ("redundancy", "priority", "order", "scheduler", "delete")
BODIES: dict[str, dict[str, Any]] = {
    "redundancy": {"n_answers": 5}, "priority": {"task_ids": "1", "priority_0": 0.5}, "scheduler": {"sched": "breadth_first"},
    "order": {"by": "column", "column": "n", "share": 0},
    "delete": {"short_name": "birds"},
}  # fmt: skip
HTML = {"Accept": "text/html"}


async def built(served: Any, tasks: int = 4) -> tuple[Any, dict[str, Any]]:
    """An owner's program and project; both answers of the first task are there."""
    owner, ada = await served.person("owner"), await served.person("ada")
    project = await served.project(owner, tasks=tasks, published=True)
    for client in (owner, ada):
        task = (await client.get(f"/api/project/{project['id']}/newtask")).json()
        body = {"project_id": project["id"], "task_id": task["id"], "info": "yes"}
        assert (await client.post("/api/taskrun", json=body)).status == 200
    return owner, project


async def tasks_of(owner: Any, project: dict[str, Any]) -> list[dict[str, Any]]:
    return (await owner.get(f"/api/task?project_id={project['id']}&limit=100")).json()


@shows("page-change")
@pytest_twisted.ensureDeferred
async def test_the_forms_are_those_of_pybossa_for_owners_alone(served):
    owner, _ = await built(served)
    boss = await served.person("boss", admin=True)
    stranger, nobody = await served.person("stranger"), served.client()
    fields = {
        "redundancy": {"n_answers": 2, "task_ids": None}, "priority": {"priority_0": None, "task_ids": None},
        "order": {"by": "uncertain", "question": None, "model": None, "column": None, "share": 0.1},
        "scheduler": {"sched": "default"}, "delete": {"task_ids": None, "short_name": None},
    }  # fmt: skip
    for name in CHANGES:
        path = f"/project/birds/tasks/{name}"
        for client in (owner, boss):
            page = (await client.page(path)).json()
            form = page["form"]
            assert form.pop("csrf") == page["csrf"] and form.pop("errors") == {} and form == fields[name]
            assert page["effect"] is None and page["n_tasks"] == 4 and page["project"]["short_name"] == "birds"
        for method in ("GET", "POST"):
            sent = {"json": BODIES[name]} if method == "POST" else {"headers": {"Content-Type": "application/json"}}
            assert (await stranger.request(method, path, **sent)).status == 403, (method, path)
        refused = await nobody.page(path)
        assert (refused.status, refused.header("location")) == (302, f"/account/signin?next={path}")
        assert (await nobody.post(path, json=BODIES[name])).status in (302, 400)
        assert (await owner.page(path.replace("birds", "nothing"))).status == 404
    assert (await owner.page("/project/birds/queue")).json()["items"] == []
    assert (await stranger.page("/project/birds/queue")).status == 403
    assert (await nobody.page("/project/birds/queue")).status == 302
    await lock(served, "birds", owner, "sesame")
    assert (await stranger.page("/project/birds/tasks/delete")).json()["reason"] == "project_password"


@shows("page-change")
@pytest_twisted.ensureDeferred
async def test_answers_of_a_volunteer_go_by_the_code_that_they_carry(served):
    owner, project = await built(served)
    at, path = f"/api/taskrun?project_id={project['id']}", "/project/birds/tasks/withdraw"
    word = (await owner.get(at)).json()[1]["volunteer"]
    assert (await owner.page(f"{path}?volunteer={word}")).json()["form"]["volunteer"] == word
    for code in ("", "nobody"):
        refused = (await owner.send_form(path, {"volunteer": code})).json()
        assert refused["form"]["errors"].keys() == {"volunteer"} and refused["effect"] is None
    seen = (await owner.send_form(path, {"volunteer": word, "preview": "y"})).json()
    assert seen["effect"]["answers"] == 1 and len((await owner.get(at)).json()) == 2
    done = (await owner.send_form(path, {"volunteer": word})).json()
    assert done["effect"]["answers"] == 1 and len((await owner.get(at)).json()) == 1
    stranger = await served.person("stranger")
    assert (await stranger.page(path)).status == 403
    assert (await stranger.post(path, json={"volunteer": word})).status == 403


@shows("page-change")
@pytest_twisted.ensureDeferred
async def test_redundancy_says_what_it_would_do_and_then_does_it(served):
    owner, project = await built(served)
    path = "/project/birds/tasks/redundancy"
    trial = (await owner.post(path, json={"n_answers": 3, "preview": "y"})).json()
    assert trial["form"]["n_answers"] == "3" and trial["effect"]["reopened"] == 1 and trial["effect"]["tasks"] == 4
    assert {task["n_answers"] for task in await tasks_of(owner, project)} == {2}
    token = {"csrf_token": trial["csrf"], "preview": "y", "n_answers": "3"}
    page = (await owner.post(path, data=token, headers=HTML)).text
    assert "1 finished task would be open again." in page and "Nothing has changed yet." in page
    done = (await owner.post(path, json={"n_answers": 3})).json()
    assert (done["next"], done["status"]) == ("/project/birds/tasks/", "success")
    assert done["effect"] == trial["effect"] | {"dry_run": False} and done["flash"] == "4 tasks were changed."
    assert [task["state"] for task in await tasks_of(owner, project)] == ["ongoing"] * 4
    one = project["tasks"][2]
    await owner.post(path, json={"n_answers": 9, "task_ids": f"{one}, {project['tasks'][3]}"})
    assert [task["n_answers"] for task in await tasks_of(owner, project)] == [3, 3, 9, 9]
    for wrong, field in (
        ({"n_answers": 0}, "n_answers"), ({"n_answers": ""}, "n_answers"), ({}, "n_answers"),
        ({"n_answers": "many"}, "n_answers"), ({"n_answers": 10_001}, "n_answers"), ({"n_answers": None}, "n_answers"),
        ({"n_answers": 4, "task_ids": "1; DROP TABLE task"}, "task_ids"), ({"n_answers": 4, "task_ids": "-1"}, "task_ids"),
    ):  # fmt: skip
        refused = (await owner.post(path, json=wrong)).json()
        assert list(refused["form"]["errors"]) == [field] and refused["status"] == "error", wrong
    assert [task["n_answers"] for task in await tasks_of(owner, project)] == [3, 3, 9, 9]


@shows("page-change")
@pytest_twisted.ensureDeferred
async def test_open_tasks_are_ordered_by_a_column_or_by_predictions(served):
    owner, project = await built(served)
    path = "/project/birds/tasks/order"
    trial = (await owner.post(path, json={**BODIES["order"], "preview": True})).json()
    assert trial["effect"]["tasks"] == 3  # the first is complete
    assert (await owner.post(path, json=BODIES["order"])).json()["status"] == "success"
    assert [task["priority_0"] for task in await tasks_of(owner, project)] == [0, 0, 0.5, 1]
    for wrong, field in (
        ({"by": "column"}, "column"), ({"by": "uncertain", "question": "q"}, "model"), ({"by": "worst"}, "by"),
        ({"share": "x"}, "share"), ({"by": "diverse", "question": "q", "model": "m"}, "by"),
    ):  # fmt: skip
        refused = (await owner.post(path, json={"by": "column", "share": 0.1, **wrong})).json()
        assert field in refused["form"]["errors"] and refused["status"] == "error", (wrong, refused["form"])
    assert [task["priority_0"] for task in await tasks_of(owner, project)] == [0, 0, 0.5, 1]


@shows("page-change")
@pytest_twisted.ensureDeferred
async def test_priority_is_of_named_tasks_from_0_to_1(served):
    owner, project = await built(served)
    fish = await served.project(owner, "fish", tasks=1, published=True)
    path, first = "/project/birds/tasks/priority", project["tasks"][0]
    named = f"{first}\n{project['tasks'][1]},{fish['tasks'][0]}"
    trial = (await owner.post(path, json={"task_ids": named, "priority_0": "0.7", "preview": True})).json()
    assert trial["effect"]["tasks"] == 2 and trial["form"]["task_ids"] == named
    done = (await owner.post(path, json={"task_ids": named, "priority_0": "0.7"})).json()
    assert done["status"] == "success"
    assert [task["priority_0"] for task in await tasks_of(owner, project)] == [0.7, 0.7, 0, 0]
    assert [task["priority_0"] for task in await tasks_of(owner, fish)] == [0]
    assert (await owner.post(path, json={"task_ids": [first], "priority_0": 1})).json()["effect"]["tasks"] == 1
    for wrong, field in (
        ({"task_ids": "", "priority_0": 0.5}, "task_ids"), ({"task_ids": named, "priority_0": 1.1}, "priority_0"),
        ({"task_ids": named, "priority_0": "nan"}, "priority_0"), ({"task_ids": named, "priority_0": "x"}, "priority_0"),
        ({"task_ids": named}, "priority_0"), ({"task_ids": "9" * 30, "priority_0": 0}, "task_ids"),
    ):  # fmt: skip
        refused = (await owner.post(path, json=wrong)).json()
        assert field in refused["form"]["errors"] and refused["status"] == "error", wrong
    assert [task["priority_0"] for task in await tasks_of(owner, project)] == [1, 0.7, 0, 0]


@shows("page-change")
@pytest_twisted.ensureDeferred
async def test_the_order_of_tasks_is_chosen_and_written_down(served):
    owner, project = await built(served)
    path = "/project/birds/tasks/scheduler"
    trial = (await owner.post(path, json={"sched": "breadth_first", "preview": "y"})).json()
    assert trial["effect"]["tasks"] == 4 and trial["form"]["sched"] == "breadth_first"
    assert (await owner.post(path, json={"sched": "depth_first", "preview": "y"})).json()["effect"]["tasks"] == 0
    assert (await owner.page(path)).json()["form"]["sched"] == "default"
    assert (await owner.post(path, json={"sched": "breadth_first"})).json()["status"] == "success"
    info = (await owner.get(f"/api/project/{project['id']}")).json()["info"]
    assert info == {"task_presenter": "<p>?</p>", "sched": "breadth_first"}
    assert (await owner.page(path)).json()["form"]["sched"] == "breadth_first"
    acts = await served.database.fetch("SELECT action, after FROM audit WHERE action = 'scheduler'")
    assert [act["after"]["sched"] for act in acts] == ["breadth_first"]
    for wrong in ("", "fastest", "'; --"):
        assert list((await owner.post(path, json={"sched": wrong})).json()["form"]["errors"]) == ["sched"]
    page = (await owner.get(path, headers=HTML)).text
    assert 'value="breadth_first" checked' in page
    for name in list_schedulers():
        assert f'value="{name}"' in page and f"<span>{name}<" not in page, "say in a sentence what it does"


@shows("page-change-delete")
@pytest_twisted.ensureDeferred
async def test_tasks_are_deleted_only_when_the_name_is_typed(served):
    owner, project = await built(served)
    path = "/project/birds/tasks/delete"
    trial = (await owner.post(path, json={"preview": "y"})).json()
    assert (trial["effect"]["tasks"], trial["effect"]["answers"], trial["form"]["errors"]) == (4, 2, {})
    for wrong in ({}, {"short_name": "fish"}, {"short_name": "Birds"}, {"short_name": None}):
        refused = (await owner.post(path, json=wrong)).json()
        assert list(refused["form"]["errors"]) == ["short_name"] and refused["status"] == "error"
    assert len(await tasks_of(owner, project)) == 4
    one = await owner.post(path, json={"short_name": "birds", "task_ids": str(project["tasks"][3])})
    assert one.json()["effect"]["tasks"] == 1 and len(await tasks_of(owner, project)) == 3
    done = (await owner.post(path, json={"short_name": " birds "})).json()
    assert done["next"] == "/project/birds/tasks/" and done["effect"]["answers"] == 2
    assert await tasks_of(owner, project) == []
    page = (await owner.page("/project/birds/tasks/")).json()
    assert (page["n_tasks"], page["n_task_runs"], page["n_completed_tasks"]) == (0, 0, 0)
    acts = await served.database.fetch("SELECT action FROM audit WHERE action = 'delete' AND project_id IS NOT NULL")
    assert len(acts) == 2


@shows("page-change", "page-queue")
@pytest_twisted.ensureDeferred
async def test_many_tasks_change_in_the_background_and_the_owner_looks_on(served, monkeypatch):
    monkeypatch.setattr(changes, "CHUNK", 2)
    monkeypatch.setattr(settings, "CHUNK", 2)
    monkeypatch.setattr(settings, "AT_ONCE", 2)
    owner, project = await built(served, tasks=9)
    stranger = await served.person("stranger")
    other = await served.project(stranger, "fish", tasks=1, published=True)
    worker = served.server._worker
    worker._size = 0
    items = []
    for name in ("scheduler", "redundancy", "delete"):
        done = (await owner.post(f"/project/birds/tasks/{name}", json=BODIES[name])).json()
        assert done["next"] == "/project/birds/queue" and done["queue_item"] == done["effect"]["queue_item"] is not None
        items.append(done["queue_item"])
    page = (await owner.page("/project/birds/queue")).json()
    assert [(item["id"], item["state"]) for item in page["items"]] == [(n, "waiting") for n in reversed(items)]
    assert page["next"] is None and "rate" in page["items"][0]
    last = items[-1]
    assert [i["id"] for i in (await owner.page(f"/project/birds/queue?id={last}")).json()["items"]] == [last]
    for client, path in ((stranger, "birds"), (stranger, "fish"), (owner, "fish")):
        assert (await client.post(f"/project/{path}/queue/{last}/cancel", json={})).status in (403, 404), path
    assert (await owner.post(f"/project/birds/queue/{10**30}/cancel", json={})).status == 404
    stopped = (await owner.post(f"/project/birds/queue/{last}/cancel", json={})).json()
    assert stopped["item"]["state"] == "cancelled" and stopped["status"] == "success"
    assert (await owner.post(f"/project/birds/queue/{last}/cancel", json={})).json()["status"] == "error"
    worker._size = 1
    await worked(served)
    states = {item["id"]: item for item in (await owner.page("/project/birds/queue")).json()["items"]}
    assert [states[n]["state"] for n in items] == ["done", "done", "cancelled"]
    assert states[items[1]]["result"]["tasks"] == 9 and states[items[1]]["done"] == 9
    assert (await owner.post(f"/project/birds/queue/{last}/retry", json={})).json()["item"]["state"] == "waiting"
    waiting = (await owner.get("/project/birds/queue", headers=HTML)).text
    assert (
        waiting.count("data-moving") == waiting.count("Tasks change group by group.") == 1
        and "The import continues" not in waiting
    )
    await worked(served)
    assert await tasks_of(owner, project) == [] and len(await tasks_of(stranger, other)) == 1
    html = (await owner.get("/project/birds/queue", headers=HTML)).text
    assert "tables/live.js" in html and "data-moving" not in html and html.count('data-state="done"') == 3
