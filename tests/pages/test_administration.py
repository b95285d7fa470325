"""Administration: who gets in, the keys of each view, and what each act does and leaves in the audit log."""

from __future__ import annotations

import csv
import io
from contextlib import closing
from typing import Any

import psycopg2
import pytest_twisted
from support.browsers import signed_in
from support.checks.page_reader import Page, faults
from support.checks.shows import shows
from support.factors import prove
from twisted.internet.defer import ensureDeferred, gatherResults

from crowdd.core.text.words import csv_cell
from crowdd.features.site.feature import SiteFeature
from crowdd.kernel.requester import Requester

HTML = {"Accept": "text/html"}
OWN = {"Accept": "text/html", "Sec-Fetch-Site": "same-origin"}
FRAME = {"template", "title"}
PERSON = {
    "name", "fullname", "locale", "created", "info", "rank", "score", "n_answers", "total", "registered_ago", "task_runs",
    "id", "email_addr", "admin", "pro", "privacy_mode", "subscribed", "newsletter_prompted", "valid_email",
    "confirmation_email_sent", "flags", "category", "catalog_api", "google_user_id", "github_user_id",
    "orcid_user_id", "api_key", "passwd_hash", "restrict",
}  # fmt: skip
ANNOUNCEMENT = {"id", "title", "body", "created", "user_id", "updated", "info", "media_url", "published", "link"}
FORM = {"title", "body", "csrf", "errors", "media_url", "published"}
DASHBOARD = {
    "active_anon_last_week", "active_users_last_week", "returning_users_week", "new_users_week", "new_task_runs_week",
    "new_tasks_week",
}  # fmt: skip
WEEK_LISTS = {"update_feed", "draft_projects_last_week", "published_projects_last_week", "update_projects_last_week"}
# Every address of administrators: what is asked with GET, what only with POST (with its effect, by an id).
READ = (
    "/admin/", "/admin/users", "/admin/projects", "/admin/users/export", "/admin/categories", "/admin/categories/update/1",
    "/admin/categories/del/1", "/admin/featured", "/admin/announcement", "/admin/announcement/new",
    "/admin/announcement/1/update", "/admin/dashboard/", "/admin/audit", "/admin/security", "/admin/queue",
    "/admin/jobs", "/admin/webhooks", "/admin/mail", "/admin/site", "/admin/site/look", "/admin/site/texts/en",
    "/admin/site/rules", "/admin/site/invitations", "/admin/templates",
)  # fmt: skip
WRITE = (
    "/admin/users", "/admin/users/add/{person}", "/admin/users/del/{boss}", "/admin/users/block/{person}",
    "/admin/users/unblock/{person}", "/admin/categories", "/admin/categories/update/1", "/admin/categories/del/1",
    "/admin/featured/{project}", "/admin/featured/{project}/remove", "/admin/announcement/new",
    "/admin/announcement/1/update", "/admin/announcement/1/delete", "/admin/queue/1/cancel", "/admin/queue/cancel", "/admin/queue/retry", "/admin/mail/again", "/admin/queue/1/retry", "/admin/mail/1/again",
    "/admin/site/look", "/admin/site/texts/en", "/admin/site/rules", "/admin/site/test-mail", "/admin/site/hide-steps",
    "/admin/site/invitations", "/admin/site/invitations/1/withdraw", "/admin/templates", "/admin/templates/boxes",
)  # fmt: skip


class Place:
    """A site with an administrator in a browser, a person and a project."""

    def __init__(self, served: Any) -> None:
        self.served = served

    async def build(self) -> Place:
        self.key = await self.served.person("boss", admin=True)
        self.person = await self.served.person("ada")
        self.project = await self.served.project(self.person, tasks=2, published=True)
        self.boss = await signed_in(self.served, "boss")
        await self.key.post("/api/announcement", json={"title": "News", "body": "Much."})
        self.ids = {"person": self.person.user_id, "boss": self.key.user_id, "project": self.project["id"]}
        return self

    async def token(self) -> str:
        return str((await self.boss.page("/admin/announcement")).json()["csrf"])

    async def post(self, path: str, **form: Any) -> Any:
        answer = await self.boss.post(path.format(**self.ids), json=form, headers={"X-CSRFToken": await self.token()})
        assert answer.status == 200, (path, answer.body)
        return answer.json()

    async def state(self) -> Any:
        """All that administrators can change."""
        sql = (
            'SELECT (SELECT json_agg((id, admin, "restrict") ORDER BY id) FROM account) AS people,'
            " (SELECT json_agg(c ORDER BY id) FROM category c) AS categories,"
            " (SELECT json_agg((id, featured) ORDER BY id) FROM project) AS projects,"
            " (SELECT json_agg((id, title, body, published) ORDER BY id) FROM announcement) AS announcements"
        )
        return (await self.served.database.fetch(sql))[0]

    async def acts(self, after: int = 0) -> list[tuple[Any, ...]]:
        sql = "SELECT user_name, via, action, kind, attribute FROM audit WHERE id > %(after)s ORDER BY id"
        return [tuple(row.values()) for row in await self.served.database.fetch(sql, {"after": after})]

    async def last_act(self) -> int:
        return int((await self.served.database.fetch("SELECT coalesce(max(id), 0) AS id FROM audit"))[0]["id"])


