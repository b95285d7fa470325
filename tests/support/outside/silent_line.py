"""A line to PostgreSQL that can fall silent: what was sent does not arrive, and nobody is told (packets are dropped)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from psycopg2.extensions import make_dsn, parse_dsn
from twisted.internet import reactor
from twisted.internet.defer import Deferred, gatherResults
from twisted.internet.protocol import ClientFactory, Factory, Protocol, connectionDone
from twisted.python.failure import Failure


class SilentLine:
    """``dsn`` leads over TCP to the database of another DSN, in the reactor of the test. Close it."""

    def __init__(self, dsn: str) -> None:
        words = parse_dsn(dsn)
        self.target = str(Path(words["host"]) / f".s.PGSQL.{words.get('port', '5432')}")
        self.silent = False
        self.open: set[_End] = set()
        self._port = reactor.listenTCP(0, _near(self), interface="127.0.0.1")
        host = {"host": "127.0.0.1", "port": self._port.getHost().port, "sslmode": "disable"}
        self.dsn = make_dsn(dsn, **host)

    def cut(self) -> None:
        """From now on nothing passes, in either direction; new connections come about and hear nothing."""
        self.silent = True
        for end in self.open:
            end.transport.pauseProducing()

    def forget_clients(self) -> None:
        """PostgreSQL gives up the sessions, as its keepalives do; the clients do not hear of it."""
        for end in [*self.open]:
            if end.far:
                end.transport.abortConnection()

    def mend(self) -> None:
        """What was sent meanwhile arrives. Where PostgreSQL has given up, the client learns it now."""
        self.silent = False
        for end in [*self.open]:
            if end.peer is None and not end.far:
                end.reach()
            elif end.peer is not None and end.peer.gone.called:
                end.transport.abortConnection()
            else:
                end.transport.resumeProducing()

    async def close(self) -> None:
        """Nothing is left in the reactor."""
        await self._port.stopListening()
        ends = [*self.open]
        for end in ends:
            end.transport.abortConnection()
        await gatherResults([end.gone for end in ends])


class _End(Protocol):
    """One end of a connection: ``far`` is PostgreSQL's. ``gone`` fires at its end."""

    transport: Any

    def __init__(self, line: SilentLine, peer: _End | None = None) -> None:
        self._line, self.peer, self.far = line, peer, peer is not None
        self._waiting: list[bytes] = []
        self.gone: Deferred[None] = Deferred()

    def connectionMade(self) -> None:
        self._line.open.add(self)
        if self.far:
            assert self.peer is not None
            self.peer.reached(self)
        elif self._line.silent:
            self.transport.pauseProducing()
        else:
            self.reach()

    def reach(self) -> None:
        """Connects to PostgreSQL."""
        self.transport.resumeProducing()
        reactor.connectUNIX(self._line.target, _far(self._line, self))

    def reached(self, peer: _End) -> None:
        """PostgreSQL has taken the connection."""
        self.peer = peer
        for data in self._waiting:
            peer.transport.write(data)
        if self.gone.called:
            peer.transport.abortConnection()

    def dataReceived(self, data: bytes) -> None:
        if self.peer is None:
            self._waiting.append(data)
        else:
            self.peer.transport.write(data)

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        self._line.open.discard(self)
        if self.peer is not None and not self._line.silent:
            self.peer.transport.loseConnection()
        self.gone.callback(None)


def _near(line: SilentLine) -> Factory:
    return Factory.forProtocol(lambda: _End(line))


def _far(line: SilentLine, near: _End) -> Any:
    return ClientFactory.forProtocol(lambda: _End(line, near))
