"""What every program of crowdd begins with: the database and the rules that its settings describe."""

from __future__ import annotations

from collections.abc import Sequence

from crowdd.core import secrets
from crowdd.database.access import Reading
from crowdd.database.connection import GRACE_SECONDS
from crowdd.database.connector import ONE_PROCESSOR, ConnectionBudget, list_session_settings, require_primary
from crowdd.database.pool import Apart, Pool
from crowdd.database.replica import Replica
from crowdd.kernel.config import Settings
from crowdd.kernel.errors import ConfigError
from crowdd.kernel.reactor import IReactor
from crowdd.services import Services, build, max_slow_reads


def make_pool(
    reactor: IReactor,
    settings: Settings,
    *,
    size: int = 0,
    statement_timeout: int | None = None,
    may_be_late: bool = False,
    further: Sequence[str] = (),
    budget: ConnectionBudget | None = None,
) -> Pool:
    """A pool on the configured database, with size and time-out of ``[db]`` unless told.

    A connection counts as lost when PostgreSQL says nothing for a little longer than the time-out. It never does if
    there is none, or with ``may_be_late``: some of its transactions set another one.

    ``further`` are statements that its connections begin with, too.

    Pools with the same ``budget`` leave each other at least one connection when there are few; the first made is the
    first served.

    Raises ConfigError when none is configured.
    """
    seconds = settings.db.statement_timeout if statement_timeout is None else statement_timeout
    if not settings.db.dsn:
        raise ConfigError("No database is configured: set [db] dsn, or start with: crowdctl serve")
    require_primary(settings.db.dsn)
    return Pool(
        reactor,
        settings.db.dsn,
        size=size or settings.db.pool_size,
        max_queue=settings.db.max_queue,
        timeout=settings.db.pool_timeout,
        answer_timeout=None if may_be_late or not seconds else seconds + GRACE_SECONDS,
        setup=[*list_session_settings(seconds), *further],
        budget=budget,
    )


def make_slow_pool(reactor: IReactor, settings: Settings, budget: ConnectionBudget) -> Pool:
    """A small pool for lists that may read much of a table (``SlowReads``), each on one processor."""
    return make_pool(
        reactor,
        settings,
        size=max_slow_reads(settings),
        statement_timeout=settings.db.slow_read_timeout,
        further=[ONE_PROCESSOR],
        budget=budget,
    )


def make_replica(reactor: IReactor, settings: Settings, pool: Pool, file_seconds: int) -> Replica | None:
    """The replica of ``[db] replica_dsn``; None if there is none.

    ``pool`` asks the primary. Statements of files have ``file_seconds``.
    """
    if not settings.db.replica_dsn:
        return None
    budget = ConnectionBudget()
    replica_pool = Pool(
        reactor,
        settings.db.replica_dsn,
        size=max_slow_reads(settings) + 1,  # one asks how far the replica is
        max_queue=settings.db.max_queue,
        timeout=settings.db.replica_timeout,
        answer_timeout=settings.db.slow_read_timeout + GRACE_SECONDS,
        setup=[*list_session_settings(settings.db.slow_read_timeout), ONE_PROCESSOR],
        budget=budget,
    )
    apart = Apart(
        reactor, settings.db.replica_dsn, list_session_settings(file_seconds), budget, settings.db.replica_timeout
    )
    return Replica(reactor, pool, replica_pool, apart, settings.db.replica_timeout)


def make_services(
    reactor: IReactor, settings: Settings, pool: Pool, reading: Reading | None = None, slow_pool: Reading | None = None
) -> Services:
    """The rules of crowdd on a pool, with the secrets of the data folder. Raises ConfigError without these.

    ``reading``: what files that are downloaded are read by; ``slow_pool``: what slow lists are. Otherwise the pool.
    """
    return build(reactor, pool, settings, secrets.load(settings.data.dir), reading, slow_pool)
