"""Decisions of reviewers on results."""

from __future__ import annotations

from collections.abc import Iterator

from crowdd.domain.tasks.review.review_queue import ReviewQueue
from crowdd.errors import AnonymousError, InvalidValueError, NotFoundError, PreconditionError, UnknownFieldError
from crowdd.http.api.objects import checked_id
from crowdd.http.api.operations import PASSWORD
from crowdd.http.operation import JSON, Audience, Operation, Parameter, closed_object
from crowdd.http.request import Incoming
from crowdd.http.responses import JsonResponse, Response
from crowdd.http.routing import Route, post
from crowdd.kinds.result import RESULT

_COUNT = {"type": "integer", "minimum": 0}
_TICKS = ("second_opinion", "gold")
_DECIDE = Operation(
    name="decide_result",
    section=RESULT.name,
    summary="Decide a task",
    about="For owners and reviewers of the project. The first answer field must be a label. The decision is a new"
    " version of the result with reason expert and confidence 1 (event result_updated). The id must be that of the"
    " task's last version: if somebody else has decided the task meanwhile, nothing changes and the error is"
    " decided_before. With second_opinion, the task waits until another reviewer has said what they think.",
    parameters=(Parameter("object_id", _COUNT, "Id of the result.", where="path"), PASSWORD),
    bodies={
        JSON: {
            "type": "object",
            "properties": {
                "answer": {"description": "One of the choices of the first answer field."},
                "second_opinion": {
                    "type": "boolean",
                    "default": False,
                    "description": "Whether somebody else has to agree. answer may then be left out.",
                },
                "gold": {
                    "type": "boolean",
                    "default": False,
                    "description": "Whether the task becomes a gold task when it is decided. For owners.",
                },
            },
            "additionalProperties": False,
        }
    },
    answer=closed_object(
        state={
            "type": "string",
            "enum": ["decided", "same", "asked", "waiting", "differ"],
            "description": "decided: there is a new version. same: an expert had decided so before. asked, waiting: a"
            " second opinion is wanted. differ: opinions differ, and an owner has to decide.",
        },
        result_id={**_COUNT, "description": "Id of the last version now."},
        task_id=_COUNT,
        gold={"type": "boolean", "description": "Whether the task has become a gold task."},
    ),
    refusals=(AnonymousError, NotFoundError, PreconditionError),
    audience=Audience.SIGNED_IN,
)


class DecisionsApi:
    """/api/result/<id>/decision."""

    def __init__(self, reviews: ReviewQueue) -> None:
        self._reviews = reviews

    def routes(self) -> Iterator[Route]:
        yield post("/api/result/<int:object_id>/decision", self.decide, endpoint="decision", operation=_DECIDE)

    async def decide(self, incoming: Incoming, object_id: int) -> Response:
        """Decides the task of a result."""
        answer, second, gold = _body(incoming.json_body())
        who, result_id = incoming.who, checked_id(object_id)
        return JsonResponse(await self._reviews.decide(who, result_id, answer, second=second, gold=gold))


def _body(body: object) -> tuple[object, bool, bool]:
    """The answer (``...`` without one), and _TICKS. Raises InvalidValueError."""
    if not isinstance(body, dict):
        raise InvalidValueError("The body is not a JSON object.")
    for name in body:
        if name not in ("answer", *_TICKS):
            raise UnknownFieldError(f"Unknown attribute {name[:100]}. Known attributes: answer, {', '.join(_TICKS)}.")
    for name in _TICKS:
        if not isinstance(body.get(name, False), bool):
            raise InvalidValueError(f"`{name}` must be true or false.")
    second, gold = (bool(body.get(name, False)) for name in _TICKS)
    return body.get("answer", ...), second, gold
