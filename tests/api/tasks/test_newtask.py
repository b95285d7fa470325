"""Asking for tasks."""

from time import monotonic

import pytest
import pytest_twisted
from support.browsers import lock, newcomer
from support.checks.shows import shows

from crowdd.features.tasks import contributions


def newtask(project, query=""):
    return f"/api/{project['id']}/newtask{query}"


@shows("newtask-lease", "newtask-paths")
@pytest_twisted.ensureDeferred
async def test_both_paths_and_the_same_task_until_it_is_answered(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=2, published=True)
    volunteer = served.client()
    await volunteer.get("/about")
    first = (await volunteer.get(f"/api/{project['id']}/newtask")).json()
    again = (await volunteer.get(f"/api/project/{project['id']}/newtask?_=12345&what=ever")).json()
    assert first == again and first["id"] == project["tasks"][0] and first["info"] == {"n": 0}
    assert first["state"] == "ongoing" and "calibration" not in first and "fav_user_ids" not in first


@shows("newtask-none", "newtask-shape")
@pytest_twisted.ensureDeferred
async def test_no_task_is_an_empty_object_and_says_why(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=1, published=True, n_answers=1)
    first, second = await served.person("first"), await served.person("second")
    task = (await first.get(newtask(project))).json()
    waiting = await second.get(newtask(project))
    assert (waiting.status, waiting.json(), waiting.header("x-no-task")) == (200, {}, "wait")
    assert 0 < int(waiting.header("retry-after")) <= 3600
    await first.post("/api/taskrun", json={"project_id": project["id"], "task_id": task["id"], "info": 1})
    done = await second.get(newtask(project))
    assert (done.status, done.json(), done.header("x-no-task")) == (200, {}, "none")


@shows("newtask-shape")
@pytest_twisted.ensureDeferred
async def test_one_task_is_an_object_and_several_are_an_array(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=4, published=True)
    volunteer = await served.person("volunteer")
    several = (await volunteer.get(newtask(project, "?limit=3"))).json()
    assert [task["id"] for task in several] == project["tasks"][:3]
    assert isinstance((await volunteer.get(newtask(project, "?limit=1"))).json(), dict)
    assert (await volunteer.get(newtask(project, "?limit=0"))).json()["id"] == project["tasks"][0]
    lonely = await served.project(owner, "lonely", tasks=1, published=True)
    assert (await volunteer.get(newtask(lonely, "?limit=50"))).json()["id"] == lonely["tasks"][0]


@shows("newtask-limit")
@pytest_twisted.ensureDeferred
async def test_more_than_a_hundred_tasks_at_once_are_a_hundred(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=110, published=True)
    assert len((await owner.get(newtask(project, "?limit=1000"))).json()) == 100


@shows("newtask-offset")
@pytest_twisted.ensureDeferred
async def test_limit_and_offset_index_one_sequence(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=5, published=True, n_answers=5)
    volunteer, tasks = await served.person("volunteer"), project["tasks"]
    for query, expected in (("?offset=0", 0), ("?offset=1", 1), ("?offset=1", 1), ("?offset=2", 2), ("", 0)):
        assert (await volunteer.get(newtask(project, query))).json()["id"] == tasks[expected], query
    both = (await volunteer.get(newtask(project, "?limit=2&offset=1"))).json()
    assert [task["id"] for task in both] == tasks[1:3]
    await volunteer.post("/api/taskrun", json={"project_id": project["id"], "task_id": tasks[0], "info": 1})
    assert (await volunteer.get(newtask(project))).json()["id"] == tasks[1]
    assert (await volunteer.get(newtask(project, "?offset=300"))).json() == {}


