"""While a project has gold tasks, no address tells a volunteer what is right, which tasks are gold, or what others answered."""

from __future__ import annotations

from typing import Any

import pytest
import pytest_twisted
from matrix.test_hidden_columns import HTML, addresses
from support.checks.proofs import examples
from support.checks.shows import shows

from crowdd.features.exports.changes import KINDS as FOLLOWED
from crowdd.features.exports.formats import KINDS as EXPORTED

RIGHT, NOTE, OTHERS = "zz-robin-zz", "zz-look-at-the-breast-zz", "zz-wren-zz"


async def built(served: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """A public project with a gold task, which ada and ben have answered, and two finished tasks."""
    people = {name: await served.person(name) for name in ("owner", "ada", "ben", "eve")}
    people["anonymous"] = served.client()
    project = await served.project(people["owner"], tasks=4, published=True)
    gold, *ordinary = project["tasks"]
    for task in project["tasks"][:3]:
        for name in ("ada", "ben"):
            assert (await people[name].post(f"/api/task/{task}/lease", json={})).status == 200
            run = {"project_id": project["id"], "task_id": task, "info": {"answer": "own" if name == "ada" else OTHERS}}
            assert (await people[name].post("/api/taskrun", json=run)).status == 200
    sql = "UPDATE project SET reviewer_ids = ARRAY(SELECT id FROM account WHERE name = 'eve') WHERE id = %(p)s"
    await served.database.execute(sql, {"p": project["id"]})
    body = {"task_id": gold, "answer": RIGHT, "message": NOTE}
    assert (await people["owner"].post(f"/api/project/{project['id']}/gold", json=body)).status == 200
    await people["ada"].post("/api/favorites", json={"task_id": gold})
    await people["ada"].post("/api/favorites", json={"task_id": ordinary[0]})
    return people, project


async def all_addresses(served: Any, project: dict[str, Any]) -> list[str]:
    """Every address that tells something of the project: pages, lists and files."""
    paths = await addresses(served, project)
    assert len(paths) > 100 and f"/api/project/{project['id']}/gold" in paths
    paths += [
        f"/api/taskrun?project_id={project['id']}&all=1&related=1",
        f"/api/result?all=1&project_id={project['id']}",
    ]
    paths += [f"/api/task?project_id={project['id']}&all=1&related=1"]
    at = f"/api/project/{project['id']}/export"
    paths += [f"{at}?type={kind}&format={name}" for kind in EXPORTED for name in ("csv", "json", "dictionary")]
    paths += [f"{at}?rows=task", f"{at}?rows=mark"]
    paths += [f"{at}?type={kind.table}&since={more}" for kind in FOLLOWED for more in ("", f"{kind.table}-p0-0")]
    return paths


@shows("gold-hidden")
@examples("ada")
@pytest.mark.parametrize("name", ["ada", "anonymous"])
@pytest_twisted.ensureDeferred
async def test_no_address_tells_a_volunteer_what_is_right_or_what_others_said(served, name):
    people, project = await built(served)
    browser = await people[name].by_session() if name == "ada" else people[name]
    for path in await all_addresses(served, project):
        asked = [await people[name].get(path)]
        if not path.startswith("/api"):
            asked.append(await browser.get(path, headers=HTML))
        for answer in asked:
            leaks = [text for text in (RIGHT, NOTE, OTHERS) if text in answer.text]
            assert not leaks, (name, path, leaks)


@pytest.mark.proof
@shows("gold-hidden")
@pytest_twisted.ensureDeferred
async def test_no_address_tells_reviewers_more_of_gold_tasks_than_their_answers_do(served):
    people, project = await built(served)
    for path in await all_addresses(served, project):
        for answer in (await people["eve"].get(path), await people["eve"].get(path, headers=HTML)):
            assert not [text for text in (RIGHT, NOTE) if text in answer.text], path


@shows("gold-hidden")
@pytest_twisted.ensureDeferred
async def test_reviewers_see_all_answers_and_owners_what_is_right(served):
    people, project = await built(served)
    owner, reviewer, answers = people["owner"], people["eve"], f"/api/taskrun?project_id={project['id']}&all=1"
    assert OTHERS in (await reviewer.get(answers)).text
    assert {run["calibration"] for run in (await reviewer.get(answers)).json()} == {None}
    tasks = (await reviewer.get(f"/api/task?project_id={project['id']}&all=1")).json()
    assert {task["state"] for task in tasks} == {"ongoing"}
    for path in ("tasks/gold", "tasks/export?type=task_run&format=csv", "volunteers"):
        assert (await reviewer.get(f"/project/{project['short_name']}/{path}")).status == 403
    assert RIGHT in (await owner.get(f"/api/project/{project['id']}/gold")).text
    assert OTHERS in (await owner.get(f"/api/taskrun?project_id={project['id']}")).text
