"""A throw-away PostgreSQL, a migrated database for each test, and crowdd on it: as a domain, in this process, or as a
process of its own.
"""

from __future__ import annotations

import functools
import gc
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import hypothesis
import pytest
import pytest_twisted
from psycopg2.extensions import make_dsn
from support.checks import row_types
from support.checks.proofs import leave_to_proofs
from support.servers import s3
from support.servers.chromium import browser
from support.servers.compiled import Compiled, once, once_for_each, once_per_document, once_per_object, own_byte_code
from support.servers.live import CROWDED, LiveServer
from support.servers.postgres import TEMPLATE, Postgres, scratch_folder
from support.servers.served import Served, ServedByWorkers
from support.suite import slow_tests
from support.suite.left_over import pytest_runtest_teardown
from support.suite.stalls import pytest_runtest_call
from twisted.internet import reactor
from twisted.internet.defer import ensureDeferred

from crowdd import app, web
from crowdd.core import base, secrets
from crowdd.core.feature import House
from crowdd.core.secrets import Secrets
from crowdd.database import access, schema
from crowdd.database.embedded import find_home, start
from crowdd.database.pool import Pool
from crowdd.features.accounts import passwords
from crowdd.features.projects import web as project_web
from crowdd.house import build_house
from crowdd.http.api import reference
from crowdd.http.html import rendering, static_files
from crowdd.kernel import config

__all__ = ["browser", "pytest_runtest_call", "pytest_runtest_teardown"]


@pytest.hookimpl(tryfirst=True)  # before pytest chooses by markers
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Marks proofs and slow tests, and puts those first that take longest."""
    leave_to_proofs(config, items)
    listed = slow_tests.read()
    slow_tests.mark_slow(items, listed)
    items[:] = slow_tests.in_order(items, listed)


# Nothing of what is imported and collected goes away: to look for it again and again is a third of the collection.
gc.disable()


def pytest_collection_finish() -> None:
    """From here on the collector works as usual."""
    gc.enable()


def pytest_configure() -> None:
    """Templates are compiled once for all workers, also those of modules that make pages while they are imported."""
    shared = functools.cache(lambda templates, made_by: Compiled(own_byte_code(templates, made_by)))
    rendering.open_byte_code_cache = lambda templates, made_by, data=None: shared(templates, made_by)  # type: ignore[assignment, misc]


LEFT_OUT = pytest.StashKey[int]()


def pytest_deselected(items: Sequence[pytest.Item]) -> None:
    """Counts what a choice by markers leaves out."""
    config = items[0].config
    config.stash[LEFT_OUT] = config.stash.get(LEFT_OUT, 0) + len(items)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker of xdist tells the process that started it."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = session.config.stash.get(LEFT_OUT, 0)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Each worker leaves out the same."""
    node.config.stash[LEFT_OUT] = getattr(node, "workeroutput", {}).get("left_out", 0)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Says how many tests did not run: a small run must not pass for the whole."""
    if config.stash.get(LEFT_OUT, 0):
        terminalreporter.write_line(
            f"{config.stash[LEFT_OUT]} tests were left out; make test and make proofs run them."
        )


# Chance is the same in each run, and a busy machine is no failure.
hypothesis.settings.register_profile(
    "crowdd", derandomize=True, deadline=None, database=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("crowdd")


@pytest.fixture(scope="session", autouse=True)
def compiled() -> Iterator[None]:
    """What each server of this process creates again at its start, always the same, is made once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rendering, "TemplateFiles", functools.cache(rendering.TemplateFiles))
        patch.setattr(reference, "document", once_per_document(reference.document))
        patch.setattr(reference, "tagged", once_per_object(reference.tagged))
        patch.setattr(reference, "sections", once_per_object(reference.sections))
        patch.setattr(project_web, "setting_names", once(project_web.setting_names))
        ours = web.StaticFiles.read()
        patch.setattr(web, "StaticFiles", SimpleNamespace(read=lambda data: ours))
        patch.setattr(static_files, "_gzip", functools.cache(static_files._gzip))
        sources = once_for_each(lambda: (schema.HERE, schema.build_scheduler_dispatch), schema.definitions)
        patch.setattr(schema, "definitions", sources)
        patch.setattr(schema, "_fingerprint", functools.cache(schema._fingerprint))
        # A server looks for cycles at its start and keeps what is left out of the collector's sight for ever. Here that
        # is done once, so that what a stopped server leaves is found without a look at all that was imported.
        gc.collect()
        gc.freeze()
        patch.setattr(app, "gc", SimpleNamespace(**{**vars(gc), "collect": lambda: 0, "freeze": lambda: None}))
        sys.setswitchinterval(app.SWITCH_SECONDS)  # as in a server
        yield


