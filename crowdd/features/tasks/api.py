"""The API for contributing: request tasks, keep or release leases, correct an answer, progress, and external users.

(Interface: newtask-paths, userprogress, external-token.)
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from crowdd.features.projects.external_users import ExternalUsers
from crowdd.features.tasks.contributions import (
    MAX_TASKS,
    SORT_SECONDS,
    Contributions,
    Handout,
    candidate_scan,
    external_uid,
)
from crowdd.features.tasks.leases import Leases, ReleaseBody, why_no_task
from crowdd.http import queries
from crowdd.http.api.objects import checked_id
from crowdd.http.api.operations import DESC, EXTERNAL_UID, OFFSET, PASSWORD
from crowdd.http.api.schemas import answer_name
from crowdd.http.auth.cookies import bearer_token
from crowdd.http.edge.headers import prefers_json
from crowdd.http.html.frames import api_headers
from crowdd.http.operation import JSON, Audience, Operation, Parameter, array_of, closed_object, reference
from crowdd.http.request import Incoming
from crowdd.http.responses import BytesResponse, JsonResponse, Response
from crowdd.http.routing import Route, get, post
from crowdd.kernel.errors import (
    AnonymousError,
    ForbiddenError,
    InvalidValueError,
    NotFoundError,
    TooLargeError,
)
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Json, id_or_name
from crowdd.kinds.body import Body, key
from crowdd.kinds.roles import EVERYONE
from crowdd.kinds.task import TASK
from crowdd.kinds.task_run import TASK_RUN
from crowdd.kinds.types import Boolean, Integer

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
        limit = queries.parse_number(query.get("limit", ""), "limit", 1)
        offset = queries.parse_number(query.get("offset", ""), "offset", 0)
        order = candidate_scan(query.get("orderby", ""), queries.parse_flag(query.get("desc", ""), "desc"))
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
        explained = queries.parse_flag(incoming.query.get("explain", ""), "explain")
        words = why_no_task(handout.reason, held, handout.retry_in, guest=who.guest) if explained else {}
        return JsonResponse(words, headers=headers)

    async def userprogress(self, incoming: Incoming, reference: str) -> Response:
        """``{"done": …, "total": …}`` of the requester, or of the external user that is named."""
        uid, bearer = incoming.query.get("external_uid"), bearer_token(incoming)
        named = id_or_name(reference)
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


class CorrectionBody(Body):
    """An answer that takes the place of the one that was given."""

    info: Json = key(TASK_RUN.field("info"), "The answer.")


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
            body=CorrectionBody,
        )

    async def admits(self, incoming: Incoming, object_id: int) -> None:
        """Passes for a volunteer who asked for the task (``Route.admits``)."""
        uid = incoming.query.get("external_uid")
        await self._contributions.require_asker(incoming.who, uid, [checked_id(object_id)])

    async def correct(self, incoming: Incoming, object_id: int, body: CorrectionBody) -> Response:
        """Stores the correction and returns the answer."""
        uid, bearer = incoming.query.get("external_uid"), bearer_token(incoming)
        corrected = await self._contributions.correct(incoming.who, checked_id(object_id), body.info, uid, bearer)
        return JsonResponse(corrected)


_TASK = Parameter("object_id", _COUNT, "Id of the task.", where="path")
_RELEASE = Operation(
    name="release_task",
    section="volunteers",
    summary="Release a task",
    about="Others can get the task at once. The body may also be JSON sent as text/plain, or empty, as a page sends it"
    " while it is being closed (navigator.sendBeacon). An answer that arrives later is still stored.",
    parameters=(_TASK, EXTERNAL_UID, PASSWORD),
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
            "/api/task/<int:object_id>/release",
            self.release,
            endpoint="release",
            operation=_RELEASE,
            action="answer",
            body=ReleaseBody,
        )
        yield post("/api/task/<int:object_id>/renew", self.renew, endpoint="renew", operation=_RENEW, action="answer")

    async def lease(self, incoming: Incoming, object_id: int) -> Response:
        return JsonResponse({"state": await self._leases.lease(*_asked(incoming, object_id))})

    async def release(self, incoming: Incoming, object_id: int, body: ReleaseBody) -> Response:
        return JsonResponse({"released": await self._leases.give_back(*_asked(incoming, object_id), body)})

    async def renew(self, incoming: Incoming, object_id: int) -> Response:
        lease = await self._leases.renew(*_asked(incoming, object_id))
        return JsonResponse({"state": lease.state, "seconds_left": lease.left})


def _asked(incoming: Incoming, task_id: int) -> tuple[Requester, int, str | None, str | None]:
    """The requester, the task, and for an external user the id and the token."""
    return incoming.who, checked_id(task_id), incoming.query.get("external_uid"), bearer_token(incoming)
