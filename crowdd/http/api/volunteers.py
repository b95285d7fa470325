"""The volunteers of a project."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from crowdd.domain.tasks.volunteers import Volunteers
from crowdd.errors import AnonymousError, InvalidValueError, NotFoundError
from crowdd.http import queries
from crowdd.http.api.objects import checked_id
from crowdd.http.api.operations import OFFSET, PASSWORD
from crowdd.http.operation import Audience, Operation, Parameter, array_of, closed_object
from crowdd.http.request import Incoming
from crowdd.http.responses import JsonResponse, Response
from crowdd.http.routing import Route, get
from crowdd.kinds.types import Integer

_COUNT = Integer(minimum=0).schema()
_TEXT = {"type": "string"}
_NONE = {"type": "null"}
_VOLUNTEER = closed_object(
    volunteer={**_TEXT, "description": "The code that their answers carry in this project."},
    sort={"type": "string", "enum": ["account", "external", "anonymous"]},
    user_id={"anyOf": [_COUNT, _NONE], "description": "The account; null for others."},
    user_name={"anyOf": [_TEXT, _NONE]},
    external_uid={"anyOf": [_TEXT, _NONE], "description": "The id of an external user; null for others."},
    answers={**_COUNT, "description": "How many answers they have given."},
    barred={"type": "boolean"},
)
_LIST = Operation(
    name="list_volunteers",
    section="project",
    summary="List who has answered in a project",
    about="For owners of the project, administrators. Those with the most answers first.",
    parameters=(
        Parameter("object_id", _COUNT, "The number of the project.", where="path"),
        Parameter("limit", _COUNT, f"How many, {queries.MAX_LIMIT} at most.", empty=True),
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
        limit = queries.number(incoming.query.get("limit", ""), "limit", queries.DEFAULT_LIMIT)
        offset = queries.number(incoming.query.get("offset", ""), "offset", 0)
        limit = min(limit, queries.MAX_LIMIT)
        found = await self._volunteers.listed(incoming.who, checked_id(object_id), limit, offset)
        return JsonResponse([attrs.asdict(each) for each in found])
