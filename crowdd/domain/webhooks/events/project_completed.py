"""Every task of a project is done."""

from crowdd.domain.webhooks.event_kind import EventKind

EVENT = EventKind("project_completed", "Every task of the project is done. It comes after all events before it.")
