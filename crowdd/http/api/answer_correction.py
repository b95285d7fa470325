"""Corrections: replacing one's own answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from crowdd.domain.tasks.contributions import Contributions
from crowdd.errors import (
    AnonymousError,
    ForbiddenError,
    InvalidValueError,
    NotFoundError,
    TooLargeError,
    UnknownFieldError,
)
from crowdd.http.api.objects import checked_id
from crowdd.http.api.operations import EXTERNAL_UID, PASSWORD
from crowdd.http.api.schemas import answer_name
from crowdd.http.auth.bearer import bearer_token
from crowdd.http.operation import JSON, Audience, Operation, Parameter, reference
from crowdd.http.request import Incoming
from crowdd.http.responses import JsonResponse, Response
from crowdd.http.routing import Route, post
from crowdd.kinds.task_run import TASK_RUN
from crowdd.kinds.types import Integer

_CORRECT = Operation(
    name="correct_task",
    section="volunteers",
    summary="Correct your answer",
    about="Works with or without an account, any number of times until the task has its result, and in any case for"
    " five minutes after the answer was stored. A result that contains the answer gets a new version (event"
    " result_updated). Nothing is counted twice. created and finish_time do not change.",
    parameters=(
        Parameter("object_id", Integer(minimum=0).schema(), "Id of the task.", where="path"),
        EXTERNAL_UID,
        PASSWORD,
    ),
    bodies={
        JSON: {
            "type": "object",
            "properties": {"info": {"description": "The answer."}},
            "required": ["info"],
            "additionalProperties": False,
        }
    },
    answer=reference(answer_name(TASK_RUN)),
    refusals=(AnonymousError, ForbiddenError, NotFoundError, TooLargeError),
    audience=Audience.VOLUNTEER,
)


class CorrectingApi:
    """/api/task/<id>/correct."""

    def __init__(self, contributions: Contributions) -> None:
        self._contributions = contributions

    def routes(self) -> Iterator[Route]:
        yield post(
            "/api/task/<int:object_id>/correct",
            self.correct,
            endpoint="correct",
            operation=_CORRECT,
            action="answer",
            admits=self.admits,
        )

    async def admits(self, incoming: Incoming, object_id: int) -> None:
        """Passes for a volunteer who asked for the task (``Route.admits``)."""
        uid = incoming.query.get("external_uid")
        await self._contributions.require_asker(incoming.who, uid, [checked_id(object_id)])

    async def correct(self, incoming: Incoming, object_id: int) -> Response:
        """Stores the correction and returns the answer."""
        info = _info(incoming.json_body())
        uid, bearer = incoming.query.get("external_uid"), bearer_token(incoming)
        return JsonResponse(await self._contributions.correct(incoming.who, checked_id(object_id), info, uid, bearer))


def _info(body: object) -> Any:
    if not isinstance(body, dict):
        raise InvalidValueError("The body is not a JSON object.")
    for name in body:
        if name != "info":
            raise UnknownFieldError(f"Unknown attribute {name[:100]}. Known attributes: info.")
    if "info" not in body:
        raise InvalidValueError("`info` is missing.", code="missing_attribute")
    return TASK_RUN.field("info").parse(body["info"])
