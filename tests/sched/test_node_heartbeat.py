"""Servers show that they run: a row and a lock for each process, for as long as it lives."""

from __future__ import annotations

import contextlib

import attrs
import pytest
import pytest_twisted
from support.servers.served import Served
from support.until import until
from twisted.internet import reactor
from twisted.internet.task import Clock

import crowdd
from crowdd.core.base import make_pool
from crowdd.database import nodes
from crowdd.kernel.errors import UnavailableError
from crowdd.sched.nodes import HEARTBEAT_SECONDS, Node, NodeHeartbeat


@pytest_twisted.ensureDeferred
async def test_a_server_is_listed_while_it_runs(settings, pool):
    served = Served(reactor, attrs.evolve(settings, daemon=attrs.evolve(settings.daemon, node="east")))
    await served.start()
    row, *others = await nodes.overview(pool)
    assert others == []
    assert (row["name"], row["processes"], row["state"], row["version"]) == ("east", 1, "ready", crowdd.__version__)
    assert row["migration"] == max(served.server._node.code.known) and row["started"] <= row["seen"]
    served.server._heartbeat.drain()
    while [row["state"] for row in await nodes.overview(pool)] != ["draining"]:
        pass
    await served.stop()
    assert await nodes.overview(pool) == []


@pytest_twisted.async_yield_fixture
async def session(settings):
    """A database of one connection, as a server has it for its locks."""
    made = make_pool(reactor, settings, size=1)
    await made.start()
    yield made
    await made.close()


def heartbeat(settings, session, name="east", worker=0, node_id="", clock=None):
    named = attrs.evolve(settings, daemon=attrs.evolve(settings.daemon, node=name))
    return NodeHeartbeat(clock or Clock(), session, Node.begin(named, node_id, worker))


async def lose(session, pool):
    """Ends the connection of a session; returns when it has another one."""
    pid = "SELECT pg_backend_pid() AS pid"
    before = (await session.fetch(pid))[0]["pid"]
    await pool.fetch("SELECT pg_terminate_backend(%(pid)s)", {"pid": before})
    now = before
    while now == before:
        with contextlib.suppress(UnavailableError):
            now = (await session.fetch(pid))[0]["pid"]


@pytest_twisted.ensureDeferred
async def test_a_process_that_died_is_gone_at_once_and_its_successor_takes_its_place(settings, session, pool):
    await heartbeat(settings, session).announce()
    assert [row.name for row in await nodes.running(pool)] == ["east"]
    await lose(session, pool)
    assert await nodes.running(pool) == []
    assert [row["state"] for row in await nodes.overview(pool)] == ["gone"]
    await heartbeat(settings, session).announce()
    assert [row["state"] for row in await nodes.overview(pool)] == ["ready"]


@pytest_twisted.ensureDeferred
async def test_the_heartbeat_brings_back_lock_and_row_and_what_is_long_gone_is_removed(settings, session, pool):
    clock = Clock()
    beating = heartbeat(settings, session, clock=clock)
    await beating.announce()
    beating.startService()
    await lose(session, pool)
    await pool.execute("UPDATE node SET id = 'other', name = 'other', seen = seen - interval '2 days'")
    clock.advance(HEARTBEAT_SECONDS)
    await until(lambda: beating._loop._under_way is None)
    assert await nodes.delete_gone(pool) == 1
    rows = await nodes.overview(pool)
    assert [(row["name"], row["state"]) for row in rows] == [("east", "ready")]
    stopped = beating.stopService()
    await stopped
    assert await nodes.overview(pool) == []


@pytest_twisted.ensureDeferred
async def test_processes_of_a_server_are_one_line(settings, pool):
    sessions = [make_pool(reactor, settings, size=1) for _ in range(3)]
    names = [("east", 1, "e"), ("east", 2, "e"), ("west", 0, "w")]
    for each, (name, worker, node_id) in zip(sessions, names, strict=True):
        await each.start()
        await heartbeat(settings, each, name, worker, node_id).announce()
    rows = await nodes.overview(pool)
    assert [(row["name"], row["processes"], row["state"]) for row in rows] == [
        ("east", 2, "ready"),
        ("west", 1, "ready"),
    ]
    await sessions[0].close()
    while (await nodes.overview(pool))[0]["processes"] != 1:  # PostgreSQL notices that a moment later
        pass
    for each in sessions[1:]:
        await each.close()


@pytest.mark.parametrize("secret", ["password", "dsn", "token", "key"])
def test_nothing_secret_is_shown(secret):
    assert not any(secret in attribute.name for attribute in attrs.fields(nodes.Process))
