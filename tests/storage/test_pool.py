"""The pool under cancelled callers, lost connections, a restarted server and overload, on a real PostgreSQL."""

import random
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import orjson
import psycopg2
import pytest
import pytest_twisted
from psycopg2.extras import Json
from support.until import in_time
from twisted.internet import reactor
from twisted.internet.defer import CancelledError, Deferred, DeferredList, ensureDeferred, gatherResults
from twisted.internet.protocol import Factory, Protocol
from twisted.internet.task import Clock, deferLater
from twisted.python.failure import Failure

from crowdd.database.connection import Connection
from crowdd.database.pool import RENEWAL_SECONDS, Pool, PoolFigures, WaitQueue
from crowdd.kernel.errors import (
    ConfigError,
    ConflictError,
    InvalidValueError,
    NoConnectionError,
    StatementTimeoutError,
    UnavailableError,
)

PID = "SELECT pg_backend_pid() AS pid"


def connections() -> list[Connection]:
    """Database connections that the reactor watches."""
    return [reader for reader in reactor.getReaders() if isinstance(reader, Connection)]


def timers(others: Iterable[Connection]) -> list[Any]:
    """Delayed calls of pools, but not those of ``others``: servers that tests share go on beside these."""
    theirs = [connection.answer for connection in others]
    return [
        call
        for call in reactor.getDelayedCalls()
        if getattr(call.func, "__module__", "").startswith("crowdd.database")
        and getattr(call.func, "__self__", None) not in theirs
    ]


@pytest_twisted.async_yield_fixture
async def make_pool(restartable):
    """Makes pools that are closed after the test, and looks whether they left anything in the reactor."""
    pools = []

    def make(dsn: str = "", **options) -> Pool:
        pool = Pool(reactor, dsn or restartable.dsn(), **options)
        pools.append(pool)
        return pool

    others = set(connections())
    before = set(timers(others))
    yield make
    for pool in pools:
        await pool.close().addTimeout(60, reactor)
    deadline = reactor.seconds() + 60  # an attempt to connect that was just under way ends a turn later
    while left := set(connections()) - others | set(timers(others)) - before:
        assert reactor.seconds() < deadline, left
        await deferLater(reactor, 0.01)


@pytest_twisted.async_yield_fixture
async def other(make_pool):
    """A second pool, to look on or interfere from outside."""
    yield await make_pool(size=1).start()


@pytest_twisted.async_yield_fixture
async def pair(other):
    """An empty table ``pair(request, half)``."""
    await other.execute("DROP TABLE IF EXISTS pair")
    await other.execute("CREATE TABLE pair (request integer, half integer, UNIQUE (request, half))")
    yield other


class Barrier:
    """``pass_through`` fires when the given number of callers have come."""

    def __init__(self, number: int) -> None:
        self._missing, self._waiting, self._failure = number, [], None

    def pass_through(self) -> Deferred[None]:
        caller = Deferred()
        self._missing -= 1
        self._waiting.append(caller)
        if self._missing == 0 or self._failure is not None:
            self._let_go(self._failure)
        return caller

    def break_down(self, failure: Failure) -> None:
        """Fails for all, since somebody will not come."""
        self._failure = failure
        self._let_go(failure)
        failure.raiseException()

    def _let_go(self, result: Failure | None) -> None:
        waiting, self._waiting = self._waiting, []
        for caller in waiting:
            caller.callback(result)


def started(coroutine) -> Deferred:
    return ensureDeferred(coroutine)


async def all_of(deferreds) -> list:
    """The results, or the first error, once all are through."""
    outcomes = await DeferredList(deferreds, consumeErrors=True)
    for succeeded, result in outcomes:
        if not succeeded:
            result.raiseException()
    return [result for _, result in outcomes]


async def every_connection_works(pool: Pool) -> set[int]:
    """Uses all connections at the same time, each in a transaction; the process ids of their servers."""
    size = pool.figures().size
    barrier = Barrier(size)

    async def work(transaction) -> int:
        await barrier.pass_through()
        return (await transaction.fetch(PID))[0]["pid"]

    pids = await all_of(started(pool.transaction(work)).addErrback(barrier.break_down) for _ in range(size))
    assert pool.figures() == PoolFigures(size=size, free=size, busy=0, waiting=0)
    return set(pids)


