"""Follows chains without a pause, a task at a time, until it is killed: ``python -m support.outside.follow_chains <dsn>``."""

from __future__ import annotations

import sys
from typing import Any

from twisted.internet import task
from twisted.internet.defer import ensureDeferred

from crowdd.core.base import make_pool
from crowdd.core.secrets import Secrets
from crowdd.features.chains import following
from crowdd.features.chains.feature import ChainsFeature
from crowdd.house import build_house
from crowdd.kernel import config


async def _main(reactor: Any, dsn: str) -> None:
    settings = config.load(None, {"CROWDD_DB_DSN": dsn})
    pool = make_pool(reactor, settings, size=2)
    await pool.start()
    house = build_house(reactor, pool, settings, Secrets(b"\x07" * 32))
    following.CHUNK = 1  # type: ignore[misc]
    print("ready", flush=True)
    while True:
        await house[ChainsFeature].following.run()


if __name__ == "__main__":
    task.react(lambda reactor: ensureDeferred(_main(reactor, sys.argv[1])))
