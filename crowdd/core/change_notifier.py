"""Notifies listeners in this process that the counters, events or background tasks of a project have changed.

It says that something changed, never what: who hears it reads the database. ``crowdd.sched.nodes`` carries
rings between processes.
"""

from __future__ import annotations

from collections.abc import Callable

from twisted.logger import Logger

from crowdd.kernel.reactor import IReactor

log = Logger()
Callback = Callable[[int], None]
ANY = 0
"""What listeners hear in place of a project when any may have changed: notifications of other processes were lost."""
SITE = 2**63 - 1
"""What listeners hear when the settings of the site have changed: no project has this id."""
MAIL, QUEUE = 2**63 - 2, 2**63 - 3
"""What listeners hear when an e-mail or a background task was added. Its transaction may not be committed yet."""
TOPICS = frozenset({SITE, MAIL, QUEUE})
"""What is no project. Only those hear of it who ask for it."""


class ChangeNotifier:
    """``notify`` is called after a commit. Listeners are called in the next reactor turn, once per project."""

    def __init__(self, reactor: IReactor) -> None:
        self._reactor = reactor
        self._listeners: list[tuple[Callback, bool, frozenset[int] | None]] = []
        self._changed: dict[int, bool] = {}  # project -> whether somebody in this process notified

    def notify(self, project_id: int, *, from_elsewhere: bool = False) -> None:
        """Tells every listener. ``from_elsewhere``: another process said so, and need not be told."""
        if not self._listeners:
            return
        if not self._changed:
            self._reactor.callLater(0, self._notify_all)
        self._changed[project_id] = self._changed.get(project_id, False) or not from_elsewhere

    def listen(
        self, callback: Callback, *, only_own: bool = False, topics: frozenset[int] | None = None
    ) -> Callable[[], None]:
        """Has ``callback(project_id)`` called until what is returned is called.

        It should be quick and not wait; its errors are logged. The project may be ANY. ``only_own``: not for what other
        processes rang. ``topics``: for these (and ANY) instead of projects.
        """
        listener = (callback, only_own, topics)
        self._listeners.append(listener)

        def stop() -> None:
            # By identity: the same function may listen twice, and stopping twice is no error.
            self._listeners = [other for other in self._listeners if other is not listener]

        return stop

    def _notify_all(self) -> None:
        changed, self._changed = self._changed, {}
        for callback, only_own, topics in self._listeners:
            for number, own in changed.items():
                fits = number not in TOPICS if topics is None else number in topics or number == ANY
                if fits and (own or not only_own):
                    _call_back(callback, number)


def _call_back(callback: Callback, project_id: int) -> None:
    try:
        callback(project_id)
    except Exception:
        log.failure("change callback failed")
