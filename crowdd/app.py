"""The composition root of the server: builds it from settings."""

from __future__ import annotations

import contextlib
import gc
import socket
import sys
from collections.abc import Callable
from typing import Any, Self

import attrs
from twisted.application.service import Service
from twisted.internet.defer import (
    CancelledError,
    Deferred,
    TimeoutError,
    ensureDeferred,
    gatherResults,
    maybeDeferred,
    succeed,
)
from twisted.internet.interfaces import IListeningPort
from twisted.internet.task import LoopingCall, deferLater
from twisted.logger import Logger
from twisted.python.failure import Failure

from crowdd.core.base import make_pool, make_replica, make_slow_pool, with_statement_timeout
from crowdd.database import schema
from crowdd.database.access import Reading
from crowdd.database.connection import in_background
from crowdd.database.connector import ConnectionBudget, list_session_settings
from crowdd.database.locks import Leadership
from crowdd.database.pool import Apart, Pool, PoolFigures
from crowdd.database.replica import Replica, ReplicaFirst
from crowdd.features.exports.feature import ExportsFeature
from crowdd.features.operations.metrics import KEPT, ProcessGauges
from crowdd.features.projects import statements as project_statements
from crowdd.house import make_house
from crowdd.http.edge.memory import forget_generated_sources, keep_little
from crowdd.kernel.concurrency import isolated
from crowdd.kernel.config import Settings
from crowdd.kernel.listening import Certificate, allow_connections, bind, read_certificate
from crowdd.kernel.reactor import IReactor
from crowdd.sched import check_statements
from crowdd.sched.feature import Scheduling
from crowdd.sched.job_runner import JobRunner, scheduled
from crowdd.sched.nodes import Node, NodeHeartbeat, NotifyBridge
from crowdd.sched.queue_worker import Worker, handlers
from crowdd.sched.sequencer import Sequencer
from crowdd.sched.webhook_deliveries import Deliverer, deliveries_of
from crowdd.web import ProcessState, make_root, make_site

log = Logger()
JOBS_AT_ONCE = 2  # connections for periodic jobs
BACKGROUND_STATEMENT_SECONDS = 600  # nobody waits for a statement of a job or background task
# A busy thread gives the interpreter back to the reactor after this time. With Python's 5 ms, each of the dozen system
# calls of a request would wait that long beside one busy thread.
SWITCH_SECONDS = 0.0003
SILENT_SECONDS = 5.0  # how long clients wait at startup before they are told that the database is unavailable


@attrs.frozen(eq=False)
class Pools:
    """The connections of one process.

    If PostgreSQL allows few, the pool of requests is served first, and each of the others gets at least one.
    """

    requests: Pool
    background: Pool  # of jobs and background tasks, so that requests do not wait for them
    session: Pool  # one connection, used for nothing else: it holds the locks of jobs, of the worker and of the node
    slow: Pool  # of lists that may read much of a table
    apart: Apart  # of downloads
    leadership: Leadership  # of the process that sends deliveries
    replica: Replica | None

    @classmethod
    def make(cls, reactor: IReactor, settings: Settings) -> Self:
        """The pools for these settings. Nothing is connected yet."""
        budget, seconds = ConnectionBudget(), BACKGROUND_STATEMENT_SECONDS
        requests = make_pool(reactor, settings, budget=budget)
        background = make_pool(
            reactor,
            with_statement_timeout(settings, seconds),
            size=settings.queue.workers + JOBS_AT_ONCE,
            may_be_late=True,
            budget=budget,
        )
        return cls(
            requests,
            background,
            make_pool(reactor, settings, size=1, budget=budget),
            make_slow_pool(reactor, settings, budget),
            Apart(reactor, settings.db.dsn, list_session_settings(seconds), budget),
            Leadership(reactor, settings.db.dsn, "deliveries", budget),
            make_replica(reactor, settings, requests, seconds),
        )

    def long_reading(self) -> tuple[Reading, Reading]:
        """What reads files, and what reads lists that may cost much."""
        if self.replica is None:
            return self.apart, self.slow
        files = ReplicaFirst(self.replica, self.replica.apart, self.apart, repeatable=False)
        return files, ReplicaFirst(self.replica, self.replica.pool, self.slow, repeatable=True)

    def figures(self) -> dict[str, Callable[[], PoolFigures]]:
        """What reads the figures of each pool that may be busy."""
        pools = {"requests": self.requests, "background": self.background, "slow": self.slow}
        if self.replica is not None:
            pools["replica"] = self.replica.pool
        return {name: pool.figures for name, pool in pools.items()}


