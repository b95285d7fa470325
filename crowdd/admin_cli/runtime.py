"""Run one command with a reactor, a database and the house, and shut them down in order.

Without a configured database the command uses crowdd's own PostgreSQL: the running one, or one started for the command.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

import attrs
from twisted.internet import reactor as installed
from twisted.internet.defer import Deferred, TimeoutError, ensureDeferred
from twisted.internet.error import ReactorNotRunning
from twisted.python.failure import Failure

from crowdd.core.base import make_pool
from crowdd.core.feature import House
from crowdd.database import schema
from crowdd.database.connector import FULL_WORDS
from crowdd.database.embedded import answering, find_home, hold_folder, start
from crowdd.database.pool import Pool
from crowdd.house import make_house
from crowdd.kernel.config import Settings, load
from crowdd.kernel.errors import UnavailableError
from crowdd.kernel.reactor import keep_steady
from crowdd.sched.nodes import NotifyBridge

T = TypeVar("T")


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
    lock = hold_folder(settings.data.dir)
    server = start(home)
    try:
        yield _on(settings, server.dsn)
    finally:
        server.stop()
        os.close(lock)


def _on(settings: Settings, dsn: str) -> Settings:
    return attrs.evolve(settings, db=attrs.evolve(settings.db, dsn=dsn))


reactor: Any = installed


def with_domain(config: Path | None, work: Callable[[House], Awaitable[T]], *, connections: int = 1) -> T:
    """Run ``work`` with the rules on a database of this version, and return its result.

    One connection is enough for work that does one thing after the other. Raises ConfigError, UnavailableError,
    SchemaError and StartError if it cannot start. Call it once per process.
    """

    async def by_the_rules(settings: Settings, pool: Pool) -> T:
        (await schema.status(pool)).require()
        house = make_house(reactor, settings, pool)
        await house.prepare()
        notices = NotifyBridge(reactor, pool, house.base.shared.change_notifier)
        house.start()
        notices.startService()
        try:
            return await work(house)
        finally:
            await notices.stopService()
            house.stop()
            await house.base.security_log.close()

    return _with_pool(load(config), by_the_rules, connections)


@contextlib.asynccontextmanager
async def presence(settings: Settings) -> AsyncIterator[Pool]:
    """The session of a worker of the queue: when the command is interrupted, its task can go on elsewhere at once."""
    session = make_pool(reactor, settings, size=1)
    await session.start()
    try:
        yield session
    finally:
        await session.close()


def with_database(config: Path | None, work: Callable[[Pool], Awaitable[T]]) -> T:
    """Run ``work`` on a database of any version, which may be empty, without the rules."""
    return _with_pool(load(config), lambda settings, pool: work(pool))


def as_owner(config: Path | None, work: Callable[[Pool], Awaitable[T]]) -> T:
    """Run ``work`` as the role that owns the tables, if the configuration names one."""
    settings = load(config)
    owner = attrs.evolve(settings.db, dsn=settings.db.migrate_dsn or settings.db.dsn)
    return _with_pool(attrs.evolve(settings, db=owner), lambda settings, pool: work(pool))


def as_owner_of(settings: Settings, dsn: str, work: Callable[[Pool], Awaitable[T]]) -> T:
    """Run ``work`` on an existing database, as the role of this DSN."""
    named = attrs.evolve(settings, db=attrs.evolve(settings.db, dsn=dsn))
    return _with_settings(named, lambda settings, pool: work(pool), 1)


def _with_pool(settings: Settings, work: Callable[[Settings, Pool], Awaitable[T]], connections: int = 1) -> T:
    with reachable(settings) as reachable_settings:
        return _with_settings(reachable_settings, work, connections)


def _with_settings(settings: Settings, work: Callable[[Settings, Pool], Awaitable[T]], connections: int) -> T:
    pool = make_pool(reactor, _patient(settings, connections))

    async def connected() -> T:
        try:
            await _start(pool, settings.db.pool_timeout)
            return await work(settings, pool)
        finally:
            await pool.close()

    return _on_the_reactor(connected)


def _patient(settings: Settings, connections: int) -> Settings:
    """Settings for a command: few connections, and statements without a timeout."""
    return attrs.evolve(settings, db=attrs.evolve(settings.db, pool_size=connections, statement_timeout=0))


async def _start(pool: Pool, seconds: int) -> None:
    try:
        await pool.start().addTimeout(seconds, reactor)
    except TimeoutError:
        if pool.trouble == FULL_WORDS:
            raise UnavailableError(FULL_WORDS) from None
        message = f"The database has not answered for {seconds} seconds. Is it running, and is [db] dsn right?"
        raise UnavailableError(message) from None


def _on_the_reactor(work: Callable[[], Coroutine[Deferred[object], object, T]]) -> T:
    """Run the reactor until the work has ended. Raises KeyboardInterrupt if a signal ends it before."""
    keep_steady(reactor)
    ended: list[T | Failure] = []

    def begin() -> None:
        ensureDeferred(work()).addBoth(end)

    def end(result: T | Failure) -> None:
        ended.append(result)
        with contextlib.suppress(ReactorNotRunning):
            reactor.stop()

    def stopped() -> None:
        # If the work has not ended, a signal stopped the reactor. Later errors of the work are about lost connections.
        if not ended:
            ended.append(Failure(KeyboardInterrupt()))

    reactor.callWhenRunning(begin)
    reactor.addSystemEventTrigger("before", "shutdown", stopped)
    reactor.run()
    if isinstance(ended[0], Failure):
        ended[0].raiseException()
    return ended[0]
