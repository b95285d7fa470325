"""Predictions: what models say to the questions of tasks, sent by owners and their programs, seen by owners alone."""

from __future__ import annotations

from typing import Any

import pytest_twisted
from support.browsers import signed_in
from support.checks.shows import shows
from twisted.internet.defer import DeferredList, ensureDeferred

ANIMALS = [{"value": one, "text": one.title()} for one in ("fox", "owl")]
SPECIES = {"name": "species", "type": "single_choice", "text": "Which animal?", "choices": ANIMALS}
SUGGESTS = {**SPECIES, "suggest": {"model": "yolo", "hidden_share": 0}}


async def asking(served: Any, question: Any = SPECIES, **more: Any) -> tuple[Any, Any, Any]:
    """An owner, the project, and what says a prediction for one of its tasks."""
    owner = await served.person("owner")
    project = await served.project(owner, tasks=2, published=True)
    questions = {"version": 1, "steps": [{"name": "look", "questions": [question]}]}
    info = {"questions": questions, "task_presenter": None}
    assert (await owner.put(f"/api/project/{project['id']}", json={"info": info})).status == 200

    def row_of(nth: int = 0, value: Any = "fox", **others: Any) -> dict[str, Any]:
        of = {"project_id": project["id"], "task_id": project["tasks"][nth], "model": "yolo", "question": "species"}
        return {**of, "value": value, **others}

    return owner, project, row_of


async def token_of(name: str, scope: str, served: Any) -> Any:
    browser = await signed_in(served, name)
    made = await browser.send_form(f"/account/{name}/tokens", {"name": scope, "scope": scope})
    return served.client(Authorization=made.json()["token"])


@shows("prediction-fields", "prediction-store")
@pytest_twisted.ensureDeferred
async def test_a_prediction_that_is_sent_again_takes_the_place_of_the_one_before(served: Any) -> None:
    owner, project, row_of = await asking(served)
    [first] = (await owner.post("/api/prediction", json=[row_of(probability=0.8)])).json()
    assert first == {
        **row_of(probability=0.8),
        "id": first["id"],
        "version": "",
        **{name: first[name] for name in ("created", "link", "links")},
    }
    again = await owner.post("/api/prediction", json=row_of(probability=0.8))
    assert again.status == 200 and again.json() == first
    changed = (await owner.post("/api/prediction", json=row_of(value="owl", probability=0.6))).json()
    assert changed["id"] == first["id"] and changed["value"] == "owl" and changed["created"] > first["created"]
    rows = [row_of(version="2"), row_of(1, "fox", version="2"), row_of(1, "owl", version="2")]
    stored = (await owner.post("/api/prediction", json=rows)).json()
    assert [row["value"] for row in stored] == ["fox", "owl", "owl"] and stored[1]["id"] == stored[2]["id"]
    listed = (await owner.get(f"/api/prediction?project_id={project['id']}&version=2")).json()
    assert sorted(row["id"] for row in listed) == sorted({row["id"] for row in stored})
    assert (await owner.get(f"/api/project/{project['id']}")).json()["n_task_runs"] == 0
    assert (await owner.delete(f"/api/prediction/{first['id']}")).status == 204
    assert (await owner.delete(f"/api/task/{project['tasks'][1]}")).status == 204
    left = (await owner.get(f"/api/prediction?project_id={project['id']}")).json()
    assert [row["task_id"] for row in left] == [project["tasks"][0]]


@shows("prediction-store")
@pytest_twisted.ensureDeferred
async def test_what_fits_no_question_and_no_task_is_refused_whole(served: Any) -> None:
    owner, project, row_of = await asking(served)
    other = await served.project(owner, "other", tasks=1)
    for bad, status in (
        (row_of(value="cat"), 415),
        (row_of(question="colour"), 415),
        (row_of(probability=1.5), 415),
        (row_of(task_id=other["tasks"][0]), 404),
        (row_of(model=""), 415),
    ):
        refused = await owner.post("/api/prediction", json=[row_of(1), bad])
        assert refused.status == status, refused.text
        assert refused.json()["item"] == 1
    assert (await owner.get(f"/api/prediction?project_id={project['id']}")).json() == []
    free = {**row_of(), "project_id": other["id"], "task_id": other["tasks"][0], "question": "any", "value": {"a": 1}}
    assert (await owner.post("/api/prediction", json=free)).status == 200, "without a list of questions"


