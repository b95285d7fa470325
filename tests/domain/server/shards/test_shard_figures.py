"""What home shows of projects on shards: lists, search, scores; and what goes when a project is deleted there."""

from types import SimpleNamespace

import attrs
import pytest
import pytest_twisted
from support.replication.shard_projects import answer, finished_project, forget, moved
from twisted.internet import reactor
from twisted.internet.defer import ensureDeferred, gatherResults, succeed
from twisted.internet.threads import deferToThread

from crowdd.domain.core.exposure import Exposure
from crowdd.domain.server.shards.figures import FiguresHome, RightsHome
from crowdd.errors import UnavailableError
from crowdd.sched.tasks.delete_account import HANDLER
from crowdd.storage.connections.pool import Pool
from crowdd.storage.server.shards import figures


async def told(node, number=1):
    """Home has heard of everything, and all is folded."""
    shard = next(each for each in node.server._shards if each.number == number)
    for db in (shard.pool, node.database):
        while (await db.fetch("SELECT fold_stats(clock()) AS n"))[0]["n"]:
            pass
    await FiguresHome(node.database, shard.pool, number).tell()
    while (await node.database.fetch("SELECT fold_stats(clock()) AS n"))[0]["n"]:
        pass


async def differences(db):
    """What a recount of scores finds."""
    return await db.fetch("SELECT * FROM check_people(NULL, clock()) WHERE what = 'person_stat.runs'")


@pytest_twisted.ensureDeferred
async def test_lists_and_scores_of_home_count_answers_on_shards(node, mover):
    owner, helper = await node.person("lister"), await node.person("helper")
    project = await moved(node, mover, owner, tasks=3, n_answers=1)
    for _ in range(2):
        await answer(helper, project)
    await owner.put(f"/api/project/{project['id']}", json={"description": "Quite another sentence."})
    await told(node)
    (listed,) = (await owner.get(f"/api/project?name={project['name']}")).json()
    assert listed["description"] == "Quite another sentence."
    response = await node.client().page("/project/search?q=another+sentence")
    shown = [each for each in response.json()["projects"] if each["short_name"] == project["short_name"]]
    assert [(each["n_tasks"], each["n_completed_tasks"]) for each in shown] == [(3, 2)]
    state = "SELECT trial, paused FROM project_ledger WHERE project_id = %(id)s"
    assert await node.database.fetch(state, {"id": project["id"]}) == [{"trial": False, "paused": False}]
    scores = await node.database.fetch("SELECT runs FROM person_stat WHERE user_id = %(id)s", {"id": helper.user_id})
    assert scores == [{"runs": 2}]
    await told(node)  # to be told twice changes nothing
    assert (
        await node.database.fetch("SELECT runs FROM person_stat WHERE user_id = %(id)s", {"id": helper.user_id})
        == scores
    )
    assert await differences(node.database) == [] and await differences(node.server._shards[0].pool) == []


async def found_by(client, words):
    """The short names that a search at home finds."""
    page = await client.page(f"/project/search?q={words}")
    assert page.status == 200, page.body
    return [each["short_name"] for each in page.json()["projects"]]


@pytest_twisted.ensureDeferred
async def test_home_shows_at_once_what_shards_hide_and_change(node, mover):
    owner, stranger = await node.person("keeper"), node.client()
    project = await moved(node, mover, owner, tasks=1)
    address, name = f"/api/project/{project['id']}", project["short_name"]
    assert (await owner.put(address, json={"description": "About hedgehogs."})).status == 200
    assert await found_by(stranger, "hedgehogs") == [name]
    assert (await owner.put(address, json={"description": "About otters."})).status == 200
    assert await found_by(stranger, "hedgehogs") == [] and await found_by(stranger, "otters") == [name]
    assert (await owner.delete(address)).status == 204
    assert await found_by(stranger, "otters") == []


