"""A test, sent when its owner asks for it: no event of the project, and so without a number."""

from crowdd.domain.webhooks.event_kind import EventKind

EVENT = EventKind("ping", "An owner tests the webhook. `sequence` is null; sent once.")
