"""Files that crowdd and PyBossa have written come back as what they were."""

from __future__ import annotations

import contextlib
import csv
import io
import struct
import zipfile
from datetime import UTC, datetime
from typing import Any

import orjson
import psycopg2
import pytest
import pytest_twisted
from support.checks.invariants import invariants
from support.checks.proofs import examples
from support.checks.shows import shows
from support.importing import AT, bring, brought, figures, looked_at, tasks_of
from support.servers.queue_runner import worked

from crowdd.features.imports.files import detect
from crowdd.features.imports.reader import Plan, RowReader
from crowdd.kinds.answers import MarkLimit
from crowdd.sched.feature import Scheduling

FISH = "/project/fish/tasks/import"
INFOS: list[Any] = [
    {"url": "x1", "n": 1, "deep": {"a": [1, None]}},
    {"url": "=cmd()", "ö": "ü"},
    {"url": "x1", "n": 1, "deep": {"a": [1, None]}},
]


async def answered(served: Any, owner: Any, people: int = 3, n_answers: int = 2) -> dict[str, Any]:
    """A published project with tasks that some people have answered, each all of them."""
    project = await served.project(owner)
    rows = [
        {"project_id": project["id"], "info": info, "n_answers": n_answers, "priority_0": 0.5, "calibration": 7}
        for info in INFOS
    ]
    project["tasks"] = [task["id"] for task in (await owner.post("/api/task", json=rows)).json()]
    await owner.post("/project/birds/publish", json={})
    for number in range(people):
        volunteer = await served.person(f"volunteer{number}")
        for _ in INFOS:
            task = (await volunteer.get(f"/api/project/{project['id']}/newtask")).json()
            if task:
                run = {"project_id": project["id"], "task_id": task["id"], "info": {"answer": number}}
                assert (await volunteer.post("/api/taskrun", json=run)).status == 200
    return project


async def export(owner: Any, type_: str, format_: str, **more: str) -> bytes:
    query = "".join(f"&{name}={value}" for name, value in more.items())
    return (await owner.get(f"/project/birds/tasks/export?type={type_}&format={format_}{query}")).body


async def agrees(served: Any) -> None:
    """Every counter is what a recount says, and no rule of the ledger is broken."""
    assert [difference async for difference in served.house[Scheduling].checking.run()] == []
    with contextlib.closing(
        psycopg2.connect(served.house.base.settings.db.dsn, options="-c search_path=public,code")
    ) as connection:
        assert invariants(connection) == []


@examples("csv")
@pytest.mark.parametrize("format_", ["json", "csv", "ndjson"])
@pytest_twisted.ensureDeferred
async def test_a_task_export_comes_back_as_tasks(served, format_):
    owner = await served.person("owner")
    await answered(served, owner, people=1)
    fish = await served.project(owner, "fish")
    content = await export(owner, "task", "csv" if format_ == "csv" else "json")
    if format_ == "ndjson":
        content = b"\n".join(orjson.dumps(row) for row in orjson.loads(content))
    upload = await looked_at(owner, content, f"t.{format_}", FISH)
    assert upload["kind"] == "tasks" and figures(upload["preview"]) == {"added": 3}
    assert "id" in upload["left_behind"] and "created" in upload["left_behind"]
    page = (await owner.get(f"{FISH}/{upload['id']}", headers={"Accept": "text/html"})).text
    assert "This is a task export." in page and "Add 3 tasks" in page
    await owner.post(f"{FISH}/{upload['id']}", json={})
    assert figures((await worked(served))[-1]["result"]) == {"added": 3}
    tasks = await tasks_of(owner, fish)
    assert [task["info"] for task in tasks] == INFOS
    assert {(t["n_answers"], t["priority_0"], t["calibration"], t["state"]) for t in tasks} == {(2, 0.5, 7, "ongoing")}
    assert figures(await brought(served, owner, content, at=FISH)) == {"present": 3}
    assert figures(await brought(served, owner, content)) == {"present": 3}, "they are the project's own"
    await agrees(served)


