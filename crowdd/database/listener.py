"""NOTIFY and LISTEN, on a connection that does nothing else."""

from __future__ import annotations

from collections.abc import Callable

from twisted.internet.defer import DeferredLock, ensureDeferred
from twisted.logger import Logger

from crowdd.database.connection import Connection, in_background
from crowdd.database.connector import Connector
from crowdd.kernel.concurrency.timing import shield
from crowdd.kernel.errors import UnavailableError
from crowdd.kernel.reactor import IReactor

Observer = Callable[[str, str], None]
ANSWER_TIMEOUT = 10.0  # of NOTIFY, which waits for nothing

log = Logger()


class Listener:
    """Hears and sends NOTIFY on a connection of its own, which is opened when first needed and again after a loss."""

    def __init__(self, connector: Connector) -> None:
        self._connector = connector
        self._connection: Connection | None = None
        self._channels: dict[str, None] = {}
        self._observers: list[Observer] = []
        self._one_at_a_time = DeferredLock()

    def add_observer(self, observer: Observer) -> None:
        """See ``Pool.add_observer``."""
        self._observers.append(observer)

    async def listen(self, channel: str) -> None:
        """See ``Pool.listen``."""
        await shield(self._one_at_a_time.run(lambda: ensureDeferred(self._attend(channel))))

    async def notify(self, channel: str, payload: str) -> None:
        """See ``Pool.notify``."""
        self._require_connection()
        await shield(self._one_at_a_time.run(lambda: ensureDeferred(self._send(channel, payload))))

    def close(self) -> None:
        """Stops hearing; a pending ``listen`` fails with UnavailableError."""
        self._connector.stop()
        if self._connection is not None:
            self._connection.close()

    async def _attend(self, channel: str) -> None:
        connection = await self._connected()
        await connection.run(listen_statement(channel))
        self._channels[channel] = None

    async def _send(self, channel: str, payload: str) -> None:
        await self._require_connection().run("SELECT pg_notify(%s, %s)", (channel, payload))

    def _require_connection(self) -> Connection:
        if self._connection is None or not self._connection.alive:
            raise UnavailableError("The connection for notifications was lost.")
        return self._connection

    async def _connected(self) -> Connection:
        if self._connection is None or not self._connection.alive:
            # A notice is no data: it need not wait for the disk.
            listens = [listen_statement(channel) for channel in self._channels]
            setup = ["SET synchronous_commit = off", *listens]
            self._connection = await self._connector.open(self._make, setup)
        return self._connection

    def _make(self, reactor: IReactor) -> Connection:
        return Connection(reactor, self._lost, self._tell, answer_timeout=ANSWER_TIMEOUT)

    def _lost(self, connection: Connection) -> None:
        if connection is self._connection:
            in_background(self._one_at_a_time.run(lambda: ensureDeferred(self._resume())))

    async def _resume(self) -> None:
        await self._connected()
        # What was notified in between is lost, so everybody looks once.
        for channel in self._channels:
            self._tell(channel, "")

    def _tell(self, channel: str, payload: str) -> None:
        for observer in self._observers:
            try:
                observer(channel, payload)
            except Exception:
                log.failure("notification callback failed: channel={channel}", channel=channel)


def listen_statement(channel: str) -> str:
    """LISTEN for a channel of any name."""
    return 'LISTEN "{}"'.format(channel.replace('"', '""'))
