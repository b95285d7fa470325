"""Comments on tasks: who may write and read them, their limits, and what deletes them."""

from __future__ import annotations

import io
import json
import zipfile

import pytest_twisted
from support.browsers import PASSWORD, lock, newcomer, registration, signed_in
from support.checks.shows import shows
from support.servers.queue_runner import worked
from twisted.internet.defer import Deferred, gatherResults

from crowdd.features.tasks import comments

HTML = {"Accept": "text/html", "Sec-Fetch-Site": "same-origin"}


async def made(served, **more):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=2, published=True, **more)
    rows = await served.database.fetch("SELECT id FROM task ORDER BY id")
    return await signed_in(served, "owner"), project, [row["id"] for row in rows]


async def said(browser, project, task, text="The picture is black.", kind="problem"):
    path = f"/project/{project['short_name']}/task/{task}/comment"
    return await browser.send_form(path, {"kind": kind, "text": text})


async def stored(served):
    rows = await served.database.fetch("SELECT task_id, text FROM task_comment ORDER BY id")
    return [(row["task_id"], row["text"]) for row in rows]


@shows("page-task-comment", "page-comments")
@pytest_twisted.ensureDeferred
async def test_a_comment_reaches_the_owners_and_nobody_else(served):
    owner, project, (task, _other) = await made(served)
    volunteer, at = served.client(), f"/project/{project['short_name']}/comments"
    for _twice in range(2):
        assert (await said(volunteer, project, task)).json()["status"] == "success"
    (comment,) = (await owner.page(at)).json()["comments"]
    assert (comment["task_id"], comment["kind"], comment["text"]) == (task, "problem", "The picture is black.")
    assert comment["volunteer"] and not comment["settled"]
    home = (await owner.get(f"/project/{project['short_name']}/settings", headers=HTML)).text
    overview = (await owner.get(f"/project/{project['short_name']}/", headers=HTML)).text
    assert "Volunteers wrote 1 comment." in home + overview and f'href="{at}"' in home
    for path in (at, f"/project/{project['short_name']}/tasks/{task}"):
        assert "The picture is black." in (await owner.get(path, headers=HTML)).text
    assert "The picture is black." in (await owner.get(f"{at}?csv=1", headers=HTML)).text
    await served.person("boss", admin=True)
    assert len((await (await signed_in(served, "boss")).page(at)).json()["comments"]) == 1
    page = (await volunteer.get(f"/project/{project['short_name']}/task/{task}/comment", headers=HTML)).text
    assert "The owners of the project and administrators of the site read it" in page
    stranger, form = await newcomer(served, "ada"), f"/project/{project['short_name']}/task/{task}/comment"
    assert (await stranger.page(at)).status == 403
    assert (await stranger.send_form(f"{at}/{comment['id']}/done", {}, form)).status == 403
    assert (
        "The picture" not in (await stranger.get(f"/project/{project['short_name']}/tasks/{task}", headers=HTML)).text
    )
    assert (await owner.send_form(f"{at}/{comment['id']}/done", {}, at)).json()["status"] == "success"
    assert (await owner.page(at)).json()["comments"] == []
    assert len((await owner.page(f"{at}?state=done")).json()["comments"]) == 1
    assert (await owner.send_form(f"{at}/{comment['id']}/reopen", {}, at)).json()["status"] == "success"
    assert len((await owner.page(at)).json()["comments"]) == 1


@pytest_twisted.ensureDeferred
async def test_what_is_refused_stays_in_the_form(served, monkeypatch):
    _owner, project, (task, other) = await made(served)
    browser = served.client()
    for text, kind, field in (("x" * 1001, "problem", "text"), (" \n", "problem", "text"), ("x", "odd", "kind")):
        form = (await said(browser, project, task, text, kind)).json()["form"]
        assert list(form["errors"]) == [field] and form["text"] == text
    assert await stored(served) == []
    assert (await browser.page(f"/project/{project['short_name']}/task/{10**9}/comment")).status == 404
    monkeypatch.setattr(comments, "MAX_DAILY", 1)
    assert (await said(browser, project, task)).json()["status"] == "success"
    refused = (await said(browser, project, other)).json()["form"]
    assert "Try again tomorrow." in refused["errors"]["text"][0] and refused["text"] == "The picture is black."
    monkeypatch.setattr(comments, "MAX_DAILY", 20)
    monkeypatch.setattr(comments, "MAX_OPEN", 1)
    assert "too many open" in (await said(browser, project, other)).json()["form"]["errors"]["text"][0]
    assert await stored(served) == [(task, "The picture is black.")]