@shows("admin-announcements", "admin-who")
@pytest_twisted.ensureDeferred
async def test_only_administrators_get_in_and_nothing_happens_for_others(served):
    place = await Place(served).build()
    before = await place.state()
    paths = [*(("GET", path) for path in READ), *(("POST", path) for path in WRITE)]
    paths += [
        ("GET", "/admin/users/add/{person}"),
        ("GET", "/admin/users/del/{boss}"),
        ("DELETE", "/admin/featured/{project}"),
    ]
    for method, path in paths:
        address = path.format(**place.ids)
        for headers in (OWN, {"Content-Type": "application/json"}):
            stranger = await place.person.request(method, address, headers=headers)
            assert stranger.status == 403, (method, path)
            nobody = await served.client().request(method, address, headers=headers)
            # A form without a token is refused before anybody looks at who sent it.
            assert nobody.status == (302 if method == "GET" else 400), (method, path)
            if method == "GET":
                assert nobody.header("location").startswith("/account/signin?next="), path
    assert await place.state() == before


@shows("admin-announcements", "admin-users")
@pytest_twisted.ensureDeferred
async def test_no_form_is_believed_without_its_token(served):
    place = await Place(served).build()
    before = await place.state()
    form = {"name": "Forged", "description": "x", "title": "Forged", "body": "x", "user": "x"}
    for path in WRITE:
        address = path.format(**place.ids)
        foreign = {"Origin": "https://evil.example", "Content-Type": "application/json"}
        for more in (
            {"data": form},
            {"json": form},
            {"data": {**form, "csrf_token": "x.y"}},
            {"json": form, "headers": foreign},
        ):
            answer = await place.boss.post(address, **more)
            assert answer.status in (400, 403), (path, more, answer.status)
    assert (await place.boss.delete(f"/admin/featured/{place.project['id']}")).status == 400
    assert await place.state() == before


@pytest_twisted.ensureDeferred
async def test_these_are_all_addresses(served):
    rules = served.server._site.resource._inner._app.url_map.iter_rules()
    known = {path.rstrip("/") for path in (*READ, *WRITE, "/admin/users/add/{person}")}
    paths = {rule.rule for rule in rules if rule.rule.startswith("/admin")}
    by_pattern = {
        path.replace("<int:user_id>", "{person}" if "del/" not in path else "{boss}")
        .replace("<int:category_id>", "1").replace("<int:project_id>", "{project}")
        .replace("<int:announcement_id>", "1").replace("<int:item_id>", "1").replace("<int:mail_id>", "1")
        .replace("<template>", "boxes").replace("<language>", "en").replace("<invitation>", "1").rstrip("/")
        for path in paths
    }  # fmt: skip
    assert by_pattern == known


@pytest_twisted.ensureDeferred
async def test_every_page_is_html_without_fault_in_every_language(served):
    place = await Place(served).build()
    for path in READ:
        if "export" in path or path == "/admin/":
            continue
        page = Page((await place.boss.get(path, headers=HTML)).text)
        assert faults(page) == [], path
    assert (await place.boss.get("/admin/", headers=HTML)).header("location") == "/admin/dashboard/"


# The rows of the interface


@shows("admin-users")
@pytest_twisted.ensureDeferred
async def test_users(served):
    place = await Place(served).build()
    page = (await place.boss.page("/admin/users")).json()
    assert page.keys() == FRAME | {"form", "found", "users"}
    assert page["form"].keys() == {"csrf", "errors", "user"} and page["form"]["user"] is None
    assert page["found"] == [] and [user["name"] for user in page["users"]] == ["boss"]
    assert page["users"][0].keys() == PERSON
    assert (page["users"][0]["api_key"], page["users"][0]["passwd_hash"]) == (None, None)
    assert isinstance(page["users"][0]["rank"], int) and page["users"][0]["email_addr"] == "boss@example.org"
    search_page = await place.post("/admin/users", user="AD")
    assert search_page.keys() == page.keys() and search_page["form"]["user"] == "AD"
    assert [user["name"] for user in search_page["found"]] == ["ada"] and search_page["found"][0].keys() == PERSON
    for words in ("", "  ", "%", "_da", "a\\", "nobody"):
        assert (await place.post("/admin/users", user=words))["found"] == [], words
    for words in ("ada@", "ADA", "da"):
        assert [user["name"] for user in (await place.post("/admin/users", user=words))["found"]] == ["ada"], words


