"""Requests that cost much take turns, from however many networks they come; all others do not wait for them."""

from __future__ import annotations

import orjson
import pytest_twisted
from support.checks.shows import shows
from twisted.internet import reactor
from twisted.internet.defer import Deferred, ensureDeferred, gatherResults
from twisted.internet.task import deferLater

from crowdd.features.tasks import statements as task_statements
from crowdd.http.edge.fair_share import LARGE_ANSWER, CostlyRequests
from crowdd.http.steps import LONG_BODY, DelayRefusals, TakeTurn
from crowdd.kernel.concurrency.throttling import Turns


class Held(Turns):
    """Turns that are taken until the test gives them back."""

    def __init__(self) -> None:
        super().__init__(reactor, 1, 60.0, rest=0.0, max_waiting_of_one=64)
        self.place: Deferred[None] = Deferred()
        self.taken = ensureDeferred(self.run("the test", lambda: self.place))


async def waiting(turns: Turns, number: int) -> None:
    end = reactor.seconds() + 10
    while len(turns._waiting) < number:
        assert reactor.seconds() < end, "it did not have to wait"
        await deferLater(reactor, 0.005)


def costly_of(served) -> CostlyRequests:
    return served.step(TakeTurn).costly


@shows("limit-costly")
@pytest_twisted.ensureDeferred
async def test_arrays_and_large_bodies_take_turns_and_others_do_not(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=2, published=True)
    costly = costly_of(served)
    held = costly.writes = Held()
    task = {"project_id": project["id"], "info": {"n": 7}}
    array = ensureDeferred(owner.post("/api/task", json=[task, task]))
    large = ensureDeferred(owner.post("/api/task", data=orjson.dumps(task) + b" " * 300_000))
    await waiting(held, 2)
    assert (await owner.post("/api/task", json=task)).status == 200
    assert (await served.client().get(f"/api/project/{project['id']}/newtask")).json()["id"] == project["tasks"][0]
    assert not array.called and not large.called
    held.place.callback(None)
    assert {answer.status for answer in await gatherResults([array, large])} == {200}


@shows("limit-costly")
@pytest_twisted.ensureDeferred
async def test_lists_of_a_route_take_turns_after_a_large_answer(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    rows = [{"project_id": project["id"], "info": {"text": "x" * 60_000}} for _ in range(LARGE_ANSWER // 60_000 + 1)]
    assert (await owner.post("/api/task", json=rows[:8])).status == 200
    assert (await owner.post("/api/task", json=rows[8:])).status == 200
    costly = costly_of(served)
    assert not costly.expects_much("/api/task"), "what was written is not what will be read"
    path = f"/api/task?project_id={project['id']}&limit=100"
    small = f"/api/task?project_id={project['id']}&limit=1"
    assert len((await owner.get(small)).body) < LARGE_ANSWER and not costly.expects_much("/api/task")
    assert len((await owner.get(path)).body) >= LARGE_ANSWER and costly.expects_much("/api/task")
    held = costly.reads = Held()
    second = ensureDeferred(owner.get(path))
    await waiting(held, 1)
    assert (await owner.get(f"/api/project?id={project['id']}")).status == 200, "another route does not wait"
    assert not second.called
    held.place.callback(None)
    assert (await second).status == 200


@shows("limit-costly")
@pytest_twisted.ensureDeferred
async def test_many_tasks_at_once_take_turns_and_never_join_a_batch(served, monkeypatch):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=30, published=True)
    batches = []
    next_tasks = task_statements.lease_next_tasks

    async def noted(db, asks, base_url, *, wait):
        batches.append([ask["maximum"] for ask in asks])
        return await next_tasks(db, asks, base_url, wait=wait)

    monkeypatch.setattr(task_statements, "lease_next_tasks", noted)
    at = f"/api/project/{project['id']}/newtask"
    clients = [served.client(**{"X-Forwarded-For": f"198.51.{n}.1"}) for n in range(4)]
    several = [ensureDeferred(client.get(f"{at}?limit=25")) for client in clients[:2]]
    one = [ensureDeferred(client.get(at)) for client in clients[2:]]
    assert [len((await answer).json()) for answer in several] == [25, 25]
    assert all(answer.json()["id"] for answer in await gatherResults(one))
    assert all(len(limits) == 1 for limits in batches if 25 in limits)


@shows("limit-costly")
@pytest_twisted.ensureDeferred
async def test_forms_of_accounts_take_turns(served):
    held = served.step(TakeTurn).account_forms = Held()
    client = served.client()
    body = {"email": "ada@example.org", "password": "not the right one"}
    answer = ensureDeferred(client.send_form("/account/signin", body))
    await waiting(held, 1)
    assert (await served.client().get("/account/signin")).status == 200, "to look at the form needs no turn"
    assert not answer.called
    held.place.callback(None)
    assert (await answer).status == 200


@pytest_twisted.ensureDeferred
async def test_refusals_of_long_bodies_come_one_after_the_other_and_others_do_not_wait(served):
    """From however many networks: a flood of them kept a processor busy."""
    delay, owner = served.step(DelayRefusals), await served.person("owner")
    project = await served.project(owner)
    held = delay.turns = Held()
    long = orjson.dumps({"title": "x", "body": "x" * LONG_BODY})
    strangers = [ensureDeferred(served.client().post("/api/blogpost", data=long)) for _ in range(3)]
    await waiting(held, 3)
    assert (await served.client().post("/api/blogpost", json={"title": "x", "body": "x"})).status == 401
    mine = {"project_id": project["id"], "info": {"text": "x" * LONG_BODY}}
    assert (await owner.post("/api/task", json=mine)).status == 200
    held._max_waiting_of_one = 3
    assert (await served.client().post("/api/blogpost", data=long)).status == 401, "no more bodies are kept"
    assert not any(stranger.called for stranger in strangers)
    held.place.callback(None)
    assert {answer.status for answer in await gatherResults(strangers)} == {401}
