"""What ``twistd crowdd`` runs: a server, or workers of one, with its log, the signal to read settings again, and the
service manager.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Protocol

from twisted.application.service import IServiceCollection, MultiService
from twisted.internet.defer import Deferred
from twisted.internet.task import LoopingCall
from twisted.logger import ILogObserver, Logger
from twisted.python.components import Componentized

from crowdd.config import Settings
from crowdd.errors import CrowddError
from crowdd.logs import EventWriter
from crowdd.reactor import IReactor
from crowdd.service_manager import ServiceManager

log = Logger()


class Served(Protocol):
    """A service that can go on by other settings."""

    exit_status: int

    def prepared(self, settings: Settings) -> Callable[[], None]: ...
    def setServiceParent(self, parent: IServiceCollection) -> object: ...


class Program(MultiService):
    """One process from its start to its end. ``read`` gives the settings as they are written now."""

    def __init__(
        self,
        reactor: IReactor,
        settings: Settings,
        journal: EventWriter,
        manager: ServiceManager,
        read: Callable[[], Settings],
    ) -> None:
        super().__init__()
        self._reactor, self._settings, self._journal = reactor, settings, journal
        self._manager, self._read = manager, read
        self._served: Served | None = None
        self._watchdog = LoopingCall(manager.heartbeat)
        self._ready = False

    def serve(self, served: Served) -> None:
        """What it is all about."""
        self._served = served
        served.setServiceParent(self)

    @property
    def exit_status(self) -> int:
        """0 unless what is served could not begin."""
        return self._served.exit_status if self._served is not None else 0

    def ready(self) -> None:
        """Requests are answered from now on."""
        self._ready = True
        self._manager.ready("Requests are answered.")

    def setServiceParent(self, parent: IServiceCollection) -> None:
        """twistd writes its log by us, unless it was told otherwise on the command line (``--logger``)."""
        if isinstance(parent, Componentized):
            parent.setComponent(ILogObserver, self._journal)
        super().setServiceParent(parent)

    def startService(self) -> None:
        self._manager.status("The database is waited for.")
        signal.signal(signal.SIGHUP, lambda *_: self._reactor.callFromThread(self.read_again))
        if self._manager.beat_seconds:
            self._watchdog.clock = self._reactor
            self._watchdog.start(self._manager.beat_seconds)
        super().startService()

    def stopService(self) -> Deferred[object]:
        self._manager.stopping()
        return super().stopService()

    def read_again(self) -> None:
        """Goes on by what the configuration says now; by the old one where the new one is broken."""
        if not self.running or self._served is None:
            return
        self._manager.reloading()
        try:
            settings, kept = self._read().with_fixed_of(self._settings)
            put_to_use = self._served.prepared(settings)
            self._journal.use(settings)
        except CrowddError as error:
            log.error("configuration not reloaded, previous one stays in use: {error}", error=error)
        except Exception:
            log.failure("configuration not reloaded, previous one stays in use")
        else:
            put_to_use()
            self._settings = settings
            for name in kept:
                log.warn("setting changed but needs a restart: {name}", name=name)
            log.info("configuration reloaded")
        if self._ready:
            self._manager.ready("Requests are answered.")
