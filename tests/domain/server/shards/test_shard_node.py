"""A server over several databases: each project is served where it lives, and rights hold at once."""

import pytest
import pytest_twisted
from support.importing import bring
from support.listening import listen
from support.replication.shard_projects import NAMES, moved
from support.servers.served import Served
from support.until import until
from twisted.internet import reactor
from twisted.internet.defer import ensureDeferred, gatherResults
from twisted.internet.threads import deferToThread

ID = 1_000_000_000_000


@pytest_twisted.ensureDeferred
async def test_a_project_is_served_where_it_lives(node, mover, clusters):
    owner = await node.person("ada")
    project = await moved(node, mover, owner)
    ids, name = project["tasks"], project["short_name"]
    assert clusters.fetch("one", "SELECT count(*) FROM task WHERE project_id = %s", project["id"]) == [(2,)]
    assert clusters.fetch("home", "SELECT count(*) FROM task WHERE project_id = %s", project["id"]) == [(0,)]
    volunteer = node.client()
    task = (await volunteer.get(f"/api/project/{project['id']}/newtask")).json()
    assert task["id"] in ids
    answer = await volunteer.post("/api/taskrun", json={"project_id": project["id"], "task_id": task["id"], "info": 1})
    assert answer.status == 200 and answer.json()["id"] > ID, answer.body
    response = await owner.get(f"/api/taskrun?project_id={project['id']}")
    assert [run["info"] for run in response.json()] == [1]
    assert (await owner.get(f"/api/task/{task['id']}")).json()["id"] == task["id"]
    for page in ("", "/tasks/browse", "/stats", "/settings", f"/task/{task['id']}"):
        assert (await owner.page(f"/project/{name}{page}")).status == 200, page
    made = await owner.post("/api/task", json={"project_id": project["id"], "info": {"n": 9}})
    assert made.status == 200 and made.json()["id"] > ID
    assert (await owner.get("/api/task?limit=20")).status == 400


@pytest_twisted.ensureDeferred
async def test_what_home_says_of_an_account_holds_on_a_shard_at_once(node, mover, clusters):
    owner, admin = await node.person("eve"), await node.person("root", admin=True)
    project = await moved(node, mover, owner, tasks=1)
    change = {"description": "Another."}
    assert (await owner.put(f"/api/project/{project['id']}", json=change)).status == 200
    clusters.fetch("one", "ALTER SUBSCRIPTION crowdd_shared_1 DISABLE")  # the shard hears of nothing
    try:
        blocked = await admin.post(f"/admin/users/block/{owner.user_id}", json={})
        answer = await owner.put(f"/api/project/{project['id']}", json=change)
        assert answer.status == 401, (blocked.status, answer.body)
        newcomer = await node.person("new")
        late = await newcomer.get(f"/api/project/{project['id']}/newtask")
        assert late.status == 503 and late.header("Retry-After") == "1"
    finally:
        clusters.fetch("one", "ALTER SUBSCRIPTION crowdd_shared_1 ENABLE")

    async def served():
        return (await newcomer.get(f"/api/project/{project['id']}/newtask")).status == 200

    await until(served)  # PostgreSQL begins to receive again within seconds


@pytest_twisted.ensureDeferred
async def test_a_new_key_and_a_lock_count_at_the_next_request(node, mover):
    owner, admin = await node.person("locker"), await node.person("chief", admin=True)
    project = await moved(node, mover, owner, tasks=1)
    path, stranger = f"/api/project/{project['id']}", node.client()
    assert (await stranger.get(f"{path}/newtask")).status == 200
    locked = {"btn": "Password", "protect": True, "password": "sesame"}
    changed = await owner.post(f"/project/{project['short_name']}/update", json=locked)
    assert changed.status == 200, changed.body
    assert (await stranger.get(f"{path}/newtask")).status == 403
    old = node.client(owner.key)
    assert (await old.put(path, json={"description": "Mine."})).status == 200
    assert (await owner.post("/account/locker/resetapikey", json={})).status == 200
    assert (await old.put(path, json={"description": "Not mine."})).status == 401
    assert (await admin.put(path, json={"description": "The administrator's."})).status == 200


@pytest_twisted.ensureDeferred
async def test_two_requests_of_a_newcomer_at_once_are_served_on_a_shard(node, mover):
    owner = await node.person("twice")
    project = await moved(node, mover, owner, tasks=2)
    newcomer = await node.person("newcomer")
    both = await gatherResults(
        [ensureDeferred(newcomer.get(f"/api/project/{project['id']}/newtask")) for _ in range(2)]
    )
    assert [answer.status for answer in both] == [200, 200]


