"""Own answers and favourites: complete, page by page, with what one may still see, and for nobody else."""

from __future__ import annotations

from typing import Any

import pytest_twisted
from support.browsers import lock, signed_in
from support.checks.page_reader import Page, faults
from support.checks.shows import shows
from twisted.internet.defer import ensureDeferred, gatherResults

from crowdd.features.community import favourites

HTML = {"Accept": "text/html"}


async def answer(who: Any, project: Any, info: Any) -> int:
    task = (await who.get(f"/api/{project['id']}/newtask")).json()
    body = {"project_id": project["id"], "task_id": task["id"], "info": info}
    made = await who.post("/api/taskrun", json=body)
    assert made.status == 200, made.body
    return int(task["id"])


@shows("account-answers")
@pytest_twisted.ensureDeferred
async def test_own_answers_come_page_by_page(served, monkeypatch):
    monkeypatch.setattr(favourites, "PER_PAGE", 2)
    owner, ada = await served.person("owner"), await served.person("ada")
    picture = "/uploads/project-1/0123456789abcdef0123456789abcdef.png"
    birds = await served.project(owner, tasks=6, published=True, info={"image": picture})
    done = [await answer(ada, birds, {"answer": f"<b>owl {n}</b>"}) for n in range(5)]
    browser = await signed_in(served, "ada")
    answers, before, first = [], "", True
    while True:
        page = (await browser.page(f"/account/ada/answers{before}")).json()
        assert page.keys() == {"template", "title", "answers", "next", "projects"} and len(page["answers"]) <= 2
        assert [project["short_name"] for project in page["projects"]] == (["birds"] if first else [])
        answers += page["answers"]
        if page["next"] is None:
            break
        before, first = f"?before={page['next']}", False
    assert [one["task_id"] for one in answers] == done[::-1]
    assert answers[0].keys() == {"id", "task_id", "finish_time", "counted", "trial", "info", "task", "project"}
    assert answers[0]["task"]["info"] == {"image": picture} and answers[0]["project"]["name"] == "Birds"
    html = (await browser.get("/account/ada/answers", headers=HTML)).text
    assert f'src="{picture}"' in html and "&lt;b&gt;owl 4&lt;/b&gt;" in html and faults(Page(html)) == []
    assert (await browser.page("/account/ada/answers?before=x")).status == 415


@pytest_twisted.ensureDeferred
async def test_own_answers_are_shown_as_words(served):
    owner, ada = await served.person("owner"), await served.person("ada")
    birds = await served.project(owner, tasks=5, published=True)
    for info in ({"answer": None}, {"kinds": ["owl", "kite"]}, {"answer": "owl", "sure": True}, True, 7):
        await answer(ada, birds, info)
    html = (await (await signed_in(served, "ada")).get("/account/ada/answers", headers=HTML)).text
    shown = [" ".join(heading.text.split()) for heading in Page(html).all("h3")]
    assert shown[-5:] == ["7", "Yes", "sure: Yes, answer: owl", "owl, kite", "Can’t tell"]


@shows("account-answers")
@pytest_twisted.ensureDeferred
async def test_projects_to_continue_are_those_with_a_task_left_for_the_person(served):
    owner, ada = await served.person("owner"), await served.person("ada")
    for name, tasks, answers in (("all-mine", 2, 2), ("some", 2, 1), ("other", 2, 0), ("shut", 2, 1)):
        project = await served.project(owner, name, tasks=tasks, published=True)
        for _ in range(answers):
            await answer(ada, project, "owl")
    browser = await signed_in(served, "ada")

    async def projects() -> list[str]:
        return [one["short_name"] for one in (await browser.page("/account/ada/answers")).json()["projects"]]

    assert await projects() == ["shut", "some"]
    assert (await owner.post("/project/shut/pause", json={})).status == 200
    assert await projects() == ["some"]


@shows("account-answers", "account-favourites")
@pytest_twisted.ensureDeferred
async def test_only_the_person_sees_them(served):
    await served.person("ada")
    await served.person("boss", admin=True)
    await served.person("eve")
    for name, status in (("ada", 200), ("eve", 403), ("boss", 403)):
        browser = await signed_in(served, name)
        for page in ("answers", "favourites"):
            assert (await browser.page(f"/account/ada/{page}")).status == status
        removed = await browser.send_form("/account/ada/favourites/1/remove", {}, f"/account/{name}/favourites")
        assert removed.status == (404 if name == "ada" else 403)
    assert (await served.client().get("/account/ada/answers", headers=HTML)).status == 302


@shows("account-answers")
@pytest_twisted.ensureDeferred
async def test_of_a_project_that_was_locked_one_sees_what_one_gave_oneself(served):
    owner, ada = await served.person("owner"), await served.person("ada")
    birds = await served.project(owner, tasks=1, published=True)
    await answer(ada, birds, "owl")
    task = birds["tasks"][0]
    assert (await ada.post("/api/favorites", json={"task_id": task})).status == 200
    await lock(served, "birds", owner, "sesame")
    browser = await signed_in(served, "ada")
    (one,) = (await browser.page("/account/ada/answers")).json()["answers"]
    assert (one["info"], one["task"]) == ("owl", None)
    assert (await browser.page("/account/ada/favourites")).json()["favourites"] == []
    assert faults(Page((await browser.get("/account/ada/answers", headers=HTML)).text)) == []


@shows("account-favourites")
@pytest_twisted.ensureDeferred
async def test_favourites_are_listed_and_removed_once_by_two_at_once(served, monkeypatch):
    monkeypatch.setattr(favourites, "PER_PAGE", 2)
    owner, ada = await served.person("owner"), await served.person("ada")
    birds = await served.project(owner, tasks=3, published=True, info={"title": "An <owl>"})
    for task in birds["tasks"]:
        await ada.post("/api/favorites", json={"task_id": task})
    await owner.post("/api/favorites", json={"task_id": birds["tasks"][0]})
    browser = await signed_in(served, "ada")
    page = (await browser.page("/account/ada/favourites")).json()
    assert page.keys() == {"template", "title", "favourites", "next", "form"}
    assert [one["task"]["id"] for one in page["favourites"]] == birds["tasks"][:0:-1]
    rest = (await browser.page(f"/account/ada/favourites?before={page['next']}")).json()
    assert [one["task"]["id"] for one in rest["favourites"]] == birds["tasks"][:1] and rest["next"] is None
    html = (await browser.get("/account/ada/favourites", headers=HTML)).text
    assert "An &lt;owl&gt;" in html and faults(Page(html)) == []
    address, token = f"/account/ada/favourites/{birds['tasks'][2]}/remove", page["form"]["csrf"]
    posts = [browser.post(address, json={}, headers={"X-CSRFToken": token}) for _ in range(2)]
    answers = await gatherResults([ensureDeferred(post) for post in posts])
    assert sorted(answer.status for answer in answers) == [200, 404]
    left = (await browser.page("/account/ada/favourites")).json()["favourites"]
    assert [one["task"]["id"] for one in left] == birds["tasks"][1::-1]
