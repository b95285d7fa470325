"""The keys of each view as JSON are those of the interface, and the further ones that are named here."""

import pytest_twisted
from support.browsers import lock, newcomer
from support.checks.shows import shows

FORM = {"csrf", "errors"}
REGISTER = FORM | {"confirm", "email_addr", "fullname", "name", "password"}
SUMMARY = {"name", "short_name", "description", "info", "n_tasks", "n_volunteers", "overall_progress"}
SUMMARY_MORE = {
    "created", "updated", "category_id", "featured", "n_task_runs", "n_completed_tasks", "n_results",
    "last_activity", "last_activity_raw", "owner",
}  # fmt: skip
OWNED = {"id", "owner_id", "published"}
PERSON = {
    "name", "fullname", "locale", "created", "info", "rank", "score", "n_answers", "total", "registered_ago", "task_runs",
}  # fmt: skip
PRIVATE = {
    "id", "email_addr", "admin", "pro", "privacy_mode", "subscribed", "newsletter_prompted", "valid_email",
    "confirmation_email_sent", "flags", "category", "catalog_api", "google_user_id", "github_user_id",
    "orcid_user_id", "api_key", "passwd_hash",
}  # fmt: skip
RESULTS = {"n_results", "summary", "fields", "alpha", "charts", "agreement_figures", "rows", "next"}
PROJECT_PAGE = {
    "last_activity", "n_completed_tasks", "n_task_runs", "n_tasks", "n_volunteers", "overall_progress", "owner",
    "pro_features", "project", "template", "title",
}  # fmt: skip


async def view(client, path):
    answer = await client.page(path)
    assert answer.status == 200, (path, answer.body)
    return answer.json()


@shows("format-template", "page-home", "page-project-summary")
@pytest_twisted.ensureDeferred
async def test_home(served):
    owner, volunteer = await served.person("owner"), await served.person("volunteer")
    await served.project(owner, tasks=1, published=True)
    project = await served.project(owner, "fish", tasks=1, published=True)
    for who in (owner, volunteer):  # the owner's own answers do not count
        task = (await who.get(f"/api/{project['id']}/newtask")).json()
        await who.post("/api/taskrun", json={"project_id": project["id"], "task_id": task["id"], "info": 1})
    await served.project(owner, "draft")
    await served.project(owner, "locked", tasks=1, published=True)
    await lock(served, "locked", owner, "sesame")
    home = await view(served.client(), "/")
    assert home.keys() == {
        "top_projects", "categories_projects", "categories", "top_users", "template", "featured",
    }  # fmt: skip
    assert {project["short_name"] for project in home["top_projects"]} == {"birds", "fish"}
    assert all(project.keys() == SUMMARY | SUMMARY_MORE for project in home["top_projects"])
    assert home["categories_projects"].keys() == {"featured", "thinking", "sensing"}
    assert [category["short_name"] for category in home["categories"]] == ["featured", "thinking", "sensing"]
    assert home["categories"][0]["id"] is None and home["featured"] == []
    assert [(user["name"], user["score"], user["rank"]) for user in home["top_users"]] == [("volunteer", 1, 1)]
    assert home["top_users"][0].keys() == PERSON and home["top_users"][0]["fullname"] is None


@shows("format-template", "page-project", "page-project-common", "page-project-common-public")
@pytest_twisted.ensureDeferred
async def test_the_project_page_for_its_owner(served):
    owner, admin = await served.person("owner"), await served.person("boss", admin=True)
    await served.project(owner, tasks=2, published=True)
    for who in (owner, admin):
        page = await view(who, "/project/birds/")
        assert page.keys() == PROJECT_PAGE and page["title"] == "Birds"
        assert page["pro_features"] == {
            "auditlog_enabled": True, "autoimporter_enabled": False, "webhooks_enabled": True,
        }  # fmt: skip
        assert page["project"]["secret_key"] and page["project"]["n_tasks"] == 2
    own = (await view(owner, "/project/birds/"))["owner"]
    assert own.keys() == PERSON | PRIVATE and own["api_key"] == owner.key and own["passwd_hash"] is None


