"""A work of the queue that counts, and a process that does it and stops where it is told: ``python -m support.servers.counting``.

Each step is a transaction that leaves a row (in a table that is there and has room for it) and says how far it is.
Arguments: ``to``.
"""

from __future__ import annotations

import sys
from typing import Any

from twisted.internet import reactor, task
from twisted.internet.defer import Deferred

from crowdd.core.base import make_pool
from crowdd.core.secrets import Secrets
from crowdd.house import build_house
from crowdd.kernel import config
from crowdd.sched.feature import Scheduling
from crowdd.sched.job import Handler
from crowdd.sched.queue_worker import Worker

COUNTED = "SELECT split_part(subject, ' ', 1)::int AS n, split_part(subject, ' ', 2)::int AS attempt FROM attempt_count ORDER BY 1"
_COUNT = "INSERT INTO attempt_count VALUES (%(n)s || ' ' || %(attempt)s || ' ' || gen_random_uuid(), 1, clock())"


def counting(stop_in: int = -1, stopped: Any = None, **more: Any) -> Handler:
    """The work; in the middle of step ``stop_in`` it calls ``stopped`` and awaits what that returns."""

    async def run(house: Any, item: Any) -> dict[str, object]:
        for n in range(item.checkpoint or 0, item.arguments["to"]):

            async def step(tx: Any, n: int = n) -> None:
                await tx.execute(_COUNT, {"n": n, "attempt": item.attempt})
                if n == stop_in:
                    await stopped()
                await item.progress(n + 1, item.arguments["to"], n + 1, within=tx)

            await house.base.db.transaction(step)
        return {"counted": item.arguments["to"]}

    return Handler("count", run, **more)


def worker_on(house: Any, *handlers: Handler, clock: Any = reactor, size: int = 1, **more: Any) -> Worker:
    """A worker of these services that has these handlers."""
    named, start = {each.name: each for each in handlers}, lambda handler, item: handler.run(house, item)
    return Worker(clock, named, house.base.db, house[Scheduling].queue, house.base.mail, start, size=size, **more)


async def _main(reactor: Any, dsn: str, stop_in: str, presence: str = "") -> None:
    settings = config.load(None, {"CROWDD_DB_DSN": dsn})
    pool, session = make_pool(reactor, settings, size=3), make_pool(reactor, settings, size=1)
    await pool.start()
    await session.start()

    def stopped() -> Deferred[None]:
        print("in the middle", flush=True)
        return Deferred()

    house = build_house(reactor, pool, settings, Secrets(b"\x07" * 32))
    work = counting(int(stop_in), stopped)
    worker_on(house, work, session=session if presence else None).startService()
    await Deferred()


if __name__ == "__main__":
    task.react(_main, sys.argv[1:])
