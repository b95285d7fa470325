"""Lists over REST: pages, orders, filters, context."""

from datetime import UTC, datetime
from urllib.parse import quote

import pytest_twisted
from support.checks.shows import shows


async def make_tasks(owner, project, rows):
    """Tasks with these attributes; their ids."""
    made = await owner.post("/api/task", json=[{"project_id": project["id"], **row} for row in rows])
    assert made.status == 200, made.body
    return [task["id"] for task in made.json()]


def ids(answer):
    assert answer.status == 200, answer.body
    return [row["id"] for row in answer.json()]


@shows("list-limit")
@pytest_twisted.ensureDeferred
async def test_a_page_has_twenty_rows_and_never_more_than_a_hundred(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    made = await make_tasks(owner, project, [{}] * 103)
    assert ids(await owner.get("/api/task")) == made[:20]
    assert ids(await owner.get("/api/task?limit=3")) == made[:3]
    assert ids(await owner.get("/api/task?limit=100000000000")) == made[:100]
    assert ids(await owner.get("/api/task?limit=0")) == []
    assert ids(await owner.get("/api/task?limit=3&offset=101")) == made[101:]
    assert ids(await owner.get("/api/task?offset=500")) == []


@shows("list-last-id")
@pytest_twisted.ensureDeferred
async def test_last_id_gives_what_comes_after_in_any_order(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    await make_tasks(owner, project, [{"priority_0": n % 3, "info": {"n": n}} for n in range(11)])
    orders = [f"orderby={name}&desc={desc}" for name in ("id", "priority_0", "created") for desc in ("true", "false")]
    for order in ("", *orders, "orderby=info"):
        whole = ids(await owner.get(f"/api/task?{order}"))
        paged = page = ids(await owner.get(f"/api/task?{order}&limit=4"))
        while page:
            page = ids(await owner.get(f"/api/task?{order}&limit=4&last_id={page[-1]}"))
            paged = paged + page
        assert paged == whole and len(whole) == 11, order


@shows("list-orderby")
@pytest_twisted.ensureDeferred
async def test_nulls_come_last_and_are_paged_too(served):
    owner, admin = await served.person("owner"), await served.person("boss", admin=True)
    people = [await served.person(f"person{n}") for n in range(4)]
    for number, person in enumerate(people[:2]):
        await admin.put(f"/api/user/{person.user_id}", json={"flags": 2 - number})
    for order, first in (("orderby=flags", "person1"), ("orderby=flags&desc=true", "person0")):
        page = (await admin.get(f"/api/user?{order}&limit=3")).json()
        rest = (await admin.get(f"/api/user?{order}&last_id={page[-1]['id']}")).json()
        assert page[0]["name"] == first and [u["flags"] for u in page + rest][2:] == [None] * 4
        assert len({u["id"] for u in page + rest}) == 6
    assert owner.user_id


@shows("list-filter")
@pytest_twisted.ensureDeferred
async def test_filters_are_joined_by_and(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    made = await make_tasks(owner, project, [{"n_answers": n % 2 + 1, "priority_0": n} for n in range(6)])
    assert ids(await owner.get("/api/task?n_answers=2")) == made[1::2]
    assert ids(await owner.get("/api/task?n_answers=2&priority_0=3.0")) == [made[3]]
    assert ids(await owner.get("/api/task?n_answers=2&priority_0=2")) == []
    assert ids(await owner.get("/api/task?state=ongoing&limit=1")) == [made[0]]
    assert ids(await owner.get("/api/task?state=completed")) == []


@shows("list-filter-integers")
@pytest_twisted.ensureDeferred
async def test_several_ids_are_joined_by_or(served):
    owner = await served.person("owner")
    made = [(await served.project(owner, f"p{n}", tasks=1)) for n in range(3)]
    first, second, third = (project["id"] for project in made)
    for text in (f"[{first},{third}]", f"{first},{third}", f"[ {first} , {third} ]", f"{first} {third}"):
        tasks = (await owner.get(f"/api/task?project_id={quote(text)}")).json()
        assert [task["project_id"] for task in tasks] == [first, third], text
        assert ids(await owner.get(f"/api/project?id={quote(text)}")) == [first, third]
    assert ids(await owner.get(f"/api/project?id={second}")) == [second]


@shows("list-filter-info")
@pytest_twisted.ensureDeferred
async def test_info_is_compared_by_key_or_by_content(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    infos = [{"a": "x", "b": 1}, {"a": "y", "b": 1}, {"a": "x:y|z", "n": {"deep": [1, 2]}}, "plain"]
    made = await make_tasks(owner, project, [{"info": info} for info in infos])
    for text, expected in (
        ("a::x", [0]), ("a::x|b::1", [0]), ("b::1", [0, 1]), ("a::y|b::2", []), ("a::x:y|z", [2]), ("zz::x", []),
        ('{"b": 1}', [0, 1]), ('{"n": {"deep": [2]}}', [2]), ("plain", [3]), ('"plain"', [3]), ("{}", [0, 1, 2]),
    ):  # fmt: skip
        assert ids(await owner.get(f"/api/task?info={quote(text)}")) == [made[n] for n in expected], text


@shows("list-filter-times")
@pytest_twisted.ensureDeferred
async def test_a_time_is_found_by_its_beginning(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    moment = project["created"]
    for length in (4, 7, 10, 13, 16, 19, 26):
        assert ids(await owner.get(f"/api/project?created={moment[:length]}")) == [project["id"]], moment[:length]
    assert ids(await owner.get(f"/api/project?created={datetime.now(UTC).year - 1}")) == []
    assert len(moment) == 26 and "+" not in moment and "Z" not in moment


@shows("list-filter")
@pytest_twisted.ensureDeferred
async def test_texts_and_yes_or_no_are_compared(served):
    owner, admin = await served.person("owner"), await served.person("boss", admin=True)
    made = [await served.project(owner, name) for name in ("one", "two")]
    await admin.put(f"/api/project/{made[1]['id']}", json={"featured": True})
    for word in ("true", "True", "1", "yes", "on"):
        assert ids(await owner.get(f"/api/project?featured={word}")) == [made[1]["id"]]
    assert ids(await owner.get("/api/project?featured=0")) == [made[0]["id"]]
    assert ids(await owner.get("/api/project?short_name=one")) == [made[0]["id"]]
    assert ids(await owner.get("/api/project?name=one")) == []
    assert ids(await owner.get("/api/category?short_name=thinking")) == [1]


@shows("list-orderby")
@pytest_twisted.ensureDeferred
async def test_orderby_and_desc(served):
    owner = await served.person("owner")
    made = [(await served.project(owner, name))["id"] for name in ("bees", "ants", "cats")]
    assert ids(await owner.get("/api/project?orderby=short_name")) == [made[1], made[0], made[2]]
    assert ids(await owner.get("/api/project?orderby=short_name&desc=true")) == [made[2], made[0], made[1]]
    assert ids(await owner.get("/api/project?desc=1")) == made[::-1]
    for query in ("orderby=nothing", "orderby=secret_key", "orderby=link", "orderby=passwd_hash"):
        error = (await owner.get(f"/api/project?{query}")).json()
        assert (error["status_code"], error["exception_cls"]) == (415, "AttributeError"), query


@shows("list-all")
@pytest_twisted.ensureDeferred
async def test_with_a_key_a_list_holds_only_ones_own_projects_rows(served):
    ada, bob = await served.person("ada"), await served.person("bob")
    mine = await served.project(ada, "mine", tasks=1, published=True)
    other = await served.project(bob, "other", tasks=1, published=True)
    for kind, key in (("project", "id"), ("task", "project_id")):
        own = [row[key] for row in (await ada.get(f"/api/{kind}")).json()]
        everything = [row[key] for row in (await ada.get(f"/api/{kind}?all=1")).json()]
        anonymous = [row[key] for row in (await served.client().get(f"/api/{kind}")).json()]
        assert (own, everything, anonymous) == ([mine["id"]], [mine["id"], other["id"]], [mine["id"], other["id"]])
    assert ids(await ada.get(f"/api/project?owner_id={bob.user_id}")) == []
    assert ids(await ada.get(f"/api/project?owner_id={bob.user_id}&all=1")) == [other["id"]]
    assert len((await ada.get("/api/category")).json()) == 2


@shows("list-all")
@pytest_twisted.ensureDeferred
async def test_what_one_co_owns_is_ones_own(served):
    ada, bob = await served.person("ada"), await served.person("bob")
    project = await served.project(ada, tasks=1)
    await served.database.execute("UPDATE project SET owners_ids = owners_ids || %(id)s::bigint", {"id": bob.user_id})
    assert ids(await bob.get("/api/project")) == [project["id"]] and ids(await bob.get("/api/task")) == project["tasks"]


@shows("record-rights")
@pytest_twisted.ensureDeferred
async def test_a_page_is_full_unless_it_is_the_last(served):
    ada, bob = await served.person("ada"), await served.person("bob")
    shown = []
    for number in range(9):
        project = await served.project(ada, f"p{number}", tasks=1, published=number % 3 == 0)
        shown += [project["id"]] if number % 3 == 0 else []
    for who in (bob, served.client()):
        assert ids(await who.get("/api/project?all=1&limit=2")) == shown[:2]
        assert ids(await who.get(f"/api/project?all=1&limit=2&last_id={shown[1]}")) == shown[2:]
        assert [t["project_id"] for t in (await who.get("/api/task?all=1&limit=3")).json()] == shown


@shows("list-participated")
@pytest_twisted.ensureDeferred
async def test_participated_leaves_out_what_the_caller_has_answered(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=3, published=True)
    first = project["tasks"][0]
    browser, neighbour = served.client(), served.client()
    for client in (browser, neighbour):
        await client.get("/about")
    for who in (owner, browser):
        assert (await who.get(f"/api/{project['id']}/newtask")).json()["id"] == first
        run = {"project_id": project["id"], "task_id": first, "info": 1}
        assert (await who.post("/api/taskrun", json=run)).status == 200
        assert ids(await who.get("/api/task?participated=1")) == project["tasks"][1:]
    for who in (neighbour, served.client()):
        assert ids(await who.get("/api/task?participated=1")) == project["tasks"]
    of_seven = f"/api/task?participated=1&external_uid=7&project_id={project['id']}"
    assert ids(await owner.get(of_seven)) == project["tasks"]
    await served.database.execute("UPDATE task_run SET external_uid = '7', actor = 'x:7' WHERE user_id IS NULL")
    assert ids(await owner.get(of_seven)) == project["tasks"][1:]


@pytest_twisted.ensureDeferred
async def test_an_external_user_is_an_attribute_of_answers_only(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=1, published=True)
    task = (await owner.get(f"/api/{project['id']}/newtask")).json()
    await owner.post("/api/taskrun", json={"project_id": project["id"], "task_id": task["id"], "info": 1})
    await served.database.execute("UPDATE task_run SET external_uid = '7', user_id = NULL, actor = 'x:7'")
    assert len((await owner.get("/api/taskrun?external_uid=7")).json()) == 1
    assert (await owner.get("/api/taskrun?external_uid=8")).json() == []
    assert (await owner.get("/api/project?external_uid=7")).json()["exception_cls"] == "AttributeError"


@shows("list-unknown")
@pytest_twisted.ensureDeferred
async def test_what_no_list_understands_is_refused_by_name(served):
    owner = await served.person("owner")
    for query, name in (("wrong=1", "wrong"), ("secret_key=x", "secret_key"), ("passwd_hash=x", "passwd_hash")):
        error = (await owner.get(f"/api/project?{query}")).json()
        assert (error["status_code"], error["exception_cls"], error["target"]) == (415, "AttributeError", "project")
        assert name in error["exception_msg"] and error["error_code"] == "unknown_attribute"
    assert (await owner.get("/api/project?_=17&response_format=json")).json() == []


@pytest_twisted.ensureDeferred
async def test_what_no_type_can_hold_is_refused(served):
    client = served.client()
    for path in (
        "project?limit=x", "project?limit=-1", "project?offset=-1", "project?offset=1.5", "project?last_id=x",
        "project?desc=maybe", "project?featured=perhaps", "project?created=yesterday", "project?created=2026-13",
        "project?id=x", "project?id=", "project?id=[]", "project?id=99999999999999999999", "task?priority_0=nan",
        "task?n_answers=1e400", "task?info=::", "task?info=|::x",
    ):  # fmt: skip
        error = (await client.get(f"/api/{path}")).json()
        assert (error["status_code"], error["exception_cls"]) == (415, "ValueError"), path


@shows("format-head")
@pytest_twisted.ensureDeferred
async def test_head_answers_as_get_does_without_a_body(served):
    owner = await served.person("owner")
    await served.project(owner, tasks=2)
    for path in ("/api/task", "/api/category", "/api/task/1", "/", "/project/birds/"):
        get, head = await owner.get(path), await owner.request("HEAD", path)
        assert (head.status, head.body) == (get.status, b"") and get.body, path
        assert head.header("content-type") == get.header("content-type")
