"""The API of gold tasks, and of the decisions of reviewers on results."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from crowdd.features.trust.gold import MAX_LISTED, Gold, GoldBody, GoldChangeBody, RuleBody
from crowdd.features.trust.review import ReviewQueue
from crowdd.features.trust.whole_answers import WholeAnswers
from crowdd.http import queries
from crowdd.http.api.objects import checked_id
from crowdd.http.api.operations import COUNT, PASSWORD, PROJECT_ID, of_project
from crowdd.http.operation import Audience, Operation, Parameter, Schema, array_of, closed_object
from crowdd.http.request import Incoming
from crowdd.http.responses import JsonResponse, Response
from crowdd.http.routing import Route, get, post
from crowdd.kernel.errors import (
    AnonymousError,
    ForbiddenError,
    NotFoundError,
    PreconditionError,
)
from crowdd.kinds.body import Body, key
from crowdd.kinds.result import RESULT
from crowdd.kinds.types import Boolean, Json

_TEXT: Schema = {"type": "string"}
_GOLD = closed_object(
    task_id=COUNT,
    answers={"type": "array", "items": {}, "description": "The right values of the first answer field."},
    rule={
        "anyOf": [RuleBody.schema(), {"type": "null"}],
        "description": "How answers are compared (null: by the type).",
    },
    message={"anyOf": [_TEXT, {"type": "null"}], "description": "What volunteers are told after their answer."},
    since={**_TEXT, "description": "When it became a gold task."},
    by_name={"anyOf": [_TEXT, {"type": "null"}], "description": "User name of the person who made it."},
    n_seen={**COUNT, "description": "Answers that were compared."},
    n_right={**COUNT, "description": "Answers that were right."},
)
_WARNINGS = closed_object(
    keys=array_of({**_TEXT, "description": "Key of the task's info that other tasks lack."}),
    ordered={
        "type": "boolean",
        "description": "Whether tasks come in an order that gold tasks stand out of (info.sched).",
    },
)
_OWNERS = "For owners of the project and administrators. "
_LIST = of_project(
    name="gold_tasks",
    summary="List the gold tasks of a project",
    about=_OWNERS + f"Returns at most {MAX_LISTED}, by the id of the task.",
    parameters=(
        PROJECT_ID,
        Parameter("last_id", COUNT, "Only tasks with a higher id.", empty=True),
        PASSWORD,
    ),
    answer=array_of(_GOLD),
)
_MAKE = Operation(
    name="make_gold_task",
    section="project",
    summary="Make a task a gold task",
    about=_OWNERS + "A gold task measures volunteers: its answers are compared with the right answer and do not count."
    " The response also says by what volunteers could recognize it.",
    parameters=(PROJECT_ID, PASSWORD),
    answer=closed_object(gold=_GOLD, warnings=_WARNINGS),
    refusals=(AnonymousError, ForbiddenError, NotFoundError),
    audience=Audience.SIGNED_IN,
)
_CHANGE = of_project(
    name="change_gold_task",
    summary="Change the right answer to a gold task",
    about=_OWNERS + "Its answers are compared again.",
    parameters=(PROJECT_ID, PASSWORD),
    answer=_GOLD,
)
_END = of_project(
    name="end_gold_task",
    summary="End a gold task",
    about=_OWNERS + "The task is open again, or complete if it was complete before.",
    parameters=(PROJECT_ID, Parameter("task_id", COUNT, "Id of the task.", where="path"), PASSWORD),
    answer=closed_object(task_id=COUNT),
)


class GoldApi:
    """/api/project/<id>/gold."""

    def __init__(self, gold: Gold) -> None:
        self._gold = gold

    def routes(self) -> Iterator[Route]:
        """/api/project/<id>/gold."""
        at = "/api/project/<int:object_id>/gold"
        yield get(at, self.listed, endpoint="gold", operation=_LIST)
        yield post(at, self.make, endpoint="gold", operation=_MAKE, body=GoldBody)
        yield Route("PUT", at, self.change, endpoint="gold", operation=_CHANGE, body=GoldChangeBody)
        yield Route("DELETE", f"{at}/<int:task_id>", self.end, endpoint="gold_task", operation=_END)

    async def listed(self, incoming: Incoming, object_id: int) -> Response:
        after = queries.parse_number(incoming.query.get("last_id", "") or "0", "last_id", 0)
        return JsonResponse(await self._gold.listed(incoming.who, checked_id(object_id), after))

    async def make(self, incoming: Incoming, object_id: int, body: GoldBody) -> Response:
        made, warnings = await self._gold.make(incoming.who, checked_id(object_id), body)
        return JsonResponse({"gold": made, "warnings": attrs.asdict(warnings)})

    async def change(self, incoming: Incoming, object_id: int, body: GoldChangeBody) -> Response:
        return JsonResponse(await self._gold.change(incoming.who, checked_id(object_id), body))

    async def end(self, incoming: Incoming, object_id: int, task_id: int) -> Response:
        await self._gold.end(incoming.who, checked_id(object_id), checked_id(task_id))
        return JsonResponse({"task_id": task_id})


_DECIDE = Operation(
    name="decide_result",
    section=RESULT.name,
    summary="Decide a task",
    about="For owners and reviewers of the project. The first answer field must be a label, or the project asks"
    " questions, which info answers all. The decision is a new version of the result with reason expert and confidence"
    " 1 (event result_updated). The id must be that of the task's last version: if somebody else has decided the task"
    " meanwhile, nothing changes and the error is decided_before. With second_opinion, the task waits until another"
    " reviewer has said what they think.",
    parameters=(Parameter("object_id", COUNT, "Id of the result.", where="path"), PASSWORD),
    answer=closed_object(
        state={
            "type": "string",
            "enum": ["decided", "same", "asked", "waiting", "differ"],
            "description": "decided: there is a new version. same: an expert had decided so before. asked, waiting: a"
            " second opinion is wanted. differ: opinions differ, and an owner has to decide.",
        },
        result_id={**COUNT, "description": "Id of the last version now."},
        task_id=COUNT,
        gold={"type": "boolean", "description": "Whether the task has become a gold task."},
    ),
    refusals=(AnonymousError, NotFoundError, PreconditionError),
    audience=Audience.SIGNED_IN,
)


_WITHDRAW = Operation(
    name="withdraw_decision",
    section=RESULT.name,
    summary="Withdraw a decision",
    about="For owners, and for the reviewer who decided. A new version of the result says again what the counted"
    " answers say (event result_updated). The id must be that of the task's last version.",
    parameters=(Parameter("object_id", COUNT, "Id of the result.", where="path"), PASSWORD),
    answer=closed_object(
        state={"const": "withdrawn"},
        result_id={**COUNT, "description": "Id of the last version now."},
        task_id=COUNT,
    ),
    refusals=(AnonymousError, NotFoundError, PreconditionError),
    audience=Audience.SIGNED_IN,
)


class DecisionBody(Body, at_most_one=("answer", "info")):
    """What a reviewer says of a task."""

    answer: object = key(Json(), "One of the choices of the first answer field.", default=..., null=True)
    info: object = key(Json(), "In place of answer: an answer to all questions, as volunteers send it.", default=...)
    second_opinion: bool = key(
        Boolean(), "Whether somebody else has to agree. answer may then be left out.", default=False
    )
    gold: bool = key(Boolean(), "Whether the task becomes a gold task when it is decided. For owners.", default=False)


class DecisionsApi:
    """/api/result/<id>/decision."""

    def __init__(self, reviews: ReviewQueue, whole_answers: WholeAnswers) -> None:
        self._reviews, self._whole_answers = reviews, whole_answers

    def routes(self) -> Iterator[Route]:
        at = "/api/result/<int:object_id>/decision"
        yield post(at, self.decide, endpoint="decision", operation=_DECIDE, body=DecisionBody)
        yield Route("DELETE", at, self.withdraw, endpoint="decision", operation=_WITHDRAW)

    async def decide(self, incoming: Incoming, object_id: int, body: DecisionBody) -> Response:
        """Decides the task of a result."""
        if body.info is not ...:
            done = await self._whole_answers.decide(incoming.who, checked_id(object_id), body.info)
            return JsonResponse({**done, "gold": False})
        decide = self._reviews.decide
        ticks = {"second": body.second_opinion, "gold": body.gold}
        return JsonResponse(await decide(incoming.who, checked_id(object_id), body.answer, **ticks))

    async def withdraw(self, incoming: Incoming, object_id: int) -> Response:
        """Has a result say again what the answers say."""
        return JsonResponse(await self._whole_answers.withdraw(incoming.who, checked_id(object_id)))
