"""Several processes that answer on one port. The parent process starts them, writes their log, passes signals on,
restarts workers that exit, and exits last.

Each worker has a socket of its own on the shared port (SO_REUSEPORT). The parent keeps the sockets open, so clients
that connect while a worker is restarted wait for the next one.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
from collections import deque
from collections.abc import Callable
from pathlib import Path

from prometheus_client.multiprocess import mark_process_dead
from twisted.application.service import Service
from twisted.internet.defer import Deferred, DeferredList, ensureDeferred, succeed
from twisted.internet.error import ProcessExitedAlready
from twisted.internet.interfaces import IDelayedCall, IProcessTransport
from twisted.internet.protocol import ProcessProtocol
from twisted.logger import Logger
from twisted.python.failure import Failure

from crowdd.core import secrets
from crowdd.database.embedded.cluster import end_with
from crowdd.features.operations.metrics import FOLDER
from crowdd.kernel import files as kernel_files
from crowdd.kernel.concurrency.isolated import Restarts
from crowdd.kernel.concurrency.timing import deadline
from crowdd.kernel.config import Settings
from crowdd.kernel.config.location import NO_DATABASE, WHAT_TO_DO
from crowdd.kernel.errors import ConfigError
from crowdd.kernel.listening import bind_many, read_certificate
from crowdd.kernel.logs import EventWriter
from crowdd.kernel.process import NAMED_BY
from crowdd.kernel.reactor import IReactor
from crowdd.sched.nodes import Node, new_id

log = Logger()
SOCKET, READY = 3, 4  # descriptors of a worker
FIRST_PAUSE, MAX_PAUSE = 0.1, 10.0  # seconds before a worker that exited is restarted
MAX_LINE_LENGTH = 100_000
_GRACE = 10.0  # seconds beyond four times the patience of a worker, which has that for each of its parts
_DEAD_KEPT = 20  # workers whose counts are kept after their end


def mark(number: int, node_id: str) -> str:
    """The argument that tells a worker its number, its parent process and the id of its server."""
    return f"{number}/{os.getpid()}/{node_id}"


def begin(worker_mark: str, settings: Settings) -> tuple[socket.socket, Node]:
    """Socket and server of a worker that got ``mark(...)``. The worker is killed when its parent exits."""
    number, parent, node_id = worker_mark.split("/")
    end_with(int(parent), signal.SIGKILL)
    return socket.socket(fileno=SOCKET), Node.begin(settings, node_id, int(number))


def say_ready() -> None:
    """Tell the parent process that requests are answered."""
    os.write(READY, b"ready\n")
    os.close(READY)


class Member(ProcessProtocol):
    """One worker. ``ended`` fires when it exits."""

    transport: IProcessTransport

    def __init__(self, number: int, write: Callable[[str], None], ready: Callable[[Member], None]):
        self.number, self._write, self._when_ready = number, write, ready
        self.is_ready, self.stale = False, False
        self.ended: Deferred[Member] = Deferred()
        self.code: int | None = None
        self.pid = 0
        self._half = b""

    def connectionMade(self) -> None:
        self.pid = int(self.transport.pid)

    def childDataReceived(self, descriptor: int, data: bytes) -> None:
        if descriptor == READY:
            self.is_ready = True
            self._when_ready(self)
            return
        whole, newline, self._half = (self._half + data).rpartition(b"\n")
        if newline or len(self._half) > MAX_LINE_LENGTH:
            self._say(whole + newline if newline else self._half)
            self._half = self._half if newline else b""

    def _say(self, lines: bytes) -> None:
        self._write(lines.decode("utf-8", "replace"))

    def processEnded(self, reason: Failure) -> None:
        if self._half:
            self._say(self._half + b"\n")
        self.code = getattr(reason.value, "exitCode", None)
        self.ended.callback(self)

    def send(self, name: str) -> None:
        """Send a signal, unless the worker has exited."""
        with contextlib.suppress(ProcessExitedAlready):
            self.transport.signalProcess(name)


class Workers(Service):
    """The processes of a server."""

    exit_status = 0

    def __init__(
        self,
        reactor: IReactor,
        settings: Settings,
        config: Path | None,
        journal: EventWriter,
        when_ready: Callable[[], None] = lambda: None,
    ) -> None:
        if not settings.db.dsn:
            raise ConfigError(NO_DATABASE, hint=WHAT_TO_DO)
        read_certificate(settings.http)
        secrets.load(settings.data.dir)
        self._reactor, self._settings, self._config, self._journal = reactor, settings, config, journal
        self._when_ready = when_ready
        self._sockets: list[socket.socket] = []
        self._members: dict[int, Member] = {}
        self._restarts: dict[int, Restarts] = {}
        self._planned: dict[int, IDelayedCall] = {}
        self._were_ready = False
        self._dead: deque[int] = deque()
        self._folder = settings.data.dir.absolute() / "metrics"
        self._node_id = new_id()

    def privilegedStartService(self) -> None:
        """Bind here, where an error still stops twistd."""
        self._sockets = bind_many(self._settings, self._settings.daemon.workers)

    def startService(self) -> None:
        super().startService()
        kernel_files.make_folder(self._folder, self._folder.parent)
        for left in self._folder.glob("*.db"):
            left.unlink()
        for number in range(1, len(self._sockets) + 1):
            self._begin(number)

    def _begin(self, number: int) -> None:
        self._planned.pop(number, None)
        member = Member(number, self._journal.write, self._ready)
        program = str(Path(sys.executable).with_name("twistd"))
        config = ["--config", str(self._config)] if self._config else []
        descriptors: dict[int, int | str] = {
            0: 0,
            1: "r",
            2: "r",
            SOCKET: self._sockets[number - 1].fileno(),
            READY: "r",
        }
        line = [
            sys.executable,
            program,
            "--nodaemon",
            "--pidfile=",
            "crowdd",
            "--worker",
            mark(number, self._node_id),
            *config,
        ]
        self._reactor.spawnProcess(member, sys.executable, line, env=self._environment(), childFDs=descriptors)
        self._members[number] = member
        self._restarts.setdefault(number, Restarts(self._reactor.seconds, FIRST_PAUSE, MAX_PAUSE)).began()
        member.ended.addCallback(self._ended)

    def _environment(self) -> dict[str, str]:
        ours = (NAMED_BY, "WATCHDOG_USEC", "WATCHDOG_PID")  # only the parent talks to the service manager
        return {**{name: text for name, text in os.environ.items() if name not in ours}, FOLDER: str(self._folder)}

    def _ready(self, member: Member) -> None:
        if member.stale:
            member.send("HUP")
        if not self._were_ready and all(each.is_ready for each in self._members.values()):
            self._were_ready = True
            log.info("{number} workers answer on {address}", number=len(self._members), address=self._settings.base_url)
            self._when_ready()

    def _ended(self, member: Member) -> Member:
        self._remove_gauges(member.pid)
        if not self.running:
            return member
        if not self._were_ready and member.code == 1:
            self._give_up(member)
            return member
        pause = self._restarts[member.number].pause()
        log.error(
            "worker exited: worker={number} code={code} restart_in={pause}s",
            number=member.number, code=member.code, pause=pause,
        )  # fmt: skip
        self._planned[member.number] = self._reactor.callLater(pause, self._begin, member.number)
        return member

    def _remove_gauges(self, pid: int) -> None:
        """Remove the gauges of a worker that exited. Counters are kept for the last workers that exited."""
        mark_process_dead(pid, str(self._folder))
        self._dead.append(pid)
        if len(self._dead) > _DEAD_KEPT:
            for left in self._folder.glob(f"*_{self._dead.popleft()}.db"):
                left.unlink()

    def _give_up(self, member: Member) -> None:
        log.critical("crowdd cannot start: see the log of worker {number}", number=member.number)
        if self.exit_status == 0:
            self.exit_status = 1
            self._reactor.callLater(0, self._reactor.stop)

    def prepared(self, settings: Settings) -> Callable[[], None]:
        """Check other settings, and return a function that has the workers read them. Raises ConfigError."""
        read_certificate(settings.http)

        def put_to_use() -> None:
            for member in self._members.values():
                if member.is_ready:
                    member.send("HUP")
                else:
                    member.stale = True

        return put_to_use

    def stopService(self) -> Deferred[None]:
        super().stopService()
        for listener in self._sockets:
            listener.close()
        for call in self._planned.values():
            call.cancel()
        living = [member for member in self._members.values() if member.code is None and not member.ended.called]
        for member in living:
            member.send("TERM")
        if not living:
            return succeed(None)
        return ensureDeferred(self._await_end(living))

    async def _await_end(self, living: list[Member]) -> None:
        http = self._settings.http
        patience = http.drain_delay + 4 * http.shutdown_timeout + _GRACE
        with deadline(self._reactor, patience, _kill, living):
            await DeferredList([member.ended for member in living])


def _kill(members: list[Member]) -> None:
    for member in members:
        member.send("KILL")
