"""The page at the end of the tasks: it tells a volunteer of their own answers, and of results as far as they may see any."""

from __future__ import annotations

import re
from typing import Any

import pytest
import pytest_twisted
from support.browsers import lock
from support.checks.shows import shows
from twisted.internet.defer import ensureDeferred, gatherResults

from crowdd.features.presenters.thanks import choose_projects, choose_readings

pytestmark = pytest.mark.inside

HTML = {"Accept": "text/html"}
AT = "/project/birds/thanks"
FOX = r'<table class="shares outcome">.*?<bdi>fox</bdi></th><td class="num">.*?<span class="figure">1</span>'
"""What the project found: a task whose result is a fox."""


async def visitor(served: Any) -> Any:
    """A browser that has a volunteer cookie."""
    browser = served.client()
    await browser.get("/about", headers=HTML)
    assert "volunteer" in browser.cookies
    return browser


async def answer(who: Any, project: dict[str, Any], info: Any) -> int:
    task = (await who.get(f"/api/{project['id']}/newtask")).json()
    body = {"project_id": project["id"], "task_id": task["id"], "info": info}
    assert (await who.post("/api/taskrun", json=body)).status == 200
    return int(task["id"])


async def built(served: Any, **more: Any) -> tuple[Any, dict[str, Any]]:
    owner = await served.person("owner")
    return owner, await served.project(owner, "birds", tasks=3, published=True, **more)


def marks(page: Any) -> tuple[int, int]:
    """All of them, and those that wait."""
    drawn = re.search(r'<svg class="answer-marks flip".*?</svg>', page.text, re.DOTALL)[0]
    return drawn.count("<path"), drawn.count('class="wait"')


@shows("page-thanks")
@pytest_twisted.ensureDeferred
async def test_a_browser_and_an_account_see_what_they_did_and_what_became_of_it(served):
    _owner, project = await built(served)
    ada, browser = await served.person("ada"), await visitor(served)
    first = await answer(browser, project, "fox")
    await answer(browser, project, "owl")
    assert await answer(ada, project, "fox") == first
    page = (await browser.page(AT)).json()
    assert (page["done"], page["recent"], page["settled"]) == (2, 2, 1)
    reading = {"task_id": first, "answer": "fox", "result": "fox", "same": True, "n": 2, "total": 2}
    assert page["readings"] == [reading] and page["template"] == "project/thanks.html"
    drawn = await browser.get(AT, headers=HTML)
    assert marks(drawn) == (2, 1) and "2 answers from you" in drawn.text and "/account/register?" in drawn.text
    assert re.search(FOX, drawn.text, re.DOTALL)
    own = (await ada.page(AT)).json()
    assert (own["done"], own["settled"], own["readings"]) == (1, 1, [reading])
    drawn = await (await ada.by_session()).get(AT, headers=HTML)
    assert marks(drawn) == (1, 0) and "/account/ada/answers" in drawn.text and "/account/register?" not in drawn.text


@shows("page-thanks")
@pytest_twisted.ensureDeferred
async def test_an_answer_that_the_others_did_not_give_is_told_with_the_result(served):
    _owner, project = await built(served, n_answers=3)
    people = [await served.person(name) for name in ("ada", "bob", "cid")]
    for person, info in zip(people, ("owl", "fox", "fox"), strict=True):
        await answer(person, project, info)
    (reading,) = (await people[0].page(AT)).json()["readings"]
    assert [reading[name] for name in ("answer", "result", "same", "n", "total")] == ["owl", "fox", False, 2, 3]
    drawn = await (await people[0].by_session()).get(AT, headers=HTML)
    assert "2 of 3 answers say this." in drawn.text


@pytest_twisted.ensureDeferred
async def test_nothing_of_one_volunteer_is_on_the_page_of_another(served):
    _owner, project = await built(served, n_answers=1)
    browsers = [await visitor(served) for _ in range(3)]
    words = ("heron", "bittern", "egret")
    await gatherResults([ensureDeferred(answer(one, project, word)) for one, word in zip(browsers, words, strict=True)])
    pages = await gatherResults([ensureDeferred(one.get(AT, headers=HTML)) for one in browsers])
    for page, own in zip(pages, words, strict=True):
        of_theirs, results = page.text.split('<section class="band near stack" aria-labelledby="hear">')
        assert [word for word in words if word in of_theirs] == [own]
        assert all(f"<bdi>{word}</bdi>" in results for word in words)  # of which everybody sees the results
        assert page.header("cache-control") == "no-store"
    nobody = await visitor(served)
    page = (await nobody.page(AT)).json()
    assert (page["done"], page["recent"], page["readings"]) == (0, 0, [])
    assert "You have not answered here yet" in (await nobody.get(AT, headers=HTML)).text


