"""Rules of owners over HTTP: the page, the API, what is refused, and the review of what they chose."""

from __future__ import annotations

import jsonschema
import pytest
import pytest_twisted
from pages.review.test_review_pages import HTML, Project
from support.checks.shows import shows

from crowdd.kernel.errors import InvalidValueError
from crowdd.kinds.task_rules import check_rules, rules_schema

ROW = {"name": "row", "when": [{"measure": "in_a_row", "choice": "owl", "min": 2}], "then": "complete"}
LOOK = {"name": "look", "when": [{"measure": "votes", "choice": "fox", "min": 1}], "then": "review"}
MORE = {"name": "more", "when": [{"measure": "agreement", "max": 0.5}], "then": "more_answers", "answers": 2}
FORM = {"name": "row", "measure_1": "in_a_row", "choice_1": '"owl"', "min_1": "2", "then": "complete"}


async def project(served):
    """Three tasks with three answers each, and one that is open."""
    answers = [["owl", "owl", "fox"], ["fox", "owl", "fox"], ["owl", "owl", "owl"], []]
    return await Project(served).build(answers)


@shows("page-rules")
@pytest_twisted.ensureDeferred
async def test_an_owner_sees_what_a_rule_would_have_done_saves_it_and_reviews_what_it_chose(served):
    made = await project(served)
    at = f"{made.at}/rules"
    assert (await made.owner.page(at)).json()["version"] == 0
    shown = (await made.owner.send_form(at, FORM | {"btn": "Effect"})).json()
    assert shown["replay"] == {
        "tasks": 3,
        "answers": 9,
        "rules": [{"name": "row", "then": "complete", "tasks": 2, "answers": 2}],
    }
    assert shown["rules"] == []
    assert (await made.owner.send_form(at, FORM)).json()["status"] == "success"
    look = FORM | {"name": "look", "measure_1": "votes", "choice_1": '"fox"', "min_1": "1", "then": "review"}
    assert (await made.owner.send_form(at, look)).json()["status"] == "success"
    page = (await made.owner.page(at)).json()
    assert (page["version"], page["rules"]) == (2, [ROW, LOOK])
    opened = made.tasks[3]
    for client, value in zip(made.people, ("fox", "owl"), strict=False):
        run = {"project_id": made.id, "task_id": opened, "info": {"answer": value}}
        assert (await client.get(f"/api/project/{made.id}/newtask")).json()["id"] == opened
        assert (await client.post("/api/taskrun", json=run)).status == 200
    assert (await made.owner.page(at)).json()["decided"] == []
    edited = (await made.owner.get(f"{at}?edit=row", headers=HTML)).text
    assert 'value="row"' in edited
    assert (await made.owner.send_form(at, FORM | {"min_1": "1"})).json()["status"] == "success"
    assert (await made.people[2].get(f"/api/project/{made.id}/newtask")).json()["id"] == opened
    run = {"project_id": made.id, "task_id": opened, "info": {"answer": "owl"}}
    assert (await made.people[2].post("/api/taskrun", json=run)).status == 200
    page = (await made.owner.page(at)).json()
    assert [(one["rule"], one["kind"], one["tasks"]) for one in page["decided"]] == [("look", "review", 1)]
    assert await made.queue(made.owner, "?which=ruled") == [opened]
    assert (await made.decide(made.owner, opened, 2))["state"] == "decided"
    assert await made.queue(made.owner, "?which=ruled") == []
    assert (await made.owner.send_form(f"{at}/remove", {"name": "look"}, at)).json()["status"] == "success"
    assert (await made.owner.send_form(f"{at}/remove", {"name": "look"}, at)).status == 404
    assert [rule["name"] for rule in (await made.owner.page(at)).json()["rules"]] == ["row"]


@pytest_twisted.ensureDeferred
async def test_what_is_wrong_with_a_form_is_said_at_its_field(served):
    made = await project(served)
    for more, names in (
        ({"name": ""}, ["name"]),
        ({"min_1": ""}, ["min_1"]),
        ({"min_1": "many"}, ["min_1"]),
        ({"measure_1": ""}, ["measure_1"]),
        ({"choice_1": "owl"}, ["choice_1"]),
        ({"then": "more_answers"}, ["answers"]),
        ({"min_1": "9", "max_1": "3"}, ["name"]),
        ({"skill_1": "60"}, ["name"]),
        ({"then": "explode"}, ["name"]),
    ):
        wrong = (await made.owner.send_form(f"{made.at}/rules", FORM | more)).json()
        assert list(wrong["form"]["errors"]) == names, more
    assert (await made.owner.page(f"{made.at}/rules")).json()["rules"] == []
    assert (await made.people[0].page(f"{made.at}/rules")).status in (401, 403, 404)