@shows("admin-users-rights", "get-acts")
@pytest_twisted.ensureDeferred
async def test_the_rights_of_administrators_by_link_as_programs_follow_it(served):
    place = await Place(served).build()
    add, remove = (f"/admin/users/{verb}/{place.person.user_id}" for verb in ("add", "del"))
    last = await place.last_act()
    assert (await place.boss.page(add)).json() == {
        "next": "/admin/users", "flash": "ada is now an administrator of this site.", "status": "success",
    }  # fmt: skip
    assert [user["name"] for user in (await place.boss.page("/admin/users")).json()["users"]] == ["boss", "ada"]
    assert (await place.boss.page(add)).json()["status"] == "info"
    assert (await place.boss.page(remove)).json()["next"] == "/admin/users"
    assert await place.acts(last) == [
        ("boss", "web", "add_admin", "user", None),
        ("boss", "web", "remove_admin", "user", None),
    ]
    assert (await place.boss.page("/admin/users/add/999999")).status == 404
    own = await place.boss.page(f"/admin/users/del/{place.key.user_id}")
    assert own.status == 403 and "your own" in own.json()["description"]


@shows("admin-users-rights", "get-asks")
@pytest_twisted.ensureDeferred
async def test_get_by_a_browser_changes_no_rights_and_shows_a_button(served):
    place = await Place(served).build()
    path = f"/admin/users/add/{place.person.user_id}"
    before = await place.state()
    for headers in (
        HTML, OWN, {**HTML, "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "document"}, {"Content-Type": "text/plain"},
        {**HTML, "Sec-Fetch-Site": "same-site"}, {**HTML, "Sec-Fetch-Site": "none", "Sec-Fetch-Dest": "document"},
    ):  # fmt: skip
        page = await place.boss.get(path, headers=headers)
        assert page.status == 200 and f'<form method="post" action="{path}">' in page.text, headers
    for headers in ({"Accept": "application/json"}, {**OWN, "Sec-Fetch-Dest": "image"}, {"X-CSRFToken": "made up"}):
        assert (await place.boss.get(path, headers=headers)).status in (400, 403), headers
    assert (await place.boss.get(f"{path}?response_format=json", headers=HTML)).status == 403
    assert await place.state() == before
    token = (await place.boss.page("/admin/announcement")).json()["csrf"]
    assert (await place.boss.post(path, data={"csrf_token": token})).status == 302
    assert await place.state() != before
    assert (await place.boss.get(path.replace("add", "del"), headers={**HTML, "X-CSRFToken": token})).status == 302
    assert await place.state() == before


@shows("admin-announcements")
@pytest_twisted.ensureDeferred
async def test_announcements_of_administrators(served):
    place = await Place(served).build()
    page = (await place.boss.page("/admin/announcement")).json()
    assert page.keys() == FRAME | {"announcements", "csrf"} and isinstance(page["csrf"], str)
    assert [one["title"] for one in page["announcements"]] == ["News"] and page["announcements"][
        0
    ].keys() == ANNOUNCEMENT
    new = (await place.boss.page("/admin/announcement/new")).json()
    assert new.keys() == FRAME | {"form"} and new["form"].keys() == FORM
    last = await place.last_act()
    done = await place.post("/admin/announcement/new", title="Pause", body="On **Friday**.")
    assert done == {"next": "/admin/announcement", "flash": "Announcement created.", "status": "success"}
    assert await place.acts(last) == [("boss", "web", "create", "announcement", None)]
    listed = (await place.boss.page("/admin/announcement")).json()["announcements"]
    assert [one["title"] for one in listed] == ["Pause", "News"] and listed[0]["user_id"] == place.key.user_id
    path = f"/admin/announcement/{listed[0]['id']}"
    form = (await place.boss.page(f"{path}/update")).json()["form"]
    assert form.keys() == FORM | {"id"} and (form["title"], form["published"]) == ("Pause", True)
    done = await place.post(f"{path}/update", **{**form, "title": "Pause!", "errors": {}})
    assert done == {"next": "/admin/announcement", "flash": "Announcement changed.", "status": "success"}
    assert await place.acts(last) == [
        ("boss", "web", "create", "announcement", None), ("boss", "web", "update", "announcement", "title"),
    ]  # fmt: skip
    done = await place.post(f"{path}/delete")
    assert done == {"next": "/admin/announcement", "flash": "Announcement deleted.", "status": "success"}
    for method in (place.boss.page, place.boss.get):
        assert (await method(f"{path}/update")).status == 404
    for wrong in ({}, {"title": " ", "body": "x"}, {"title": "x" * 256, "body": "x"}, {"title": "x", "body": None}):
        refused = await place.post("/admin/announcement/new", **wrong)
        assert refused["status"] == "error" and refused["form"]["errors"], wrong
        assert refused["form"].keys() == FORM


@shows("page-announcements")
@pytest_twisted.ensureDeferred
async def test_a_form_of_people_says_by_a_tick_whether_everybody_sees_it(served):
    place = await Place(served).build()
    for ticked in ({}, {"published": "y"}):
        form = {"title": f"T{len(ticked)}", "body": "x", "csrf_token": await place.token(), **ticked}
        assert (await place.boss.post("/admin/announcement/new", data=form)).status == 302
    for who in (served.client(), place.boss):
        page = (await who.page("/announcements/")).json()
        assert page.keys() == {"announcements", "template"}
        assert [one["title"] for one in page["announcements"]] == ["T1", "News"]
        assert page["announcements"][0].keys() == ANNOUNCEMENT
    assert faults(Page((await served.client().get("/announcements/", headers=HTML)).text)) == []


@shows("admin-categories")
@pytest_twisted.ensureDeferred
async def test_categories(served):
    place = await Place(served).build()
    page = (await place.boss.page("/admin/categories")).json()
    assert page.keys() == FRAME | {"categories", "form", "n_projects_per_category"}
    assert page["form"].keys() == {"name", "description", "csrf", "errors"}
    assert page["n_projects_per_category"] == {"thinking": 1, "sensing": 0}
    assert [category.keys() for category in page["categories"]] == [
        {"id", "created", "name", "short_name", "description", "info"}
    ] * 2
    last = await place.last_act()
    done = await place.post("/admin/categories", name="Citizen Science", description="All of it")
    assert done.keys() == page.keys() | {"flash", "status"} and done["status"] == "success"
    [made] = [category for category in done["categories"] if category["name"] == done["form"]["name"]]
    assert (made["short_name"], made["description"]) == ("citizen-science", "All of it")
    assert await place.acts(last) == [("boss", "web", "create", "category", None)]
    for wrong in (
        {"name": "citizen science", "description": "x"},
        {"name": "", "description": "x"},
        {"name": "x", "description": ""},
    ):
        refused = await place.post("/admin/categories", **wrong)
        assert refused["status"] == "error" and refused["form"]["errors"], wrong
    named = await place.post("/admin/categories", name="علوم", description="x")
    assert next(c["short_name"] for c in named["categories"] if c["name"] == "علوم").startswith("category-")
    path = f"/admin/categories/update/{made['id']}"
    form = (await place.boss.page(path)).json()
    assert form.keys() == FRAME | {"category", "form"} and form["form"].keys() == {
        "id",
        "name",
        "description",
        "csrf",
        "errors",
    }
    done = await place.post(path, name="Citizen Science", description="Most of it")
    assert done == {"next": "/admin/categories", "flash": "Category changed.", "status": "success"}
    refused = await place.post(path, name="Thinking", description="x")
    assert refused["form"]["errors"] == {"name": ["A category with this name exists already."]}
    assert (await place.boss.page(f"/admin/categories/del/{made['id']}")).json().keys() == FRAME | {"category", "form"}
    done = await place.post(f"/admin/categories/del/{made['id']}")
    assert done == {"next": "/admin/categories", "flash": "Category deleted.", "status": "success"}
    actions = [(action, attribute) for _, _, action, _, attribute in await place.acts(last)]
    assert actions == [("create", None), ("create", None), ("update", "description"), ("delete", None)]


@shows("admin-categories")
@pytest_twisted.ensureDeferred
async def test_people_are_told_that_their_category_is_there_or_why_not(served):
    place = await Place(served).build()
    for form, words in (
        ({"name": "Sky", "description": "Up"}, "Category added."),
        ({"name": "Sky", "description": "Up"}, "exists already"),
    ):
        answer = await place.boss.post(
            "/admin/categories", data={**form, "csrf_token": await place.token()}, headers=HTML
        )
        page = Page(answer.text)
        assert words in next(page.all("main")).text and faults(page) == []


@shows("category-who")
@pytest_twisted.ensureDeferred
async def test_a_category_that_is_needed_stays(served):
    place = await Place(served).build()
    ids = {c["short_name"]: c["id"] for c in (await place.boss.page("/admin/categories")).json()["categories"]}
    response = await place.post(f"/admin/categories/del/{ids['thinking']}")
    assert (response["status"], response["flash"]) == (
        "error",
        "This category still has projects. Move them to another category first.",
    )
    assert (await place.post(f"/admin/categories/del/{ids['sensing']}"))["status"] == "success"
    await place.person.delete(f"/api/project/{place.project['id']}")
    last = await place.post(f"/admin/categories/del/{ids['thinking']}")
    assert (last["status"], last["flash"]) == ("error", "You cannot delete the last category.")
    assert (await place.key.delete(f"/api/category/{ids['thinking']}")).status == 415


# Beyond the interface


@shows("admin-users-block")
@pytest_twisted.ensureDeferred
async def test_whoever_is_blocked_is_out_at_once_until_let_in_again(served):
    place = await Place(served).build()
    ada = await signed_in(served, "ada")
    last = await place.last_act()
    assert (await place.post("/admin/users/block/{person}"))["status"] == "success"
    assert (await ada.page("/account/profile")).json()["status"] == "not_signed_in"
    assert (await place.person.get("/api/favorites")).status == 401
    refused = await served.client().send_form(
        "/account/signin", {"email": "ada@example.org", "password": "a good password"}
    )
    assert refused.json()["status"] == "error"
    assert (await place.post("/admin/users/block/{person}"))["status"] == "info"
    assert (await place.boss.page(f"/admin/users/add/{place.person.user_id}")).status == 403
    assert (await place.post("/admin/users/unblock/{person}"))["status"] == "success"
    assert (await ada.page("/account/profile")).json()["status"] == "not_signed_in", "an old session came back"
    await signed_in(served, "ada")
    assert [action for _, _, action, _, _ in await place.acts(last)] == ["block", "unblock"]
    for path, status in ((f"/admin/users/block/{place.key.user_id}", 403), ("/admin/users/block/999999", 404)):
        answer = await place.boss.post(path, json={}, headers={"X-CSRFToken": await place.token()})
        assert answer.status == status, path


@shows("admin-users-export")
@pytest_twisted.ensureDeferred
async def test_everybody_as_a_file_that_no_spreadsheet_calculates(served):
    place = await Place(served).build()
    await served.database.execute(
        "UPDATE account SET fullname = %(name)s WHERE id = %(id)s",
        {"name": '=HYPERLINK("https://evil")', "id": place.person.user_id},
    )
    rows = (await place.boss.get("/admin/users/export?format=json")).json()
    assert [row["name"] for row in rows] == ["boss", "ada"]
    assert rows[0].keys() == {
        "id",
        "name",
        "fullname",
        "email_addr",
        "created",
        "locale",
        "admin",
        "consent",
        "restrict",
    }
    answer = await place.boss.get("/admin/users/export?format=csv")
    assert "attachment" in answer.header("content-disposition") and answer.header("content-type").startswith("text/csv")
    table = list(csv.DictReader(io.StringIO(answer.body.decode("utf-8-sig"))))
    assert [row["fullname"] for row in table] == ["Boss", '\'=HYPERLINK("https://evil")']
    rest = await place.boss.get(f"/admin/users/export?last_id={rows[0]['id']}")
    assert [row["name"] for row in rest.json()] == ["ada"]
    for query in ("format=xls", "last_id=x", "last_id=-1"):
        assert (await place.boss.page(f"/admin/users/export?{query}")).status == 415, query


def test_what_begins_like_a_formula_is_a_text():
    for text in ("=1+1", "+1+1", "-A1", "@SUM(A1)", "\t=1", "\r=1", " =1", "\ufeff=1", "\uff1d1", "%cmd", "|cmd"):
        assert csv_cell(text) == f"'{text}" and csv_cell(text, raw=True) == text
    assert [csv_cell(value) for value in ("a=1", "", None, 7, True)] == ["a=1", "", "", "7", "true"]
    assert [csv_cell(value) for value in ("-1", "+4.5e3", -1, {"a": "=1"})] == ["-1", "+4.5e3", "-1", '{"a":"=1"}']


@shows("admin-featured")
@pytest_twisted.ensureDeferred
async def test_featured_projects(served):
    place = await Place(served).build()
    await served.project(place.person, "draft")
    page = (await place.boss.page("/admin/featured")).json()
    assert page.keys() == FRAME | {"categories", "form"} and page["categories"].keys() == {"thinking", "sensing"}
    assert [project["short_name"] for project in page["categories"]["thinking"]] == ["birds"]
    path, last = f"/admin/featured/{place.project['id']}", await place.last_act()
    done = await place.post(path)
    assert (done["featured"], done["id"], done["flash"]) == (True, place.project["id"], "Birds is now featured.")
    assert [project["short_name"] for project in (await served.client().page("/")).json()["featured"]] == ["birds"]
    headers = {"X-CSRFToken": await place.token(), "Content-Type": "application/json"}
    again = await place.boss.post(path, headers=headers)
    assert again.status == 415
    gone = await place.boss.delete(path, headers=headers)
    assert (gone.status, gone.json()["featured"]) == (200, False)
    assert (await place.boss.delete(path, headers=headers)).status == 415
    assert (await place.boss.post("/admin/featured/999999", headers=headers)).status == 404
    assert await place.acts(last) == [("boss", "web", "update", "project", "featured")] * 2


@shows("admin-dashboard")
@pytest_twisted.ensureDeferred
async def test_the_dashboard_counts_the_week(served):
    place = await Place(served).build()
    ada = place.person
    for who in (ada, place.key, served.client()):
        task = (await who.get(f"/api/{place.project['id']}/newtask")).json()
        if "id" in task:
            await who.post("/api/taskrun", json={"project_id": place.project["id"], "task_id": task["id"], "info": 1})
    page = (await place.boss.page("/admin/dashboard/?refresh=1")).json()
    assert page.keys() == FRAME | DASHBOARD | WEEK_LISTS | {"wait"}
    for key in DASHBOARD:
        assert (
            page[key].keys() == {"labels", "series"} and len(page[key]["labels"]) == len(page[key]["series"][0]) == 7
        ), key
    today = {key: page[key]["series"][0][-1] for key in DASHBOARD - {"returning_users_week"}}
    assert today == {
        "active_anon_last_week": 1, "active_users_last_week": 2, "new_users_week": 2, "new_task_runs_week": 3, "new_tasks_week": 2,
    }  # fmt: skip
    assert page["returning_users_week"] == {"labels": list("1234567"), "series": [[2, 0, 0, 0, 0, 0, 0]]}
    [published] = page["published_projects_last_week"]
    assert published.keys() == {"day", "id", "short_name", "p_name", "owner_id", "u_name", "email_addr"}
    assert (published["short_name"], published["u_name"], page["draft_projects_last_week"]) == ("birds", "ada", [])


@shows("admin-dashboard")
@pytest_twisted.ensureDeferred
async def test_the_dashboard_leaves_out_trial_answers_and_agrees_with_a_recount(served):
    place = await Place(served).build()
    draft = await served.project(place.person, "fish")
    await place.person.post("/api/task", json={"project_id": draft["id"], "info": {}, "n_answers": 1})

    async def answer(who: Any, project: Any) -> None:
        task = (await who.get(f"/api/project/{project['id']}/newtask")).json()
        run = {"project_id": project["id"], "task_id": task["id"], "info": 1}
        assert (await who.post("/api/taskrun", json=run)).status == 200

    async def counted() -> dict[str, Any]:
        await served.database.execute("UPDATE clock_shift SET ahead = ahead + interval '11 seconds'")
        page = (await place.boss.page("/admin/dashboard/?refresh=1")).json()
        names = ("new_task_runs_week", "active_users_last_week", "active_anon_last_week", "returning_users_week")
        return {name: sum(page[name]["series"][0]) for name in names}

    async def recounted() -> dict[str, Any]:
        [row] = await served.database.fetch(
            "SELECT count(*) AS new_task_runs_week, count(DISTINCT user_id) AS active_users_last_week,"
            " count(DISTINCT actor) FILTER (WHERE user_id IS NULL) AS active_anon_last_week,"
            " count(DISTINCT user_id) AS returning_users_week"
            " FROM task_run JOIN project_ledger USING (project_id) WHERE NOT project_ledger.trial"
        )
        return dict(row)

    try:
        await answer(place.person, draft)  # a trial
        for fold in (False, True):
            if fold:
                await served.database.fetch("SELECT fold_stats(clock(), 1000)")
            assert await counted() == await recounted() and sum((await counted()).values()) == 0, fold
        await answer(served.client(), place.project)
        assert await counted() == await recounted()
        assert (await counted())["new_task_runs_week"] == 1
        assert (await place.person.post("/project/fish/publish", json={})).status == 200
        assert await counted() == await recounted(), "the trial has gone"
        await answer(place.person, draft)
        for fold in (False, True):
            if fold:
                await served.database.fetch("SELECT fold_stats(clock(), 1000)")
            assert await counted() == await recounted() and (await counted())["new_task_runs_week"] == 2, fold
    finally:
        await served.database.execute("UPDATE clock_shift SET ahead = '0'")


@shows("admin-dashboard")
@pytest_twisted.ensureDeferred
async def test_while_somebody_else_counts_again_the_dashboard_shows_what_it_has_and_says_so(served, dsn):
    place = await Place(served).build()
    assert (await place.boss.page("/admin/dashboard/")).json()["wait"] is False
    await served.database.execute("UPDATE clock_shift SET ahead = '11 seconds'")
    with closing(psycopg2.connect(dsn)) as other, other.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(hashtextextended('dashboard', 0))")
        page = (await place.boss.page("/admin/dashboard/?refresh=1")).json()
        assert page["wait"] is True and page["new_users_week"]["series"][0][-1] == 2
        assert "being calculated" in (await place.boss.get("/admin/dashboard/?refresh=1", headers=HTML)).text
        cursor.execute("SELECT pg_advisory_unlock(hashtextextended('dashboard', 0))")
    assert (await place.boss.page("/admin/dashboard/?refresh=1")).json()["wait"] is False


@pytest_twisted.ensureDeferred
async def test_the_dashboard_is_true_before_and_after_folding_and_forgets_what_is_older_than_a_week(served):
    place = await Place(served).build()

    async def answered(days: int, refresh: bool = True) -> Any:
        await served.database.execute("UPDATE clock_shift SET ahead = make_interval(days => %(days)s)", {"days": days})
        await prove(place.boss)
        page = (await place.boss.page(f"/admin/dashboard/{'?refresh=1' if refresh else ''}")).json()
        return page["active_users_last_week"]["series"][0]

    task = (await place.person.get(f"/api/{place.project['id']}/newtask")).json()
    await place.person.post("/api/taskrun", json={"project_id": place.project["id"], "task_id": task["id"], "info": 1})
    assert await answered(0) == [0] * 6 + [1]
    await served.database.fetch("SELECT fold_stats(clock(), 1000)")
    assert await answered(1) == [0] * 5 + [1, 0]
    assert await answered(6) == [1] + [0] * 6
    assert await answered(7) == [0] * 7
    planted = "jsonb_set(figures, '{draft_projects_last_week}', '[\"planted\"]')"
    await served.database.execute(f"UPDATE dashboard SET figures = {planted}")
    page = (await place.boss.page("/admin/dashboard/")).json()
    assert page["draft_projects_last_week"] == ["planted"], "figures of the last minutes are used again"
    await served.database.execute("UPDATE clock_shift SET ahead = ahead + interval '11 minutes'")
    await prove(place.boss)
    assert (await place.boss.page("/admin/dashboard/")).json()["draft_projects_last_week"] != ["planted"]
    await served.database.execute("UPDATE clock_shift SET ahead = '0'")


@shows("admin-operation")
@pytest_twisted.ensureDeferred
async def test_the_audit_log_is_read_backwards_and_by_person_and_kind(served):
    place = await Place(served).build()
    await served.database.execute(
        "INSERT INTO audit (at, user_name, via, action, kind, object_id) SELECT clock(), 'robot', 'cli', 'test', 'task', n FROM generate_series(1, 120) n"
    )
    first = (await place.boss.page("/admin/audit")).json()
    assert first.keys() == FRAME | {"entries", "kinds", "chosen", "next"} and len(first["entries"]) == 50
    assert {"announcement", "project", "task", "user"} <= {*first["kinds"]}
    assert first["entries"][0].keys() == {
        "id", "at", "user_id", "user_name", "via", "action", "kind", "object_id", "project_id", "attribute", "before", "after", "network",
        "request_id",
    }  # fmt: skip
    seen, before = [], None
    while True:
        page = (
            await place.boss.page(f"/admin/audit?kind=task&user=robot{f'&before={before}' if before else ''}")
        ).json()
        seen += [entry["object_id"] for entry in page["entries"]]
        before = page["next"]
        if before is None:
            break
    assert seen == list(range(120, 0, -1))
    assert (await place.boss.page("/admin/audit?user=nobody")).json()["entries"] == []
    assert (await place.boss.page("/admin/audit?before=x")).status == 415


@shows("admin-operation")
@pytest_twisted.ensureDeferred
async def test_work_in_the_queue_is_cancelled_and_begun_again(served):
    place = await Place(served).build()
    added = await served.database.fetch(
        "INSERT INTO queue_item (name, arguments, user_id, admin, via, state, created, due) SELECT 'nothing', '{}', %(id)s, false, 'web', s, clock(), clock() + interval '1 day'"
        " FROM unnest(ARRAY['waiting', 'dead', 'done']) s RETURNING id, state",
        {"id": place.person.user_id},
    )
    ids = {row["state"]: row["id"] for row in added}
    page = (await place.boss.page("/admin/queue")).json()
    assert page.keys() == FRAME | {"items", "states", "chosen", "next", "form"}
    assert {item["id"]: item["state"] for item in page["items"]} == {number: state for state, number in ids.items()}
    last = await place.last_act()
    assert (await place.post(f"/admin/queue/{ids['waiting']}/cancel"))["status"] == "success"
    assert (await place.post(f"/admin/queue/{ids['dead']}/retry"))["status"] == "success"
    assert (await place.post(f"/admin/queue/{ids['done']}/cancel"))["status"] == "error"
    assert (await place.post(f"/admin/queue/{ids['done']}/retry"))["status"] == "error"
    acts = [("boss", "web", "cancel", "queue", None), ("boss", "web", "retry", "queue", None)]
    assert await place.acts(last) == acts
    cancelled = (await place.boss.page("/admin/queue?state=cancelled")).json()["items"]
    assert [item["id"] for item in cancelled] == [ids["waiting"]]
    assert faults(Page((await place.boss.get("/admin/queue", headers=HTML)).text)) == []
    for query in ("state=x", "before=x"):
        assert (await place.boss.page(f"/admin/queue?{query}")).status == 415


@shows("admin-operation")
@pytest_twisted.ensureDeferred
async def test_jobs_and_webhooks_tell_how_they_are(served):
    place = await Place(served).build()
    await served.database.execute(
        "INSERT INTO job (name, due, outcome, began, seconds, words, failures, runs) VALUES"
        " ('a test', clock() + interval '1 hour', 'failed', clock(), 0.5, 'It broke.', 3, 9),"
        " ('b test', clock() - interval '1 hour', 'done', clock() - interval '2 hours', 0.1, 'Well.', 0, 1)"
    )
    page = (await place.boss.page("/admin/jobs")).json()
    assert page.keys() == FRAME | {"jobs"}
    jobs = {job["name"]: job for job in page["jobs"]}
    assert jobs["a test"].keys() == {
        "name",
        "due",
        "outcome",
        "began",
        "seconds",
        "words",
        "failures",
        "runs",
        "overdue",
        "state",
    }
    assert (jobs["a test"]["state"], jobs["a test"]["failures"], jobs["b test"]["state"]) == ("failed", 3, "late")
    assert (await place.boss.page("/admin/webhooks")).json().keys() == FRAME | {"webhooks"}
    await place.person.put(f"/api/project/{place.project['id']}", json={"webhook": "https://lab.example/hook"})
    [hook] = (await place.boss.page("/admin/webhooks")).json()["webhooks"]
    assert (hook["short_name"], hook["state"], hook["n_waiting"]) == ("birds", "on", hook["n_waiting"])
    for path in ("/admin/jobs", "/admin/webhooks"):
        assert faults(Page((await place.boss.get(path, headers=HTML)).text)) == []


@shows("admin-operation")
@pytest_twisted.ensureDeferred
async def test_letters_that_did_not_go_are_sent_again_and_nobody_reads_them_here(served):
    place = await Place(served).build()
    await served.database.execute(
        "INSERT INTO mail (created, recipient, template, locale, subject, text, html, state, due, error)"
        " SELECT clock(), 'ruth@example.org', 'test', 'en', 'A ' || s, 'the secret link', '', s, clock() + interval '1 day', 'no' FROM unnest(ARRAY['sent', 'dead']) s"
    )
    answer = await place.boss.page("/admin/mail")
    page = answer.json()
    assert page.keys() == FRAME | {"letters", "states", "chosen", "form"} and "the secret link" not in answer.text
    ids = {letter["state"]: letter["id"] for letter in page["letters"]}
    assert (await place.post(f"/admin/mail/{ids['dead']}/again"))["status"] == "success"
    assert (await place.post(f"/admin/mail/{ids['sent']}/again"))["status"] == "error"
    assert [one["id"] for one in (await place.boss.page("/admin/mail?state=sent")).json()["letters"]] == [ids["sent"]]
    assert (await place.boss.page("/admin/mail?state=x")).status == 415
    assert faults(Page((await place.boss.get("/admin/mail", headers=HTML)).text)) == []


@shows("admin-users-rights")
@pytest_twisted.ensureDeferred
async def test_two_who_take_each_others_rights_at_once_leave_one(served):
    place = await Place(served).build()
    mine, theirs = place.boss, await signed_in(served, "ada")
    for turn in range(4):
        await served.database.execute("UPDATE account SET admin = true")
        me, other = place.key.user_id, place.person.user_id
        pairs = ((mine, other), (theirs, me))
        if turn % 2:
            calls = [who.page(f"/admin/users/del/{whom}") for who, whom in pairs]
        else:
            browsers = [await who.by_session() if who.key else who for who, _ in pairs]
            calls = [
                who.put(f"/api/user/{whom}", json={"admin": False})
                for who, (_, whom) in zip(browsers, pairs, strict=True)
            ]
        answers = await gatherResults([ensureDeferred(call) for call in calls])
        left = await served.database.fetch("SELECT id FROM account WHERE admin")
        assert len(left) == 1, [answer.status for answer in answers]
        assert sorted(answer.status for answer in answers) == [200, 403]


@pytest_twisted.ensureDeferred
async def test_two_who_delete_the_last_categories_at_once_leave_one(served):
    admin = await served.person("boss", admin=True)
    ids = [row["id"] for row in (await admin.get("/api/category")).json()]
    headers = {"Content-Type": "application/json"}
    calls = [ensureDeferred(admin.delete(f"/api/category/{number}", headers=headers)) for number in ids]
    answers = await gatherResults(calls)
    assert sorted(answer.status for answer in answers) == [204, 415]
    assert len((await admin.get("/api/category")).json()) == 1


@shows("admin-who")
@pytest_twisted.ensureDeferred
async def test_a_refusal_says_who_may_see_the_page_and_to_administrators_why(served):
    place = await Place(served).build()
    ada = await signed_in(served, "ada")
    page = Page((await ada.get("/admin/", headers=HTML)).text)
    text = next(page.all("main")).text
    assert "Only administrators can see this page" in text and "without administrator rights" in text
    assert "not allowed" not in text and "owner" not in text and faults(page) == []
    own = await place.boss.get(f"/admin/users/del/{place.key.user_id}", headers=HTML)
    form = {"csrf_token": await place.token()}
    own = await place.boss.post(f"/admin/users/del/{place.key.user_id}", data=form, headers=HTML)
    text = next(Page(own.text).all("main")).text
    assert own.status == 403 and "You cannot remove your own administrator rights." in text
    assert "Only administrators" not in text and "Nothing has changed." in text


@shows("admin-dashboard")
@pytest_twisted.ensureDeferred
async def test_people_who_come_on_two_days_are_one_in_the_figure_and_empty_charts_are_a_sentence(served):
    place = await Place(served).build()
    ada = place.person
    try:
        for _ in range(2):
            task = (await ada.get(f"/api/{place.project['id']}/newtask")).json()
            run = {"project_id": place.project["id"], "task_id": task["id"], "info": 1}
            assert (await ada.post("/api/taskrun", json=run)).status == 200
            await served.database.execute("UPDATE clock_shift SET ahead = ahead + interval '1 day'")
        place.boss = await signed_in(served, "boss")  # the session is two days old
        week = (await place.boss.page("/admin/dashboard/?refresh=1")).json()
        assert week["active_users_last_week"]["series"][0].count(1) == 2
        assert (
            await served.house[SiteFeature].administration.figures(Requester(user_id=place.key.user_id, admin=True))
        )["people"] == {"users": 1, "anon": 0}
        page = Page((await place.boss.get("/admin/dashboard/", headers=HTML)).text)
        figures = {name.text: figure.text for name, figure in zip(page.all("dt"), page.all("dd"), strict=True)}
        assert figures["People with an account who answered"] == "1" and figures["Answers"] == "2"
        assert figures["People without an account who answered"] == "0" and faults(page) == []
        text = next(page.all("main")).text
        assert "Nobody without an account answered." in text and "Nobody answered." not in text
    finally:
        await served.database.execute("UPDATE clock_shift SET ahead = '0'")
