"""Show on the database that this process runs: ``crowdctl nodes`` lists it, and upgrades ask whether it can go on."""

from __future__ import annotations

from twisted.application.service import Service
from twisted.internet.defer import Deferred, TimeoutError, ensureDeferred
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater
from twisted.logger import Logger
from twisted.python.failure import Failure

from crowdd.concurrency.poll_loop import PollLoop
from crowdd.domain.server.readiness import Node
from crowdd.errors import UnavailableError
from crowdd.sched.log_once import LogOnce
from crowdd.storage import nodes
from crowdd.storage.database import Database
from crowdd.storage.server import figures

HEARTBEAT_SECONDS = 10.0
AGAIN_SECONDS = 1.0
LAST_SECONDS = 1.0

log = Logger()


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
        if await figures.read_only(self._session):
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
