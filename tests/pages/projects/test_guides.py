"""Guides of a project: checked and numbered by the API, edited on pages, shown in the frame and beside it."""

from __future__ import annotations

import re
from typing import Any

import orjson
import pytest_twisted
from support.browsers import lock, newcomer
from support.checks.shows import shows
from support.questions.guide_documents import QUESTIONS, field_guide, tutorial
from support.servers.served import Served
from twisted.internet.defer import ensureDeferred, gatherResults

FRAME = {"Sec-Fetch-Dest": "iframe", "Sec-Fetch-Site": "same-origin"}
TUTORIAL, GUIDE = "/project/birds/tutorial", "/project/birds/fieldguide"


async def birds(served: Served, **info: Any) -> tuple[Any, str]:
    """The owner of a published project, and the address of its record."""
    ada = await served.person("ada")
    project = await served.project(ada, tasks=1, published=True)
    at = f"/api/project/{project['id']}"
    answer = await ada.put(at, json={"info": {"task_presenter": "<p>?</p>", **info}})
    assert answer.status == 200, answer.body
    return ada, at


async def info_of(ada: Any, at: str) -> Any:
    return (await ada.get(at)).json()["info"]


async def sent(ada: Any, path: str, document: Any, **fields: Any) -> Any:
    """Sends the form of an editor; ``version`` is what the page says unless it is given."""
    form = (await ada.page(path)).json()["form"]
    text = document if isinstance(document, str) else orjson.dumps(document).decode()
    body = {"document": text, "version": form["version"], **fields}
    return (await ada.post(path, json=body, headers={"X-CSRFToken": form["csrf"]})).json()


@shows("project-guides", "project-guides-versions")
@pytest_twisted.ensureDeferred
async def test_guides_are_checked_and_their_numbers_are_the_servers(served: Served) -> None:
    ada, at = await birds(served)
    wrong = {"version": 1, "steps": [{"name": "a", "title": "A", "task": "no"}, {}]}
    refused = await ada.put(at, json={"info": {"guided_tutorial": wrong}})
    assert (refused.status, refused.json()["error_code"]) == (415, "invalid_guide")
    assert refused.json()["exception_msg"] == (
        "`info.guided_tutorial/steps/0/task`: “no” is not defined in this document. There are 2 more problems."
    )
    for name, size in (("guided_tutorial", 256_000), ("field_guide", 512_000)):
        large = await ada.put(at, json={"info": {name: {"x": "y" * size}}})
        assert large.status == 413 and f"info.{name}" in large.text
    body = {"name": "Bees", "short_name": "bees", "description": "?", "info": {"field_guide": {"version": 1}}}
    assert (await ada.post("/api/project", json=body)).status == 415

    body["info"] = {"field_guide": field_guide(), "field_guide_version": 9}
    made = (await ada.post("/api/project", json=body)).json()
    assert made["info"] == {"field_guide": field_guide(), "field_guide_version": 1}
    info = {"guided_tutorial": tutorial(), "guided_tutorial_version": 70, "field_guide": field_guide()}
    assert (await ada.put(at, json={"info": info})).status == 200
    now = await info_of(ada, at)
    assert (now["guided_tutorial_version"], now["field_guide_version"]) == (1, 1)
    assert (await ada.put(at, json={"info": now | {"sched": "random"}})).status == 200
    assert (await info_of(ada, at))["guided_tutorial_version"] == 1, "the same tutorial is the same version"
    assert (await ada.put(at, json={"info": {}})).status == 200
    assert await info_of(ada, at) == {}
    assert (await ada.put(at, json={"info": {"guided_tutorial": tutorial()}})).status == 200
    assert (await info_of(ada, at))["guided_tutorial_version"] == 2, "it was gone in between"
    public_info = (await served.client().get(at)).json()["info"]
    assert public_info == {"guided_tutorial_version": 2}, "others read the number only"


