"""One server for these tests, whose page cache goes by a clock of theirs: nothing in it gets old while nobody moves it."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_twisted
from support.servers.live import CROWDED
from support.servers.served import Served
from support.visitors import VisitedSite
from twisted.internet import reactor
from twisted.internet.defer import ensureDeferred
from twisted.internet.task import Clock

from crowdd.http.page_cache import PageCache
from crowdd.http.steps import SharePage
from crowdd.kernel import config


@pytest.fixture(scope="session")
def visited(postgres: Any) -> Iterator[VisitedSite]:
    """The server without anything."""
    folder = Path(tempfile.mkdtemp(prefix="crowdd-cache-", dir="/tmp"))
    clock, dsn = Clock(), postgres.make()
    environment = {"CROWDD_DB_DSN": dsn, "CROWDD_DATA_DIR": str(folder), "CROWDD_RATELIMIT_LIMIT": "0", **CROWDED}
    environment |= {"CROWDD_HTTP_TRUSTED_PROXIES": "127.0.0.1", "CROWDD_ACCOUNTS_SIGNUPS_PER_HOUR": "0"}
    served = Served(reactor, config.load(None, environment))
    pytest_twisted.blockon(ensureDeferred(served.start()))
    served.step(SharePage).page_cache._pages._clock = clock
    yield VisitedSite(served, clock)
    pytest_twisted.blockon(ensureDeferred(served.stop()))
    postgres.drop(dsn)
    shutil.rmtree(folder, ignore_errors=True)


@pytest_twisted.async_fixture
async def site(visited, monkeypatch):
    """The server with a project of this test."""
    make = PageCache._made

    async def counted(self: PageCache, *arguments: Any) -> Any:
        visited.made += 1
        return await make(self, *arguments)

    monkeypatch.setattr(PageCache, "_made", counted)
    return await visited.renew()
