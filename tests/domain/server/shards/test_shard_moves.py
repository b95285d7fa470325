"""Moving a project: all of it arrives, nobody changes it meanwhile, and an interrupted move loses nothing."""

import threading

import attrs
import psycopg2
import pytest
import pytest_twisted
from support.checks.proofs import examples
from support.replication.shard_projects import NAMES, answer, finished_project, forget, rows_of
from support.servers.receiver import Receiver
from support.until import until
from twisted.internet.defer import gatherResults
from twisted.internet.threads import deferToThread

from crowdd.domain.server.shards import moving as steps
from crowdd.errors import ConflictError
from crowdd.storage.server.shards import moving, tables
from crowdd.storage.server.shards.moving import Session

# These change on the way: they count transactions, or begin again.
ADAPTED = {"project_ledger", "change_feed", "agreement_due"}


def without_adapted(found):
    return {table: value for table, value in found.items() if table not in ADAPTED}


def sums_of(clusters, name, project_id):
    session = Session(clusters.dsn(name))
    try:
        return without_adapted(moving.sums(session, project_id))
    finally:
        session.close()


def test_every_table_is_declared_to_move_or_to_stay(clusters):
    names = {name for (name,) in clusters.fetch("home", "SELECT tablename FROM pg_tables WHERE schemaname = 'public'")}
    assert names == tables.MOVED.keys() | tables.NOT_MOVED
    assert not tables.MOVED.keys() & tables.NOT_MOVED
    sql = "SELECT relname FROM pg_class c JOIN pg_attribute a ON attrelid = c.oid WHERE attname = 'project_id' AND relkind = 'r'"
    of_projects = {name for (name,) in clusters.fetch("home", sql)}
    stay = {"api_token", "audit", "collection_item", "position", "same_person", "stat_delta"}
    assert of_projects - tables.MOVED.keys() == stay | {"project_move", "project_place", "told_project"}


@pytest_twisted.ensureDeferred
async def test_all_of_a_project_arrives_and_volunteers_go_on(node, mover, clusters):
    project = await finished_project(node)
    # A cluster that has counted more transactions.
    future = "UPDATE task_ledger SET requeued_xid = 1000000000 WHERE project_id = %s AND requeued_xid IS NOT NULL OR task_id = %s"
    clusters.fetch("home", future, project["id"], project["leased"])
    before = sums_of(clusters, "home", project["id"])
    assert before["task_run"].rows == 6 and before["result"].rows == 3 and before["event"].rows > 0
    moved = await deferToThread(mover.move, project["id"], 1)
    assert moved.rows["task_run"] == 6
    assert sums_of(clusters, "one", project["id"]) == before
    left = rows_of(clusters, "home", project["id"])
    assert left.keys() <= {*tables.CARD}
    forget(node)
    late = {"project_id": project["id"], "task_id": project["leased"], "info": "late"}
    response = await project["volunteer"].post("/api/taskrun", json=late)
    assert response.status == 200, response.body
    assert (await project["owner"].post(f"/project/{project['short_name']}/publish", json={})).status == 200
    assert (await answer(node.client(), project))["task_id"] == project["leased"]
    check = clusters.fetch(
        "one", "SET search_path = public, code; SELECT count(*) FROM check_positions(%s, now())", project["id"]
    )
    assert check == [(0,)]


