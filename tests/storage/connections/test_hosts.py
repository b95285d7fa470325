"""A DSN with several hosts, on two real servers: whichever is the primary is found, and found again after a failover."""

from __future__ import annotations

import contextlib
import shutil

import psycopg2
import pytest
import pytest_twisted
from psycopg2.extensions import parse_dsn
from support.replication.cluster import Cluster
from support.servers.postgres import scratch_folder
from support.until import in_time, until
from twisted.internet import reactor
from twisted.internet.defer import Deferred
from twisted.internet.protocol import Factory, Protocol
from twisted.logger import capturedLogs, formatEvent

from crowdd.database.connector import ConnectionBudget, Hosts, require_primary
from crowdd.database.locks import Leadership
from crowdd.database.pool import Apart, Pool
from crowdd.kernel.errors import ConfigError, UnavailableError

WHERE = "SELECT current_setting('unix_socket_directories') AS place"
NOWHERE = "/nowhere/at/all"


def place_of(cluster: Cluster) -> str:
    return parse_dsn(cluster.dsn())["host"]


def dsn_of(*hosts: str, attributes: str = "read-write", port: str = "") -> str:
    ports = f" port={port}" if port else ""
    return f"host={','.join(hosts)}{ports} dbname=postgres user=postgres target_session_attrs={attributes}"


def asked(cluster: Cluster, statement: str):
    with contextlib.closing(psycopg2.connect(cluster.dsn())) as session, session.cursor() as cursor:
        session.autocommit = True
        cursor.execute(statement)
        return cursor.fetchall() if cursor.description else None


@pytest.fixture
def two():
    """A primary with a table, and its standby, which has the table."""
    folders = [scratch_folder("crowdd-two-") for _ in range(2)]
    primary, standby = map(Cluster, folders)
    primary.create()
    primary.start()
    standby.follow(primary.dsn())
    standby.start()
    asked(primary, "CREATE TABLE answer (task integer UNIQUE)")
    position = asked(primary, "SELECT pg_current_wal_lsn()::text")[0][0]
    while not asked(standby, f"SELECT pg_last_wal_replay_lsn() >= '{position}'")[0][0]:
        pass
    yield primary, standby
    for cluster, folder in zip((primary, standby), folders, strict=True):
        cluster.stop()
        shutil.rmtree(folder)


@pytest_twisted.async_yield_fixture
async def make_pool():
    pools = []

    def make(dsn: str, **options) -> Pool:
        pools.append(Pool(reactor, dsn, **options))
        return pools[-1]

    yield make
    for pool in pools:
        await pool.close().addTimeout(60, reactor)


async def place(database) -> str:
    return (await database.fetch(WHERE))[0]["place"]


class Silent(Protocol):
    """Takes connections and says nothing, as a machine does that hangs."""


@pytest_twisted.async_yield_fixture
async def silent():
    """The port of a server that says nothing."""
    listening = reactor.listenTCP(0, Factory.forProtocol(Silent), interface="127.0.0.1")
    yield listening.getHost().port
    await listening.stopListening()


# -- what a DSN names


@pytest.mark.parametrize(
    ("dsn", "named"),
    [
        ("dbname=x", [(None, None, None)]),
        ("host=a dbname=x", [("a", None, None)]),
        ("host=a,b", [("a", None, None), ("b", None, None)]),
        ("host=a,b,c port=1,2,3", [("a", None, "1"), ("b", None, "2"), ("c", None, "3")]),
        ("host=a,b port=7", [("a", None, "7"), ("b", None, "7")]),
        ("hostaddr=10.0.0.1,10.0.0.2", [(None, "10.0.0.1", None), (None, "10.0.0.2", None)]),
        ("host=a,b hostaddr=10.0.0.1,10.0.0.2", [("a", "10.0.0.1", None), ("b", "10.0.0.2", None)]),
        ("postgresql://u@a:1,b:2/x", [("a", None, "1"), ("b", None, "2")]),
        ("host=a,b port=1,2,3", [("a,b", None, "1,2,3")]),  # libpq says what is wrong
    ],
)
def test_each_host_has_its_address_and_port(dsn, named):
    words = [parse_dsn(each) for each in Hosts.of(dsn).dsns]
    assert [tuple(each.get(name) for name in ("host", "hostaddr", "port")) for each in words] == named
    assert all(each["tcp_user_timeout"] == "11000" for each in words)


def test_what_the_operator_says_about_lost_machines_counts():
    (dsn,) = Hosts.of("host=a keepalives_idle=60 tcp_user_timeout=0").dsns
    assert (parse_dsn(dsn)["keepalives_idle"], parse_dsn(dsn)["tcp_user_timeout"]) == ("60", "0")


def test_a_dsn_that_nobody_understands_is_left_to_libpq():
    assert Hosts.of("dbname=x y='").dsns == ("dbname=x y='",)


def test_the_server_found_last_is_tried_first():
    hosts = Hosts.of(dsn_of("a", "b", "c"))
    first, second, third = hosts.in_turn()
    hosts.found(second)
    assert hosts.in_turn() == (second, third, first)
    assert (hosts.seconds(10.0), Hosts.of("host=a").seconds(10.0)) == (2.0, 10.0)


@pytest.mark.parametrize("attributes", ["any", "prefer-standby", "standby", "read-only"])
def test_several_hosts_of_which_any_would_do_are_refused(attributes):
    with pytest.raises(ConfigError, match="target_session_attrs=read-write"):
        require_primary(dsn_of("a", "b", attributes=attributes))
    with pytest.raises(ConfigError):
        require_primary("host=a,b")


@pytest.mark.parametrize(
    "dsn", ["host=a", "", "dbname=x y='", dsn_of("a", "b"), dsn_of("a", "b", attributes="primary")]
)
def test_one_host_or_the_primary_of_several_is_accepted(dsn):
    require_primary(dsn)


