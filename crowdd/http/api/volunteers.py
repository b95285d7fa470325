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
from crowdd.kinds.types import Integer, clean_text
from crowdd.storage.core.keyset import Keyset

_COUNT = Integer(minimum=0).schema()
_TEXT = {"type": "string"}
_NONE = {"type": "null"}
_MAX_CODE = 100  # characters
_VOLUNTEER = closed_object(
    volunteer={**_TEXT, "description": "Volunteer code, as in their answers in this project."},
    sort={"type": "string", "enum": ["account", "external", "anonymous"]},
    user_id={"anyOf": [_COUNT, _NONE], "description": "Id of the account; null for volunteers without one."},
    user_name={"anyOf": [_TEXT, _NONE]},
    external_uid={"anyOf": [_TEXT, _NONE], "description": "Id of the external user; null for other volunteers."},
    answers={**_COUNT, "description": "Number of their answers."},
    barred={"type": "boolean"},
)
_LIST = Operation(
    name="list_volunteers",
    section="project",
    summary="List the volunteers of a project",
    about="For owners of the project and administrators. Returns those with the most answers first.",
    parameters=(
        Parameter("object_id", _COUNT, "Id of the project.", where="path"),
        Parameter("limit", _COUNT, f"Maximum number, up to {queries.MAX_LIMIT}.", empty=True),
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
        limit = queries.number(incoming.query.get("limit", ""), "limit", queries.DEFAULT_LIMIT)
        offset = queries.number(incoming.query.get("offset", ""), "offset", 0)
        before = clean_text(incoming.query.get("before", ""))[:_MAX_CODE] or None
        place = Keyset(min(limit, queries.MAX_LIMIT), before=before)
        page = await self._volunteers.listed(incoming.who, checked_id(object_id), place, offset=offset)
        return JsonResponse([attrs.asdict(each) for each in page.rows])