@pytest_twisted.ensureDeferred
async def test_answers_come_back_counted_up_to_what_a_task_needs_and_once(served):
    owner = await served.person("owner")
    project = await answered(served, owner, people=2)
    late = await served.person("late")
    await served.database.execute("UPDATE task_ledger SET n_answers = 3, done = false")
    await served.database.execute("DELETE FROM result")
    await served.database.execute("DELETE FROM stat_delta")
    task_id = (await late.get(f"/api/project/{project['id']}/newtask")).json()["id"]
    await late.post("/api/taskrun", json={"project_id": project["id"], "task_id": task_id, "info": {"answer": 9}})
    runs = orjson.loads(await export(owner, "task_run", "json"))
    assert len(runs) == 7
    tasks = orjson.loads(await export(owner, "task", "json"))
    two = orjson.dumps([{**task, "n_answers": 2} for task in tasks])
    fish = await served.project(owner, "fish")
    refused = await bring(owner, orjson.dumps(runs), at=FISH)
    assert refused["status"] == "warning" and "7 of 7 rows are refused" in refused["flash"]
    await brought(served, owner, two, at=FISH)
    upload = await looked_at(owner, orjson.dumps(runs), "r.json", FISH)
    assert (upload["kind"], figures(upload["preview"])) == ("answers", {"added": 7})
    await owner.post(f"{FISH}/{upload['id']}", json={})
    assert figures((await worked(served))[-1]["result"]) == {"added": 7}
    for again in (runs, runs[3:]):
        assert figures(await brought(served, owner, orjson.dumps(again), at=FISH)) == {"present": len(again)}
    rows = (await owner.get(f"/api/taskrun?project_id={fish['id']}&limit=100")).json()
    assert len({row["volunteer"] for row in rows}) == 3 == len({row["external_uid"] for row in rows})
    assert all(row["user_id"] is None and row["external_uid"].startswith("imported-") for row in rows)
    assert [row["finish_time"] for row in rows] and {row["finish_time"] for row in rows} == {
        run["finish_time"] for run in runs
    }
    counted = await served.database.fetch(
        "SELECT answers, uncounted, done FROM task_ledger WHERE project_id = %(id)s ORDER BY task_id",
        {"id": fish["id"]},
    )
    assert sorted((row["answers"], row["uncounted"], row["done"]) for row in counted) == [
        (2, 0, True),
        (2, 0, True),
        (2, 1, True),
    ]
    events = await served.database.fetch("SELECT kind FROM event WHERE project_id = %(id)s", {"id": fish["id"]})
    assert events == []
    one = next(iter(await served.database.fetch("SELECT id FROM project WHERE short_name = 'fish'")))
    only = [d async for d in served.house[Scheduling].checking.run() if d.project_id == one["id"]]
    assert only == []
    # Trial answers go when the project is published, imported ones stay.
    tester = (await owner.get(f"/api/project/{fish['id']}/newtask")).json()
    assert tester == {}
    extra = (await owner.post("/api/task", json={"project_id": fish["id"], "info": {"more": 1}, "n_answers": 1})).json()
    await owner.get(f"/api/project/{fish['id']}/newtask")
    run = {"project_id": fish["id"], "task_id": extra["id"], "info": "trial"}
    assert (await owner.post("/api/taskrun", json=run)).status == 200
    text = (await owner.get("/project/fish/publish", headers={"Accept": "text/html"})).text
    assert "The trial answer is deleted" in text
    assert (await owner.post("/project/fish/publish", json={})).status == 200
    rows = (await owner.get(f"/api/taskrun?project_id={fish['id']}&limit=100")).json()
    assert len(rows) == 7 and all(row["info"] != "trial" for row in rows)
    results = (await owner.get(f"/api/result?project_id={fish['id']}&limit=100")).json()
    assert sorted(len(result["task_run_ids"]) for result in results) == [2, 2, 2]
    assert [d async for d in served.house[Scheduling].checking.run() if d.project_id == one["id"]] == []


@pytest_twisted.ensureDeferred
async def test_trials_beside_imported_answers_go_and_leave_these(served):
    """A task with one trial and one imported answer of two wanted: after publishing one counts."""
    owner = await served.person("owner")
    await answered(served, owner, people=1)
    runs, tasks = await export(owner, "task_run", "json"), await export(owner, "task", "json")
    fish = await served.project(owner, "fish")
    await brought(served, owner, tasks, at=FISH)
    task = (await owner.get(f"/api/project/{fish['id']}/newtask")).json()
    await owner.post("/api/taskrun", json={"project_id": fish["id"], "task_id": task["id"], "info": "trial"})
    await brought(served, owner, runs, at=FISH)
    await agrees(served)
    assert (await owner.get(f"/api/task/{task['id']}")).json()["state"] == "completed"
    assert (await owner.post("/project/fish/publish", json={})).status == 200
    assert (await owner.get(f"/api/task/{task['id']}")).json()["state"] == "ongoing"
    assert (await owner.get(f"/api/project/{fish['id']}")).json()["n_task_runs"] == 3
    await agrees(served)


