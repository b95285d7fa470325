"""Projects over REST."""

import pytest_twisted
from support.browsers import lock
from support.checks.shows import shows

PBCLIENT_DROPS = {"id", "created", "updated", "completed", "contacted", "published", "secret_key"}


@shows("external-secret", "project-create-minimum", "record-create")
@pytest_twisted.ensureDeferred
async def test_a_name_is_enough(served):
    owner = await served.person("owner")
    project = (await owner.post("/api/project", json={"name": "Bird Song"})).json()
    assert project["short_name"] == "bird-song" and project["info"] == {} and project["long_description"] == ""
    assert (project["owner_id"], project["owners_ids"]) == (owner.user_id, [owner.user_id])
    assert (project["published"], project["featured"], project["allow_anonymous_contributors"]) == (False, False, True)
    assert len(project["secret_key"]) > 30 and project["webhook"] is None
    assert project["category_id"] == (await owner.get("/api/category")).json()[0]["id"]


@shows("project-create-who")
@pytest_twisted.ensureDeferred
async def test_nobody_creates_a_project_without_signing_in(served):
    answer = await served.client().post("/api/project", json={"name": "Birds"})
    assert answer.status == 401 and answer.json()["exception_cls"] == "Unauthorized"


@shows("link-none", "project-reduced")
@pytest_twisted.ensureDeferred
async def test_strangers_see_a_reduced_project_without_secrets(served):
    owner, stranger = await served.person("owner"), await served.person("stranger")
    project = await served.project(owner, tasks=1, published=True)
    for who in (stranger, served.client()):
        seen = (await who.get(f"/api/project/{project['id']}")).json()
        assert not {"secret_key", "webhook", "contacted", "zip_download", "n_task_runs"} & seen.keys()
        reduced = ("last_activity", "last_activity_raw", "n_tasks", "n_volunteers", "overall_progress", "owner")
        assert all(name in seen and seen[name] is None for name in reduced)
        assert "links" not in seen and f"/api/project/{project['id']}'" in seen["link"]
    assert (await owner.get(f"/api/project/{project['id']}")).json()["n_tasks"] == 1


@shows("project-info-public")
@pytest_twisted.ensureDeferred
async def test_private_keys_of_info_are_neither_shown_nor_found_nor_ordered_by(served):
    owner, stranger = await served.person("owner"), await served.person("stranger")
    for name, word in (("one", "zebra"), ("two", "ant")):
        project = await served.project(owner, name, tasks=1, published=True)
        await owner.put(f"/api/project/{project['id']}", json={"info": {"task_presenter": "x", "note": word}})
    for query in ("info=note::ant", "info=%7B%22note%22:%22ant%22%7D", "info=note::ant&info=sched::x"):
        assert (await stranger.get(f"/api/project?all=1&{query}")).json() == []
    assert [p["short_name"] for p in (await owner.get("/api/project?info=note::ant")).json()] == ["two"]
    assert [p["short_name"] for p in (await owner.get("/api/project?orderby=info")).json()] == ["two", "one"]
    others = (await stranger.get("/api/project?all=1&orderby=info")).json()
    assert [p["short_name"] for p in others] == ["one", "two"]
    assert all(p["info"] == {"task_presenter": "x"} for p in others)
    assert len((await stranger.get("/api/project?all=1&info=task_presenter::x")).json()) == 2