async def eventually_all(pool: Pool) -> set[int]:
    """``every_connection_works``, asked again while callers are sent away."""
    while True:
        try:
            return await every_connection_works(pool)
        except UnavailableError:
            continue


async def pid_of(database) -> int:
    return (await database.fetch(PID))[0]["pid"]


async def occupied(pool: Pool) -> tuple[Deferred, Deferred]:
    """Occupies a connection: (fire this to let it go, fires when it is done)."""
    begun, release = Deferred(), Deferred()

    async def work(transaction):
        begun.callback(None)
        await release

    done = started(pool.transaction(work))
    await begun
    return release, done


# -- values and errors


@in_time
async def test_values_by_position_and_by_name(other):
    assert await other.fetch("SELECT %s + 1 AS a, %s AS b", [1, "ü%"]) == [{"a": 2, "b": "ü%"}]
    assert await other.fetch("SELECT %(x)s AS a, %(x)s AS b", {"x": 5}) == [{"a": 5, "b": 5}]
    assert await other.fetch("SELECT '%' AS a") == [{"a": "%"}]


@in_time
async def test_a_statement_and_a_row_larger_than_the_buffers_of_the_socket(other):
    text = "ü" * 4_000_000
    assert await other.fetch("SELECT %s || 'x' AS t", [text]) == [{"t": text + "x"}]


@in_time
async def test_json_times_and_arrays_become_python_values(other):
    value = {"a": [1, None, "é"], "b": {"c": 1.5}}
    rows = await other.fetch("SELECT %s::json AS j, %s::jsonb AS b, NULL::jsonb AS n", [Json(value), Json(value)])
    assert rows == [{"j": value, "b": value, "n": None}]
    rows = await other.fetch("SELECT '2024-02-29 12:00+02'::timestamptz AS t, %s::int[] AS i", [[1, 2]])
    assert rows == [{"t": datetime(2024, 2, 29, 10, tzinfo=UTC), "i": [1, 2]}]
    assert rows[0]["t"].utcoffset() is not None


@in_time
async def test_a_number_of_json_keeps_its_digits(other):
    (row,) = await other.fetch("SELECT '123456789012345678901234567890'::jsonb AS n")
    assert orjson.dumps(row["n"]) == b"123456789012345678901234567890"


@in_time
async def test_execute_counts_rows_and_fetch_gives_none_where_there_are_none(pair):
    assert await pair.execute("INSERT INTO pair SELECT 1, n FROM generate_series(1, 3) n") == 3
    assert await pair.execute("SET LOCAL search_path = public") == 0
    assert await pair.fetch("DELETE FROM pair") == []


@in_time
async def test_a_unique_violation_names_constraint_and_table(pair):
    await pair.execute("INSERT INTO pair VALUES (1, 1)")
    with pytest.raises(ConflictError) as caught:
        await pair.execute("INSERT INTO pair VALUES (1, 1)")
    assert (caught.value.constraint, caught.value.table) == ("pair_request_half_key", "pair")
    assert isinstance(caught.value.__cause__, psycopg2.errors.UniqueViolation)


@pytest.mark.parametrize("value", ["a\0b", "\ud800"])
@in_time
async def test_text_that_postgresql_cannot_hold_is_refused_before_it_is_sent(other, value):
    pid = await pid_of(other)
    with pytest.raises(InvalidValueError):
        await other.fetch("SELECT %s", [value])
    assert await pid_of(other) == pid


@in_time
async def test_other_errors_come_as_psycopg2_raises_them(other):
    with pytest.raises(psycopg2.errors.UndefinedTable):
        await other.fetch("SELECT * FROM nowhere")


# -- time-outs, told apart


@in_time
async def test_a_statement_timeout_is_not_a_disconnect(make_pool):
    pool = await make_pool(size=1, setup=["SET statement_timeout = '20ms'"]).start()
    pid = await pid_of(pool)
    with pytest.raises(StatementTimeoutError):
        await pool.fetch("SELECT pg_sleep(60)")
    assert await pid_of(pool) == pid


@in_time
async def test_a_disconnect_is_not_a_statement_timeout(make_pool):
    pool = await make_pool(size=1, setup=["SET statement_timeout = '60s'"]).start()
    pid = await pid_of(pool)
    with pytest.raises(UnavailableError) as caught:
        await pool.fetch("SELECT pg_terminate_backend(pg_backend_pid())")
    assert caught.value.uncertain
    assert await pid_of(pool) != pid


