"""What the volunteer's page brings along, so that its script may save and give back wherever cookies go."""

from __future__ import annotations

import re
from typing import Any

import pytest_twisted
from support.browsers import newcomer, signed_in
from support.checks.page_reader import Page
from support.checks.shows import shows

from crowdd.http.html import frames

HTML = {"Accept": "text/html"}


@pytest_twisted.ensureDeferred
async def test_where_cookies_cross_sites_the_page_brings_the_token_that_saving_and_giving_back_want(serve):
    served = await serve(CROWDD_HTTP_CROSS_SITE_COOKIES="on")
    owner = await served.person("owner")
    project = await served.project(owner, tasks=2, published=True)
    browser = await newcomer(served, "ada")
    page = await browser.get(f"/project/{project['short_name']}/newtask", headers=HTML)
    token, volunteer = (re.search(rf'data-{name}="([^"]+)"', page.text)[1] for name in ("csrf", "volunteer"))
    headers = {"X-Presenter": str(project["id"]), "X-Volunteer": volunteer, "Content-Type": "application/json"}
    first = (await browser.get(f"/api/project/{project['id']}/newtask", headers=headers)).json()["id"]
    run = {"project_id": project["id"], "task_id": first, "info": 1}
    assert (await browser.post("/api/taskrun", json=run, headers=headers)).status == 400  # without the token
    stored = await browser.post("/api/taskrun", json=run, headers={**headers, "X-CSRFToken": token})
    assert (stored.status, str(stored.json()["user_id"])) == (200, volunteer)
    second = (await browser.get(f"/api/project/{project['id']}/newtask", headers=headers)).json()["id"]
    release = f"/api/task/{second}/release"
    assert (await browser.post(release, json={"also": []}, headers=headers)).status == 400
    given_back = await browser.post(release, json={"also": []}, headers={**headers, "X-CSRFToken": token})
    assert given_back.json() == {"released": True}


@pytest_twisted.ensureDeferred
async def test_the_page_says_who_it_was_made_for_and_his_rank(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=1, published=True)
    path = f"/project/{project['short_name']}/newtask"
    stranger = (await served.client().get(path, headers=HTML)).text
    assert 'data-volunteer=""' in stranger and "You need no account." in stranger
    assert 'id="rank"' not in stranger and 'id="favourite"' not in stranger and 'id="sign-up"' in stranger
    browser = await newcomer(served, "ada")
    member = (await browser.get(path, headers=HTML)).text
    assert re.search(r'data-volunteer="\d+"', member) and "You need no account." not in member
    assert re.search(r'id="rank"[^>]* hidden></a>', member), "nobody has a rank before an answer"
    task = (await browser.get(f"/api/{project['id']}/newtask")).json()
    answer = {"project_id": project["id"], "task_id": task["id"], "info": 1}
    assert (await browser.post("/api/taskrun", json=answer)).status == 200
    member = (await browser.get(path, headers=HTML)).text
    assert (
        re.search(r'id="rank"[^>]*>rank 1</a>', member) and 'id="favourite"' in member and 'id="sign-up"' not in member
    )


def framed_addresses(project: dict[str, Any], task: int) -> list[str]:
    """An address of each kind that presenter.FRAMED knows."""
    of_projects, of_templates = frames.FRAMED.pattern.split("/?|", 1)
    names = re.fullmatch(r".*\(\?:(.*)\)", of_projects)[1].split("|")
    addresses = [f"/project/{project['short_name']}/{name}".replace(r"\d+", str(task)) for name in names]
    return [*addresses, of_templates.removesuffix("/?").replace("[^/]+", "boxes")]


@shows("presenter-no-password")
@pytest_twisted.ensureDeferred
async def test_no_page_with_a_presenter_frame_has_a_password_field_or_a_dialog_that_takes_text(served):
    ada = await served.person("ada")
    browser = await signed_in(served, "ada")
    project = await served.project(ada, tasks=1, published=True)
    info = {"task_presenter": "<p>Who?</p>", "tutorial": "<p>How</p>", "results": "<p>These</p>"}
    assert (await ada.put(f"/api/project/{project['id']}", json={"info": info})).status == 200
    addresses = framed_addresses(project, project["tasks"][0])
    assert len(addresses) == 7
    for path in (path for path in addresses if "/review/" not in path):  # tests/pages/review: needs a completed task
        for client in (browser, served.client())[: 1 if "editor" in path else 2]:
            page = await client.get(path, headers=HTML)
            assert page.status == 200 and frames.FRAMED.fullmatch(path), path
            elements = Page(page.text).elements
            assert [it for it in elements if it.get("id") in ("presenter", "preview", "trial")], path
            assert not [it for it in elements if it.get("type") == "password"], path
            assert not [it for it in elements if it.tag in ("input", "textarea") and it.inside("dialog")], path
            # Strangers may see the user name only; nobody owns a template that comes with crowdd.
            assert path.startswith("/templates/") or re.search("Content by (Ada|ada)[.]", page.text), path


@pytest_twisted.ensureDeferred
async def test_who_needs_an_account_for_a_project_reads_why_before_signing_in(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=1, published=True)
    visitor, why = served.client(), "This project needs an account."
    await owner.put(f"/api/project/{project['id']}", json={"allow_anonymous_contributors": False})
    led = await visitor.get("/project/birds/newtask", headers={"Accept": "text/html"})
    assert (led.status, led.header("location")) == (302, "/account/signin?next=/project/birds/newtask")
    assert why in (await visitor.get(led.header("location"), headers={"Accept": "text/html"})).text
    assert why not in (await visitor.get(led.header("location"), headers={"Accept": "text/html"})).text  # once
    other = served.client()
    assert (await other.get("/account/profile", headers={"Accept": "text/html"})).status == 302
    assert why not in (await other.get("/account/signin", headers={"Accept": "text/html"})).text
