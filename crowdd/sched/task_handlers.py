"""The list of all handlers of background tasks."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from types import MappingProxyType

from crowdd.sched.discovery import declared
from crowdd.sched.handler import Handler

_DECLARED_IN = (
    "crowdd.sched.tasks.analyse",
    "crowdd.sched.tasks.change_scheduler",
    "crowdd.sched.tasks.change_tasks",
    "crowdd.sched.tasks.check_import",
    "crowdd.sched.tasks.claim_answers",
    "crowdd.sched.tasks.delete_account",
    "crowdd.sched.tasks.deposit_snapshot",
    "crowdd.sched.tasks.import_tasks",
    "crowdd.sched.tasks.make_snapshot",
    "crowdd.sched.tasks.password_reset_mail",
    "crowdd.sched.tasks.personal_export",
    "crowdd.sched.tasks.prepare_media",
    "crowdd.sched.tasks.read_source",
    "crowdd.sched.tasks.set_aside",
    "crowdd.sched.tasks.sweep_project",
)


@functools.cache
def handlers() -> Mapping[str, Handler]:
    """Every handler by its name."""
    return MappingProxyType({handler.name: handler for handler in declared(_DECLARED_IN, Handler)})
