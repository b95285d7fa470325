"""The texts or marks in the answers to a task were compared."""

from crowdd.domain.webhooks.event_kind import EventKind

EVENT = EventKind(
    "result_compared",
    "The texts or marks in the answers to a task were compared, about two seconds after it was completed. `result_id`"
    " names the result.",
    {"consensus": "What the answers say by answer field, as in the result; missing above 2,000 B."},
)
