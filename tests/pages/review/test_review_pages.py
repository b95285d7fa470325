"""The review of completed tasks: its queue, decisions of reviewers, second opinions, and who may do it."""

from __future__ import annotations

import re
from typing import Any

import pytest_twisted
from support.browsers import newcomer, signed_in
from support.checks.page_reader import Page
from support.checks.shows import shows
from twisted.internet.defer import ensureDeferred, gatherResults

from crowdd.features.results.feature import ResultsFeature
from crowdd.http.html import frames

HTML = {"Accept": "text/html", "Sec-Fetch-Site": "same-origin"}
CHOICES = ["fox", "owl", None]
LABEL = {"name": "kind", "at": "/answer", "type": "label", "choices": ["fox", "owl"], "unsure": None}


class Project:
    """A published project with a label, whose tasks are answered in turn."""

    def __init__(self, served: Any) -> None:
        self.served = served

    async def build(self, said: list[list[Any]], n_answers: int = 3) -> Project:
        owner = self.program = await self.served.person("owner")
        self.people = [await self.served.person(f"person{nth}") for nth in range(n_answers)]
        made = await self.served.project(owner, tasks=len(said), published=True, n_answers=n_answers)
        info = {"task_presenter": "<p id=q>?</p>", "answers": [LABEL]}
        assert (await owner.put(f"/api/project/{made['id']}", json={"info": info})).status == 200
        self.id, self.tasks, self.at = made["id"], made["tasks"], f"/project/{made['short_name']}"
        for task, answers in zip(self.tasks, said, strict=True):
            for client, value in zip(self.people, answers, strict=False):
                assert (await client.get(f"/api/project/{self.id}/newtask")).json()["id"] == task
                body = {"project_id": self.id, "task_id": task, "info": {"answer": value}}
                assert (await client.post("/api/taskrun", json=body)).status == 200
        self.owner = await signed_in(self.served, "owner")
        return self

    async def result(self, task: int) -> dict[str, Any]:
        rows = (await self.owner.get(f"/api/result?task_id={task}&project_id={self.id}&last_version=true")).json()
        (latest,) = [row for row in rows if row["last_version"]]
        return latest

    async def reviewer(self, name: str) -> Any:
        browser = await newcomer(self.served, name)
        sent = await self.owner.send_form(f"{self.at}/reviewers", {"user": name})
        assert sent.json()["status"] == "success", sent.text
        return browser

    async def queue(self, browser: Any, query: str = "") -> list[int]:
        page = await browser.page(f"{self.at}/review{query}")
        assert page.status == 200, page.text
        return [one["task_id"] for one in page.json()["tasks"]]

    async def decide(self, browser: Any, task: int, class_: int | str, **more: Any) -> Any:
        path = f"{self.at}/review/{task}"
        seen = (await browser.page(path)).json()["result"]["result_id"]
        return (await browser.send_form(path, {"result_id": seen, "class": class_, **more}, path)).json()


async def rows(served: Any, sql: str, **values: Any) -> list[dict[str, Any]]:
    return [dict(row) for row in await served.database.fetch(sql, values)]


