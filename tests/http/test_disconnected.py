"""A client that goes while its request waits for the database."""

import socket

import orjson
import pytest
import pytest_twisted
from support.until import until
from twisted.internet.defer import Deferred, ensureDeferred
from twisted.logger import LogLevel, globalLogPublisher


@pytest.fixture
def complaints():
    """What was logged as a failure of ours."""
    events = []

    def observe(event):
        if event["log_level"] >= LogLevel.error:
            events.append(event)

    globalLogPublisher.addObserver(observe)
    yield events
    globalLogPublisher.removeObserver(observe)


@pytest_twisted.ensureDeferred
async def test_a_request_whose_client_went_before_its_turn_is_not_begun_and_no_failure(serve, complaints):
    served = await serve(CROWDD_DB_POOL_SIZE="1")
    owner = await served.person("owner")
    project = await served.project(owner)
    occupied, go_on = Deferred(), Deferred()

    async def occupy(tx):
        occupied.callback(None)
        await go_on

    occupying = ensureDeferred(served.database.transaction(occupy))
    await occupied
    body = orjson.dumps({"project_id": project["id"], "info": {}})
    head = f"POST /api/task?api_key={owner.key} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
    port = served.server._port.getHost().port
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.sendall(head.encode() + body)
        await until(lambda: served.server._site.requests and served.database.figures().waiting)
    await until(lambda: not served.server._site.requests)
    go_on.callback(None)
    await occupying
    await until(lambda: (served.database.figures().waiting, served.database.figures().busy) == (0, 0))

    assert (await owner.get("/api/task")).json() == []
    assert complaints == []