@pytest_twisted.ensureDeferred
async def test_results_that_are_not_public_are_told_to_nobody_but_owners(served):
    owner, project = await built(served, n_answers=1)
    browser = await visitor(served)
    await answer(browser, project, "fox")
    await answer(owner, project, "fox")
    await owner.put(f"/api/project/{project['id']}", json={"zip_download": False})
    page = (await browser.page(AT)).json()
    assert (page["done"], page["recent"], page["settled"], page["readings"]) == (1, 1, None, [])
    drawn = await browser.get(AT, headers=HTML)
    assert marks(drawn) == (1, 0) and "/project/birds/results" not in drawn.text and "fox" not in drawn.text
    assert (await owner.page(AT)).json()["settled"] == 1


@pytest_twisted.ensureDeferred
async def test_a_project_with_gold_tasks_tells_nothing_of_results(served):
    owner, project = await built(served, n_answers=1)
    browser = await visitor(served)
    await answer(browser, project, "fox")
    gold = {"task_id": project["tasks"][2], "answer": "fox"}
    assert (await owner.post(f"/api/project/{project['id']}/gold", json=gold)).status == 200
    page = (await browser.page(AT)).json()
    assert (page["settled"], page["readings"]) == (None, [])
    drawn = (await browser.get(AT, headers=HTML)).text
    assert "<bdi>fox</bdi>" not in drawn and not re.search(FOX, drawn, re.DOTALL)


@pytest_twisted.ensureDeferred
async def test_hidden_columns_of_a_task_are_not_on_the_page(served):
    owner, project = await built(served, n_answers=1)
    sql = """UPDATE task SET info = '{"url": "/uploads/p/a.png", "secret": "/uploads/p/b.png"}' WHERE project_id = %(p)s RETURNING 1"""
    await served.database.fetch(sql, {"p": project["id"]})
    info = {"task_presenter": "<p>?</p>", "column_roles": {"secret": "hidden", "url": "picture"}}
    assert (await owner.put(f"/api/project/{project['id']}", json={"info": info})).status == 200
    browser = await visitor(served)
    await answer(browser, project, "fox")
    drawn = await browser.get(AT, headers=HTML)
    assert "/uploads/p/a.png" in drawn.text and "b.png" not in drawn.text


@pytest_twisted.ensureDeferred
async def test_a_locked_project_and_a_draft_have_no_such_page(served):
    owner, _project = await built(served)
    await served.project(owner, "draft", tasks=1)
    await lock(served, "birds", owner, "sesame")
    browser = await visitor(served)
    assert (await browser.get(AT, headers=HTML)).status == 302
    assert (await browser.get("/project/draft/thanks", headers=HTML)).status == 404


@shows("page-thanks")
@pytest_twisted.ensureDeferred
async def test_three_other_projects_with_open_tasks_come_next(served):
    owner, _project = await built(served, n_answers=1)
    for name in ("one", "two", "three", "four"):
        await served.project(owner, name, tasks=1, published=True)
    await served.project(owner, "hidden", tasks=1)
    await served.project(owner, "empty", published=False)
    await served.project(owner, "shut", tasks=1, published=True)
    await lock(served, "shut", owner, "sesame")
    picture = "UPDATE project SET info = info || '{\"thumbnail_url\": \"/uploads/x/y.webp\"}' WHERE short_name = 'one' RETURNING 1"
    await served.database.fetch(picture, {})
    projects = (await (await visitor(served)).page(AT)).json()["projects"]
    names = [one["short_name"] for one in projects]
    assert len(names) == 3 and names[0] == "one" and set(names) < {"one", "two", "three", "four"}


# Rules


def reading(task_id: int, *, same: bool) -> Any:
    return {"task_id": task_id, "same": same}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([], []),
        ([True], [0]),
        ([True, True, True], [0, 1]),
        ([True, True, False], [0, 2]),
        ([False, False, True], [0, 2]),
    ],
)
def test_two_readings_are_shown_and_one_of_each_kind_if_there_is(given, expected):
    readings = [reading(number, same=same) for number, same in enumerate(given)]
    assert [one["task_id"] for one in choose_readings(readings)] == expected


def test_projects_with_pictures_come_first_and_finished_ones_do_not_come():
    def project(number: int, *, picture: str = "", tasks: int = 1, progress: int = 0) -> Any:
        return {"id": number, "info": {"thumbnail_url": picture}, "n_tasks": tasks, "overall_progress": progress}

    rows = [project(1), project(2, progress=100), project(3, tasks=0), project(4, picture="x"), project(5), project(6)]
    assert [one["id"] for one in choose_projects(rows, 5)] == [4, 1, 6]
