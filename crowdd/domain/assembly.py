"""What every program of crowdd begins with: the database and the rules that its settings describe."""

from __future__ import annotations

from typing import Any

from crowdd.config import Settings
from crowdd.domain import secrets
from crowdd.domain.domain import Domain, build
from crowdd.errors import ConfigError
from crowdd.storage import schema
from crowdd.storage.pool import Pool


def make_pool(reactor: Any, settings: Settings) -> Pool:
    """A pool on the configured database. Raises ConfigError when none is configured."""
    if not settings.db.dsn:
        raise ConfigError("No database is configured: set [db] dsn, or start with: crowdctl serve")
    timeout = f"SET statement_timeout = {settings.db.statement_seconds * 1000}"
    return Pool(
        reactor,
        settings.db.dsn,
        size=settings.db.pool_size,
        most_waiting=settings.db.most_waiting,
        wait_seconds=settings.db.wait_seconds,
        setup=[schema.SEARCH_PATH, timeout, "SET lock_timeout = 5000", "SET timezone = 'UTC'"],
    )


def make_domain(reactor: Any, settings: Settings, pool: Pool) -> Domain:
    """The rules of crowdd on a pool, with the secrets of the data folder. Raises ConfigError without these."""
    return build(reactor, pool, settings, secrets.load(settings.data.dir))
