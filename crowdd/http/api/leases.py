"""Leases of tasks: reserving, renewing and giving back."""

from __future__ import annotations

from collections.abc import Iterator

from crowdd.domain.tasks.contributions import MAX_LEASES
from crowdd.domain.tasks.leases import REASONS, Leases, Release
from crowdd.errors import AnonymousError, InvalidValueError, NotFoundError, UnknownFieldError
from crowdd.http.api.objects import checked_id
from crowdd.http.api.operations import EXTERNAL_UID, PASSWORD
from crowdd.http.auth.bearer import bearer_token
from crowdd.http.operation import JSON, Audience, Operation, Parameter, closed_object
from crowdd.http.request import Incoming
from crowdd.http.responses import JsonResponse, Response
from crowdd.http.routing import Route, post
from crowdd.kinds.types import Boolean, Integer
from crowdd.requester import Requester

_COUNT = Integer(minimum=0).schema()
_TASK = Parameter("object_id", _COUNT, "The number of the task.", where="path")
_SKIP = {
    "type": "object",
    "properties": {
        "skip": {"type": "boolean", "default": False, "description": "The caller does not want it: it comes last."},
        "reason": {
            "type": "string",
            "enum": ["", *REASONS],
            "default": "",
            "description": "Why; owners see how often.",
        },
        "also": {
            "type": "array",
            "items": _COUNT,
            "maxItems": MAX_LEASES,
            "default": [],
            "description": "Other tasks of the project that are given back with it.",
        },
    },
    "additionalProperties": False,
}
_RELEASE = Operation(
    name="release_task",
    section="volunteers",
    summary="Give a task back",
    about="Others may have it at once. What a page sends while it is closed (navigator.sendBeacon) is taken as well:"
    " JSON as text/plain, or nothing. An answer that was on its way is still stored.",
    parameters=(_TASK, EXTERNAL_UID, PASSWORD),
    bodies={JSON: _SKIP},
    answer=closed_object(released={"type": "boolean", "description": "False: the caller had none of them."}),
    refusals=(AnonymousError, NotFoundError),
    audience=Audience.VOLUNTEER,
)
_RENEW = Operation(
    name="renew_task",
    section="volunteers",
    summary="Keep a task",
    about="For somebody who is still at it. The time for a task is the project's info.lease_seconds, an hour otherwise,"
    " and can be prolonged to six times as much. Who lost the task gets it again where a place is free.",
    parameters=(_TASK, EXTERNAL_UID, PASSWORD),
    answer=closed_object(
        state={
            "type": "string",
            "enum": ["leased", "late", "answered", "none"],
            "description": "late: an answer is stored, and counts only if a place is free. none: never handed out.",
        },
        seconds_left={"anyOf": [_COUNT, {"type": "null"}], "description": "Until it goes to others."},
    ),
    refusals=(AnonymousError, NotFoundError),
    audience=Audience.VOLUNTEER,
)
_LEASE = Operation(
    name="lease_task",
    section="volunteers",
    summary="Reserve a named task",
    about="The page of a task sends this when it opens. It is not needed after newtask, which leases its tasks.",
    parameters=(_TASK, EXTERNAL_UID, PASSWORD),
    answer=closed_object(
        state={
            "type": "string",
            "enum": ["leased", "late", "answered"],
            "description": "late: the task is full; an answer is stored and may not count.",
        },
    ),
    refusals=(AnonymousError, NotFoundError),
    audience=Audience.VOLUNTEER,
)


class LeasesApi:
    """Reserving a named task, releasing and renewing."""

    def __init__(self, leases: Leases) -> None:
        self._leases = leases

    def routes(self) -> Iterator[Route]:
        yield post("/api/task/<int:object_id>/lease", self.lease, endpoint="lease", operation=_LEASE, action="answer")
        yield post(
            "/api/task/<int:object_id>/release", self.release, endpoint="release", operation=_RELEASE, action="answer"
        )
        yield post("/api/task/<int:object_id>/renew", self.renew, endpoint="renew", operation=_RENEW, action="answer")

    async def lease(self, incoming: Incoming, object_id: int) -> Response:
        return JsonResponse({"state": await self._leases.lease(*_asked(incoming, object_id))})

    async def release(self, incoming: Incoming, object_id: int) -> Response:
        release = _release(incoming.json_body() if incoming.raw_body else {})
        return JsonResponse({"released": await self._leases.give_back(*_asked(incoming, object_id), release)})

    async def renew(self, incoming: Incoming, object_id: int) -> Response:
        lease = await self._leases.renew(*_asked(incoming, object_id))
        return JsonResponse({"state": lease.state, "seconds_left": lease.left})


def _asked(incoming: Incoming, task_id: int) -> tuple[Requester, int, str | None, str | None]:
    """The requester, the task, and for an external user the id and the token."""
    return incoming.who, checked_id(task_id), incoming.query.get("external_uid"), bearer_token(incoming)


def _release(body: object) -> Release:
    if not isinstance(body, dict):
        raise InvalidValueError("The body is not a JSON object.")
    for name in body:
        if name not in ("skip", "reason", "also"):
            raise UnknownFieldError(f"Unknown attribute {name[:100]}. Known attributes: skip, reason, also.")
    try:
        skip = Boolean().parse(body.get("skip", False))
    except InvalidValueError as error:
        raise InvalidValueError(f"skip {error}.") from None
    reason = body.get("reason", "")
    if reason not in ("", *REASONS):
        raise InvalidValueError(f"reason must be one of {', '.join(REASONS)}.")
    return Release(skip, _also(body.get("also", [])), reason)


def _also(value: object) -> tuple[int, ...]:
    if not isinstance(value, list) or len(value) > MAX_LEASES:
        raise InvalidValueError(f"also must be an array of at most {MAX_LEASES} tasks.")
    try:
        return tuple(Integer(minimum=0).parse(one) for one in value)
    except InvalidValueError as error:
        raise InvalidValueError(f"also: one of them {error}.") from None
