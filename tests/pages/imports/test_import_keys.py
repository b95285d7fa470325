"""Imports with a key column: tasks that are open follow their row, others stay as they are."""

from __future__ import annotations

import csv
import io

import pytest_twisted
from support.checks.shows import shows
from support.importing import AT, bring, brought, figures, looked_at, tasks_of
from support.servers.queue_runner import worked
from twisted.internet.defer import ensureDeferred, gatherResults

from crowdd.sched.feature import Scheduling

FIRST = b"code,place\na,north\nb,south\nc,west\n"


@shows("page-import-one")
@pytest_twisted.ensureDeferred
async def test_open_tasks_are_updated_new_ones_added_and_answered_ones_left_alone(served):
    owner, volunteer = await served.person("owner"), await served.person("volunteer")
    project = await served.project(owner)
    # The first import has no key: the tasks are found by their data.
    await brought(served, owner, b"code,place,n_answers\na,north,1\nb,south,1\nc,west,1\nd,east,1\n")
    await owner.post("/project/birds/publish", json={})
    task = (await volunteer.get(f"/api/project/{project['id']}/newtask")).json()
    assert task["info"]["code"] == "a"
    run = {"project_id": project["id"], "task_id": task["id"], "info": 1}
    assert (await volunteer.post("/api/taskrun", json=run)).status == 200
    second = b"code,place,n_answers\na,NORTH,1\nb,SOUTH,1\nc,west,1\ne,up,2\n,nowhere,1\nb,down,1\n"
    upload = await looked_at(owner, second, key="code")
    expected = {"added": 1, "updated": 1, "present": 2, "kept": 1, "refused": 2}
    assert figures(upload["preview"]) == {**expected, "gone": 1}, upload["preview"]
    text = (await owner.get(f"{AT}/{upload['id']}", headers={"Accept": "text/html"})).text
    assert "Add 1 task and update 1" in text and "1 task of the project is not in the file" in text
    await owner.post(f"{AT}/{upload['id']}", json={"on_error": "skip"})
    assert figures((await worked(served))[-1]["result"]) == expected
    places = {task["info"]["code"]: task["info"]["place"] for task in await tasks_of(owner, project)}
    assert places == {"a": "north", "b": "SOUTH", "c": "west", "d": "east", "e": "up"}
    gone = await owner.get(f"{AT}/{upload['id']}/gone")
    (row,) = csv.DictReader(io.StringIO(gone.body.decode("utf-8-sig")))
    assert (row["key"], row["state"], row["answers"]) == ("d", "ongoing", "0")
    assert (await owner.page(f"{AT}/{upload['id']}")).json()["import"]["gone"] == 1
    retired = (await owner.post(f"{AT}/{upload['id']}/gone", json={})).json()
    assert (retired["status"], retired["tasks"]) == ("success", 1)
    assert (await owner.get(f"/api/task/{row['task_id']}")).json()["closed"] == "retired"
    assert (await owner.page(f"{AT}/{upload['id']}")).json()["import"]["gone"] == 0
    assert (await owner.post(f"{AT}/{upload['id']}/gone", json={})).json()["status"] == "error"
    again = figures(await brought(served, owner, second, key="code", on_error="skip"))
    assert again == {"present": 4, "kept": 1, "refused": 2}
    assert [difference async for difference in served.house[Scheduling].checking.run()] == []


@pytest_twisted.ensureDeferred
async def test_a_task_that_somebody_is_at_is_left_alone(served):
    owner, volunteer = await served.person("owner"), await served.person("volunteer")
    project = await served.project(owner)
    await brought(served, owner, FIRST, key="code")
    await owner.post("/project/birds/publish", json={})
    await volunteer.get(f"/api/project/{project['id']}/newtask")
    changed = FIRST.replace(b"north", b"up").replace(b"south", b"down")
    assert figures(await brought(served, owner, changed, key="code")) == {"updated": 1, "present": 2, "kept": 1}
    await served.database.execute("UPDATE clock_shift SET ahead = '2 hours'")
    assert figures(await brought(served, owner, changed, key="code")) == {"updated": 1, "present": 2}


