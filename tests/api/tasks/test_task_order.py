"""Open tasks in the order of how useful an answer is, by predictions or by a column."""

from __future__ import annotations

import statistics
from typing import Any

import pytest_twisted
from support.checks.shows import shows
from support.servers.queue_runner import worked

ANIMALS = [{"value": one, "text": one.title()} for one in ("fox", "owl", "cat")]
QUESTIONS = {
    "version": 1,
    "steps": [
        {
            "name": "look",
            "questions": [{"name": "species", "type": "single_choice", "text": "Which animal?", "choices": ANIMALS}],
        }
    ],
}


async def asking(served: Any, infos: list[Any]) -> tuple[Any, dict[str, Any], list[int]]:
    """An owner, a project with these tasks, and their ids."""
    owner = await served.person("owner")
    project = await served.project(owner, tasks=0)
    sent = [{"project_id": project["id"], "info": info, "n_answers": 1} for info in infos]
    made = (await owner.post("/api/task", json=sent)).json()
    info = {"questions": QUESTIONS, "task_presenter": None}
    assert (await owner.put(f"/api/project/{project['id']}", json={"info": info})).status == 200
    assert (await owner.post("/project/birds/publish", json={})).status == 200
    return owner, project, [task["id"] for task in made]


def said(
    project: dict[str, Any], task: int, value: str, probability: float | None = None, **more: Any
) -> dict[str, Any]:
    of = {"project_id": project["id"], "task_id": task, "model": "yolo", "question": "species"}
    return {**of, "value": value, "probability": probability, **more}


async def handed_out(client: Any, project: dict[str, Any], maximum: int) -> list[int]:
    """The next tasks in their order, each answered."""
    ids = []
    for _ in range(maximum):
        task = (await client.get(f"/api/project/{project['id']}/newtask")).json()
        ids.append(task["id"])
        run = {"project_id": project["id"], "task_id": task["id"], "info": {"species": "fox"}}
        assert (await client.post("/api/taskrun", json=run)).status == 200
    return ids


@shows("change-order")
@pytest_twisted.ensureDeferred
async def test_what_the_newest_version_of_a_model_is_least_sure_of_comes_first(served: Any) -> None:
    owner, project, tasks = await asking(served, [{"n": n} for n in range(5)])
    sure = [0.9, 0.5, 0.99, 0.7, 0.6]
    old = [said(project, task, "owl", 1 - p, version="1") for task, p in zip(tasks, sure, strict=True)]
    new = [said(project, task, "fox", p, version="2") for task, p in zip(tasks, sure, strict=True)]
    assert (await owner.post("/api/prediction", json=old)).status == 200
    assert (await owner.post("/api/prediction", json=new)).status == 200
    body = {"uncertain": {"question": "species", "model": "yolo"}, "share": 0}
    at = f"/api/project/{project['id']}/order"
    trial = (await owner.post(f"{at}?dry_run=1", json=body)).json()
    assert trial["tasks"] == 5 and trial["dry_run"] is True
    assert (await owner.post(at, json=body)).json()["queue_item"] is None
    assert await handed_out(owner, project, 2) == [tasks[1], tasks[4]]
    again = (await owner.post(at, json=body)).json()  # of three open ones, evenly from 0 to 1 again
    listed = (await owner.get(f"/api/task?project_id={project['id']}&orderby=id")).json()
    assert again["tasks"] == 2 and [task["priority_0"] for task in listed] == [0.5, 1, 0, 1, 0.75]
    assert await handed_out(owner, project, 3) == [tasks[3], tasks[0], tasks[2]]


@shows("change-order")
@pytest_twisted.ensureDeferred
async def test_where_models_disagree_and_by_a_column(served: Any) -> None:
    owner, project, tasks = await asking(served, [{"score": score} for score in (3, 7.5, "x", -2)])
    other = await served.person("other")
    for model, values in (("a", "fox fox owl cat"), ("b", "fox owl owl fox"), ("c", "fox owl cat owl")):
        rows = [said(project, task, value, model=model) for task, value in zip(tasks, values.split(), strict=True)]
        assert (await owner.post("/api/prediction", json=rows)).status == 200
    at = f"/api/project/{project['id']}/order"
    assert (await owner.post(at, json={"disagreement": {"question": "species"}, "share": 0})).status == 200
    assert await handed_out(other, project, 1) == [tasks[3]]
    assert (await owner.post(at, json={"column": "score", "share": 0})).status == 200
    listed = (await owner.get(f"/api/task?project_id={project['id']}&orderby=id")).json()
    assert [listed[0]["priority_0"], listed[1]["priority_0"]] == [0, 1] and 0 < listed[2]["priority_0"] < 1
    for body, words, code in (
        ({"uncertain": {"question": "species", "model": "d"}}, "species", "nothing_to_order"),
        ({"column": "depth"}, "depth", "nothing_to_order"),
        ({"uncertain": {"question": "species"}}, "`uncertain.model`", "missing_attribute"),
        ({"disagreement": {"question": ""}}, "`disagreement.question`", "invalid_value"),
        ({"disagreement": {"question": "species", "model": "a"}}, "disagreement.model", "unknown_attribute"),
        ({"newest": {"question": "species"}}, "newest", "unknown_attribute"),
        ({"share": 0}, "uncertain, disagreement, diverse, column", "missing_attribute"),
        ({"column": "score", "disagreement": {"question": "species"}}, "only one", "invalid_value"),
        ({"column": "score", "share": 1.1}, "share", "invalid_value"),
        ({"column": "score", "seed": -1}, "seed", "invalid_value"),
    ):
        refused = await owner.post(at, json=body)
        assert refused.status == 415 and words in refused.json()["exception_msg"], body
        assert refused.json()["error_code"] == code, body
    assert (await other.post(at, json={"column": "score"})).status == 403
    assert (await served.client().post(at, json={"column": "score"})).status == 401


@shows("change-order", "change-background")
@pytest_twisted.ensureDeferred
async def test_a_share_is_left_to_chance_and_rare_values_come_as_often_as_others(served: Any) -> None:
    owner, project, tasks = await asking(served, [{"n": n} for n in range(1500)])
    values = ["fox" if n % 10 else "owl" for n in range(1500)]
    rows = [said(project, task, value, n / 1500) for n, (task, value) in enumerate(zip(tasks, values, strict=True))]
    assert (await owner.post("/api/prediction", json=rows)).status == 200
    at = f"/api/project/{project['id']}/order"

    async def first(count: int) -> list[int]:
        listed = (
            await owner.get(f"/api/task?project_id={project['id']}&orderby=priority_0&desc=true&limit={count}")
        ).json()
        return [tasks.index(task["id"]) for task in listed]

    of_model = {"question": "species", "model": "yolo"}
    done = (await owner.post(at, json={"uncertain": of_model, "share": 0.2})).json()
    assert done["tasks"] == 1500 and done["queue_item"] is not None
    await worked(served)
    chosen = await first(100)
    assert 10 <= sum(nth > 150 for nth in chosen) <= 32  # some 20 of 100 from anywhere
    assert statistics.mean(nth for nth in chosen if nth <= 150) < 60
    await owner.post(at, json={"diverse": of_model, "share": 0, "seed": 5})
    await worked(served)
    owls = sum(values[nth] == "owl" for nth in await first(100))
    assert 35 <= owls <= 65
    await owner.post(at, json={"diverse": of_model, "share": 0, "seed": 6})
    await worked(served)
    assert 35 <= sum(values[nth] == "owl" for nth in await first(100)) <= 65
