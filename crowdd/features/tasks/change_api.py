"""Changes of tasks: redundancy, priority, withdrawn answers, retired and reopened tasks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs

from crowdd.features.tasks.changes import REASONS, Changes, Effect
from crowdd.features.tasks.settings import MAX_ANSWERS, MAX_CONFIDENCE, MIN_CONFIDENCE
from crowdd.features.tasks.task_list import MAX_NAMED
from crowdd.http import queries
from crowdd.http.api.objects import checked_id
from crowdd.http.api.operations import PASSWORD, VOLUNTEER
from crowdd.http.operation import JSON, Audience, Operation, Parameter, Schema, array_of, closed_object
from crowdd.http.request import Incoming
from crowdd.http.responses import JsonResponse, Response
from crowdd.http.routing import Route, post
from crowdd.kernel.errors import AnonymousError, NotFoundError, TooManyRequestsError
from crowdd.kinds.task import TASK
from crowdd.kinds.task_run import TASK_RUN
from crowdd.kinds.types import Boolean, Integer, Text

_COUNT = Integer(minimum=0).schema()
_NUMBER = Integer(minimum=1).schema()
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
_TASK_IDS = {
    **array_of(_NUMBER),
    "maxItems": MAX_NAMED,
    "description": "Ids of the tasks (default: all tasks of the project).",
}
LARGE = " More than 1,000 tasks are changed in the background, in steps of 1,000, while volunteers continue."


def _body(required: tuple[str, ...] = (), **properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


def _one_of(*names: str) -> Schema:
    return {"oneOf": [{"required": [name]} for name in names]}


def _doc(name: str, section: str, summary: str, about: str, body: Schema, *, dry: bool = False) -> Operation:
    where = Parameter("object_id", _COUNT, f"Id of the {section}.", where="path")
    return Operation(
        name=name,
        section=section,
        summary=summary,
        about=f"For owners of the project and administrators. {about}",
        parameters=(where, *((DRY_RUN,) if dry else ()), PASSWORD),
        bodies={JSON: body},
        answer=EFFECT,
        refusals=(AnonymousError, NotFoundError, *((TooManyRequestsError,) if dry else ())),
        audience=Audience.SIGNED_IN,
    )


_REDUNDANCY = _doc(
    "set_redundancy",
    "project",
    "Change how many answers tasks need",
    "A higher number opens completed tasks again; a lower one completes tasks that have enough answers." + LARGE,
    _body(("n_answers",), n_answers=TASK.field("n_answers").type.schema(), task_ids=_TASK_IDS),
    dry=True,
)
_PRIORITY = _doc(
    "set_priority",
    "project",
    "Change the priority of tasks",
    LARGE.strip(),
    _body(("priority_0",), priority_0=TASK.field("priority_0").type.schema(), task_ids=_TASK_IDS),
    dry=True,
)
_WITHDRAW = _doc(
    "withdraw_answers",
    "project",
    "Delete the answers of a volunteer",
    "Identify the volunteer by volunteer, user_id, external_uid or taskrun_id (an answer that they gave). Tasks that"
    " then lack answers are open again, and last_version of their results becomes false." + LARGE,
    _body(
        volunteer=VOLUNTEER,
        user_id=_NUMBER,
        external_uid=TASK_RUN.field("external_uid").type.schema(),
        taskrun_id=_NUMBER,
        task_ids=_TASK_IDS,
    )
    | _one_of("volunteer", "user_id", "external_uid", "taskrun_id"),
    dry=True,
)
_STOPPING = _doc(
    "set_stopping",
    "project",
    "Change when tasks stop early",
    "A task is complete with min_answers answers or more once its most probable choice has this confidence, and with"
    " n_answers in any case. Both null: tasks always get n_answers. Open tasks follow, with completed also those that"
    " are complete. The first answer field of the project must be a label, or nothing stops early." + LARGE,
    _body(
        min_answers={"anyOf": [Integer(minimum=1, maximum=MAX_ANSWERS).schema(), {"type": "null"}]},
        confidence={
            "anyOf": [
                {"type": "number", "minimum": MIN_CONFIDENCE, "maximum": MAX_CONFIDENCE},
                {"type": "null"},
            ]
        },
        completed={"type": "boolean", "default": False},
    ),
    dry=True,
)
_LIFT = _doc(
    "lift_volunteer",
    "project",
    "Count the answers of a volunteer who seemed no better than chance",
    "Answers of such a volunteer are kept and not counted. From now on they count, and those that were not counted"
    " count as far as their tasks need them. Identify the volunteer as in the deletion of answers." + LARGE,
    _body(
        volunteer=VOLUNTEER,
        user_id=_NUMBER,
        external_uid=TASK_RUN.field("external_uid").type.schema(),
        taskrun_id=_NUMBER,
    )
    | _one_of("volunteer", "user_id", "external_uid", "taskrun_id"),
    dry=True,
)
_RETIRE = _doc(
    "retire_task",
    "task",
    "Retire a task",
    "The task is no longer assigned. Late answers are kept but not counted. Retiring it again changes nothing.",
    _body(
        reason={"type": "string", "enum": list(REASONS), "default": REASONS[0]},
        note={**Text(maximum=1000).schema(), "default": ""},
    ),
)
_REOPEN = _doc(
    "reopen_task",
    "task",
    "Reopen a retired task",
    "Answers that arrived in the meantime count if the task still needs them.",
    _body(),
)


class ChangesApi:
    """Changes of many tasks of a project, and of one task."""

    def __init__(self, changes: Changes) -> None:
        self._changes = changes

    def routes(self) -> Iterator[Route]:
        """/api/project/<id>/<change> and /api/task/<id>/<change>."""
        project, task = "/api/project/<int:object_id>", "/api/task/<int:object_id>"
        yield post(f"{project}/redundancy", self.redundancy, endpoint="redundancy", operation=_REDUNDANCY)
        yield post(f"{project}/priority", self.priority, endpoint="priority", operation=_PRIORITY)
        yield post(f"{project}/withdraw", self.withdraw, endpoint="withdraw", operation=_WITHDRAW)
        yield post(f"{project}/stopping", self.stopping, endpoint="stopping", operation=_STOPPING)
        yield post(f"{project}/lift", self.lift, endpoint="lift", operation=_LIFT)
        yield post(f"{task}/retire", self.retire, endpoint="retire", operation=_RETIRE)
        yield post(f"{task}/reopen", self.reopen, endpoint="reopen", operation=_REOPEN)

    async def redundancy(self, incoming: Incoming, object_id: int) -> Response:
        return effect_response(
            await self._changes.redundancy(incoming.who, checked_id(object_id), _json(incoming), is_dry_run(incoming))
        )

    async def priority(self, incoming: Incoming, object_id: int) -> Response:
        return effect_response(
            await self._changes.priority(incoming.who, checked_id(object_id), _json(incoming), is_dry_run(incoming))
        )

    async def withdraw(self, incoming: Incoming, object_id: int) -> Response:
        return effect_response(
            await self._changes.withdraw(incoming.who, checked_id(object_id), _json(incoming), is_dry_run(incoming))
        )

    async def stopping(self, incoming: Incoming, object_id: int) -> Response:
        return effect_response(
            await self._changes.stopping(incoming.who, checked_id(object_id), _json(incoming), is_dry_run(incoming))
        )

    async def lift(self, incoming: Incoming, object_id: int) -> Response:
        return effect_response(
            await self._changes.lift(incoming.who, checked_id(object_id), _json(incoming), is_dry_run(incoming))
        )

    async def retire(self, incoming: Incoming, object_id: int) -> Response:
        return effect_response(await self._changes.retire(incoming.who, checked_id(object_id), _json(incoming)))

    async def reopen(self, incoming: Incoming, object_id: int) -> Response:
        return effect_response(await self._changes.reopen(incoming.who, checked_id(object_id), _json(incoming)))


def is_dry_run(incoming: Incoming) -> bool:
    """Whether a change is only asked about."""
    return queries.parse_flag(incoming.query.get("dry_run", ""), "dry_run")


def _json(incoming: Incoming) -> Any:
    return incoming.json_body() if incoming.raw_body else {}


def effect_response(effect: Effect) -> Response:
    """What a change did, or would do."""
    return JsonResponse(attrs.asdict(effect))
