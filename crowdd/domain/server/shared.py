"""What the rules of one process share, whatever their connections and settings."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from urllib.parse import urlsplit

import attrs

from crowdd.concurrency.batching import Batcher, BatcherFactory
from crowdd.concurrency.concurrency_limit import Turns
from crowdd.concurrency.worker_thread import WorkerThread
from crowdd.config import Settings
from crowdd.domain.accounts.authentication.passwords import Passwords
from crowdd.domain.accounts.social.providers import Provider, configured
from crowdd.domain.core.change_notifier import ChangeNotifier
from crowdd.domain.core.secrets import Secrets
from crowdd.domain.core.security_log import SecurityLog
from crowdd.domain.core.site import SiteState
from crowdd.domain.mail.backend import post
from crowdd.domain.mail.transport import Post
from crowdd.domain.media.configured import media_store as configured_media_store
from crowdd.domain.media.store import MediaStore
from crowdd.domain.outbound.client import Outgoing
from crowdd.domain.transfer.exported.download_limits import DownloadLimits
from crowdd.domain.transfer.exported.kept_spools import KeptSpools
from crowdd.domain.transfer.exports import Resources
from crowdd.languages import Languages
from crowdd.reactor import IReactor, epoch_seconds
from crowdd.storage.connections.connection_settings import session
from crowdd.storage.connections.copying import Copies
from crowdd.storage.connections.slow_reads import SlowReads
from crowdd.storage.database import Reading, Transactions

# Lists that may read a large part of a table: so many at a time, and never on more than half of the processors.
MAX_SLOW_READS, SEARCH_WAIT_SECONDS = 2, 3.0
STRANGER_SECONDS = 2  # for a statement of such a list, without an account
PRELOAD_WAIT_SECONDS = 5.0
COPY_SECONDS = 600  # for each statement that begins a file
EXPORT_PAUSE = 0.5  # after each piece of a file that is made, as a share of the time that it took


@attrs.frozen
class OtherServers:
    """The ways to other servers, which settings decide about."""

    outgoing: Outgoing
    providers: Mapping[str, Provider]
    post: Post | None  # none: e-mails are kept

    @classmethod
    def of(cls, reactor: IReactor, settings: Settings) -> OtherServers:
        """As the settings say."""
        outgoing = Outgoing(reactor, settings.outgoing.allowed_hosts)
        return cls(outgoing, configured(settings.signin, outgoing), post(reactor, settings.mail, host_of(settings)))


@attrs.frozen
class Shared:
    """What rules on other connections or by other settings share: what is kept in memory, and the threads."""

    secrets: Secrets
    security_log: SecurityLog
    seconds: Callable[[], float]
    change_notifier: ChangeNotifier
    slow_reads: SlowReads
    preloads: Turns
    export_resources: Resources
    new_batcher: BatcherFactory
    passwords: Passwords
    worker_thread: WorkerThread
    media_store: MediaStore
    media_thread: WorkerThread
    languages: Languages
    site_state: SiteState
    servers: OtherServers

    @classmethod
    def begin(
        cls,
        reactor: IReactor,
        db: Transactions,
        settings: Settings,
        secrets: Secrets,
        reading: Reading,
        slow_db: Reading,
    ) -> Shared:
        """Nothing is running yet. ``reading``: what files are read by; ``slow_db``: what slow lists are read by."""
        refusal = "Too many clients request many tasks at once. Use a smaller limit."
        return cls(
            secrets=secrets,
            security_log=SecurityLog(reactor, db, secrets),
            seconds=partial(epoch_seconds, reactor),
            change_notifier=ChangeNotifier(reactor),
            slow_reads=SlowReads(
                slow_db,
                Turns(reactor, max_slow_reads(settings), SEARCH_WAIT_SECONDS),
                min(STRANGER_SECONDS, settings.db.slow_read_timeout),
            ),
            preloads=Turns(reactor, 1, PRELOAD_WAIT_SECONDS, rest=1.0, refusal=refusal),
            export_resources=Resources(
                reading,
                Copies(reactor, settings.db.dsn, session(COPY_SECONDS), settings.db.replica_dsn),
                Turns(reactor, 1, None, rest=EXPORT_PAUSE),
                DownloadLimits(reactor, settings.exports),
                KeptSpools(reactor),
            ),
            new_batcher=partial(Batcher, reactor, max_queue=settings.db.max_queue),
            passwords=Passwords(reactor, threads=max(1, (os.cpu_count() or 1) // 2)),
            worker_thread=WorkerThread(reactor),
            media_store=configured_media_store(reactor, settings.media, settings.data.dir / "uploads"),
            media_thread=WorkerThread(reactor),
            languages=Languages.read(),
            site_state=SiteState(),
            servers=OtherServers.of(reactor, settings),
        )

    def with_settings(self, reactor: IReactor, settings: Settings) -> Shared:
        """The same, but for the ways to other servers."""
        return attrs.evolve(self, servers=OtherServers.of(reactor, settings))


def max_slow_reads(settings: Settings) -> int:
    """How many lists that may cost much are read at a time."""
    return max(1, min(MAX_SLOW_READS, settings.db.pool_size // 4, (os.cpu_count() or 1) // 2))


def host_of(settings: Settings) -> str:
    """The name under which people know this server."""
    return urlsplit(settings.base_url).hostname or "localhost"