@pytest.fixture(scope="session", autouse=True)
def checked_rows() -> Iterator[None]:
    """Rows of all statements that run in this process have to be what their row types say."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(access, "_converted", row_types.converted)
        yield


@pytest.fixture(scope="session", autouse=True)
def cheap_passwords() -> Iterator[None]:
    """Thousands of people sign up in this process: their passwords are hashed as always, but quickly."""
    hasher = passwords.Hasher(passes=1, memory=8)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords, "_HASHER", hasher)
        patch.setattr(passwords, "_NOBODY", hasher.unmatched())
        yield


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """PostgreSQL on a socket in a folder of its own."""
    folder = scratch_folder("crowdd-tests-")
    server = start(find_home(folder))
    cluster = Postgres(server.dsn)
    for setting in (
        "fsync = off",
        "autovacuum = off",
        "synchronous_commit = off",
        "full_page_writes = off",
        "max_connections = 100",
    ):
        cluster.run(f"ALTER SYSTEM SET {setting}")
    cluster.run("SELECT pg_reload_conf()")
    cluster.run(f"CREATE DATABASE {TEMPLATE} OWNER crowdd")
    pytest_twisted.blockon(ensureDeferred(_migrate(make_dsn(server.dsn, dbname=TEMPLATE))))
    cluster.prepare()
    with pytest.MonkeyPatch.context() as patch:
        cluster.kept.install(patch)
        yield cluster
    server.stop()
    shutil.rmtree(folder, ignore_errors=True)


async def _migrate(dsn: str) -> None:
    pool = Pool(reactor, dsn, size=1, setup=[schema.SEARCH_PATH])
    await pool.start()
    await schema.upgrade(pool)
    await pool.close()


@pytest.fixture
def dsn(postgres: Postgres, request: pytest.FixtureRequest) -> Iterator[str]:
    """A fresh, migrated database."""
    served = not {"served", "serve"}.isdisjoint(request.fixturenames)
    ledger = "ledger" in request.fixturenames and "planned_again" not in request.fixturenames
    taken = postgres.take("server" if served else "ledger" if ledger else "")
    yield taken
    postgres.give_back(taken)


# A handful of connections: to open them is a good part of most tests.
POOL_SIZE = "4"

# Clients of the tests share an address. That anonymous answers of one network count once per task is off, unless
# a test is about it.
NO_LIMIT = {"CROWDD_VOLUNTEERS_COUNTED_PER_NETWORK": "0"}


@pytest.fixture
def settings(dsn: str, tmp_path: Path) -> config.Settings:
    """Settings for it; the rate limit and the limits of CROWDED are off unless a test sets one."""
    environment = {"CROWDD_DB_DSN": dsn, "CROWDD_DATA_DIR": str(tmp_path / "data"), "CROWDD_RATELIMIT_LIMIT": "0"}
    return config.load(None, {**environment, **NO_LIMIT, **CROWDED, "CROWDD_DB_POOL_SIZE": POOL_SIZE})


@pytest_twisted.async_yield_fixture
async def pool(settings: config.Settings) -> Any:
    """The server's own pool."""
    made = base.make_pool(reactor, settings)
    await made.start()
    yield made
    await made.close()


@pytest.fixture
def house(settings: config.Settings, pool: Pool) -> Iterator[House]:
    """The rules, without the web."""
    # In the data folder, too: commands that a test runs beside these rules have the same key.
    key = secrets.existing(settings.data.dir) or Secrets(b"\x07" * 32)
    settings.data.dir.mkdir(exist_ok=True)
    secrets.keep(settings.data.dir, key)
    made = build_house(reactor, pool, settings, key)
    made.start()
    yield made
    made.stop()


def _served(settings: config.Settings, environment: dict[str, str]) -> Served:
    """In this process; as processes of its own where CROWDD_DAEMON_WORKERS wants several."""
    if os.environ.get("CROWDD_DAEMON_WORKERS", "1") == "1":
        return Served(reactor, settings)
    return ServedByWorkers(reactor, settings, environment)


@pytest_twisted.async_yield_fixture
async def served(settings: config.Settings) -> Any:
    """crowdd in this process, on a real socket; ``served.client()`` asks it."""
    made = _served(settings, {"CROWDD_RATELIMIT_LIMIT": "0", **NO_LIMIT, **CROWDED})
    await made.start()
    yield made
    await made.stop()


@pytest.fixture
def serve(settings: config.Settings) -> Iterator[Any]:
    """Starts a crowdd in this process with other settings: ``await serve(CROWDD_RATELIMIT_LIMIT="3")``."""
    started: list[Served] = []

    async def with_settings(**environment: str) -> Served:
        base = {
            "CROWDD_DB_DSN": settings.db.dsn,
            "CROWDD_DATA_DIR": str(settings.data.dir),
            "CROWDD_RATELIMIT_LIMIT": "0",
            "CROWDD_DB_POOL_SIZE": POOL_SIZE,
            **NO_LIMIT,
            **CROWDED,
        }
        made = _served(config.load(None, {**base, **environment}), {**base, **environment})
        started.append(made)
        await made.start()
        return made

    yield with_settings
    for made in started:
        pytest_twisted.blockon(ensureDeferred(made.stop()))


@pytest.fixture(scope="session")
def running_s3() -> Iterator[s3.Service]:
    """An S3-compatible service in a process of its own; shared by the session."""
    with s3.running() as service:
        yield service


@pytest.fixture
def s3_service(running_s3: s3.Service) -> s3.Service:
    """The same with an empty bucket: projects of two tests have the same numbers."""
    return running_s3.with_bucket()


@pytest.fixture(scope="session")
def live_server(postgres: Postgres) -> Iterator[LiveServer]:
    """crowdd as a process of its own (twistd), for browsers and clients; shared by the session."""
    made = LiveServer(
        postgres.make(),
        Path(tempfile.mkdtemp(prefix="crowdd-live-", dir="/tmp")),
        CROWDD_OUTGOING_ALLOWED_HOSTS="127.0.0.1:*",  # receivers of the tests
        **NO_LIMIT,
    )
    made.start()
    yield made
    made.stop()
    shutil.rmtree(made.data, ignore_errors=True)
