"""Projects on home and shards, for tests of moves and of what home shows."""

from __future__ import annotations

import itertools

from twisted.internet.threads import deferToThread

from crowdd.storage.server.shards import moving
from crowdd.storage.server.shards.moving import Session

NAMES = (f"moths{n}" for n in itertools.count())


async def moved(node, mover, owner, *, tasks=2, to=1, **task):
    """A published project on a shard."""
    project = await node.project(owner, next(NAMES), tasks=tasks, **task)
    await deferToThread(mover.move, project["id"], to)
    forget(node)
    answer = await owner.post(f"/project/{project['short_name']}/publish", json={})
    assert answer.status == 200, answer.body
    return project


def forget(node):
    """As if the seconds had passed for which a server goes by what it was told."""
    locations = node.server._root._locations
    for known in (locations._by_id, locations._by_name, locations._of_row):
        known._kept.clear()


async def finished_project(node, tasks=3):
    """A paused project with answers, results, events, a lease, and answers that late volunteers may give."""
    owner = await node.person(f"owner_{next(NAMES)}")
    project = await node.project(owner, next(NAMES), tasks=tasks, published=True)
    project["owner"] = owner
    for _ in range(2):
        volunteer = node.client()
        for _ in range(tasks):
            await answer(volunteer, project)
    project["volunteer"] = node.client()
    await owner.post("/api/task", json={"project_id": project["id"], "info": {"n": "last"}})
    project["leased"] = (await project["volunteer"].get(f"/api/project/{project['id']}/newtask")).json()["id"]
    paused = await owner.post(f"/project/{project['short_name']}/pause", json={})
    assert paused.status == 200, paused.body
    await deferToThread(settle, node, project["id"])
    return project


def settle(node, project_id):
    """Folds its counters, which a move does, too."""
    session = Session(node.server._settings.db.dsn)
    moving.settle(session, project_id)
    session.close()


async def answer(volunteer, project):
    """One task, answered."""
    await volunteer.get(f"/project/{project['short_name']}/")
    task = (await volunteer.get(f"/api/project/{project['id']}/newtask")).json()
    run = {"project_id": project["id"], "task_id": task["id"], "info": {"seen": 1}}
    response = await volunteer.post("/api/taskrun", json=run)
    assert response.status == 200, response.body
    return response.json()


def rows_of(clusters, name, project_id):
    """How many rows of a project each table of a database has."""
    session = Session(clusters.dsn(name))
    try:
        return {table: summary.rows for table, summary in moving.sums(session, project_id).items() if summary.rows}
    finally:
        session.close()