@shows("prediction-store", "token-scopes")
@pytest_twisted.ensureDeferred
async def test_owners_and_tokens_of_their_programs_send_and_see_them_and_nobody_else(served: Any) -> None:
    _owner, project, row_of = await asking(served)
    program = await token_of("owner", "predict", served)
    made = await program.post("/api/prediction", json=row_of())
    assert made.status == 200, made.text
    assert (await program.get(f"/api/prediction/{made.json()['id']}")).status == 200
    refused = await program.put(f"/api/project/{project['id']}", json={"description": "x"})
    assert refused.status == 403 and refused.json()["error_code"] == "token_scope"
    reader = await token_of("owner", "read", served)
    assert (await reader.post("/api/prediction", json=row_of())).json()["error_code"] == "token_scope"
    for who in (served.client(), await served.person("stranger")):
        assert (await who.post("/api/prediction", json=row_of())).status in (401, 403)
        assert (await who.get(f"/api/prediction/{made.json()['id']}")).status in (401, 403)
        assert (await who.get("/api/prediction?all=1")).json() == []
    program = await token_of("stranger", "predict", served)
    assert (await program.post("/api/prediction", json=row_of())).status == 403


@shows("prediction-store")
@pytest_twisted.ensureDeferred
async def test_the_same_sent_twice_at_once_is_stored_once(served: Any) -> None:
    owner, project, row_of = await asking(served)
    asked = [owner.post("/api/prediction", json=[row_of(), row_of(1)]) for _ in range(4)]
    answers = [answer for _ok, answer in await DeferredList([ensureDeferred(one) for one in asked])]
    assert {answer.status for answer in answers} == {200}
    assert len({tuple(row["id"] for row in answer.json()) for answer in answers}) == 1
    assert len((await owner.get(f"/api/prediction?project_id={project['id']}")).json()) == 2


@shows("prediction-suggest")
@pytest_twisted.ensureDeferred
async def test_a_task_is_handed_out_with_what_the_newest_version_says(served: Any) -> None:
    owner, project, row_of = await asking(served, SUGGESTS)
    rows = [row_of(version="1", value="fox"), row_of(version="2", value="owl"), row_of(model="other", value="fox")]
    assert (await owner.post("/api/prediction", json=rows)).status == 200
    volunteer = await served.person("volunteer")
    tasks = (await volunteer.get(f"/api/{project['id']}/newtask?limit=2")).json()
    assert [task["info"].get("predictions") for task in tasks] == [{"species": "owl"}, None]
    assert "predictions" not in (await volunteer.get(f"/api/task/{tasks[0]['id']}")).json()["info"]
    for task in tasks:
        for who in (volunteer, owner):
            await who.post(f"/api/task/{task['id']}/lease", json={})
            run = {
                "project_id": project["id"],
                "task_id": task["id"],
                "info": {"species": "fox", "questions_version": 1},
            }
            assert (await who.post("/api/taskrun", json=run)).status == 200
    at = f"/api/project/{project['id']}/export?type=result&format=json&info=columns"
    rows = (await owner.get(at)).json()
    assert [[one["version"] for one in row["predictions"] or []] for row in rows] == [["1", "2", ""], []]
    assert all("predictions" not in row for row in (await volunteer.get(at)).json())
    export = await owner.get("/project/birds/tasks/export?type=prediction&format=json")
    assert sorted(row["version"] for row in export.json()) == ["", "1", "2"]
    workbook = await owner.get("/project/birds/tasks/export?type=prediction&format=xlsx")
    assert workbook.status == 200 and workbook.body.startswith(b"PK")
    assert (await volunteer.get("/project/birds/tasks/export?type=prediction&format=json")).status == 403
