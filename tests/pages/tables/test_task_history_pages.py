"""The page that says when a task changed and what it was then."""

from __future__ import annotations

import pytest_twisted
from support.checks.histories import after, answer
from support.checks.shows import shows


@shows("page-task-history")
@pytest_twisted.ensureDeferred
async def test_owners_see_when_a_task_changed_and_what_it_was_then(served):
    owner, ada = await served.person("owner"), await served.person("ada")
    project = await served.project(owner, tasks=1, published=True, n_answers=1)
    (task,) = project["tasks"]
    at = f"/project/birds/tasks/{task}/history"
    await after(served)
    await answer(ada, project, task, "fox")
    await after(served)
    assert (await ada.post(f"/api/task/{task}/correct", json={"info": "owl"})).status == 200
    await after(served)
    assert (await owner.put(f"/api/task/{task}", json={"info": {"n": "heron"}, "n_answers": 2})).status == 200
    await after(served)
    page = (await owner.page(at)).json()
    assert [time["what"] for time in page["times"]] == [
        ["changed", "reopened", "settings"], ["corrected", "result", "result_changed"], ["answered", "result"], ["created"]
    ]  # fmt: skip
    assert page["at"] is page["task"] is page["task_runs"] is page["result"] is None
    seen = []
    for time in page["times"]:
        then = (await owner.page(f"{at}?at={time['at']}")).json()
        consensus = then["result"] and then["result"]["consensus"]["answer"]["value"]
        seen.append(
            (then["task"]["info"]["n"], then["task"]["state"], [run["info"] for run in then["task_runs"]], consensus)
        )
    assert seen == [
        ("heron", "ongoing", ["owl"], "owl"), (0, "completed", ["owl"], "owl"), (0, "completed", ["fox"], "fox"), (0, "ongoing", [], None)
    ]  # fmt: skip
    text = (await owner.get(f"{at}?at={page['times'][2]['at']}")).text
    assert "fox" in text and "heron" not in text and "Answer corrected" in text
    assert f'href="{at}"' in (await owner.get(f"/project/birds/tasks/{task}")).text
    assert f'href="{at}"' not in (await served.client().get(f"/project/birds/tasks/{task}")).text
    assert (await owner.delete(f"/api/task/{task}")).status == 204
    gone = await owner.get(at)
    assert gone.status == 200 and "Task deleted" in gone.text
    await after(served)
    assert [(await owner.get(f"{at}?at={time}")).status for time in (page["times"][0]["at"], "2001")] == [200, 410]


@shows("page-task-history")
@pytest_twisted.ensureDeferred
async def test_nobody_else_does_and_a_task_that_never_was_has_no_history(served):
    owner, ada = await served.person("owner"), await served.person("ada")
    project = await served.project(owner, tasks=1, published=True)
    other = await served.project(owner, "owls", tasks=1, published=True)
    at = "/project/birds/tasks/{}/history"
    assert (await ada.get(at.format(project["tasks"][0]))).status == 403
    assert (await served.client().get(at.format(project["tasks"][0]))).status in (302, 303, 401)
    for task in (other["tasks"][0], 999_999, 2**63):
        assert (await owner.get(at.format(task))).status == 404
