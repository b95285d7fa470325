"""A server that was told to stop goes on answering while proxies notice, and what it had begun goes on elsewhere."""

from __future__ import annotations

import attrs
import pytest_twisted
from support.checks.shows import shows
from support.listening import listen
from support.servers.served import Served
from support.until import until
from twisted.internet import reactor
from twisted.internet.defer import ensureDeferred

EVENTS = "/project/birds/events"


@pytest_twisted.async_yield_fixture
async def draining(settings):
    """A server that drains until a test cancels ``server._noticing``; the test stops it."""
    http = attrs.evolve(settings.http, drain_delay=600)
    made = Served(reactor, attrs.evolve(settings, http=http))
    await made.start()
    yield made
    made.server._noticing.cancel()


async def answer(client, project):
    """A task asked for and answered."""
    task = (await client.get(f"/api/{project['id']}/newtask")).json()
    made = await client.post("/api/taskrun", json={"project_id": project["id"], "task_id": task["id"], "info": 1})
    assert made.status == 200, made.text


@shows("ready")
@pytest_twisted.ensureDeferred
async def test_a_server_that_drains_answers_but_is_not_ready(draining):
    served = draining
    owner = await served.person("owner")
    project = await served.project(owner, tasks=2, published=True, n_answers=1)
    before = await listen(owner, EVENTS)
    stopping = ensureDeferred(served.stop())
    await until(lambda: served.server._node.draining)
    client = served.client()
    ready = await client.get("/ready")
    assert ready.status == 503
    assert ready.json() == {"ready": False, "checks": {"server": "The server is stopping."}}
    assert ready.header("retry-after") == "5"
    assert (await client.get("/health")).status == 200
    await answer(client, project)
    late = await listen(owner, EVENTS, Last_Event_ID="0")
    assert late.status == 200, "a browser that is refused would not come back"
    assert (await late.until(lambda event: event.name == "task_completed")).id == "1"
    assert not before.ended and not stopping.called
    served.server._noticing.cancel()
    await late.until(lambda event: event.name == "restart")
    assert 1000 <= late.retry <= 4000
    await stopping
    await until(lambda: late.ended and before.ended)  # the end of a connection reaches its other side a moment later


@shows("stream-events")
@pytest_twisted.ensureDeferred
async def test_a_stream_goes_on_at_another_server_and_loses_nothing(draining, serve):
    east, west = draining, await serve()
    owner = await east.person("owner")
    project = await east.project(owner, tasks=4, published=True, n_answers=1)
    stream = await listen(owner, EVENTS, Last_Event_ID="0")
    await answer(west.client(), project)
    first = await stream.until(lambda event: event.name == "task_completed")
    stopping = ensureDeferred(east.stop())
    await until(lambda: east.server._node.draining)
    await answer(west.client(), project)  # while one drains
    second = await stream.until(lambda event: event.name == "task_completed")
    east.server._noticing.cancel()
    await stream.until(lambda event: event.name == "restart")
    await answer(west.client(), project)  # while nobody listens
    await stopping
    listener = west.client(owner.key)
    listener.open_session = owner.open_session
    again = await listen(listener, EVENTS, Last_Event_ID=second.id)
    assert (await again.next()).name == "position"
    third = await again.next()
    assert [first.id, second.id, third.id] == ["1", "2", "3"]
    again.leave()
