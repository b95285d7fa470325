"""Decisions about whole answers: every type of question, their way to results, who may decide, and what is withdrawn."""

from __future__ import annotations

import json
from typing import Any

import pytest
import pytest_twisted
from support.browsers import newcomer, signed_in
from support.checks.shows import shows
from twisted.internet.defer import ensureDeferred, gatherResults

from crowdd.features.results.feature import ResultsFeature
from crowdd.features.trust.whole_answers import checked_answer, questions_to_decide
from crowdd.kernel.errors import InvalidValueError
from crowdd.kinds.answers import derived

CHOICES = [{"value": one, "text": one.title()} for one in ("oak", "elm", "ash")]
MEDIA = [
    {"name": "photo", "type": "picture", "source": {"column": "url"}},
    {"name": "map", "type": "map", "source": {"column": "place"}},
]
BOX = {"x": 10, "y": 20, "width": 30, "height": 40, "label": "oak"}
PLACE = {"geometry": {"type": "Point", "coordinates": [8.4, 49.0]}}
AREA = {"points": [[0, 0], [10, 0], [10, 10]], "label": "elm"}
LINE = {"text": "Dear Anna", "x": 1, "y": 2, "width": 3, "height": 4}
ASKED: dict[str, tuple[dict[str, Any], Any, Any]] = {
    "box": ({"on": "photo", "labels": CHOICES}, [BOX], [{**BOX, "x": 11}, {**BOX, "label": "ash", "x": 200}]),
    "point": ({"on": "photo"}, [{"x": 1, "y": 1}], []),
    "polygon": ({"on": "photo", "labels": CHOICES}, [AREA], [{**AREA, "points": [[0, 0], [20, 0], [20, 20]]}]),
    "transcription": ({"on": "photo"}, [LINE], [{**LINE, "text": "Dear Anne"}, {"text": "yours"}]),
    "map_place": ({"on": "map"}, [PLACE], [{"geometry": {"type": "Point", "coordinates": [9.5, 48.5]}}]),
    "long_text": ({}, "one line", "another line\nand one more"),
    "multiple_choice": ({"choices": CHOICES}, ["oak"], ["elm", "ash"]),
    "number": ({}, 3, 4.5),
    "date": ({}, "1889-05", "1891-06-07"),
    "ranking": ({"choices": CHOICES}, ["oak", "elm", "ash"], ["ash", "elm", "oak"]),
}


def asking(*names: str, **more: Any) -> dict[str, Any]:
    """``info`` with a question of each type, which has its type as its name."""
    questions = [{"name": name, "type": name, "text": f"{name}?", **ASKED[name][0]} for name in names]
    used = [medium for medium in MEDIA if any(one.get("on") == medium["name"] for one in questions)]
    return {"questions": {"version": 1, "steps": [{"name": "s", "media": used, "questions": questions}]}, **more}


class Project:
    """A project with two answers to each of its tasks."""

    def __init__(self, served: Any) -> None:
        self.served = served

    async def build(self, info: dict[str, Any], answers: list[list[dict[str, Any]]]) -> Project:
        client = self.program = await self.served.person("owner")
        made = await self.served.project(client, tasks=len(answers), published=True, n_answers=2)
        changed = await client.put(f"/api/project/{made['id']}", json={"info": {**info, "task_presenter": None}})
        assert changed.status == 200, changed.text
        self.id, self.tasks, self.at = made["id"], made["tasks"], f"/project/{made['short_name']}"
        people = [await self.served.person(f"person{nth}") for nth in range(2)]
        for of_task in answers:
            for person, answer in zip(people, of_task, strict=True):
                task = (await person.get(f"/api/project/{self.id}/newtask")).json()["id"]
                body = {"project_id": self.id, "task_id": task, "info": {**answer, "questions_version": 1}}
                sent = await person.post("/api/taskrun", json=body)
                assert sent.status == 200, sent.text
        await self.compare()
        self.owner = await signed_in(self.served, "owner")
        return self

    async def compare(self) -> None:
        await self.served.house[ResultsFeature].comparisons.run()

    async def result(self, task: int) -> dict[str, Any]:
        rows = (await self.owner.get(f"/api/result?task_id={task}&project_id={self.id}&last_version=true")).json()
        (latest,) = [row for row in rows if row["last_version"]]
        return latest

    async def values(self, task: int) -> dict[str, Any]:
        return {name: one.get("value") for name, one in (await self.result(task))["consensus"].items()}

    async def decide(self, browser: Any, task: int, answer: Any, seen: int | None = None) -> Any:
        path = f"{self.at}/review/{task}"
        seen = seen or (await browser.page(path)).json()["result"]["result_id"]
        return await browser.send_form(f"{path}/answer", {"result_id": seen, "info": json.dumps(answer)}, path)

    async def faults(self) -> list[Any]:
        faults: list[Any] = []
        for check in ("comparisons", "alpha", "agreement", "outcomes", "states", "weighing", "trust"):
            sql = f"SELECT * FROM check_{check}(%(p)s, clock())"
            faults += [dict(row) for row in await self.served.database.fetch(sql, {"p": self.id})]
        return faults


