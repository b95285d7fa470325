"""Every address of an owner's pages: what it answers to whom, as a page and as JSON, in each state of a project."""

from __future__ import annotations

import pytest
import pytest_twisted
from support.browsers import lock, newcomer
from support.checks.shows import shows

HTML = {"Accept": "text/html", "Sec-Fetch-Site": "none"}
SHARED = {
    "template": str, "title": str, "project": dict, "owner": dict, "pro_features": dict, "n_tasks": int,
    "n_completed_tasks": int, "n_task_runs": int, "n_volunteers": int, "overall_progress": int,
    "last_activity": str | None,
}  # fmt: skip
LISTS = {"template": str, "title": str, "projects": list, "categories": list, "pagination": dict}
FORM = {"csrf", "errors"}
UPDATE = FORM | {
    "id", "name", "short_name", "description", "long_description", "allow_anonymous_contributors", "zip_download",
    "category_id", "protect", "password", "webhook", "answers_when_complete", "token_per_volunteer", "shared_comments", "papers",
}  # fmt: skip
# path, keys beside the shared ones with their types, keys of the form; then the status for: nobody, somebody else who
# answers here, a co-owner, the owner, an administrator.
EVERYBODY, OWNERS = (200,) * 5, (302, 403, 200, 200, 200)
WRITERS, SIGNED_IN = (302, 403, 403, 200, 200), (302, 200, 200, 200, 200)
IN_DRAFTS = {403: 404, 200: 404}  # what somebody else is answered who was answered so, and is told nothing of a draft
EDITOR = {"form": dict, "presenters": list}
GUIDES = {"form": dict, "problems": list, "missing": list, "versions": list}
ROWS = (
    ("/project/birds/", {}, (), EVERYBODY),
    ("/project/birds/settings", {"form": dict, "max_answer_bytes": int, "max_marks": int, "skip_limit": int}, FORM | {"max_answer_kb", "max_marks", "skip_limit"}, OWNERS),
    ("/project/birds/update", {"form": dict, "upload_form": dict}, UPDATE, OWNERS),
    (
        "/project/birds/publish",
        {"csrf": str, "try_link": str | None, "answers_wanted": dict, "trial_answers": int},
        (),
        OWNERS,
    ),
    ("/project/birds/delete", {"csrf": str, "form": dict}, FORM | {"confirm"}, WRITERS),
    ("/project/birds/tasks/taskpresentereditor", EDITOR, FORM | {"id", "editor"}, OWNERS),
    ("/project/birds/tasks/taskpresentereditor?template=basic", EDITOR, FORM | {"id", "editor"}, OWNERS),
    ("/project/birds/tasks/taskpresentereditor?part=tutorial", EDITOR, FORM | {"id", "editor"}, OWNERS),
    ("/project/birds/tutorial/edit", GUIDES, FORM | {"document", "version"}, OWNERS),
    ("/project/birds/fieldguide/edit", GUIDES, FORM | {"document", "version"}, OWNERS),
    ("/project/birds/coowners", {
        "coowners": list, "form": dict, "found": list, "invitation": type(None),
    }, FORM | {"user"}, OWNERS),
    ("/project/birds/transferownership", {"form": dict}, FORM | {"email_addr", "keep"}, OWNERS),
    ("/project/birds/auditlog", {"auditlog": list, "next": type(None)}, (), OWNERS),
    ("/project/birds/blog", {"blogposts": list, "next": type(None)}, (), EVERYBODY),
    ("/project/birds/1", {"blogpost": dict}, (), EVERYBODY),
    ("/project/birds/new-blogpost", {"form": dict}, FORM | {"id", "title", "body", "published"}, WRITERS),
    ("/project/birds/pictures", {"form": dict, "pictures": list, "next": type(None)}, FORM, OWNERS),
    ("/project/birds/1/update", {"form": dict}, FORM | {"id", "title", "body", "published"}, WRITERS),
)  # fmt: skip
NEW = FORM | {"name", "short_name", "description", "long_description"}
SITE = (
    ("/project/new", {"template": str, "title": str, "form": dict, "errors": bool}, NEW, SIGNED_IN),
    ("/project/category/thinking/", {**LISTS, "active_cat": dict}, (), EVERYBODY),
    ("/project/category/thinking/page/1/", {**LISTS, "active_cat": dict}, (), EVERYBODY),
    ("/project/category/thinking/?orderby=n_tasks&desc=true", {**LISTS, "active_cat": dict}, (), EVERYBODY),
    ("/project/category/featured/", {**LISTS, "active_cat": dict}, (), EVERYBODY),
    ("/project/category/all/", {**LISTS, "active_cat": dict}, (), EVERYBODY),
    ("/project/category/draft/", {**LISTS, "active_cat": dict}, (), (302, 403, 403, 403, 200)),
    ("/project/category/historical_contributions/", {**LISTS, "active_cat": dict}, (), SIGNED_IN),
    ("/project/page/1", {**LISTS, "active_cat": dict}, (), EVERYBODY),
    ("/project/search", {**LISTS, "query": str}, (), EVERYBODY),
    ("/project/search?q=bird", {**LISTS, "query": str}, (), EVERYBODY),
    ("/project/category/nothing/", {}, (), (404,) * 5),
    ("/project/category/thinking/page/2/", {}, (), (404,) * 5),
    ("/project/category/thinking/?orderby=secret_key", {}, (), (415,) * 5),
)  # fmt: skip
# What changes something, and to whom it is refused: nobody, a volunteer, a co-owner (where it is not his).
POSTS = {
    "update": {"name": "Mine"}, "publish": {}, "pause": {}, "delete": {"confirm": "birds"}, "resetsecretkey": {},
    "tasks/taskpresentereditor": {"editor": "x"}, "tutorial/edit": {"document": "{}"}, "fieldguide/edit": {"btn": "Delete"}, "coowners": {"user": "bob"}, "coowners/invite": {},
    "coowners/withdraw": {}, "add_coowner/bob": {}, "del_coowner/cora": {}, "transferownership": {"email_addr": "bob"},
    "new-blogpost": {"title": "a", "body": "b"}, "1/update": {"title": "a", "body": "b"}, "1/delete": {},
    "pictures": {}, "pictures/1/delete": {},
}  # fmt: skip
NOT_FOR_COOWNERS = {"delete", "transferownership", "new-blogpost", "1/update", "1/delete"}


