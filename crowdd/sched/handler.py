"""What the handler of a background task is."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING

import attrs
from twisted.internet.defer import Deferred

from crowdd.domain.core.background_queue import QueuedTask

if TYPE_CHECKING:
    from crowdd.domain.server.services import Services

RunningTask = Coroutine[Deferred[object], object, dict[str, object] | None]


@attrs.frozen
class Handler:
    """Runs background tasks of its name. ``run`` may return a dict, which the task's owner sees as the result.

    ``run`` passes the services that the handler uses, and the task, to the function that does the work.

    A task may be run again at any time, also after its process was killed, and then continues at ``item.checkpoint``.
    The handler works in short transactions and calls ``item.progress`` after each, at the latest after
    ``stall_seconds``. A task is dead after ``max_attempts`` failures in a row without progress, or after an error of
    ``crowdd.errors`` that would only be repeated.

    ``title`` is the name of such tasks on pages. ``note`` says what is true until one ends, for people who wait.
    """

    name: str
    run: Callable[[Services, QueuedTask], RunningTask]
    title: str = ""
    note: str = ""
    max_attempts: int = 8
    stall_seconds: float = 1800.0
