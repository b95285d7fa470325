"""What the page of a project tells of it is what its rows say, and only to those who may know it."""

from __future__ import annotations

import re
from typing import Any

import pytest
import pytest_twisted
from support.checks.explained import Explained
from support.checks.page_reader import Page, faults
from twisted.internet.defer import ensureDeferred, gatherResults

from crowdd.features.presenters.overview import HERE_MINUTES
from crowdd.features.projects import list_statements as project_list_statements

HTML = {"Accept": "text/html"}


async def answer(who: Any, project: Any, info: Any) -> None:
    task = (await who.get(f"/api/{project['id']}/newtask")).json()
    body = {"project_id": project["id"], "task_id": task["id"], "info": {"answer": info}}
    assert (await who.post("/api/taskrun", json=body)).status == 200


async def text(who: Any, name: str = "birds") -> str:
    """The words of the page."""
    got = await who.get(f"/project/{name}/", headers=HTML)
    assert got.status == 200 and faults(Page(got.text)) == []
    return re.sub(r"\s+", " ", re.sub(r"<(script|style).*?</\1>|<[^>]*>", " ", got.text))


async def here(served: Any, project: Any) -> int:
    figures = await project_list_statements.read_overview(served.database, project["id"], HERE_MINUTES, 5)
    return figures["n_here"]


@pytest_twisted.ensureDeferred
async def test_the_page_tells_subject_people_agreement_and_what_was_agreed_on(served):
    owner, ada, eve = [await served.person(name) for name in ("owner", "ada", "eve")]
    birds = await served.project(owner, tasks=3, published=True, info={"title": "A <perch>"})
    visitor = served.client()
    before = await text(visitor)
    assert "Just agreed on" not in before and "Most answers" not in before and "agreement" not in before
    for who, answers in ((ada, ("owl", "owl")), (eve, ("owl", "cat"))):
        for one in answers:
            await answer(who, birds, one)
    await served.database.execute("UPDATE account SET fullname = 'Ada L.', privacy_mode = name <> 'ada'")
    shown = await text(visitor)
    subject = (await served.database.fetch("SELECT c.name FROM category c JOIN project p ON c.id = p.category_id"))[0]
    assert subject["name"] in shown
    assert re.search(r"average agreement, n = 2 50 %", shown.replace("\xa0", " "))
    agreed = shown.split("Just agreed on", 1)[1].split("Most answers", 1)[0]
    assert re.findall(r"\w+ of \d agree", agreed) == ["2 of 2 agree"] and "owl" in agreed and "cat" not in agreed
    assert "A &lt;perch&gt;" in agreed
    people = shown.split("Most answers", 1)[1].split("Share", 1)[0]
    assert re.findall(r"(Ada L\.|eve) (\d)", people) == [("Ada L.", "2"), ("eve", "2")]
    await served.database.execute("UPDATE account SET \"restrict\" = true WHERE name = 'eve'")
    assert "eve" not in await text(visitor)


@pytest_twisted.ensureDeferred
async def test_answers_that_are_not_public_are_told_to_owners_only(served):
    owner, ada, eve = [await served.person(name) for name in ("owner", "ada", "eve")]
    birds = await served.project(owner, tasks=1, published=True)
    for who in (ada, eve):
        await answer(who, birds, "owl")
    assert (await owner.put(f"/api/project/{birds['id']}", json={"zip_download": False})).status == 200
    for who, sees in ((served.client(), False), (ada, False), (owner, True)):
        shown = await text(who)
        assert ("Just agreed on" in shown, "average agreement" in shown, "owl" in shown) == (sees, sees, sees)
        assert "Most answers" in shown
    assert "overview" not in (await ada.page("/project/birds/")).json()


@pytest_twisted.ensureDeferred
async def test_a_draft_tells_nothing_of_its_trials(served):
    owner, ada = await served.person("owner"), await served.person("ada")
    birds = await served.project(owner, tasks=1, n_answers=1)
    await answer(owner, birds, "owl")
    await owner.get(f"/api/{birds['id']}/newtask")
    shown = await text(owner)
    assert not any(words in shown for words in ("Just agreed on", "Most answers", "here now"))
    assert (await ada.get("/project/birds/", headers=HTML)).status == 404


@pytest_twisted.ensureDeferred
async def test_people_are_here_while_a_task_was_reserved_for_them_lately(served):
    owner = await served.person("owner")
    birds = await served.project(owner, tasks=9, published=True)
    await served.project(owner, "cats", tasks=2, published=True)
    people = [await served.person(f"person{n}") for n in range(3)]

    async def ask(who: Any, limit: int = 1) -> Any:
        return (await who.get(f"/api/{birds['id']}/newtask?limit={limit}")).json()

    assert await here(served, birds) == 0 and "here now" not in await text(owner)
    first, *_rest = await gatherResults([ensureDeferred(ask(who, 2)) for who in people])
    assert await here(served, birds) == 3 and "3 people here now" in await text(served.client())
    await served.database.execute("UPDATE clock_shift SET ahead = ahead + interval '11 minutes'")
    assert await here(served, birds) == 0
    assert (await people[0].post(f"/api/task/{first[0]['id']}/renew", json={})).status == 200
    assert await here(served, birds) == 1 and "1 person here now" in await text(served.client())
    also = {"also": [first[1]["id"]]}
    assert (await people[0].post(f"/api/task/{first[0]['id']}/release", json=also)).status == 200
    assert await here(served, birds) == 0


@pytest_twisted.ensureDeferred
async def test_it_reads_a_bounded_part_of_results_and_leases(served):
    owner = await served.person("owner")
    birds = await served.project(owner, tasks=1, published=True)
    explained = Explained(served.database)
    looked = []
    for rows in (3000, 20000):
        await served.database.execute(
            "INSERT INTO result (project_id, task_id, created, version, last_version, task_run_ids, n_compared, agreement)"
            " SELECT %(p)s, -n, now(), %(rows)s, true, '{1,2}', 2, 1 FROM generate_series(1, %(rows)s) n",
            {"p": birds["id"], "rows": rows},
        )
        await served.database.execute("ANALYZE result")
        with pytest.raises(IndexError):  # it explains, and gives no row
            await project_list_statements.read_overview(explained, birds["id"], HERE_MINUTES, 5)  # type: ignore[arg-type]
        looked.append(explained.pages)
    assert looked[1] < looked[0] + 30, looked
