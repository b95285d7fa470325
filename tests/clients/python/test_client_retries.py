"""Lost connections, busy servers and rate limits: what is sent again, how often, and after which time."""

from __future__ import annotations

import random
import time

import pytest
import pytest_twisted
from crowdd_client import Client, ConnectionLostError, ForbiddenError, RateLimitError, Retries, ServerError
from crowdd_client.retries import Waiting, seconds
from support.servers.breaking_proxy import LOSE_REQUEST, LOSE_RESPONSE
from twisted.internet.threads import deferToThread


@pytest.fixture
def waits():
    """Seconds that the client would have slept."""
    return []


@pytest.fixture
def through(proxy, owner, waits):
    """A client behind the proxy, which does not sleep."""
    with Client(proxy.url, owner.key, wait=waits.append, retries=Retries(attempts=4, first=1, longest=3)) as made:
        yield made


def test_a_lost_connection_is_tried_again_until_it_works(through, proxy, waits, project):
    proxy.plan = [LOSE_REQUEST, LOSE_RESPONSE, (503, ""), "pass"]
    assert through.project(project.short_name).id == project.id
    assert proxy.seen[4:] == ["GET /api/token"] and len(waits) == 3, "the key is proven once"
    assert 0.5 <= waits[0] <= 1 <= waits[1] <= 2 and 1.5 <= waits[2] <= 3


def test_after_so_many_attempts_it_gives_up(through, proxy, waits):
    proxy.plan = [LOSE_REQUEST] * 9
    with pytest.raises(ConnectionLostError):
        list(through.projects())
    assert len(proxy.seen) == 4 and len(waits) == 3
    proxy.plan = [(503, "")] * 9
    with pytest.raises(ServerError, match="Later"):
        list(through.projects())
    assert len(proxy.seen) == 8


def test_what_was_created_is_not_created_again(through, proxy, new_name):
    name = new_name()
    proxy.plan = [LOSE_RESPONSE, LOSE_REQUEST]
    made = through.create_project(name, name, "x")
    assert proxy.keys[0] and set(proxy.keys) == {proxy.keys[0]} and len(proxy.keys) == 3
    assert [project.id for project in through.projects()] == [made.id]


def test_a_post_without_a_key_is_sent_once(through, proxy, project):
    proxy.plan = [LOSE_RESPONSE]
    with pytest.raises(ConnectionLostError):
        through.request("POST", f"/api/project/{project.id}/priority", body={"priority_0": 1})
    assert len(proxy.seen) == 1
    proxy.plan = [(503, "1")]
    with pytest.raises(ServerError):
        through.request("POST", f"/api/project/{project.id}/priority", body={"priority_0": 1})


def test_a_server_that_is_not_there_is_told(waits):
    client = Client("http://127.0.0.1:9", "", wait=waits.append, retries=Retries(attempts=2))
    with client, pytest.raises(ConnectionLostError, match="could not be reached"):
        list(client.projects())
    assert len(waits) == 1


def test_an_address_that_nobody_answers_is_told_within_five_seconds(waits):
    client = Client("http://127.0.0.1:9", "", wait=waits.append)
    begun = time.monotonic()
    with client, pytest.raises(ConnectionLostError, match="could not be reached"):
        list(client.projects())
    assert sum(waits) <= 5 and time.monotonic() - begun < 5, "whatever Retries says"


def test_a_wrong_key_is_an_error_at_its_first_use(live_server, owner, project):
    with Client(live_server.url, "no-such-key") as client:
        for _ in range(2):
            with pytest.raises(ForbiddenError, match="does not know this key"):
                list(client.projects(all=1))
        with pytest.raises(ForbiddenError):
            client.project(project.id).export("tasks").to_polars()
    with Client(live_server.url, "") as visitor:
        list(visitor.projects(all=1))
    with Client(live_server.url, owner.key) as client:
        assert project.id in [one.id for one in client.projects()]


def test_the_time_that_the_server_asks_for_is_waited(through, proxy, waits):
    proxy.plan = [(429, "17"), (503, "9")]
    assert list(through.projects()) == []
    assert waits == [17, 9]
    proxy.plan = [(429, "1300")]
    with pytest.raises(RateLimitError):
        list(through.projects())
    assert waits == [17, 9], "longer than patience"


@pytest_twisted.ensureDeferred
async def test_the_limit_of_a_server_is_waited_for_and_then_ends(serve):
    """The real limit, of two seconds."""
    server = await serve(CROWDD_RATELIMIT_LIMIT="3", CROWDD_RATELIMIT_KEY_LIMIT="3", CROWDD_RATELIMIT_WINDOW="2")
    owner = await server.person("ada")
    waits = []

    def wait(delay):
        waits.append(delay)
        time.sleep(delay)  # the limit ends by the clock of the server

    def work():
        with Client(owner.base, owner.key, wait=wait) as client:
            return [list(client.projects()) for _ in range(5)]

    assert await deferToThread(work) == [[]] * 5
    assert waits and all(0 <= delay <= 2 for delay in waits)


def test_waits_grow_by_chance_and_end_with_the_patience():
    waiting = Waiting(Retries(attempts=100, first=1, longest=8, patience=30), random.Random(7))
    delays = []
    while (delay := waiting.after_loss()) is not None:
        delays.append(delay)
    assert sum(delays) <= 30 and all(2**n / 2 <= delay <= min(8, 2**n) for n, delay in enumerate(delays[:4]))
    assert all(4 <= delay <= 8 for delay in delays[3:])
    limited = Waiting(Retries(attempts=1, patience=30))
    assert [limited.after_status(429, "10") for _ in range(4)] == [10, 10, 10, None], "a rate limit is no failure"
    assert [seconds(text) for text in ("12", None, "Thu, 01 Jan 2026 00:00:00 GMT", "-1", "1.5")] == [
        12,
        None,
        None,
        None,
        None,
    ]
