"""The list of all handlers of background tasks."""

from __future__ import annotations

from collections.abc import Mapping

from crowdd.sched import tasks
from crowdd.sched.discovery import declared
from crowdd.sched.handler import Handler


def handlers() -> Mapping[str, Handler]:
    """Every handler by its name."""
    return {handler.name: handler for handler in declared(tasks, "HANDLER", Handler)}
