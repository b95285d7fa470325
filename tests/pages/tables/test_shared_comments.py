"""Comments that volunteers read after their own answer: who reads which, what holds one back, and what is left of one."""

from __future__ import annotations

from typing import Any

import pytest_twisted
from support.browsers import newcomer, signed_in
from support.checks.shows import shows
from support.factors import pass_time
from support.servers.queue_runner import worked
from twisted.internet.defer import ensureDeferred, gatherResults

HTML = {"Accept": "text/html", "Sec-Fetch-Site": "same-origin"}
AT = "/project/birds/comments"


async def talking(served: Any, *names: str, shared: bool = True) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """A project whose comments are shared, its owner's browser, and the browsers of those who answered its first task."""
    key = await served.person("owner")
    project = await served.project(key, "birds", tasks=2, published=True, n_answers=9)
    info = {"task_presenter": "<p>?</p>", "shared_comments": shared}
    assert (await key.put(f"/api/project/{project['id']}", json={"info": info})).status == 200
    browsers = {name: await newcomer(served, name) for name in names}
    for browser in browsers.values():
        task = (await browser.get(f"/api/{project['id']}/newtask")).json()
        assert task["id"] == project["tasks"][0]
        body = {"project_id": project["id"], "task_id": task["id"], "info": "fox"}
        assert (await browser.post("/api/taskrun", json=body)).status == 200
    return await signed_in(served, "owner"), project, browsers


def form_of(project: dict[str, Any], task: int = 0) -> str:
    return f"/project/birds/task/{project['tasks'][task]}/comment"


async def write(browser: Any, project: dict[str, Any], text: str, task: int = 0) -> int:
    sent = await browser.send_form(form_of(project, task), {"kind": "remark", "text": text})
    assert sent.json()["status"] == "success", sent.body
    return int(max(one["id"] for one in (await browser.page(form_of(project, task))).json()["comments"]))


async def read(browser: Any, project: dict[str, Any], task: int = 0) -> list[str]:
    return [one["text"] for one in (await browser.page(form_of(project, task))).json()["comments"]]


@shows("page-shared-comments")
@pytest_twisted.ensureDeferred
async def test_who_has_answered_a_task_reads_what_others_wrote_and_what_the_owner_replies(served):
    owner, project, people = await talking(served, "ada", "bob")
    stranger = await newcomer(served, "eve")
    number = await write(people["ada"], project, "<b>A young fox?</b>")
    assert await read(people["bob"], project) == ["<b>A young fox?</b>"]
    page = (await people["bob"].get(form_of(project), headers=HTML)).text
    assert "&lt;b&gt;A young fox?&lt;/b&gt;" in page and "Everybody who has answered this task reads it" in page
    assert await read(stranger, project) == [] and await read(people["bob"], project, 1) == []
    await write(stranger, project, "I have not answered it.")
    assert await read(people["bob"], project) == ["<b>A young fox?</b>"], "this one is for the owners"
    assert (await owner.send_form(f"{AT}/{number}/reply", {"text": "Yes."}, AT)).json()["status"] == "success"
    (seen,) = (await people["bob"].page(form_of(project))).json()["comments"]
    assert seen["replies"][0]["text"] == "Yes." and not seen["own"]
    assert [one["kind"] for one in (await people["ada"].page("/account/ada/news")).json()["news"]] == ["reply"]


@pytest_twisted.ensureDeferred
async def test_it_is_off_by_default_and_closed_with_answers_and_while_there_are_gold_tasks(served):
    _owner, project, people = await talking(served, "ada", "bob", shared=False)
    await write(people["ada"], project, "For the owners.")
    await served.database.execute("UPDATE project SET info = info || '{\"shared_comments\": true}'")
    assert await read(people["bob"], project) == [], "what was written to owners stays with them"
    await write(people["ada"], project, "For all.")
    assert await read(people["bob"], project) == ["For all."]
    for closed, opened in (("zip_download = false", "zip_download = true"), ("has_gold = true", "has_gold = false")):
        await served.database.execute(f"UPDATE project SET {closed}")
        for task in (0, 1):
            page = (await people["bob"].page(form_of(project, task))).json()
            assert (page["comments"], page["shared"]) == ([], False)
        await served.database.execute(f"UPDATE project SET {opened}")
    assert await read(people["bob"], project) == ["For all."]