@pytest_twisted.ensureDeferred
async def test_attributes_are_updated_where_the_file_has_them(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    await brought(served, owner, b"code,n_answers,priority_0\na,3,0.5\nb,4,\n", key="code")
    assert figures(await brought(served, owner, b"code\na\nb\n", key="code")) == {"present": 2}
    result = await brought(served, owner, b"code,n_answers,priority_0,quorum\na,5,0.25,2\nb,,1,\n", key="code")
    assert figures(result) == {"updated": 2}
    attributes = [(t["n_answers"], t["priority_0"], t["quorum"]) for t in await tasks_of(owner, project)]
    assert attributes == [(5, 0.25, 2), (4, 1.0, 0)]
    assert [difference async for difference in served.house[Scheduling].checking.run()] == []


@shows("page-import-keep-columns")
@pytest_twisted.ensureDeferred
async def test_a_table_completes_tasks_which_keep_their_other_columns(served):
    owner, volunteer = await served.person("owner"), await served.person("volunteer")
    project = await served.project(owner)
    first = b"filename,picture,place\ntrip/1.jpg,/uploads/1,north\ntrip/2.jpg,/uploads/2,\ntrip/3.jpg,/uploads/3,west\n"
    await brought(served, owner, first)
    await owner.post("/project/birds/publish", json={})
    task = (await volunteer.get(f"/api/project/{project['id']}/newtask")).json()
    assert task["info"]["picture"] == "/uploads/1"
    table = b"filename,place,camera\ntrip/1.jpg,north,A\ntrip/2.jpg,south,B\ntrip/3.jpg,west,\ntrip/4.jpg,east,C\n"
    keyed = {"key": "filename", "keep_columns": "y"}
    upload = await looked_at(owner, table, **keyed)
    expected = {"added": 1, "updated": 2, "present": 1, "kept": 1}
    assert figures(upload["preview"]) == expected and upload["keep_columns"]
    assert figures(await brought(served, owner, table, **keyed)) == expected
    infos = {task["info"]["filename"][5]: task["info"] for task in await tasks_of(owner, project)}
    assert infos["1"] == {"filename": "trip/1.jpg", "picture": "/uploads/1", "place": "north"}, "somebody is at it"
    assert infos["2"] == {"filename": "trip/2.jpg", "picture": "/uploads/2", "place": "south", "camera": "B"}
    assert infos["4"] == {"filename": "trip/4.jpg", "place": "east", "camera": "C"}
    assert figures(await brought(served, owner, table, **keyed)) == {"present": 4, "kept": 1}
    # Without it a task becomes what its row has; and a box that is not ticked in the form of the page says so.
    seen = await looked_at(owner, table, **keyed)
    await owner.post(f"{AT}/{seen['id']}", json={"form": "y", "header": "y", "key": "filename", "check": "y"})
    assert not (await owner.page(f"{AT}/{seen['id']}")).json()["import"]["keep_columns"]
    assert figures(await brought(served, owner, table, key="filename")) == {"updated": 2, "present": 2, "kept": 1}
    infos = {task["info"]["filename"][5]: task["info"] for task in await tasks_of(owner, project)}
    assert infos["2"] == {"filename": "trip/2.jpg", "place": "south", "camera": "B"}


@pytest_twisted.ensureDeferred
async def test_two_imports_at_once_add_each_key_once(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    served.server._worker._size = 0
    files = [b"code,by\n" + b"".join(b"%d,%d\n" % (n, by) for n in range(60)) for by in (1, 2)]
    begun = await gatherResults([ensureDeferred(bring(owner, file, key="code")) for file in files])
    assert [each["status"] for each in begun] == ["success"] * 2
    served.server._worker._size = 2
    results = [item["result"] for item in await worked(served)]
    assert sum(result["added"] for result in results) == 60
    assert sorted((figures(r).get("added", 0), figures(r).get("updated", 0)) for r in results) == [(0, 60), (60, 0)]
    rows = await served.database.fetch("SELECT count(*) AS n, count(DISTINCT info->>'code') AS codes FROM task")
    assert (rows[0]["n"], rows[0]["codes"]) == (60, 60)
    assert project


@pytest_twisted.ensureDeferred
async def test_keys_follow_what_is_changed_and_deleted_elsewhere(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    await brought(served, owner, FIRST, key="code")
    a, b, _c = await tasks_of(owner, project)
    await owner.put(f"/api/task/{a['id']}", json={"info": {"code": "z", "place": "north"}})
    await owner.delete(f"/api/task/{b['id']}")
    await owner.post("/api/task", json={"project_id": project["id"], "info": {"code": "new", "place": "here"}})
    result = await brought(served, owner, b"code,place\nz,up\nb,south\nnew,there\n", key="code")
    assert figures(result) == {"added": 1, "updated": 2}
    rows = await served.database.fetch(
        "SELECT count(*) AS n FROM task_key k JOIN task t ON t.id = k.task_id WHERE t.info->>k.name = k.key"
    )
    assert rows[0]["n"] == 4 == (await served.database.fetch("SELECT count(*) AS n FROM task_key"))[0]["n"]
