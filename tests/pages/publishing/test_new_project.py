"""A new project made of a template: questions without tasks, a name that is free, and the page for own data next."""

from __future__ import annotations

import pytest_twisted
from support.checks.shows import shows


async def made(person, **fields):
    """What a program is told that makes a project."""
    return (await person.post("/project/new", json=fields)).json()


@shows("page-new-post")
@pytest_twisted.ensureDeferred
async def test_a_template_needs_no_name_and_leads_to_own_data(served):
    owner, other = await served.person("owner"), await served.person("eve")
    first = await made(owner, template="sort-pictures")
    assert first["next"] == "/project/sort-pictures/tasks/media"
    project = (await owner.get("/api/project", params={"short_name": "sort-pictures"})).json()[0]
    info = project["info"]
    assert (project["name"], project["n_tasks"], project["published"]) == ("Sort pictures", 0, False)
    assert (info["template"], info["questions_version"]) == ("sort-pictures", 1) and project["description"]
    assert info["questions"]["steps"][0]["questions"][0]["text"] == "What do you see?"  # in the owner's language
    again = await made(other, template="sort-pictures")
    assert again["next"] == "/project/sort-pictures-eve/tasks/media"
    assert (await made(owner, template="survey", name="Ways into town"))[
        "next"
    ] == "/project/ways-into-town/tasks/import"


@pytest_twisted.ensureDeferred
async def test_a_name_that_is_taken_is_refused_and_a_template_must_exist(served):
    owner = await served.person("owner")
    await served.project(owner)
    refused = await made(owner, template="boxes", name="Birds")
    assert refused["form"]["errors"] and refused["form"]["name"] == "Birds" and "templates" not in refused
    assert (await owner.post("/project/new", json={"template": "nothing"})).status == 404
    assert (await served.client().post("/project/new", json={"template": "boxes"})).status == 400
    mine = (await owner.get("/api/project", params={"all": "1"})).json()
    assert [project["short_name"] for project in mine] == ["birds"]
