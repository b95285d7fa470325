"""Questions of a project: refused by API and page, what the server writes beside them, the frame, and the way to HTML."""

from __future__ import annotations

import gzip
import re
from typing import Any

import orjson
import pytest_twisted
from support.checks.shows import shows
from support.questions.question_lists import ONE, every_form

from crowdd import PACKAGE

AT = "/project/birds/tasks/taskpresentereditor"
STATIC = PACKAGE / "http/static/questions"
FRAME = {"Sec-Fetch-Dest": "iframe", "Sec-Fetch-Site": "same-origin"}


async def owner_of_birds(served: Any) -> tuple[Any, str]:
    ada = await served.person("ada")
    project = (await ada.post("/api/project", json={"name": "Birds", "short_name": "birds", "description": "?"})).json()
    return ada, f"/api/project/{project['id']}"


async def info_of(ada: Any, at: str) -> Any:
    return (await ada.get(at)).json()["info"]


@shows("project-questions", "project-questions-derived")
@pytest_twisted.ensureDeferred
async def test_questions_are_checked_and_what_follows_from_them_is_the_servers(served: Any) -> None:
    ada, at = await owner_of_birds(served)
    wrong = {"version": 1, "steps": [{"name": "a", "questions": [{"name": "b", "type": "yes_no"}]}, {}]}
    refused = await ada.put(at, json={"info": {"questions": wrong}})
    assert (refused.status, refused.json()["error_code"]) == (415, "invalid_questions")
    assert refused.json()["exception_msg"] == (
        "`info.questions/steps/0/questions/0`: “text” is missing. There is one more problem."
    )
    body = {"name": "Bees", "short_name": "bees", "description": "?", "info": {"questions": wrong}}
    assert (await ada.post("/api/project", json=body)).status == 415
    large = await ada.put(at, json={"info": {"questions": {"x": "y" * 256_000}}})
    assert large.status == 413 and "info.questions" in large.text
    assert await info_of(ada, at) == {}

    sent = {"questions": ONE, "questions_version": 70, "answer_key": "mine", "answers": []}
    assert (await ada.put(at, json={"info": sent})).status == 200
    info = await info_of(ada, at)
    animal = {"name": "animal", "at": "/animal", "type": "label", "choices": ["fox", "owl"]}
    assert info == {"questions": ONE, "questions_version": 1, "answer_key": "animal", "answers": [animal]}
    assert (await ada.put(at, json={"info": info | {"sched": "random"}})).status == 200
    assert (await info_of(ada, at))["questions_version"] == 1
    assert (await ada.put(at, json={"info": info | {"questions": every_form()}})).status == 200
    now = await info_of(ada, at)
    assert now["questions_version"] == 2 and len(now["answers"]) == 10
    made = (await ada.post("/api/project", json=body | {"info": {"questions": ONE}})).json()
    assert made["info"]["questions_version"] == 1
    everybody = (await served.client().get("/api/project?short_name=bees")).json()
    assert everybody == []  # a draft


@shows("presenter-questions")
@pytest_twisted.ensureDeferred
async def test_a_project_without_a_presenter_shows_its_questions(served: Any) -> None:
    ada, at = await owner_of_birds(served)
    project = int(at.rpartition("/")[2])
    assert (await ada.post("/api/task", json={"project_id": project, "info": {"url_b": "/x.png"}})).status == 200
    assert (await ada.post("/project/birds/publish", json={})).status == 403
    tricky = {**ONE, "steps": [{**ONE["steps"][0], "title": "</script><b>{{ 1 }}"}]}
    await ada.put(at, json={"info": {"questions": tricky, "language": "fr"}})
    assert (await ada.post("/project/birds/publish", json={})).status == 200
    shown = (
        await served.client().get("/project/birds/newtask?_presenter=1", headers=FRAME | {"Accept-Language": "de"})
    ).text
    assert '<html lang="de" dir="ltr">' in shown and "</script><b>" not in shown
    questions = re.search(r'id="questions">(.*?)</script>', shown)
    assert questions and orjson.loads(questions[1]) == {"list": tricky, "version": 1, "language": "fr"}
    words = re.search(r'id="questions-words">(.*?)</script>', shown)
    assert words and orjson.loads(words[1])["words"]["send"] == "Absenden"
    loads = re.findall(r'data-(?:sheets|scripts)="/static/(.*?)\?v=', shown)
    assert loads == ["bundles/choices.css", "bundles/choices.js"]
    page = (await served.client().get("/project/birds/newtask")).text
    assert "single_choice" not in page  # the frame has it
    assert "&lt;/script&gt;&lt;b&gt;{{ 1 }}</p>" in page and "<b>{{ 1 }}" not in page  # its heading is shown at once
    home = await served.client().get("/", headers={"Accept": "text/html"})
    assert "sha256" not in home.header("content-security-policy")
    await ada.put(at, json={"info": {"questions": tricky, "task_presenter": "<p>Mine</p>"}})
    shown = (await served.client().get("/project/birds/newtask?_presenter=1", headers=FRAME)).text
    assert "<p>Mine</p>" in shown and "/static/questions/" not in shown