@shows("page-review", "page-review-task", "result-decision")
@pytest_twisted.ensureDeferred
async def test_the_least_certain_tasks_come_first_and_a_decision_is_a_new_version(served):
    project = await Project(served).build(
        [["fox", "fox", "fox"], ["fox", "owl", "fox"], ["cat", 7, {}], ["fox", "owl", None], ["owl", "owl", "owl"]]
    )
    sure, split, unfit, even, owls = project.tasks
    queue = await project.queue(project.owner)
    assert queue[:3] == [unfit, even, split] and {*queue[3:]} == {sure, owls}
    assert await project.queue(project.owner, "?which=none") == [unfit]
    assert await project.queue(project.owner, "?class=2") == [owls]
    page = (await project.owner.page(f"{project.at}/review/{split}")).json()
    assert page["result"]["choices"] == CHOICES and page["result"]["reason"] == "full"
    assert [one["class_"] for one in page["answers"]] == [1, 2, 1] and sum(page["result"]["posterior"]) > 0.999
    assert all(one["weight"] > 0 for one in page["answers"])
    before = await project.result(split)
    done = await project.decide(project.owner, split, 2)
    assert done["state"] == "decided" and done["next"].endswith(f"/review/{queue[3]}")
    after = await project.result(split)
    assert after["task_run_ids"] == before["task_run_ids"] and after["id"] == done["result_id"] != before["id"]
    kind = after["consensus"]["kind"]
    assert (kind["value"], kind["confidence"], kind["model"]) == ("owl", None, None), "nobody has measured the expert"
    assert split not in await project.queue(project.owner)
    assert await project.queue(project.owner, "?which=expert") == [split]
    (event,) = await rows(served, "SELECT kind, data FROM event WHERE result_id = %(r)s", r=after["id"])
    assert event["kind"] == "result_updated" and event["data"]["reason"] == "expert" and event["data"]["label"] == "owl"
    again = await project.decide(project.owner, split, 2)
    assert again["state"] == "same" and (await project.result(split))["id"] == after["id"]
    text = (await project.owner.get(f"{project.at}/review/{split}", headers=HTML)).text
    assert "owner decided this" in text and 'data-key="2"' in text
    assert frames.FRAMED.fullmatch(f"{project.at}/review/{split}")
    fields = [it for it in Page(text).elements if it.tag == "input" and it.get("type") not in ("hidden", "checkbox")]
    assert 'id="review-task"' in text and all(not it.inside("dialog") and it.get("type") != "password" for it in fields)


async def _agreement(served: Any, project: int) -> list[dict[str, Any]]:
    """The sums of which alpha is made; no check may find a difference."""
    for check in ("check_comparisons", "check_alpha", "check_agreement"):
        assert await rows(served, f"SELECT * FROM {check}(%(p)s, clock())", p=project) == []
    return await rows(served, "SELECT * FROM alpha_sums(%(p)s) ORDER BY 1, 2", p=project)


@shows("result-decision")
@pytest_twisted.ensureDeferred
async def test_a_decision_keeps_what_answers_say_of_agreement_and_what_is_still_to_be_compared(served):
    project = await Project(served).build([["fox", "owl", "fox"], ["fox", "fox", "fox"]])
    split, sure = project.tasks
    assert (await project.decide(project.owner, split, 2))["state"] == "decided"  # before it was compared
    await served.house[ResultsFeature].comparisons.run()
    before = await _agreement(served, project.id)
    assert before and (await project.result(split))["consensus"]["kind"]["value"] == "owl"
    assert (await project.decide(project.owner, sure, 2))["state"] == "decided"
    assert await _agreement(served, project.id) == before, "the answers are the same"
    assert (await project.decide(project.owner, split, 1))["state"] == "decided"
    assert await _agreement(served, project.id) == before


@shows("page-reviewers")
@pytest_twisted.ensureDeferred
async def test_reviewers_see_answers_and_decide_and_nothing_else(served):
    project = await Project(served).build([["fox", "owl", "fox"], ["fox", "fox", "owl"]])
    closed = {"zip_download": False}
    assert (await project.program.put(f"/api/project/{project.id}", json=closed)).status == 200
    stranger, reviewer = await newcomer(served, "ada"), await project.reviewer("eve")
    first, second = project.tasks
    result = (await project.result(first))["id"]
    assert (await stranger.page(f"{project.at}/review")).status == 403
    assert (await served.client().page(f"{project.at}/review")).status == 302
    for address in (f"/api/result/{result}", f"/api/taskrun?project_id={project.id}", f"{project.at}/review/{first}"):
        assert (await reviewer.get(address)).status == 200
    listed = f"/api/taskrun?project_id={project.id}&all=1"
    assert len((await reviewer.get(listed)).json()) == 6 and (await stranger.get(listed)).json() == []
    page = (await reviewer.page(f"{project.at}/review/{first}")).json()
    assert all(one["accuracy"] is None for one in page["answers"])
    assert (await project.decide(reviewer, first, 1))["state"] == "decided"
    for address in ("settings", "volunteers", "tasks/export?type=task_run&format=json", "reviewers", "adaptive"):
        assert (await reviewer.page(f"{project.at}/{address}")).status == 403
    for method, path, body in (
        ("PUT", f"/api/result/{result}", {"info": 1}),
        ("PUT", f"/api/project/{project.id}", {"name": "x"}),
        ("PUT", f"/api/task/{first}", {"n_answers": 2}),
        ("DELETE", f"/api/task/{first}", None),
    ):
        assert (await reviewer.request(method, path, json=body)).status in (401, 403)
    sent = await project.owner.send_form(f"{project.at}/reviewers/eve/remove", {}, f"{project.at}/reviewers")
    assert sent.json()["status"] == "success"
    assert (await reviewer.page(f"{project.at}/review/{second}")).status == 403
    assert (await project.result(first))["consensus"]["kind"]["value"] == "fox"


