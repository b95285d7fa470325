"""The network between crowdd and PostgreSQL drops everything for a while: nobody hangs, nothing is lost or done twice."""

from __future__ import annotations

import psycopg2
import pytest
import pytest_twisted
from psycopg2.extensions import parse_dsn
from support.outside.silent_line import SilentLine
from support.until import until
from twisted.internet import reactor
from twisted.internet.defer import ensureDeferred, gatherResults

from crowdd.core import base
from crowdd.database import listener
from crowdd.database import locks as leadership_module
from crowdd.database.connector import noticing_silence
from crowdd.database.locks import Leadership
from crowdd.database.pool import Pool
from crowdd.kernel.concurrency.timing import deadline
from crowdd.kernel.errors import UnavailableError

ANSWER_TIMEOUT = 0.3


@pytest_twisted.async_yield_fixture
async def line(dsn):
    made = SilentLine(dsn)
    yield made
    await made.close()


@pytest_twisted.async_yield_fixture
async def quick(line):
    """A pool on the line, that waits for an answer no longer than a moment."""
    made = Pool(reactor, line.dsn, size=3, timeout=1, answer_timeout=ANSWER_TIMEOUT, connect_seconds=ANSWER_TIMEOUT)
    yield await made.start()
    await made.close()


async def whole(pool):
    figures = pool.figures()
    return figures.free == figures.size


async def refused(deferred):
    with pytest.raises(UnavailableError) as error:
        await deferred
    return error.value


@pytest_twisted.ensureDeferred
async def test_statements_fail_in_time_and_the_pool_comes_back(quick, line):
    await until(lambda: whole(quick))
    line.cut()
    errors = await gatherResults(
        [ensureDeferred(refused(quick.fetch("SELECT 1 AS one"))) for _ in range(3)]
        + [ensureDeferred(refused(quick.transaction(lambda tx: tx.fetch("SELECT 1 AS one"))))]
    )
    # A statement that commits by itself may have taken effect, BEGIN may not.
    assert [error.uncertain for error in errors] == [True, True, True, False]
    assert quick.figures().free == quick.figures().busy == 0
    line.mend()
    await until(lambda: whole(quick))
    assert await quick.fetch("SELECT 1 AS one") == [{"one": 1}]


@pytest_twisted.ensureDeferred
async def test_a_slow_statement_within_its_time_is_left_alone(quick):
    for _ in range(3):  # the timer of the first looks while the second runs
        assert await quick.fetch("SELECT 1 AS one FROM pg_sleep(0.2)") == [{"one": 1}]
    assert (await refused(quick.fetch("SELECT FROM pg_sleep(60)"))).uncertain
    await until(lambda: whole(quick))


@pytest_twisted.ensureDeferred
async def test_without_a_limit_a_statement_may_take_long(line):
    patient = await Pool(reactor, line.dsn, size=1).start()
    assert await patient.fetch("SELECT 1 AS one FROM pg_sleep(0.5)") == [{"one": 1}]
    await patient.close()


@pytest_twisted.ensureDeferred
async def test_requests_get_503_in_time_and_what_was_confirmed_is_there(line, serve, monkeypatch):
    monkeypatch.setattr(base, "GRACE_SECONDS", 0.2)
    limits = {"CROWDD_DB_POOL_TIMEOUT": "1", "CROWDD_DB_STATEMENT_TIMEOUT": "1", "CROWDD_DB_POOL_SIZE": "3"}
    crowdd = await serve(CROWDD_DB_DSN=line.dsn, **limits)
    owner = await crowdd.person("owner")
    birds = await crowdd.project(owner, tasks=5, published=True)
    await until(lambda: whole(crowdd.database))
    client = crowdd.client()
    line.cut()
    line.forget_clients()
    asked = [client.get("/api/project"), client.get("/")]
    asked += [owner.put(f"/api/project/{birds['id']}", json={"description": str(n)}) for n in range(4)]
    began = reactor.seconds()
    answers = await gatherResults([ensureDeferred(each) for each in asked])
    assert {answer.status for answer in answers} == {503}
    assert all(answer.header("retry-after").isdigit() for answer in answers)
    assert reactor.seconds() - began < 30, "a minute is what hangs"
    assert (await client.get("/health")).status == 200
    ready = await client.get("/ready")
    assert ready.status == 503 and ready.json()["checks"]["database"] != "ok"
    line.mend()

    async def back():
        return (await client.get("/ready")).status == 200

    await until(back)
    await until(lambda: whole(crowdd.database))
    shown = (await client.get(f"/api/project/{birds['id']}")).json()
    assert shown["description"] == birds["description"], "what was refused before it was sent was not done"
    done = await owner.put(f"/api/project/{birds['id']}", json={"description": "back"})
    assert (done.status, done.json()["description"]) == (200, "back")


