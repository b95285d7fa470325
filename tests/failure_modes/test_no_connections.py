"""Others use up all connections that PostgreSQL allows: it is said in these words, and ends by itself."""

from __future__ import annotations

import attrs
import pytest
import pytest_twisted
from support.servers.database_switch import Switch
from support.servers.served import Served
from support.until import until
from twisted.internet import reactor

from crowdd import app

WORDS = "PostgreSQL accepts no more connections."


@pytest.fixture
def switch(postgres, dsn, tmp_path):
    """The database, whose number of connections can be limited."""
    made = Switch(postgres, dsn, tmp_path)
    yield made
    made.alter("CONNECTION LIMIT -1")


@pytest_twisted.ensureDeferred
async def test_while_the_server_runs(switch, serve):
    crowdd = await serve(CROWDD_DB_DSN=switch.dsn, CROWDD_DB_POOL_TIMEOUT="1")
    owner, client = await crowdd.person("owner"), crowdd.client()
    switch.alter("CONNECTION LIMIT 0")

    async def refused():
        answer = await client.get("/api/project")
        return answer.status == 503 and answer.json()["exception_msg"] == WORDS and answer

    assert (await until(refused)).header("retry-after").isdigit()
    ready = await client.get("/ready")
    assert (ready.status, ready.json()["checks"]["database"]) == (503, WORDS)
    assert (await client.get("/health")).status == 200
    switch.alter("CONNECTION LIMIT -1")

    async def back():
        return (await client.get("/ready")).status == 200

    await until(back)
    assert (await owner.get("/api/project")).status == 200


@pytest_twisted.ensureDeferred
async def test_when_the_server_starts(switch, settings, monkeypatch):
    monkeypatch.setattr(app, "SILENT_SECONDS", 0.1)
    switch.alter("CONNECTION LIMIT 0")
    served = Served(reactor, attrs.evolve(settings, db=attrs.evolve(settings.db, dsn=switch.dsn)))
    await served.start_without_database()
    client = served.client()
    assert (await client.get("/api/project")).status == 503
    assert (await client.get("/health")).status == 200
    switch.alter("CONNECTION LIMIT -1")

    async def back():
        return (await client.get("/ready")).status == 200

    await until(back)
    assert (await client.get("/api/project")).json() == []
    await served.stop()