@pytest_twisted.ensureDeferred
async def test_answers_as_a_table_and_as_pybossa_has_them(served):
    owner = await served.person("owner")
    await answered(served, owner, people=2)
    table = await export(owner, "task_run", "csv")
    await served.project(owner, "fish")
    await brought(served, owner, await export(owner, "task", "csv"), at=FISH)
    assert figures(await brought(served, owner, table, "r.csv", at=FISH)) == {"added": 6}
    await agrees(served)
    pybossa_tasks = [
        {"id": n, "project_id": 77, "created": "2015-03-01T10:00:00.1", "state": "completed", "n_answers": 2, "quorum": 0,
         "calibration": 0, "priority_0": 0.0, "info": {"n": n}, "fav_user_ids": None}
        for n in (1, 2)
    ]  # fmt: skip
    run = {"project_id": 77, "created": "2015-03-01T10:00:00.1", "finish_time": "2015-03-01T10:00:09.5", "timeout": None,
           "calibration": None, "external_uid": None, "media_url": None, "info": "yes"}  # fmt: skip
    pybossa_runs = [
        run | {"id": 1, "task_id": 1, "user_id": 5, "user_ip": None},
        run | {"id": 2, "task_id": 2, "user_id": 5, "user_ip": None},
        run | {"id": 3, "task_id": 1, "user_id": None, "user_ip": "10.0.0.1"},
        run | {"id": 4, "task_id": 1, "user_id": None, "user_ip": "10.0.0.1"},  # the same address once more
        run | {"id": 5, "task_id": 3, "user_id": 6, "user_ip": None},  # no such task
        run | {"id": 6, "task_id": 2, "user_id": 6, "finish_time": "2999-01-01T00:00:00"},
        run | {"id": 7, "task_id": 2, "user_id": 6, "finish_time": "yesterday"},
    ]
    cats = await served.project(owner, "cats")
    at = "/project/cats/tasks/import"
    assert figures(await brought(served, owner, orjson.dumps(pybossa_tasks), at=at)) == {"added": 2}
    result = await brought(served, owner, orjson.dumps(pybossa_runs), at=at, on_error="skip")
    assert figures(result) == {"added": 3, "refused": 4}
    errors = (await owner.get(f"{at}/{result['import']}/errors")).body.decode("utf-8-sig")
    assert [row["line"] for row in csv.DictReader(io.StringIO(errors))] == ["4", "5", "6", "7"]
    rows = (await owner.get(f"/api/taskrun?project_id={cats['id']}")).json()
    assert [row["created"] for row in rows] == ["2015-03-01T10:00:00.100000"] * 3
    assert len({row["volunteer"] for row in rows}) == 2 and "10.0.0.1" not in str(rows)
    await agrees(served)


FILLED: list[Any] = [{"label": "=owl()", "ö": [1, None], "sure": 0.75}, "heron, perhaps", None]


async def filled(served: Any, owner: Any) -> dict[str, Any]:
    """The same with results that the owner has filled in."""
    project = await answered(served, owner, people=2)
    rows = (await owner.get(f"/api/result?project_id={project['id']}")).json()
    body = [{"id": row["id"], "info": info} for row, info in zip(rows, FILLED, strict=True)]
    assert (await owner.put("/api/result", json=body)).status == 200
    return project


async def results_of(owner: Any, project: dict[str, Any]) -> list[Any]:
    """The info of the results of a project, by their tasks."""
    rows = (await owner.get(f"/api/result?project_id={project['id']}&limit=100")).json()
    return [row["info"] for row in sorted(rows, key=lambda row: row["task_id"])]