@pytest_twisted.ensureDeferred
async def test_background_tasks_and_large_bodies_reach_the_shard(node, mover):
    owner = await node.person("bulk")
    project = await moved(node, mover, owner, tasks=1)
    rows = [{"project_id": project["id"], "info": {"text": "x" * 3000}} for _ in range(100)]
    made = await owner.post("/api/task", json=rows)
    assert made.status == 200 and len(made.json()) == 100, made.body[:300]
    ids = [task["id"] for task in made.json()]
    assert (await owner.get(f"/api/task/{ids[-1]}")).json()["info"] == rows[0]["info"]
    (item,) = await node.server._shards[0].pool.fetch(
        "INSERT INTO queue_item (name, arguments, project_id, user_id, admin, via, created, due)"
        " VALUES ('import_tasks', '{}', %(project)s, %(user)s, false, 'api', clock(), clock() + interval '1 day') RETURNING id",
        {"project": project["id"], "user": owner.user_id},
    )
    response = await owner.get(f"/api/queue/{item['id']}")
    assert response.status == 200 and response.json()["id"] == item["id"], response.body
    await node.server._shards[0].pool.execute("DELETE FROM queue_item WHERE id = %(id)s", {"id": item["id"]})


@pytest.mark.proof
@pytest_twisted.ensureDeferred
async def test_while_a_shard_is_down_others_are_served_and_it_comes_back_by_itself(node, mover, clusters, sharded):
    owner = await node.person("patient")
    away, here = (
        await moved(node, mover, owner, tasks=1),
        await node.project(owner, next(NAMES), tasks=1, published=True),
    )

    async def states(base):
        asked = [await base.client().get(f"/api/project/{project['id']}/newtask") for project in (away, here)]
        return [answer.status for answer in asked]

    await deferToThread(clusters.others.stop, "fast")
    later = Served(reactor, sharded)  # it starts without the shards
    try:
        assert await states(node) == [503, 200]
        await later.start()
        assert await states(later) == [503, 200]
    finally:
        await deferToThread(clusters.others.start)

    async def both_serve():
        return await states(node) == await states(later) == [200, 200]

    try:
        await until(both_serve)
    finally:
        await later.stop()


@pytest.mark.proof
@pytest_twisted.ensureDeferred
async def test_people_who_watch_a_project_on_a_shard_see_answers_and_its_owner_gets_events_in_order(node, mover):
    owner, helper = await node.person("watched"), await node.person("doer")
    project = await moved(node, mover, owner, tasks=2, n_answers=1)
    name = project["short_name"]
    state = await listen(node.client(), f"/project/{name}/live")
    assert (await state.next()).data["n_task_runs"] == 0
    events = await listen(owner, f"/project/{name}/events?after=0")
    assert (await events.next()).data == {"sequence": 0}
    for _ in range(2):
        await answered(helper, project)
    while (await state.next()).data["n_task_runs"] < 2:
        pass
    heard = [await events.next() for _ in range(3)]
    assert [(event.name, event.id) for event in heard] == [
        ("task_completed", "1"),
        ("task_completed", "2"),
        ("project_completed", "3"),
    ]
    state.leave()
    events.leave()


async def answered(volunteer, project):
    """One task, answered."""
    task = (await volunteer.get(f"/api/project/{project['id']}/newtask")).json()
    run = {"project_id": project["id"], "task_id": task["id"], "info": 1}
    assert (await volunteer.post("/api/taskrun", json=run)).status == 200


@pytest.mark.proof
@pytest_twisted.ensureDeferred
async def test_a_task_file_is_imported_into_a_project_on_a_shard_and_exported_again(node, mover):
    owner = await node.person("importer")
    project = await moved(node, mover, owner, tasks=1)
    name, long = project["short_name"], "x" * 1000
    rows = "".join(f"{n},{long}\n" for n in range(300)).encode()
    sent = await bring(owner, b"n,text\n" + rows, at=f"/project/{name}/tasks/import")
    assert sent["status"] == "success", sent

    async def imported():
        return (await owner.get(f"/api/project/{project['id']}")).json()["n_tasks"] == 301

    await until(imported)
    exported = await owner.get(f"/project/{name}/tasks/export?type=task&format=csv")
    assert exported.status == 200 and exported.text.count(long) == 600  # in info and as a column
