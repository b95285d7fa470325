"""Long reads on a streaming replica: nobody sees less there, and when it cannot be used, the primary reads."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import pytest_twisted
from support.replication.cluster import standby_of
from support.until import until
from twisted.internet.threads import deferToThread

from crowdd.database.replica import PrimaryState, Proof, ReplicaFirst, ReplicaState
from crowdd.features.operations.statements import read_replica_health
from crowdd.kernel.errors import UnavailableError

# The in-process server's replica is looked into.
pytestmark = pytest.mark.inside
THEN = datetime(2026, 1, 1, tzinfo=UTC)
LONG = "task?project_id={id}&info=n::{n}&limit=100"


@pytest.fixture(scope="module")
def standby(postgres):
    """A replica of the tests' PostgreSQL."""
    with standby_of(postgres) as running:
        yield running


@pytest.fixture
def with_replica(serve, settings, standby, postgres):
    """Starts a server that may use the replica, once the replica is proved to follow."""

    async def started(**environment):
        await deferToThread(standby.catch_up, postgres)
        served = await serve(CROWDD_DB_REPLICA_DSN=standby.of(settings.db.dsn), **environment)
        await usable(served, standby, postgres)
        return served

    yield started
    standby.run("SELECT pg_wal_replay_resume()")


async def usable(served, standby, postgres):
    """Has the server look at its replica as often as it takes; between, a server says that it is there."""
    replica = served.server._pools.replica
    for _ in range(2):
        await replica.check()
        await served.database.execute("UPDATE node SET seen = seen + interval '1 second'")
        await deferToThread(standby.catch_up, postgres)
    await replica.check()
    assert replica.available


def reads(served):
    """How many reads went to the replica, and how many to the primary."""
    counted = served.server._pools.replica.reads
    return counted["replica"], counted["primary"]


async def found(client, project, n=1):
    """The tasks of a list that may cost much."""
    answer = await client.get("/api/" + LONG.format(id=project["id"], n=n))
    assert answer.status == 200, answer.body
    return [task["id"] for task in answer.json()]


@pytest_twisted.ensureDeferred
async def test_lists_and_exports_read_there_what_was_committed_just_now(with_replica):
    served = await with_replica()
    owner = await served.person("ada")
    project = await served.project(owner, tasks=3, published=True)
    assert await found(owner, project) == [project["tasks"][1]]
    assert reads(served) == (1, 0)
    for kind in ("csv", "json"):
        exported = await owner.get(f"/project/birds/tasks/export?type=task&format={kind}")
        assert exported.status == 200 and str(project["tasks"][2]) in exported.text
    assert reads(served) == (3, 0)
    for n in range(10):  # each its own change, at once
        made = (await owner.post("/api/task", json={"project_id": project["id"], "info": {"n": 100 + n}})).json()
        assert await found(owner, project, 100 + n) == [made["id"]]
    assert reads(served) == (13, 0)


@pytest_twisted.ensureDeferred
async def test_what_was_taken_away_is_not_seen_there(with_replica, standby):
    served = await with_replica()
    owner, stranger = await served.person("ada"), served.client()
    project = await served.project(owner, tasks=3, published=True)
    assert await found(stranger, project) == [project["tasks"][1]]
    await deferToThread(standby.run, "SELECT pg_wal_replay_pause()")
    assert (await owner.delete(f"/api/task/{project['tasks'][1]}")).status == 204
    assert await found(stranger, project) == []
    assert reads(served) == (1, 1)
    assert not served.server._pools.replica.available