@shows("result-decision", "page-review-task")
@pytest_twisted.ensureDeferred
async def test_what_an_owner_decides_becomes_a_gold_task_if_they_want(served):
    project = await Project(served).build([["fox", "owl", "fox"], ["fox", "fox", "owl"], ["fox", "owl", None]])
    first, second, third = project.tasks
    reviewer = await project.reviewer("eve")
    path = f"{project.at}/review/{first}"
    assert "Also use as gold task" in (await project.owner.get(path, headers=HTML)).text
    assert "Also use as gold task" not in (await reviewer.get(path, headers=HTML)).text
    seen = (await reviewer.page(path)).json()["result"]["result_id"]
    refused = await reviewer.send_form(path, {"result_id": seen, "class": 2, "gold": "y"}, path)
    assert refused.status == 403 and (await project.result(first))["reason"] == "full"
    done = await project.decide(project.owner, first, 2, gold="y")
    assert (done["state"], done["gold"]) == ("decided", True) and "gold task now" in done["flash"]
    sent = {"answer": "owl", "second_opinion": True, "gold": True}
    asked = await project.program.post(f"/api/result/{(await project.result(second))['id']}/decision", json=sent)
    assert (asked.json()["state"], asked.json()["gold"]) == ("asked", False)
    assert (await project.decide(project.owner, third, 3))["gold"] is False
    (gold,) = (await project.program.get(f"/api/project/{project.id}/gold")).json()
    assert (gold["task_id"], gold["answers"]) == (first, ["owl"])
    again = await project.program.post(f"/api/result/{(await project.result(first))['id']}/decision", json=sent)
    assert again.status == 412, "gold tasks are out of the work"
    assert (await project.owner.page(path)).status == 404
    assert first not in await project.queue(project.owner, "?which=expert")


@pytest_twisted.ensureDeferred
async def test_of_two_reviewers_at_once_the_first_decides_and_the_second_is_told(served):
    project = await Project(served).build([["fox", "owl", "fox"]])
    (task,) = project.tasks
    ada, eve = await project.reviewer("ada"), await project.reviewer("eve")
    path = f"{project.at}/review/{task}"
    seen = (await ada.page(path)).json()["result"]["result_id"]
    await eve.page(path)
    sent = [
        ensureDeferred(browser.send_form(path, {"result_id": seen, "class": class_}, path))
        for browser, class_ in ((ada, 1), (eve, 2))
    ]
    responses = [answer.json() for answer in await gatherResults(sent)]
    assert sorted(one["status"] for one in responses) == ["success", "warning"]
    (late,) = [one for one in responses if one["status"] == "warning"]
    assert "has decided this task before you" in late["flash"]
    versions = await rows(served, "SELECT reason FROM result WHERE task_id = %(t)s ORDER BY version", t=task)
    assert [one["reason"] for one in versions] == ["full", "expert"]


