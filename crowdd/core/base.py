"""What every feature is built on: a database, the settings, and the rules of the core.

``Shared`` is what the rules of one process share whatever their connections and settings: what is kept in memory, and
threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar
from urllib.parse import urlsplit

import attrs

from crowdd.core.audit_chain import PURPOSE as AUDIT_CHAIN
from crowdd.core.audit_chain import AuditChain
from crowdd.core.change_notifier import ChangeNotifier
from crowdd.core.mail.backend import Post, post
from crowdd.core.mail.mail import Mail
from crowdd.core.mail.message import MailRenderer, Sender
from crowdd.core.mail.returned import sealed_by
from crowdd.core.outbound.client import Outgoing
from crowdd.core.quotas import Attempts, Quota
from crowdd.core.records.history import History
from crowdd.core.records.records import Behaviour, Records, RecordTexts
from crowdd.core.secrets import Secrets
from crowdd.core.security_log import SecurityLog
from crowdd.core.site import Exposure, Site, SiteState
from crowdd.core.text.rendered_text import Prose
from crowdd.core.uploads import Uploads
from crowdd.database.access import Reading, Transactions
from crowdd.database.connection import GRACE_SECONDS
from crowdd.database.connector import ONE_PROCESSOR, ConnectionBudget, list_session_settings, require_primary
from crowdd.database.pool import Apart, Pool, SlowReads
from crowdd.database.replica import Replica
from crowdd.kernel.concurrency.batching import Batcher, BatcherFactory
from crowdd.kernel.concurrency.cache import Cache
from crowdd.kernel.concurrency.throttling import Turns
from crowdd.kernel.concurrency.worker_thread import WorkerThread
from crowdd.kernel.config import Settings
from crowdd.kernel.config.location import NO_DATABASE, WHAT_TO_DO
from crowdd.kernel.errors import ConfigError
from crowdd.kernel.languages import Languages
from crowdd.kernel.reactor import IReactor, epoch_seconds
from crowdd.kinds import KINDS

T = TypeVar("T")

# Lists that may read a large part of a table: so many at a time, and never on more than half of the processors.
MAX_SLOW_READS, SEARCH_WAIT_SECONDS = 2, 3.0
FILE_PAUSE = 0.5  # after each piece of a file that is made, as a share of the time that it took
STRANGER_SECONDS = 2  # for a statement of such a list, without an account


def make_pool(
    reactor: IReactor,
    settings: Settings,
    *,
    size: int = 0,
    may_be_late: bool = False,
    further: Sequence[str] = (),
    budget: ConnectionBudget | None = None,
) -> Pool:
    """A pool on the configured database, with time-out and size of ``[db]``, unless another ``size`` is given.

    A connection counts as lost when PostgreSQL says nothing for a little longer than the time-out. It never does if
    there is none, or with ``may_be_late``: some of its transactions set another one.

    ``further`` are statements that its connections begin with, too.

    Pools with the same ``budget`` leave each other at least one connection when there are few; the first made is the
    first served.

    Raises ConfigError when none is configured.
    """
    seconds = settings.db.statement_timeout
    if not settings.db.dsn:
        raise ConfigError(NO_DATABASE, hint=WHAT_TO_DO)
    require_primary(settings.db.dsn)
    return Pool(
        reactor,
        settings.db.dsn,
        size=size or settings.db.pool_size,
        max_queue=settings.db.max_queue,
        timeout=settings.db.pool_timeout,
        answer_timeout=None if may_be_late or not seconds else seconds + GRACE_SECONDS,
        setup=[*list_session_settings(seconds), *further],
        budget=budget,
    )


LARGE_LIST_SECONDS = 60.0  # that a list is taken for as long as it was
MAX_LARGE_LISTS = 1000


def max_slow_reads(settings: Settings) -> int:
    """How many lists that may cost much are read at a time."""
    return max(1, min(MAX_SLOW_READS, settings.db.pool_size // 4, (os.cpu_count() or 1) // 2))


def make_slow_pool(reactor: IReactor, settings: Settings, budget: ConnectionBudget) -> Pool:
    """A small pool for lists that may read much of a table (``SlowReads``), each on one processor."""
    slow = with_statement_timeout(settings, settings.db.slow_read_timeout)
    return make_pool(reactor, slow, size=max_slow_reads(settings), further=[ONE_PROCESSOR], budget=budget)


def with_statement_timeout(settings: Settings, seconds: int) -> Settings:
    """The same settings with another time-out of statements."""
    return attrs.evolve(settings, db=attrs.evolve(settings.db, statement_timeout=seconds))


def make_replica(reactor: IReactor, settings: Settings, pool: Pool, file_seconds: int) -> Replica | None:
    """The replica of ``[db] replica_dsn``; None if there is none.

    ``pool`` asks the primary. Statements of files have ``file_seconds``.
    """
    if not settings.db.replica_dsn:
        return None
    budget = ConnectionBudget()
    replica_pool = Pool(
        reactor,
        settings.db.replica_dsn,
        size=max_slow_reads(settings) + 1,  # one asks how far the replica is
        max_queue=settings.db.max_queue,
        timeout=settings.db.replica_timeout,
        answer_timeout=settings.db.slow_read_timeout + GRACE_SECONDS,
        setup=[*list_session_settings(settings.db.slow_read_timeout), ONE_PROCESSOR],
        budget=budget,
    )
    apart = Apart(
        reactor, settings.db.replica_dsn, list_session_settings(file_seconds), budget, settings.db.replica_timeout
    )
    return Replica(reactor, pool, replica_pool, apart, settings.db.replica_timeout)


def host_of(settings: Settings) -> str:
    """The name under which people know this server."""
    return urlsplit(settings.base_url).hostname or "localhost"


@attrs.frozen
class Shared:
    """What rules on other connections or by other settings share.

    ``reading`` reads files that are downloaded. In ``file_turns`` one piece of a file after the other is made.
    """

    reactor: IReactor
    secrets: Secrets
    security_log: SecurityLog
    seconds: Callable[[], float]
    change_notifier: ChangeNotifier
    reading: Reading
    slow_reads: SlowReads
    large_lists: Cache[bool]
    file_turns: Turns
    new_batcher: BatcherFactory
    worker_thread: WorkerThread
    languages: Languages
    site_state: SiteState
    outgoing: Outgoing
    post: Post | None  # none: e-mails are kept
    _features: dict[str, Any] = attrs.field(factory=dict, repr=False)

    @classmethod
    def begin(
        cls,
        reactor: IReactor,
        db: Transactions,
        settings: Settings,
        secrets: Secrets,
        reading: Reading | None = None,
        slow_db: Reading | None = None,
    ) -> Shared:
        """Nothing is running yet. ``slow_db``: what slow lists are read by. Without them the database itself is."""
        turns = Turns(reactor, max_slow_reads(settings), SEARCH_WAIT_SECONDS)
        stranger_seconds = min(STRANGER_SECONDS, settings.db.slow_read_timeout)
        return cls(
            reactor=reactor,
            secrets=secrets,
            security_log=SecurityLog(reactor, db, secrets),
            seconds=partial(epoch_seconds, reactor),
            change_notifier=ChangeNotifier(reactor),
            reading=db if reading is None else reading,
            slow_reads=SlowReads(slow_db or db, turns, stranger_seconds),
            large_lists=Cache(reactor, LARGE_LIST_SECONDS, MAX_LARGE_LISTS),
            file_turns=Turns(reactor, 1, None, rest=FILE_PAUSE),
            new_batcher=partial(Batcher, reactor, max_queue=settings.db.max_queue),
            worker_thread=WorkerThread(reactor),
            languages=Languages.read(),
            site_state=SiteState(),
            outgoing=Outgoing(reactor, settings.outgoing.allowed_hosts),
            post=post(reactor, settings.mail, host_of(settings)),
        )

    def with_settings(self, settings: Settings) -> Shared:
        """The same, but for the ways to other servers."""
        return attrs.evolve(
            self,
            outgoing=Outgoing(self.reactor, settings.outgoing.allowed_hosts),
            post=post(self.reactor, settings.mail, host_of(settings)),
        )

    def once(self, name: str, make: Callable[[], T]) -> T:
        """What a feature has once in a process: made when it is first asked for, and the same from then on."""
        if name not in self._features:
            self._features[name] = make()
        thing: T = self._features[name]
        return thing


@attrs.frozen
class Base:
    """The rules of the core on one database, by one set of settings.

    ``behaviours`` say what happens to rows of a kind. A feature sets those of its kinds when it is built.
    """

    db: Transactions
    settings: Settings
    shared: Shared = attrs.field(repr=False)
    uploads: Uploads
    prose: Prose
    site: Site
    quota: Quota
    mail: Mail
    attempts: Attempts
    behaviours: dict[str, Behaviour]
    records: Records
    record_texts: RecordTexts
    exposure: Exposure
    history: History
    audit_chain: AuditChain

    @classmethod
    def of(cls, db: Transactions, settings: Settings, shared: Shared) -> Base:
        """The same rules on other connections or by other settings have the same ``shared``."""
        secrets, new_batcher, worker_thread = shared.secrets, shared.new_batcher, shared.worker_thread
        uploads, prose = Uploads(settings.data.dir / "uploads", secrets.key("names of files")), Prose(db, worker_thread)
        site = Site(db, shared.site_state, settings, prose)
        quota, exposure = Quota(settings.quota, site), Exposure(db, new_batcher)
        letters = MailRenderer(shared.languages, site.name, settings.base_url)
        sender = Sender(site.name, settings.mail.sender, host_of(settings), sealed_by(secrets.key("ids of e-mails")))
        behaviours = {name: Behaviour(kind) for name, kind in KINDS.items()}
        records = Records(
            db,
            shared.change_notifier.notify,
            secrets,
            uploads,
            settings.base_url,
            behaviours,
            shared.slow_reads,
            prose,
            quota,
            worker_thread.pause,
        )
        return cls(
            db=db,
            settings=settings,
            shared=shared,
            uploads=uploads,
            prose=prose,
            site=site,
            quota=quota,
            mail=Mail(db, letters, sender, shared.post, settings.mail.keep_days, shared.change_notifier.notify),
            attempts=Attempts(db, secrets),
            behaviours=behaviours,
            records=records,
            record_texts=RecordTexts(db, new_batcher, records, secrets, exposure, shared.large_lists),
            exposure=exposure,
            history=History(db, records, shared.slow_reads, settings.history.days),
            audit_chain=AuditChain(db, secrets.key(AUDIT_CHAIN)),
        )

    @property
    def base_url(self) -> str:
        """The address under which people know this server."""
        return self.settings.base_url

    @property
    def secrets(self) -> Secrets:
        """The keys of the server."""
        return self.shared.secrets

    @property
    def security_log(self) -> SecurityLog:
        """What is noted of attempts, refusals and proofs."""
        return self.shared.security_log

    @property
    def notify(self) -> Callable[[int], None]:
        """Says that something of a project has changed, after the commit."""
        return self.shared.change_notifier.notify

    @property
    def new_batcher(self) -> BatcherFactory:
        """Makes what joins statements of many requests."""
        return self.shared.new_batcher

    @property
    def worker_thread(self) -> WorkerThread:
        """A thread for what takes too long for the reactor."""
        return self.shared.worker_thread

    @property
    def outgoing(self) -> Outgoing:
        """The way to other servers."""
        return self.shared.outgoing

    @property
    def languages(self) -> Languages:
        """The languages of the interface."""
        return self.shared.languages

    def set_behaviours(self, *behaviours: Behaviour) -> None:
        """What happens to rows of these kinds from now on."""
        self.behaviours.update({each.kind.name: each for each in behaviours})