@pytest_twisted.ensureDeferred
async def test_a_replica_that_is_behind_is_left_alone_until_it_is_not(with_replica, standby, postgres):
    served = await with_replica()
    owner = await served.person("ada")
    project = await served.project(owner, tasks=3)
    await deferToThread(standby.run, "SELECT pg_wal_replay_pause()")
    await owner.put(f"/api/task/{project['tasks'][1]}", json={"info": {"n": 7}})
    assert await found(owner, project, 7) == [project["tasks"][1]]
    replica = served.server._pools.replica
    await replica.check()
    await replica.check()
    assert not replica.available
    await deferToThread(standby.run, "SELECT pg_wal_replay_resume()")
    await deferToThread(standby.catch_up, postgres)
    await replica.check()
    assert replica.available
    assert await found(owner, project, 7) == [project["tasks"][1]]
    assert reads(served) == (1, 1)


@pytest_twisted.ensureDeferred
async def test_a_replica_that_goes_away_costs_no_read(with_replica, standby, postgres, settings):
    served = await with_replica()
    owner = await served.person("ada")
    project = await served.project(owner, tasks=3)
    assert await found(owner, project) == [project["tasks"][1]]
    name = standby.of(settings.db.dsn).rpartition("dbname=")[2].split()[0]
    kill = f"SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = '{name}'"
    for _ in range(3):
        await deferToThread(standby.run, kill)
        assert await found(owner, project) == [project["tasks"][1]]
    await usable(served, standby, postgres)
    assert await found(owner, project) == [project["tasks"][1]]
    assert sum(reads(served)) == 5 and reads(served)[0] >= 2


@pytest_twisted.ensureDeferred
async def test_the_end_of_a_segment_is_reached(with_replica, postgres):
    """Nothing is written behind it yet, so a replica cannot have more."""
    served = await with_replica()
    end = "SELECT (pg_current_wal_insert_lsn() - '0/0') % pg_size_bytes(current_setting('wal_segment_size'))"
    seen = False
    for _ in range(100):
        await deferToThread(postgres.fetch, "SELECT pg_switch_wal()")
        primary = await served.server._pools.replica._of_primary()
        ((offset,),) = await deferToThread(postgres.fetch, end)
        if offset == 40:  # nothing was written meanwhile
            assert int(primary.position.partition("/")[2], 16) % (1 << 24) == 0
            seen = True
            break
    assert seen


@pytest.mark.parametrize("repeatable", [True, False])
@pytest_twisted.ensureDeferred
async def test_what_breaks_off_half_way(repeatable, with_replica):
    served = await with_replica()
    server, attempts = served.server, []

    async def work(tx):
        attempts.append(await tx.fetch("SELECT pg_is_in_recovery() AS replica"))
        if len(attempts) == 1:
            await tx.fetch("SELECT pg_terminate_backend(pg_backend_pid())")
        return attempts[-1]

    reading = ReplicaFirst(server._pools.replica, server._pools.replica.pool, server._pools.slow, repeatable)
    if repeatable:
        assert await reading.transaction(work) == [{"replica": False}]
        assert len(attempts) == 2 and reads(served) == (0, 1)
    else:
        with pytest.raises(UnavailableError):
            await reading.transaction(work)
        assert attempts == [[{"replica": True}]]


@pytest_twisted.ensureDeferred
async def test_a_server_starts_and_reads_without_its_replica(serve, tmp_path):
    served = await serve(CROWDD_DB_REPLICA_DSN=f"host={tmp_path} dbname=none connect_timeout=1")
    owner = await served.person("ada")
    project = await served.project(owner, tasks=3)
    assert await found(owner, project) == [project["tasks"][1]]
    assert reads(served) == (0, 1)


@pytest_twisted.ensureDeferred
async def test_a_replica_of_another_database_is_left_alone(serve, standby):
    """It follows the same server, but has no tables: neither the look at it nor a read fails."""
    served = await serve(CROWDD_DB_REPLICA_DSN=standby.of("dbname=postgres"))
    replica = served.server._pools.replica
    await replica.check()
    assert not replica.available and replica._checking.running
    owner = await served.person("ada")
    project = await served.project(owner, tasks=3)
    replica.available, replica._proof = True, Proof((await replica._of_primary()).timeline, proved=True)
    assert await found(owner, project) == [project["tasks"][1]]
    assert reads(served) == (0, 1) and not replica.available


