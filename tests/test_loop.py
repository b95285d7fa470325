"""The loop over HTTP, from a draft to a completed task."""

import pytest_twisted


@pytest_twisted.ensureDeferred
async def test_three_tasks_from_draft_to_results(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=3, published=True)
    volunteers = [served.client(**{"X-Forwarded-For": f"10.0.0.{n}"}) for n in range(2)]
    for volunteer in volunteers:
        await volunteer.get("/about")
    done = 0
    for volunteer in volunteers:
        while (task := (await volunteer.get(f"/api/project/{project['id']}/newtask")).json()) != {}:
            run = await volunteer.post(
                "/api/taskrun", json={"project_id": project["id"], "task_id": task["id"], "info": "yes"}
            )
            assert run.status == 200, run.body
            done += 1
    assert done == 6
    results = (await owner.get("/api/result")).json()
    assert sorted(len(result["task_run_ids"]) for result in results) == [2, 2, 2]
    assert {task["state"] for task in (await owner.get("/api/task")).json()} == {"completed"}
