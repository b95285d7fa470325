"""The database of a server that has none configured: its own PostgreSQL, running or brought up for one command."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

import attrs

from crowdd.config import Settings
from crowdd.embedded import answering, find_home, hold, start


@contextlib.contextmanager
def reachable(settings: Settings) -> Iterator[Settings]:
    """Settings with a database as long as the block lasts; as they are when one is configured, or never was made.

    Beside a running ``crowdctl serve`` it is that one's. Raises StartError when it cannot be brought up.
    """
    if settings.db.dsn or not os.path.lexists(settings.data.dir / "postgres"):
        yield settings
        return
    home = find_home(settings.data.dir, settings.data.postgres_user)
    dsn = answering(home)
    if dsn is not None:
        yield _on(settings, dsn)
        return
    lock = hold(settings.data.dir)
    server = start(home)
    try:
        yield _on(settings, server.dsn)
    finally:
        server.stop()
        os.close(lock)


def _on(settings: Settings, dsn: str) -> Settings:
    return attrs.evolve(settings, db=attrs.evolve(settings.db, dsn=dsn))