@pytest_twisted.ensureDeferred
async def test_a_primary_is_no_replica(serve, settings, standby):
    """A copy that was promoted goes its own way, even where its log is longer."""
    served = await serve(CROWDD_DB_REPLICA_DSN=settings.db.dsn)
    await served.server._pools.replica.check()
    await served.database.execute("UPDATE node SET seen = seen + interval '1 second'")
    await served.server._pools.replica.check()
    assert not served.server._pools.replica.available


@pytest_twisted.ensureDeferred
async def test_the_doctor_sees_a_replica_that_is_cut_off(with_replica, standby):
    """It has applied all that arrived, but nothing arrives any more."""
    served = await with_replica()
    replica = served.server._pools.replica
    health = await read_replica_health(replica.pool)
    assert (health["follows"], health["keeps_rows"]) == (True, False) and health["last_transaction"] > 0
    assert await replica.catches_up()
    source = await deferToThread(standby.cut_off)
    try:
        await served.person("ada")
        assert not await replica.catches_up()
        assert await deferToThread(standby.run, "SELECT pg_last_wal_replay_lsn() >= pg_last_wal_receive_lsn()")
    finally:
        await deferToThread(standby.reconnect, source)
    await until(replica.catches_up)


@pytest_twisted.ensureDeferred
async def test_reads_are_counted_for_the_operator(with_replica):
    served = await with_replica()
    owner = await served.person("ada")
    project = await served.project(owner, tasks=3)
    await found(owner, project)
    served.server._process_state.metrics.look()
    text = (await served.server._process_state.metrics.text()).decode()
    assert 'crowdd_long_reads_total{served_by="replica"} 1.0' in text
    assert 'crowdd_pool_connections{pool="replica",state="free"}' in text


def _primary(timeline="00000001", seconds=0):
    return PrimaryState(timeline, "0/1", THEN + timedelta(seconds=seconds))


def _replica(seconds=0):
    return ReplicaState(True, THEN + timedelta(seconds=seconds))


@pytest.mark.parametrize(
    "steps, proved",
    [
        ([(_primary(), _replica())], False),
        ([(_primary(), _replica()), (_primary(), _replica())], False),
        ([(_primary(), _replica()), (_primary(seconds=10), _replica())], False),
        ([(_primary(), _replica()), (_primary(seconds=10), _replica(10))], True),
        ([(_primary(), _replica()), (_primary(), _replica(10)), (_primary(), _replica(10))], True),
        # After a failover, until a row of the new primary is there.
        ([(_primary(), _replica()), (_primary(), _replica(10)), (_primary("00000002", 10), _replica(10))], False),
        (
            [
                (_primary(), _replica()),
                (_primary(), _replica(10)),
                (_primary("00000002", 10), _replica(10)),
                (_primary("00000002", 20), _replica(10)),
            ],
            False,
        ),
        (
            [
                (_primary(), _replica()),
                (_primary(), _replica(10)),
                (_primary("00000002", 10), _replica(10)),
                (_primary("00000002", 20), _replica(20)),
            ],
            True,
        ),
    ],
)
def test_a_row_of_the_timeline_proves_that_a_replica_follows_it(steps, proved):
    proof = Proof()
    for primary, replica in steps:
        proof = proof.after(primary, replica)
    assert proof.proved is proved


@pytest_twisted.ensureDeferred
async def test_a_read_of_another_timeline_is_not_compared(with_replica):
    served = await with_replica()
    owner = await served.person("ada")
    project = await served.project(owner, tasks=3)
    replica = served.server._pools.replica
    replica._proof = Proof("00000009", proved=True)
    assert await found(owner, project) == [project["tasks"][1]]
    assert reads(served) == (0, 1) and not replica.available
