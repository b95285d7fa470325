"""Where crowds are played: on a running server, or in memory."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Sequence
from typing import Protocol

from support.person import Person
from support.servers.live import LiveServer

from bench.support.testbed import Sql
from bench.trust import served
from bench.trust.crowds import Crowd, Shape
from bench.trust.memory import Memory
from bench.trust.play import Outcome, Play

AT_ONCE = 6  # projects
_numbers = itertools.count(1)


class Site(Protocol):
    """Plays crowds."""

    async def one(self, crowd: Crowd, everybody: bool = False) -> Outcome:
        """What a crowd comes to in a project of its own. ``everybody``: see ``served.Folding``."""


async def answered(site: Site, shape: Shape, seeds: Sequence[int]) -> list[Outcome]:
    """What crowds of a shape come to, one for each seed."""
    return await asyncio.gather(*(site.one(Crowd(shape, seed)) for seed in seeds))


class ServerSite:
    """A running server with the owner of all projects; some projects are answered side by side."""

    def __init__(self, server: LiveServer, sql: Sql) -> None:
        self._server, self._sql = server, sql
        self._owner = Person(server.url).register(f"owner{time.time_ns()}")
        self._places = asyncio.Semaphore(AT_ONCE)
        self._lock = served.halt_folding(sql.dsn)

    async def one(self, crowd: Crowd, everybody: bool = False) -> Outcome:
        """Over HTTP."""
        async with self._places:
            name = f"crowd{next(_numbers)}x{time.time_ns() // 1_000_000}"
            project = await asyncio.to_thread(served.made, self._server, self._owner, name, crowd)
            place = served.Served(crowd, project, self._server.port, self._sql, everybody=everybody)
            return await Play(crowd, place).run()


class MemorySite:
    """Nothing but the rule, always for everybody."""

    async def one(self, crowd: Crowd, everybody: bool = True) -> Outcome:
        """At once."""
        return await Play(crowd, Memory(crowd)).run()
