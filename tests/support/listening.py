"""A client that listens to a stream of events."""

from __future__ import annotations

import time
from typing import Any

import attrs
import orjson
from twisted.internet import reactor
from twisted.internet.defer import Deferred
from twisted.internet.protocol import Protocol
from twisted.web.client import Agent
from twisted.web.http_headers import Headers

PATIENCE = 60  # seconds


@attrs.frozen
class Event:
    """One event: its name, its data, the place in the log that it names."""

    name: str
    data: Any
    id: str = ""


class Listener(Protocol):
    """An open stream: ``await next()`` is the next event, None at its end."""

    def __init__(self, response: Any) -> None:
        self.status, self.headers = response.code, response.headers
        self.events: list[Event] = []
        self.comments = 0
        self.retry = 0
        self.ended = False
        self._buffer = b""
        self._waiting: Deferred[None] | None = None

    def dataReceived(self, data: bytes) -> None:
        *blocks, self._buffer = (self._buffer + data).split(b"\n\n")
        for block in blocks:
            self._take(block.decode())
        self._wake()

    def _take(self, block: str) -> None:
        fields = [line.partition(":")[::2] for line in block.split("\n")]
        texts = {name: value.removeprefix(" ") for name, value in fields if name}
        self.comments += sum(not name for name, _ in fields)
        self.retry = int(texts.get("retry", self.retry))
        if "data" in texts:
            self.events.append(Event(texts.get("event", "message"), orjson.loads(texts["data"]), texts.get("id", "")))

    def connectionLost(self, reason: Any = None) -> None:
        self.ended = True
        self._wake()

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            waiting.callback(None)

    async def more(self) -> None:
        """Returns when something came, or the end."""
        if not self.ended:
            self._waiting = Deferred()
            await self._waiting.addTimeout(PATIENCE, reactor)

    async def next(self) -> Event | None:
        end = time.monotonic() + PATIENCE
        while not self.events and not self.ended:
            assert time.monotonic() < end, "nothing came but comments"
            await self.more()
        return self.events.pop(0) if self.events else None

    async def until(self, condition: Any) -> Event:
        """The first event for which the condition holds."""
        while (event := await self.next()) is not None:
            if condition(event):
                return event
        raise AssertionError("The stream ended.")

    def leave(self) -> None:
        """Closes the connection."""
        self.transport.stopProducing()


async def listen(client: Any, path: str, **headers: str) -> Listener:
    """Opens a stream as ``client`` (``support.servers.served.Client``); a refused client has a status above 299."""
    sent = {"Accept": "text/event-stream", **{name.replace("_", "-"): value for name, value in headers.items()}}
    if client.cookies:
        sent["Cookie"] = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
    if client.key:
        sent.setdefault("Authorization", client.key)
    agent = Agent(reactor)  # a connection of its own
    response = await agent.request(
        b"GET", (client.base + path).encode(), Headers({name: [value] for name, value in sent.items()})
    )
    listener = Listener(response)
    response.deliverBody(listener)
    return listener