@examples("zip")
@shows("page-import-export")
@pytest.mark.parametrize("format_", ["json", "csv", "zip"])
@pytest_twisted.ensureDeferred
async def test_tasks_answers_and_results_come_back_in_a_new_project(served, format_):
    owner = await served.person("owner")
    birds = await filled(served, owner)
    inner = "json" if format_ == "zip" else format_
    files = {kind: await export(owner, kind, inner) for kind in ("task", "task_run", "result")}
    if format_ == "zip":
        files = {kind: packed((f"birds_{kind}.json", content)) for kind, content in files.items()}
    fish = await served.project(owner, "fish")
    await brought(served, owner, files["task"], f"t.{format_}", at=FISH)
    early = await bring(owner, files["result"], f"r.{format_}", at=FISH)
    assert early["status"] == "warning" and "3 of 3 rows are refused" in early["flash"]
    await brought(served, owner, files["task_run"], f"a.{format_}", at=FISH)
    upload = await looked_at(owner, files["result"], f"r.{format_}", FISH)
    assert (upload["kind"], upload["exportlike"]) == ("results", True)
    assert figures(upload["preview"]) == {"added": 2, "present": 1}, "one has nothing to say"
    assert "task_run_ids" in upload["left_behind"] and "info" not in upload["left_behind"]
    page = (await owner.get(f"{FISH}/{upload['id']}", headers={"Accept": "text/html"})).text
    assert "This is an export of results." in page and "Fill in 2 results" in page
    await owner.post(f"{FISH}/{upload['id']}", json={})
    assert figures((await worked(served))[-1]["result"]) == {"added": 2, "present": 1}
    assert await results_of(owner, fish) == FILLED == await results_of(owner, birds)
    assert (await owner.get(f"/api/project/{fish['id']}")).json()["n_results"] == 2
    for at in (FISH, AT):
        assert figures(await brought(served, owner, files["result"], f"r.{format_}", at=at)) == {"present": 3}, at
    await agrees(served)


@shows("page-import-export")
@pytest_twisted.ensureDeferred
async def test_results_without_a_complete_task_are_refused_one_by_one(served):
    owner = await served.person("owner")
    birds = await filled(served, owner)
    rows = orjson.loads(await export(owner, "result", "json"))
    runs = orjson.loads(await export(owner, "task_run", "json"))
    open_, missing = rows[1]["task_id"], rows[2]["task_id"]
    tasks = [row for row in orjson.loads(await export(owner, "task", "json")) if row["id"] != missing]
    fish = await served.project(owner, "fish")
    await brought(served, owner, orjson.dumps(tasks), at=FISH)
    answers = [run for run in runs if run["task_id"] not in (open_, missing)]
    await brought(served, owner, orjson.dumps(answers), at=FISH)
    changed = {**rows[0], "id": rows[0]["id"] + 100, "info": "otherwise"}
    content = orjson.dumps([
        *rows, rows[0],                                                # 4: once more
        changed,                                                       # 5: of the same task, and says something else
        {**changed, "last_version": False, "task_id": open_},          # 6: was replaced
        {**rows[0], "task_id": "first"},
        {**rows[0], "info": "x" * 256_001, "task_id": 7},
    ])  # fmt: skip
    result = await brought(served, owner, content, "r.json", at=FISH, on_error="skip")
    assert figures(result) == {"added": 1, "present": 1, "twice": 1, "refused": 6}
    errors = (await owner.get(f"{FISH}/{result['import']}/errors")).body.decode("utf-8-sig")
    refusals = [(row["line"], row["reason"].partition(".")[0]) for row in csv.DictReader(io.StringIO(errors))]
    assert refusals == [
        ("2", "Its task is not complete"),
        ("3", "Its task has not been imported"),
        ("5", "A row above it is the result of the same task"),
        ("6", "It is an earlier version"),
        ("7", "`task_id` is not an id"),
        ("8", refusals[-1][1]),
    ]
    assert "info" in refusals[-1][1]
    assert await results_of(owner, fish) == FILLED[:1]
    # What stood there is replaced, and said to be.
    upload = await looked_at(owner, orjson.dumps([changed]), "r.json", FISH)
    assert figures(upload["preview"]) == {"updated": 1}
    assert figures(await brought(served, owner, orjson.dumps([changed]), "r.json", at=FISH)) == {"updated": 1}
    assert await results_of(owner, fish) == ["otherwise"]
    assert figures(await brought(served, owner, orjson.dumps([{**rows[0], "info": None}]), at=FISH)) == {"present": 1}
    # All or nothing.
    stopped = await looked_at(owner, content, "r.json", FISH, on_error="stop")
    assert "6 of 8 rows are refused, so nothing is added." in stopped["waits"]
    assert await results_of(owner, fish) == ["otherwise"] and await results_of(owner, birds) == FILLED
    await agrees(served)


