"""The kinds of events, one file each; ``KINDS`` names them all.

Something of that kind happens by ``crowdd.storage.webhooks.events.add`` in the transaction that does it, or by a row of
``event`` that a function of the database writes.
"""

from __future__ import annotations

from collections.abc import Mapping

from crowdd.domain.webhooks.event_kind import EventKind
from crowdd.domain.webhooks.events import ping, project_completed, result_compared, result_updated, task_completed

_KINDS: list[EventKind] = [
    ping.EVENT,
    project_completed.EVENT,
    result_compared.EVENT,
    result_updated.EVENT,
    task_completed.EVENT,
]
KINDS: Mapping[str, EventKind] = {kind.name: kind for kind in _KINDS}
