"""Tasks of the list that are selected, by their boxes or by its filters, and what owners change of them."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlencode

import pytest
import pytest_twisted
from support.checks.shows import shows
from support.servers.queue_runner import worked
from twisted.internet.defer import DeferredList, ensureDeferred

from crowdd.features.tasks import changes, task_filters, task_list
from crowdd.features.tasks.list_statements import TaskFilter
from crowdd.kernel.errors import InvalidValueError

HTML = {"Accept": "text/html"}
AT = "/project/birds/tasks"


async def built(served: Any, tasks: int = 6) -> tuple[Any, dict[str, Any]]:
    """An owner and their project; the first task is finished, and every second one has a fox in its info."""
    owner, ada = await served.person("owner"), await served.person("ada")
    project = await served.project(owner, tasks=0)
    infos = [{"n": n, "what": 'a "fox"' if n % 2 else "a 100% bird"} for n in range(tasks)]
    body = [{"project_id": project["id"], "info": info, "n_answers": 2} for info in infos]
    project["tasks"] = [task["id"] for task in (await owner.post("/api/task", json=body)).json()]
    assert (await owner.post("/project/birds/publish", json={})).status in (200, 302)
    await finish(project, owner, ada, 1)
    return owner, project


async def finish(project: dict[str, Any], owner: Any, ada: Any, n: int) -> None:
    """Two people answer the next tasks: both the same."""
    for _ in range(n):
        for client in (owner, ada):
            task = (await client.get(f"/api/project/{project['id']}/newtask")).json()
            body = {"project_id": project["id"], "task_id": task["id"], "info": {"answer": "yes"}}
            assert (await client.post("/api/taskrun", json=body)).status == 200


async def tasks_of(owner: Any, project: dict[str, Any]) -> dict[int, dict[str, Any]]:
    tasks = (await owner.get(f"/api/task?project_id={project['id']}&limit=100")).json()
    return {task["id"]: task for task in tasks}


def text(**filters: str) -> str:
    return task_filters.format_filters(filters)


@shows("page-change-matching")
@pytest_twisted.ensureDeferred
async def test_all_tasks_that_match_are_changed_and_no_others(served):
    owner, project = await built(served)
    first, *rest = project["tasks"]
    foxes, birds = project["tasks"][1::2], project["tasks"][::2]
    for filters, chosen in (
        ({"state": "ongoing"}, rest), ({"state": "completed"}, [first]), ({"words": 'a "fox"'}, foxes),
        ({"words": "100%"}, birds), ({"words": "FOX", "state": "ongoing"}, foxes), ({"words": "fox%"}, []),
        ({"min_agreement": "100"}, [first]), ({"max_agreement": "99"}, []), ({"orderby": "agreement"}, [first]),
        ({}, project["tasks"]), ({"words": "nowhere"}, []),
    ):  # fmt: skip
        body = {"n_answers": 7, "matching": text(**filters), "preview": "y", "task_ids": "1"}
        trial = (await owner.post(f"{AT}/redundancy", json=body)).json()
        assert trial["effect"]["tasks"] == len(chosen), filters
        done = (await owner.post(f"{AT}/redundancy", json={**body, "preview": ""})).json()
        assert done["effect"] == trial["effect"] | {"dry_run": False}, filters
        now = await tasks_of(owner, project)
        assert [task for task in project["tasks"] if now[task]["n_answers"] == 7] == chosen, filters
        await owner.post(f"{AT}/redundancy", json={"n_answers": 2})


@shows("page-change-matching")
@pytest_twisted.ensureDeferred
async def test_the_list_leads_to_the_changes_with_what_is_selected(served):
    owner, project = await built(served)
    first, second, *_ = project["tasks"]
    listed = (await owner.get(f"{AT}/browse?state=ongoing&words=fox", headers=HTML)).text
    matching = text(state="ongoing", words="fox")
    assert f'name="matching" value="{matching.replace("&", "&amp;")}"' in listed
    sent = {"ticked": 1, "matching": matching, "page_ids": f"{first},{second}"}
    for name in ("priority", "redundancy", "retire", "reopen", "delete"):
        assert f'formaction="{AT}/{name}"' in listed
        page = (await owner.get(f"{AT}/{name}?{urlencode(sent | {'scope': 'matching'})}", headers=HTML)).text
        assert 'name="matching"' in page and "fox" in page and 'name="task_ids"' not in page, name
        some = (await owner.page(f"{AT}/{name}?{urlencode(sent | {'scope': 'page'})}")).json()
        assert some["form"]["task_ids"] == f"{first}, {second}", name
        one = (await owner.page(f"{AT}/{name}?{urlencode(sent | {'scope': 'selected', 'task_ids': second})}")).json()
        assert one["form"]["task_ids"] == str(second), name
        none = await owner.get(f"{AT}/{name}?{urlencode(sent | {'scope': 'selected'})}", headers=HTML)
        assert (none.status, none.header("location")) == (302, f"{AT}/browse"), name
    page = await owner.get(f"{AT}/export?{urlencode(sent | {'scope': 'matching'})}", headers=HTML)
    assert "that match the filters" in page.text
    of = {"scope": "matching", "matching": matching, "type": "task", "format": "json"}
    file = (await owner.get(f"{AT}/export?{urlencode(of)}")).json()
    assert [task["id"] for task in file] == project["tasks"][1::2]


@shows("page-change-matching")
@pytest_twisted.ensureDeferred
async def test_only_owners_change_what_matches_and_only_in_their_project(served):
    owner, project = await built(served)
    stranger, nobody = await served.person("stranger"), served.client()
    fish = await served.project(stranger, "fish", tasks=2, published=True)
    before = await tasks_of(owner, project)
    for name, body in (
        ("retire", {}),
        ("reopen", {}),
        ("priority", {"priority_0": 1}),
        ("delete", {"short_name": "birds"}),
    ):
        for selection in ({"matching": text()}, {"task_ids": project["tasks"]}):
            assert (await stranger.post(f"{AT}/{name}", json=body | selection)).status == 403, name
            assert (await nobody.post(f"{AT}/{name}", json=body | selection)).status in (302, 400), name
        foreign = (
            await stranger.post(
                f"/project/fish/tasks/{name}", json=body | {"task_ids": project["tasks"], "short_name": "fish"}
            )
        ).json()
        assert foreign["effect"]["tasks"] == 0, name
    assert await tasks_of(owner, project) == before
    assert len(await tasks_of(stranger, fish)) == 2
    for wrong in ("state=lost", "secret_key=1", "min_agreement=101", "words=" + "x" * 201, "x" * 3000):
        assert (await owner.post(f"{AT}/retire", json={"matching": wrong})).status == 415, wrong
        assert (await owner.get(f"{AT}/retire?{urlencode({'scope': 'matching', 'matching': wrong})}")).status == 415, (
            wrong
        )
    refused = (await owner.post(f"{AT}/retire", json={})).json()
    assert refused["form"]["errors"].keys() == {"task_ids"}
    assert await tasks_of(owner, project) == before


@shows("page-change-matching", "page-change")
@pytest_twisted.ensureDeferred
async def test_what_matches_is_decided_when_the_change_is_made(served):
    owner, project = await built(served)
    body = {"matching": text(state="ongoing"), "note": "enough"}
    trial = (await owner.post(f"{AT}/retire", json=body | {"preview": "y"})).json()
    assert trial["effect"]["tasks"] == 5
    await finish(project, owner, await served.person("bob"), 1)
    done = (await owner.post(f"{AT}/retire", json=body)).json()
    assert done["effect"]["tasks"] == 4
    assert [task["closed"] for task in (await tasks_of(owner, project)).values()] == ["complete"] * 2 + ["retired"] * 4
    assert {task["retired_note"] for task in (await tasks_of(owner, project)).values()} == {None, "enough"}
    trial = (await owner.post(f"{AT}/reopen", json={"matching": text(), "preview": "y"})).json()["effect"]
    done = (await owner.post(f"{AT}/reopen", json={"matching": text()})).json()["effect"]
    assert (done["tasks"], done["reopened"]) == (4, 4) and done == trial | {"dry_run": False}
    assert [task["state"] for task in (await tasks_of(owner, project)).values()] == ["completed"] * 2 + ["ongoing"] * 4


@pytest_twisted.ensureDeferred
async def test_two_owners_change_the_same_tasks_at_once(served):
    owner, project = await built(served, 40)
    boss = await served.person("boss", admin=True)
    every = {"matching": text()}
    sent = [
        client.post(f"{AT}/{name}", json=every | body)
        for client, name, body in (
            (owner, "retire", {}), (boss, "retire", {}), (owner, "priority", {"priority_0": 1}), (boss, "redundancy", {"n_answers": 3}),
        )
    ]  # fmt: skip
    answers = await DeferredList([ensureDeferred(one) for one in sent])
    effects = [answer.json()["effect"]["tasks"] for _ok, answer in answers]
    assert sum(effects[:2]) == 40, "each is retired once"
    assert effects[2:] == [40, 40]
    now = (await tasks_of(owner, project)).values()
    assert {(task["closed"], task["priority_0"], task["n_answers"]) for task in now} == {("retired", 1.0, 3)}


@shows("change-background")
@pytest_twisted.ensureDeferred
async def test_many_tasks_that_match_change_in_the_background(served, monkeypatch):
    monkeypatch.setattr(changes, "CHUNK", 4)
    monkeypatch.setattr(task_list, "MAX_WALKED", 10)
    owner, project = await built(served, 40)
    served.server._worker._size = 0
    body = {"matching": text(state="ongoing", words="bird")}
    response = (await owner.post(f"{AT}/retire", json=body)).json()
    assert response["effect"]["tasks"] == 19 and response["queue_item"]
    await finish(project, owner, await served.person("bob"), 2)  # tasks 1 and 2: the second is a bird
    served.server._worker._size = 1
    (item,) = await worked(served)
    assert (item["state"], item["result"]["tasks"]) == ("done", 18), item
    closed = [task["closed"] for task in (await tasks_of(owner, project)).values()]
    assert closed == ["complete"] * 3 + [None if n % 2 else "retired" for n in range(3, 40)]
    (row,) = await served.database.fetch("SELECT done, total FROM queue_item")
    assert row == {"done": 40, "total": 40}
    audit = await served.database.fetch("SELECT after FROM audit WHERE action = 'retire'")
    assert audit[0]["after"]["tasks"] == {"state": "ongoing", "words": ["bird"]}


@shows("page-change-matching")
@pytest_twisted.ensureDeferred
async def test_what_would_cost_too_much_is_refused(served, monkeypatch):
    owner, _project = await built(served)
    monkeypatch.setattr(task_list, "MAX_SEARCHED", 5)
    monkeypatch.setattr(task_list, "MAX_NAMED", 2)
    refused = (await owner.post(f"{AT}/retire", json={"matching": text(words="fox")})).json()
    assert "Words can select" in refused["form"]["errors"]["task_ids"][0]
    of = {"scope": "matching", "type": "task", "format": "json"}
    for filters, status in (
        ({"state": "ongoing"}, 415),
        ({"words": "fox"}, 415),
        ({"state": "completed"}, 200),
        ({}, 200),
    ):
        query = urlencode(of | {"matching": text(**filters)})
        assert (await owner.get(f"{AT}/export?{query}")).status == status, filters


# Pure decisions -----------------------------------------------------------------------------------------------------


def test_filters_are_one_text_that_says_them_again():
    for query in (
        {},
        {"state": "ongoing"},
        {"words": "a & b=c", "state": "completed"},
        {"min_agreement": "0"},
        {"orderby": "agreement"},
    ):
        once = task_filters.format_filters(query)
        assert once and task_filters.parse_matching(once)["text"] == once
        assert {name: value for name, (value,) in parse_qs(once).items()}.items() >= query.items()
    assert task_filters.parse_task_filter(task_filters.format_filters({})).is_all
    assert task_filters.parse_task_filter("orderby=agreement") == TaskFilter(minimum=0.0)
    assert task_filters.parse_task_filter("max_agreement=49") == TaskFilter(minimum=0.0, below=0.5)
    with pytest.raises(InvalidValueError):
        task_filters.parse_task_filter("columns=url")
