"""Records of the API as docs/interface states them: attributes, links, times, order of lists."""

from __future__ import annotations

import re
from typing import Any

import pytest_twisted
from support.checks.shows import shows

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}")
# The attributes that clients of PyBossa know, as a requester who may read all of them gets them.
ATTRIBUTES = {
    "taskrun": "id task_id project_id user_id user_ip external_uid info created finish_time calibration timeout"
    " link links",
    "project": "id name short_name description long_description info owner_id category_id published featured"
    " allow_anonymous_contributors contacted contrib_button secret_key webhook n_blogposts n_results created updated"
    " link",
    "task": "id created priority_0 project_id link links",
    "result": "id project_id task_id link links",
    "blogpost": "id project_id link links",
    "helpingmaterial": "id project_id link links",
    "category": "id name short_name description created link",
    "announcement": "id title body created user_id link",
    "user": "id name fullname email_addr api_key admin pro privacy_mode subscribed newsletter_prompted valid_email"
    " confirmation_email_sent locale created info flags category catalog_api google_user_id github_user_id"
    " orcid_user_id passwd_hash link",
}
# The parents of each kind, in the order of the links.
PARENTS = {
    "taskrun": ("task", "project"), "project": (), "task": ("project",), "result": ("project", "task"),
    "blogpost": ("project",), "helpingmaterial": ("project",), "category": (), "announcement": (), "user": (),
}  # fmt: skip


async def one_of_each(served: Any) -> tuple[Any, dict[str, dict[str, Any]]]:
    """An administrator, and a record of every kind as they read it."""
    admin = await served.person("admin", admin=True)
    project = await served.project(admin, tasks=1, published=True, n_answers=1)
    task = (await admin.get(f"/api/{project['id']}/newtask")).json()
    run = {"project_id": project["id"], "task_id": task["id"], "info": {"a": [1, None]}}
    await admin.post("/api/taskrun", json=run)
    mine, words = {"project_id": project["id"]}, {"title": "T", "body": "B"}
    for kind, body in (("blogpost", {**mine, **words}), ("announcement", words), ("helpingmaterial", mine)):
        await admin.post(f"/api/{kind}", json=body)
    lists = {kind: (await admin.get(f"/api/{kind}")).json() for kind in ATTRIBUTES}
    return admin, {kind: rows[0] for kind, rows in lists.items()}


@shows(
    "announcement-fields",
    "blogpost-fields",
    "category-fields",
    "helpingmaterial-fields",
    "project-fields",
    "record-list",
    "record-read",
    "result-fields",
    "task-fields",
    "taskrun-fields",
    "user-fields",
)
@pytest_twisted.ensureDeferred
async def test_every_attribute_of_the_interface_is_there(served):
    admin, records = await one_of_each(served)
    for kind, names in ATTRIBUTES.items():
        assert set(names.split()) <= records[kind].keys(), kind
        single = (await admin.get(f"/api/{kind}/{records[kind]['id']}")).json()
        for record in (single, records[kind]):
            record.pop("last_activity", None)  # in words, from second to second others
        assert single == records[kind], kind


@shows("link-none", "link-parents", "link-self")
@pytest_twisted.ensureDeferred
async def test_links_name_the_object_and_its_parents(served):
    _, records = await one_of_each(served)
    base = served.house.base.settings.base_url
    columns = {"project": "project_id", "task": "task_id"}
    for kind, parents in PARENTS.items():
        record = records[kind]
        assert record["link"] == f"<link rel='self' title='{kind}' href='{base}/api/{kind}/{record['id']}'/>"
        links = [f"<link rel='parent' title='{p}' href='{base}/api/{p}/{record[columns[p]]}'/>" for p in parents]
        assert record.get("links", []) == links and ("links" in record) is bool(parents), kind


@shows("format-times")
@pytest_twisted.ensureDeferred
async def test_times_are_iso_8601_without_zone_with_microseconds(served):
    _, records = await one_of_each(served)
    for kind, record in records.items():
        for name in {"created", "updated", "finish_time"} & record.keys():
            assert TIME.fullmatch(record[name]), (kind, name)
    assert records["taskrun"]["created"] <= records["taskrun"]["finish_time"]


