"""What a kind of event is: something that happens in a project and that its webhook is told."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC

import attrs

from crowdd.storage.webhooks.rows import DueDelivery


@attrs.frozen
class EventKind:
    """``name`` stands in the log and in what is sent; ``doc`` says when it happens.

    ``data`` are the keys that its events bring beside those that all have, each with what it holds. They come from the
    event's own ``data``; one that is not there is null.
    """

    name: str
    doc: str
    data: Mapping[str, str] = attrs.field(factory=dict)

    def body(self, event: DueDelivery, short_name: str) -> dict[str, object]:
        """What a receiver is sent: PyBossa's keys, the number, and those of the kind."""
        own = event.data or {}
        return {
            "event": self.name,
            "project_short_name": short_name,
            "project_id": event.project_id,
            "task_id": event.task_id,
            "result_id": event.result_id,
            "fired_at": event.at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S"),
            "sequence": event.seq,
            **{key: own.get(key) for key in self.data},
        }
