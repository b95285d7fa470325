"""Statements that a connection plans once."""

import psycopg2
import pytest
import pytest_twisted
from twisted.internet import reactor

from crowdd.database.access import Prepared
from crowdd.database.pool import Pool
from crowdd.kernel.errors import InvalidValueError

ADD = Prepared("SELECT %(a)s + %(b)s AS sum, '100 %%' AS percent, %(a)s AS again", b="bigint", a="bigint")
PLANNED = "SELECT count(*) AS n FROM pg_prepared_statements WHERE name LIKE 'crowdd_%'"


@pytest_twisted.async_yield_fixture
async def single(dsn):
    """A pool of one connection."""
    made = Pool(reactor, dsn, size=1)
    await made.start()
    yield made
    await made.close()


@pytest_twisted.ensureDeferred
async def test_it_answers_as_any_other_and_is_planned_once(single):
    for a in (1, 2, 3):
        assert await single.fetch(ADD, {"a": a, "b": 10}) == [{"sum": a + 10, "percent": "100 %%", "again": a}]
    assert (await single.fetch(PLANNED))[0]["n"] == 1


@pytest_twisted.ensureDeferred
async def test_it_may_be_met_first_in_a_transaction_that_is_undone(single):
    async def work(tx):
        assert (await tx.fetch(ADD, {"a": 1, "b": 1}))[0]["sum"] == 2
        raise KeyError

    with pytest.raises(KeyError):
        await single.transaction(work)
    assert (await single.fetch(ADD, {"a": 2, "b": 2}))[0]["sum"] == 4


@pytest_twisted.ensureDeferred
async def test_every_new_connection_plans_it_again(single):
    await single.fetch(ADD, {"a": 1, "b": 1})
    with pytest.raises(Exception, match=r"terminat|reached"):
        await single.fetch("SELECT pg_terminate_backend(pg_backend_pid())")
    assert (await single.fetch(ADD, {"a": 2, "b": 2}))[0]["sum"] == 4


@pytest_twisted.ensureDeferred
async def test_a_mistake_is_told_each_time(single):
    wrong = Prepared("SELECT nothing FROM nowhere WHERE %(a)s", a="boolean")
    for _ in range(2):
        with pytest.raises(psycopg2.errors.UndefinedTable):
            await single.fetch(wrong, {"a": True})
    with pytest.raises(InvalidValueError):
        await single.fetch(ADD, {"a": 2**63 - 1, "b": 1})
