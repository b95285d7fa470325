"""The roles of columns in the preview of an import, and columns that take the names that the questions ask for."""

from __future__ import annotations

from typing import Any

import pytest_twisted
from support.checks.shows import shows
from support.importing import AT, bring, brought, figures, looked_at, tasks_of
from support.servers.queue_runner import worked

HTML = {"Accept": "text/html"}
TABLE = b"Bild,Titel,Breite,solution\nhttps://x.example/1.jpg,Haus,48.1,fox\nhttps://x.example/2.jpg,Turm,48.2,owl\n"
QUESTIONS = {
    "version": 1,
    "steps": [
        {
            "name": "look",
            "media": [
                {"name": "photo", "type": "picture", "source": {"column": "url"}, "description": {"column": "Titel"}}
            ],
            "questions": [{"name": "animal", "type": "yes_no", "text": "Is there one?"}],
        }
    ],
}


async def asking(served: Any) -> tuple[Any, dict[str, Any]]:
    """An owner and a project whose questions show the columns url and Titel."""
    owner = await served.person("owner")
    project = await served.project(owner)
    info = {"questions": QUESTIONS}
    assert (await owner.put(f"/api/project/{project['id']}", json={"info": info})).status == 200
    return owner, project


async def info_of(owner: Any, project: dict[str, Any]) -> Any:
    return (await owner.get(f"/api/project/{project['id']}")).json()["info"]


@shows("page-import-roles")
@pytest_twisted.ensureDeferred
async def test_roles_are_suggested_chosen_and_kept_and_hide_a_column_before_its_first_task(served):
    owner, project = await asking(served)
    upload = await looked_at(owner, TABLE)
    assert upload["suggested"] == {"Bild": "picture", "Titel": "title", "solution": "hidden"}, "a width is no place"
    page = (await owner.get(f"{AT}/{upload['id']}", headers=HTML)).text
    for n, role in enumerate(("picture", "title", "", "hidden")):
        select = page.split(f'name="role_{n}"')[1].split("</select>")[0]
        assert f'<option value="{role}" selected>' in select, (n, select)
    assert '<a href="https://x.example/1.jpg"' in page and '<img src="https://x.example' not in page
    form = {
        "form": "y",
        "header": "y",
        "role_0": "picture",
        "role_1": "",
        "role_2": "latitude",
        "role_3": "hidden",
        "n_answers": "2",
    }
    begun = (await owner.post(f"{AT}/{upload['id']}", json=form)).json()
    if begun["status"] == "warning":  # the number of answers changed the figures
        assert "column_roles" not in await info_of(owner, project)
        begun = (await owner.post(f"{AT}/{upload['id']}", json=form)).json()
    assert begun["status"] == "success", begun
    assert (await info_of(owner, project))["column_roles"] == {
        "Bild": "picture",
        "Breite": "latitude",
        "solution": "hidden",
    }
    assert figures((await worked(served))[-1]["result"]) == {"added": 2}
    # Another file of the same columns begins with the roles that were chosen; "" takes a role away.
    again = await looked_at(owner, TABLE.replace(b"Haus", b"Hof"))
    page = (await owner.get(f"{AT}/{again['id']}", headers=HTML)).text
    assert '<option value="title" selected>' in page, "none was chosen: what is suggested holds"
    await owner.post(f"{AT}/{again['id']}", json={"roles": {"solution": "", "Titel": "title"}})
    assert (await info_of(owner, project))["column_roles"] == {
        "Bild": "picture",
        "Breite": "latitude",
        "Titel": "title",
    }


@shows("page-import-roles")
@pytest_twisted.ensureDeferred
async def test_a_column_takes_the_name_that_the_questions_ask_for(served):
    owner, project = await asking(served)
    upload = await looked_at(owner, TABLE)
    page = (await owner.get(f"{AT}/{upload['id']}", headers=HTML)).text
    assert 'name="place_0"' in page and "place_1" not in page, "the file has the column of the description"
    checked = {"form": "y", "header": "y", "place_0": "Bild", "check": "y", "key": "url"}
    assert (await owner.post(f"{AT}/{upload['id']}", json={**checked, "key": ""})).json()["status"] == "success"
    shown = (await owner.page(f"{AT}/{upload['id']}")).json()["import"]
    assert shown["columns"] == ["url", "Titel", "Breite", "solution"] and shown["dialect"]["names"] == {"Bild": "url"}
    page = (await owner.get(f"{AT}/{upload['id']}", headers=HTML)).text
    assert "Bild in the file" in page and '<option value="Bild" selected>' in page
    assert (await owner.post(f"{AT}/{upload['id']}", json={"key": "url", "roles": {"url": "hidden"}})).json()[
        "status"
    ] == "success"
    assert figures((await worked(served))[-1]["result"]) == {"added": 2}
    assert {task["info"]["url"] for task in await tasks_of(owner, project)} == {
        "https://x.example/1.jpg",
        "https://x.example/2.jpg",
    }
    # A program says both in one request, also by the key under its new name; the same rows are found again.
    result = await brought(served, owner, TABLE, names='{"Bild": "url"}', key="url", on_error="skip")
    assert figures(result) == {"present": 2}
    # Hiding what the questions show is told.
    again = await looked_at(owner, TABLE.replace(b"/1", b"/3"), names='{"Bild": "url"}')
    assert (
        "Your questions show a column that you hide: url."
        in (await owner.get(f"{AT}/{again['id']}", headers=HTML)).text
    )


@pytest_twisted.ensureDeferred
async def test_wrong_roles_and_names_are_refused_and_lose_nothing(served):
    owner, project = await asking(served)
    upload = await looked_at(owner, TABLE)
    for wrong, words in (
        ({"roles": {"Bild": "secret"}}, "is not a role"), ({"roles": {"nothing": "text"}}, "no column nothing"),
        ({"roles": ["Bild"]}, "`roles` must be an object"), ({"names": ["x"]}, "`names` must be an object"),
        ({"names": {"Bild": "x", "Titel": "x"}}, "cannot have the same name"), ({"names": {"Bild": "y" * 300}}, "`names` may have"),
        ({"names": {"Bild": "Titel"}}, "already has a column Titel"),
    ):  # fmt: skip
        refused = (await owner.post(f"{AT}/{upload['id']}", json=wrong)).json()
        message = refused["flash"] + str((await owner.page(f"{AT}/{upload['id']}")).json()["import"]["check_error"])
        assert words in message, (wrong, refused["flash"])
    assert "column_roles" not in await info_of(owner, project) and await tasks_of(owner, project) == []
    undecided = await bring(owner, TABLE, roles='{"Bild": "picture"}', map="y")
    assert undecided["import"] != upload["id"]
