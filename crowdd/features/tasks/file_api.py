"""The API for files of answers: volunteers send them before the answer that names them (interface: answer-files)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from crowdd.features.answer_files.answer_files import AnswerFiles, Place
from crowdd.features.media.incoming_files import Part
from crowdd.features.tasks.contributions import Contributions
from crowdd.http import queries
from crowdd.http.api.objects import checked_id
from crowdd.http.api.operations import EXTERNAL_UID, PASSWORD
from crowdd.http.auth.cookies import bearer_token
from crowdd.http.operation import Audience, Operation, Parameter, closed_object
from crowdd.http.request import Incoming
from crowdd.http.responses import JsonResponse, Response
from crowdd.http.routing import Route
from crowdd.kernel.errors import (
    AnonymousError,
    ForbiddenError,
    InvalidValueError,
    NotFoundError,
    TooLargeError,
    TooManyRequestsError,
    UnavailableError,
)
from crowdd.kinds.types import Integer

_KEY: Final = re.compile(r"[0-9a-f]{32}")
_COUNT = Integer(minimum=0).schema()
BINARY: Final = "application/octet-stream"
_STORE = Operation(
    name="send_file",
    section="volunteers",
    summary="Send a file for an answer",
    about="The body is the file, or a part of it with offset and bytes, so that it can be sent in small requests and"
    " goes on where a connection was cut: a part that does not begin at the offset so far is not taken, and the"
    " response says where to go on. With the last part, the file is prepared: pictures are drawn again without EXIF"
    " data, sounds and videos lose their descriptions. file is then what the answer says in the value of its question,"
    ' an array: {"photo": [file]}. A file that no answer names within a day is deleted.',
    parameters=(
        Parameter("object_id", _COUNT, "Id of the task.", where="path"),
        Parameter(
            "key",
            {"type": "string", "pattern": "^[0-9a-f]{32}$"},
            "The client's own random name for the file, 32 hexadecimal digits. Sending the same key again is harmless.",
            where="path",
        ),
        Parameter("offset", _COUNT, "Where the part begins (default: 0).", empty=True),
        Parameter("bytes", _COUNT, "Bytes of the whole file (default: those of the body).", empty=True),
        EXTERNAL_UID,
        PASSWORD,
    ),
    bodies={BINARY: {"type": "string", "format": "binary", "description": "The file, or a part of it."}},
    answer=closed_object(
        offset={**_COUNT, "description": "Bytes that have come."},
        file={
            "anyOf": [{"type": "object", "description": "The file, once it is ready."}, {"type": "null"}],
        },
    ),
    refusals=(
        AnonymousError,
        ForbiddenError,
        InvalidValueError,
        NotFoundError,
        TooLargeError,
        TooManyRequestsError,
        UnavailableError,
    ),
    audience=Audience.VOLUNTEER,
)


class AnswerFilesApi:
    """/api/task/<id>/file/<key>."""

    def __init__(self, contributions: Contributions, answer_files: AnswerFiles) -> None:
        self._contributions, self._answer_files = contributions, answer_files

    def routes(self) -> Iterator[Route]:
        yield Route(
            "PUT",
            "/api/task/<int:object_id>/file/<key>",
            self.store,
            endpoint="answer_file",
            operation=_STORE,
            action="answer",
            admits=self.admits,
            spooled=True,
        )

    async def admits(self, incoming: Incoming, object_id: int, key: str) -> None:
        """Passes for a volunteer who asked for the task (``Route.admits``)."""
        uid = incoming.query.get("external_uid")
        await self._contributions.require_asker(incoming.who, uid, [checked_id(object_id)])

    async def store(self, incoming: Incoming, object_id: int, key: str) -> Response:
        """Takes the file or a part of it, from a volunteer who asked for the task."""
        task_id, uid = checked_id(object_id), incoming.query.get("external_uid")
        if not _KEY.fullmatch(key):
            raise InvalidValueError("key must be 32 hexadecimal digits.")
        who, project_id = await self._contributions.known(incoming.who, task_id, uid, bearer_token(incoming))
        await self._contributions.require_asker(who, None, [task_id])
        offset = queries.parse_number(incoming.query.get("offset", ""), "offset", 0)
        with incoming.body_file() as (content, length):
            size = queries.parse_number(incoming.query.get("bytes", ""), "bytes", length)
            part = Part(offset, content, length)
            arrival = await self._answer_files.take(who, Place(project_id, task_id, key), size, part)
        return JsonResponse({"offset": arrival.offset, "file": arrival.file})
