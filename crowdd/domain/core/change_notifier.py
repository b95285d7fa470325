"""The bell: says that a project's figures or events have changed, to whoever in this process wants to know.

It says that something changed, never what: who hears it reads the database. ``crowdd.sched.notify_bridge`` carries
rings between processes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from twisted.logger import Logger

log = Logger()
Heard = Callable[[int], None]
ANY = 0
"""What listeners hear in place of a project when any may have changed: rings of other processes were lost."""


class Bell:
    """Rung after a commit, heard in the next turn of the reactor, once per project however often it was rung."""

    def __init__(self, reactor: Any) -> None:
        self._reactor = reactor
        self._listeners: list[tuple[Heard, bool]] = []
        self._rung: dict[int, bool] = {}  # project -> whether somebody in this process rang

    def ring(self, project_id: int, *, elsewhere: bool = False) -> None:
        """Tells every listener. ``elsewhere``: another process rang, so that the ring need not be carried there."""
        if not self._listeners:
            return
        if not self._rung:
            self._reactor.callLater(0, self._tell)
        self._rung[project_id] = self._rung.get(project_id, False) or not elsewhere

    def listen(self, heard: Heard, *, only_own: bool = False) -> Callable[[], None]:
        """Has ``heard(project_id)`` called until what is returned is called.

        It should be quick and not wait; its errors are logged. The project may be ANY. ``only_own``: not for what other
        processes rang.
        """
        listener = (heard, only_own)
        self._listeners.append(listener)

        def stop() -> None:
            # By identity: the same function may listen twice, and stopping twice is no error.
            self._listeners = [other for other in self._listeners if other is not listener]

        return stop

    def _tell(self) -> None:
        rung, self._rung = self._rung, {}
        for heard, only_own in self._listeners:
            for project_id, own in rung.items():
                if own or not only_own:
                    _call(heard, project_id)


def _call(heard: Heard, project_id: int) -> None:
    try:
        heard(project_id)
    except Exception:
        log.failure("A listener of the bell failed")
