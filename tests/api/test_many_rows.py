"""Arrays in one request: how long they may be, and that rights come before their rows."""

from __future__ import annotations

import pytest_twisted
from support.checks.shows import shows

from crowdd.kinds.kind import Kind


def rows(project_id: int, count: int) -> list[dict[str, int]]:
    return [{"project_id": project_id, "info": 0}] * count


@shows("limit-rows")
@pytest_twisted.ensureDeferred
async def test_10_000_tasks_are_made_and_10_001_are_refused(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    refused = await owner.post("/api/task", json=rows(project["id"], 10_001))
    assert (refused.status, refused.json()["error_code"]) == (413, "too_many_rows")
    assert len((await owner.post("/api/task", json=rows(project["id"], 10_000))).json()) == 10_000


@shows("limit-rows", "taskrun-array")
@pytest_twisted.ensureDeferred
async def test_200_answers_at_most(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=1, published=True)
    answer = {"project_id": project["id"], "task_id": project["tasks"][0], "info": 0}
    refused = await served.client().post("/api/taskrun", json=[answer] * 201)
    assert (refused.status, refused.json()["error_code"]) == (413, "too_many_rows")
    looked_at = await served.client().post("/api/taskrun", json=[answer] * 200)
    assert (looked_at.status, looked_at.json()["error_code"]) == (403, "no_lease")


@pytest_twisted.ensureDeferred
async def test_rights_are_asked_before_rows_are_parsed(served, monkeypatch):
    owner, stranger = await served.person("owner"), await served.person("stranger")
    project = await served.project(owner, tasks=1, published=True)
    parsed: list[object] = []
    creation = Kind.creation
    monkeypatch.setattr(Kind, "creation", lambda kind, body: parsed.append(body) or creation(kind, body))
    many = [*rows(project["id"], 500), {"project_id": project["id"], "info": 0, "nonsense": 1}]
    assert (await served.client().post("/api/task", json=many)).status == 401
    assert (await stranger.post("/api/task", json=many)).status == 403
    assert not parsed
    assert (await owner.post("/api/task", json=many)).status == 415


@pytest_twisted.ensureDeferred
async def test_one_foreign_project_among_many_refuses_all(served):
    owner, other = await served.person("owner"), await served.person("other")
    mine, theirs = await served.project(owner), await served.project(other, "bees", tasks=1, published=True)
    refused = await owner.post("/api/task", json=[*rows(mine["id"], 3), *rows(theirs["id"], 1)])
    assert refused.status == 403
    assert (await owner.get(f"/api/task?project_id={mine['id']}")).json() == []
    missing = await owner.post("/api/task", json=[*rows(mine["id"], 3), {"info": 0}])
    assert (missing.status, missing.json()["error_code"]) == (415, "missing_attribute")