@in_time
async def test_an_operators_cancel_is_not_a_statement_timeout(make_pool):
    pool = await make_pool(size=1).start()
    pid = await pid_of(pool)
    with pytest.raises(UnavailableError) as caught:
        await pool.fetch("SELECT pg_cancel_backend(pg_backend_pid()), pg_sleep(60)")
    assert not caught.value.uncertain
    assert await pid_of(pool) == pid


@in_time
async def test_a_lock_timeout_is_unavailable(pair, make_pool):
    pool = await make_pool(size=1, setup=["SET lock_timeout = '10ms'"]).start()

    async def work(transaction):
        await transaction.execute("LOCK TABLE pair")
        with pytest.raises(UnavailableError):
            await pool.execute("INSERT INTO pair VALUES (1, 1)")

    await pair.transaction(work)


@pytest.mark.parametrize(("state", "lost"), [("57P01", True), ("08006", True), ("53100", False)])
@in_time
async def test_a_server_in_trouble_is_unavailable(make_pool, state, lost):
    pool = await make_pool(size=1).start()
    pid = await pid_of(pool)
    with pytest.raises(UnavailableError) as caught:
        await pool.execute(f"DO $$ BEGIN RAISE SQLSTATE '{state}'; END $$")
    assert caught.value.uncertain is lost
    assert (await pid_of(pool) != pid) is lost


# -- transactions


@in_time
async def test_a_transaction_returns_what_the_work_returns_after_commit(pair, make_pool):
    pool = await make_pool(size=1).start()

    async def work(transaction):
        assert await transaction.execute("INSERT INTO pair VALUES (1, 1)") == 1
        assert await pair.fetch("SELECT * FROM pair") == []
        return "done"

    assert await pool.transaction(work) == "done"
    assert await pair.fetch("SELECT * FROM pair") == [{"request": 1, "half": 1}]


@in_time
async def test_an_exception_rolls_back(pair, make_pool):
    pool = await make_pool(size=1).start()
    pid = await pid_of(pool)

    async def work(transaction):
        await transaction.execute("INSERT INTO pair VALUES (1, 1)")
        raise LookupError("no")

    with pytest.raises(LookupError, match="no"):
        await pool.transaction(work)
    assert await pair.fetch("SELECT * FROM pair") == []
    assert await pid_of(pool) == pid


@in_time
async def test_an_error_that_the_work_swallowed_is_not_taken_for_a_commit(pair):
    async def work(transaction):
        await transaction.execute("INSERT INTO pair VALUES (1, 1)")
        with pytest.raises(ConflictError):
            await transaction.execute("INSERT INTO pair VALUES (1, 1)")

    with pytest.raises(ConflictError):
        await pair.transaction(work)


@in_time
async def test_work_may_go_on_after_a_savepoint(pair):
    async def work(transaction):
        await transaction.execute("INSERT INTO pair VALUES (1, 1)")
        await transaction.execute("SAVEPOINT before")
        with pytest.raises(ConflictError):
            await transaction.execute("INSERT INTO pair VALUES (1, 1)")
        await transaction.execute("ROLLBACK TO before")

    await pair.transaction(work)
    assert await pair.fetch("SELECT * FROM pair") == [{"request": 1, "half": 1}]


@in_time
async def test_work_that_cannot_be_awaited_is_an_error(pair):
    with pytest.raises(TypeError):
        await pair.transaction(lambda transaction: None)


@in_time
async def test_work_may_return_a_deferred(pair):
    def work(transaction):
        return started(transaction.execute("INSERT INTO pair VALUES (1, 1)"))

    assert await pair.transaction(work) == 1
    assert len(await pair.fetch("SELECT * FROM pair")) == 1


@in_time
async def test_a_transaction_is_of_no_use_after_its_end(pair):
    transactions = []

    async def work(transaction):
        transactions.append(transaction)

    await pair.transaction(work)
    with pytest.raises(RuntimeError, match="over"):
        await transactions[0].execute("INSERT INTO pair VALUES (1, 1)")
    assert await pair.fetch("SELECT * FROM pair") == []


