"""Next steps over HTTP: the page, the API, the export, and the way of volunteers from one step to the next."""

from __future__ import annotations

import csv
import io

import pytest_twisted
from pages.review.test_review_pages import HTML
from support.browsers import signed_in
from support.checks.shows import shows

FIELDS = [{"name": "lines", "at": "/lines", "type": "boxes"}, {"name": "kind", "at": "/kind", "type": "label"}]
RULE = {"each": {"field": "lines"}, "columns": {"n": "page"}, "answers": {"kind": "sort"}}
FORM = {
    "each": "lines",
    "columns": "n = page",
    "answers": "kind = sort",
    "test_1": "is",
    "test_2": "is",
    "test_3": "is",
}
BOX = {"x": 1, "y": 2, "width": 30, "height": 4}


class Steps:
    """Two published projects of one owner: pages, one of which is answered with a box, and lines."""

    def __init__(self, served):
        self.served = served

    async def build(self):
        self.program, self.volunteer = await self.served.person("owner"), await self.served.person("somebody")
        self.pages = await self.served.project(self.program, "pages", tasks=2, published=True, n_answers=1)
        self.lines = await self.served.project(self.program, "lines")
        info = {"task_presenter": "<p>?</p>", "answers": FIELDS}
        assert (await self.program.put(f"/api/project/{self.pages['id']}", json={"info": info})).status == 200
        await self.answer(self.pages["tasks"][0], [BOX, {**BOX, "y": 90}])
        self.owner, self.at = await signed_in(self.served, "owner"), "/project/pages/next"
        self.api = f"/api/project/{self.pages['id']}/next"
        return self

    async def answer(self, task, boxes):
        assert (await self.volunteer.get(f"/api/project/{self.pages['id']}/newtask")).json()["id"] == task
        body = {"project_id": self.pages["id"], "task_id": task, "info": {"lines": boxes, "kind": "letter"}}
        assert (await self.volunteer.post("/api/taskrun", json=body)).status == 200
        await self.served.run_job("compare_answers")

    async def tasks(self):
        return (await self.program.get(f"/api/task?project_id={self.lines['id']}")).json()


@shows("page-next")
@pytest_twisted.ensureDeferred
async def test_an_owner_looks_at_a_preview_saves_a_step_and_ends_it(served):
    steps = await Steps(served).build()
    assert (await steps.owner.page(steps.at)).json()["steps"] == []
    form = FORM | {"next": str(steps.lines["id"])}
    seen = (await steps.owner.send_form(steps.at, form | {"btn": "Preview"})).json()
    (preview,) = seen["preview"]
    assert (preview["task_id"], preview["n"]) == (steps.pages["tasks"][0], 2) and seen["steps"] == []
    assert preview["parts"][0] == {"part": "1", "info": {"page": 0, "sort": "letter", **BOX}}
    assert (await steps.owner.send_form(steps.at, form)).json()["status"] == "success"
    await served.run_job("follow_chains")
    (step,) = (await steps.owner.page(steps.at)).json()["steps"]
    assert (step["id"], step["made"], step["rule"]) == (steps.lines["id"], 2, RULE)
    text = (await steps.owner.get(f"{steps.at}?edit={steps.lines['id']}", headers=HTML)).text
    assert "n = page" in text and "2 tasks made" in text
    for more, name in (
        ({"next": "999999"}, "next"),
        ({"next": "new", "new_name": ""}, "new_name"),
        ({"each": "nothing"}, "each"),
        ({"field_1": "kind", "value_1": ""}, "value_1"),
        ({"field_1": "kind", "test_1": "agreement_below", "value_1": "much"}, "value_1"),
        ({"n_answers": "0"}, "rule"),
        ({"each": "", "columns": "", "answers": ""}, "columns"),
    ):
        wrong = (await steps.owner.send_form(steps.at, form | more)).json()
        assert [*wrong["form"]["errors"]] == [name], more
    condition = {
        "field_1": "kind",
        "value_1": "letter, map",
        "field_2": "lines",
        "test_2": "agreement_below",
        "value_2": "70",
    }
    named = form | condition | {"next": "new", "new_name": "Doubtful lines"}
    assert (await steps.owner.send_form(steps.at, named)).json()["status"] == "success"
    _first, second = (await steps.owner.page(steps.at)).json()["steps"]
    assert second["name"] == "Doubtful lines"
    assert second["rule"]["when"] == [
        {"field": "kind", "is": ["letter", "map"]},
        {"field": "lines", "agreement_below": 0.7},
    ]
    gone = await steps.owner.send_form(f"{steps.at}/remove", {"id": second["id"]}, steps.at)
    assert gone.json()["status"] == "success"
    assert len((await steps.owner.page(steps.at)).json()["steps"]) == 1
    stranger = await signed_in(served, "somebody")
    assert (await stranger.page(steps.at)).status == 403


