"""A task has all the answers it needs."""

from crowdd.domain.webhooks.event_kind import EventKind

EVENT = EventKind(
    "task_completed",
    "A task has all its answers, for the first time. `result_id` names the result.",
    {
        "user_ids": "Accounts whose answers count, in the order of the answers; people without one are not in it.",
        "volunteers": "Codes of all volunteers whose answers count, in the order of the answers.",
        "consensus": "What the answers say by answer field, as in the result; missing without fields or above 2,000 B.",
    },
)
