"""Answers that an owner selects on the page of a task: deleted, or their volunteers barred, with the effect before."""

from __future__ import annotations

from typing import Any

import pytest_twisted
from support.browsers import signed_in
from support.checks.shows import shows

HTML = {"Accept": "text/html"}
GONE = {"tasks": 1, "completed": 0, "reopened": 1, "answers": 2, "dry_run": False, "queue_item": None}


async def built(served: Any) -> tuple[Any, str, list[int]]:
    """An owner's program, the page of a task, and the three answers that finish this task."""
    owner = await served.person("owner")
    project = await served.project(owner, tasks=2, n_answers=3, published=True)
    for name in ("ada", "bob", "cyd"):
        person = await served.person(name)
        task = (await person.get(f"/api/{project['id']}/newtask")).json()
        body = {"project_id": project["id"], "task_id": task["id"], "info": {"answer": name, "sure": True}}
        assert (await person.post("/api/taskrun", json=body)).status == 200
    at = f"/project/birds/tasks/{task['id']}"
    return owner, at, [run["id"] for run in (await owner.page(at)).json()["task_runs"]]


async def left(owner: Any, at: str) -> tuple[str, list[int]]:
    """The state of the task, and its answers."""
    page = (await owner.page(at)).json()
    return page["task"]["state"], [run["id"] for run in page["task_runs"]]


@shows("page-tasks-answers")
@pytest_twisted.ensureDeferred
async def test_selected_answers_are_deleted_after_their_effect_was_shown(served):
    owner, at, (ada, bob, cy) = await built(served)
    browser = await signed_in(served, "owner")
    page = (await browser.get(at, headers=HTML)).text
    assert f'name="taskrun_ids" value="{ada}"' in page and f'formaction="{at}/answers/bar"' in page
    asked = f"{at}/answers/delete?ticked=1&scope=selected&taskrun_ids={ada}&taskrun_ids={cy}"
    shown = (await owner.page(asked)).json()
    assert [run["id"] for run in shown["task_runs"]] == [ada, cy]
    assert shown["effect"] == GONE | {"dry_run": True}
    assert await left(owner, at) == ("completed", [ada, bob, cy])  # to look changes nothing
    whole = (await owner.page(f"{at}/answers/delete?ticked=1&scope=page&page_ids={ada},{bob},{cy}")).json()
    assert whole["effect"]["answers"] == 3
    text = (await browser.get(asked, headers=HTML)).text
    assert "2 answers would be deleted permanently." in text
    assert "sure: Yes, answer: ada" in text
    done = await browser.send_form(f"{at}/answers/delete", {"taskrun_ids": f"{ada},{cy}"}, token_from=asked)
    assert done.json()["effect"] == GONE, done.body
    assert await left(owner, at) == ("ongoing", [bob])
    (log,) = await served.database.fetch("SELECT kind, object_id, after FROM audit WHERE action = 'withdraw'")
    assert (log["kind"], log["after"]) == ("task", {"answers": 2})


@shows("answer-set-aside")
@pytest_twisted.ensureDeferred
async def test_one_answer_is_set_aside_with_a_reason_and_taken_back(served):
    owner, at, (ada, bob, cy) = await built(served)
    browser = await signed_in(served, "owner")
    asked = f"{at}/answers/aside?taskrun_ids={ada}"
    shown = (await owner.page(asked)).json()
    assert shown["effect"] == GONE | {"answers": 1, "dry_run": True}
    assert (await left(owner, at))[0] == "completed"  # to look changes nothing
    assert "1 answer would no longer count." in (await browser.get(asked, headers=HTML)).text
    form = {"taskrun_ids": str(ada), "reason": "Only <b>one</b> word"}
    done = await browser.send_form(f"{at}/answers/aside", form, token_from=asked)
    assert done.json()["effect"] == GONE | {"answers": 1}, done.body
    assert await left(owner, at) == ("ongoing", [ada, bob, cy])
    assert (await owner.page(at)).json()["agreement"]["kinds"] == 2
    text = (await browser.get(at, headers=HTML)).text
    assert "“<bdi>Only &lt;b&gt;one&lt;/b&gt; word</bdi>”" in text and f'form="back-{ada}"' in text
    dora = await served.person("dora")
    task = (await dora.get(f"/api/{(await owner.get('/api/project')).json()[0]['id']}/newtask")).json()
    body = {"project_id": task["project_id"], "task_id": task["id"], "info": {"answer": "dora", "sure": True}}
    assert (await dora.post("/api/taskrun", json=body)).status == 200
    assert (await left(owner, at))[0] == "completed"
    back = await browser.send_form(f"{at}/answers/back", {"taskrun_ids": str(ada)}, token_from=at)
    assert back.json()["effect"] == GONE | {"reopened": 0, "answers": 1}
    log = await served.database.fetch("SELECT action, after FROM audit WHERE kind = 'task' ORDER BY id")
    assert [(row["action"], row["after"]) for row in log] == [
        ("aside", {"answers": 1, "reason": "Only <b>one</b> word"}),
        ("back", {"answers": 1}),
    ]
    assert await served.database.fetch("SELECT * FROM check_places((SELECT id FROM project), clock())") == []


