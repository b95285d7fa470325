"""Columns of tasks that are hidden from volunteers come out nowhere: every address, every list, filter, order and file."""

from __future__ import annotations

import io
import re
import zipfile
from itertools import product
from typing import Any
from urllib.parse import quote

import pyarrow
import pyarrow.parquet
import pytest
import pytest_twisted
from support.addresses import NAMES, statements
from support.checks.shows import shows

from crowdd.features.tasks.statements import ASK

SECRET, COLUMN = "zz-nest-by-the-oak-zz", "nest_site_zz"
HIDDEN = {"column_roles": {COLUMN: "hidden", "url": "picture"}}
HTML = {"Accept": "text/html"}
# Streams never end; what acts on GET; addresses of files and scripts.
_LEFT = re.compile(
    r"/(events|live)$|/static/|/uploads/|/answer-files/|/account/signout|/admin/users/(add|del)/|/health|/ready"
)
_NAME = re.compile(r"<(?:\w+(?:\([^)]*\))?:)?(\w+)>")


async def built(served: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """A public project with answers, results, favourites and collections; its people."""
    people = {name: await served.person(name) for name in ("owner", "ada", "ben")}
    people["anonymous"] = served.client()
    owner = people["owner"]
    project = await served.project(owner)
    infos = [
        {"url": f"https://birds.example/{n}.jpg", COLUMN: f"{SECRET} {n}", "latitude": 50 + n, "longitude": 8 + n}
        for n in range(6)
    ]
    rows = [{"project_id": project["id"], "info": info, "n_answers": 2} for info in infos]
    project["tasks"] = [task["id"] for task in (await owner.post("/api/task", json=rows)).json()]
    info = (await owner.get(f"/api/project/{project['id']}")).json()["info"]
    changed = await owner.put(f"/api/project/{project['id']}", json={"info": {**info, **HIDDEN}})
    assert changed.status == 200, changed.text
    assert (await owner.post("/project/birds/publish", json={})).status == 200
    for _ in range(3):
        for name in ("ada", "ben"):
            task = (await people[name].get(f"/api/project/{project['id']}/newtask")).json()
            assert COLUMN not in task["info"] and task["info"]["url"], task
            answer = {"project_id": project["id"], "task_id": task["id"], "info": {"answer": "yes"}}
            assert (await people[name].post("/api/taskrun", json=answer)).status == 200
    for task_id in project["tasks"]:
        await people["ada"].post("/api/favorites", json={"task_id": task_id})
    await served.database.execute(
        "INSERT INTO collection (user_id, created, name, description, published) VALUES (%(ada)s, clock(), 'x', 'x', true)",
        {"ada": people["ada"].user_id},
    )
    await served.database.execute(
        "INSERT INTO collection_item (collection_id, project_id, task_id, created, note)"
        " SELECT c.id, t.project_id, t.id, clock(), 'x' FROM collection c, task t"
    )
    return people, project


def silent(answer: Any, where: str) -> None:
    assert answer.status < 500, (where, answer.text[:500])
    for text in (SECRET,) if f"columns={COLUMN}" in where else (SECRET, COLUMN):  # the page repeats its address
        at = answer.text.find(text)
        assert at < 0, f"{where} tells {text}: {answer.text[max(0, at - 300) : at + 100]}"


async def addresses(served: Any, project: dict[str, Any]) -> list[str]:
    """Every address of a GET route, with what stands for each name in it."""
    routes = sorted({route.path for route in served.routes if route.method == "GET" and not _LEFT.search(route.path)})
    known = statements([path for path in routes if set(_NAME.findall(path)) <= NAMES.keys()])
    values = {name: [r["v"] for r in await served.database.fetch(sql) if r["v"]] for name, sql in known.items()}
    values |= {
        "object_id": [str(project["id"]), *map(str, project["tasks"][:2])],
        "short_name": ["birds"],
        "name": ["ada"],
    }
    paths = []
    for path in routes:
        names = _NAME.findall(path)
        for chosen in product(*(values.get(name) or ["1"] for name in names)):
            by_name = dict(zip(names, chosen, strict=True))
            paths.append(_NAME.sub(lambda name, by_name=by_name: quote(by_name[name[1]], safe=""), path))
    return paths


@pytest.mark.proof
@shows("task-hidden-columns")
@pytest_twisted.ensureDeferred
async def test_no_address_tells_a_volunteer_what_is_in_a_hidden_column(served):
    people, project = await built(served)
    paths = await addresses(served, project)
    assert len(paths) > 100 and f"/project/birds/tasks/{project['tasks'][0]}" in paths
    for name in ("ada", "anonymous"):
        browser = await people[name].by_session() if name == "ada" else people[name]
        for path in paths:
            silent(await people[name].get(path), f"{name} {path}")
            if not path.startswith("/api"):
                silent(await browser.get(path, headers=HTML), f"{name} {path} as a page")


def content(answer, form):
    """What a file says, also where it is compressed."""
    assert answer.status == 200, answer.text
    if form == "xlsx":
        archive = zipfile.ZipFile(io.BytesIO(answer.body))
        return "".join(archive.read(name).decode() for name in archive.namelist())
    if form == "parquet":
        return str(pyarrow.parquet.read_table(pyarrow.BufferReader(answer.body)).to_pylist())
    return answer.text


@pytest_twisted.ensureDeferred
async def test_lists_filters_orders_and_files_do_not_tell_it_either_but_tell_owners(served):
    people, project = await built(served)
    owner, ada, at, task = people["owner"], people["ada"], f"project_id={project['id']}", project["tasks"][0]
    same = (
        f"/api/task?{at}", f"/api/task?{at}&all=1&orderby=info", "/api/task?all=1", f"/api/task/{task}", f"/api/taskrun?{at}&related=1&all=1",
        f"/api/result?{at}&related=1&all=1", "/api/favorites", f"/api/project?id={project['id']}&all=1",
        f"/api/{project['id']}/newtask?limit=3", f"/api/{project['id']}/newtask?orderby=info&desc=1",
        "/project/birds/tasks/export?type=task&format=json", "/project/birds/tasks/export?type=task&format=csv",
        *(f"/api/project/{project['id']}/export?type=task&format={name}" for name in ("ndjson", "csv", "dictionary")),
        f"/api/project/{project['id']}/export?type=task&info=columns",
        f"/api/project/{project['id']}/export?type=task&since=",
        "/project/birds/tasks/export?type=task_run&format=csv", f"/project/birds/tasks/{task}", "/project/birds/tasks/browse",
        f"/project/birds/tasks/browse?columns={COLUMN}&columns=url", f"/project/birds/tasks/browse?csv=1&columns={COLUMN}",
        "/project/birds/tasks/browse?orderby=agreement", "/project/birds/results", "/project/birds/newtask", "/account/ada/",
    )  # fmt: skip
    for name in ("ada", "anonymous"):
        for path in same:
            for headers in ({}, HTML):
                silent(await people[name].get(path, headers=headers), f"{name} {path} {headers}")
    at_export = f"/api/project/{project['id']}/export?task=columns"
    for kind, form in product(("task_run", "result", "consensus"), ("ndjson", "csv", "parquet", "xlsx")):
        path = f"{at_export}&type={kind}&format={form}"
        for name in ("ada", "anonymous"):
            assert SECRET not in content(await people[name].get(path), form), path
        if kind == "task_run":
            assert SECRET in content(await owner.get(path), form), path
    # Who may not read it must not find it: neither by a filter nor by words nor by the order.
    for query in (f"info={COLUMN}::{quote(SECRET)} 0".replace(" ", "%20"), f"info={COLUMN}::{SECRET}&fulltextsearch=1"):
        assert (await ada.get(f"/api/task?{at}&all=1&{query}")).json() == [], query
        assert len((await owner.get(f"/api/task?{at}&all=1&{query}")).json()) >= 1, query
    for words, task_count in ((SECRET, 0), ("birds.example", 6)):
        listed = await ada.get(f"/project/birds/tasks/browse?words={words}", headers={"Accept": "application/json"})
        assert len(listed.json()["tasks"]) == task_count
        named = await ada.get(
            f"/project/birds/tasks/export?type=task&format=json&scope=matching&matching=words%3D{words}"
        )
        assert named.text.count('"project_id"') == task_count, named.text[:300]
    for path in (
        f"/api/task/{task}", f"/api/task?{at}", "/project/birds/tasks/export?type=task&format=json",
        "/project/birds/tasks/export?type=task&format=csv", f"/project/birds/tasks/browse?csv=1&columns={COLUMN}",
        f"/project/birds/tasks/{task}",
    ):  # fmt: skip
        assert SECRET in (await owner.get(path)).text, path
    # Also an owner gets, as a volunteer, what volunteers get.
    silent(await owner.get(f"/api/{project['id']}/newtask"), "newtask of the owner")


@pytest_twisted.ensureDeferred
async def test_a_column_that_is_hidden_no_longer_is_shown_again_and_wrong_roles_are_refused(served):
    people, project = await built(served)
    owner, at = people["owner"], f"/api/project/{project['id']}"
    info = (await owner.get(at)).json()["info"]
    assert "column_roles" not in (await people["ada"].get(at)).json()["info"]
    for wrong in ({"a": "secret"}, {"": "text"}, ["a"], {"a": None}, {f"c{n}": "text" for n in range(501)}):
        refused = await owner.put(at, json={"info": {**info, "column_roles": wrong}})
        assert refused.status == 415 and "column_roles" in refused.text, (wrong, refused.text)
    task = f"/api/task/{project['tasks'][0]}"
    silent(await people["ada"].get(task), "before")
    await owner.put(at, json={"info": {**info, "column_roles": {COLUMN: "text"}}})
    assert (await people["ada"].get(task)).json()["info"][COLUMN] == f"{SECRET} 0"
    # An info that is no object has no columns.
    odd = (await owner.post("/api/task", json={"project_id": project["id"], "info": [COLUMN]})).json()
    await owner.put(at, json={"info": {**info, **HIDDEN}})
    assert (await people["ada"].get(f"/api/task/{odd['id']}")).json()["info"] == [COLUMN]


def test_newtask_takes_hidden_columns_away_in_its_one_statement():
    assert ASK.text.count("handed_out") == 1
