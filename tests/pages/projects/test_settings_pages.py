"""The settings of a project as values in words, and what its owners are told to look at."""

from __future__ import annotations

import pytest_twisted
from support.browsers import signed_in
from support.checks.shows import shows
from twisted.internet.defer import ensureDeferred, gatherResults

HTML = {"Accept": "text/html", "Sec-Fetch-Site": "same-origin"}
AT = "/project/birds/update"


async def owner_of(served, **more):
    """A signed-in owner as a browser, the same as a program, and the project."""
    await served.person("ada")
    ada = await signed_in(served, "ada")
    owner = served.client((await ada.page("/account/profile")).json()["user"]["api_key"])
    return ada, owner, await served.project(owner, **more)


async def part(browser, **fields):
    """Sends a form that has only these fields, as the settings page does."""
    csrf = (await browser.page(AT)).json()["form"]["csrf"]
    return await browser.post(AT, data={"csrf_token": csrf, "btn": "Part", **fields}, headers=HTML)


async def shown(browser, path):
    return (await browser.get(path, headers=HTML)).text


@shows("page-update-part")
@pytest_twisted.ensureDeferred
async def test_a_form_of_one_setting_leaves_the_others_alone(served):
    ada, owner, project = await owner_of(served)
    before = (await owner.get(f"/api/project/{project['id']}")).json()
    answer = await part(ada, zip_download="n")
    assert (answer.status, answer.header("location")) == (302, "/project/birds/settings")
    assert (await part(ada, answers_when_complete="y")).status == 302
    now = (await owner.get(f"/api/project/{project['id']}")).json()
    changed = {name for name in before if before[name] != now[name]}
    assert changed == {"zip_download", "info", "updated"} and now["zip_download"] is False
    assert now["info"] == {"task_presenter": "<p>?</p>", "answers_when_complete": True}
    await part(ada, answers_when_complete="n", zip_download="y")
    now = (await owner.get(f"/api/project/{project['id']}")).json()
    assert now["zip_download"] is True and not now["info"]["answers_when_complete"]
    texts = await part(ada, name="Finches", short_name="birds", description="Is there one?")
    assert texts.header("location") == "/project/birds/"
    assert (await owner.get(f"/api/project/{project['id']}")).json()["allow_anonymous_contributors"] is True


@shows("page-update-part")
@pytest_twisted.ensureDeferred
async def test_a_part_with_a_mistake_changes_nothing(served):
    ada, owner, project = await owner_of(served)
    refused = await part(ada, name="", zip_download="n")
    assert refused.status == 200 and "Correct one field." in refused.text
    assert (await owner.get(f"/api/project/{project['id']}")).json()["zip_download"] is True
    stranger = await served.person("eve")
    assert (await stranger.post(AT, json={"btn": "Part", "zip_download": "n"})).status in (403, 404)


@shows("page-update-part")
@pytest_twisted.ensureDeferred
async def test_two_settings_saved_at_once_are_both_kept(served):
    _ada, owner, project = await owner_of(served)
    sent = [{"btn": "Part", name: "y"} for name in ("answers_when_complete", "token_per_volunteer")]
    await gatherResults([ensureDeferred(owner.post(AT, json=body)) for body in sent])
    info = (await owner.get(f"/api/project/{project['id']}")).json()["info"]
    assert info == {"task_presenter": "<p>?</p>", "answers_when_complete": True, "token_per_volunteer": True}


@pytest_twisted.ensureDeferred
async def test_each_setting_is_said_in_words(served):
    ada, owner, project = await owner_of(served, tasks=3, published=True)
    page = await shown(ada, "/project/birds/settings")
    for words in (
        "2 on average: 3 tasks, 6 answers wanted", "Everyone, without an account", "No answer so far came from",
        "One task after the other, those with a higher priority first", "No open task has a priority above 0",
        "Everyone can see and download them", "As soon as they are given", "Your own HTML, 8 characters", "256 kB",
    ):  # fmt: skip
        assert words in page, words
    task_id = project["tasks"][0]
    changed = {"n_answers": 3, "priority_0": 0.5}
    assert (await owner.put(f"/api/task/{task_id}", json=changed)).status == 200
    page = await shown(ada, "/project/birds/settings")
    assert "2.3 on average: 3 tasks, 7 answers wanted" in page and "Some open tasks have a priority above 0" in page


