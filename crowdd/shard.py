"""A database that projects live on besides the first one, as one process of a server uses it."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

import attrs
from twisted.application.service import Service
from twisted.internet.defer import CancelledError, Deferred, TimeoutError, ensureDeferred, gatherResults, succeed
from twisted.internet.task import deferLater
from twisted.logger import Logger
from twisted.python.failure import Failure

from crowdd.config import Settings
from crowdd.domain.server import server_key
from crowdd.domain.server.bootstrap import make_pool, make_slow_pool
from crowdd.domain.server.services import Services, build_beside
from crowdd.domain.server.shards.figures import PERIOD, FiguresHome, RightsHome
from crowdd.domain.server.shards.locations import AccountCopies, Locations
from crowdd.errors import CrowddError
from crowdd.http.application import ProcessState, make_root
from crowdd.http.live_updates import Broadcast
from crowdd.http.transport.gateway import Gateway
from crowdd.http.transport.shards.gateway import ShardGateway
from crowdd.reactor import IReactor
from crowdd.sched.deliveries import Deliverer, deliveries_of
from crowdd.sched.job import Job
from crowdd.sched.job_runner import JobRunner
from crowdd.sched.notify_bridge import NotifyBridge
from crowdd.sched.queue_worker import Worker
from crowdd.sched.schedule import scheduled_on_shards
from crowdd.sched.sequencer import Sequencer
from crowdd.sched.task_handlers import handlers
from crowdd.storage import schema
from crowdd.storage.connections.connection_budget import ConnectionBudget
from crowdd.storage.connections.connection_settings import session
from crowdd.storage.connections.dedicated_connections import Apart
from crowdd.storage.connections.leadership import Leadership
from crowdd.storage.connections.pool import Pool
from crowdd.storage.projects import projects
from crowdd.storage.server import recount
from crowdd.storage.server.shards import preparing

log = Logger()
RETRY_SECONDS = 5.0


class Shard(Service):
    """Serves the projects of one shard with rules, views and periodic jobs of its own.

    The others go on while it cannot be used: it is tried again until it can. People, sessions, keys and the settings of
    the site come from ``home``, the rules on the first database.
    """

    def __init__(
        self,
        reactor: IReactor,
        settings: Settings,
        name: str,
        home: Services,
        process_state: ProcessState,
        code: schema.Code,
        background: tuple[int, int],
    ) -> None:
        """``background``: how many connections background work has, and seconds for a statement of it."""
        self.shard_name, self.number = name, 0
        self._reactor, self._home, self._code = reactor, home, code
        self._process_state = process_state
        self._settings = own_settings(settings, name)
        size, seconds = background
        budget = ConnectionBudget()
        self.pool = make_pool(reactor, self._settings, budget=budget)
        self._background = make_pool(
            reactor, self._settings, size=size, statement_timeout=seconds, may_be_late=True, budget=budget
        )
        self._session = make_pool(reactor, self._settings, size=1, budget=budget)
        self._slow_pool = make_slow_pool(reactor, self._settings, budget)
        self._apart = Apart(reactor, self._settings.db.dsn, session(seconds), budget)
        self.services = build_beside(reactor, home, self.pool, self._settings, self._apart, self._slow_pool)
        self._copies = AccountCopies(reactor, self.services.new_batcher, self.pool)
        self._rights: RightsHome | None = None  # once the shard is served: its number is known then
        self._broadcast = Broadcast(reactor, self.services.live, self.services.change_notifier)
        behind = self.behind = self.services.with_database(self._background)
        patience = settings.http.shutdown_timeout
        tell = Job("tell_home", PERIOD, lambda services: FiguresHome(home.db, services.db, self.number).tell())
        jobs = (*scheduled_on_shards(self._settings), tell)
        self._job_runner = JobRunner(reactor, self._session, jobs, lambda job: job.work(behind), patience=patience)
        self._worker = Worker(
            reactor,
            handlers(),
            behind.db,
            behind.queue,
            behind.mail,
            lambda handler, task: handler.run(behind, task),
            size=settings.queue.workers,
            patience=patience,
            session=self._session,
        )
        self._notices = NotifyBridge(reactor, self.pool, self.services.change_notifier)
        self._sequencer = Sequencer(reactor, self.pool, self.services.change_notifier)
        leadership = Leadership(reactor, self._settings.db.dsn, "deliveries", budget)
        deliveries = deliveries_of(reactor, self.pool, self.services)
        self._deliverer = Deliverer(reactor, deliveries, self.services.change_notifier, leadership)
        self._root = self._make_root(self.services)
        self._ready = False
        self._starting: Deferred[None] = succeed(None)

    def gateway(self) -> Gateway | None:
        """Its views; None while the database cannot be used."""
        return self._root if self._ready else None

    async def tell_rights(self) -> None:
        """Home knows who may see the projects of this shard as of now, unless the database cannot be used."""
        if self._ready and self._rights is not None:
            await self._rights.require()

    def use(self, settings: Settings, home: Services) -> None:
        """These settings from now on, with the rules of home that were made from them."""
        self._settings, self._home = own_settings(settings, self.shard_name), home
        services = self.services = self.services.with_settings(self._reactor, self._settings)
        self._root = self._make_root(services)
        behind = self.behind = services.with_database(self._background)
        self._job_runner.use(lambda job: job.work(behind))
        self._worker.use(behind.db, behind.queue, behind.mail, lambda handler, task: handler.run(behind, task))
        self._deliverer.use(deliveries_of(self._reactor, self.pool, services))

    def _make_root(self, services: Services) -> Gateway:
        state = attrs.evolve(self._process_state, broadcast=self._broadcast)
        return make_root(self._reactor, services, state, self._home, self._copies.require)

    def startService(self) -> None:
        super().startService()
        self._starting = ensureDeferred(self._start())

    async def _start(self) -> None:
        with contextlib.suppress(CancelledError):
            for pool in (self.pool, self._background, self._session, self._slow_pool):
                pool.start().addErrback(self._unusable)
            while self.running and not self._ready:
                try:
                    await self._prepare()
                except CrowddError as error:
                    log.error("shard cannot be used: shard={shard} error={error}", shard=self.shard_name, error=error)
                    await deferLater(self._reactor, RETRY_SECONDS)

    def _unusable(self, failure: Failure) -> None:
        error = failure.getErrorMessage()
        log.error("shard cannot be used: shard={shard} error={error}", shard=self.shard_name, error=error)

    async def _prepare(self) -> None:
        (await schema.status(self.pool, self._code)).require()
        own = await preparing.own(self.pool)
        if own is None or (own.name, own.number) != (self.shard_name, self.number):
            raise CrowddError("The database is not the shard that [db] shards says. Run: crowdctl shards list")
        if not self._notices.running:
            self._notices.startService()
        await self._notices.listening
        await server_key.reconcile(self.pool, self._home.settings.data.dir, self.services.secrets)
        await projects.set_volunteer_rule(self.pool, self._settings.volunteers.counted_per_network)
        await recount.know_cluster(self.pool)
        self._job_runner.startService()
        self._sequencer.startService()
        self._deliverer.startService()
        self._worker.startService()
        self._rights = RightsHome(
            self._reactor, self.services.exposure, FiguresHome(self._home.db, self.pool, self.number)
        )
        self._ready = True
        log.info("shard is served: shard={shard}", shard=self.shard_name)

    def stopService(self) -> Deferred[None]:
        super().stopService()
        return ensureDeferred(self._stop())

    async def _stop(self) -> None:
        self._starting.cancel()
        if self._ready:
            self._ready = False
            await gatherResults([self._job_runner.stopService(), self._worker.stopService()])
            await self._deliverer.stopService()
            await self._sequencer.stopService()
        if self._notices.running:
            await self._notices.stopService()
        self._apart.close()
        self.services.export_resources.copies.close()
        for pool in (self._background, self._session, self._slow_pool, self.pool):
            await self._leave(pool)

    async def _leave(self, pool: Pool) -> None:
        with contextlib.suppress(TimeoutError):
            await pool.close().addTimeout(self._settings.http.shutdown_timeout, self._reactor)


def own_settings(settings: Settings, name: str) -> Settings:
    """The settings of a shard: its database, and a data folder of its own, so that nothing sweeps files of others."""
    database = attrs.evolve(settings.db, dsn=dict(settings.db.shards)[name], migrate_dsn="", replica_dsn="", shards=())
    folder = attrs.evolve(settings.data, dir=settings.data.dir / "shards" / name)
    return attrs.evolve(settings, db=database, data=folder)


def over_shards(reactor: IReactor, home: Gateway, services: Services, shards: Sequence[Shard]) -> ShardGateway:
    """One site over home and the shards. Their numbers are known once home has been asked."""
    locations = Locations(
        reactor, services.new_batcher, services.db, lambda: {shard.number: shard.services.db for shard in shards}
    )
    return ShardGateway(home, locations, shards)