@pytest.mark.proof
@pytest_twisted.ensureDeferred
async def test_a_project_to_which_nothing_was_added_comes_back_home_whole(node, mover, clusters):
    project = await finished_project(node)
    before = sums_of(clusters, "home", project["id"])
    await deferToThread(mover.move, project["id"], 1)
    forget(node)
    back = await deferToThread(mover.move, project["id"], 0)
    assert back.rows["task_run"] == 6
    # Home may number changes lower than the shard did: what counts them begins again.
    counted = {"task_run", "result", "task_ledger", "tombstone", "past_row"}
    sums = sums_of(clusters, "home", project["id"])
    assert {table: each.rows for table, each in sums.items()} == {table: each.rows for table, each in before.items()}
    assert {t: each for t, each in sums.items() if t not in counted} == {
        t: s for t, s in before.items() if t not in counted
    }
    assert rows_of(clusters, "one", project["id"]) == {}
    place = "SELECT count(*) FROM project_place WHERE project_id = %s"
    assert clusters.fetch("home", place, project["id"]) == [(0,)]
    forget(node)
    assert (await project["owner"].post(f"/project/{project['short_name']}/publish", json={})).status == 200
    late = {"project_id": project["id"], "task_id": project["leased"], "info": "late"}
    assert (await project["volunteer"].post("/api/taskrun", json=late)).status == 200
    runs = (await project["owner"].get(f"/api/taskrun?project_id={project['id']}&limit=100")).json()
    assert len(runs) == 7 and all(run["id"] < 1_000_000_000_000 for run in runs)


@pytest.fixture
def receiver():
    made = Receiver(lambda request: 503)
    yield made
    made.close()


@pytest.mark.proof
@pytest_twisted.ensureDeferred
async def test_webhooks_that_wait_are_sent_from_the_other_database(node, mover, receiver):
    owner = await node.person("hooked")
    project = await node.project(owner, next(NAMES), tasks=2, published=True, n_answers=1)
    assert (await owner.put(f"/api/project/{project['id']}", json={"webhook": receiver.url})).status == 200
    for _ in range(2):
        await answer(node.client(), project)
    await until(lambda: receiver.requests)
    assert (await owner.post(f"/project/{project['short_name']}/pause", json={})).status == 200
    await deferToThread(mover.move, project["id"], 1)
    forget(node)
    sent_from_home = len(receiver.requests)
    receiver.behave = lambda request: 204
    await until(lambda: {request.seq for request in receiver.taken} >= {1, 2, 3})
    assert len(receiver.requests) > sent_from_home
    taken = [request.seq for request in receiver.taken]
    assert taken.index(3) > max(taken.index(1), taken.index(2))  # project_completed comes after all before it


@pytest.mark.proof
@pytest_twisted.ensureDeferred
async def test_several_projects_move_at_the_same_time(node, mover, clusters):
    owner = await node.person("crowded")
    projects = [await node.project(owner, next(NAMES), tasks=2) for _ in range(4)]
    moves = [deferToThread(mover.move, project["id"], 1 + n % 2) for n, project in enumerate(projects)]
    moved = await gatherResults(moves, consumeErrors=True)
    assert [each.rows["task"] for each in moved] == [2] * 4
    for n, project in enumerate(projects):
        name = ("one", "two")[n % 2]
        assert clusters.fetch(name, "SELECT count(*) FROM task WHERE project_id = %s", project["id"]) == [(2,)]
    triggers = "SELECT count(*) FROM pg_trigger WHERE tgname LIKE 'moving\\_%'"
    assert [clusters.fetch(name, triggers) for name in ("home", "one", "two")] == [[(0,)]] * 3


@pytest_twisted.ensureDeferred
async def test_a_project_that_is_published_or_has_work_under_way_stays(node, mover, clusters):
    owner = await node.person("busy")
    project = await node.project(owner, next(NAMES), tasks=1, published=True)
    with pytest.raises(ConflictError, match="Pause it first"):
        await deferToThread(mover.move, project["id"], 1)
    await owner.post(f"/project/{project['short_name']}/pause", json={})
    await deferToThread(mover.move, project["id"], 1)
    forget(node)
    assert (await owner.post("/api/task", json={"project_id": project["id"], "info": 1})).status == 200
    with pytest.raises(ConflictError, match="larger than those"):
        await deferToThread(mover.move, project["id"], 0)
    moved = await deferToThread(mover.move, project["id"], 2)  # from a shard to another
    assert moved.rows["task"] == 2
    forget(node)
    assert len((await owner.get(f"/api/task?project_id={project['id']}")).json()) == 2
    assert rows_of(clusters, "one", project["id"]) == {}