@in_time
async def test_a_statement_that_is_left_running_is_rolled_back(pair, make_pool):
    pool = await make_pool(size=1).start()
    pid = await pid_of(pool)

    async def work(transaction):
        await transaction.execute("INSERT INTO pair VALUES (1, 1)")
        started(transaction.fetch("SELECT pg_sleep(60)")).addErrback(left.append)

    left = []
    with pytest.raises(RuntimeError, match="left a statement running"):
        await pool.transaction(work)
    assert left[0].check(UnavailableError)
    assert await pid_of(pool) != pid
    assert await pair.fetch("SELECT * FROM pair") == []


@in_time
async def test_deadlocked_transactions_are_run_again(pair, make_pool):
    pool = await make_pool(size=2).start()
    await pair.execute("INSERT INTO pair VALUES (1, 0), (2, 0)")
    both_hold_one, runs = Barrier(2), []

    async def lock(transaction, request):
        await transaction.execute("UPDATE pair SET half = half + 1 WHERE request = %s", [request])

    async def transfer(first, second):
        async def work(transaction):
            runs.append(first)
            await lock(transaction, first)
            if len(runs) <= 2:
                await both_hold_one.pass_through()
            await lock(transaction, second)

        await pool.transaction(work)

    await all_of([started(transfer(1, 2)), started(transfer(2, 1))])
    assert len(runs) > 2
    assert [row["half"] for row in await pair.fetch("SELECT half FROM pair")] == [2, 2]


@in_time
async def test_deadlocks_without_end_are_unavailable(pair):
    runs = []

    async def work(transaction):
        runs.append(1)
        await transaction.execute("INSERT INTO pair VALUES (1, 1)")
        await transaction.execute("DO $$ BEGIN RAISE deadlock_detected; END $$")

    with pytest.raises(UnavailableError) as caught:
        await pair.transaction(work)
    assert len(runs) == 4
    assert not caught.value.uncertain
    assert await pair.fetch("SELECT * FROM pair") == []


@in_time
async def test_a_single_statement_is_run_again_after_a_serialisation_failure(pair):
    await pair.execute("CREATE SEQUENCE IF NOT EXISTS attempt")
    await pair.execute("ALTER SEQUENCE attempt RESTART")
    once = "BEGIN IF nextval('attempt') < 3 THEN RAISE serialization_failure; END IF; END"
    await pair.execute(f"DO $$ {once} $$")
    assert await pair.fetch("SELECT nextval('attempt') AS n") == [{"n": 4}]


@in_time
async def test_a_connection_lost_at_commit_leaves_the_outcome_uncertain(pair, make_pool):
    pool = await make_pool(size=1).start()
    body = "BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END"
    await pair.execute(f"CREATE OR REPLACE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS '{body}'")
    trigger = "CREATE CONSTRAINT TRIGGER die AFTER INSERT ON pair DEFERRABLE INITIALLY DEFERRED"
    await pair.execute(f"{trigger} FOR EACH ROW EXECUTE FUNCTION die()")

    async def work(transaction):
        await transaction.execute("INSERT INTO pair VALUES (1, 1)")

    with pytest.raises(UnavailableError) as caught:
        await pool.transaction(work)
    assert caught.value.uncertain
    await every_connection_works(pool)


@in_time
async def test_a_connection_lost_before_commit_leaves_nothing_uncertain(pair, make_pool):
    pool = await make_pool(size=1).start()

    async def work(transaction):
        await transaction.execute("INSERT INTO pair VALUES (1, 1)")
        await transaction.execute("SELECT pg_terminate_backend(pg_backend_pid())")

    with pytest.raises(UnavailableError) as caught:
        await pool.transaction(work)
    assert not caught.value.uncertain
    await every_connection_works(pool)


# -- cancellation


