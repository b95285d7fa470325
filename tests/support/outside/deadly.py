"""A process that works on the queue, in which one kind of work kills it: ``python -m support.outside.deadly <dsn>``.

Two tasks at a time: "kill" ends the process as the kernel does when there is no memory left, "count" counts slowly.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

from twisted.internet import reactor as installed
from twisted.internet import task
from twisted.internet.defer import Deferred

from crowdd.core.base import make_pool
from crowdd.core.secrets import Secrets
from crowdd.house import build_house
from crowdd.kernel import config
from crowdd.sched.job import Handler
from support.servers.counting import worker_on

MAX_ATTEMPTS = 5


async def _kill(house: Any, item: Any) -> None:
    await task.deferLater(installed, 0.2)  # others begin meanwhile
    os.kill(os.getpid(), signal.SIGKILL)


async def _count(house: Any, item: Any) -> dict[str, object]:
    await task.deferLater(installed, 0.5)
    return {"counted": item.attempt}


async def _main(reactor: Any, dsn: str) -> None:
    settings = config.load(None, {"CROWDD_DB_DSN": dsn})
    pool, session = make_pool(reactor, settings, size=3), make_pool(reactor, settings, size=1)
    await pool.start()
    await session.start()
    house = build_house(reactor, pool, settings, Secrets(b"\x07" * 32))
    handlers = [Handler("count", _count, max_attempts=MAX_ATTEMPTS), Handler("kill", _kill, max_attempts=MAX_ATTEMPTS)]
    worker_on(house, *handlers, size=2, session=session).startService()
    await Deferred()


if __name__ == "__main__":
    task.react(_main, sys.argv[1:])
