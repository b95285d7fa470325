"""How probable each choice is: the page of a task says what its result says, and to whom answers are shown."""

from __future__ import annotations

from typing import Any

import pytest
import pytest_twisted
from support.checks.shows import shows

HTML = {"Accept": "text/html"}
LABEL = {"name": "kind", "at": "/answer", "type": "label", "choices": ["fox", "owl"], "unsure": None}
SEVERAL = {"name": "kinds", "at": "/answer", "type": "labels", "choices": ["fox", "owl"]}


async def built(served: Any, field: Any) -> tuple[Any, dict[str, Any], list[Any]]:
    """An owner, a published project of two tasks with this answer field, and two volunteers."""
    owner = await served.person("owner")
    project = await served.project(owner, tasks=2, published=True, n_answers=2)
    info = {"task_presenter": "x"} | ({"answers": [field]} if field else {})
    assert (await owner.put(f"/api/project/{project['id']}", json={"info": info})).status == 200
    return owner, project, [await served.person(name) for name in ("ada", "bob")]


async def answer(client: Any, project: dict[str, Any], value: Any) -> None:
    task = (await client.get(f"/api/project/{project['id']}/newtask")).json()
    body = {"project_id": project["id"], "task_id": task["id"], "info": {"answer": value}}
    assert (await client.post("/api/taskrun", json=body)).status == 200


async def shown(client: Any, project: dict[str, Any]) -> Any:
    page = await client.page(f"/project/birds/tasks/{project['tasks'][0]}")
    assert page.status == 200, page.text
    return page.json()["posterior"]


@shows("page-tasks-posterior")
@pytest_twisted.ensureDeferred
async def test_the_page_of_a_task_shows_how_probable_each_choice_is(served):
    owner, project, (ada, bob) = await built(served, LABEL)
    stranger = served.client()
    assert await shown(owner, project) is None, "nobody has answered"
    await answer(ada, project, "fox")
    chances = {one["value"]: one["probability"] for one in await shown(owner, project)}
    assert chances.keys() == {"fox", "owl", None} and chances["fox"] > 0.5 and sum(chances.values()) == pytest.approx(1)
    await answer(bob, project, "fox")
    (result,) = (await owner.get(f"/api/result?project_id={project['id']}")).json()
    assert await shown(owner, project) == await shown(stranger, project) == result["posterior"]
    text = (await stranger.get(f"/project/birds/tasks/{project['tasks'][0]}", headers=HTML)).text
    assert (
        "Weighed by what is known" in text
        and f"{round(100 * result['posterior'][0]['probability'])}\u00a0%</td>" in text
    )
    assert (await owner.put(f"/api/project/{project['id']}", json={"zip_download": False})).status == 200
    assert (await ada.page(f"/project/birds/tasks/{project['tasks'][0]}")).status == 403


@shows("page-tasks-posterior")
@pytest_twisted.ensureDeferred
async def test_of_several_choices_the_result_says_it_and_without_a_label_nothing(served):
    owner, project, people = await built(served, SEVERAL)
    for client in people:
        await answer(client, project, ["owl"])
    (result,) = (await owner.get(f"/api/result?project_id={project['id']}")).json()
    assert await shown(owner, project) == result["posterior"]
    assert [one["value"] for one in result["posterior"]] == ["fox", "owl"]
    assert result["posterior"][0]["probability"] < 0.5 < result["posterior"][1]["probability"]
    change = {"info": {"task_presenter": "x", "answer_key": "answer"}}
    assert (await owner.put(f"/api/project/{project['id']}", json=change)).status == 200
    await served.database.fetch("SELECT compare_results(%(p)s, 10)", {"p": project["id"]})
    assert await shown(owner, project) is None