@in_time
async def test_a_cancellation_storm_harms_nobody_else(pair, make_pool):
    chance, size, requests, max_cancelled = random.Random(11), 8, 2000, 200
    pool = await make_pool(size=size, max_queue=requests, timeout=120).start()
    begun, outcomes, cancelled = set(), {}, set()

    def both_halves(request):
        async def work(transaction):
            begun.add(request)
            await transaction.execute("INSERT INTO pair VALUES (%s, 1)", [request])
            await transaction.execute("SELECT pg_sleep(0.002)")  # many are cancelled meanwhile
            await transaction.execute("INSERT INTO pair VALUES (%s, 2)", [request])

        return work

    async def handler(request):
        await pool.transaction(both_halves(request))

    def cancel_one():
        pending = [request for request in handlers if request not in outcomes]
        running = [request for request in pending if request in begun]
        victim = chance.choice(running if running and chance.random() < 0.6 else pending or [None])
        if victim is not None:
            cancelled.add(victim)
            handlers[victim].cancel()

    def finish(result, request):
        outcomes[request] = result
        if len(outcomes) % 9 == 0 and len(cancelled) < max_cancelled:
            reactor.callLater(chance.random() * 0.003, cancel_one)

    handlers = {request: started(handler(request)) for request in range(requests)}
    for request, deferred in handlers.items():
        deferred.addBoth(finish, request)
    await all_of(handlers.values())
    await every_connection_works(pool)

    failed = {request for request, result in outcomes.items() if result is not None}
    assert failed == cancelled
    assert all(outcomes[request].check(CancelledError) for request in cancelled)
    assert len(cancelled) > 150
    assert min(len(begun & cancelled), len(cancelled - begun)) > 30
    counts = await pair.fetch("SELECT request, count(*) AS halves FROM pair GROUP BY request")
    halves = {row["request"]: row["halves"] for row in counts}
    # Whose work began is committed, cancelled or not; who was cancelled in the queue has left nothing.
    assert halves == dict.fromkeys(begun, 2)
    assert begun >= set(range(requests)) - cancelled


@in_time
async def test_a_transaction_whose_caller_has_gone_is_committed(pair, make_pool):
    pool = await make_pool(size=1).start()
    inserted, go_on, over = Deferred(), Deferred(), []

    async def work(transaction):
        await transaction.execute("INSERT INTO pair VALUES (1, 1)")
        inserted.callback(None)
        await go_on
        await transaction.execute("INSERT INTO pair VALUES (1, 2)")

    async def handler():
        await pool.transaction(work)

    handling = started(handler()).addErrback(over.append)
    await inserted
    handling.cancel()
    assert over[0].check(CancelledError)
    assert pool.figures().busy == 1
    go_on.callback(None)
    await every_connection_works(pool)
    assert len(await pair.fetch("SELECT * FROM pair")) == 2


@in_time
async def test_a_statement_whose_caller_has_gone_is_finished_before_its_connection_is_used_again(pair, make_pool):
    pool = await make_pool(size=1).start()
    pid = await pid_of(pool)
    statement = started(pool.execute("INSERT INTO pair SELECT 1, 1 FROM pg_sleep(0.01)"))
    statement.addErrback(lambda failure: failure.trap(CancelledError))
    statement.cancel()
    assert pool.figures().busy == 1
    assert await pid_of(pool) == pid
    assert len(await pair.fetch("SELECT * FROM pair")) == 1


@in_time
async def test_a_caller_that_leaves_the_queue_is_withdrawn(pair, make_pool):
    pool = await make_pool(size=1).start()
    release, done = await occupied(pool)
    waiting = started(pool.execute("INSERT INTO pair VALUES (1, 1)"))
    assert pool.figures().waiting == 1
    waiting.cancel()
    with pytest.raises(CancelledError):
        await waiting
    assert pool.figures().waiting == 0
    release.callback(None)
    await done
    await every_connection_works(pool)
    assert await pair.fetch("SELECT * FROM pair") == []


@in_time
async def test_work_that_cancels_its_own_statement_is_rolled_back(pair, make_pool):
    pool = await make_pool(size=1).start()

    async def work(transaction):
        await transaction.execute("INSERT INTO pair VALUES (1, 1)")
        impatient = started(transaction.fetch("SELECT pg_sleep(60)"))
        impatient.cancel()
        await impatient

    with pytest.raises(CancelledError):
        await pool.transaction(work)
    await every_connection_works(pool)
    assert await pair.fetch("SELECT * FROM pair") == []


# -- what goes back into the pool


@pytest.mark.parametrize("sql", ["BEGIN", "COPY (SELECT 1) TO STDOUT"])
@in_time
async def test_a_connection_that_is_not_idle_afterwards_is_replaced(make_pool, sql):
    pool = await make_pool(size=1).start()
    pid = await pid_of(pool)
    await started(pool.execute(sql)).addErrback(lambda failure: failure.trap(psycopg2.ProgrammingError))
    assert await every_connection_works(pool) != {pid}