def test_after_a_restart_the_second_result_of_a_task_is_still_refused(tmp_path):
    row = {"id": 1, "project_id": 7, "task_id": 3, "task_run_ids": [4], "last_version": True, "info": "one"}
    path = tmp_path / "results.ndjson"
    path.write_bytes(b"".join(orjson.dumps({**row, **more}) + b"\n" for more in ({}, {"id": 2, "info": "two"})))
    dialect = detect(path)
    plan = Plan(
        "results", dialect, {}, None, False, None, lambda project, name: name, datetime.now(UTC), MarkLimit.of({})
    )
    for taken in (0, 1):
        reader = RowReader(path, plan)
        reader.skip(taken)
        chunk = reader.next_chunk()
        reader.close()
        assert [len(chunk.taken), [each["line"] for each in chunk.refused]] == [1 - taken, [2]]


@pytest_twisted.ensureDeferred
async def test_results_as_pybossa_has_them(served):
    owner = await served.person("owner")
    cats = await served.project(owner, "cats")
    at = "/project/cats/tasks/import"
    task = {"project_id": 77, "created": "2015-03-01T10:00:00.1", "state": "completed", "n_answers": 1, "info": {}}
    run = {"project_id": 77, "created": "2015-03-01T10:00:00.1", "finish_time": "2015-03-01T10:00:09.5", "info": "yes"}
    tasks = [{**task, "id": n, "info": {"n": n}} for n in (1, 2, 3)]
    runs = [{**run, "id": n, "task_id": n, "user_id": 5, "user_ip": None} for n in (1, 2, 3)]
    await brought(served, owner, orjson.dumps(tasks), at=at)
    await brought(served, owner, orjson.dumps(runs), at=at)
    table = (
        ",created,id,info,info_label,info_n,last_version,project_id,task_id,task_run_ids\r\n"
        "0,2015-03-01T10:00:09.5,8,,cat,4,True,77,1,[1]\r\n"
        '1,2015-03-01T10:00:09.5,9,"[1, 2]",,,True,77,2,[2]\r\n'
        "2,2015-03-01T10:00:09.5,10,,,,True,77,3,[3]\r\n"
        "3,2015-03-01T10:00:09.5,7,,dog,,False,77,1,[1]\r\n"
    )
    archive = packed(("cats_result.csv", table.encode()), ("cats_result_info_only.csv", b"a\n1\n"))
    result = await brought(served, owner, archive, "77_cats_result_csv.zip", at=at, on_error="skip")
    assert figures(result) == {"added": 2, "present": 1, "refused": 1}
    assert await results_of(owner, cats) == [{"label": "cat", "n": "4"}, [1, 2], None]
    await agrees(served)


@pytest_twisted.ensureDeferred
async def test_results_of_trial_answers_are_not_filled_in(served):
    """They go when the draft is published, with all that they say."""
    owner = await served.person("owner")
    await filled(served, owner)
    files = {kind: await export(owner, kind, "json") for kind in ("task", "task_run", "result")}
    fish = await served.project(owner, "fish")
    await brought(served, owner, files["task"], at=FISH)
    some = orjson.loads(files["task_run"])
    await brought(served, owner, orjson.dumps(some[:1]), at=FISH)
    first = (await owner.get(f"/api/project/{fish['id']}/newtask")).json()
    run = {"project_id": fish["id"], "task_id": first["id"], "info": "trial"}
    assert (await owner.post("/api/taskrun", json=run)).status == 200
    assert len(await results_of(owner, fish)) == 1
    upload = await looked_at(owner, files["result"], "r.json", FISH)
    assert figures(upload["preview"]) == {"refused": 3}


@pytest_twisted.ensureDeferred
async def test_only_the_owner_imports_answers_and_results_and_a_co_owner_does_not(served):
    owner, co = await served.person("owner"), await served.person("colleague")
    await filled(served, owner)
    runs, tasks = await export(owner, "task_run", "json"), await export(owner, "task", "json")
    await served.project(owner, "fish")
    await brought(served, owner, tasks, at=FISH)
    sql = "UPDATE project SET owners_ids = owners_ids || %(id)s::bigint WHERE short_name = 'fish'"
    await served.database.execute(sql, {"id": co.user_id})
    assert figures(await brought(served, co, b"a\n1\n", at=FISH)) == {"added": 1}
    n = (await served.database.fetch("SELECT count(*) AS n FROM task_run"))[0]["n"]
    for content in (runs, await export(owner, "result", "json")):
        for fields in ({}, {"map": "y"}):
            files = {"file": ("r.json", "application/json", io.BytesIO(content))}
            answer = await co.post(f"{FISH}?response_format=json", data={"on_error": "skip", **fields}, files=files)
            if fields:
                answer = await co.post(answer.json()["next"], json={"on_error": "skip"})
            assert answer.status == 403, fields
    assert await worked(served) and (await served.database.fetch("SELECT count(*) AS n FROM task_run"))[0]["n"] == n