@shows("page-review-answer", "result-decision", "page-review-task")
@pytest.mark.parametrize("names", [tuple(ASKED), ("multiple_choice", "number"), ("transcription",)])
@pytest_twisted.ensureDeferred
async def test_every_type_is_decided_goes_to_the_results_and_is_withdrawn(served, names):
    before, after = ({name: ASKED[name][nth] for name in names} for nth in (1, 2))
    project = await Project(served).build(asking(*names), [[before, before]])
    (task,) = project.tasks
    page = (await project.owner.page(f"{project.at}/review/{task}")).json()
    assert page["result"]["choices"] == [] and page["result"]["reason"] is None
    assert page["beginning"] == before, "what both said"
    volunteers = await project.result(task)
    sent = await project.decide(project.owner, task, {**after, "questions_version": 1, "unseen": ["photo"]})
    done = sent.json()
    assert done.get("state") == "decided", sent.text
    assert await project.values(task) == after
    decided = await project.result(task)
    assert decided["reason"] == "expert" and decided["id"] == done["result_id"] != volunteers["id"]
    assert decided["task_run_ids"] == volunteers["task_run_ids"]
    assert await project.faults() == []
    assert (await project.owner.page(f"{project.at}/review/{task}")).json()["beginning"] == after
    assert (await project.decide(project.owner, task, after)).json()["state"] == "same"
    export = f"{project.at}/tasks/export?type=result&format=json"
    (row,) = [row for row in (await project.owner.get(export)).json() if row["last_version"]]
    assert {name: one.get("value") for name, one in row["consensus"].items()} == after
    html = (await project.owner.get(f"{project.at}/tasks/{task}", headers={"Accept": "text/html"})).text
    assert "transcription" not in names or "Dear Anne" in html
    await project.compare()
    assert await project.values(task) == after and await project.faults() == []
    await project.served.database.execute("SELECT compare_result(%(p)s, %(t)s)", {"p": project.id, "t": task})
    await project.compare()
    assert await project.values(task) == after, "compared once more"
    path = f"{project.at}/review/{task}"
    withdrawn = await project.owner.send_form(f"{path}/withdraw", {"result_id": done["result_id"]}, path)
    assert withdrawn.json()["state"] == "withdrawn", withdrawn.text
    await project.compare()
    assert await project.values(task) == {name: one.get("value") for name, one in volunteers["consensus"].items()}
    assert (await project.result(task))["reason"] is None and await project.faults() == []
    sql = "SELECT count(*) AS n FROM event WHERE task_id = %(t)s AND kind IN ('task_completed', 'result_updated')"
    (events,) = await served.database.fetch(sql, {"t": task})
    assert events["n"] == 3, "one for each version"


@shows("page-review")
@pytest_twisted.ensureDeferred
async def test_the_least_agreement_comes_first_and_what_is_decided_goes(served):
    pairs = [("a b c d", "a b c d"), ("a b c d", "x y z"), ("a b c d", "a b c e")]
    answers = [[{"long_text": one} for one in pair] for pair in pairs]
    project = await Project(served).build(asking("long_text"), answers)
    same, other, near = project.tasks
    path = f"{project.at}/review"

    async def queue(query: str = "") -> list[int]:
        return [one["task_id"] for one in (await project.owner.page(path + query)).json()["tasks"]]

    assert await queue() == [other, near, same]
    done = (await project.decide(project.owner, other, {"long_text": "a b c"})).json()
    assert done["next"].endswith(f"/review/{near}")
    assert await queue() == [near, same] and await queue("?which=expert") == [other]


