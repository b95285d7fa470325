"""What every program of crowdd begins with: the database and the rules that its settings describe."""

from __future__ import annotations

from typing import Any

from crowdd.config import Settings
from crowdd.domain import secrets
from crowdd.domain.domain import Domain, build
from crowdd.domain.exports import Reading
from crowdd.errors import ConfigError
from crowdd.storage import schema
from crowdd.storage.places import Places
from crowdd.storage.pool import Pool


def make_pool(
    reactor: Any,
    settings: Settings,
    *,
    size: int = 0,
    statement_seconds: int | None = None,
    places: Places | None = None,
) -> Pool:
    """A pool on the configured database, with size and time-out of ``[db]`` unless told.

    Pools with the same ``places`` leave each other at least one connection when there are few; the first made is the
    first served.

    Raises ConfigError when none is configured.
    """
    seconds = settings.db.statement_seconds if statement_seconds is None else statement_seconds
    if not settings.db.dsn:
        raise ConfigError("No database is configured: set [db] dsn, or start with: crowdctl serve")
    return Pool(
        reactor,
        settings.db.dsn,
        size=size or settings.db.pool_size,
        most_waiting=settings.db.most_waiting,
        wait_seconds=settings.db.wait_seconds,
        setup=session(seconds),
        places=places,
    )


def session(seconds: int) -> list[str]:
    """What each connection of a pool begins with; ``seconds`` are the time-out of a statement."""
    return [
        schema.SEARCH_PATH,
        "SET timezone = 'UTC'",
        f"SET statement_timeout = '{seconds}s'",
        "SET lock_timeout = '5s'",
        # A transaction whose work waits for ever must not hold its rows for ever; nor a statement whose server is gone.
        f"SET idle_in_transaction_session_timeout = '{seconds}s'",
        "SET client_connection_check_interval = '1s'",
        # Plans of functions are made once per connection, perhaps while the tables are empty or do not know a project
        # yet: as for any project, and as if tables were large. What has no index then looks dear enough to be compiled.
        "SET plan_cache_mode = force_generic_plan",
        "SET enable_seqscan = off",
        "SET jit = off",
    ]


def make_domain(reactor: Any, settings: Settings, pool: Pool, reading: Reading | None = None) -> Domain:
    """The rules of crowdd on a pool, with the secrets of the data folder. Raises ConfigError without these.

    ``reading``: what files that are downloaded are read by; otherwise the pool.
    """
    return build(reactor, pool, settings, secrets.load(settings.data.dir), reading)
