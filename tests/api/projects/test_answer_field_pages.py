"""The page of answer fields: what is declared, what the newest answers contain, and what a declaration changes."""

from __future__ import annotations

import pytest
import pytest_twisted
from support.checks.shows import shows
from support.questions.question_lists import ONE

from crowdd.features.results import feature as result_feature

AT = "/project/birds/answerfields"
FIELD = {"name": "species", "at": "/what/species", "type": "label", "choices": ["owl", "wren"]}


async def answer(client, task, info):
    project = (await client.get(f"/api/task/{task}")).json()["project_id"]
    await client.get(f"/api/project/{project}/newtask?limit=10")
    sent = await client.post("/api/taskrun", json={"project_id": project, "task_id": task, "info": info})
    assert sent.status == 200, sent.body


@pytest.fixture
def answered(served):
    """A published project with two answers to its only task."""

    async def make(*infos):
        ada, ben = await served.person("ada"), await served.person("ben")
        project = await served.project(ada, tasks=1, published=True)
        for client, info in zip((ada, ben), infos, strict=False):
            await answer(client, project["tasks"][0], info)
        return ada, ben, project

    return make


@shows("page-answer-fields")
@pytest_twisted.ensureDeferred
async def test_what_the_answers_contain_is_declared_by_one_click(answered):
    ada, ben, project = await answered({"what": {"species": "owl"}, "n": 1}, {"what": {"species": "owl"}, "n": 2})
    page = (await ada.page(AT)).json()
    assert (page["fields"], page["n_looked_at"], page["from_questions"]) == ([], 2, False)
    suggestions = {one["at"]: one for one in page["suggestions"]}
    assert suggestions["/what/species"]["choices"] == ["owl"] and suggestions["/what/species"]["n_fitting"] == 2
    assert (await ada.send_form(f"{AT}/use", {"at": "/what/species"}, token_from=AT)).json()["status"] == "success"
    page = (await ada.page(AT)).json()
    assert [(one["name"], one["n_fitting"], one["unfit"]) for one in page["fields"]] == [("species", 2, [])]
    assert [one["at"] for one in page["suggestions"]] == ["/n"]
    info = (await ada.get(f"/api/project/{project['id']}")).json()["info"]
    assert info["answers"][0]["at"] == "/what/species" and info["answer_key"] is None
    assert (await ada.send_form(f"{AT}/use", {"at": "/gone"}, token_from=AT)).status == 415
    assert (await ben.page(AT)).status == 403
    assert "Decides" not in (await ada.get(AT)).text and "/what/species" in (await ada.get(AT)).text


@pytest_twisted.ensureDeferred
async def test_agreement_is_that_of_the_first_field(answered, served):
    ada, _, project = await answered({"what": {"species": "owl"}, "n": 1}, {"what": {"species": "owl"}, "n": 2})
    [task] = project["tasks"]
    shown = await ada.page(f"/project/birds/tasks/{task}")
    assert shown.json()["agreement"]["share"] == 0.5
    assert (await ada.send_form(AT, {"fields": [FIELD]})).json()["status"] == "success"
    await result_feature.COMPARE_RESULTS_JOB.work(served.house)
    agreement = (await ada.page(f"/project/birds/tasks/{task}")).json()["agreement"]
    assert (agreement["share"], agreement["key"], agreement["votes"][0]["value"]) == (1.0, "what/species", "owl")
    [result] = (await ada.get(f"/api/result?project_id={project['id']}")).json()
    assert result["id"] and (await ada.send_form(AT, {"fields": ""})).json()["status"] == "success"
    assert (await ada.get(f"/api/project/{project['id']}")).json()["info"]["answers"] is None


@shows("project-answer-fields")
@pytest_twisted.ensureDeferred
async def test_bad_fields_are_refused_and_nothing_is_lost(answered):
    ada, _, project = await answered({"answer": 1})
    at = f"/api/project/{project['id']}"
    for wrong in ("[", [FIELD, FIELD], [FIELD | {"at": "x"}], "fox"):
        refused = (await ada.send_form(AT, {"fields": wrong})).json()
        assert list(refused["form"]["errors"]) == ["fields"] and refused["form"]["fields"], wrong
    refused = await ada.put(at, json={"info": {"task_presenter": "x", "answers": [FIELD | {"type": "colour"}]}})
    assert (refused.status, refused.json()["error_code"]) == (415, "invalid_answer_fields")
    response = await ada.put(at, json={"info": {"task_presenter": "x", "answers": [FIELD | {"at": "/answer"}]}})
    assert response.status == 200
    assert (await ada.get(at)).json()["info"]["answer_key"] == "answer"
    [field] = (await ada.page(AT)).json()["fields"]
    assert field["n_fitting"] == 0 and field["unfit"][0]["value"] == "1"


@pytest_twisted.ensureDeferred
async def test_questions_declare_their_fields_themselves(answered):
    ada, _, project = await answered({"animal": "fox"})
    assert (await ada.put(f"/api/project/{project['id']}", json={"info": {"questions": ONE}})).status == 200
    page = (await ada.page(AT)).json()
    assert page["from_questions"] and [one["n_fitting"] for one in page["fields"]] == [1]
    assert (await ada.send_form(AT, {"fields": []})).json()["status"] == "success"
    assert (await ada.page(AT)).json()["fields"][0]["name"] == "animal"


@pytest_twisted.ensureDeferred
async def test_a_template_declares_its_answers_until_the_owner_chooses_others(served):
    ada = await served.person("ada")
    await served.project(ada)
    at = "/project/birds/tasks/taskpresentereditor"
    fields = "/api/project?short_name=birds"

    async def declared():
        return (await ada.get(fields)).json()[0]["info"].get("answers")

    await ada.post(at, json={"btn": "Start", "template": "text"})
    assert await declared() == [{"name": "answer", "at": "/answer", "type": "text", "unsure": None}]
    await ada.post(at, json={"btn": "Start", "template": "picture"})
    assert (await declared())[0]["choices"] == ["Yes", "No", None]
    assert (await ada.send_form(AT, {"fields": [FIELD]})).json()["status"] == "success"
    await ada.post(at, json={"btn": "Words", "question": "Which?", "answers": "Finch\nTit", "unsure": ""})
    assert await declared() == [FIELD]


@pytest_twisted.ensureDeferred
async def test_what_is_wrong_is_said_in_the_language_of_the_page(answered, served):
    ada, _, _ = await answered({"what": {"species": "owl"}})
    await served.database.execute("UPDATE account SET locale = 'de'")
    token = (await ada.page(AT)).json()["form"]["csrf"]
    refused = await ada.post(AT, data={"fields": "[", "csrf_token": token}, headers={"Accept": "text/html"})
    assert "Das ist kein JSON (Zeile 1, Spalte 2)." in refused.text
