"""The composition root: where a server is put together from settings."""

from __future__ import annotations

import contextlib
import gc
import random
import resource
import socket
from typing import Any

from twisted.application.service import Service
from twisted.internet.defer import Deferred, TimeoutError, ensureDeferred, gatherResults
from twisted.logger import Logger

from crowdd.config import Settings
from crowdd.domain.assembly import make_domain, make_pool
from crowdd.domain.deliveries import Deliveries
from crowdd.errors import ConfigError
from crowdd.http.application import make_site
from crowdd.http.site import Site
from crowdd.sched.clockwork import Clockwork
from crowdd.sched.deliveries import Deliverer
from crowdd.sched.notices import Notices
from crowdd.sched.schedule import every_job
from crowdd.sched.sequencer import Sequencer
from crowdd.sched.worker import Worker
from crowdd.sched.works import works
from crowdd.storage import checks, schema
from crowdd.storage.leadership import Leadership
from crowdd.storage.pool import Pool

log = Logger()
BACKLOG = 1024
JOBS_AT_ONCE = 2  # connections for work by the clock
BACKGROUND_STATEMENT_SECONDS = 600  # nobody looks on while a statement of jobs and long work takes its time
OTHER_FILES = 2000  # open at once beside the connections of streams


def bind(settings: Settings) -> socket.socket:
    """The listening socket. Raises ConfigError when the port is taken or may not be used."""
    here, port = settings.http.host, settings.http.port
    try:
        family = socket.getaddrinfo(here, port, type=socket.SOCK_STREAM)[0][0]
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((here, port))
        listener.listen(BACKLOG)
    except OSError as error:
        words = "is used by another program" if error.errno == 98 else f"cannot be used ({error.strerror})"
        raise ConfigError(
            f"{here} port {port} {words}. Choose another one: [http] port, or CROWDD_HTTP_PORT."
        ) from None
    listener.setblocking(False)
    return listener


def allow_connections(wanted: int) -> None:
    """Raises the limit on open files so far that ``wanted`` clients fit; where that is forbidden it says so."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted + OTHER_FILES
    allowed = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    if soft != resource.RLIM_INFINITY and soft < allowed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    if allowed < needed:
        log.warn("Only {allowed} files may be open here: too few for [live] connections", allowed=allowed)


class Server(Service):
    """One crowdd process: database first, then the port; at the end the port first, then the database."""

    def __init__(self, reactor: Any, settings: Settings) -> None:
        self._reactor, self._settings = reactor, settings
        self._pool = make_pool(reactor, settings)
        self._domain = make_domain(reactor, settings, self._pool)
        self._site: Site = make_site(reactor, self._domain)
        # Long work has connections of its own: it must not keep a request waiting.
        self._background = make_pool(
            reactor,
            settings,
            size=settings.queue.workers + JOBS_AT_ONCE,
            statement_seconds=BACKGROUND_STATEMENT_SECONDS,
        )
        behind = self._domain.on(self._background)
        # The session that holds the locks of jobs: one connection, which nobody else uses.
        self._session = make_pool(reactor, settings, size=1)
        patience = settings.http.drain_seconds
        self._clockwork = Clockwork(reactor, self._session, behind, every_job(), patience=patience)
        self._worker = Worker(reactor, behind, works(), size=settings.queue.workers, patience=patience)
        self._notices = Notices(reactor, self._pool, self._domain.bell)
        self._sequencer = Sequencer(reactor, self._pool, self._domain.bell)
        self._deliverer = self._make_deliverer()
        self._listener: socket.socket | None = None
        self._port: Any = None
        self._starting: Deferred[None] | None = None

    def _make_deliverer(self) -> Deliverer:
        domain, settings = self._domain, self._settings
        deliveries = Deliveries(
            self._pool,
            domain.outgoing,
            domain.secrets,
            settings.webhooks,
            self._reactor.seconds,
            random.random,
            domain.mail.send,
        )
        return Deliverer(
            self._reactor, deliveries, domain.bell, Leadership(self._reactor, settings.db.dsn, "deliveries")
        )

    def privilegedStartService(self) -> None:
        """Binds here, where an error still stops twistd."""
        allow_connections(self._settings.live.connections)
        self._listener = bind(self._settings)

    def startService(self) -> None:
        super().startService()
        self._starting = ensureDeferred(self._start()).addErrback(self._give_up)

    async def _start(self) -> None:
        self._domain.passwords.start()
        await self._pool.start()
        await self._background.start()
        await self._session.start()
        self._notices.startService()
        await self._notices.listening
        (await schema.status(self._pool)).require()
        if await checks.know_cluster(self._pool):
            log.info("The database has moved to another PostgreSQL: volunteers' places in the order start anew")
        self._listen()
        self._clockwork.startService()
        self._sequencer.startService()
        self._deliverer.startService()
        self._worker.startService()
        # What was made so far lives as long as the process: the collector need not look at it again.
        gc.collect()
        gc.freeze()
        log.info("crowdd answers on {address}", address=self._settings.base_url)

    def _listen(self) -> None:
        if self._listener is None:
            self._listener = bind(self._settings)
        family = self._listener.family
        self._port = self._reactor.adoptStreamPort(self._listener.fileno(), family, self._site)
        self._listener.close()

    def _give_up(self, failure: Any) -> None:
        if not self.running:
            return
        log.critical("crowdd cannot start: {reason}", reason=failure.getErrorMessage())
        self._reactor.callLater(0, self._reactor.stop)
        self.exit_status = 1

    exit_status = 0

    def stopService(self) -> Deferred[None]:
        super().stopService()
        return ensureDeferred(self._stop())

    async def _stop(self) -> None:
        if self._port is not None:
            await self._port.stopListening()
            await self._site.drain(self._settings.http.drain_seconds)
        if self._clockwork.running:
            await gatherResults([self._clockwork.stopService(), self._worker.stopService()])
        if self._deliverer.running:
            await self._deliverer.stopService()
        if self._sequencer.running:
            await self._sequencer.stopService()
        if self._notices.running:
            await self._notices.stopService()
        self._domain.passwords.stop()
        await self._leave(self._background)
        await self._leave(self._session)
        await self._pool.close()

    async def _leave(self, pool: Pool) -> None:
        """Work in the background that does not end has had its time."""
        with contextlib.suppress(TimeoutError):
            await pool.close().addTimeout(self._settings.http.drain_seconds, self._reactor)
