"""Comments on tasks: who may write and read them, their limits, and what deletes them."""

from __future__ import annotations

import pytest
import pytest_twisted
from support.browsers import newcomer, signed_in
from support.checks.shows import shows
from twisted.internet.defer import Deferred, gatherResults

from crowdd.domain.tasks import comments

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
    assert "Volunteers wrote 1 comment." in home + overview
    for path in (at, f"/project/{project['short_name']}/tasks/{task}"):
        assert "The picture is black." in (await owner.get(path, headers=HTML)).text
    assert "The picture is black." in (await owner.get(f"{at}?csv=1", headers=HTML)).text
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


@pytest.mark.parametrize(
    "closed",
    ["UPDATE project SET published = false", "UPDATE project SET published = false, first_published = NULL"],
    ids=["paused", "draft"],
)
@pytest_twisted.ensureDeferred
async def test_a_closed_project_takes_none(served, closed):
    _owner, project, (task, _other) = await made(served)
    browser = served.client()
    await served.database.execute(closed)
    ledger = "paused = true" if "first" not in closed else "trial = true"
    await served.database.execute(f"UPDATE project_ledger SET {ledger}")
    path = f"/project/{project['short_name']}/task/{task}/comment"
    answer = await browser.post(path, json={"kind": "problem", "text": "x"})
    assert answer.status in (400, 401, 403, 404) and await stored(served) == []


@pytest_twisted.ensureDeferred
async def test_they_go_with_their_task_and_with_their_author(served):
    _owner, project, (task, other) = await made(served)
    ada = await newcomer(served, "ada")
    for one in (task, other):
        assert (await said(ada, project, one)).json()["status"] == "success"
    await served.database.execute(
        "SELECT clear_tasks(%(project)s, ARRAY[%(task)s::bigint])", {"project": project["id"], "task": task}
    )
    assert await stored(served) == [(other, "The picture is black.")]
    await served.database.execute("DELETE FROM account WHERE name = 'ada'")
    assert await stored(served) == []