@shows("page-review-answer")
@pytest_twisted.ensureDeferred
async def test_a_label_and_more_are_decided_together(served):
    info = asking("number")
    label = {"name": "tree", "type": "single_choice", "text": "Which?", "choices": CHOICES}
    info["questions"]["steps"][0]["questions"].insert(0, label)
    answers = [[{"tree": "oak", "number": 1}, {"tree": "elm", "number": 1}]]
    project = await Project(served).build(info, answers)
    (task,) = project.tasks
    refused = await project.decide(project.owner, task, {"number": 2})
    assert "Answer the first question" in refused.text and await project.values(task) != {"tree": None, "number": 2}
    assert (await project.decide(project.owner, task, {"tree": "ash", "number": 2})).json()["state"] == "decided"
    assert await project.values(task) == {"tree": "ash", "number": 2}
    path = f"{project.at}/review/{task}"
    page = (await project.owner.page(path)).json()
    assert page["result"]["class"] == 3 and page["result"]["posterior"] == [0, 0, 1]
    sent = {"result_id": page["result"]["result_id"], "class": 1}
    assert (await project.owner.send_form(path, sent, path)).json()["state"] == "decided"
    assert await project.values(task) == {"tree": "oak", "number": 2}, "the button changes the class alone"
    await project.compare()
    assert await project.faults() == []
    seen = (await project.owner.page(path)).json()["result"]["result_id"]
    assert (await project.owner.send_form(f"{path}/withdraw", {"result_id": seen}, path)).json()["state"] == "withdrawn"
    await project.compare()
    assert (await project.values(task))["number"] == 1 and await project.faults() == []


@shows("result-decision-late", "result-withdraw")
@pytest_twisted.ensureDeferred
async def test_only_owners_replace_what_somebody_else_has_decided(served):
    project = await Project(served).build(asking("number"), [[{"number": 1}, {"number": 2}]])
    (task,) = project.tasks
    stranger, reviewer = await served.person("ada"), await newcomer(served, "eve")
    await project.owner.send_form(f"{project.at}/reviewers", {"user": "eve"})
    seen = (await project.result(task))["id"]
    decision = f"/api/result/{seen}/decision"
    assert (await stranger.post(decision, json={"info": {"number": 9}})).status == 403
    assert (await stranger.delete(decision)).status == 403
    twice = [
        ensureDeferred(project.decide(each, task, {"number": n}, seen))
        for n, each in enumerate((project.owner, reviewer), 5)
    ]
    done = [each.json() for each in await gatherResults(twice)]
    assert sorted(one["status"] for one in done) == ["success", "warning"], done
    first = await project.result(task)
    assert first["consensus"]["number"]["value"] in (5, 6)
    owner_first = first["consensus"]["number"]["value"] == 5
    again = (await project.decide(reviewer, task, {"number": 7})).json()
    assert again["status"] == ("warning" if owner_first else "success")
    assert (await project.decide(project.owner, task, {"number": 8})).json()["state"] == "decided"
    path = f"{project.at}/review/{task}"
    latest = (await project.result(task))["id"]
    refused = await reviewer.send_form(f"{path}/withdraw", {"result_id": latest}, path)
    assert refused.json()["status"] == "warning" and (await project.result(task))["id"] == latest
    program = project.program
    assert (await program.delete(f"/api/result/{seen}/decision")).status == 412, "no longer the last"
    withdrawn = (await program.delete(f"/api/result/{latest}/decision")).json()
    assert withdrawn["state"] == "withdrawn" and (await project.values(task))["number"] == 1.5
    again = (await program.delete(f"/api/result/{withdrawn['result_id']}/decision")).json()
    assert again["error_code"] == "result_changed"
    both = {"info": {"number": 9}, "answer": 9}
    assert (await program.post(f"/api/result/{withdrawn['result_id']}/decision", json=both)).status == 415
    done = (await program.post(f"/api/result/{withdrawn['result_id']}/decision", json={"info": {"number": 9}})).json()
    assert done["state"] == "decided" and done["gold"] is False


@pytest.mark.parametrize(
    "wrong",
    [[], None, {}, {"other": 1}, {"number": "4"}, {"number": 1, "date": "May"}, {"box": [{"x": 1}]}, {"box": "x"}],
)
def test_an_answer_that_does_not_fit_is_refused(wrong):
    info = asking("number", "date", "box")
    with pytest.raises(InvalidValueError):
        checked_answer({**info, **derived({}, info)}, wrong)


def test_opinions_are_not_asked_unless_others_depend_on_them():
    info = asking("number", "date", "long_text")
    number, date, text = info["questions"]["steps"][0]["questions"]
    number |= {"kind": "opinion", "required": True}
    date |= {"kind": "opinion", "required": True}
    text["show_if"] = {"question": "date", "is": ["1889"]}
    (step,) = questions_to_decide(info)["questions"]["steps"]
    assert [one["name"] for one in step["questions"]] == ["date", "long_text"]
    assert step["questions"][0]["required"] is False and number["required"] is True