class Server(Service):
    """One crowdd process. It opens the database before the port, and closes the port before the database.

    ``listener`` is a socket that is already bound. ``when_ready`` is called once, when requests are answered.
    ``node``: the server that the process belongs to; otherwise it is the only one. ``give_up`` ends the program when
    the server cannot start; otherwise the reactor is stopped.
    """

    def __init__(
        self,
        reactor: IReactor,
        settings: Settings,
        listener: socket.socket | None = None,
        when_ready: Callable[[], None] = lambda: None,
        node: Node | None = None,
        give_up: Callable[[], None] | None = None,
    ) -> None:
        keep_little()
        self._end_program = give_up or reactor.stop
        self._reactor, self._settings = reactor, settings
        self._listener, self._when_ready = listener, when_ready
        options = read_certificate(settings.http)
        self._certificate = None if options is None else Certificate(options)
        self._pools = Pools.make(reactor, settings)
        self._house = make_house(reactor, settings, self._pools.requests, *self._pools.long_reading())
        self._node = Node.begin(settings) if node is None else node
        self._process_state = ProcessState.begin(reactor, self._house, self._node)
        self._site = make_site(reactor, settings, self._process_state)
        notifier = self._house.base.shared.change_notifier
        self._heartbeat = NodeHeartbeat(reactor, self._pools.session, self._node)
        behind = self._house.with_database(self._pools.background)
        patience = settings.http.shutdown_timeout
        self._job_runner = JobRunner(
            reactor,
            self._pools.session,
            scheduled(settings),
            lambda job: job.work(behind),
            patience=patience,
            change_notifier=notifier,
        )
        workers = settings.queue.workers
        self._worker = Worker(
            reactor,
            handlers(),
            behind.base.db,
            behind[Scheduling].queue,
            behind.base.mail,
            lambda handler, task: handler.run(behind, task),
            size=workers,
            patience=patience,
            session=self._pools.session,
            change_notifier=notifier,
        )
        self._notices = NotifyBridge(reactor, self._pools.requests, notifier)
        self._sequencer = Sequencer(reactor, self._pools.requests, notifier)
        self._deliverer = Deliverer(
            reactor,
            deliveries_of(self._pools.requests, self._house.base),
            notifier,
            self._pools.leadership,
        )
        self._site_loading = self._house.base.site.follow(reactor, notifier)
        self._figures = self._start_gauges()
        self._root = make_root(reactor, self._house, self._process_state)
        self._port: IListeningPort | None = None
        self._starting: Deferred[None] | None = None
        self._noticing: Deferred[None] = succeed(None)  # cancelled: proxies have noticed

    def _start_gauges(self) -> LoopingCall:
        site, replica = self._site, self._pools.replica
        gauges = ProcessGauges(
            self._pools.figures(),
            connections=lambda: len(site.channels),
            requests=lambda: len(site.requests),
            streams=lambda: len(site.streams),
            untranslated=self._house.base.languages.missing_translations,
            long_reads={} if replica is None else replica.reads,
        )
        self._process_state.metrics.watch(gauges)
        looking = LoopingCall(self._process_state.metrics.look)
        looking.clock = self._reactor
        return looking

    def prepared(self, settings: Settings) -> Callable[[], None]:
        """Prepare other settings, and return a function that applies them. Nothing changes before it is called.

        Requests in flight finish with the old settings. Raises ConfigError, and the errors of a broken file.
        """
        options = read_certificate(settings.http)
        if (options is None) != (self._certificate is None):
            log.warn("switching TLS on or off needs a restart")
        house = self._house.with_settings(settings)
        root = make_root(self._reactor, house, self._process_state)

        def put_to_use() -> None:
            self._settings, self._house, self._root = settings, house, root
            if self._certificate is not None and options is not None:
                self._certificate.options = options
            self._process_state.use(settings)
            house[ExportsFeature].resources.limits.settings = settings.exports
            self._site.use(settings)
            if self._job_runner.running:
                self._site.resource = root
            behind = house.with_database(self._pools.background)
            self._job_runner.use(lambda job: job.work(behind))
            self._worker.use(
                behind.base.db,
                behind[Scheduling].queue,
                behind.base.mail,
                lambda handler, task: handler.run(behind, task),
            )
            self._deliverer.use(deliveries_of(self._pools.requests, house.base))

        return put_to_use

    def privilegedStartService(self) -> None:
        """Bind here, where an error still stops twistd."""
        self._site.max_connections = allow_connections(self._settings.http.max_connections)
        self._site.use(self._settings)
        if self._listener is None:
            self._listener = bind(self._settings)

    def startService(self) -> None:
        super().startService()
        self._starting = ensureDeferred(self._start()).addErrback(self._give_up)

    async def _start(self) -> None:
        silent = self._reactor.callLater(SILENT_SECONDS, self._listen)
        try:
            await self._connect()
        finally:
            if silent.active():
                silent.cancel()
        self._site.resource = self._root
        self._listen()
        self._figures.start(KEPT, now=True)
        self._process_state.stalls.start(self._reactor)
        self._heartbeat.startService()
        self._job_runner.startService()
        self._sequencer.startService()
        self._deliverer.startService()
        self._worker.startService()
        # All objects so far live as long as the process, so the collector need not visit them again. Requests leave
        # hardly any cycles. A search for cycles every 700 objects would cost 5 % of a request.
        sys.setswitchinterval(SWITCH_SECONDS)
        forget_generated_sources()
        gc.collect()
        gc.freeze()
        gc.set_threshold(10_000)
        if not isolated.is_possible():
            log.warn("processes that read files of users can reach the network: this system has no seccomp filters")
        log.info("crowdd answers on {address}", address=self._settings.base_url)
        self._when_ready()
        self._reactor.callInThread(self._root.warm_up, lambda: bool(self.running))

    async def _connect(self) -> None:
        self._house.start()
        await self._pools.requests.start()
        await self._pools.background.start()
        await self._pools.session.start()
        self._notices.startService()
        await self._notices.listening
        in_background(
            self._pools.slow.start()
        )  # if there is no place for it, slow reads get 503 and all others are served
        if self._pools.replica is not None:
            self._pools.replica.start()
        (await schema.status(self._pools.requests, self._node.code)).require()
        await self._heartbeat.announce()
        (await schema.status(self._pools.requests, self._node.code)).require()  # an upgrade may have ended meanwhile
        await self._house.prepare()
        await project_statements.set_volunteer_rule(self._pools.requests, self._settings.volunteers.counted_per_network)
        if await check_statements.know_cluster(self._pools.requests):
            log.info("database moved to another PostgreSQL: volunteers' scan positions start again")

    def _listen(self) -> None:
        if self._port is not None:
            return
        if self._listener is None:
            self._listener = bind(self._settings)
        factory: Any = self._site if self._certificate is None else self._certificate.over(self._site)
        self._port = self._reactor.adoptStreamPort(self._listener.fileno(), self._listener.family, factory)
        self._listener.close()

    def _give_up(self, failure: Failure) -> None:
        if not self.running:
            return
        reason = " ".join(filter(None, (failure.getErrorMessage(), getattr(failure.value, "hint", ""))))
        log.critical("crowdd cannot start: {reason}", reason=reason)
        self._reactor.callLater(0, self._end_program)
        self.exit_status = 1

    exit_status = 0

    def stopService(self) -> Deferred[None]:
        super().stopService()
        return ensureDeferred(self._stop())

    async def _stop(self) -> None:
        if self._port is not None:
            await self._let_proxies_notice()
            await maybeDeferred(self._port.stopListening)
            await self._site.drain(self._settings.http.shutdown_timeout)
        self._site_loading.stop()
        if self._figures.running:
            self._figures.stop()
        self._process_state.stalls.stop(self._reactor)
        if self._job_runner.running:
            await gatherResults([self._job_runner.stopService(), self._worker.stopService()])
        if self._deliverer.running:
            await self._deliverer.stopService()
        if self._sequencer.running:
            await self._sequencer.stopService()
        if self._notices.running:
            await self._notices.stopService()
        self._house.stop()
        await self._house.base.security_log.close()
        self._pools.apart.close()
        self._house[ExportsFeature].resources.copies.close()
        await self._leave(self._pools.background)
        await self._heartbeat.stopService()
        await self._leave(self._pools.session)
        await self._leave(self._pools.slow)
        if self._pools.replica is not None:
            self._pools.replica.stop()
            await self._leave(self._pools.replica.pool)
        await self._pools.requests.close()

    async def _let_proxies_notice(self) -> None:
        """Go on answering while ``/ready`` says that the server stops, so that proxies send new requests elsewhere.

        Streams go on, too: a browser that comes back too early would be refused here, and would give up.
        """
        seconds = self._settings.http.drain_delay
        if seconds and self._heartbeat.running:
            self._site.draining = True
            self._heartbeat.drain()
            self._noticing = deferLater(self._reactor, seconds)
            with contextlib.suppress(CancelledError):
                await self._noticing

    async def _leave(self, pool: Pool) -> None:
        """Close a pool. Background work that has not ended by now is cancelled."""
        with contextlib.suppress(TimeoutError):
            await pool.close().addTimeout(self._settings.http.shutdown_timeout, self._reactor)
