"""What differs between two snapshots: on the page, over the API and as a file; and who may know."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest
import pytest_twisted
from support.checks.shows import shows
from support.servers.queue_runner import worked

from crowdd.features.accounts.feature import AccountsFeature
from crowdd.features.people.feature import PeopleFeature
from crowdd.features.snapshots import differences as kept
from crowdd.kernel.requester import SYSTEM


async def made(served: Any, owner: Any, project: dict[str, Any]) -> dict[str, Any]:
    begun = await owner.post(f"/api/project/{project['id']}/snapshots")
    assert begun.status == 200, begun.body
    items = await worked(served)
    assert items[-1]["state"] == "done", items[-1]
    return (await owner.get(f"/api/project/{project['id']}/snapshots")).json()[0]


async def answer(who: Any, project: dict[str, Any], info: Any) -> int:
    task = (await who.get(f"/api/{project['id']}/newtask")).json()
    sent = await who.post("/api/taskrun", json={"project_id": project["id"], "task_id": task["id"], "info": info})
    assert sent.status == 200, sent.body
    return sent.json()["id"]


def lines(body: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in body.splitlines()]


async def built(served: Any) -> tuple[Any, Any, dict[str, Any]]:
    owner, ada = await served.person("owner"), await served.person("ada")
    project = await served.project(owner, "birds", tasks=4, published=True, n_answers=1)
    return owner, ada, project


@shows("project-snapshot-difference", "page-snapshot-difference")
@pytest_twisted.ensureDeferred
async def test_rows_that_came_went_and_changed_are_told_with_settings(served):
    owner, ada, project = await built(served)
    run = await answer(ada, project, {"answer": "owl", "n": 1.0})
    first = await made(served, owner, project)
    second_run = await answer(ada, project, {"answer": "fox"})
    tasks = project["tasks"]
    for statement in (
        f"UPDATE task SET info = '{{\"n\": 12345678901234567890}}' WHERE id = {tasks[2]}",
        f'UPDATE task_run SET info = \'{{"answer": "owl", "n": 1}}\' WHERE id = {run}',
    ):
        await served.database.execute(statement)
    assert (await owner.delete(f"/api/task/{tasks[3]}")).status in (200, 204)
    body = {"info": {"sched": "depth_first", "task_presenter": "<p>new</p>"}}
    assert (await owner.put(f"/api/project/{project['id']}", json=body)).status == 200
    second = await made(served, owner, project)
    at = f"/api/project/{project['id']}/snapshots/{second['id']}/difference?from={first['id']}"
    difference = (await owner.get(at)).json()
    assert difference["counts"] == {
        "task": {"added": 0, "removed": 1, "changed": 2},  # the second answered one is completed
        "answer": {"added": 1, "removed": 0, "changed": 0},  # 1.0 and 1 are one number in canonical JSON
        "result": {"added": 1, "removed": 0, "changed": 0},
    }
    assert [one["name"] for one in difference["settings"]] == ["settings.sched", "versions.task_presenter"]
    assert difference["settings"][0]["values"] == ["", "depth_first"]
    assert difference["documents"] == [{"name": "presenter.html", "change": "changed"}]
    address = f"/project/birds/snapshots/{second['hash']}/difference"
    page = (await owner.page(f"{address}?from={first['hash']}")).json()
    assert (page["counts"], page["before"]["hash"]) == (difference["counts"], first["hash"])
    assert (await owner.page(address)).json()["before"]["hash"] == first["hash"], "the one before unless one is named"
    file = await owner.get(f"{address}/changes?from={first['hash']}")
    changes = lines(file.body)
    by_kind = {(one["kind"], one["change"], one.get("id")): one for one in changes}
    assert by_kind["task", "removed", tasks[3]]["row"]["state"] == "ongoing"
    assert by_kind["task", "changed", tasks[2]]["columns"]["info"][1] == {"n": 12345678901234567890}
    added = by_kind["answer", "added", second_run]["row"]
    assert (added["task"], added["info"]) == (tasks[1], {"answer": "fox"})
    assert [one["row"]["answers"] for one in changes if one["kind"] == "result"] == [[second_run]]
    back = (await owner.page(f"/project/birds/snapshots/{first['hash']}/difference?from={second['hash']}")).json()
    assert back["counts"]["task"] == {"added": 1, "removed": 0, "changed": 2}
    assert difference["url"].endswith(f"{address}/changes?from={first['hash']}")


@pytest.mark.proof
@pytest_twisted.ensureDeferred
async def test_rows_are_matched_by_id_where_numbers_have_moved(served):
    owner, ada, project = await built(served)
    for word in ("owl", "fox", "elk"):
        await answer(ada, project, {"answer": word})
    first = await made(served, owner, project)
    await served.database.execute("DELETE FROM result WHERE task_id = %(t)s", {"t": project["tasks"][0]})
    await served.database.execute("DELETE FROM task_run WHERE task_id = %(t)s", {"t": project["tasks"][0]})
    second = await made(served, owner, project)
    at = f"/api/project/{project['id']}/snapshots/{second['id']}/difference?from={first['id']}"
    counts = (await owner.get(at)).json()["counts"]
    nothing = {"added": 0, "removed": 0, "changed": 0}
    assert counts == {"task": nothing, "answer": nothing | {"removed": 1}, "result": nothing | {"removed": 1}}


@pytest_twisted.ensureDeferred
async def test_nobody_learns_more_than_from_both_snapshots(served):
    owner, ada, project = await built(served)
    stranger = served.client()
    await answer(ada, project, {"answer": "owl"})
    first = await made(served, owner, project)
    await answer(ada, project, {"answer": "fox"})
    second = await made(served, owner, project)
    address = f"/project/birds/snapshots/{second['hash']}/difference"
    ways = (f"{address}?from={first['hash']}", f"{address}/changes?from={first['hash']}")
    api = f"/api/project/{project['id']}/snapshots"

    async def statuses(who: Any) -> set[int]:
        return {(await who.get(way)).status for way in ways}

    for public in ((False, False), (True, False), (False, True)):
        for each, value in zip((first, second), public, strict=True):
            assert (await owner.put(f"{api}/{each['id']}", json={"public": value})).status == 200
        assert await statuses(stranger) == {404}, public
    await owner.put(f"{api}/{first['id']}", json={"public": True})
    assert await statuses(stranger) == {200}
    assert (await stranger.get(f"{api}/{second['id']}/difference?from={first['id']}")).status == 401
    assert (await ada.get(f"{api}/{second['id']}/difference?from={first['id']}")).status == 403
    assert (await owner.get(f"{api}/{second['id']}/difference?from=999999")).status == 404
    await owner.put(f"/api/project/{project['id']}", json={"zip_download": False})
    assert not await statuses(stranger) & {200} and await statuses(owner) == {200}


@pytest_twisted.ensureDeferred
async def test_a_code_that_was_withdrawn_is_not_told(served):
    owner, ada, project = await built(served)
    await answer(ada, project, {"answer": "owl"})
    first = await made(served, owner, project)
    (code,) = await served.database.fetch("SELECT word FROM volunteer_word")
    (row,) = await served.database.fetch("SELECT id FROM account WHERE name = 'ada'")
    await served.house[PeopleFeature].account_deletion.begin(
        await served.house[AccountsFeature].accounts.profile(row["id"]), SYSTEM
    )
    await worked(served)
    second = await made(served, owner, project)
    address = f"/project/birds/snapshots/{second['hash']}/difference/changes?from={first['hash']}"
    body = (await owner.get(address)).body
    assert code["word"].encode() not in body and not [one for one in lines(body) if one["kind"] == "answer"]


@pytest_twisted.ensureDeferred
async def test_it_is_worked_out_once_and_a_limit_is_a_sentence(served, monkeypatch):
    owner, ada, project = await built(served)
    await answer(ada, project, {"answer": "owl"})
    first = await made(served, owner, project)
    await answer(ada, project, {"answer": "fox"})
    second = await made(served, owner, project)
    start, begun = kept.isolated.start, []

    def counted(*arguments: Any) -> Any:
        begun.append(1)
        return start(*arguments)

    monkeypatch.setattr(kept.isolated, "start", counted)
    at = f"/project/birds/snapshots/{second['hash']}/difference?from={first['hash']}"
    for _ in range(2):
        assert (await owner.page(at)).status == 200
    assert len(begun) == 1
    folder = served.house.base.settings.data.dir / "differences"
    assert len(list(folder.glob("*.ndjson"))) == 1 and not list((folder / "work").iterdir())
    monkeypatch.setattr(kept.isolated, "start", lambda *about: start("crowdd.no_such_program:compare"))
    back = await owner.page(f"/project/birds/snapshots/{first['hash']}/difference?from={second['hash']}")
    assert back.status == 415 and "too much memory or time" in back.text
    assert len(list(folder.glob("*.ndjson"))) == 1 and not list((folder / "work").iterdir())


def test_only_the_newest_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(kept, "MAX_KEPT", 3)
    differences = kept.Differences(None, None, tmp_path, 0)  # type: ignore[arg-type]
    for n in range(5):
        for ending in ("json", "ndjson"):
            (tmp_path / f"{n}.{ending}").write_text("{}")

    for n in range(5):
        os.utime(tmp_path / f"{n}.json", (n, n))
    differences._remove_oldest()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["3.json", "3.ndjson", "4.json", "4.ndjson"]