@pytest_twisted.ensureDeferred
async def test_three_reports_hold_a_comment_and_an_owner_decides(served):
    owner, project, people = await talking(served, "ada", "bob", "carol", "dora")
    number, stranger = await write(people["ada"], project, "You are all wrong."), await newcomer(served, "eve")
    report = f"{form_of(project)}/{number}/report"
    assert (await stranger.send_form(report, {}, form_of(project))).status == 404
    assert (await people["ada"].send_form(report, {}, form_of(project))).status == 404, "it is their own"
    for _twice in range(2):
        assert (await people["bob"].send_form(report, {}, form_of(project))).json()["status"] == "success"
    assert await read(people["carol"], project) == ["You are all wrong."]
    both = [ensureDeferred(people[name].send_form(report, {}, form_of(project))) for name in ("carol", "dora")]
    assert {answer.status for answer in await gatherResults(both)} == {200}
    assert await read(people["carol"], project) == []
    (own,) = (await people["ada"].page(form_of(project))).json()["comments"]
    assert own["state"] == "held"
    (held,) = (await owner.page(f"{AT}?state=held")).json()["comments"]
    assert (held["id"], held["n_reports"]) == (number, 3)
    assert (await people["bob"].send_form(f"{AT}/{number}/show", {}, form_of(project))).status == 403
    for act, seen in (("show", ["You are all wrong."]), ("hide", []), ("show", ["You are all wrong."])):
        assert (await owner.send_form(f"{AT}/{number}/{act}", {}, AT)).json()["status"] == "success"
        assert await read(people["carol"], project) == seen
    assert (await people["carol"].send_form(report, {}, form_of(project))).json()["status"] == "success"
    assert await read(people["carol"], project) == ["You are all wrong."], "an owner has approved it"
    assert (await owner.send_form(f"{AT}/{10**9}/hide", {}, AT)).status == 404


@pytest_twisted.ensureDeferred
async def test_a_link_of_a_newcomer_waits_for_an_owner(served):
    owner, project, people = await talking(served, "ada", "bob")
    for text in ("See https://spam.example/", "WWW.spam.example", "buy at spam.com now"):
        number = await write(people["ada"], project, text)
        assert await read(people["bob"], project) == []
    assert "Waits for the owners" in (await people["ada"].get(form_of(project), headers=HTML)).text
    assert (await owner.send_form(f"{AT}/{number}/show", {}, AT)).json()["status"] == "success"
    assert await read(people["bob"], project) == ["buy at spam.com now"]
    await pass_time(served, days=8)
    await write(people["ada"], project, "As in https://atlas.example/, e.g. on page 3.")
    assert len(await read(people["bob"], project)) == 2


@pytest_twisted.ensureDeferred
async def test_a_deleted_account_leaves_a_place_without_words(served):
    owner, project, people = await talking(served, "ada", "bob")
    number = await write(people["ada"], project, "I am Ada.")
    await owner.send_form(f"{AT}/{number}/reply", {"text": "Hello."}, AT)
    await people["bob"].send_form(f"{form_of(project)}/{number}/report", {}, form_of(project))
    for name in ("ada", "bob"):
        gone = await people[name].send_form(f"/account/{name}/delete", {"confirm": name, "password": "a good password"})
        assert gone.status == 200, gone.body
    await worked(served)
    rows = await served.database.fetch("SELECT user_id, actor, text, state FROM task_comment WHERE NOT by_owner")
    assert [tuple(row.values()) for row in rows] == [(None, "gone", "-", "gone")]
    assert await served.database.fetch("SELECT FROM comment_report") == []
    carol = await newcomer(served, "carol")
    body = {"project_id": project["id"], "task_id": project["tasks"][0], "info": "fox"}
    assert (await carol.get(f"/api/{project['id']}/newtask")).json()["id"] == project["tasks"][0]
    assert (await carol.post("/api/taskrun", json=body)).status == 200
    page = (await carol.get(form_of(project), headers=HTML)).text
    assert "Deleted account" in page and "Hello." in page and "I am Ada" not in page