@shows("attribute-whole-record", "record-change")
@pytest_twisted.ensureDeferred
async def test_a_whole_record_can_be_put_back(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    record = (await owner.get(f"/api/project/{project['id']}")).json()
    whole = await owner.put(f"/api/project/{project['id']}", json=record)
    assert whole.status == 200 and {**whole.json(), "updated": 0} == {**record, "updated": 0}
    sent = {name: value for name, value in record.items() if name not in PBCLIENT_DROPS} | {"description": "New"}
    assert (await owner.put(f"/api/project/{project['id']}", json=sent)).json()["description"] == "New"


@shows("attribute-server", "error-reserved")
@pytest_twisted.ensureDeferred
async def test_what_the_server_sets_cannot_be_changed(served):
    owner, other = await served.person("owner"), await served.person("other")
    project = await served.project(owner)
    before = (await owner.get(f"/api/project/{project['id']}")).json()
    for change in (
        {"id": 7}, {"created": "2001-01-01"}, {"owner_id": other.user_id}, {"owners_ids": [other.user_id]},
        {"published": True}, {"secret_key": "mine"}, {"contacted": True},
    ):  # fmt: skip
        answer = await owner.put(f"/api/project/{project['id']}", json=change)
        assert answer.status == 400 and answer.json()["exception_cls"] == "BadRequest", change
        assert answer.json()["exception_msg"] == "Reserved keys in payload"
    assert (await owner.get(f"/api/project/{project['id']}")).json() == before


@shows("attribute-computed")
@pytest_twisted.ensureDeferred
async def test_computed_attributes_in_a_body_are_ignored(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    body = {"n_tasks": 99, "contrib_button": "x", "overall_progress": "?", "link": 1, "links": None, "n_results": []}
    answer = await owner.put(f"/api/project/{project['id']}", json=body)
    assert answer.status == 200 and answer.json()["n_tasks"] == 0


@shows("project-change-who")
@pytest_twisted.ensureDeferred
async def test_only_owners_and_administrators_change_and_delete(served):
    owner, stranger = await served.person("owner"), await served.person("stranger")
    friend, admin = await served.person("friend"), await served.person("boss", admin=True)
    project = await served.project(owner, tasks=1, published=True)
    path = f"/api/project/{project['id']}"
    await served.database.execute(
        "UPDATE project SET owners_ids = owners_ids || %(friend)s::bigint", {"friend": friend.user_id}
    )
    for who, status in ((served.client(), 401), (stranger, 403)):
        assert (await who.put(path, json={"description": "mine"})).status == status
        assert (await who.delete(path)).status == status
    for who in (owner, friend, admin):
        assert (await who.put(path, json={"description": "ours"})).json()["description"] == "ours"
    assert (await friend.delete(path)).status == 403
    assert (await owner.delete(path)).status == 204
    assert (await owner.get(path)).status == 404


@shows("attribute-client", "project-featured")
@pytest_twisted.ensureDeferred
async def test_only_administrators_feature_a_project(served):
    owner, admin = await served.person("owner"), await served.person("boss", admin=True)
    project = await served.project(owner)
    path = f"/api/project/{project['id']}"
    assert (await owner.put(path, json={"featured": True})).status == 403
    assert (await owner.post("/api/project", json={"name": "Other", "featured": True})).status == 403
    assert (await admin.put(path, json={"featured": True})).json()["featured"] is True
    assert (await owner.put(path, json={"featured": True, "description": "x"})).status == 200


@shows("project-delete", "record-delete")
@pytest_twisted.ensureDeferred
async def test_deleting_takes_everything_along_and_answers_nothing(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=2, published=True)
    task = (await owner.get(f"/api/{project['id']}/newtask")).json()
    await owner.post("/api/taskrun", json={"project_id": project["id"], "task_id": task["id"], "info": 1})
    answer = await owner.request("DELETE", f"/api/project/{project['id']}", json=None)
    assert (answer.status, answer.body, answer.header("content-length")) == (204, b"", None)
    assert (await owner.delete(f"/api/project/{project['id']}")).status == 404
    for kind in ("project", "task", "taskrun", "result"):
        assert (await owner.get(f"/api/{kind}?all=1")).json() == []


@shows("error-conflict", "project-names-unique")
@pytest_twisted.ensureDeferred
async def test_names_are_unique_and_the_refusal_is_a_sentence(served):
    owner = await served.person("owner")
    project = await served.project(owner, "birds")
    other = await served.project(owner, "fish")
    for body in ({"name": "BIRDS", "short_name": "x"}, {"name": "x", "short_name": "birds"}):
        answer = await owner.post("/api/project", json=body)
        error = answer.json()
        assert (answer.status, error["exception_cls"], error["target"]) == (415, "DBIntegrityError", "project")
        assert error["exception_msg"].endswith("exists already.")
    renamed = await owner.put(f"/api/project/{other['id']}", json={"short_name": project["short_name"]})
    assert renamed.status == 415 and renamed.json()["exception_cls"] == "DBIntegrityError"


@shows("project-short-name")
@pytest_twisted.ensureDeferred
async def test_a_short_name_is_no_page_and_fits_in_an_address(served):
    owner = await served.person("owner")
    for short_name in ("new", "Category", "a/b", "a b", "a?b", "..", "", "a\nb", "<b>", "a" * 256):
        answer = await owner.post("/api/project", json={"name": "Birds", "short_name": short_name})
        assert answer.status == 415 and answer.json()["exception_cls"] == "ValueError", short_name
    made = await owner.post("/api/project", json={"name": "Vögel", "short_name": "vögel"})
    assert made.status == 200
    assert (await owner.page("/project/v%C3%B6gel/")).json()["project"]["name"] == "Vögel"
    assert (await owner.page("//project//v%C3%B6gel")).json()["project"]["name"] == "Vögel"


@shows("record-change")
@pytest_twisted.ensureDeferred
async def test_info_is_replaced_not_merged(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    answer = await owner.put(f"/api/project/{project['id']}", json={"info": {"tutorial": "t"}})
    assert answer.json()["info"] == {"tutorial": "t"}


@shows("project-info")
@pytest_twisted.ensureDeferred
async def test_what_the_server_reads_from_info_has_to_make_sense(served):
    owner = await served.person("owner")
    for info in ({"sched": "fast"}, {"sched": 5}, {"task_presenter": ["<p>"]}, {"tutorial": {}}):
        answer = await owner.post("/api/project", json={"name": "Birds", "info": info})
        assert answer.status == 415 and "info." in answer.json()["exception_msg"], info


@shows("project-category")
@pytest_twisted.ensureDeferred
async def test_an_unknown_category_is_refused(served):
    owner = await served.person("owner")
    answer = await owner.post("/api/project", json={"name": "Birds", "category_id": 12345})
    assert answer.status == 400 and answer.json()["exception_cls"] == "BadRequest"


@shows("project-hidden", "state-draft")
@pytest_twisted.ensureDeferred
async def test_drafts_are_neither_listed_nor_found(served):
    owner, stranger = await served.person("owner"), await served.person("stranger")
    project = await served.project(owner, tasks=1)
    for path in ("/api/project?all=1", f"/api/task?all=1&project_id={project['id']}"):
        assert (await stranger.get(path)).json() == [] == (await served.client().get(path)).json()
        assert len((await owner.get(path)).json()) == 1
    assert (await stranger.get(f"/api/project/{project['id']}")).status == 404
    assert (await served.client().get(f"/api/task/{project['tasks'][0]}")).status == 404


@shows("state-locked")
@pytest_twisted.ensureDeferred
async def test_a_password_locks_the_project_and_all_that_is_its(served):
    owner, stranger = await served.person("owner"), await served.person("stranger")
    admin, anonymous = await served.person("boss", admin=True), served.client()
    project = await served.project(owner, tasks=1, published=True)
    await lock(served, "birds", owner, "sesame")
    number, task = project["id"], project["tasks"][0]
    for path in (f"/api/project/{number}", f"/api/task/{task}"):
        assert (await anonymous.get(path)).status == 401
        assert (await stranger.get(path)).status == 403
        assert (await stranger.get(path, headers={"X-Project-Password": "wrong"})).status == 403
        assert (await stranger.get(path, headers={"X-Project-Password": "sesame"})).status == 200
        assert (await owner.get(path)).status == 200 == (await admin.get(path)).status
    lists = f"/api/task?all=1&project_id={number}"
    assert (await stranger.get(lists)).json() == [] and len((await owner.get(lists)).json()) == 1
    assert len((await stranger.get(lists, headers={"X-Project-Password": "sesame"})).json()) == 1
    assert (await stranger.get("/api/project?all=1")).json() == []


@shows("project-contrib-button")
@pytest_twisted.ensureDeferred
async def test_the_contribution_button_says_what_the_caller_can_do(served):
    owner, volunteer = await served.person("owner"), await served.person("volunteer")
    project = (await owner.post("/api/project", json={"name": "Birds"})).json()
    path = f"/api/project/{project['id']}"

    async def button(who):
        return (await who.get(path)).json()["contrib_button"]

    assert await button(owner) == "draft"
    await owner.put(path, json={"info": {"task_presenter": "<p>"}})
    rows = [{"project_id": project["id"], "n_answers": 2}]
    await owner.post("/api/task", json=rows)
    assert await button(owner) == "publish"
    await owner.post("/project/birds/publish", json={})
    assert await button(volunteer) == "can_contribute"
    for who, after in ((volunteer, "cannot_contribute"), (owner, "completed")):
        task = (await who.get(f"{path}/newtask")).json()
        run = {"project_id": project["id"], "task_id": task["id"], "info": 1}
        assert (await who.post("/api/taskrun", json=run)).status == 200
        assert await button(who) == after


@shows("project-exact")
@pytest_twisted.ensureDeferred
async def test_an_owner_sees_true_figures_at_once(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=2, published=True, n_answers=1)
    task = (await owner.get(f"/api/{project['id']}/newtask")).json()
    await owner.post("/api/taskrun", json={"project_id": project["id"], "task_id": task["id"], "info": 1})
    seen = (await owner.get(f"/api/project/{project['id']}")).json()
    figures = ("n_tasks", "n_completed_tasks", "n_task_runs", "n_volunteers", "overall_progress")
    assert [seen[name] for name in figures] == [2, 1, 1, 1, 50]
    assert seen["owner"] == "owner" and seen["last_activity"].endswith("ago")


@shows("project-audit")
@pytest_twisted.ensureDeferred
async def test_every_change_is_in_the_audit_log(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    await owner.put(f"/api/project/{project['id']}", json={"description": "New", "name": "Birds"})
    rows = await served.database.fetch(
        "SELECT action, attribute, before, after, via, user_name FROM audit WHERE kind = 'project' ORDER BY id"
    )
    assert [(r["action"], r["attribute"], r["before"], r["after"]) for r in rows] == [
        ("create", None, None, {"name": "Birds"}),
        ("update", "description", "Is there a bird?", "New"),
    ]
    assert {(r["via"], r["user_name"]) for r in rows} == {("api", "owner")}
