"""A task that was open again has all its answers once more."""

from crowdd.domain.webhooks.event_kind import EventKind

EVENT = EventKind(
    "result_updated",
    "A task that was opened again has all its answers once more. `result_id` names the new version of its result.",
    {
        "user_ids": "Accounts whose answers count, in the order of the answers; people without one are not in it.",
        "volunteers": "Codes of all volunteers whose answers count, in the order of the answers.",
        "consensus": "What the answers say by answer field, as in the result; missing without fields or above 2,000 B.",
    },
)
