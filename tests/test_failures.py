"""What happens to PostgreSQL, to the configuration and to the line, and who is harmed by it: nobody else."""

from __future__ import annotations

import attrs
import psycopg2
import pytest
import pytest_twisted
from support import wire
from support.checks.shows import shows
from support.servers.database_switch import Switch
from support.servers.served import Served
from support.until import until
from twisted.internet import reactor
from twisted.internet.defer import ensureDeferred, gatherResults
from twisted.logger import globalLogPublisher

from crowdd import app
from crowdd.http.edge import channel, site
from crowdd.kernel import errors
from crowdd.kernel.config.limits import RateLimitSettings
from crowdd.kernel.config.server import SiteSettings
from crowdd.sched import job, job_runner, queue_worker


def ready(client, wanted=True):
    async def ask():
        answer = await client.get("/ready")
        return answer.json()["ready"] is wanted and answer

    return ask


@pytest.fixture
def switch(postgres, dsn, tmp_path):
    """The database behind a switch; as it was at the end."""
    made = Switch(postgres, dsn, tmp_path)
    yield made
    made.alter("RESET ALL")
    made.alter("CONNECTION LIMIT -1")


async def begin(switch, serve):
    """crowdd behind the switch, with as many connections as usual, with an owner and their project."""
    settings = {"CROWDD_DB_POOL_TIMEOUT": "1", "CROWDD_DB_STATEMENT_TIMEOUT": "2", "CROWDD_DB_POOL_SIZE": "8"}
    served = await serve(CROWDD_DB_DSN=switch.dsn, **settings)
    served.owner = await served.person("owner")
    served.birds = await served.project(served.owner, tasks=5, published=True)
    await until(lambda: complete(served))
    return served


async def complete(served):
    """Whether the pool has opened all its connections: one that is under way would outlive the end of the others."""
    figures = served.database.figures()
    return figures.free + figures.busy == figures.size


def write(served, words="eagle"):
    return served.owner.put(f"/api/project/{served.birds['id']}", json={"description": words})


@pytest_twisted.ensureDeferred
async def test_postgresql_away_at_the_start_is_told_and_waited_for(switch, settings, monkeypatch):
    monkeypatch.setattr(app, "SILENT_SECONDS", 0.1)
    switch.off()
    served = Served(reactor, attrs.evolve(settings, db=attrs.evolve(settings.db, dsn=switch.dsn)))
    await served.start_without_database()
    client = served.client()
    assert (await client.get("/health")).status == 200
    waiting = await client.get("/ready")
    assert (waiting.status, waiting.json()["ready"]) == (503, False)
    refused = await client.get("/api/project")
    assert (refused.status, refused.header("retry-after"), refused.json()["status_code"]) == (503, "5", 503)
    assert "starting" in (await client.get("/")).text
    switch.on()
    await until(ready(client))
    assert (await client.get("/api/project")).json() == []
    await served.stop()


@shows("error-database")
@pytest_twisted.ensureDeferred
async def test_postgresql_away_in_the_middle(switch, serve):
    crowdd = await begin(switch, serve)
    client = crowdd.client()
    switch.off()
    asked = (client.get("/api/project"), client.get("/"), write(crowdd), client.get("/ready"), client.get("/metrics"))
    *refused, readiness, figures = await gatherResults([ensureDeferred(each) for each in asked])
    assert [answer.status for answer in refused] == [503] * 3
    assert all(answer.header("retry-after").isdigit() for answer in refused)
    assert (await client.get("/health")).status == 200
    assert readiness.status == 503 and readiness.json()["checks"]["database"] != "ok"
    assert "crowdd_database_up 0.0" in figures.text
    switch.on()
    await until(ready(client))
    assert (await write(crowdd, "back")).json()["description"] == "back"


@pytest.fixture
def told_of_work():
    """What the log says of the queue's and the jobs' waiting, each as what and whether it waits."""
    lines = []

    def observe(event):
        if event.get("log_namespace") == job.__name__:
            lines.append((event["what"], event["log_format"].endswith("{error}")))

    globalLogPublisher.addObserver(observe)
    yield lines
    globalLogPublisher.removeObserver(observe)


