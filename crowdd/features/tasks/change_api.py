"""Changes of tasks: redundancy, priority, withdrawn answers, retired and reopened tasks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import TypeVar

from crowdd.features.tasks.change_bodies import (
    OrderBody,
    PriorityBody,
    RedundancyBody,
    TaskRetirementBody,
    VolunteerBody,
    WithdrawalBody,
)
from crowdd.features.tasks.changes import Changes, Effect
from crowdd.features.tasks.effects import DRY_RUN, EFFECT, LARGE, effect_response, is_dry_run
from crowdd.features.tasks.settings import StoppingBody
from crowdd.http.api.objects import checked_id
from crowdd.http.api.operations import PASSWORD
from crowdd.http.operation import Audience, Operation, Parameter
from crowdd.http.request import Incoming
from crowdd.http.responses import Response
from crowdd.http.routing import Route, post
from crowdd.kernel.errors import AnonymousError, NotFoundError, TooManyRequestsError
from crowdd.kernel.requester import Requester
from crowdd.kinds.body import Body
from crowdd.kinds.types import Integer

B = TypeVar("B", bound=Body)
_COUNT = Integer(minimum=0).schema()


def _doc(name: str, section: str, summary: str, about: str, *, dry: bool = False) -> Operation:
    where = Parameter("object_id", _COUNT, f"Id of the {section}.", where="path")
    return Operation(
        name=name,
        section=section,
        summary=summary,
        about=f"For owners of the project and administrators. {about}",
        parameters=(where, *((DRY_RUN,) if dry else ()), PASSWORD),
        answer=EFFECT,
        refusals=(AnonymousError, NotFoundError, *((TooManyRequestsError,) if dry else ())),
        audience=Audience.SIGNED_IN,
    )


_REDUNDANCY = _doc(
    "set_redundancy",
    "project",
    "Change how many answers tasks need",
    "A higher number opens completed tasks again; a lower one completes tasks that have enough answers." + LARGE,
    dry=True,
)
_PRIORITY = _doc(
    "set_priority",
    "project",
    "Change the priority of tasks",
    LARGE.strip(),
    dry=True,
)
_ORDER = _doc(
    "set_order",
    "project",
    "Order open tasks by how useful an answer is",
    "Gives open tasks priorities by the newest predictions of models, or by a column. Tasks of which nothing is known"
    " and a share of the others are placed at random." + LARGE,
    dry=True,
)
_WITHDRAW = _doc(
    "withdraw_answers",
    "project",
    "Delete the answers of a volunteer",
    "Identify the volunteer by volunteer, user_id, external_uid or taskrun_id (an answer that they gave). Tasks that"
    " then lack answers are open again, and last_version of their results becomes false." + LARGE,
    dry=True,
)
_STOPPING = _doc(
    "set_stopping",
    "project",
    "Change when tasks stop early",
    "A task is complete with min_answers answers or more once its most probable choice has this confidence, and with"
    " n_answers in any case. Both null: tasks always get n_answers. Open tasks follow, with completed also those that"
    " are complete. The first answer field of the project must be a label, or nothing stops early." + LARGE,
    dry=True,
)
_LIFT = _doc(
    "lift_volunteer",
    "project",
    "Count the answers of a volunteer who seemed no better than chance",
    "Answers of such a volunteer are kept and not counted. From now on they count, and those that were not counted"
    " count as far as their tasks need them. Identify the volunteer as in the deletion of answers." + LARGE,
    dry=True,
)
_RETIRE = _doc(
    "retire_task",
    "task",
    "Retire a task",
    "The task is no longer assigned. Late answers are kept but not counted. Retiring it again changes nothing.",
)


class ReopeningBody(Body):
    """An empty object."""


_REOPEN = _doc(
    "reopen_task",
    "task",
    "Reopen a retired task",
    "Answers that arrived in the meantime count if the task still needs them.",
)


class ChangesApi:
    """Changes of many tasks of a project, and of one task."""

    def __init__(self, changes: Changes) -> None:
        self._changes = changes

    def routes(self) -> Iterator[Route]:
        """/api/project/<id>/<change> and /api/task/<id>/<change>."""
        changes, task = self._changes, "/api/task/<int:object_id>"
        yield _route("redundancy", _REDUNDANCY, RedundancyBody, changes.redundancy)
        yield _route("priority", _PRIORITY, PriorityBody, changes.priority)
        yield _route("order", _ORDER, OrderBody, changes.order)
        yield _route("withdraw", _WITHDRAW, WithdrawalBody, changes.withdraw)
        yield _route("stopping", _STOPPING, StoppingBody, changes.stopping)
        yield _route("lift", _LIFT, VolunteerBody, changes.lift)
        yield post(f"{task}/retire", self.retire, endpoint="retire", operation=_RETIRE, body=TaskRetirementBody)
        yield post(f"{task}/reopen", self.reopen, endpoint="reopen", operation=_REOPEN, body=ReopeningBody)

    async def retire(self, incoming: Incoming, object_id: int, body: TaskRetirementBody) -> Response:
        return effect_response(await self._changes.retire(incoming.who, checked_id(object_id), body))

    async def reopen(self, incoming: Incoming, object_id: int, body: ReopeningBody) -> Response:
        return effect_response(await self._changes.reopen(incoming.who, checked_id(object_id)))


def _route(
    name: str, operation: Operation, body: type[B], change: Callable[[Requester, int, B, bool], Awaitable[Effect]]
) -> Route:
    """A change of tasks of a project, or what it would do."""

    async def handle(incoming: Incoming, object_id: int, body: B) -> Response:
        return effect_response(await change(incoming.who, checked_id(object_id), body, is_dry_run(incoming)))

    return post(f"/api/project/<int:object_id>/{name}", handle, endpoint=name, operation=operation, body=body)
