"""One site for all tests of a matrix: they ask much and change little."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_twisted
from matrix.example_site import Stage, build
from psycopg2.extensions import parse_dsn
from support.servers.live import CROWDED
from support.servers.served import Served
from twisted.internet import reactor
from twisted.internet.defer import ensureDeferred

from crowdd.kernel import config


@pytest.fixture(scope="session")
def stage(postgres: Any) -> Iterator[Stage]:
    """Everybody and everything on one server."""
    folder = Path(tempfile.mkdtemp(prefix="crowdd-matrix-", dir="/tmp"))
    dsn = postgres.make()
    environment = {"CROWDD_DB_DSN": dsn, "CROWDD_DATA_DIR": str(folder), "CROWDD_RATELIMIT_LIMIT": "0", **CROWDED}
    environment["CROWDD_RETENTION_ADDRESS_DAYS"] = "0"  # planted answers are old
    served = Served(reactor, config.load(None, environment))
    pytest_twisted.blockon(ensureDeferred(served.start()))
    # Its rows are planted, so the job that recounts everything must not set them right meanwhile.
    postgres.run(
        "INSERT INTO job (name, due) VALUES ('check_counters', now() + '1 day') ON CONFLICT (name) DO UPDATE SET due = excluded.due",
        parse_dsn(dsn)["dbname"],
    )
    yield pytest_twisted.blockon(ensureDeferred(build(served)))
    pytest_twisted.blockon(ensureDeferred(served.stop()))
    postgres.drop(dsn)
    shutil.rmtree(folder, ignore_errors=True)