@pytest_twisted.ensureDeferred
async def test_two_at_once_at_the_limit_are_one(served, monkeypatch):
    _owner, project, (task, _other) = await made(served)
    monkeypatch.setattr(comments, "MAX_OPEN", 1)
    sent = [Deferred.fromCoroutine(said(served.client(), project, task, f"No. {n}")) for n in range(4)]
    answers = await gatherResults(sent)
    assert sorted("form" in answer.json() for answer in answers) == [False, True, True, True]
    assert len(await stored(served)) == 1


@pytest_twisted.ensureDeferred
async def test_people_who_may_not_have_a_task_learn_it_before_they_write(served):
    owner, project, (task, _other) = await made(served)
    key, api = await served.person("second"), f"/api/project/{project['id']}"
    await served.database.execute(
        "SELECT set_owners(id, owner_id, owners_ids || %(co)s, clock()) FROM project", {"co": key.user_id}
    )
    barred, anonymous, member = await newcomer(served, "ada"), served.client(), await newcomer(served, "bob")
    form = f"/project/{project['short_name']}/task/{task}/comment"
    assert (await said(barred, project, task)).json()["status"] == "success"
    (row,) = (await owner.page(f"/project/{project['short_name']}/comments")).json()["comments"]
    assert (await key.post(f"{api}/bar", json={"volunteer": row["volunteer"]})).status == 200

    async def refused(browser):
        await browser.post(form, json={"kind": "problem", "text": "This must not be stored"})
        return (await browser.page(form)).status

    assert await refused(barred) == 403
    assert (await key.put(api, json={"allow_anonymous_contributors": False})).status == 200
    assert await refused(anonymous) in (302, 401)
    assert (await said(member, project, task, "As a member")).json()["status"] == "success"
    await lock(served, project["short_name"], key, "hush hush hush")
    assert await refused(member) == 403
    assert (await anonymous.get(form, headers=HTML)).status == 302
    assert (await said(owner, project, task, "As an owner")).json()["status"] == "success"
    assert (await owner.send_form(f"/project/{project['short_name']}/pause", {}, form)).json()["status"] == "success"
    assert await refused(owner) == 403
    draft = await served.project(key, "draft", tasks=1)
    form = f"/project/draft/task/{draft['tasks'][0]}/comment"
    assert await refused(member) == 404
    assert (await said(await signed_in(served, "second"), draft, draft["tasks"][0], "While I try it")).json()[
        "status"
    ] == "success"
    assert [text for _task, text in await stored(served)] == [
        "The picture is black.", "As a member", "As an owner", "While I try it",
    ]  # fmt: skip


@pytest_twisted.ensureDeferred
async def test_they_follow_the_answers_and_go_with_task_account_and_project(served):
    owner, project, (task, other) = await made(served)
    browser, carol = served.client(), await newcomer(served, "carol")
    await browser.get("/about")
    assert (await said(carol, project, task, "By Carol")).json()["status"] == "success"
    for one in (task, other):
        assert (await said(browser, project, one)).json()["status"] == "success"
    next_task = (await browser.get(f"/api/{project['id']}/newtask")).json()
    answer = {"project_id": project["id"], "task_id": next_task["id"], "info": "a"}
    code = (await browser.post("/api/taskrun", json=answer)).json()["volunteer"]
    await browser.send_form("/account/register", {**registration("ada"), "claim": True})
    at = f"/project/{project['short_name']}/comments"
    codes = [row["volunteer"] for row in (await owner.page(at)).json()["comments"]]
    assert codes[:2] == [code, code] and codes[2] != code
    await browser.page("/account/ada/export")
    await worked(served)
    file = await browser.get((await browser.page("/account/ada/export")).json()["export"]["url"])
    rows = json.loads(zipfile.ZipFile(io.BytesIO(file.body)).read("comments.json"))
    assert [(row["task_id"], row["text"]) for row in rows] == [(one, "The picture is black.") for one in (task, other)]
    await served.database.execute(
        "SELECT clear_tasks(%(project)s, ARRAY[%(task)s::bigint])", {"project": project["id"], "task": other}
    )
    assert await stored(served) == [(task, "By Carol"), (task, "The picture is black.")]
    assert (await browser.send_form("/account/ada/delete", {"password": PASSWORD})).json()["status"] == "success"
    await worked(served)
    assert await stored(served) == [(task, "By Carol")]
    sent = await owner.send_form(f"/project/{project['short_name']}/delete", {"confirm": project["short_name"]})
    assert sent.json()["status"] == "success"
    await worked(served)
    assert await stored(served) == [] and (await owner.page(at)).status == 404
