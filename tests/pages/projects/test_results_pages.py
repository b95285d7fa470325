"""What came out of a project: its figures are those of the rows, and filters and pages leave nothing out."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest
import pytest_twisted
from support.checks.shows import shows

ANSWERS = {  # to each task, by its place
    0: ["fox", "fox", "fox"],
    1: ["fox", "owl", "fox"],
    2: ["fox", "owl", "cat"],
    3: [None, None, "owl"],
    4: ["owl", "owl", "owl"],
    5: [{"boxes": [1, 2.0]}, {"boxes": [1.0, 2]}, "owl"],
}


class Filled:
    """A project with the tasks of ANSWERS and one that is not finished."""

    def __init__(self, owner: Any, project: Any) -> None:
        self.owner, self.project, self.tasks = owner, project, project["tasks"]

    def places(self, rows: list[Any]) -> list[int]:
        """Which tasks of ANSWERS these rows are."""
        return [self.tasks.index(row["task_id"]) for row in rows]


@pytest.fixture
def filled(served):
    async def make() -> Filled:
        owner = await served.person("owner")
        project = await served.project(owner, tasks=len(ANSWERS) + 1, published=True, n_answers=3)
        for nth in range(3):
            person = await served.person(f"person{nth}")
            for place in [*range(len(ANSWERS)), *([len(ANSWERS)] if nth == 0 else [])]:
                task = (await person.get(f"/api/{project['id']}/newtask")).json()
                assert task["id"] == project["tasks"][place]
                answer = ANSWERS[place][nth] if place in ANSWERS else "moth"
                body = {"project_id": project["id"], "task_id": task["id"], "info": {"answer": answer}}
                assert (await person.post("/api/taskrun", json=body)).status == 200
        return Filled(owner, project)

    return make


async def view(client, query=""):
    answer = await client.page(f"/project/birds/results{query}")
    assert answer.status == 200, answer.text
    return answer.json()


@shows("page-results")
@pytest_twisted.ensureDeferred
async def test_the_figures_are_those_of_the_answers(served, filled):
    place = await filled()
    page = await view(served.client())
    shares = [sum(n * (n - 1) for n in Counter(map(repr, answers)).values()) / 6 for answers in ANSWERS.values()]
    shares[5] = 1 / 3  # 1 and 1.0 are the same number
    outcomes = page["summary"].pop("outcomes")
    assert page["summary"].pop("agreement") == pytest.approx(sum(shares) / 6)
    assert page["summary"] == {
        "tasks": 6, "answers": 18, "several": 6, "unanimous": 2, "bands": [4, 0, 0, 2], "tied": 1, "unanswered": 0, "pending": 0, "kinds": 4, "others": 0,
        "due": False,
    }  # fmt: skip
    assert [(one["answer"], one["n"]) for one in outcomes[:1]] == [("fox", 2)]
    others = [{"answer": answer, "short": True, "n": 1} for answer in (None, "owl", {"boxes": [1, 2]})]
    assert len(outcomes) == 4 and all(one in outcomes for one in others)
    assert place.places(page["rows"]) == [5, 4, 3, 2, 1, 0] and page["next"] is None
    row = page["rows"][-2]
    assert (row["consensus"], row["won"], row["agreement"], row["total"]) == ("fox", True, pytest.approx(1 / 3), 3)
    assert "task_info" not in row and "pictures" not in row, "what only owners see stays with them"


@shows("page-results-filters")
@pytest_twisted.ensureDeferred
async def test_results_are_filtered_and_sorted_in_the_address(served, filled):
    place, client = await filled(), served.client()
    cases = {
        "?answer=fox": [1, 0], "?answer=%22fox%22": [1, 0], "?answer=null": [3], "?answer=none": [2], "?answer=no+such": [],
        "?answer=%7B%22boxes%22:[1,2]%7D": [5], "?min_agreement=100": [4, 0], "?max_agreement=29": [2],
        "?min_agreement=25&max_agreement=49": [5, 3, 1], "?min_agreement=33&max_agreement=33": [5, 3, 1],
        "?answer=fox&max_agreement=99": [1], "?orderby=least_agreed": [2, 1, 3, 5, 0, 4], "?orderby=most_agreed": [4, 0, 5, 3, 1, 2],
        "?orderby=most_answers": [5, 4, 3, 2, 1, 0],
    }  # fmt: skip
    for query, places in cases.items():
        assert place.places((await view(client, query))["rows"]) == places, query
    page = (await client.get("/project/birds/results?answer=%22no+such%22")).text
    assert re.search(r"<option[^>]*selected[^>]*>no such</option>", page), "chosen in words, as the other answers"
    for order in ("newest", "least_agreed", "most_agreed", "most_answers"):
        whole = (await view(client, f"?orderby={order}"))["rows"]
        ids = {
            row["task_id"]: result["id"]
            for result in (await place.owner.get("/api/result")).json()
            for row in whole
            if row["task_id"] == result["task_id"]
        }
        behind = (await view(client, f"?orderby={order}&before={ids[whole[2]['task_id']]}"))["rows"]
        assert behind == whole[3:], order


@shows("page-results-filters")
@pytest_twisted.ensureDeferred
async def test_filters_that_say_nothing_are_refused(served, filled):
    await filled()
    for query in ("orderby=oldest", "min_agreement=101", "max_agreement=half", f"answer={'x' * 4001}", "before=x"):
        assert (await served.client().page(f"/project/birds/results?{query}")).status == 415, query


@pytest_twisted.ensureDeferred
async def test_who_may_not_see_answers_gets_no_figures_of_them(served, filled):
    place = await filled()
    await place.owner.put(f"/api/project/{place.project['id']}", json={"zip_download": False})
    assert not {"summary", "rows", "next"} & (await view(served.client(), "?answer=fox")).keys()
    assert (await view(place.owner, "?answer=fox"))["summary"]["tasks"] == 6


@pytest_twisted.ensureDeferred
async def test_the_owner_is_told_of_tasks_on_which_nobody_agrees(served, filled):
    place = await filled()
    page = (await place.owner.get("/project/birds/")).text
    assert "Volunteers cannot agree on 1 task: the agreement is below 30\u00a0%." in page
    assert "/project/birds/tasks/browse?max_agreement=29" in page
    listed = (await place.owner.page("/project/birds/tasks/browse?max_agreement=29")).json()
    assert [task["id"] for task in listed["tasks"]] == [place.tasks[2]], "the link leads to the tasks that were counted"
    assert "cannot agree" not in (await served.client().get("/project/birds/")).text
    await place.owner.put(f"/api/task/{place.tasks[2]}", json={"n_answers": 5})
    for nth in range(2):
        person = await served.person(f"more{nth}")
        assert (await person.get(f"/api/{place.project['id']}/newtask")).json()["id"] == place.tasks[2]
        body = {"project_id": place.project["id"], "task_id": place.tasks[2], "info": {"answer": "fox"}}
        assert (await person.post("/api/taskrun", json=body)).status == 200
    assert "cannot agree" not in (await place.owner.get("/project/birds/")).text, "three of ten pairs"
