"""The API of a project's volunteers, and of bars that exclude volunteers and networks."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from crowdd.core.records.statements import Keyset
from crowdd.features.tasks.barring import BarBody, Barring
from crowdd.features.tasks.volunteers import Volunteers
from crowdd.http import queries
from crowdd.http.api.objects import checked_id
from crowdd.http.api.operations import COUNT, OFFSET, PASSWORD, PROJECT_ID, of_project
from crowdd.http.operation import Audience, Operation, Parameter, array_of, closed_object
from crowdd.http.request import Incoming
from crowdd.http.responses import JsonResponse, Response
from crowdd.http.routing import Route, get, post
from crowdd.kernel.errors import AnonymousError, InvalidValueError, NotFoundError
from crowdd.kinds.body import Body, key
from crowdd.kinds.types import Integer, clean_text

_TEXT = {"type": "string"}
_BAR = closed_object(
    id=COUNT,
    sort={"type": "string", "enum": ["account", "external", "anonymous", "network"]},
    shown={**_TEXT, "description": "User name, external_uid, volunteer code, or the user_ip of a network."},
    volunteer={
        "anyOf": [_TEXT, {"type": "null"}],
        "description": "Volunteer code in their answers; null for a network.",
    },
    user_name={"anyOf": [_TEXT, {"type": "null"}]},
    at={**_TEXT, "description": "When the bar was set."},
    by={"anyOf": [_TEXT, {"type": "null"}], "description": "User name of the person who set it."},
    reason=_TEXT,
)
_OUTCOME = closed_object(
    id={**COUNT, "description": "Id of the bar."},
    answers={**COUNT, "description": "Number of answers set aside or restored so far."},
    queue_item={
        "anyOf": [COUNT, {"type": "null"}],
        "description": "Background task that processes the remaining answers; null if all are done.",
    },
)
_OWNERS = "For owners of the project and administrators. "
_LIST_BARS = of_project(
    name="barred_volunteers",
    summary="List the bars of a project",
    about=_OWNERS + "Returns the newest first, at most 500.",
    parameters=(PROJECT_ID, PASSWORD),
    answer=array_of(_BAR),
)
_ADD = of_project(
    name="bar_volunteer",
    summary="Bar a volunteer or a network",
    about=_OWNERS + "A barred volunteer gets no tasks of the project and cannot answer (403, error_code barred). Until"
    " the bar is removed, their answers are kept but not counted, and the tasks are open again.",
    parameters=(PROJECT_ID, PASSWORD),
    answer=_OUTCOME,
)
_REMOVE = of_project(
    name="unbar_volunteer",
    summary="Remove a bar",
    about=_OWNERS + "Answers that were set aside count again if their task still needs answers, as late answers do.",
    parameters=(PROJECT_ID, PASSWORD),
    answer=_OUTCOME,
)


class UnbarBody(Body):
    """A bar that is removed."""

    id: int = key(Integer(minimum=1), "Id of the bar.")


class BarsApi:
    """/api/project/<id>/barred, bar and unbar."""

    def __init__(self, barring: Barring) -> None:
        self._barring = barring

    def routes(self) -> Iterator[Route]:
        """/api/project/<id>/barred, bar and unbar."""
        project = "/api/project/<int:object_id>"
        yield get(f"{project}/barred", self.listed, endpoint="barred", operation=_LIST_BARS)
        yield post(f"{project}/bar", self.bar, endpoint="bar", operation=_ADD, body=BarBody)
        yield post(f"{project}/unbar", self.unbar, endpoint="unbar", operation=_REMOVE, body=UnbarBody)

    async def listed(self, incoming: Incoming, object_id: int) -> Response:
        bars = await self._barring.listed(incoming.who, checked_id(object_id))
        return JsonResponse([attrs.asdict(each) for each in bars])

    async def bar(self, incoming: Incoming, object_id: int, body: BarBody) -> Response:
        return JsonResponse(attrs.asdict(await self._barring.bar(incoming.who, checked_id(object_id), body)))

    async def unbar(self, incoming: Incoming, object_id: int, body: UnbarBody) -> Response:
        return JsonResponse(attrs.asdict(await self._barring.unbar(incoming.who, checked_id(object_id), body.id)))


_NONE = {"type": "null"}
_MAX_CODE = 100  # characters
_VOLUNTEER = closed_object(
    volunteer={**_TEXT, "description": "Volunteer code, as in their answers in this project."},
    sort={"type": "string", "enum": ["account", "external", "anonymous"]},
    user_id={"anyOf": [COUNT, _NONE], "description": "Id of the account; null for volunteers without one."},
    user_name={"anyOf": [_TEXT, _NONE]},
    external_uid={"anyOf": [_TEXT, _NONE], "description": "Id of the external user; null for other volunteers."},
    answers={**COUNT, "description": "Number of their answers."},
    barred={"type": "boolean"},
)
_LIST = Operation(
    name="list_volunteers",
    section="project",
    summary="List the volunteers of a project",
    about="For owners of the project and administrators. Returns those with the most answers first.",
    parameters=(
        PROJECT_ID,
        Parameter("limit", COUNT, f"Maximum number, up to {queries.MAX_LIMIT}.", empty=True),
        Parameter(
            "before",
            _TEXT,
            "Volunteer code. Returns the volunteers that follow this one, at the same cost however many there are.",
            empty=True,
        ),
        OFFSET,
        PASSWORD,
    ),
    answer=array_of(_VOLUNTEER),
    refusals=(AnonymousError, NotFoundError, InvalidValueError),
    audience=Audience.SIGNED_IN,
)


class VolunteersApi:
    """/api/project/<id>/volunteers."""

    def __init__(self, volunteers: Volunteers) -> None:
        self._volunteers = volunteers

    def routes(self) -> Iterator[Route]:
        yield get("/api/project/<int:object_id>/volunteers", self.listed, endpoint="volunteers", operation=_LIST)

    async def listed(self, incoming: Incoming, object_id: int) -> Response:
        limit = queries.parse_number(incoming.query.get("limit", ""), "limit", queries.DEFAULT_LIMIT)
        offset = queries.parse_number(incoming.query.get("offset", ""), "offset", 0)
        before = clean_text(incoming.query.get("before", ""))[:_MAX_CODE] or None
        place = Keyset(min(limit, queries.MAX_LIMIT), before=before)
        page = await self._volunteers.listed(incoming.who, checked_id(object_id), place, offset=offset)
        return JsonResponse([attrs.asdict(each) for each in page.rows])