@shows("project-fields", "taskrun-fields")
@pytest_twisted.ensureDeferred
async def test_types_are_those_of_the_tables(served):
    _, records = await one_of_each(served)
    project, run, user = records["project"], records["taskrun"], records["user"]
    assert run["info"] == {"a": [1, None]} and run["calibration"] is None is run["timeout"]
    assert isinstance(project["info"], dict) and project["contrib_button"] == "completed"
    assert (project["n_blogposts"], project["n_results"]) == (1, 0) and project["webhook"] is None
    assert isinstance(user["privacy_mode"], bool) and isinstance(user["info"], dict) and user["passwd_hash"] is None
    assert user["flags"] is None is user["category"] and user["catalog_api"] is None


@shows("list-all", "list-anonymous")
@pytest_twisted.ensureDeferred
async def test_an_anonymous_list_has_all_rows_by_id_and_so_has_all(served):
    first, second = await served.person("first"), await served.person("second")
    made = [await served.project(who, name, tasks=2, published=True) for who, name in ((first, "a"), (second, "b"))]
    tasks = sorted(task for project in made for task in project["tasks"])
    for client, query in ((served.client(), ""), (first, "all=1"), (second, "all=1")):
        assert [row["id"] for row in (await client.get(f"/api/project?{query}")).json()] == [p["id"] for p in made]
        assert [row["id"] for row in (await client.get(f"/api/task?{query}")).json()] == tasks
    assert [row["id"] for row in (await second.get("/api/project")).json()] == [made[1]["id"]]


@shows("error-404", "error-object")
@pytest_twisted.ensureDeferred
async def test_a_failed_request_names_method_and_type(served):
    admin = await served.person("admin", admin=True)
    for method in ("GET", "PUT", "DELETE"):
        for kind in ATTRIBUTES:
            if (method, kind) in {("DELETE", "user"), ("DELETE", "result")}:
                continue
            answer = await admin.request(method, f"/api/{kind}/99999", json={})
            error = answer.json()
            assert (error["status"], error["action"], error["target"]) == ("failed", method, kind)
            assert (error["status_code"], answer.status, error["exception_cls"]) == (404, 404, "NotFound")
            assert error["exception_msg"] == "404 Not Found" and {"error_code", "hint"} <= error.keys()


@shows("error-unknown-attribute", "list-unknown")
@pytest_twisted.ensureDeferred
async def test_an_unknown_attribute_is_415_and_named(served):
    admin = await served.person("admin", admin=True)
    queries = ("colour=red", "orderby=colour")
    refused = [await admin.get(f"/api/{kind}?{query}") for kind in ATTRIBUTES for query in queries]
    refused += [await admin.post(f"/api/{kind}", json={"colour": "red"}) for kind in ATTRIBUTES if kind != "user"]
    refused.append(await admin.put("/api/category/1", json={"colour": "red"}))
    refused.append(await admin.delete("/api/category/1?colour=red"))
    for answer in refused:
        assert (answer.status, answer.json()["exception_cls"]) == (415, "AttributeError"), answer.body
        assert "colour" in answer.json()["exception_msg"]


@shows("record-methods", "user-no-post", "user-public")
@pytest_twisted.ensureDeferred
async def test_the_user_endpoint_by_actor(served):
    admin, person, nobody = await served.person("admin", admin=True), await served.person("person"), served.client()
    path = f"/api/user/{person.user_id}"
    for client in (nobody, admin):
        shown = (await client.get(path)).json()
        assert (shown.keys() == {"name", "locale", "link"}) is (client is nobody)
        assert ("id" in shown) is (client is admin)
    assert (await person.get(f"/api/user/{admin.user_id}")).json().keys() == {"name", "locale", "link"}
    for client in (nobody, person, admin):
        assert (await client.post("/api/user", json={"name": "new"})).status == 405
        assert (await client.delete(path)).status == 405
    assert (await nobody.put(path, json={"locale": "de"})).status == 401
    assert (await person.put(f"/api/user/{admin.user_id}", json={"locale": "de"})).status == 403
    assert (await person.put(path, json={"locale": "de"})).json()["locale"] == "de"