async def callers(served):
    """Nobody; bob, who answers; cora, who co-owns; ada, who owns; an administrator. And the project."""
    bob, cora, ada, boss = [await newcomer(served, name) for name in ("bob", "cora", "ada", "boss")]
    await served.database.execute("UPDATE account SET admin = true WHERE name = 'boss'")
    owner = served.client((await ada.page("/account/profile")).json()["user"]["api_key"])
    owner.user_id = 3
    project = await served.project(owner, tasks=3)
    added = await ada.send_form("/project/birds/add_coowner/cora", {}, "/project/birds/coowners")
    assert added.json()["status"] == "success"
    post = {"title": "News", "body": "*Good* news", "published": True}
    assert (await owner.post("/project/birds/new-blogpost", json=post)).json()["next"] == "/project/birds/1"
    return (served.client(), bob, cora, ada, boss), owner, project


async def check(people, rows, keys_of_all):
    for path, more, form, statuses in rows:
        for number, (browser, status) in enumerate(zip(people, statuses, strict=True)):
            page, data = await browser.get(path, headers=HTML), await browser.page(path)
            assert (page.status, data.status) == (status, status), (path, number)
            if status == 302:
                assert page.header("location").startswith("/account/signin?next=/project/"), path
            if status != 200:
                continue
            assert page.header("content-type") == "text/html; charset=utf-8" and "<h1" in page.text, (path, number)
            document, keys = data.json(), {**keys_of_all, **more}
            assert document.keys() == keys.keys(), (path, number)
            wrong = {key: document[key] for key, sort in keys.items() if not isinstance(document[key], sort)}
            assert wrong == {}, (path, number)
            if form:
                assert document["form"].keys() == set(form), (path, number)


@shows("format-signin-redirect", "page-project", "page-project-owners-only")
@pytest_twisted.ensureDeferred
async def test_each_row_of_a_draft_to_each_requester_as_page_and_as_json(served):
    people, *_ = await callers(served)
    rows = []
    for path, more, form, (nobody, somebody, *owners) in ROWS:
        status = 404 if nobody == 200 or path.endswith(("/new-blogpost", "/1/update")) else nobody
        hidden = status, IN_DRAFTS[somebody]
        rows.append((path, more, form, (*hidden, *owners)))
    await check(people, rows, SHARED)