@in_time
async def test_connections_lost_while_idle_are_replaced_without_being_asked(other, make_pool):
    social_login, all_back = [], Deferred()

    def arrive(channel, pid):
        social_login.append(int(pid))
        if len(social_login) == 8:
            all_back.callback(None)

    other.add_observer(arrive)
    await other.listen("arrivals")
    pool = await make_pool(size=4, setup=["SELECT pg_notify('arrivals', pg_backend_pid()::text)"]).start()
    before = await every_connection_works(pool)
    for pid in before:
        assert await other.fetch("SELECT pg_terminate_backend(%s, 10000) AS gone", [pid]) == [{"gone": True}]
    await all_back
    assert await every_connection_works(pool) == set(social_login) - before


@in_time
async def test_a_connection_lost_in_the_middle_of_a_transaction_is_replaced(other, make_pool):
    pool = await make_pool(size=1).start()

    async def work(transaction):
        pid = await pid_of(transaction)
        await other.fetch("SELECT pg_terminate_backend(%s, 10000)", [pid])
        await other.fetch("SELECT 1")
        await transaction.fetch("SELECT 1")

    with pytest.raises(UnavailableError) as caught:
        await pool.transaction(work)
    assert not caught.value.uncertain
    await every_connection_works(pool)


@in_time
async def test_connections_that_keep_the_room_of_a_long_row_are_replaced_one_after_the_other(make_pool):
    pool = await make_pool(size=3).start()
    await every_connection_works(pool)
    long = "SELECT pg_backend_pid() AS pid, repeat('x', 2000000) AS row, pg_sleep(0.1)"
    both = await gatherResults([ensureDeferred(pool.fetch(long)) for _ in range(2)])
    stretched = {row["pid"] for (row,) in both}
    assert len(stretched) == 2
    began, alive = reactor.seconds(), stretched
    while stretched & alive:  # the one used last is used next, and would keep its room for good
        assert reactor.seconds() < began + 20 * RENEWAL_SECONDS
        await deferLater(reactor, RENEWAL_SECONDS / 10)
        alive = {row["pid"] for row in await pool.fetch("SELECT pid FROM pg_stat_activity WHERE pid IS NOT NULL")}
    assert reactor.seconds() >= began + RENEWAL_SECONDS, "one after the other"
    await every_connection_works(pool)  # also the one that is still being made
    last = await pid_of(pool)
    await deferLater(reactor, 2 * RENEWAL_SECONDS)
    assert await pid_of(pool) == last, "a short row stretches nothing"


@in_time
async def test_the_connection_used_last_is_used_next(make_pool):
    pool = await make_pool(size=3).start()
    await every_connection_works(pool)
    release, done = await occupied(pool)
    last = await pid_of(pool)
    release.callback(None)
    await done
    first = await pid_of(pool)
    assert first != last
    assert [await pid_of(pool) for _ in range(3)] == [first] * 3


@in_time
async def test_every_connection_is_set_up(make_pool):
    pool = await make_pool(size=3, setup=["SET statement_timeout = '7s'", "PREPARE one AS SELECT 1 AS n"]).start()
    await every_connection_works(pool)
    barrier = Barrier(3)

    async def work(transaction):
        await barrier.pass_through()
        return await transaction.fetch("SHOW statement_timeout") + await transaction.fetch("EXECUTE one")

    answers = await all_of(started(pool.transaction(work)) for _ in range(3))
    assert answers == [[{"statement_timeout": "7s"}, {"n": 1}]] * 3


# -- the queue


@in_time
async def test_first_come_first_served(make_pool):
    pool = await make_pool(size=1).start()
    release, done = await occupied(pool)
    order = []

    async def use(name):
        await pool.fetch(PID)
        order.append(name)

    waiting = [started(use(n)) for n in range(20)]
    # Asks at the very moment when its own connection has become free.
    done.addCallback(lambda _: started(use("again")))
    release.callback(None)
    await all_of([done, *waiting])
    assert order == [*range(20), "again"]


@in_time
async def test_the_queue_is_bounded(make_pool):
    pool = await make_pool(size=1, max_queue=2).start()
    release, done = await occupied(pool)
    waiting = [started(pool.fetch(PID)) for _ in range(2)]
    assert pool.figures() == PoolFigures(size=1, free=0, busy=1, waiting=2)
    with pytest.raises(UnavailableError, match="Too many"):
        await pool.fetch(PID)
    release.callback(None)
    await all_of([done, *waiting])