@shows("page-guide-editor", "page-guide-version")
@pytest_twisted.ensureDeferred
async def test_owners_edit_guides_and_read_earlier_versions(served: Served) -> None:
    ada, at = await birds(served, tutorial="<p>how</p>", questions=QUESTIONS)
    page = (await ada.page(f"{TUTORIAL}/edit")).json()
    assert page["form"]["version"] == "" and page["versions"] == [] and page["problems"] == []
    refused = await sent(ada, f"{TUTORIAL}/edit", {"version": 1, "steps": [{"name": "a"}]})
    assert refused["problems"] == [{"path": "/steps/0", "sentence": "“title” is missing."}]
    assert refused["form"]["errors"]["document"] == ["/steps/0: “title” is missing."]
    refused = await sent(ada, f"{TUTORIAL}/edit", "{\n x")
    assert refused["form"]["document"] == "{\n x" and "Line 2" in refused["form"]["errors"]["document"][0]
    shown = await sent(ada, f"{TUTORIAL}/edit", tutorial(), btn="Preview")
    assert "lesson.js" in shown["source"] and "guided_tutorial" not in await info_of(ada, at)

    assert (await sent(ada, f"{TUTORIAL}/edit", tutorial()))["status"] == "success"
    info = await info_of(ada, at)
    assert (info["guided_tutorial"], info["guided_tutorial_version"], info["tutorial"]) == (tutorial(), 1, None)
    for edition in range(2, 24):
        assert (await sent(ada, f"{TUTORIAL}/edit", tutorial(edition=edition)))["status"] == "success"
    versions = (await ada.page(f"{TUTORIAL}/edit")).json()["versions"]
    assert [one["version"] for one in versions] == [*range(23, 3, -1)], "the last 20"
    old_version = (await ada.get(f"{TUTORIAL}/versions/4")).json()
    assert old_version["version"] == 4 and old_version["document"] == tutorial(edition=4) and old_version["created"]
    assert (await ada.page(f"{TUTORIAL}/versions/3")).status == 404
    assert (await ada.page(f"{GUIDE}/versions/1")).status == 404

    assert (await ada.put(at, json={"info": info | {"questions": None}})).status == 200
    missing = (await ada.page(f"{TUTORIAL}/edit")).json()["missing"]
    assert {"path": "/steps/1/highlight/question", "sentence": "The questions have no question “animal”."} in missing
    assert (await sent(ada, f"{TUTORIAL}/edit", "", btn="Delete"))["status"] == "success"
    assert (await info_of(ada, at))["guided_tutorial"] is None
    assert (await ada.get(f"{TUTORIAL}/versions/24")).json()["document"] == tutorial(), "versions stay"

    for path in (f"{TUTORIAL}/edit", f"{GUIDE}/edit", f"{TUTORIAL}/versions/24"):
        stranger = await newcomer(served, f"eve{len(path)}")
        assert (await stranger.page(path)).status == 403, path
        assert (await served.client().page(path)).status == 302, path


@shows("page-guide-conflict")
@pytest_twisted.ensureDeferred
async def test_the_second_of_two_owners_is_told_and_keeps_the_text(served: Served) -> None:
    ada, at = await birds(served)
    assert (await sent(ada, f"{GUIDE}/edit", field_guide()))["status"] == "success"
    mine = field_guide() | {"groups": [], "entries": [{"name": "mine", "title": "Mine"}]}
    late = await sent(ada, f"{GUIDE}/edit", mine, version="")
    assert late["form"]["errors"]["document"][0].startswith("Someone else has saved a newer version")
    assert orjson.loads(late["form"]["document"]) == mine and late["form"]["version"] == "1"
    assert (await info_of(ada, at))["field_guide"] == field_guide()
    again = await sent(ada, f"{GUIDE}/edit", mine, version=late["form"]["version"])
    assert again["status"] == "success" and (await info_of(ada, at))["field_guide"] == mine