@pytest_twisted.ensureDeferred
async def test_a_read_only_database_is_read_and_what_waits_is_told_once(switch, serve, told_of_work, monkeypatch):
    monkeypatch.setattr(queue_worker, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(job_runner, "wait_after", lambda period, failures: 0.01 if failures else period)
    crowdd = await begin(switch, serve)
    switch.alter("SET default_transaction_read_only = on")
    client = crowdd.client()

    async def told():
        return "no changes" in (await client.get("/ready")).json()["checks"]["database"]

    await until(told)
    shown = await client.get("/api/project")
    assert (shown.status, len(shown.json())) == (200, 1)
    refused = await write(crowdd)
    assert (refused.status, refused.json()["error_code"]) == (503, "unavailable")
    assert "takes no changes" in refused.json()["exception_msg"]

    async def both():
        return {what for what, waits in told_of_work if waits} == {"queue", "periodic jobs"}

    await until(both)
    switch.alter("RESET default_transaction_read_only")
    await until(ready(client))
    assert (await write(crowdd)).status == 200

    async def over():
        return {what for what, waits in told_of_work if not waits} == {"queue", "periodic jobs"}

    await until(over)
    for what in ("queue", "periodic jobs"):
        waiting = [waits for what_, waits in told_of_work if what_ == what]
        assert waiting == [True, False] * (len(waiting) // 2)


@pytest_twisted.ensureDeferred
async def test_a_postgresql_that_takes_few_connections_is_lived_with(switch, serve):
    crowdd = await begin(switch, serve)
    switch.alter("CONNECTION LIMIT 6")
    client = crowdd.client()

    async def works():
        return (await client.get("/api/project")).status == 200

    async def few():
        now = crowdd.database.figures()
        return 0 < now.free + now.busy < now.size and await works()

    await until(few)
    switch.alter("CONNECTION LIMIT -1")
    await until(works)

    async def whole():
        now = crowdd.database.figures()
        return now.free + now.busy == now.size

    await until(whole)


@pytest_twisted.ensureDeferred
async def test_five_connections_are_enough_to_start(switch, serve):
    switch.alter("CONNECTION LIMIT 5")
    crowdd = await serve(CROWDD_DB_DSN=switch.dsn)
    crowdd.owner = await crowdd.person("owner")
    crowdd.birds = await crowdd.project(crowdd.owner)
    assert (await write(crowdd)).status == 200


@pytest_twisted.ensureDeferred
async def test_a_slow_postgresql_holds_up_who_needs_what_is_slow_alone(dsn, switch, serve):
    crowdd = await begin(switch, serve)
    blocking = psycopg2.connect(dsn)
    with blocking.cursor() as cursor:
        cursor.execute("LOCK TABLE category IN ACCESS EXCLUSIVE MODE")
    client = crowdd.client()
    slow = [ensureDeferred(client.get("/api/category")) for _ in range(4)]
    assert (await client.get("/api/project")).status == 200
    assert (await client.get("/health")).status == 200
    answers = await gatherResults(slow)
    assert {answer.status for answer in answers} == {503} and all(a.header("retry-after") for a in answers)
    blocking.close()
    assert (await client.get("/api/category")).status == 200


class TestSettingsReadAgain:
    @pytest_twisted.ensureDeferred
    async def test_they_count_from_the_next_request_on(self, served, settings):
        client = served.client()
        assert (await client.get("/api/category")).header("x-ratelimit-limit") is None
        again = attrs.evolve(
            settings,
            ratelimit=RateLimitSettings(limit=5),
            site=SiteSettings(name="Other birds"),
            http=attrs.evolve(settings.http, max_body_bytes=100),
        )
        served.server.prepared(again)()
        limited = await client.get("/api/category")
        assert (limited.header("x-ratelimit-limit"), limited.header("x-ratelimit-remaining")) == ("5", "4")
        assert "Other birds" in (await client.get("/")).text
        assert (await client.post("/api/project", json={"name": "x" * 200})).status == 413

    @pytest_twisted.ensureDeferred
    async def test_what_was_counted_counts(self, serve, settings):
        served = await serve(CROWDD_RATELIMIT_LIMIT="10", CROWDD_RATELIMIT_WINDOW="86400")
        client = served.client()
        for _ in range(4):
            await client.get("/api/category")
        limits = RateLimitSettings(limit=5, window=86400)
        served.server.prepared(attrs.evolve(served.server._settings, ratelimit=limits))()
        assert [(await client.get("/api/category")).status for _ in range(2)] == [200, 429]

    @pytest_twisted.ensureDeferred
    async def test_a_certificate_that_is_not_there_changes_nothing(self, served, settings):
        root = served.server._site.resource
        broken = attrs.evolve(settings, http=attrs.evolve(settings.http, tls_certificate="/nowhere/cert.pem"))
        with pytest.raises(errors.ConfigError, match="tls_certificate"):
            served.server.prepared(broken)
        assert served.server._site.resource is root

    def test_what_is_fixed_is_told_and_stays(self, settings):
        moved = attrs.evolve(settings, http=attrs.evolve(settings.http, port=9, shutdown_timeout=1))
        now, fixed = moved.with_fixed_of(settings)
        assert fixed == ["[http] port"]
        assert (now.http.port, now.http.shutdown_timeout) == (settings.http.port, 1)


class TestTheLine:
    """Clients that never end what they began."""

    @pytest.fixture(autouse=True)
    def soon(self, monkeypatch):
        monkeypatch.setattr(channel, "HEAD_SECONDS", 0.3)
        monkeypatch.setattr(site, "LOOK_SECONDS", 0.1)

    async def somebody_is_cut(self, served):
        """Waits for as long as a client may take that begins now: clients that began before took longer."""
        await (await wire.connect(served.base, b"GET / HTTP/1.1\r\nX-A: ")).closed

    @pytest.mark.parametrize(
        "sent",
        [b"GET / HTTP/1.1\r\nX-A: ", b"POST /api/task HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9000000\r\n\r\n"],
    )
    @pytest_twisted.ensureDeferred
    async def test_a_trickle_is_cut_and_nobody_else_notices(self, served, sent):
        trickle = await wire.connect(served.base, sent)
        client = served.client()

        async def cut():
            trickle.transport.write(b"a")
            assert (await client.get("/health")).status == 200
            return trickle.closed.called

        await until(cut)

    @pytest_twisted.ensureDeferred
    async def test_who_sends_nothing_and_who_waits_for_an_answer_are_left_alone(self, served):
        idle = await wire.connect(served.base, b"")
        waiting = await wire.connect(served.base, b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await until(lambda: waiting.got)
        await self.somebody_is_cut(served)
        assert waiting.got.startswith(b"HTTP/1.1 200") and not idle.closed.called and not waiting.closed.called
        for one in (idle, waiting):
            one.transport.loseConnection()

    @pytest_twisted.ensureDeferred
    async def test_a_large_body_that_comes_fast_enough_is_taken(self, serve, monkeypatch):
        monkeypatch.setattr(channel, "MIN_RATE", 100)
        served = await serve()
        owner = await served.person("owner")
        head = f"POST /api/project?api_key={owner.key} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2000\r\n\r\n"
        slow = await wire.connect(served.base, head.encode())
        for _ in range(2):
            slow.transport.write(b"x" * 1000)
            await self.somebody_is_cut(served)
        await until(lambda: slow.got)
        assert slow.got.startswith(b"HTTP/1.1 415")  # it came to its end, and is no JSON
        slow.transport.loseConnection()

    @pytest_twisted.ensureDeferred
    async def test_beyond_the_most_connections_they_are_closed_at_once(self, serve):
        served = await serve(CROWDD_HTTP_MAX_CONNECTIONS="3")
        idle = [await wire.connect(served.base, b"") for _ in range(3)]
        late = await wire.connect(served.base, b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert await late.closed == b""
        idle[0].transport.loseConnection()
        await idle[0].closed
        client = served.client()
        assert (await client.get("/health")).status == 200
        for one in idle[1:]:
            one.transport.loseConnection()