@shows("page-project", "page-project-common", "page-project-common-public")
@pytest_twisted.ensureDeferred
async def test_the_project_page_for_others(served):
    owner, stranger = await served.person("owner"), await served.person("stranger")
    await served.project(owner, tasks=2, published=True)
    for who in (stranger, served.client()):
        page = await view(who, "/project/birds/")
        assert page.keys() == PROJECT_PAGE and (page["n_tasks"], page["overall_progress"]) == (2, 0)
        assert not {"secret_key", "webhook", "contacted"} & page["project"].keys()
        assert page["project"]["n_tasks"] is None and page["owner"].keys() == PERSON
        assert page["pro_features"] == {
            "auditlog_enabled": False, "autoimporter_enabled": False, "webhooks_enabled": False,
        }  # fmt: skip


@shows("account-profile", "account-record", "page-project-summary")
@pytest_twisted.ensureDeferred
async def test_ones_own_profile_under_both_addresses(served):
    ada = await served.person("ada")
    await served.project(ada, "draft")
    await served.project(ada, "open", tasks=1, published=True)
    for path in ("/account/profile", "/account/ada"):
        page = await view(ada, path)
        assert page.keys() == {
            "projects_contrib", "projects_created", "projects_published", "projects_draft", "template", "title", "user",
        }  # fmt: skip
        assert page["user"].keys() == PERSON | PRIVATE and page["user"]["api_key"] == ada.key
        assert [p["short_name"] for p in page["projects_draft"]] == ["draft"]
        assert [p["short_name"] for p in page["projects_published"]] == ["open"]
        assert [p["short_name"] for p in page["projects_created"]] == ["open", "draft"]
        assert all(p.keys() == SUMMARY | SUMMARY_MORE | OWNED for p in page["projects_created"])


@shows("account-profile", "account-record")
@pytest_twisted.ensureDeferred
async def test_anothers_profile(served):
    ada, bob = await served.person("ada"), await served.person("bob")
    await served.project(ada, "draft")
    await served.project(ada, "open", tasks=1, published=True)
    for who in (bob, served.client()):
        page = await view(who, "/account/ada")
        assert page.keys() == {"projects_contrib", "projects_created", "template", "title", "user"}
        assert page["user"].keys() == PERSON and (page["user"]["name"], page["user"]["fullname"]) == ("ada", None)
        assert [p["short_name"] for p in page["projects_created"]] == ["open"]
        assert page["projects_created"][0].keys() == SUMMARY | SUMMARY_MORE
    await ada.put(f"/api/user/{ada.user_id}", json={"privacy_mode": False})
    assert (await view(bob, "/account/ada"))["user"]["fullname"] == "Ada"


@shows("account-profile")
@pytest_twisted.ensureDeferred
async def test_a_profile_lists_what_its_person_contributed_to(served):
    owner, ada = await served.person("owner"), await served.person("ada")
    project = await served.project(owner, tasks=1, published=True)
    task = (await ada.get(f"/api/{project['id']}/newtask")).json()
    await ada.post("/api/taskrun", json={"project_id": project["id"], "task_id": task["id"], "info": 1})
    for who in (ada, served.client()):
        page = await view(who, "/account/ada")
        assert [p["short_name"] for p in page["projects_contrib"]] == ["birds"]
        assert (page["user"]["n_answers"], page["user"]["score"], page["user"]["task_runs"]) == (1, 1, 1)


@shows("account-profile", "format-status")
@pytest_twisted.ensureDeferred
async def test_a_profile_without_a_session_says_so(served):
    answer = await served.client().page("/account/profile")
    assert (answer.status, answer.json()) == (200, {"next": "/account/signin", "status": "not_signed_in"})


@shows("account-register", "format-form")
@pytest_twisted.ensureDeferred
async def test_register(served):
    browser = served.client()
    page = await view(browser, "/account/register")
    assert page.keys() == {"form", "template", "title"} and page["form"].keys() == REGISTER
    refused = (await browser.send_form("/account/register", {"name": "a"})).json()
    assert refused.keys() == {"form", "template", "title", "flash", "status"} and refused["status"] == "error"
    assert refused["form"].keys() == REGISTER
    assert refused["form"]["errors"].keys() == {"name", "fullname", "email_addr", "password"}
    done = await newcomer(served, "ada")
    assert (await view(done, "/account/register")) == {"next": "/"}