@shows("presenter-guided-tutorial")
@pytest_twisted.ensureDeferred
async def test_the_frame_shows_the_guided_tutorial_in_the_language_of_its_reader(served: Served) -> None:
    hostile = tutorial()
    hostile["steps"][0]["text"]["en"] += "\n\n<script>alert(1)</script> <img src=x onerror=alert(1)> </script>"
    hostile["steps"][1]["title"] = "</script><script>alert(2)</script>"
    ada, at = await birds(served, questions=QUESTIONS, guided_tutorial=hostile)
    frame = f"{TUTORIAL}?_presenter=1"
    answer = await served.client().get(frame, headers=FRAME | {"Accept-Language": "en"})
    assert answer.status == 200 and answer.text.count("</script>") == answer.text.count("<script")
    shown = orjson.loads(re.search(r'id="lesson">(.*?)</script>', answer.text)[1])  # type: ignore[index]
    assert "<strong>ears</strong>" in shown["steps"][0]["text"]["html"]
    assert "<script" not in shown["steps"][0]["text"]["html"] and "onerror" not in shown["steps"][0]["text"]["html"]
    assert shown["list"] == QUESTIONS and shown["tasks"]["sample"]["title"] == "Sample"
    assert [step["task"] for step in shown["steps"]] == [None, "sample", "sample", "sample"]
    german = await served.client().get(frame, headers=FRAME | {"Accept-Language": "de"})
    assert "Willkommen" in german.text and "<strong>Ohren" in german.text.replace("\\u003c", "<")

    page = await served.client().get("/project/birds/newtask", headers={"Accept": "text/html"})
    assert 'data-tutorial="tutorial-' in page.text and "data-guided" in page.text
    assert (await ada.put(at, json={"info": await info_of(ada, at) | {"tutorial": "<p>own</p>"}})).status == 200
    own = await served.client().get(frame, headers=FRAME)
    assert "<p>own</p>" in own.text and "lesson" not in own.text, "HTML of the owner comes first"


@shows("page-field-guide")
@pytest_twisted.ensureDeferred
async def test_the_field_guide_is_for_everybody_who_may_see_the_project(served: Served) -> None:
    ada, at = await birds(served)
    assert (await served.client().page(GUIDE)).status == 404
    assert (
        await ada.put(at, json={"info": {"task_presenter": "<p>?</p>", "field_guide": field_guide()}})
    ).status == 200
    german = {"Accept-Language": "de"}
    shown = (await served.client().get(GUIDE, headers={"Accept": "application/json"} | german)).json()["field_guide"]
    assert shown["version"] == 1 and [group["title"]["words"] for group in shown["groups"]] == ["Säugetiere", "Birds"]
    fox, _, last = shown["entries"]
    assert fox["title"] == {"words": "Rotfuchs", "lang": "de", "dir": "ltr"} and fox["group"] == "mammals"
    assert "<strong>ears</strong>" in fox["text"]["html"] and len(fox["pictures"]) == 2
    assert all(word in fox["find"] for word in ("Red fox", "Rotfuchs", "vulpes")) and "group" not in last
    page = (await served.client().get(GUIDE, headers={"Accept": "text/html"} | german)).text
    assert "Rotfuchs" in page and "Photo: Ada" in page
    await lock(served, "birds", ada, "open sesame")
    assert (await served.client().page(GUIDE)).status == 403


@pytest_twisted.ensureDeferred
async def test_of_two_owners_who_save_at_once_one_is_told(served: Served) -> None:
    ada, at = await birds(served)
    path = f"{GUIDE}/edit"
    form = (await ada.page(path)).json()["form"]
    documents = [{"version": 1, "entries": [{"name": "fox", "title": title}]} for title in ("One", "Two", "Three")]
    bodies = [{"document": orjson.dumps(document).decode(), "version": form["version"]} for document in documents]
    headers = {"X-CSRFToken": form["csrf"]}
    answers = await gatherResults([ensureDeferred(ada.post(path, json=body, headers=headers)) for body in bodies])
    replies = [answer.json() for answer in answers]
    (saved,) = [nth for nth, one in enumerate(replies) if one["status"] == "success"]
    others = [one["form"]["errors"]["document"][0] for nth, one in enumerate(replies) if nth != saved]
    assert len(others) == 2 and all(words.startswith("Someone else") for words in others)
    info = await info_of(ada, at)
    assert (info["field_guide"], info["field_guide_version"]) == (documents[saved], 1)