@shows("project-next", "project-next-refused", "project-next-changed", "export-sources")
@pytest_twisted.ensureDeferred
async def test_programs_link_projects_and_exports_say_where_tasks_come_from(served):
    steps = await Steps(served).build()
    one, body = f"{steps.api}/{steps.lines['id']}", {"rule": RULE}
    tried = await steps.program.put(f"{one}?dry_run=1", json=body)
    assert tried.status == 200 and tried.json()["preview"][0]["n"] == 2, tried.text
    assert (await steps.program.get(steps.api)).json() == []
    assert (await steps.program.put(one, json=body)).json() == tried.json()
    await served.run_job("follow_chains")
    page = steps.pages["tasks"][0]
    first, _second = await steps.tasks()
    assert first["info"] == {"page": 0, "sort": "letter", **BOX}
    exported = await steps.program.get(f"/api/project/{steps.lines['id']}/export?type=task&format=csv")
    rows = [*csv.DictReader(io.StringIO(exported.text.lstrip("\ufeff")))]
    assert [(row["source_task_id"], row["source_part"], row["source_changed"]) for row in rows] == [
        (str(page), "1", "false"),
        (str(page), "2", "false"),
    ]
    plain = (await steps.program.get(f"/api/project/{steps.pages['id']}/export?type=task&format=csv")).text
    assert "source_task_id" not in plain
    lines = f"/api/project/{steps.lines['id']}"
    run = {"project_id": steps.lines["id"], "task_id": first["id"], "info": "Dear Sir"}
    assert (await steps.program.get(f"{lines}/newtask")).json()["id"] == first["id"]
    assert (await steps.program.post("/api/taskrun", json=run)).status == 200
    (step,) = (await steps.program.get(steps.api)).json()
    assert (step["made"], step["changed"], step["waiting"], step["failure"]) == (2, 0, 0, None)
    assert (await steps.program.get(f"{one}/changed")).json() == []
    wrong = await steps.program.put(one, json={"rule": {"each": {"field": ""}}})
    assert wrong.status == 415 and "/each/field" in wrong.text
    circle = await steps.program.put(f"{lines}/next/{steps.pages['id']}", json=body)
    assert circle.status == 415 and "before itself" in circle.text
    third = await served.project(steps.program, "third")
    taken = await steps.program.put(f"/api/project/{third['id']}/next/{steps.lines['id']}", json=body)
    assert taken.status == 415 and taken.json()["error_code"] == "step_taken"
    foreign = await served.project(steps.volunteer, "foreign")
    assert (await steps.program.put(f"{steps.api}/{foreign['id']}", json=body)).status == 404
    for asked in (steps.volunteer.get(steps.api), steps.volunteer.put(one, json=body), steps.volunteer.delete(one)):
        assert (await asked).status == 403
    assert (await steps.program.delete(one)).status == 204 and (await steps.program.delete(one)).status == 404
    assert len(await steps.tasks()) == 2, "what was made stays"


@shows("page-thanks")
@pytest_twisted.ensureDeferred
async def test_volunteers_find_the_next_step_while_it_has_open_tasks(served):
    steps = await Steps(served).build()
    assert (await steps.program.put(f"{steps.api}/{steps.lines['id']}", json={"rule": RULE})).status == 200
    thanks = "/project/pages/thanks"
    assert (await steps.volunteer.page(thanks)).json()["steps"] == [], "a draft is nobody else's business"
    await served.run_job("follow_chains")
    assert (await steps.program.post("/project/lines/publish", json={})).status == 200
    step = {"name": "Lines", "short_name": "lines", "before": False, "open": True}
    assert (await steps.volunteer.page(thanks)).json()["steps"] == [step]
    assert "Next step: Lines" in (await steps.owner.get(thanks, headers=HTML)).text
    assert "Next step: Lines" in (await steps.owner.get("/project/pages/", headers=HTML)).text
    assert "Step before: Pages" in (await steps.owner.get("/project/lines/", headers=HTML)).text