@pytest_twisted.ensureDeferred
async def test_lines_of_project_export_come_back(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    line = {"info": {"a": 1}, "n_answers": 4, "priority_0": 1.0, "quorum": 0, "calibration": 3}
    content = b"".join(orjson.dumps({**line, "info": {"a": n}}) + b"\n" for n in (1, 2, 2))
    upload = await looked_at(owner, content, "tasks.ndjson")
    assert upload["kind"] == "tasks"
    assert figures(await brought(served, owner, content)) == {"added": 2, "present": 1, "twice": 1}
    assert [(t["info"], t["n_answers"], t["calibration"]) for t in await tasks_of(owner, project)] == [
        ({"a": 1}, 4, 3), ({"a": 2}, 4, 3),
    ]  # fmt: skip


@pytest_twisted.ensureDeferred
async def test_an_export_may_be_taken_for_a_table(served):
    owner = await served.person("owner")
    await answered(served, owner, people=0)
    await served.project(owner, "fish")
    content = await export(owner, "task", "csv")
    upload = await looked_at(owner, content, at=FISH)
    assert (await owner.post(f"{FISH}/{upload['id']}", json={"kind": "table", "check": True})).json()[
        "status"
    ] == "success"
    upload = (await owner.page(f"{FISH}/{upload['id']}")).json()["import"]
    assert upload["kind"] == "table" and figures(upload["preview"]) == {"added": 3}
    wrong = (await owner.post(AT, json={"rows": "a\n1\n", "key": "b"})).json()
    assert wrong["status"] == "error"


def with_header(archive: bytes, offset: int, value: int) -> bytes:
    """The archive of one member whose two headers have another 16-bit value; ``offset`` in the central one."""
    changed, central = bytearray(archive), archive.index(b"PK\x01\x02")
    struct.pack_into("<H", changed, offset - 2, value)
    struct.pack_into("<H", changed, central + offset, value)
    return bytes(changed)


def packed(*members: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip archive."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return out.getvalue()


@pytest_twisted.ensureDeferred
async def test_the_file_of_an_archive_is_imported(serve):
    served = await serve(CROWDD_HTTP_MAX_IMPORT_BYTES="1000000")
    owner = await served.person("owner")
    await served.project(owner)
    task = {
        "id": 1,
        "project_id": 9,
        "created": "2015-03-01T10:00:00",
        "state": "ongoing",
        "n_answers": 2,
        "info": {"a": 1},
    }
    pybossa = packed(
        ("birds_task.json", orjson.dumps([task])), ("birds_task_info_only.json", b'[{"a": 1}]'), ("readme.txt", b"x")
    )
    upload = await looked_at(owner, pybossa, "9_birds_task_json.zip")
    assert upload["name"] == "9_birds_task_json.zip: birds_task.json"
    assert (upload["kind"], figures(upload["preview"])) == ("tasks", {"added": 1})
    bomb = packed(("rows.csv", b"a\n" * 2_000_000))
    assert len(bomb) < 10_000
    for content, words in (
        (packed(("a.csv", b"a\n1\n"), ("b.csv", b"a\n1\n")), "several files"), (packed(("a.txt", b"x")), "no CSV"),
        (pybossa[:-30], "is an archive"), (pybossa[:60] + b"\0" * 40 + pybossa[100:], "cannot be read"),
        (bomb, "more than 1,000,000 bytes"), (packed(*((f"{n}.txt", b"") for n in range(9000))), "cannot be read"),
        (packed(("[Content_Types].xml", b"<x/>"), ("a.csv", b"a\n1\n")), "workbook"),
        (with_header(packed(("a.csv", b"a\n1\n")), 10, 99), "cannot be read"),  # a method that nobody knows
        (with_header(packed(("a.csv", b"a\n1\n")), 8, 1), "cannot be read"),  # a member with a password
    ):  # fmt: skip
        refused = await bring(owner, content, "t.zip", map="y")
        assert refused["status"] == "error" and words in refused["flash"], (words, refused.get("flash"))
    folder = served.house.base.settings.data.dir / "imports"
    assert len(list(folder.iterdir())) == 1
