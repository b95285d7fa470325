"""A server for those who treat it badly: nobody else's rows are on it."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.servers.live import LiveServer


@pytest.fixture(scope="module")
def own_server(postgres: Any) -> Iterator[LiveServer]:
    """crowdd as a process of its own (twistd), on a database of its own."""
    dsn = postgres.make()
    made = LiveServer(dsn, Path(tempfile.mkdtemp(prefix="crowdd-own-", dir="/tmp")))
    made.start()
    yield made
    made.stop()
    postgres.drop(dsn)
    shutil.rmtree(made.data, ignore_errors=True)