@shows("page-editor-questions")
@pytest_twisted.ensureDeferred
async def test_an_owner_edits_questions_as_json_and_goes_on_with_html(served: Any) -> None:
    ada, at = await owner_of_birds(served)
    first = (await ada.page(f"{AT}?part=questions")).json()
    assert first["template"] == "project/questions_editor.html" and "single_choice" in first["form"]["questions"]
    begun = (await ada.post(f"{AT}?part=questions", json={"questions": first["form"]["questions"]})).json()
    assert begun["status"] == "success" and (await info_of(ada, at))["answer_key"] == "seen"
    assert (await ada.page(AT)).json()["template"] == "project/questions_editor.html"

    refused = (await ada.post(f"{AT}?part=questions", json={"questions": '{\n "version": 1,\n}'})).json()
    assert (
        refused["form"]["errors"]["questions"] == ["Line 2, column 14: this is not JSON."] and refused["problems"] == []
    )
    wrong = orjson.dumps({"version": 2, "steps": ONE["steps"], "x": 1}).decode()
    refused = (await ada.post(f"{AT}?part=questions", json={"questions": wrong})).json()
    assert [each["path"] for each in refused["problems"]] == ["/x", "/version"] and refused["form"][
        "questions"
    ] == wrong
    assert refused["form"]["errors"]["questions"][1] == "/version: The version of the format is 1."

    done = (await ada.post(f"{AT}?part=questions", json={"btn": "Html"})).json()
    assert done["next"] == AT
    info = await info_of(ada, at)
    assert info["questions"] is None and '"name": "seen"' in info["task_presenter"] and info["questions_version"] == 1
    assert (await ada.page(AT)).json()["form"]["editor"] == info["task_presenter"]
    shown = (await ada.get("/project/birds/newtask?_presenter=1", headers=FRAME)).text
    assert 'id="questions-words"' in shown
    await ada.post(f"{AT}?part=questions", json={"questions": orjson.dumps(ONE).decode()})
    info = await info_of(ada, at)
    assert info["task_presenter"] is None and info["questions_version"] == 2


SPECIES = {"name": "species", "type": "short_text", "text": "Which species?"}
CHECK = f"{AT}/check"


def asking(*questions: Any) -> str:
    return orjson.dumps({**ONE, "steps": [{**ONE["steps"][0], "questions": list(questions)}]}).decode()


def choosing(*values: str) -> Any:
    return {**ONE["steps"][0]["questions"][0], "choices": [{"value": value, "text": value} for value in values]}


async def answered(served: Any, ada: Any, at: str, *infos: Any) -> None:
    """Tasks of the project, each with an answer, and one that is completed."""
    project = int(at.rpartition("/")[2])
    for info in infos:
        body = {"project_id": project, "info": {"url_b": "/x.png"}, "n_answers": 1}
        task = (await ada.post("/api/task", json=body)).json()["id"]
        await ada.get(f"/api/project/{project}/newtask")
        run = {"project_id": project, "task_id": task, "info": {**info, "questions_version": 1}}
        assert (await ada.post("/api/taskrun", json=run)).status == 200


