"""Making an empty database a shard of a server."""

from __future__ import annotations

from functools import partial

import attrs
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater

from crowdd.errors import ConflictError, UnavailableError
from crowdd.storage import schema
from crowdd.storage.database import Transactions
from crowdd.storage.server.shards import preparing
from crowdd.storage.server.shards.rows import ListedShard

_PAUSE = 0.1
COPY_SECONDS = 600.0
"""How long the first copy of accounts may take while somebody waits for it."""


@attrs.frozen
class Databases:
    """Connections to the two databases: ``home`` and ``shard`` as the roles that own the tables, ``superuser`` on the
    shard as one who may make a subscription. ``home_dsn``: how the PostgreSQL of the shard reaches home.
    """

    home: Transactions
    shard: Transactions
    superuser: Transactions
    home_dsn: str


async def add(clock: IReactorTime, databases: Databases, name: str) -> ListedShard:
    """Makes the database a shard and waits until it has all accounts. Done again, it finishes what was begun.

    Raises ConflictError for a database that holds something else, and what PostgreSQL refuses as UnavailableError.
    """
    home, shard = databases.home, databases.shard
    (await schema.status(home)).require()
    await schema.upgrade(shard)
    before, here, shard_contents = (
        await preparing.own(shard),
        await preparing.contents(home),
        await preparing.contents(shard),
    )
    if (here.system_identifier, here.database) == (shard_contents.system_identifier, shard_contents.database):
        raise ConflictError("The shard is the database of [db] dsn itself.", hint="Correct [db] shards.")
    if before is None and (shard_contents.accounts or shard_contents.projects):
        raise ConflictError("The database has accounts or projects. A new shard must be empty.")
    number = await home.transaction(lambda tx: preparing.number_of(tx, name))
    if before is not None and (before.number, before.name) != (number, name):
        raise ConflictError(f"The database is shard {before.number} ({before.name}) already.")
    if before is None:
        await shard.transaction(partial(preparing.become, number=number, name=name))
    else:
        await shard.transaction(preparing.notice_always)
    await preparing.publish(home, number)
    await preparing.subscribe(databases.superuser, number, databases.home_dsn)
    await _copied(clock, databases.superuser, number)
    return next(row for row in await preparing.listed(home) if row["number"] == number)


async def _copied(clock: IReactorTime, shard: Transactions, number: int) -> None:
    end = clock.seconds() + COPY_SECONDS
    while True:
        state = await preparing.copying(shard, number)
        if state.tables and not state.waiting:
            return
        if clock.seconds() >= end:
            raise UnavailableError(
                f"The shard has not fetched all accounts from home within {COPY_SECONDS:.0f} seconds.",
            )
        await deferLater(clock, _PAUSE)