@shows("account-signin", "account-signin-post", "format-status", "session-signin")
@pytest_twisted.ensureDeferred
async def test_sign_in(served):
    await served.person("ada")
    browser = served.client()
    page = await view(browser, "/account/signin")
    assert page.keys() == {"auth", "form", "next", "template", "title"} and page["next"] is None
    assert page["auth"] == {"google": False, "github": False, "orcid": False}
    assert page["form"].keys() == FORM | {"email", "password"}
    refused = (await browser.send_form("/account/signin", {"email": "x", "password": "y"})).json()
    assert refused.keys() == page.keys() | {"flash", "status"} and refused["status"] == "error"
    assert (refused["form"]["email"], refused["form"]["password"]) == ("x", None)
    good = {"email": "ada@example.org", "password": "a good password"}
    done = (await browser.send_form("/account/signin", good)).json()
    assert done == {"next": "/", "flash": "Welcome back.", "status": "success"}
    assert (await view(browser, "/account/signin")) == {"next": "/"}


@shows("account-signout")
@pytest_twisted.ensureDeferred
async def test_sign_out(served):
    browser = await newcomer(served, "ada")
    words = "You are signed out."
    assert await view(browser, "/account/signout") == {
        "next": "/", "message": words, "flash": words, "status": "success",
    }  # fmt: skip


@shows("account-key-reset", "key-new")
@pytest_twisted.ensureDeferred
async def test_a_new_api_key(served):
    browser = await newcomer(served, "ada")
    before = (await view(browser, "/account/profile"))["user"]["api_key"]
    page = await view(browser, "/account/ada/resetapikey")
    assert page["form"].keys() == FORM
    done = (await browser.send_form("/account/ada/resetapikey", {})).json()
    assert done == {"next": "/account/profile", "flash": "New API key generated.", "status": "success"}
    assert (await view(browser, "/account/profile"))["user"]["api_key"] != before


@shows("page-publish")
@pytest_twisted.ensureDeferred
async def test_publishing(served):
    owner = await served.person("owner")
    await served.project(owner, tasks=1)
    page = await view(owner, "/project/birds/publish")
    assert page.keys() == PROJECT_PAGE | {"csrf", "try_link", "answers_wanted", "trial_answers"}


@shows("page-newtask")
@pytest_twisted.ensureDeferred
async def test_the_task_pages(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=1, published=True)
    for path in ("newtask", f"task/{project['tasks'][0]}", "results", "tutorial"):
        page = await view(served.client(), f"/project/birds/{path}")
        assert page.keys() >= {"owner", "project", "template", "title"} and "secret_key" not in page["project"]
        assert page.keys() == PROJECT_PAGE | (RESULTS if path == "results" else set()), path


@shows("result-info")
@pytest_twisted.ensureDeferred
async def test_the_results_page_counts_results_that_are_filled(served):
    owner, volunteer = await served.person("owner"), await served.person("volunteer")
    project = await served.project(owner, tasks=2, published=True, n_answers=1)
    for task in (await volunteer.get(f"/api/{project['id']}/newtask?limit=2")).json():
        await volunteer.post("/api/taskrun", json={"project_id": project["id"], "task_id": task["id"], "info": 1})
    assert (await view(served.client(), "/project/birds/results"))["n_results"] == 0
    first = (await owner.get("/api/result")).json()[0]
    assert (await owner.put(f"/api/result/{first['id']}", json={"info": "owl"})).status == 200
    page = await view(served.client(), "/project/birds/results")
    assert page["n_results"] == 1 and "secret_key" not in page["project"]
    own = await view(owner, "/project/birds/results")
    assert own.keys() == PROJECT_PAGE | RESULTS and own["project"]["owner_id"] == owner.user_id
    assert own["owner"]["id"] == owner.user_id and own["pro_features"]["webhooks_enabled"]