@shows("page-tasks-answers")
@pytest_twisted.ensureDeferred
async def test_volunteers_of_selected_answers_are_barred(served):
    owner, at, (ada, bob, _cy) = await built(served)
    shown = (await owner.page(f"{at}/answers/bar?taskrun_ids={ada},{bob}")).json()
    assert [run["id"] for run in shown["task_runs"]] == [ada, bob] and shown["effect"] is None
    done = (await owner.post(f"{at}/answers/bar", json={"taskrun_ids": f"{ada},{bob}"})).json()
    assert [bar["answers"] for bar in done["bars"]] == [1, 1] and done["next"] == "/project/birds/volunteers"
    barred = (await owner.page("/project/birds/volunteers")).json()["barred"]
    assert {one["user_name"] for one in barred} == {"ada", "bob"}
    assert (await left(owner, at))[0] == "ongoing"


@shows("page-tasks-answers")
@pytest_twisted.ensureDeferred
async def test_only_answers_of_the_task_and_only_for_owners(served):
    owner, at, (ada, bob, cy) = await built(served)
    other = await served.project(owner, "other", tasks=1, published=True)
    task = (await owner.get(f"/api/{other['id']}/newtask")).json()["id"]
    body = {"project_id": other["id"], "task_id": task, "info": "x"}
    foreign = (await owner.post("/api/taskrun", json=body)).json()["id"]
    for named in ("", "0", "x", "9" * 30, str(foreign)):
        for action in ("delete", "aside", "bar"):
            nothing = await owner.page(f"{at}/answers/{action}?ticked=1&taskrun_ids={named}")
            assert nothing.json()["flash"] == "Select answers first.", named
    for action in ("delete", "aside", "back"):
        done = (await owner.post(f"{at}/answers/{action}", json={"taskrun_ids": f"{foreign}, x"})).json()
        assert done["effect"]["answers"] == 0 and done["effect"]["tasks"] == 0
    runs = (await owner.get(f"/api/taskrun?project_id={other['id']}")).json()
    assert [run["id"] for run in runs] == [foreign]
    stranger = await served.person("eve")
    for action in ("delete", "aside", "bar"):
        assert (await stranger.page(f"{at}/answers/{action}?taskrun_ids={ada}")).status == 403
        assert (await stranger.post(f"{at}/answers/{action}", json={"taskrun_ids": str(ada)})).status == 403
    assert await left(owner, at) == ("completed", [ada, bob, cy])


@shows("page-volunteers")
@pytest_twisted.ensureDeferred
async def test_selected_volunteers_are_barred_and_nobody_else(served):
    owner, at, _runs = await built(served)
    browser, here = await signed_in(served, "owner"), "/project/birds/volunteers"
    page = await browser.get(here, headers=HTML)
    codes = [one["volunteer"] for one in (await owner.page(here)).json()["volunteers"]]
    assert len(codes) == 3 and all(f'name="volunteers" value="{code}"' in page.text for code in codes)
    none = await browser.send_form(f"{here}/bar", {"ticked": "1", "scope": "selected"}, token_from=here)
    assert none.json()["bars"] == []
    body = {"ticked": "1", "scope": "page", "page_ids": ",".join(codes[:2])}
    done = await browser.send_form(f"{here}/bar", body, token_from=here)
    assert done.json()["flash"] == "2 volunteers are blocked." and len(done.json()["bars"]) == 2, done.body
    barred = {one["volunteer"]: one["barred"] for one in (await owner.page(here)).json()["volunteers"]}
    assert barred == {codes[0]: True, codes[1]: True, codes[2]: False}
    assert (await left(owner, at))[0] == "ongoing", "their answers do not count any more"
    zoe = await served.person("zoe")
    assert (await zoe.post(f"{here}/bar", json=body)).status == 403
    text = (await browser.get(f"{here}/{codes[0]}", headers=HTML)).text
    assert '<th scope="col"><bdi>sure</bdi></th>' in text and "data-rows" in text
