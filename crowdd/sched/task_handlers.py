"""The list of all handlers of background tasks."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from types import MappingProxyType

from crowdd.sched import tasks
from crowdd.sched.discovery import declared
from crowdd.sched.handler import Handler


@functools.cache
def handlers() -> Mapping[str, Handler]:
    """Every handler by its name."""
    return MappingProxyType({handler.name: handler for handler in declared(tasks, "HANDLER", Handler)})
