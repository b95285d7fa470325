"""Snapshots of a project: /api/project/<id>/snapshots."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from crowdd.domain.core import rights
from crowdd.domain.core.records import Records
from crowdd.domain.projects.projects import Projects
from crowdd.domain.transfer.snapshots.snapshots import MAX_KEPT, Snapshots
from crowdd.domain.transfer.snapshots.views import view
from crowdd.errors import AnonymousError, ConflictError, InvalidValueError, NotFoundError, UnknownFieldError
from crowdd.http import queries
from crowdd.http.api.objects import checked_id
from crowdd.http.api.operations import LIMIT, PASSWORD
from crowdd.http.html.row_lists import outward_rows
from crowdd.http.operation import JSON, Audience, Operation, Parameter, Schema, array_of, closed_object
from crowdd.http.request import Incoming
from crowdd.http.responses import JsonResponse, Response
from crowdd.http.routing import Route, get, post
from crowdd.kinds.project import PROJECT
from crowdd.storage.projects.rows import ProjectPage
from crowdd.storage.transfer.snapshot_rows import SnapshotRow
from crowdd.values import Values

_AT: Final = "/api/project/<int:object_id>/snapshots"
_ONE: Final = f"{_AT}/<int:snapshot_id>"
_COUNT: Final = LIMIT.schema
_TEXT: Final = {"type": "string"}


def _or_null(schema: Schema, doc: str = "") -> Schema:
    return {"anyOf": [schema, {"type": "null"}], **({"description": doc} if doc else {})}


_SNAPSHOT = closed_object(
    id=_COUNT,
    project_id=_COUNT,
    created={**_TEXT, "description": "When it was asked for."},
    state={"type": "string", "enum": ["waiting", "running", "done", "failed", "cancelled"]},
    done={**_COUNT, "description": "Rows that are read."},
    total=_or_null(_COUNT),
    public={"type": "boolean", "description": "Whether those who may read the answers may read it."},
    user_name=_or_null(_TEXT, "Who asked for it. This, queue_item and error are for owners."),
    queue_item=_or_null(_COUNT, "Its background task; null once that is forgotten."),
    error=_or_null(_TEXT, "Why it failed."),
    hash=_or_null(_TEXT, "SHA-256 of the content. This and the following are null until it is made."),
    url=_or_null(_TEXT, "Its address, which never changes."),
    as_of=_or_null(_TEXT, "The moment that it shows."),
    bytes={**_COUNT, "description": "Of all its files."},
    counts=_or_null({"type": "object"}, "Rows of each table."),
    license=_or_null(_TEXT, "SPDX identifier; null without a licence."),
    authors=_or_null(array_of({"type": "object"}), "name, and orcid where known."),
    citation=_or_null(_TEXT),
    software=_or_null(_TEXT, "Version of crowdd that made it."),
    audit_log=_or_null({"type": "object"}, "Position and hash of the last row of the audit log's chain."),
    withdrawn={**_COUNT, "description": "Volunteers of the project who deleted their account since."},
)
_PROJECT = Parameter("object_id", _COUNT, "Id of the project.", where="path")
_NAMED = (_PROJECT, Parameter("snapshot_id", _COUNT, "Id of the snapshot.", where="path"), PASSWORD)
_REFUSALS = (AnonymousError, NotFoundError, InvalidValueError)
_OWNERS = "For owners of the project and administrators. "
_LIST = Operation(
    name="list_snapshots",
    section="project",
    summary="List the snapshots of a project",
    about="Returns the newest first: all for owners, the public ones for others. A project keeps at most"
    f" {MAX_KEPT}. Their files are below url.",
    parameters=(_PROJECT, PASSWORD),
    answer=array_of(_SNAPSHOT),
    refusals=_REFUSALS,
)
_ADD = Operation(
    name="make_snapshot",
    section="project",
    summary="Make a snapshot of a project",
    about=_OWNERS + "Starts a background task that freezes tasks, answers, results and texts as they are at one moment."
    " If the project has a snapshot with this content already, the new one disappears when it is done.",
    parameters=(_PROJECT, PASSWORD),
    answer=_SNAPSHOT,
    refusals=(AnonymousError, NotFoundError, ConflictError, InvalidValueError),
    audience=Audience.SIGNED_IN,
)
_GET = Operation(
    name="get_snapshot",
    section="project",
    summary="Read a snapshot",
    about=_OWNERS,
    parameters=_NAMED,
    answer=_SNAPSHOT,
    refusals=_REFUSALS,
    audience=Audience.SIGNED_IN,
)
_UPDATE = Operation(
    name="update_snapshot",
    section="project",
    summary="Publish or hide a snapshot",
    about=_OWNERS + "A public snapshot can be read by those who may read the answers of the project.",
    parameters=_NAMED,
    bodies={
        JSON: {
            "type": "object",
            "properties": {"public": {"type": "boolean"}},
            "required": ["public"],
            "additionalProperties": False,
        }
    },
    answer=_SNAPSHOT,
    refusals=_REFUSALS,
    audience=Audience.SIGNED_IN,
)
_OF_ROWS = closed_object(added=_COUNT, removed=_COUNT, changed=_COUNT)
_DIFFERENCE = Operation(
    name="compare_snapshots",
    section="project",
    summary="Compare a snapshot with an earlier one",
    about=_OWNERS + "Counts the rows that were added, removed or changed since the other snapshot, and names the"
    " settings and documents that differ. All differences are in the file at url, one JSON object per line.",
    parameters=(*_NAMED, Parameter("from", _COUNT, "Id of the other snapshot.")),
    answer=closed_object(
        counts=closed_object(task=_OF_ROWS, answer=_OF_ROWS, result=_OF_ROWS),
        settings={**array_of({"type": "object"}), "description": "name, and values before and after."},
        documents={**array_of({"type": "object"}), "description": "name, and change: added, removed or changed."},
        url={**_TEXT, "description": "Address of the file with all differences."},
    ),
    refusals=(*_REFUSALS, ConflictError),
    audience=Audience.SIGNED_IN,
)
_DELETE = Operation(
    name="delete_snapshot",
    section="project",
    summary="Delete a snapshot",
    about=_OWNERS + "Its address stops working. One that is being made ends.",
    parameters=_NAMED,
    answer=None,
    refusals=_REFUSALS,
    audience=Audience.SIGNED_IN,
)


class SnapshotsApi:
    """/api/project/<id>/snapshots."""

    def __init__(self, snapshots: Snapshots, projects: Projects, records: Records, base_url: str) -> None:
        self._snapshots, self._projects, self._records, self._base_url = snapshots, projects, records, base_url

    def routes(self) -> Iterator[Route]:
        yield get(_AT, self.listed, endpoint="snapshot", operation=_LIST)
        yield post(_AT, self.add, endpoint="snapshot", operation=_ADD)
        yield get(_ONE, self.one, endpoint="snapshot", operation=_GET)
        yield get(f"{_ONE}/difference", self.difference, endpoint="snapshot", operation=_DIFFERENCE)
        yield Route("PUT", _ONE, self.update, endpoint="snapshot", operation=_UPDATE)
        yield Route("DELETE", _ONE, self.delete, endpoint="snapshot", operation=_DELETE)

    async def listed(self, incoming: Incoming, object_id: int) -> Response:
        row = await self._row(incoming, object_id)
        snapshots = await self._snapshots.listed(incoming.who, row)
        return JsonResponse([self._view(row, each) for each in snapshots])

    async def add(self, incoming: Incoming, object_id: int) -> Response:
        snapshot = await self._snapshots.add(incoming.who, checked_id(object_id))
        return JsonResponse(self._view(await self._row(incoming, object_id), snapshot))

    async def one(self, incoming: Incoming, object_id: int, snapshot_id: int) -> Response:
        snapshot = await self._snapshots.one(incoming.who, checked_id(object_id), checked_id(snapshot_id))
        return JsonResponse(self._view(await self._row(incoming, object_id), snapshot))

    async def difference(self, incoming: Incoming, object_id: int, snapshot_id: int) -> Response:
        other_id = queries.number(incoming.query.get("from", ""), "from", 0)
        after = await self._snapshots.one(incoming.who, checked_id(object_id), checked_id(snapshot_id))
        before = await self._snapshots.one(incoming.who, object_id, other_id)
        if before["hash"] is None or after["hash"] is None:
            raise ConflictError("Both snapshots must be done.")
        comparison = await self._snapshots.difference(before, after)
        at = f"{self._address(await self._row(incoming, object_id))}/{after['hash']}/difference/changes"
        return JsonResponse({**comparison.summary, "url": f"{at}?from={before['hash']}"})

    async def update(self, incoming: Incoming, object_id: int, snapshot_id: int) -> Response:
        snapshot = await self._snapshots.one(incoming.who, checked_id(object_id), checked_id(snapshot_id))
        await self._snapshots.set_public(incoming.who, snapshot, public=_public(incoming.json_body()))
        return await self.one(incoming, object_id, snapshot_id)

    async def delete(self, incoming: Incoming, object_id: int, snapshot_id: int) -> Response:
        await self._snapshots.delete(incoming.who, checked_id(object_id), checked_id(snapshot_id))
        return JsonResponse(None, 204)

    async def _row(self, incoming: Incoming, object_id: int) -> ProjectPage:
        view = await self._records.get(PROJECT, incoming.who, checked_id(object_id))
        return await self._projects.page(str(view["short_name"]), incoming.who)

    def _view(self, row: ProjectPage, snapshot: SnapshotRow) -> Values:
        return outward_rows([view(snapshot, self._address(row), owns=rights.owns(row["roles"]))])[0]

    def _address(self, row: ProjectPage) -> str:
        return f"{self._base_url.rstrip('/')}/project/{row['short_name']}/snapshots"


def _public(body: object) -> bool:
    if not isinstance(body, dict):
        raise InvalidValueError("The body is not a JSON object.")
    for name in body:
        if name != "public":
            raise UnknownFieldError(f"Unknown attribute {str(name)[:100]}. Known attributes: public.")
    public = body.get("public")
    if not isinstance(public, bool):
        raise InvalidValueError("public must be true or false.")
    return public
