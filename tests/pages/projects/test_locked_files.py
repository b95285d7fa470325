"""Files of a locked project: under names that nobody guesses, for those who have opened the lock."""

import json
import re

import pytest
import pytest_twisted
from support.browsers import lock, newcomer
from support.checks.shows import shows

from crowdd.features.projects.feature import ProjectsFeature
from crowdd.kernel.errors import NotFoundError
from crowdd.kernel.requester import Requester

PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 64


async def setting(served):
    """An owner's browser, a locked project, and the address of one of its files."""
    browser = await newcomer(served, "owner")
    owner = served.client((await browser.page("/account/profile")).json()["user"]["api_key"])
    owner.user_id = 1
    project = await served.project(owner, tasks=1, published=True)
    files = {"files": {"file": ("a.png", PNG)}, "data": {"project_id": str(project["id"])}}
    made = await owner.post("/api/helpingmaterial", **files)
    assert made.status == 200, made.body
    path = "/uploads/" + made.json()["media_url"].partition("/uploads/")[2]
    public = await served.client().get(path)
    assert (public.status, public.header("cache-control")) == (200, "public, max-age=86400")
    await lock(served, "birds", owner, "sesame")
    return browser, owner, project, path


@shows("upload-file")
@pytest_twisted.ensureDeferred
async def test_files_of_a_locked_project_are_for_those_with_the_lock(served):
    browser, owner, _, path = await setting(served)
    admin, stranger, coowner = (
        await served.person("admin", admin=True),
        await served.person("stranger"),
        await served.person("bob"),
    )
    assert [(await who.get(path)).status for who in (served.client(), stranger, coowner)] == [404, 404, 404]
    await browser.send_form("/project/birds/add_coowner/bob", {}, "/project/birds/coowners")
    for who in (browser, admin, coowner):
        response = await who.get(path)
        assert (response.status, response.body, response.header("cache-control")) == (200, PNG, "private, no-cache")
    assert (await owner.get(path)).status == 404, "a key opens no files"
    visitor = served.client()
    await visitor.send_form("/project/birds/password", {"password": "sesame"})
    assert (await visitor.get(path)).status == 200
    assert (await served.client().get(path, headers={"X-Project-Password": "sesame"})).status == 200
    assert (await served.client().get(path, headers={"X-Project-Password": "wrong"})).status == 404


async def frame_of(client):
    """Where the frame of the project finds the project's files, as the page tells its bridge."""
    page = (await client.get("/project/birds/newtask", headers={"Accept": "text/html"})).text
    match = re.search(r'data-project="([^"]*)"', page)
    return json.loads(match[1].replace("&#34;", '"').replace("&quot;", '"').replace("&amp;", "&")).get("uploads")


@shows("presenter-files")
@pytest_twisted.ensureDeferred
async def test_the_frame_has_addresses_that_work_without_cookies_until_they_end(served):
    browser, owner, project, path = await setting(served)
    prefix, name = await frame_of(browser), path.rpartition("/")[2]
    assert prefix.startswith(f"/uploads/project-{project['id']}~")
    bare = served.client()
    assert (await bare.get(prefix + name)).body == PNG
    forged = prefix[:-2] + ("0/" if prefix[-2] != "0" else "1/")
    until = prefix.split("~")[1]
    for wrong in (
        forged,
        prefix.replace(until, str(int(until) + 1)),
        prefix.replace(f"project-{project['id']}", "project-999"),
    ):
        assert (await bare.get(wrong + name)).status == 404, wrong
    access = served.house[ProjectsFeature].file_access
    later = type(access)(access.db, access.secrets, lambda: access.seconds() + 12 * 3600 + 1)
    word = prefix.split("/")[2]
    with pytest.raises(NotFoundError):
        await later.container(word, Requester())
    info = {"task_presenter": f'<img src="{path}">'}
    await owner.put(f"/api/project/{project['id']}", json={"info": info})
    document = (await browser.get("/project/birds/newtask?_presenter=1", headers={"Sec-Fetch-Dest": "iframe"})).text
    assert path not in document and re.search(
        rf'src="/uploads/project-{project["id"]}~\d+~[0-9a-f]{{40}}/{name}"', document
    )
    await lock(served, "birds", owner, "another")
    assert (await bare.get(prefix + name)).status == 404, "another password ends it"


@pytest_twisted.ensureDeferred
async def test_an_open_project_has_no_addresses_of_its_own_for_the_frame(served):
    owner = await served.person("owner")
    await served.project(owner, tasks=1, published=True)
    assert await frame_of(served.client()) is None
