"""A project made from a template asks about the owner's own data: nothing that describes the samples stays in it."""

from __future__ import annotations

import re
from typing import Any

import pytest_twisted
from support.browsers import signed_in

HTML = {"Accept": "text/html", "Sec-Fetch-Site": "none"}
BORROWED = "It is still that of the template."


async def made(served: Any, template: str) -> tuple[Any, Any, dict[str, Any], str]:
    """The owner, their browser, the project that they made from a template, and its address."""
    ada = await served.person("ada")
    browser = await signed_in(served, "ada")
    answer = (await browser.send_form("/project/new", {"template": template})).json()
    assert answer["status"] == "success", answer
    short_name = answer["next"].split("/")[2]
    project = (await ada.get(f"/api/project?short_name={short_name}")).json()[0]
    return ada, browser, project, f"/project/{short_name}"


@pytest_twisted.ensureDeferred
async def test_what_describes_the_samples_is_left_out(served):
    _ada, _browser, project, _at = await made(served, "place-on-map")
    (step,) = project["info"]["questions"]["steps"]
    assert step["media"] == [
        {"name": "text", "type": "text", "source": {"column": "text"}},
        {"name": "map", "type": "map"},
    ], "a map begins where two columns of the owner's tasks say"


@pytest_twisted.ensureDeferred
async def test_the_template_proposes_the_answers_per_task_and_lends_its_sentence_for_a_while(served):
    ada, browser, project, at = await made(served, "boxes")
    page = (await browser.get(f"{at}/tasks/media", headers=HTML)).text
    assert re.search(r'name="n_answers"[^>]* value="3"|value="3"[^>]* name="n_answers"', page), "5 is that of the site"
    assert BORROWED in (await browser.get(f"{at}/publish", headers=HTML)).text
    changed = await ada.put(f"/api/project/{project['id']}", json={"description": "Which animals live at our pond?"})
    assert changed.status == 200
    assert BORROWED not in (await browser.get(f"{at}/publish", headers=HTML)).text


@pytest_twisted.ensureDeferred
async def test_what_is_no_number_of_a_task_is_named(served):
    ada = await served.person("ada")
    await served.project(ada, "birds", tasks=2, published=True)
    browser, at = await signed_in(served, "ada"), "/project/birds/tasks/retire"
    refused = (await browser.send_form(at, {"task_ids": "1, 12x"}, at)).json()
    assert refused["status"] == "error"
    assert refused["form"]["errors"]["task_ids"] == ["“12x” is not the number of a task."]
