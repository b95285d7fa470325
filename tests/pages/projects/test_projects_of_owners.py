"""Publishing and pausing, and a project's password, on its pages."""

from urllib.parse import quote

import pytest_twisted
from support.browsers import lock, newcomer, who
from support.checks.shows import shows
from twisted.internet.task import Clock


async def owned(served, *, tasks=1):
    """An owner's browser, key and draft."""
    browser = await newcomer(served, "owner")
    owner = served.client((await browser.page("/account/profile")).json()["user"]["api_key"])
    owner.user_id = 1
    return browser, owner, await served.project(owner, tasks=tasks)


@shows("page-publish", "state-pause", "state-publish")
@pytest_twisted.ensureDeferred
async def test_an_owner_publishes_and_pauses_with_the_forms_token(served):
    browser, owner, project = await owned(served)

    async def published():
        return (await owner.get(f"/api/project/{project['id']}")).json()["published"]

    done = await browser.send_form("/project/birds/publish", {})
    assert done.json() == {
        "next": "/project/birds/", "flash": "Project published. Volunteers can find it now.", "status": "success",
    }  # fmt: skip
    assert await published()
    again = await browser.send_form("/project/birds/publish", {})
    assert (again.json()["flash"], again.json()["status"]) == ("Project already published.", "info")
    paused = await browser.send_form("/project/birds/pause", {}, token_from="/project/birds/publish")
    assert paused.json()["status"] == "success" and not await published()
    twice = await browser.send_form("/project/birds/pause", {}, token_from="/project/birds/publish")
    assert twice.json()["status"] == "info"


@pytest_twisted.ensureDeferred
async def test_without_a_good_token_nothing_is_published(served):
    browser, owner, project = await owned(served)
    stranger = await newcomer(served, "stranger")
    foreign = (await stranger.page("/account/stranger/resetapikey")).json()["form"]["csrf"]
    old = (await browser.page("/project/birds/publish")).json()["csrf"]
    for token in ("", foreign):
        assert (await browser.post("/project/birds/publish", json={}, headers={"X-CSRFToken": token})).status == 400
    await browser.page("/account/signout")
    await browser.send_form("/account/signin", {"email": "owner", "password": "a good password"})
    assert (await browser.post("/project/birds/publish", json={}, headers={"X-CSRFToken": old})).status == 400
    assert (await owner.get(f"/api/project/{project['id']}")).json()["published"] is False


@pytest_twisted.ensureDeferred
async def test_others_do_not_publish(served):
    _, owner, project = await owned(served)
    stranger = await served.person("stranger")
    for path in ("publish", "pause"):
        assert (await stranger.post(f"/project/birds/{path}", json={})).status == 404
    anonymous = await served.client().page("/project/birds/publish")
    assert (anonymous.status, anonymous.header("location")) == (302, "/account/signin?next=/project/birds/publish")
    assert (await owner.get(f"/api/project/{project['id']}")).json()["published"] is False
    boss = await served.person("boss", admin=True)
    assert (await boss.post("/project/birds/publish", json={})).json()["status"] == "success"


@shows("state-publish")
@pytest_twisted.ensureDeferred
async def test_a_draft_that_lacks_something_is_not_published(served):
    owner = await served.person("owner")
    await owner.post("/api/project", json={"name": "bare", "info": {}})
    await served.project(owner, "empty")
    for name, missing in (("bare", "a task presenter"), ("empty", "tasks")):
        refused = await owner.post(f"/project/{name}/publish", json={})
        assert refused.status == 403 and missing in refused.json()["description"]
        assert refused.json()["reason"] == "not_ready"


@pytest_twisted.ensureDeferred
async def test_publishing_by_a_plain_form_leads_on_and_says_so_once(served):
    browser, *_ = await owned(served)
    token = (await browser.page("/project/birds/publish")).json()["csrf"]
    answer = await browser.post("/project/birds/publish", data={"csrf_token": token})
    assert (answer.status, answer.header("location")) == (302, "/project/birds/share")
    assert "Project published." in (await browser.get("/project/birds/share")).text
    assert "Project published." not in (await browser.get("/project/birds/")).text


