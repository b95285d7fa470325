"""A PostgreSQL that takes fewer sessions than a process wants: everybody gets one before anybody gets more."""

from __future__ import annotations

import attrs
import pytest
import pytest_twisted
from psycopg2.extensions import parse_dsn
from support.until import until
from twisted.internet import reactor
from twisted.internet.defer import Deferred, TimeoutError, ensureDeferred

from crowdd.database.connector import ConnectionBudget
from crowdd.database.pool import Pool


@attrs.define(eq=False)
class Member:
    lacks_any: bool


@pytest.mark.parametrize(
    ("lacking", "reserved"),
    [
        ((False, False, False), (False, False, False)),  # enough for all: nobody waits
        ((False, True, False), (True, False, True)),  # who has one waits, wherever it stands
        ((True, False, True), (False, True, True)),  # of those who have none the first goes first
    ],
)
def test_who_has_none_comes_first(lacking, reserved):
    budget, members = ConnectionBudget(), [Member(each) for each in lacking]
    for member in members:
        budget.join(member)
    assert tuple(budget.reserved(member) for member in members) == reserved


def test_who_lent_last_gives_first_and_one_is_enough():
    budget, givers = ConnectionBudget(), []
    for name, can in (("requests", True), ("background", True), ("session", False)):
        budget.lend(lambda name=name, can=can: can and not givers.append(name))
    budget.make_room()
    assert givers == ["background"]


@pytest.fixture
def limited(postgres, dsn):
    """Sets how many sessions the database takes."""
    name = parse_dsn(dsn)["dbname"]
    yield lambda maximum: postgres.run(f"ALTER DATABASE {name} CONNECTION LIMIT {maximum}")
    postgres.run(f"ALTER DATABASE {name} CONNECTION LIMIT -1")


@pytest_twisted.async_yield_fixture
async def make(dsn):
    """Makes pools that share their places."""
    budget, pools = ConnectionBudget(), []

    def made(size):
        pools.append(Pool(reactor, dsn, size=size, budget=budget))
        return pools[-1]

    yield made
    for pool in pools:
        await pool.close().addTimeout(10, reactor)


def has(pool, number):
    figures = pool.figures()
    return figures.free + figures.busy == number


async def occupied(pool):
    """Occupies a connection: (fire this to let it go, fires when it is done)."""
    begun, release = Deferred(), Deferred()

    async def work(transaction):
        begun.callback(None)
        await release

    done = ensureDeferred(pool.transaction(work))
    await begun
    return release, done


@pytest_twisted.ensureDeferred
async def test_who_has_several_gives_one_to_him_who_has_none(limited, make):
    requests, background = make(8), make(4)
    limited(4)
    await background.start()
    await until(lambda: has(background, 4))
    await requests.start().addTimeout(60, reactor)
    assert (await requests.fetch("SELECT 1 AS one"))[0]["one"] == 1
    assert not has(background, 0)
    limited(-1)
    await until(lambda: has(requests, 8) and has(background, 4))


@pytest_twisted.ensureDeferred
async def test_work_under_way_keeps_its_connection_and_gives_it_when_done(limited, make):
    requests, background = make(2), make(2)
    limited(2)
    await background.start()
    await until(lambda: has(background, 2))
    under_way = [await occupied(background) for _ in range(2)]
    begun = requests.start()
    release, done = under_way.pop()
    with pytest.raises(TimeoutError):
        await begun.addTimeout(0.5, reactor)
    release.callback(None)
    await done
    await until(lambda: has(requests, 1) and has(background, 1))
    assert under_way[0][1].called is False
    under_way[0][0].callback(None)
    await under_way[0][1]


@pytest_twisted.ensureDeferred
async def test_nobody_gives_his_last(limited, make):
    late, first = make(1), make(1)
    limited(1)
    await first.start()
    with pytest.raises(TimeoutError):
        await late.start().addTimeout(0.5, reactor)
    assert has(first, 1) and has(late, 0)
