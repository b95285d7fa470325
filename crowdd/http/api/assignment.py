"""The API for contributing: newtask, userprogress, tokens for external users.

(interface: newtask-paths, userprogress, external-token)
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from crowdd.domain.accounts.external_users import ExternalUsers
from crowdd.domain.tasks.contributions import (
    MAX_TASKS,
    SORT_SECONDS,
    Contributions,
    Handout,
    candidate_scan,
    external_uid,
)
from crowdd.domain.tasks.leases import Leases, why_no_task
from crowdd.errors import AnonymousError, ForbiddenError, InvalidValueError, NotFoundError
from crowdd.http import queries
from crowdd.http.api.operations import DESC, EXTERNAL_UID, OFFSET, PASSWORD
from crowdd.http.auth.bearer import bearer_token
from crowdd.http.html.presenter import api_headers
from crowdd.http.operation import JSON, Audience, Operation, Parameter, array_of, closed_object, reference
from crowdd.http.request import Incoming
from crowdd.http.responses import BytesResponse, JsonResponse, Response
from crowdd.http.routing import Route, get
from crowdd.http.transport.request_headers import prefers_json
from crowdd.kinds.roles import EVERYONE
from crowdd.kinds.task import TASK
from crowdd.kinds.types import Boolean, Integer
from crowdd.requester import Requester

_SECTION = "volunteers"
_COUNT = Integer(minimum=0).schema()
_ORDERS = {"type": "string", "enum": [field.name for field in TASK.fields if field.search and field.read == EVERYONE]}
_ORDERBY = (
    "Default: priority_0 with desc. id, created and priority_0 are fast in any project. Any other order sorts all"
    f" open tasks, and gets 503 (error_code timeout) if that takes longer than {SORT_SECONDS} seconds."
)
_NONE = {"type": "object", "description": "An empty object: no task is available.", "maxProperties": 0}
_WHY = {
    "type": "object",
    "properties": {
        "reason": {"type": "string", "enum": ["none", "network", "wait"]},
        "message": {"type": "string"},
        "held_tasks": {**_COUNT, "description": "Unfinished tasks that others are working on; 100 means 100 or more."},
        "retry_after": {
            "anyOf": [_COUNT, {"type": "null"}],
            "description": "Seconds until a task may become available.",
        },
    },
    "required": ["reason", "message"],
    "additionalProperties": False,
}
_NEWTASK = Operation(
    name="newtask",
    section=_SECTION,
    summary="Request a task",
    about="Returns one task, leased to the caller, or an array if limit leads to several. Until they are answered, the"
    " same tasks are returned again. If no task is available, returns {}, and the header X-No-Task gives the reason:"
    " none; network if others in the caller's network have answered the remaining tasks, which a volunteer with an"
    " account may still get; or wait if others are working on the last tasks. X-Held-Tasks is then the number of these"
    " tasks, and Retry-After the seconds until one may become available.",
    parameters=(
        Parameter("project_id", _COUNT, "Id of the project.", where="path"),
        Parameter(
            "limit", _COUNT, f"Number of tasks (default: 1). Values above {MAX_TASKS} are reduced to it.", empty=True
        ),
        OFFSET,
        Parameter("orderby", _ORDERS, _ORDERBY, empty=True),
        DESC,
        Parameter(
            "explain",
            Boolean().text_schema(),
            "With 1, a response without a task gives the reason in its body, too.",
            empty=True,
        ),
        EXTERNAL_UID,
        PASSWORD,
    ),
    answer={"anyOf": [reference("Task"), array_of(reference("Task")), _NONE, _WHY]},
    refusals=(AnonymousError, NotFoundError),
    audience=Audience.VOLUNTEER,
)
_SHARE = {"type": "number", "minimum": 0, "maximum": 1}
_ACCURACY = {
    **closed_object(n_seen=_COUNT, n_right=_COUNT, low=_SHARE, high=_SHARE),
    "description": "With info.show_accuracy: how many of the caller's answers to gold tasks were right.",
}
_PROGRESS = Operation(
    name="userprogress",
    section=_SECTION,
    summary="Count the tasks that the caller has answered",
    parameters=(
        Parameter("reference", {"type": "string"}, "Id or short name of the project.", where="path"),
        EXTERNAL_UID,
        PASSWORD,
    ),
    answer={
        **closed_object(done=_COUNT, total=_COUNT, accuracy=_ACCURACY),
        "required": ["done", "total"],
    },
    refusals=(AnonymousError, NotFoundError),
)
_TOKEN = Operation(
    name="token_for_external_users",
    section=_SECTION,
    summary="Create a token for an external user",
    about="Returns the token as plain text, or as a JSON string if Accept asks for JSON. The external user sends it as"
    " Authorization: Bearer <token>, with external_uid in the query. A token that is requested with external_uid is"
    " valid for this external user only. If info.token_per_volunteer of the project is true, external_uid is required.",
    parameters=(
        Parameter("short_name", {"type": "string"}, "Short name of the project.", where="path"),
        Parameter("external_uid", EXTERNAL_UID.schema, "The only external user that the token is valid for."),
    ),
    answer={"type": "string"},
    refusals=(NotFoundError,),
    audience=Audience.SECRET,
    media=("text/plain", JSON),
)


class Assignment:
    """Asking for tasks and seeing one's progress."""

    def __init__(self, contributions: Contributions, leases: Leases, external: ExternalUsers) -> None:
        self._contributions, self._leases, self._external = contributions, leases, external

    def routes(self) -> Iterator[Route]:
        """newtask has two paths, with and without ``project/``."""
        long = attrs.evolve(_NEWTASK, name="newtask_of_project")
        for path, doc in (("/api/<project_id>/newtask", _NEWTASK), ("/api/project/<project_id>/newtask", long)):
            yield get(path, self.newtask, endpoint="newtask", operation=doc, hot=True, action="answer")
        progress = "/api/project/<reference>/userprogress"
        yield get(progress, self.userprogress, endpoint="userprogress", operation=_PROGRESS, hot=True)
        yield get(
            "/api/auth/project/<short_name>/token", self.token, endpoint="auth", key_header=False, operation=_TOKEN
        )

    async def newtask(self, incoming: Incoming, project_id: str) -> Response:
        """``{}``, one task, or an array when ``limit`` gives several."""
        _refuse_navigation(incoming)
        query = incoming.query
        limit = queries.number(query.get("limit", ""), "limit", 1)
        offset = queries.number(query.get("offset", ""), "offset", 0)
        order = candidate_scan(query.get("orderby", ""), queries.flag(query.get("desc", ""), "desc"))
        project = _project_id(project_id)
        who = await self._contributions.identify(
            incoming.who, project, query.get("external_uid"), bearer_token(incoming)
        )
        handout = await self._contributions.next_tasks(who, project, min(max(limit, 1), MAX_TASKS), offset, order)
        if handout.reason:
            return await self._no_task(incoming, who, project, handout)
        return JsonResponse(handout.tasks[0] if len(handout.tasks) == 1 else handout.tasks)

    async def _no_task(self, incoming: Incoming, who: Requester, project: int, handout: Handout) -> Response:
        """An empty object, which clients look for. The headers say why; with ``explain`` the body does too."""
        waits = handout.reason == "wait"
        held = await self._leases.held_by_others(who, project) if waits else 0
        headers = {"X-No-Task": handout.reason, **({"X-Held-Tasks": str(held)} if waits else {})}
        if handout.retry_in is not None:
            headers["Retry-After"] = str(handout.retry_in)
        explained = queries.flag(incoming.query.get("explain", ""), "explain")
        return JsonResponse(why_no_task(handout.reason, held, handout.retry_in) if explained else {}, headers=headers)

    async def userprogress(self, incoming: Incoming, reference: str) -> Response:
        """``{"done": …, "total": …}`` of the requester, or of the external user that is named."""
        number = reference.isascii() and reference.isdigit() and len(reference) < 19
        uid, bearer = incoming.query.get("external_uid"), bearer_token(incoming)
        named = int(reference) if number else reference
        return JsonResponse(await self._contributions.progress(incoming.who, named, uid, bearer))

    async def token(self, incoming: Incoming, short_name: str) -> Response:
        """The token itself; as a JSON string when Accept asks for JSON."""
        named = incoming.query.get("external_uid")
        uid = None if named is None else external_uid(named)
        token = await self._external.token(short_name, incoming.header("authorization"), uid)
        if prefers_json(incoming.header("accept")):
            return JsonResponse(token)
        return BytesResponse(
            token.encode(), "text/plain; charset=utf-8", headers={**api_headers(), "Cache-Control": "no-store"}
        )


def _refuse_navigation(incoming: Incoming) -> None:
    """Raises ForbiddenError for links and prefetches of browsers, which must not reserve tasks."""
    if incoming.is_prefetch or incoming.header("sec-fetch-dest") == "document":
        hint = "Open /project/<short_name>/newtask in the browser."
        raise ForbiddenError("Tasks cannot be reserved by opening a link.", code="cross_site", hint=hint)


def _project_id(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise InvalidValueError("newtask needs the id of the project, not its short name.")
    if len(text) > 18:
        raise NotFoundError("404 Not Found")
    return int(text)