@pytest_twisted.ensureDeferred
async def test_a_second_opinion_decides_or_leaves_it_to_an_owner(served):
    project = await Project(served).build([["fox", "owl", "fox"], ["fox", "owl", "owl"], ["fox", "owl", None]])
    agreed, split, reopened = project.tasks
    ada, eve = await project.reviewer("ada"), await project.reviewer("eve")
    for task in (agreed, split):
        assert (await project.decide(ada, task, 2, second="y"))["state"] == "asked"
        assert task not in await project.queue(ada) and task in await project.queue(eve, "?which=opinions")
    assert (await project.result(agreed))["consensus"]["kind"]["value"] == "fox"
    assert (await project.decide(ada, agreed, 2))["state"] == "waiting"
    assert (await project.decide(eve, agreed, 2))["state"] == "decided"
    assert (await project.result(agreed))["consensus"]["kind"]["value"] == "owl"
    assert (await project.decide(eve, split, 1))["state"] == "differ"
    assert (await project.decide(ada, split, 1))["state"] == "decided", "ada has changed her mind"
    assert (await project.decide(ada, reopened, 1))["state"] == "decided"
    assert (await project.decide(eve, reopened, 2))["state"] == "differ"
    assert (await project.result(reopened))["consensus"]["kind"]["value"] == "fox"
    assert (
        "The opinions differ. Your decision counts."
        in (await project.owner.get(f"{project.at}/review/{reopened}", headers=HTML)).text
    )
    assert (await project.decide(project.owner, reopened, 3))["state"] == "decided"
    assert (await project.result(reopened))["consensus"]["kind"]["value"] is None
    assert await project.queue(project.owner, "?which=opinions") == []


@shows("result-decision", "result-decision-late")
@pytest_twisted.ensureDeferred
async def test_programs_decide_by_the_choice_itself(served):
    project = await Project(served).build([["fox", "owl", "fox"]])
    owner, (task,) = project.program, project.tasks
    first = (await project.result(task))["id"]
    path = f"/api/result/{first}/decision"
    for body, status in (({"answer": "cat"}, 415), ({}, 415), ({"answer": "owl", "x": 1}, 415), ([], 415)):
        assert (await owner.post(path, json=body)).status == status
    assert (await (await served.person("ada")).post(path, json={"answer": "owl"})).status == 403
    done = (await owner.post(path, json={"answer": None})).json()
    assert done == {"state": "decided", "result_id": (await project.result(task))["id"], "task_id": task, "gold": False}
    late = await owner.post(path, json={"answer": "owl"})
    assert (late.status, late.json()["error_code"]) == (412, "decided_before")
    assert (await owner.post(f"/api/result/{done['result_id']}/decision", json={"second_opinion": True})).json()[
        "state"
    ] == "asked"


@shows("page-reviewers", "page-invitation")
@pytest_twisted.ensureDeferred
async def test_a_link_makes_one_person_a_reviewer(served):
    project = await Project(served).build([["fox", "owl", "fox"]])
    ada, eve = await newcomer(served, "ada"), await newcomer(served, "eve")
    at = f"{project.at}/reviewers"
    made = (await project.owner.send_form(f"{at}/invite", {}, at)).json()
    assert made["status"] == "success" and made["invitation"]
    link = made["invitation_url"].removeprefix(served.house.base.settings.base_url)
    assert "invites you to review tasks" in (await served.client().get(link, headers=HTML)).text
    assert "Become reviewer" in (await ada.get(link, headers=HTML)).text
    assert (await project.program.post(f"{project.at}/coowners/invite", json={})).status == 200, "both may be open"
    accepted = (await ada.send_form(link, {}, link)).json()
    assert (accepted["status"], accepted["next"]) == ("success", f"{project.at}/review")
    assert (await ada.page(f"{project.at}/review")).status == 200 and (
        await ada.page(f"{project.at}/settings")
    ).status == 403
    assert (await eve.page(link)).status == 403, "it works once"
    settings = (await project.owner.get(f"{project.at}/settings", headers=HTML)).text
    assert re.search(r'id="reviewers".*?\b1\b', settings, re.S), "their number stands in the settings"
    listed = (await project.owner.page(at)).json()
    assert [one["name"] for one in listed["reviewers"]] == ["ada"] and listed["invitation"] is None
    again = (await project.owner.send_form(f"{at}/invite", {}, at)).json()["invitation_url"]
    withdrawn = (await project.owner.send_form(f"{at}/withdraw", {}, at)).json()
    assert withdrawn["status"] == "success"
    assert (await eve.page(again.removeprefix(served.house.base.settings.base_url))).status == 403
    assert (await (await served.person("stranger")).post(f"{at}/invite", json={})).status == 403