@in_time
async def test_nobody_waits_for_ever(make_pool):
    pool = await make_pool(size=1, timeout=0.02).start()
    release, done = await occupied(pool)
    with pytest.raises(UnavailableError, match=r"within 0\.02 seconds"):
        await pool.fetch(PID)
    assert pool.figures().waiting == 0
    release.callback(None)
    await done
    await every_connection_works(pool)


def test_a_place_in_the_queue_expires_on_time():
    clock, outcomes = Clock(), []
    queue = WaitQueue(clock, maximum=2, seconds=5.0)
    queue.join().addErrback(outcomes.append)
    clock.advance(4.9)
    queue.join().addErrback(outcomes.append)
    assert not outcomes
    clock.advance(0.2)
    assert [outcome.type for outcome in outcomes] == [NoConnectionError]
    assert len(queue) == 1


@in_time
async def test_asking_for_a_second_connection_inside_a_transaction_does_not_hang(make_pool):
    pool = await make_pool(size=1, timeout=0.02).start()

    async def work(transaction):
        await pool.fetch(PID)

    with pytest.raises(UnavailableError, match="within"):
        await pool.transaction(work)
    await every_connection_works(pool)


@in_time
async def test_a_queue_of_statements_that_cannot_be_sent_does_not_exhaust_the_stack(make_pool):
    pool = await make_pool(size=1).start()
    release, done = await occupied(pool)
    refused = [started(pool.fetch("SELECT %s", ["\0"])) for _ in range(1000)]
    for waiting in refused:
        waiting.addErrback(lambda failure: failure.trap(InvalidValueError))
    release.callback(None)
    assert await all_of([done, *refused]) == [None, *[InvalidValueError] * 1000]
    await every_connection_works(pool)


# -- the server comes and goes


@in_time
async def test_a_restarted_server_is_found_again(restartable, make_pool):
    pool = await make_pool(size=4, timeout=0.05).start()
    before = await eventually_all(pool)
    running = [started(pool.fetch("SELECT pg_sleep(60)")) for _ in range(3)]
    restartable.stop()
    try:
        for statement in running:
            with pytest.raises(UnavailableError):
                await statement
        with pytest.raises(UnavailableError):
            await pool.fetch(PID)
    finally:
        restartable.start()
    patient = make_pool(size=1)
    await patient.start()
    assert await pid_of(patient)
    after = await eventually_all(pool)
    assert len(after) == 4
    assert not after & before


@in_time
async def test_a_server_that_is_down_at_the_start_is_waited_for(restartable, make_pool):
    restartable.stop()
    try:
        pool = make_pool(size=2, timeout=0.3)
        starting = pool.start()
        with pytest.raises(UnavailableError):
            await pool.fetch(PID)
        assert not starting.called
    finally:
        restartable.start()
    assert await starting is pool
    assert await pid_of(pool)


@pytest.mark.parametrize(
    "settings",
    [{"dbname": "nowhere"}, {"user": "nobody_known"}, {"user": "guarded", "password": "wrong"}, {"dbname": "x y='"}],
)
@in_time
async def test_settings_that_cannot_work_fail_at_once(restartable, other, make_pool, settings):
    await other.execute("DROP ROLE IF EXISTS guarded")
    await other.execute("CREATE ROLE guarded LOGIN PASSWORD 'right'")
    pool = make_pool(restartable.dsn(**settings))
    with pytest.raises(ConfigError):
        await pool.start()
    with pytest.raises(UnavailableError, match="closed"):
        await pool.fetch(PID)


@in_time
async def test_the_right_password_is_accepted(restartable, other, make_pool):
    await other.execute("DROP ROLE IF EXISTS guarded")
    await other.execute("CREATE ROLE guarded LOGIN PASSWORD 'right'")
    pool = await make_pool(restartable.dsn(user="guarded", password="right")).start()
    assert await pool.fetch("SELECT current_user AS me") == [{"me": "guarded"}]


@in_time
async def test_an_error_in_the_setup_fails_at_once(make_pool):
    with pytest.raises(ConfigError, match="nowhere"):
        await make_pool(setup=["SELECT * FROM nowhere"]).start()


