"""Processes of one database: pass change notifications between them with NOTIFY, and show that this one runs.

PostgreSQL lets only one transaction with a NOTIFY commit at a time, in the whole database. So transactions that change
rows never use NOTIFY. The notifications of this process are sent together, at most ten times a second, on the
connection that listens. ``crowdctl nodes`` lists the processes, and upgrades ask whether they can go on.
"""

from __future__ import annotations

import secrets as random
import socket
from collections.abc import Callable
from typing import Protocol

import attrs
from twisted.application.service import Service
from twisted.internet.defer import Deferred, TimeoutError, ensureDeferred, succeed
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater
from twisted.logger import Logger
from twisted.python.failure import Failure

from crowdd.core.change_notifier import ANY, TOPICS, ChangeNotifier
from crowdd.database import nodes, schema
from crowdd.database.access import Database
from crowdd.database.listener import Observer
from crowdd.database.nodes import Process
from crowdd.kernel.concurrency.throttling import Throttled
from crowdd.kernel.concurrency.timing import PollLoop
from crowdd.kernel.config import Settings
from crowdd.kernel.errors import UnavailableError
from crowdd.sched import statements
from crowdd.sched.job import LogOnce

log = Logger()


CHANNEL = "changes"
PAUSE = 0.1  # seconds between two NOTIFY statements
MAX_PROJECTS = 350  # in one NOTIFY; PostgreSQL accepts 8,000 bytes
LAST = 1  # seconds that the last NOTIFY may take
MAX_WAITING = 10_000  # projects; above, the other processes are told that any project may have changed


class NotifyConnection(Protocol):
    """A connection that listens and notifies. ``crowdd.database.pool.Pool`` is one."""

    def add_observer(self, observer: Observer) -> None: ...
    async def listen(self, channel: str) -> None: ...
    async def notify(self, channel: str, payload: str) -> None: ...


class NotifyBridge(Service):
    """While it runs, change notifications of this process reach the others, and theirs reach this one."""

    def __init__(self, clock: IReactorTime, connection: NotifyConnection, change_notifier: ChangeNotifier) -> None:
        self._clock, self._connection, self._change_notifier = clock, connection, change_notifier
        self._name = random.token_hex(6)
        self._waiting: dict[int, None] = {}
        self._sending = Throttled(clock, self._send, PAUSE)
        self.listening: Deferred[None] = succeed(None)  # fires when notifications of other processes arrive
        self._stop_listening: Callable[[], object] = lambda: None

    def startService(self) -> None:
        super().startService()
        self._connection.add_observer(self._notified)
        stops = [self._change_notifier.listen(self._changed, only_own=True, topics=topics) for topics in (None, TOPICS)]
        self._stop_listening = lambda: [stop() for stop in stops]
        self.listening = ensureDeferred(self._listen())

    def stopService(self) -> Deferred[None]:
        """Send the notifications that wait, unless that takes more than LAST seconds."""
        return ensureDeferred(self._send_last()).addTimeout(LAST, self._clock).addErrback(self._stopped)

    async def _listen(self) -> None:
        try:
            await self._connection.listen(CHANNEL)
        except UnavailableError as error:
            log.debug("could not listen for notifications: {error}", error=error)

    def _notified(self, channel: str, payload: str) -> None:
        if channel != CHANNEL or not self.running:
            return
        sender, _, projects = payload.partition(" ")
        if sender == self._name:
            return
        # An empty payload means that the connection was lost for a while.
        for project_id in projects_in(projects) if payload else [ANY]:
            self._change_notifier.notify(project_id, from_elsewhere=True)

    def _changed(self, project_id: int) -> None:
        if len(self._waiting) < MAX_WAITING:
            self._waiting[project_id] = None
        else:
            self._waiting = {ANY: None}
        self._sending.ask()

    async def _send(self) -> None:
        projects = list(self._waiting)[:MAX_PROJECTS]
        for project_id in projects:  # before sending: a change in the meantime must be sent again
            del self._waiting[project_id]
        try:
            await self._connection.notify(CHANNEL, f"{self._name} {','.join(map(str, projects))}")
        except Exception:
            self._waiting.update(dict.fromkeys(projects))
            raise
        if self._waiting:
            self._sending.ask()

    async def _send_last(self) -> None:
        await deferLater(self._clock, 0)  # a change of this reactor turn is notified in the next
        super().stopService()
        self._stop_listening()
        self._sending.stop()
        if self._waiting:
            await self.listening
            await self._send()

    def _stopped(self, failure: Failure) -> None:
        failure.trap(TimeoutError, UnavailableError)


