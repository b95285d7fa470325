"""How the API describes and answers what a change of many tasks did, or would do."""

from __future__ import annotations

import attrs

from crowdd.features.tasks.changes import Effect
from crowdd.http import queries
from crowdd.http.operation import Parameter, closed_object
from crowdd.http.request import Incoming
from crowdd.http.responses import JsonResponse, Response
from crowdd.kinds.types import Boolean, Integer

_COUNT = Integer(minimum=0).schema()
EFFECT = closed_object(
    tasks={**_COUNT, "description": "Number of tasks that are changed."},
    completed={**_COUNT, "description": "Number of these tasks that become completed."},
    reopened={**_COUNT, "description": "Number of these tasks that become open again."},
    answers={**_COUNT, "description": "Number of answers that are deleted."},
    dry_run={"type": "boolean", "description": "Whether this was a dry run."},
    queue_item={
        "anyOf": [_COUNT, {"type": "null"}],
        "description": "Background task that changes the tasks if there are many; null if the change is done.",
    },
)
DRY_RUN = Parameter(
    "dry_run", Boolean().text_schema(), "With 1, nothing changes, and the response describes the effect.", empty=True
)
LARGE = " More than 1,000 tasks are changed in the background, in steps of 1,000, while volunteers continue."


def is_dry_run(incoming: Incoming) -> bool:
    """Whether a change is only asked about."""
    return queries.parse_flag(incoming.query.get("dry_run", ""), "dry_run")


def effect_response(effect: Effect) -> Response:
    """What a change did, or would do."""
    return JsonResponse(attrs.asdict(effect))