# -- connecting


@in_time
async def test_a_standby_and_a_server_that_is_down_are_passed_over(two, make_pool):
    primary, standby = two
    dsn = dsn_of(NOWHERE, place_of(standby), place_of(primary))
    pool = await make_pool(dsn, size=2).start()
    assert await place(pool) == place_of(primary)
    heard = Deferred()
    pool.add_observer(lambda channel, payload: heard.callback(payload))
    await pool.listen("news")
    await pool.notify("news", "told")
    assert await heard == "told"
    leadership = Leadership(reactor, dsn, "one")
    assert await leadership.seek()
    leadership.close()
    apart = Apart(reactor, dsn, [], ConnectionBudget())
    assert await apart.transaction(place) == place_of(primary)


@in_time
async def test_a_server_that_says_nothing_is_passed_over_in_time(two, make_pool, silent):
    primary, _ = two
    dsn = dsn_of("127.0.0.1", place_of(primary), port=f"{silent},5432")
    pool = await make_pool(f"{dsn} sslmode=disable", size=4).start()
    began = reactor.seconds()
    assert await place(pool) == place_of(primary)
    apart = Apart(reactor, dsn, [], ConnectionBudget(), seconds=30.0)
    assert await apart.transaction(place) == place_of(primary)
    again = reactor.seconds()
    assert await apart.transaction(place) == place_of(primary)  # this time the right one is tried first
    assert reactor.seconds() - again < 2.0 <= again - began


@in_time
async def test_without_a_primary_it_is_waited_for(two, make_pool):
    primary, standby = two
    primary.stop()
    pool = make_pool(dsn_of(place_of(primary), place_of(standby)), size=2, timeout=0.3)
    with capturedLogs() as events:
        starting = pool.start()
        with pytest.raises(UnavailableError):
            await pool.fetch(WHERE)
        assert not starting.called
        standby.promote()
        await starting
    lines = [formatEvent(event) for event in events]
    assert lines.count(f"the primary is now {place_of(standby)}") == 1
    failed = [line for line in lines if line.startswith("could not connect to the database: ")]
    assert all(f"{place_of(each)}: " in failed[0] for each in two), "each reason has its host"
    assert await place(pool) == place_of(standby)
    primary.start()


@in_time
async def test_what_no_patience_can_help_is_told_whichever_host_says_it(two, make_pool):
    primary, _ = two
    dsn = dsn_of(NOWHERE, place_of(primary)).replace("dbname=postgres", "dbname=nowhere")
    with pytest.raises(ConfigError, match="nowhere"):
        await make_pool(dsn).start()


# -- failover


async def found_at(pool: Pool, cluster: Cluster) -> None:
    async def there() -> bool:
        try:
            return await place(pool) == place_of(cluster)
        except UnavailableError:
            return False

    await until(there)


@pytest.mark.proof
@in_time
async def test_a_demoted_server_is_left_in_the_middle_of_work(two, make_pool):
    primary, standby = two
    dsn = dsn_of(place_of(primary), place_of(standby))
    pool = await make_pool(dsn, size=3, timeout=1.0).start()
    payloads = []
    pool.add_observer(lambda channel, payload: payloads.append(payload))
    await pool.listen("news")
    leadership = Leadership(reactor, dsn, "one")
    assert await leadership.seek()

    async def demoted_meanwhile(transaction) -> None:
        await transaction.execute("INSERT INTO answer VALUES (1)")
        standby.promote()
        primary.demote()
        await transaction.execute("INSERT INTO answer VALUES (2)")

    with pytest.raises(UnavailableError) as caught:
        await pool.transaction(demoted_meanwhile)
    assert not caught.value.uncertain
    await found_at(pool, standby)
    assert await pool.execute("INSERT INTO answer VALUES (3)") == 1
    assert asked(standby, "SELECT task FROM answer") == [(3,)]

    async def heard() -> bool:
        return payloads == [""]

    await until(heard)
    assert not leadership.held and await leadership.seek()
    leadership.close()


@in_time
async def test_a_server_that_takes_no_changes_any_more_is_left_for_the_one_that_does(two, make_pool):
    primary, standby = two
    pool = await make_pool(dsn_of(place_of(primary), place_of(standby)), size=2).start()
    assert await pool.execute("INSERT INTO answer VALUES (1)") == 1
    standby.promote()
    asked(primary, "ALTER SYSTEM SET default_transaction_read_only = on")
    asked(primary, "SELECT pg_reload_conf()")

    async def refused() -> bool:
        try:
            await pool.execute("DELETE FROM answer WHERE task = 2")
        except UnavailableError as error:
            assert (str(error), error.uncertain) == ("The database takes no changes.", False)
            return True
        return False

    await until(refused)
    await found_at(pool, standby)

    async def work(transaction) -> str:
        await transaction.execute("INSERT INTO answer VALUES (2)")
        return await place(transaction)

    assert await pool.transaction(work) == place_of(standby)
    assert [row[0] for row in asked(standby, "SELECT task FROM answer ORDER BY 1")] == [1, 2]


@pytest.mark.proof
@in_time
async def test_the_only_server_goes_on_reading_while_it_takes_no_changes(two, make_pool):
    primary, _ = two
    pool = await make_pool(primary.dsn(), size=1).start()
    (before,) = await pool.fetch("SELECT pg_backend_pid() AS pid")
    await pool.execute("SET default_transaction_read_only = on")
    with pytest.raises(UnavailableError, match="takes no changes"):
        await pool.execute("INSERT INTO answer VALUES (1)")
    assert await pool.fetch("SELECT pg_backend_pid() AS pid") == [before]