@shows("lease-skip")
@pytest_twisted.ensureDeferred
async def test_tasks_that_many_skip_wait_for_the_owner(served):
    ada, owner, project = await owner_of(served, tasks=2)
    await owner.post("/project/birds/publish", json={})
    assert (await ada.send_form("/project/birds/settings", {"skip_limit": 1001})).json()["form"]["errors"].keys() == {
        "skip_limit"
    }
    assert (await ada.send_form("/project/birds/settings", {"skip_limit": 2})).status == 200
    page = (await owner.page("/project/birds/settings")).json()
    assert (page["skip_limit"], page["max_answer_bytes"]) == (2, 256_000)
    for name, reason in (("bob", "broken"), ("cyd", "")):
        person = await served.person(name)
        task = (await person.get(f"/api/{project['id']}/newtask")).json()["id"]
        assert task == project["tasks"][0]
        await person.post(f"/api/task/{task}/release", json={"skip": True, "reason": reason})
    dora = await served.person("dora")
    assert (await dora.get(f"/api/{project['id']}/newtask")).json()["id"] == project["tasks"][1]
    for query in ("state=skipped", "state=review", "state=review&words=fox", "orderby=n_skips&desc=1&state=skipped"):
        listed = await owner.page(f"/project/birds/tasks/browse?{query}")
        assert [one["id"] for one in listed.json()["tasks"]] in ([task], [] if "words" in query else None), query
        assert (await dora.page(f"/project/birds/tasks/browse?{query}")).status == 403
    words = await shown(ada, "/project/birds/tasks/browse?state=review")
    assert "Set aside for review" in words and "2 people skipped it" in words
    one = await shown(ada, f"/project/birds/tasks/{task}")
    assert "Without a reason" in one and "So many people skipped it" in one
    assert "Set aside" not in await shown(served.client(), f"/project/birds/tasks/{task}")
    await owner.post("/project/birds/tasks/reopen", json={"task_ids": [task]})
    assert (await owner.page("/project/birds/tasks/browse?state=skipped")).json()["tasks"] == []


@pytest_twisted.ensureDeferred
async def test_the_owner_is_told_what_needs_attention_and_nobody_else(served):
    ada, owner, project = await owner_of(served, tasks=2)
    at, words = "/project/birds/", "attention"
    assert words not in await shown(ada, at)
    run = served.database.execute
    name = {"id": project["id"], "task": project["tasks"][0]}
    await owner.post("/project/birds/update", json={"webhook": "https://hooks.example.org/x"})
    await run("UPDATE webhook SET active = false WHERE project_id = %(id)s", name)
    await run("INSERT INTO task_skip (project_id, task_id, reason, n) VALUES (%(id)s, %(task)s, 'broken', 2)", name)
    queued = (
        "INSERT INTO queue_item (name, arguments, project_id, admin, via, state, created, due, ended)"
        " VALUES ('change_tasks', '{}', %(id)s, false, 'web', 'dead', clock(), clock(), clock() - %(days)s * interval '1 day')"
    )
    await run(queued, name | {"days": 1})
    await run(queued, name | {"days": 30})  # history
    brought = (
        "INSERT INTO task_import (project_id, created, name, format, file, bytes, rows, columns, sample, check_error)"
    )
    await run(f"{brought} VALUES (%(id)s, clock(), 'a.csv', 'csv', 'x', 1, 0, '[]', '[]', 'It is not UTF-8.')", name)
    page = await shown(ada, at)
    for line in (
        "The last import failed.", "The webhook is switched off after failures.", "1 background task failed in the last seven days.",
        "Volunteers skipped 1 task as broken.",
    ):  # fmt: skip
        assert line in page, line
    assert f"/project/birds/tasks/{project['tasks'][0]}" in page
    await owner.post("/project/birds/publish", json={})
    assert "background task failed" not in await shown(served.client(), at)
    assert "attention" not in (await owner.page(at)).json()
    await run("UPDATE task_ledger SET retired = true WHERE task_id = %(task)s", name)
    await run("UPDATE webhook SET active = true, failures = 2 WHERE project_id = %(id)s", name)
    page = await shown(ada, at)
    assert "skipped" not in page and "The receiver of the webhook is failing." in page


@pytest_twisted.ensureDeferred
async def test_a_draft_is_told_what_it_lacks(served):
    await served.person("ada")
    ada = await signed_in(served, "ada")
    csrf = (await ada.page("/project/new")).json()["form"]["csrf"]
    await ada.post("/project/new", data={"csrf_token": csrf, "name": "Owls", "description": "Is it one?"}, headers=HTML)
    page = await shown(ada, "/project/owls/")
    assert "Volunteers have nothing to see yet." in page and "There are no tasks yet." in page
