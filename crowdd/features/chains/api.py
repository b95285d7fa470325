"""The API of the next steps of a project."""

from __future__ import annotations

from collections.abc import Iterator

from crowdd.features.chains.chains import MAX_CHANGED, MAX_NEXT, MAX_SHOWN, PREVIEWED, Chains
from crowdd.features.tasks.effects import is_dry_run
from crowdd.http.api.objects import checked_id
from crowdd.http.api.operations import COUNT, PASSWORD, PROJECT_ID, of_project
from crowdd.http.operation import Parameter, Schema, array_of, closed_object
from crowdd.http.request import Incoming
from crowdd.http.responses import JsonResponse, Response
from crowdd.http.routing import Route, get
from crowdd.kernel import errors
from crowdd.kinds.body import Body, key
from crowdd.kinds.chains import ChainRule, RuleType
from crowdd.kinds.types import Boolean

_AT = "/api/project/<int:object_id>/next"
_ONE = f"{_AT}/<int:next_id>"
_OWNERS = "For owners of the project and administrators. "
_TEXT: Schema = {"type": "string"}
_RULE = RuleType()
_NEXT_ID = Parameter("next_id", COUNT, "Id of the next project.", where="path")
_DRY_RUN = Parameter("dry_run", Boolean().text_schema(), "With 1, nothing is saved.", empty=True)
_STEP = closed_object(
    id={**COUNT, "description": "Id of the next project."},
    name=_TEXT,
    short_name=_TEXT,
    open_tasks={**COUNT, "description": "Its tasks that still need answers."},
    rule=_RULE.schema(),
    made={**COUNT, "description": "Tasks that were made."},
    changed={**COUNT, "description": "Answered ones of them whose source says something else by now."},
    waiting={**COUNT, "description": "Tasks of which cannot be said now what they become."},
    failure={"anyOf": [_TEXT, {"type": "null"}], "description": "Why nothing goes on; null if it does."},
)
_LIST = of_project(
    name="list_next_steps",
    summary="List the next steps of a project",
    about=_OWNERS + f"A project has at most {MAX_NEXT}.",
    parameters=(PROJECT_ID, PASSWORD),
    answer=array_of(_STEP),
)
_PUT = of_project(
    name="set_next_step",
    summary="Make a project the next step of another one",
    about=_OWNERS + "What complete tasks become follows the rule from now on, and tasks that nobody has answered"
    f" change. Returns what the {PREVIEWED} tasks that were completed first become.",
    parameters=(PROJECT_ID, _NEXT_ID, _DRY_RUN, PASSWORD),
    answer=closed_object(
        rule=_RULE.schema(),
        preview=array_of(
            closed_object(
                task_id=COUNT,
                n={"anyOf": [COUNT, {"type": "null"}], "description": "Number of tasks; null: not known yet."},
                parts={
                    **array_of(closed_object(part=_TEXT, info={"type": "object"})),
                    "description": f"The first {MAX_SHOWN} of them.",
                },
            )
        ),
    ),
    refusals=(errors.AnonymousError, errors.NotFoundError, errors.InvalidValueError, errors.ConflictError),
)
_DELETE = of_project(
    name="delete_next_step",
    summary="End a chain behind a project",
    about=_OWNERS + "The tasks that were made stay.",
    parameters=(PROJECT_ID, _NEXT_ID, PASSWORD),
    answer=None,
)
_CHANGED = of_project(
    name="list_changed_next_tasks",
    summary="List answered tasks of a next step whose source has changed",
    about=_OWNERS + f"At most {MAX_CHANGED}.",
    parameters=(PROJECT_ID, _NEXT_ID, PASSWORD),
    answer=array_of(closed_object(task_id=COUNT, source_task_id=COUNT, part=_TEXT)),
)


class NextStepBody(Body):
    """By which rule complete tasks become tasks of the next project."""

    rule: ChainRule = key(_RULE, "What becomes of a complete task.")


class ChainsApi:
    """/api/project/<id>/next."""

    def __init__(self, chains: Chains) -> None:
        self._chains = chains

    def routes(self) -> Iterator[Route]:
        yield get(_AT, self.listed, endpoint="next_steps", operation=_LIST)
        yield Route("PUT", _ONE, self.put, endpoint="next_steps", operation=_PUT, body=NextStepBody)
        yield Route("DELETE", _ONE, self.delete, endpoint="next_steps", operation=_DELETE)
        yield get(f"{_ONE}/changed", self.changed, endpoint="next_steps", operation=_CHANGED)

    async def listed(self, incoming: Incoming, object_id: int) -> Response:
        """The next steps."""
        return JsonResponse(await self._chains.next_steps(incoming.who, checked_id(object_id)))

    async def put(self, incoming: Incoming, object_id: int, next_id: int, body: NextStepBody) -> Response:
        """Saves a rule, or only says what it would make."""
        ids = checked_id(object_id), checked_id(next_id)
        preview = await self._chains.preview(incoming.who, ids[0], body.rule)
        if not is_dry_run(incoming):
            await self._chains.put(incoming.who, *ids, body.rule)
        return JsonResponse({"rule": body.rule.as_json(), "preview": preview})

    async def delete(self, incoming: Incoming, object_id: int, next_id: int) -> Response:
        """Ends a link."""
        await self._chains.remove(incoming.who, checked_id(object_id), checked_id(next_id))
        return JsonResponse(None, 204)

    async def changed(self, incoming: Incoming, object_id: int, next_id: int) -> Response:
        """What has changed behind the answers of volunteers."""
        ids = checked_id(object_id), checked_id(next_id)
        return JsonResponse(await self._chains.changed(incoming.who, *ids))