@pytest_twisted.ensureDeferred
async def test_leadership_is_given_up_before_another_can_have_it(line, dsn, monkeypatch):
    monkeypatch.setattr(leadership_module, "PROOF_SECONDS", 0)
    monkeypatch.setattr(leadership_module, "ANSWER_TIMEOUT", ANSWER_TIMEOUT)
    old, new = Leadership(reactor, line.dsn, "deliveries"), Leadership(reactor, dsn, "deliveries")
    assert await old.seek() and not await new.seek()
    assert await old.seek(), "it proves that its session is alive"
    line.cut()
    await refused(ensureDeferred(old.seek()))
    assert not old.held
    assert not await new.seek(), "PostgreSQL has not noticed yet"
    line.forget_clients()
    await until(lambda: ensureDeferred(new.seek()))
    line.mend()
    assert not await old.seek() and not old.held and new.held
    new.close()
    await until(lambda: ensureDeferred(old.seek()))
    old.close()


def test_a_leader_knows_it_sooner_than_postgresql_gives_its_lock_away():
    before_release = 10 + 5 * 3  # KEEPALIVES of each session
    look = 1  # of the deliverer
    assert look + leadership_module.PROOF_SECONDS + leadership_module.ANSWER_TIMEOUT < before_release


@pytest_twisted.ensureDeferred
async def test_notifications_that_were_missed_are_asked_for(quick, line, dsn, monkeypatch):
    monkeypatch.setattr(listener, "ANSWER_TIMEOUT", ANSWER_TIMEOUT)
    heard = []
    quick.add_observer(lambda channel, payload: heard.append(payload))
    await quick.listen("birds")
    line.cut()
    with psycopg2.connect(dsn) as other, other.cursor() as cursor:
        cursor.execute("NOTIFY birds, 'eagle'")
    other.close()
    await refused(ensureDeferred(quick.notify("birds", "wren")))
    line.mend()
    await until(lambda: heard)
    assert heard[-1] == "", "everybody looks for themselves"
    await until(lambda: _notified(quick, heard))


async def _notified(pool, heard):
    await pool.notify("birds", "owl")
    return "owl" in heard


@pytest.mark.parametrize(
    ("given", "notices"),
    [
        ("host=db.example dbname=crowdd", True),
        ("postgresql://crowdd@db1.example,db2.example/crowdd?target_session_attrs=read-write", True),
        ("host=/run/postgresql,db.example", True),
        ("dbname=crowdd", True),
        ("host=/run/postgresql dbname=crowdd", False),
        ("host=no equals sign here", False),
    ],
)
def test_a_silent_network_is_noticed_except_on_this_machine(given, notices):
    made = noticing_silence(given)
    if not notices:
        assert made == given
        return
    words = parse_dsn(made)
    assert words["keepalives_idle"] == "5" and words["tcp_user_timeout"] == "11000"
    assert {name: words[name] for name in parse_dsn(given)} == parse_dsn(given)


def test_what_a_dsn_says_of_it_counts():
    assert parse_dsn(noticing_silence("host=db.example keepalives_idle=60"))["keepalives_idle"] == "60"


@pytest_twisted.ensureDeferred
async def test_a_download_does_not_wait_for_ever_to_begin(line, serve, monkeypatch):
    """Its connections have no limit for a statement, but one for their beginning."""
    crowdd = await serve(CROWDD_DB_DSN=line.dsn)
    line.cut()
    apart = crowdd.server._pools.apart
    monkeypatch.setattr(apart, "_seconds", 0.5)
    with deadline(reactor, 30, line.mend):
        assert not (await refused(ensureDeferred(apart.transaction(lambda tx: tx.fetch("SELECT 1"))))).uncertain
    line.mend()
