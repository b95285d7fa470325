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
_TASK = Parameter("object_id", _COUNT, "Id of the task.", where="path")
_SKIP = {
    "type": "object",
    "properties": {
        "skip": {
            "type": "boolean",
            "default": False,
            "description": "Whether the caller skips the task. It is then assigned to them last.",
        },
        "reason": {
            "type": "string",
            "enum": ["", *REASONS],
            "default": "",
            "description": "Reason for skipping. Owners see how often each was given.",
        },
        "also": {
            "type": "array",
            "items": _COUNT,
            "maxItems": MAX_LEASES,
            "default": [],
            "description": "Ids of other tasks of the project to release as well.",
        },
    },
    "additionalProperties": False,
}
_RELEASE = Operation(
    name="release_task",
    section="volunteers",
    summary="Release a task",
    about="Others can get the task at once. The body may also be JSON sent as text/plain, or empty, as a page sends it"
    " while it is being closed (navigator.sendBeacon). An answer that arrives later is still stored.",
    parameters=(_TASK, EXTERNAL_UID, PASSWORD),
    bodies={JSON: _SKIP},
    answer=closed_object(released={"type": "boolean", "description": "false if the caller had leased none of them."}),
    refusals=(AnonymousError, NotFoundError),
    audience=Audience.VOLUNTEER,
)
_RENEW = Operation(
    name="renew_task",
    section="volunteers",
    summary="Renew a lease",
    about="For a volunteer who is still working on the task. A lease lasts info.lease_seconds of the project (default:"
    " one hour) and can be extended to six times that. An expired lease is restored if the task still needs answers.",
    parameters=(_TASK, EXTERNAL_UID, PASSWORD),
    answer=closed_object(
        state={
            "type": "string",
            "enum": ["leased", "late", "answered", "none"],
            "description": "late: an answer is stored but may not count. none: the caller never had the task.",
        },
        seconds_left={"anyOf": [_COUNT, {"type": "null"}], "description": "Seconds until the lease expires."},
    ),
    refusals=(AnonymousError, NotFoundError),
    audience=Audience.VOLUNTEER,
)
_LEASE = Operation(
    name="lease_task",
    section="volunteers",
    summary="Lease a particular task",
    about="The page of a task sends this when it opens. Not needed after newtask, which leases the tasks it returns.",
    parameters=(_TASK, EXTERNAL_UID, PASSWORD),
    answer=closed_object(
        state={
            "type": "string",
            "enum": ["leased", "late", "answered"],
            "description": "late: the task has enough answers or leases; an answer is stored but may not count.",
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
        raise InvalidValueError(f"also: an element {error}.") from None