@shows("project-rules", "project-rule-decisions")
@pytest_twisted.ensureDeferred
async def test_programs_read_preview_and_change_rules(served):
    made = await project(served)
    at = f"/api/project/{made.id}/rules"
    tried = await made.program.post(f"{at}?dry_run=1", json={"rules": [ROW, MORE]})
    assert tried.status == 200, tried.text
    assert [(one["tasks"], one["answers"]) for one in tried.json()["rules"]] == [(2, 2), (1, 2)]
    assert (await made.program.get(at)).json()["rules"] == []
    assert (await made.program.post(at, json={"rules": [ROW, MORE]})).json() == tried.json()
    info = (await made.program.get(f"/api/project/{made.id}")).json()["info"]
    assert info["task_rules"] == [ROW, MORE]
    for client in made.people[:2]:
        assert (await client.get(f"/api/project/{made.id}/newtask")).json()["id"] == made.tasks[3]
        run = {"project_id": made.id, "task_id": made.tasks[3], "info": {"answer": "owl"}}
        assert (await client.post("/api/taskrun", json=run)).status == 200
    read = (await made.program.get(at)).json()
    assert (read["version"], [one["version"] for one in read["versions"]]) == (1, [1])
    assert [(one["rule"], one["tasks"]) for one in read["decided"]] == [("row", 1)]
    (decision,) = (await made.program.get(f"{at}/decisions")).json()
    assert decision | {"at": ""} == {
        "task_id": made.tasks[3],
        "rule": "row",
        "version": 1,
        "kind": "complete",
        "answers": 2,
        "at": "",
    }
    assert (await made.program.get(f"{at}/decisions?last_id={made.tasks[3]}")).json() == []
    refused = await made.program.post(at, json={"rules": [ROW, ROW]})
    assert refused.status == 415 and "same name" in refused.text
    refused = await made.program.put(f"/api/project/{made.id}", json={"info": {**info, "task_rules": [{"name": "x"}]}})
    assert refused.status == 415 and "task_rules/0" in refused.text
    stranger = made.people[0]
    assert (await stranger.get(at)).status == (await stranger.post(at, json={"rules": []})).status == 403
    assert (await made.program.post(at, json={"rules": []})).json() == {"tasks": 0, "answers": 0, "rules": []}
    assert (await made.program.get(at)).json()["version"] == 2


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        [1],
        [{"name": "", "when": ROW["when"], "then": "complete"}],
        [{"name": "x" * 61, "when": ROW["when"], "then": "complete"}],
        [{**ROW, "when": []}],
        [{**ROW, "when": ROW["when"] * 6}],
        [{**ROW, "then": "retire"}],
        [{**ROW, "answers": 3}],
        [{**MORE, "answers": 0}],
        [{**ROW, "more": 1}],
        [{**ROW, "when": [{"measure": "votes", "choice": ["fox"], "min": 1}]}],
        [{**ROW, "when": [{"measure": "answers", "choice": "fox", "min": 1}]}],
        [{**ROW, "when": [{"measure": "confidence", "skill": 0.8, "min": 0.5}]}],
        [{**ROW, "when": [{"measure": "votes", "skill": 0.5, "min": 1}]}],
        [{**ROW, "when": [{"measure": "votes"}]}],
        [{**ROW, "when": [{"measure": "votes", "min": 1.5}]}],
        [{**ROW, "when": [{"measure": "votes", "min": True}]}],
        [{**ROW, "when": [{"measure": "agreement", "min": 2}]}],
        [{**ROW, "name": f"{nth}"} for nth in range(11)],
    ],
)
def test_wrong_rules_are_refused_and_the_schema_says_the_same(wrong):
    with pytest.raises(InvalidValueError):
        check_rules(wrong)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, rules_schema())


def test_right_rules_pass_both_and_what_the_schema_cannot_say_is_refused():
    right = [ROW, LOOK, MORE, {**ROW, "name": "null", "when": [{"measure": "votes", "choice": None, "max": 0}]}]
    assert check_rules(right) == right and check_rules(None) == []
    jsonschema.validate(right, rules_schema())
    for wrong in ([ROW, ROW], [{**ROW, "when": [{"measure": "votes", "min": 3, "max": 1}]}]):
        with pytest.raises(InvalidValueError):
            check_rules(wrong)