@shows("newtask-order")
@pytest_twisted.ensureDeferred
async def test_the_default_order_is_priority_then_id_and_orderby_changes_it(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    rows = [{"project_id": project["id"], "priority_0": p, "n_answers": 9} for p in (0, 1, 0.5)]
    low, high, middle = (task["id"] for task in (await owner.post("/api/task", json=rows)).json())
    await owner.post("/project/birds/publish", json={})
    for number, (query, expected) in enumerate(
        (("", high), ("?orderby=priority_0&desc=true", high), ("?orderby=id", low), ("?orderby=created", low))
    ):
        person = await served.person(f"person{number}")
        assert (await person.get(newtask(project, query))).json()["id"] == expected, query
    whole = (await owner.get(newtask(project, "?limit=3"))).json()
    assert [task["id"] for task in whole] == [high, middle, low]


@shows("newtask-order")
@pytest_twisted.ensureDeferred
async def test_every_attribute_that_volunteers_see_is_an_order(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    rows = [
        {"project_id": project["id"], "priority_0": p, "n_answers": n, "info": {"n": -n}}
        for p, n in ((0, 9), (1, 8), (0.5, 7))
    ]
    first, _, third = (task["id"] for task in (await owner.post("/api/task", json=rows)).json())
    await owner.post("/project/birds/publish", json={})
    for number, (query, expected) in enumerate(
        (
            ("?orderby=priority_0", first),
            ("?orderby=id&desc=true", third),
            ("?orderby=created&desc=true", third),
            ("?orderby=n_answers", third),
            ("?orderby=n_answers&desc=true", first),
            ("?orderby=info", first),
            ("?orderby=state", first),
        )
    ):
        person = await served.person(f"person{number}")
        assert (await person.get(newtask(project, query))).json()["id"] == expected, query


@shows("newtask-order-cost")
@pytest.mark.inside
@pytest_twisted.ensureDeferred
async def test_an_order_that_takes_too_long_ends_in_time(served, monkeypatch):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=1, published=True)
    await served.database.execute(
        "CREATE OR REPLACE FUNCTION code.sorted(p project_ledger, v asker, p_own bigint[], p_level int, p_order text)"
        " RETURNS bigint[] LANGUAGE sql AS $$ SELECT NULL::bigint[] FROM pg_sleep(60) $$"
    )
    monkeypatch.setattr(contributions, "SORT_SECONDS", 1)
    refused = await owner.get(newtask(project, "?orderby=info"))
    assert (refused.status, refused.json()["error_code"]) == (503, "timeout")
    assert (await owner.get(newtask(project))).json()["id"] == project["tasks"][0]


@shows("scheduler-names")
@pytest_twisted.ensureDeferred
async def test_an_incremental_project_shows_the_answer_before(served):
    owner, second, third = await served.person("owner"), await served.person("second"), await served.person("third")
    project = await served.project(owner, tasks=1, published=True, n_answers=3)
    await owner.put(f"/api/project/{project['id']}", json={"info": {"sched": "incremental", "task_presenter": "x"}})
    task = (await owner.get(newtask(project))).json()
    assert "last_answer" not in task["info"]
    assert (await second.get(newtask(project))).header("x-no-task") == "wait"
    for who, answer in ((owner, "a"), (second, {"b": 1})):
        run = {"project_id": project["id"], "task_id": task["id"], "info": answer}
        assert (await who.post("/api/taskrun", json=run)).status == 200
        seen = (await (second if who is owner else third).get(newtask(project))).json()
        assert seen["info"] == {**task["info"], "last_answer": answer}
    assert "last_answer" not in (await owner.get(f"/api/task/{task['id']}")).json()["info"]


@shows("newtask-order")
@pytest_twisted.ensureDeferred
async def test_an_order_by_something_unknown_is_refused(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=1, published=True)
    for query, name in (
        ("?orderby=wrong", "AttributeError"), ("?orderby=fav_user_ids", "AttributeError"),
        ("?orderby=calibration", "AttributeError"),
        ("?desc=maybe", "ValueError"), ("?limit=x", "ValueError"), ("?limit=-1", "ValueError"), ("?offset=-1", "ValueError"),
    ):  # fmt: skip
        error = (await owner.get(newtask(project, query))).json()
        assert (error["status_code"], error["exception_cls"], error["target"]) == (415, name, "newtask"), query


@pytest_twisted.ensureDeferred
async def test_an_unknown_project_is_not_found_and_a_slug_is_no_id(served):
    for path in ("/api/999/newtask", "/api/project/999/newtask", f"/api/{'9' * 30}/newtask", "/api/0/newtask"):
        answer = await served.client().get(path)
        error = answer.json()
        assert (answer.status, error["exception_msg"], error["action"]) == (404, "404 Not Found", "GET"), path
    assert (await served.client().get("/api/birds/newtask")).status == 415


@pytest_twisted.ensureDeferred
async def test_a_draft_may_be_tried_with_its_link(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=1)
    link = (await owner.page(f"/project/{project['short_name']}/publish")).json()["try_link"]
    key = {"X-Draft-Key": link.partition("try=")[2]}
    assert (await served.client().get(newtask(project), headers=key)).json()["id"] == project["tasks"][0]
    assert (await served.client().get(newtask(project))).status == 404


@shows("state-pause")
@pytest_twisted.ensureDeferred
async def test_a_paused_project_gives_nothing_new_but_keeps_its_promises(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=2, published=True)
    early, late = await served.person("early"), await served.person("late")
    task = (await early.get(newtask(project))).json()
    assert (await owner.post("/project/birds/pause", json={})).status == 200
    refused = await late.get(newtask(project))
    assert refused.status == 403 and refused.json()["error_code"] == "paused"
    assert (await early.get(newtask(project))).json()["id"] == task["id"]
    run = {"project_id": project["id"], "task_id": task["id"], "info": 1}
    assert (await early.post("/api/taskrun", json=run)).status == 200
    assert (await early.get(newtask(project))).status == 403
    await owner.post("/project/birds/publish", json={})
    assert (await late.get(newtask(project))).json()["id"] and len((await owner.get("/api/taskrun")).json()) == 1


@shows("newtask-members")
@pytest_twisted.ensureDeferred
async def test_a_members_only_project_wants_an_account(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=1, published=True)
    await owner.put(f"/api/project/{project['id']}", json={"allow_anonymous_contributors": False})
    browser = served.client()
    await browser.get("/about")
    for who in (served.client(), browser):
        refused = await who.get(newtask(project))
        assert (refused.status, refused.json()["error_code"]) == (401, "members_only")
        assert refused.json()["exception_msg"] == "This project does not allow anonymous contributors"
    assert (await (await newcomer(served, "ada")).get(newtask(project))).json()["id"]


@shows("state-locked")
@pytest_twisted.ensureDeferred
async def test_a_locked_project_wants_its_password(served):
    owner, volunteer = await served.person("owner"), await served.person("volunteer")
    admin = await served.person("boss", admin=True)
    project = await served.project(owner, tasks=1, published=True)
    await lock(served, "birds", owner, "sesame")
    for who in (volunteer, served.client()):
        refused = await who.get(newtask(project))
        assert (refused.status, refused.json()["error_code"]) == (403, "project_password")
        assert (await who.get(newtask(project), headers={"X-Project-Password": "no"})).status == 403
    path = f"/api/project/{project['id']}/newtask"
    assert (await volunteer.get(path, headers={"X-Project-Password": "sesame"})).json()["id"] == project["tasks"][0]
    assert (await owner.get(path)).json()["id"] == (await admin.get(path)).json().get("id", project["tasks"][0])


@shows("limit-attempts")
@pytest_twisted.ensureDeferred
async def test_guessing_a_project_password_ends(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=1, published=True)
    await lock(served, "birds", owner, "sesame")
    begun = monotonic()
    for _ in range(20):
        assert (await served.client().get(newtask(project), headers={"X-Project-Password": "no"})).status == 403
    held = await served.client().get(newtask(project), headers={"X-Project-Password": "sesame"})
    assert held.status == 429 and 900 - (monotonic() - begun) - 1 <= int(held.header("retry-after")) <= 900
    assert (await owner.get(newtask(project))).status == 200


@shows("lease-exact")
@pytest_twisted.ensureDeferred
async def test_nobody_is_handed_a_task_twice_and_no_place_too_many(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=2, published=True, n_answers=2)
    handed = []
    for number in range(5):
        person = await served.person(f"person{number}")
        handed.append((await person.get(newtask(project, "?limit=2"))).json())
    task_ids = [task["id"] for tasks in handed for task in (tasks if isinstance(tasks, list) else [tasks]) if task]
    assert all(task_ids.count(task) <= 2 for task in project["tasks"])
    assert handed[4] == {}