@pytest_twisted.ensureDeferred
async def test_changes_are_refused_while_a_project_moves_and_others_go_on(node, mover, clusters, monkeypatch):
    project, other = await finished_project(node), await finished_project(node, tasks=1)
    copying, go_on = threading.Event(), threading.Event()

    def copy(*arguments):
        copying.set()
        assert go_on.wait(60)
        return original(*arguments)

    original = moving.copy
    monkeypatch.setattr(steps.moving, "copy", copy)
    moved = deferToThread(mover.move, project["id"], 1)
    try:
        assert await deferToThread(copying.wait, 60)
        late = {"project_id": project["id"], "task_id": project["leased"], "info": "late"}
        refused = await project["volunteer"].post("/api/taskrun", json=late)
        assert refused.status == 503, refused.body
        change = await project["owner"].put(f"/api/project/{project['id']}", json={"description": "New."})
        assert change.status == 503
        assert (await other["owner"].put(f"/api/project/{other['id']}", json={"description": "New."})).status == 200
        with pytest.raises(ConflictError, match="Somebody else"):
            await deferToThread(mover.move, project["id"], 1)
    finally:
        go_on.set()
    await moved
    forget(node)
    assert (await project["volunteer"].post("/api/taskrun", json=late)).status == 200


@pytest_twisted.ensureDeferred
async def test_a_copy_that_differs_is_noticed_and_the_project_stays(node, mover, clusters, monkeypatch):
    project = await finished_project(node, tasks=1)
    before, original = sums_of(clusters, "home", project["id"]), moving.copy

    def copy(source, target, project_id):
        copied = original(source, target, project_id)
        assert target.run("UPDATE task_run SET info = '0' WHERE project_id = %(id)s", {"id": project_id}) == 2
        return copied

    monkeypatch.setattr(steps.moving, "copy", copy)
    with pytest.raises(ConflictError, match="differs"):
        await deferToThread(mover.move, project["id"], 1)
    assert sums_of(clusters, "home", project["id"]) == before and rows_of(clusters, "one", project["id"]) == {}
    change = await project["owner"].put(f"/api/project/{project['id']}", json={"description": "It goes on."})
    assert change.status == 200, change.body


STOPS = ("guard", "adapt", "switch", "leave", "release")


@examples("guard", "switch")
@pytest.mark.parametrize("step", STOPS)
@pytest_twisted.ensureDeferred
async def test_a_move_that_breaks_off_anywhere_is_finished_by_the_next(node, mover, clusters, monkeypatch, step):
    project = await finished_project(node, tasks=1)
    before = rows_of(clusters, "home", project["id"])
    scores = "SELECT count(*) FROM task_run WHERE project_id = %s"
    original, broken = getattr(moving, step), []

    def breaks(*arguments, **named):
        result = original(*arguments, **named)
        if not broken:
            broken.append(step)
            raise psycopg2.OperationalError("the connection is gone")
        return result

    monkeypatch.setattr(steps.moving, step, breaks)
    with pytest.raises(psycopg2.OperationalError):
        await deferToThread(mover.move, project["id"], 1)
    monkeypatch.undo()
    place = len(clusters.fetch("home", "SELECT shard FROM project_place WHERE project_id = %s", project["id"]))
    assert clusters.fetch("one" if place else "home", scores, project["id"]) == [(2,)]  # the copy in use is whole
    await deferToThread(mover.move, project["id"], 1)
    rows = rows_of(clusters, "one", project["id"])
    assert {**rows, "change_feed": 0} == {**before, "change_feed": 0}
    assert rows_of(clusters, "home", project["id"]).keys() <= {*tables.CARD}
    assert clusters.fetch("home", "SELECT count(*) FROM project_move") == [(0,)]
    triggers = "SELECT count(*) FROM pg_trigger WHERE tgname LIKE 'moving%%'"
    assert clusters.fetch("home", triggers) == clusters.fetch("one", triggers) == [(0,)]


def test_a_mover_has_one_side_for_each_database(mover):
    assert {number: side.name for number, side in mover.sides.items()} == {0: "home", 1: "one", 2: "two"}
    assert attrs.asdict(mover.sides[1])["folder"].name == "one"