def projects_in(text: str) -> list[int]:
    """The projects of a payload. Anybody may NOTIFY, so everything but numbers is left out."""
    return [int(word) for word in text.split(",") if word.isascii() and word.isdigit() and len(word) <= 19]


def new_id() -> str:
    """An id for one start of a server, which all of its processes share."""
    return random.token_hex(8)


@attrs.define
class Node:
    """``draining``: the server goes on answering, but a proxy should send its requests elsewhere."""

    process: Process
    code: schema.Code
    draining: bool = False

    @classmethod
    def begin(cls, settings: Settings, node_id: str = "", worker: int = 0) -> Node:
        """That of this process. ``worker`` is its number where the server has several processes, which share an id."""
        code, host = schema.Code.read(), socket.gethostname()
        name = settings.daemon.node or host
        newest = max(code.known, default=0)
        process = Process(node_id or new_id(), worker, name, host, code.version, newest, code.fingerprint)
        return cls(process, code)


HEARTBEAT_SECONDS = 10.0
AGAIN_SECONDS = 1.0
LAST_SECONDS = 1.0


class NodeHeartbeat(Service):
    """Keeps the row of this process. ``session`` is a database of one connection, which holds its lock."""

    def __init__(self, clock: IReactorTime, session: Database, node: Node) -> None:
        self._clock, self._session, self._node = clock, session, node
        self._loop = PollLoop(clock, self._look, self._pause)
        self._held = True
        self._pausing: Deferred[None] | None = None
        self._outage = LogOnce("heartbeat")

    async def announce(self) -> None:
        """Adds the row, unless the database takes no changes: then the first heartbeat after that does.

        Waits while the database is upgraded, and tries again while it is unavailable.
        """
        while not await self._tried():
            self._pausing = deferLater(self._clock, AGAIN_SECONDS)
            await self._pausing

    async def _tried(self) -> bool:
        try:
            await self._announce()
        except UnavailableError as error:
            self._outage.failed(error)
            return False
        self._outage.succeeded()
        return True

    async def _announce(self) -> None:
        self._held = await nodes.hold(self._session, self._node.process)
        if await statements.is_read_only(self._session):
            return
        await nodes.announce(self._session, self._node.process)

    def startService(self) -> None:
        super().startService()
        self._loop.start(HEARTBEAT_SECONDS)

    def drain(self) -> None:
        """Show that this server is about to end."""
        self._node.draining = True
        self._loop.plan(0)

    def stopService(self) -> Deferred[None]:
        """Removes the row, unless that takes more than LAST_SECONDS."""
        super().stopService()
        if self._pausing is not None:
            self._pausing.cancel()
        return ensureDeferred(self._last()).addTimeout(LAST_SECONDS, self._clock).addErrback(_stopped)

    async def _last(self) -> None:
        await self._loop.stop()
        await nodes.leave(self._session, self._node.process)

    def _pause(self) -> float:
        return HEARTBEAT_SECONDS if self._held else AGAIN_SECONDS

    async def _look(self) -> None:
        try:
            self._held = await nodes.hold(self._session, self._node.process)
            if not await nodes.heartbeat(self._session, self._node.process, draining=self._node.draining):
                await self._announce()
            self._outage.succeeded()
        except UnavailableError as error:
            self._held = False
            self._outage.failed(error)
        except Exception:
            log.failure("could not send the heartbeat of this node, retrying")


def _stopped(failure: Failure) -> None:
    failure.trap(TimeoutError, UnavailableError)
