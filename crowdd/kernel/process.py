"""What ``twistd crowdd`` runs: a server or its workers, with the log, SIGHUP and notices to the service manager.

A notice is a datagram to the socket that the service manager names (sd_notify(3)).
"""

from __future__ import annotations

import contextlib
import signal
import socket
import time
from collections.abc import Callable, Mapping
from typing import Protocol

from twisted.application.service import IServiceCollection, MultiService
from twisted.internet.defer import Deferred
from twisted.internet.task import LoopingCall
from twisted.logger import ILogObserver, Logger
from twisted.python.components import Componentized

from crowdd.kernel.config import Settings
from crowdd.kernel.errors import CrowddError
from crowdd.kernel.logs import EventWriter
from crowdd.kernel.reactor import IReactor

log = Logger()


NAMED_BY = "NOTIFY_SOCKET"
_BEATS_PER_WATCH = 3


class ServiceManager:
    """systemd, or nobody: then nothing is told."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        address = environment.get(NAMED_BY, "")
        self._address = "\0" + address[1:] if address.startswith("@") else address
        limit = environment.get("WATCHDOG_USEC", "")
        self.beat_seconds = int(limit) / 1_000_000 / _BEATS_PER_WATCH if limit.isdigit() else 0.0

    def ready(self, words: str) -> None:
        """The server does its work."""
        self._tell(f"READY=1\nSTATUS={words}")

    def status(self, words: str) -> None:
        """What it does just now."""
        self._tell(f"STATUS={words}")

    def reloading(self) -> None:
        """Settings are being read again; ``ready`` follows."""
        self._tell(f"RELOADING=1\nMONOTONIC_USEC={time.monotonic_ns() // 1000}")

    def stopping(self) -> None:
        """It comes to its end."""
        self._tell("STOPPING=1\nSTATUS=Requests under way end.")

    def heartbeat(self) -> None:
        """It is alive."""
        self._tell("WATCHDOG=1")

    def _tell(self, message: str) -> None:
        if not self._address:
            return
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sending:
            sending.setblocking(False)
            sending.sendto(message.encode(), self._address)


class Served(Protocol):
    """A service that can apply other settings while it runs."""

    exit_status: int

    def prepared(self, settings: Settings) -> Callable[[], None]: ...
    def setServiceParent(self, parent: IServiceCollection) -> object: ...


class Program(MultiService):
    """One process from start to end. ``read`` reads the settings again."""

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
        """Run this service as part of the program."""
        self._served = served
        served.setServiceParent(self)

    @property
    def exit_status(self) -> int:
        """0 unless the service could not start."""
        return self._served.exit_status if self._served is not None else 0

    def ready(self) -> None:
        """Tell the service manager that requests are answered."""
        self._ready = True
        self._manager.ready("Requests are answered.")

    def setServiceParent(self, parent: IServiceCollection) -> None:
        """Have twistd log to the journal, unless its command line names another log (``--logger``)."""
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
        """Read and apply the configuration. If it is invalid, keep the previous one."""
        if not self.running or self._served is None:
            return
        self._manager.reloading()
        try:
            settings, unapplied_names = self._read().with_fixed_of(self._settings)
            put_to_use = self._served.prepared(settings)
            self._journal.use(settings)
        except CrowddError as error:
            log.error("configuration not reloaded, previous one stays in use: {error}", error=error)
        except Exception:
            log.failure("configuration not reloaded, previous one stays in use")
        else:
            put_to_use()
            self._settings = settings
            for name in unapplied_names:
                log.warn("setting changed but needs a restart: {name}", name=name)
            log.info("configuration reloaded")
        if self._ready:
            self._manager.ready("Requests are answered.")
