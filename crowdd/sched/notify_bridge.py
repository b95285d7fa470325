"""Carries change notifications between processes on one database, by NOTIFY.

PostgreSQL lets one transaction with a NOTIFY commit at a time, in the whole database. So no transaction that does
something else ever notifies: what was notified here goes out together, at most ten times a second, on the connection
that listens.
"""

from __future__ import annotations

import secrets as random
from collections.abc import Callable
from typing import Any, Protocol

from twisted.application.service import Service
from twisted.internet.defer import Deferred, TimeoutError, ensureDeferred, succeed
from twisted.internet.task import deferLater
from twisted.logger import Logger
from twisted.python.failure import Failure

from crowdd.domain.core.change_notifier import ANY, ChangeNotifier
from crowdd.domain.core.concurrency.throttling import Throttled
from crowdd.errors import UnavailableError
from crowdd.storage.connections.listener import Observer

CHANNEL = "changes"
PAUSE = 0.1  # seconds between two notices
MAX_PROJECTS = 350  # in a notice; PostgreSQL takes 8,000 bytes
LAST = 1  # second that sending may take at the end
MAX_WAITING = 10_000  # projects; beyond, the others are told that any may have changed

log = Logger()


class NotifyConnection(Protocol):
    """What hears and sends notices; ``crowdd.storage.connections.pool.Pool`` does."""

    def add_observer(self, observer: Observer) -> None: ...
    async def listen(self, channel: str) -> None: ...
    async def notify(self, channel: str, payload: str) -> None: ...


class NotifyBridge(Service):
    """While it runs, what is notified in this process reaches the others, and the other way round."""

    def __init__(self, clock: Any, connection: NotifyConnection, change_notifier: ChangeNotifier) -> None:
        self._clock, self._connection, self._change_notifier = clock, connection, change_notifier
        self._name = random.token_hex(6)
        self._waiting: dict[int, None] = {}
        self._sending = Throttled(clock, self._send, PAUSE)
        self.listening: Deferred[None] = succeed(None)  # fires when rings of others are heard
        self._stop_listening: Callable[[], None] = lambda: None

    def startService(self) -> None:
        super().startService()
        self._connection.add_observer(self._notified)
        self._stop_listening = self._change_notifier.listen(self._changed, only_own=True)
        self.listening = ensureDeferred(self._listen())

    def stopService(self) -> Deferred[None]:
        """Sends what was notified until now, unless that takes more than LAST seconds."""
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
        # Without a payload: the connection was lost for a while.
        for project_id in projects_in(projects) if payload else [ANY]:
            self._change_notifier.notify(project_id, from_elsewhere=True)

    def _changed(self, project_id: int) -> None:
        if len(self._waiting) < MAX_WAITING:
            self._waiting[project_id] = None
        else:
            self._waiting = {ANY: None}
        self._sending.ask()

    async def _send(self) -> None:
        told = list(self._waiting)[:MAX_PROJECTS]
        for project_id in told:  # before sending: what is notified meanwhile is sent again
            del self._waiting[project_id]
        try:
            await self._connection.notify(CHANNEL, f"{self._name} {','.join(map(str, told))}")
        except Exception:
            self._waiting.update(dict.fromkeys(told))
            raise
        if self._waiting:
            self._sending.ask()

    async def _send_last(self) -> None:
        await deferLater(self._clock, 0)  # what was notified in this turn of the reactor arrives in the next
        super().stopService()
        self._stop_listening()
        self._sending.stop()
        if self._waiting:
            await self.listening
            await self._send()

    def _stopped(self, failure: Failure) -> None:
        failure.trap(TimeoutError, UnavailableError)


def projects_in(text: str) -> list[int]:
    """The projects of a notice; what is no number is left out, for anybody may notify."""
    return [int(word) for word in text.split(",") if word.isascii() and word.isdigit() and len(word) <= 19]
