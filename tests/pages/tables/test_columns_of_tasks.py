"""The page of the columns of tasks: roles that owners change after an import, and what volunteers get."""

from __future__ import annotations

import pytest_twisted
from support.browsers import newcomer, signed_in
from support.checks.shows import shows
from twisted.internet.defer import Deferred, gatherResults

AT = "/project/birds/tasks/columns"
HTML = {"Accept": "text/html", "Sec-Fetch-Site": "same-origin"}


async def made(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    infos = [{"scan": f"https://example.org/{n}.jpg", "nest": "Old oak", "n": n} for n in range(2)]
    await owner.post("/api/task", json=[{"project_id": project["id"], "info": info} for info in infos])
    assert (await owner.post("/project/birds/publish", json={})).status == 200
    return owner, project, await signed_in(served, "owner")


async def roles(browser):
    return {column["name"]: column["role"] for column in (await browser.page(AT)).json()["columns"]}


@shows("page-columns")
@pytest_twisted.ensureDeferred
async def test_an_owner_hides_a_column_after_the_import(served):
    _owner, project, browser = await made(served)
    page = (await browser.page(AT)).json()
    assert [(one["name"], one["values"]) for one in page["columns"]] == [
        ("n", ["0", "1"]), ("nest", ["Old oak", "Old oak"]),
        ("scan", ["https://example.org/0.jpg", "https://example.org/1.jpg"]),
    ]  # fmt: skip
    form = {"name_0": "nest", "role_0": "hidden", "name_1": "scan", "role_1": "picture", "base": page["form"]["base"]}
    tried = await browser.send_form(AT, {**form, "check": "y"})
    assert [one["role"] for one in tried.json()["columns"]] == ["", "hidden", "picture"]
    assert await roles(browser) == {"n": "", "nest": "", "scan": ""}
    assert (await browser.send_form(AT, form)).json()["status"] == "success"
    volunteer = served.client()
    task = (await volunteer.get(f"/api/{project['id']}/newtask")).json()
    assert task["info"] == {"scan": "https://example.org/0.jpg", "n": 0}
    text = (await browser.get(AT, headers=HTML)).text
    assert "Volunteers do not get: nest." in text
    link = (await browser.get("/project/birds/tasks/", headers=HTML)).text
    assert f'href="{AT}"' in link
    assert (await browser.send_form(AT, {"roles": {"scan": ""}})).json()["status"] == "success"
    assert await roles(browser) == {"n": "", "nest": "hidden", "scan": ""}, "others stay"


@pytest_twisted.ensureDeferred
async def test_what_is_refused_changes_nothing(served):
    _owner, _project, browser = await made(served)
    for body in ({"roles": {"nest": "secret"}}, {"roles": "x"}, {}, {"name_0": "nest", "role_0": "secret"}):
        assert (await browser.send_form(AT, body)).status == 415, body
    assert await roles(browser) == {"n": "", "nest": "", "scan": ""}
    stranger = await newcomer(served, "ada")
    assert (await stranger.page(AT)).status == 403
    assert (await stranger.send_form(AT, {"roles": {"nest": "title"}}, "/account/ada/update")).status == 403
    assert (await served.client().page(AT)).status in (302, 401)


@pytest_twisted.ensureDeferred
async def test_two_owners_at_once_do_not_undo_each_other(served):
    _owner, _project, browser = await made(served)
    base = (await browser.page(AT)).json()["form"]["base"]
    chosen = ({"roles": {"nest": "hidden"}, "base": base}, {"roles": {"nest": "title", "n": "hidden"}, "base": base})
    answers = [
        each.json()
        for each in await gatherResults([Deferred.fromCoroutine(browser.send_form(AT, each)) for each in chosen])
    ]
    (saved,) = [nth for nth, answer in enumerate(answers) if answer["status"] == "success"]
    refused = answers[1 - saved]
    assert "changed meanwhile" in refused["form"]["errors"]["roles"][0] and refused["form"]["base"] != base
    assert {one["name"]: one["role"] for one in refused["columns"]}["nest"] == chosen[1 - saved]["roles"]["nest"]
    assert (await roles(browser))["nest"] == chosen[saved]["roles"]["nest"]
    again = {**chosen[1 - saved], "base": refused["form"]["base"]}
    assert (await browser.send_form(AT, again)).json()["status"] == "success"