@shows("page-password")
@pytest_twisted.ensureDeferred
async def test_a_locked_project_asks_for_its_password(served):
    _, owner, project = await owned(served)
    await owner.post("/project/birds/publish", json={})
    await lock(served, "birds", owner, "sesame")
    browser = await newcomer(served, "visitor")
    task = f"/project/birds/task/{project['tasks'][0]}"
    for path in ("/project/birds/", "/project/birds/newtask", "/project/birds/results", task):
        page = await browser.get(path)
        assert (page.status, page.header("location")) == (302, f"/project/birds/password?next={quote(path)}")
        refused = await browser.page(path)
        assert (refused.status, refused.json()["reason"], refused.json()["template"]) == (
            403, "project_password", "403.html",
        )  # fmt: skip
    assert (await owner.get("/project/birds/")).status == 200
    password = "/project/birds/password?next=/project/birds/newtask"
    wrong = (await browser.send_form(password, {"password": "open"})).json()
    assert (wrong["status"], wrong["form"]["password"], list(wrong["form"]["errors"])) == ("error", None, ["password"])
    right = await browser.send_form(password, {"password": "sesame"})
    assert right.json() == {"next": "/project/birds/newtask"}
    line = next(c for c in right.headers.getRawHeaders("set-cookie") if c.startswith("unlocked="))
    assert "Max-Age=1800" in line and "HttpOnly" in line and "SameSite=Lax" in line
    for path in ("/project/birds/", "/project/birds/newtask", f"/api/project/{project['id']}", task):
        assert (await browser.get(path)).status == 200, path
    assert (await browser.get(f"/api/{project['id']}/newtask")).json()["id"] == project["tasks"][0]


@shows("page-password", "state-locked")
@pytest_twisted.ensureDeferred
async def test_the_password_opens_for_half_an_hour_and_until_it_changes(served):
    _, owner, _ = await owned(served)
    await owner.post("/project/birds/publish", json={})
    await lock(served, "birds", owner, "sesame")
    browser = served.client()
    await browser.send_form("/project/birds/password", {"password": "sesame"})
    assert (await browser.page("/project/birds/")).status == 200
    await lock(served, "birds", owner, "sesame")
    assert (await browser.page("/project/birds/")).status == 403


@shows("page-password")
@pytest_twisted.ensureDeferred
async def test_one_password_opens_one_project(served):
    _, owner, _ = await owned(served)
    await served.project(owner, "other", tasks=1)
    for name in ("birds", "other"):
        await owner.post(f"/project/{name}/publish", json={})
        await lock(served, name, owner, "sesame")
    browser = served.client()
    await browser.send_form("/project/birds/password", {"password": "sesame"})
    assert [(await browser.page(f"/project/{name}/")).status for name in ("birds", "other")] == [200, 403]
    await browser.send_form("/project/other/password", {"password": "sesame"})
    assert [(await browser.page(f"/project/{name}/")).status for name in ("birds", "other")] == [200, 200]


@pytest_twisted.ensureDeferred
async def test_the_password_page_tells_nothing_of_what_there_is(served):
    _, owner, _ = await owned(served)
    await lock(served, "birds", owner, "sesame")
    pages = []
    for name in ("birds", "nothing"):
        browser = served.client()
        pages.append((await browser.send_form(f"/project/{name}/password", {"password": "x"})).json())
    for page, name in zip(pages, ("birds", "nothing"), strict=True):
        page["form"].pop("csrf")
        assert page.pop("project") == {"name": name, "short_name": name}
    assert pages[0] == pages[1]


@shows("page-presenter-members")
@pytest_twisted.ensureDeferred
async def test_a_members_only_project_leads_to_the_sign_in_page(served):
    _, owner, project = await owned(served)
    await owner.put(f"/api/project/{project['id']}", json={"allow_anonymous_contributors": False})
    await owner.post("/project/birds/publish", json={})
    for ask in (served.client().get, served.client().page):
        answer = await ask("/project/birds/newtask")
        assert (answer.status, answer.header("location")) == (302, "/account/signin?next=/project/birds/newtask")
    member = await newcomer(served, "member")
    assert (await member.page("/project/birds/newtask")).status == 200 and await who(member) == "member"


@pytest_twisted.ensureDeferred
async def test_what_is_not_there_is_not_found(served):
    await owned(served)
    for path in ("/project/nothing/", "/project/nothing/newtask", "/project/birds/task/999", "/project/birds/task/x"):
        page, data = await served.client().get(path), await served.client().page(path)
        assert (page.status, data.status) == (404, 404)
        assert data.json()["template"] == "404.html" and data.json()["code"] == 404
        assert page.header("content-type") == "text/html; charset=utf-8" and "<h1" in page.text


def test_an_opened_lock_closes_by_itself():
    from types import SimpleNamespace

    from crowdd.core.secrets import Secrets
    from crowdd.http.auth.cookies import Cookies

    clock = Clock()
    clock.advance(1_000_000)
    cookies = Cookies(Secrets(b"k" * 32), clock.seconds, secure=False)
    browser = SimpleNamespace(cookies_to_set=[], cookie_prefix="", jar="")
    browser.cookie = lambda name: browser.jar
    for lock_id in ("first", "second"):
        cookies.unlock(browser, lock_id, 1800)
        browser.jar = browser.cookies_to_set[-1].decode().split(";")[0].partition("=")[2]
        clock.advance(1000)
    assert cookies.unlocked(browser) == ("second",)
    clock.advance(800)
    assert cookies.unlocked(browser) == ()