@in_time
async def test_a_server_that_says_nothing_is_tried_again(make_pool):
    third, gone, seen = Deferred(), [], []

    class Silent(Protocol):
        def connectionMade(self):
            seen.append(self)
            self.gone = Deferred()
            gone.append(self.gone)
            if len(seen) == 3:
                third.callback(None)

        def connectionLost(self, reason):
            self.gone.callback(None)

    port = reactor.listenTCP(0, Factory.forProtocol(Silent), interface="127.0.0.1")
    pool = make_pool(f"host=127.0.0.1 port={port.getHost().port} sslmode=disable", connect_seconds=0.02)
    starting = pool.start()
    await third
    await pool.close()
    with pytest.raises(UnavailableError):
        await starting
    await all_of(gone)
    await port.stopListening()


# -- closing


@in_time
async def test_closing_lets_running_work_end_and_sends_the_rest_away(pair, make_pool):
    pool = await make_pool(size=1).start()
    inserted, go_on = Deferred(), Deferred()

    async def work(transaction):
        await transaction.execute("INSERT INTO pair VALUES (1, 1)")
        inserted.callback(None)
        await go_on

    running = started(pool.transaction(work))
    await inserted
    waiting = started(pool.fetch(PID))
    closing = pool.close()
    with pytest.raises(UnavailableError, match="closed"):
        await waiting
    with pytest.raises(UnavailableError, match="closed"):
        await pool.fetch(PID)
    assert not closing.called
    go_on.callback(None)
    await running
    await closing
    assert len(await pair.fetch("SELECT * FROM pair")) == 1


@in_time
async def test_what_runs_when_a_pool_closes_has_its_rows(make_pool):
    pool = await make_pool(size=1).start()
    running = started(pool.fetch("SELECT 1 AS n FROM pg_sleep(0.1)"))
    closing = pool.close()
    assert await running == [{"n": 1}]
    await closing


@in_time
async def test_closing_may_be_hurried(pair, make_pool):
    pool = await make_pool(size=1).start()
    running = started(pool.fetch("SELECT pg_sleep(60)"))
    pool.close().addErrback(lambda failure: failure.trap(CancelledError)).cancel()
    with pytest.raises(UnavailableError):
        await running
    await pool.close()


@in_time
async def test_closing_does_not_wait_for_the_next_attempt_to_connect(make_pool):
    pool = make_pool("host=/nowhere", timeout=0.01)
    starting = pool.start()
    with pytest.raises(UnavailableError):
        await pool.fetch(PID)
    assert not starting.called
    await pool.close()
    assert starting.called
    with pytest.raises(UnavailableError, match="closed"):
        await starting


# -- notifications


class Received:
    """Keeps what it is told, and fires when a certain thing is."""

    def __init__(self) -> None:
        self.all, self._expected = [], {}

    def __call__(self, channel: str, payload: str) -> None:
        self.all.append((channel, payload))
        expected = self._expected.pop((channel, payload), None)
        if expected is not None:
            expected.callback(None)

    def expect(self, channel: str, payload: str) -> Deferred[None]:
        return self._expected.setdefault((channel, payload), Deferred())


@in_time
async def test_notifications_reach_every_observer(other, make_pool):
    pool, broken, heard = await make_pool(size=1).start(), [], Received()
    pool.add_observer(lambda channel, payload: broken.append(1 // 0))
    pool.add_observer(heard)
    await all_of([started(pool.listen("news")), started(pool.listen('odd "name"'))])
    odd, news = heard.expect('odd "name"', "2"), heard.expect("news", "1")
    await other.execute("SELECT pg_notify('news', '1'), pg_notify('unheard', '0'), pg_notify('odd \"name\"', '2')")
    await all_of([news, odd])
    assert heard.all == [("news", "1"), ('odd "name"', "2")]


@in_time
async def test_listening_goes_on_after_a_restart(restartable, other, make_pool):
    pool, heard = await make_pool(size=1).start(), Received()
    pool.add_observer(heard)
    await pool.listen("news")
    back = heard.expect("news", "")
    restartable.stop()
    restartable.start()
    await back
    news = heard.expect("news", "after")
    await eventually_all(other)
    await other.execute("SELECT pg_notify('news', 'after')")
    await news
    assert heard.all == [("news", ""), ("news", "after")]
