"""Changes of more tasks than one transaction should hold, by the queue of a running server."""

from __future__ import annotations

import pytest
import pytest_twisted
from support.checks.invariants import invariants
from support.checks.shows import shows
from support.ledger import Ledger

from crowdd.features.projects import projects as projects_of_owners
from crowdd.features.tasks import changes, settings


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(changes, "CHUNK", 10)
    monkeypatch.setattr(settings, "CHUNK", 10)
    monkeypatch.setattr(settings, "AT_ONCE", 20)
    monkeypatch.setattr(projects_of_owners, "_BITES_AT_ONCE", 0)


@pytest.fixture
def ledger(dsn):
    made = Ledger(dsn)
    yield made
    made.close()


async def large(served, ledger, tasks=45, n=2):
    """An owner, and a project of theirs in which one volunteer has answered half of the tasks."""
    owner = await served.person("owner")
    project = await served.project(owner, tasks=tasks, published=True, n_answers=n)
    for task in ledger.ask(project["id"], "c:1", limit=tasks // 2).tasks:
        ledger.answer(project["id"], "c:1", task)
    return owner, project


async def finish(served):
    """Lets the worker of the server do what waits, and returns the items as they ended."""
    worker = served.server._worker
    while begun := await worker.take():
        for settled in begun:
            await settled
    while worker._active:
        for settled in [*worker._active.values()]:
            await settled
    return await served.database.fetch("SELECT id, name, state, done, total, result, error FROM queue_item ORDER BY id")


@shows("change-background")
@pytest_twisted.ensureDeferred
async def test_a_large_change_is_made_in_the_background(served, ledger):
    owner, project = await large(served, ledger)
    path = f"/api/project/{project['id']}/redundancy"
    preview = (await owner.post(f"{path}?dry_run=1", json={"n_answers": 1})).json()
    assert preview["tasks"] == 45 and preview["completed"] == 22
    change = (await owner.post(path, json={"n_answers": 1})).json()
    assert change == {**preview, "dry_run": False, "queue_item": change["queue_item"]} and change["queue_item"]
    (item,) = await finish(served)
    assert (item["state"], item["done"], item["total"]) == ("done", 45, 45), item
    assert item["result"] == {name: preview[name] for name in ("tasks", "completed", "reopened", "answers")}
    assert ledger.rows("SELECT DISTINCT n_answers FROM task_ledger") == [{"n_answers": 1}]
    assert invariants(ledger.connection, 2) == []


@pytest_twisted.ensureDeferred
async def test_a_large_withdrawal_finds_every_answer(served, ledger):
    owner, project = await large(served, ledger)
    run = ledger.value("SELECT max(id) FROM task_run")
    withdrawal = (await owner.post(f"/api/project/{project['id']}/withdraw", json={"taskrun_id": run})).json()
    assert withdrawal["answers"] == 22 and withdrawal["queue_item"]
    (item,) = await finish(served)
    assert item["result"]["answers"] == 22
    assert ledger.value("SELECT count(*) FROM task_run") == 0
    assert invariants(ledger.connection) == []


@pytest_twisted.ensureDeferred
async def test_who_is_no_owner_any_more_changes_nothing(served, ledger):
    owner, project = await large(served, ledger)
    other = await served.person("other")
    uid = (await other.page("/account/profile")).json()["user"]["id"]
    served.server._worker._size = 0
    await owner.post(f"/api/project/{project['id']}/priority", json={"priority_0": 3})
    ledger.run("UPDATE project SET owner_id = %(u)s, owners_ids = ARRAY[%(u)s::bigint]", u=uid)
    served.server._worker._size = 1
    (item,) = await finish(served)
    assert item["state"] == "dead"
    assert ledger.rows("SELECT DISTINCT priority_0 FROM task_ledger") == [{"priority_0": 0.0}]


@pytest_twisted.ensureDeferred
async def test_a_scheduler_of_many_tasks_changes_in_the_background(served, ledger):
    owner, project = await large(served, ledger)
    served.server._worker._size = 0
    for sched in ("breadth_first", "depth_first_all"):
        info = {"sched": sched, "task_presenter": "x"}
        assert (await owner.put(f"/api/project/{project['id']}", json={"info": info})).status == 200
        assert ledger.value("SELECT sched FROM project_ledger") == "changing"
        assert ledger.take(project["id"], "c:2")
    served.server._worker._size = 1
    items = await finish(served)
    assert [item["state"] for item in items] == ["done", "done"], items
    row = ledger.row(
        "SELECT sched, (SELECT string_agg(DISTINCT mode::text, ' ') FROM task_ledger) AS modes FROM project_ledger"
    )
    assert row == {"sched": "depth_first_all", "modes": "unlimited"}
    assert sorted(ledger.all_of(project["id"], "c:9", limit=20)) == project["tasks"]
    assert invariants(ledger.connection, 1000) == []


@pytest_twisted.ensureDeferred
async def test_a_deleted_project_of_many_tasks_is_swept_in_the_background(served, ledger):
    owner, project = await large(served, ledger)
    served.server._worker._size = 0
    assert (await owner.delete(f"/api/project/{project['id']}")).status == 204
    for path in (f"/api/project/{project['id']}", f"/api/task/{project['tasks'][0]}", f"/api/{project['id']}/newtask"):
        assert (await owner.get(path)).status == 404, path
    assert (await owner.get("/api/task")).json() == []
    assert ledger.value("SELECT count(*) FROM task") == 45
    assert invariants(ledger.connection) == []
    served.server._worker._size = 1
    (item,) = await finish(served)
    assert item["state"] == "done", item
    for table in ("task", "task_ledger", "task_run", "position", "event", "volunteer", "project_stat"):
        assert ledger.value(f"SELECT count(*) FROM {table}") == 0, table
    assert invariants(ledger.connection) == []


@pytest_twisted.ensureDeferred
async def test_many_trial_answers_go_before_a_project_opens(served, ledger, monkeypatch):
    monkeypatch.setattr(projects_of_owners, "_TRIALS_AT_ONCE", 7)
    owner = await served.person("owner")
    project = await served.project(owner, tasks=20, n_answers=2)
    for actor in ("c:1", "c:2"):
        for task in ledger.ask(project["id"], actor, limit=20).tasks:
            ledger.answer(project["id"], actor, task)
    assert (await owner.post("/project/birds/publish", json={})).status in (200, 302)
    assert ledger.value("SELECT count(*) FROM task_run") == 0
    assert len(ledger.all_of(project["id"], "c:1", limit=20)) == 20
    assert invariants(ledger.connection) == []
