"""Number events after their commit, soon after the change notification, and notify those who read events.

Every process numbers the events that it wrote itself. An advisory lock per project keeps two processes from doing so at
once. A regular poll finds events of processes that were killed between commit and numbering.
"""

from __future__ import annotations

from collections.abc import Callable

from twisted.application.service import Service
from twisted.internet.defer import Deferred, ensureDeferred
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from crowdd.core.change_notifier import ChangeNotifier
from crowdd.database.access import Database
from crowdd.kernel.concurrency.timing import PollLoop
from crowdd.kernel.errors import UnavailableError
from crowdd.sched import event_statements

SOON = 0.05  # seconds after a notification; events of this time are numbered together
LOOK = 10.0  # seconds between polls without a notification
LOOKS_PER_CENSUS = 6  # polls between two searches for projects that became complete without an event

log = Logger()


class Sequencer(Service):
    """Gives events their numbers while it runs."""

    def __init__(self, clock: IReactorTime, db: Database, change_notifier: ChangeNotifier) -> None:
        self._db, self._change_notifier = db, change_notifier
        self._turns = PollLoop(clock, self._look, self._pause)
        self._changed = False
        self._poll_loop = 0
        self._stop_listening: Callable[[], None] = lambda: None

    def startService(self) -> None:
        super().startService()
        self._stop_listening = self._change_notifier.listen(self._notified, only_own=True)
        self._turns.start()

    def stopService(self) -> Deferred[None]:
        """Fires when the running poll has ended."""
        super().stopService()
        self._stop_listening()
        return ensureDeferred(self._turns.stop())

    def _notified(self, project_id: int) -> None:
        self._changed = True
        self._turns.plan(SOON)

    def _pause(self) -> float:
        return SOON if self._changed else LOOK

    async def _look(self) -> None:
        self._changed = False
        try:
            for project_id in await self._projects():
                await self._number(project_id)
        except UnavailableError as error:
            log.debug("event numbering paused, database unavailable: {error}", error=error)
        except Exception:
            log.failure("could not look for events, retrying")

    async def _number(self, project_id: int) -> None:
        """Number the events of one project. Its failure must not hold up the others."""
        try:
            if await event_statements.number_events(self._db, project_id):
                self._change_notifier.notify(project_id)
        except UnavailableError as error:
            log.debug(
                "event numbering paused, database unavailable: project={project} error={error}",
                project=project_id,
                error=error,
            )
        except Exception:
            log.failure("could not number events: project={project}", project=project_id)

    async def _projects(self) -> list[int]:
        self._poll_loop += 1
        census = await event_statements.list_newly_complete(self._db) if self._poll_loop % LOOKS_PER_CENSUS == 1 else []
        return [*await event_statements.list_unnumbered(self._db), *census]