@pytest_twisted.ensureDeferred
async def test_only_one_tells_at_a_time_so_nothing_older_comes_last(node, mover):
    owner = await node.person("teller")
    project = await moved(node, mover, owner, tasks=1)
    shard = node.server._shards[0]
    tells = FiguresHome(node.database, shard.pool, 1)

    async def change_while_nobody_tells(tx):
        await figures.be_the_only_one(tx)
        telling = [ensureDeferred(tells.tell_rights()) for _ in range(2)]
        assert (await owner.put(f"/api/project/{project['id']}", json={"description": "The last."})).status == 200
        assert not any(each.called for each in telling)
        return telling

    await gatherResults(await shard.behind.db.transaction(change_while_nobody_tells))
    row = await node.database.fetch("SELECT description FROM project WHERE id = %(id)s", {"id": project["id"]})
    assert row == [{"description": "The last."}]


@pytest_twisted.ensureDeferred
async def test_pages_of_home_do_not_wait_for_a_shard_that_is_down(node, tmp_path):
    gone = Pool(reactor, f"host={tmp_path} dbname=gone", size=1, timeout=0.2)
    gone.start().addErrback(lambda failure: None)
    exposure = Exposure(gone, node.services.new_batcher)
    rights = RightsHome(reactor, exposure, FiguresHome(node.database, gone, 7))
    try:
        await rights.require()
        silent_until = rights._silent_until
        assert silent_until > reactor.seconds()
        await rights.require()
        assert rights._silent_until == silent_until  # it was not asked again
    finally:
        await gone.close()


@pytest.mark.proof
@pytest_twisted.ensureDeferred
async def test_a_move_moves_the_scores_and_counts_nothing_twice(node, mover):
    owner, helper = await node.person("mover"), await node.person("scorer")
    project = await node.project(owner, "scored", tasks=2, published=True, n_answers=1)
    await answer(helper, project)
    await owner.post("/project/scored/pause", json={})
    for target in (1, 2):
        await deferToThread(mover.move, project["id"], target)
        forget(node)
        await told(node, 1)
        await told(node, 2)
        runs = await node.database.fetch("SELECT runs FROM person_stat WHERE user_id = %(id)s", {"id": helper.user_id})
        assert runs == [{"runs": 1}]
    assert await differences(node.database) == []


@pytest_twisted.ensureDeferred
async def test_a_project_that_is_deleted_on_its_shard_goes_from_home_and_its_name_is_free(node, mover, clusters):
    project = await finished_project(node, tasks=1)
    await deferToThread(mover.move, project["id"], 1)
    forget(node)
    owner, name = project["owner"], project["short_name"]
    assert (await owner.put(f"/api/project/{project['id']}", json={"short_name": "elsewhere"})).status == 415
    assert (await owner.delete(f"/api/project/{project['id']}")).status == 204
    await told(node)
    assert clusters.fetch("home", "SELECT count(*) FROM project WHERE id = %s", project["id"]) == [(0,)]
    forget(node)
    assert (await node.project(owner, name))["short_name"] == name


@pytest_twisted.ensureDeferred
async def test_a_deleted_account_leaves_no_answers_on_shards(node, mover, clusters):
    owner, leaver = await node.person("stays"), await node.person("leaves")
    project = await moved(node, mover, owner, tasks=1, n_answers=1)
    await answer(leaver, project)
    refused = await leaver.post("/account/leaves/export", json={})
    assert refused.status == 415 and "several databases" in refused.text
    services = node.services
    item = SimpleNamespace(arguments={"user_id": leaver.user_id}, progress=lambda done: succeed(None))
    with pytest.raises(UnavailableError):
        await HANDLER.run(attrs.evolve(services, shards=[]), item)
    await HANDLER.run(services, item)
    for name in ("home", "one"):
        assert clusters.fetch(name, "SELECT count(*) FROM account WHERE id = %s", leaver.user_id) == [(0,)]
        assert clusters.fetch(name, "SELECT count(*) FROM task_run WHERE user_id = %s", leaver.user_id) == [(0,)]
    assert clusters.fetch("one", "SELECT count(*) FROM task_run WHERE project_id = %s", project["id"]) == [(1,)]
