"""What the volunteer's page brings along, so that its script may save and give back wherever cookies go."""

from __future__ import annotations

import re

import pytest_twisted
from support.browsers import newcomer

HTML = {"Accept": "text/html"}


@pytest_twisted.ensureDeferred
async def test_where_cookies_cross_sites_the_page_brings_the_token_that_saving_and_giving_back_want(serve):
    served = await serve(CROWDD_HTTP_CROSS_SITE_COOKIES="on")
    owner = await served.person("owner")
    project = await served.project(owner, tasks=2, published=True)
    browser = await newcomer(served, "ada")
    page = await browser.get(f"/project/{project['short_name']}/newtask", headers=HTML)
    token, volunteer = (re.search(rf'data-{name}="([^"]+)"', page.text)[1] for name in ("csrf", "volunteer"))
    said = {"X-Presenter": str(project["id"]), "X-Volunteer": volunteer, "Content-Type": "application/json"}
    first = (await browser.get(f"/api/project/{project['id']}/newtask", headers=said)).json()["id"]
    run = {"project_id": project["id"], "task_id": first, "info": 1}
    assert (await browser.post("/api/taskrun", json=run, headers=said)).status == 400  # without the token
    stored = await browser.post("/api/taskrun", json=run, headers={**said, "X-CSRFToken": token})
    assert (stored.status, str(stored.json()["user_id"])) == (200, volunteer)
    second = (await browser.get(f"/api/project/{project['id']}/newtask", headers=said)).json()["id"]
    release = f"/api/task/{second}/release"
    assert (await browser.post(release, json={"also": []}, headers=said)).status == 400
    given_back = await browser.post(release, json={"also": []}, headers={**said, "X-CSRFToken": token})
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
    assert 'id="rank"' in member and 'id="favourite"' in member and 'id="sign-up"' not in member