@pytest.mark.proof
@shows("page-all", "page-category", "page-editor", "page-new", "page-project", "page-settings", "page-update")
@pytest_twisted.ensureDeferred
async def test_each_row_of_a_published_project_to_each_requester(served):
    people, owner, _ = await callers(served)
    await owner.post("/project/birds/publish", json={})
    await check(people, ROWS, SHARED)
    await check(people, SITE, {})


@shows("page-project", "state-pause")
@pytest_twisted.ensureDeferred
async def test_a_paused_project_keeps_its_pages(served):
    people, owner, _ = await callers(served)
    await owner.post("/project/birds/publish", json={})
    await owner.post("/project/birds/pause", json={})
    rows = [(path, more, form, statuses[::3]) for path, more, form, statuses in ROWS if not path.endswith("/1")]
    await check(people[::3], rows, SHARED)


@shows("page-project", "state-locked")
@pytest_twisted.ensureDeferred
async def test_a_locked_project_shows_each_row_to_its_owners_alone(served):
    people, owner, _ = await callers(served)
    await owner.post("/project/birds/publish", json={})
    await lock(served, "birds", owner, "sesame")
    for path, *_ in ROWS:
        for browser in people[:2]:
            page, data = await browser.get(path, headers=HTML), await browser.page(path)
            assert (page.status, data.status, data.json()["reason"]) == (302, 403, "project_password"), path
            assert page.header("location").startswith("/project/birds/password?next="), path
        for browser in people[3:]:
            assert (await browser.page(path)).status == 200, path
    opened = await people[1].send_form("/project/birds/password", {"password": "sesame"})
    assert opened.json() == {"next": "/project/birds/"}
    for path, _, _, statuses in ROWS:
        assert (await people[1].page(path)).status == statuses[1], f"{path} for somebody who has the password"
    assert (await people[0].page("/project/category/thinking/")).json()["projects"] == []
    assert (await people[0].page("/project/search?q=bird")).json()["projects"] == []


@shows("page-project-owners-only")
@pytest_twisted.ensureDeferred
async def test_what_changes_a_project_is_refused_to_all_others(served):
    (nobody, bob, cora, *_), owner, _ = await callers(served)
    await owner.post("/project/birds/publish", json={})

    async def state():
        rows = await served.database.fetch("SELECT p.*, (SELECT count(*) FROM blogpost) AS posts FROM project p")
        return rows[0]

    before = await state()
    nobody.headers = {"X-CSRFToken": (await nobody.page("/account/signin")).json()["form"]["csrf"]}
    bob.headers = {"X-CSRFToken": (await bob.page("/account/bob/resetapikey")).json()["form"]["csrf"]}
    cora.headers = {"X-CSRFToken": (await cora.page("/account/cora/resetapikey")).json()["form"]["csrf"]}
    for path, body in POSTS.items():
        assert (await nobody.post(f"/project/birds/{path}", json=body)).status == 302, path
        assert (await bob.post(f"/project/birds/{path}", json=body)).status == 403, path
        if path in NOT_FOR_COOWNERS:
            assert (await cora.post(f"/project/birds/{path}", json=body)).status == 403, path
    assert await state() == before


@shows("page-project-owners-only")
@pytest_twisted.ensureDeferred
async def test_no_form_is_believed_without_its_token(served):
    (*_, ada, _boss), *_ = await callers(served)
    before = await served.database.fetch("SELECT * FROM project")
    for path, body in {**POSTS, "../new": {"name": "x", "description": "y"}}.items():
        address = f"/project/birds/{path}" if not path.startswith("..") else "/project/new"
        assert (await ada.post(address, json=body)).status == 400, path
        assert (await ada.post(address, data={"csrf_token": "wrong", **body})).status == 400, path
    assert await served.database.fetch("SELECT * FROM project") == before


@pytest_twisted.ensureDeferred
async def test_what_is_not_there_is_not_found(served):
    _, owner, _ = await callers(served)
    for path in ("settings", "update", "delete", "blog", "auditlog", "coowners", "tasks/taskpresentereditor"):
        assert (await owner.page(f"/project/nothing/{path}")).status == 404, path
    other = await served.project(owner, "fish")
    for path in ("/project/fish/1", "/project/fish/1/update", "/project/birds/99", f"/project/birds/{2**70}"):
        assert (await owner.page(path)).status == 404, path
    assert (await owner.page("/project/birds/tasks/taskpresentereditor?part=info")).status == 404
    assert (await owner.page("/project/birds/tasks/taskpresentereditor?template=map")).status == 404
    assert other["id"] and (await owner.post("/project/fish/1/delete", json={})).status == 404