@shows("page-editor-questions-check")
@pytest_twisted.ensureDeferred
async def test_checking_says_what_is_wrong_and_what_saving_means_and_stores_nothing(served: Any) -> None:
    ada, at = await owner_of_birds(served)
    report = (await ada.post(CHECK, json={"questions": "{"})).json()
    assert report["problems"][0]["sentence"].startswith("Line 1, column") and report["effects"] == []
    wrong = asking({**SPECIES, "text": ""})
    report = (await ada.post(CHECK, json={"questions": wrong})).json()
    assert report["problems"] == [{"path": "/steps/0/questions/0/text", "sentence": "Write a text here."}]
    assert (await ada.post(CHECK, json={"questions": " " * 1_100_000})).json()["problems"][0]["path"] == ""
    assert (await served.client().post(CHECK, json={"questions": wrong})).status in (302, 400, 401)
    bob = await served.person("bob")
    assert (await bob.post(CHECK, json={"questions": wrong})).status in (403, 404)
    assert await info_of(ada, at) == {}

    await ada.put(at, json={"info": {"questions": orjson.loads(asking(choosing("fox", "owl"), SPECIES))}})
    await answered(served, ada, at, {"animal": "fox", "species": "Vulpes"}, {"animal": "owl"}, {"animal": "owl"})
    same = (await ada.post(CHECK, json={"questions": asking(choosing("fox", "owl"), SPECIES)})).json()
    assert same == {"problems": [], "advice": [], "effects": []}
    age = {"name": "age", "type": "number", "text": "How old?"}
    report = (await ada.post(CHECK, json={"questions": asking(age, choosing("owl", "bat"))})).json()
    assert report["effects"] == [
        "The project has 3 answers. They stay as they are.",
        "The questions become version 2. New answers record it.",
        "“age” is new: existing answers have nothing for it.",
        "“animal” no longer has fox. Of the last 3 answers, 3 have a value for it; 1 of these no longer fit.",
        "“species” is removed. Its answers stay stored. "
        "Of the last 3 answers, one has a value for it; 1 no longer fits.",
        "Agreement is then measured by “age” instead of “animal”.",
        "The 3 completed tasks stay completed. Nothing is asked again.",
    ]
    column = asking(choosing("fox", "owl"), {**SPECIES, "text": "Which?"}).replace("url_b", "photo")
    page = (await ada.post(f"{AT}?part=questions", json={"questions": column, "btn": "Check"})).json()
    missing = "None of 3 checked tasks has the column “photo”."
    assert page["advice"] == [{"path": "/steps/0/media/0/source/column", "sentence": missing}]
    assert (
        page["effects"][2] == "Only the wording of “species” has changed: all its answers still fit."
        and page["problems"] == []
    )
    assert (await info_of(ada, at))["questions_version"] == 1


@shows("page-editor-questions-base", "page-editor-questions-versions")
@pytest_twisted.ensureDeferred
async def test_the_second_of_two_owners_is_told_and_earlier_versions_stay(served: Any) -> None:
    ada, at = await owner_of_birds(served)
    here = f"{AT}?part=questions"
    base = (await ada.page(here)).json()["form"]["base"]
    mine, others = asking(SPECIES), asking({**SPECIES, "text": "What is it?"})
    assert (await ada.post(here, json={"questions": others, "base": base})).json()["status"] == "success"
    refused = (await ada.post(here, json={"questions": mine, "base": base})).json()
    assert refused["form"]["questions"] == mine and "saved in the meantime" in refused["form"]["errors"]["questions"][0]
    assert (await info_of(ada, at))["questions"] == orjson.loads(others)
    again = (await ada.post(here, json={"questions": others, "base": base})).json()  # what is stored already
    assert again["status"] == "success"
    done = (await ada.post(here, json={"questions": mine, "base": refused["form"]["base"]})).json()
    assert done["status"] == "success" and (await info_of(ada, at))["questions_version"] == 2
    for number, text in ((1, others), (2, mine)):
        page = (await ada.page(f"{here}&version={number}")).json()
        assert orjson.loads(page["form"]["questions"]) == orjson.loads(text)
    assert (await ada.page(f"{here}&version=3")).status == 404

    for number in range(3, 104):  # 100 are kept
        text = asking({**SPECIES, "text": f"Which one, {number}?"})
        assert (await ada.put(at, json={"info": {"questions": orjson.loads(text)}})).status == 200
    statement = "SELECT min(version), max(version), count(*) FROM question_version"
    [row] = await served.database.fetch(statement)
    assert (row["min"], row["max"], row["count"]) == (4, 103, 100)
    assert (await ada.page(f"{here}&version=3")).status == 404
    assert (await ada.delete(at)).status == 204
    [row] = await served.database.fetch(statement)
    assert row["count"] == 0


def test_the_scripts_without_media_have_at_most_60_kb() -> None:
    files = [*STATIC.glob("*.js"), *STATIC.glob("types/*.js"), STATIC / "questions.css"]
    assert sum(len(gzip.compress(file.read_bytes())) for file in files) < 60_000
