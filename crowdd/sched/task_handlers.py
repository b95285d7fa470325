"""What a work of the queue is, and the ones there are."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from typing import Any

import attrs

from crowdd.domain.core.background_queue import QueuedTask
from crowdd.domain.server.services import Services
from crowdd.sched import tasks
from crowdd.sched.discovery import declared


@attrs.frozen
class Handler:
    """Does items of its name: ``run(domain, item)``, which may return a dict that their owners see as the result.

    It may be begun again at any time, also after its process was killed, and then goes on at ``item.checkpoint``. It
    works in short transactions and calls ``item.progress`` after each, at the latest after ``quiet_seconds``. After
    ``max_attempts`` failures in a row that got no further than those before, or a refusal (an error of ours that does
    not pass by itself), an item is dead.
    """

    name: str
    run: Callable[[Services, QueuedTask], Coroutine[Any, Any, dict[str, object] | None]]
    max_attempts: int = 8
    stall_seconds: float = 1800.0


def handlers() -> Mapping[str, Handler]:
    """Every work by its name."""
    found: list[Handler] = list(declared(tasks, "HANDLER"))
    return {each.name: each for each in found}
