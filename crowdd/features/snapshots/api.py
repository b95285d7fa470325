"""The API of snapshots and of their deposit in a repository.

Addresses: /api/project/<id>/snapshots, and /api/project/<id>/snapshots/<id>/deposit.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from crowdd.core.records import rights
from crowdd.core.records.records import Records
from crowdd.features.projects.projects import Projects
from crowdd.features.projects.rows import ProjectPage
from crowdd.features.snapshots.contents import snapshot_view
from crowdd.features.snapshots.deposits import MAX_TOKEN, MAX_URL, Deposits, Destination
from crowdd.features.snapshots.repository import PUBLIC
from crowdd.features.snapshots.rows import DepositRow, SnapshotRow
from crowdd.features.snapshots.snapshots import MAX_KEPT, Snapshots
from crowdd.http import queries
from crowdd.http.api.objects import checked_id
from crowdd.http.api.operations import COUNT, PASSWORD, PROJECT_ID
from crowdd.http.html.tables import outward_rows
from crowdd.http.operation import Audience, Operation, Parameter, Schema, array_of, closed_object
from crowdd.http.request import Incoming
from crowdd.http.responses import JsonResponse, Response
from crowdd.http.routing import Route, get, post
from crowdd.kernel.errors import AnonymousError, ConflictError, InvalidValueError, NotFoundError
from crowdd.kernel.values import Values
from crowdd.kinds.body import Body, key
from crowdd.kinds.project import PROJECT
from crowdd.kinds.types import Boolean, Text

_AT: Final = "/api/project/<int:object_id>/snapshots"
_ONE: Final = f"{_AT}/<int:snapshot_id>"
_TEXT: Final = {"type": "string"}


def _or_null(schema: Schema, doc: str = "") -> Schema:
    return {"anyOf": [schema, {"type": "null"}], **({"description": doc} if doc else {})}


_SNAPSHOT = closed_object(
    id=COUNT,
    project_id=COUNT,
    created={**_TEXT, "description": "When it was asked for."},
    state={"type": "string", "enum": ["waiting", "running", "done", "failed", "cancelled"]},
    done={**COUNT, "description": "Rows that are read."},
    total=_or_null(COUNT),
    public={"type": "boolean", "description": "Whether those who may read the answers may read it."},
    user_name=_or_null(_TEXT, "Who asked for it. This, queue_item and error are for owners."),
    queue_item=_or_null(COUNT, "Its background task; null once that is forgotten."),
    error=_or_null(_TEXT, "Why it failed."),
    hash=_or_null(_TEXT, "SHA-256 of the content. This and the following are null until it is made."),
    url=_or_null(_TEXT, "Its address, which never changes."),
    as_of=_or_null(_TEXT, "The moment that it shows."),
    bytes={**COUNT, "description": "Of all its files."},
    counts=_or_null({"type": "object"}, "Rows of each table."),
    license=_or_null(_TEXT, "SPDX identifier; null without a licence."),
    authors=_or_null(array_of({"type": "object"}), "name, and orcid where known."),
    citation=_or_null(_TEXT),
    software=_or_null(_TEXT, "Version of crowdd that made it."),
    audit_log=_or_null({"type": "object"}, "Position and hash of the last row of the audit log's chain."),
    withdrawn={**COUNT, "description": "Volunteers of the project who deleted their account since."},
)
_NAMED = (PROJECT_ID, Parameter("snapshot_id", COUNT, "Id of the snapshot.", where="path"), PASSWORD)
_REFUSALS = (AnonymousError, NotFoundError, InvalidValueError)
_OWNERS = "For owners of the project and administrators. "
_LIST = Operation(
    name="list_snapshots",
    section="project",
    summary="List the snapshots of a project",
    about="Returns the newest first: all for owners, the public ones for others. A project keeps at most"
    f" {MAX_KEPT}. Their files are below url.",
    parameters=(PROJECT_ID, PASSWORD),
    answer=array_of(_SNAPSHOT),
    refusals=_REFUSALS,
)
_ADD = Operation(
    name="make_snapshot",
    section="project",
    summary="Make a snapshot of a project",
    about=_OWNERS + "Starts a background task that freezes tasks, answers, results and texts as they are at one moment."
    " If the project has a snapshot with this content already, the new one disappears when it is done.",
    parameters=(PROJECT_ID, PASSWORD),
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
    answer=_SNAPSHOT,
    refusals=_REFUSALS,
    audience=Audience.SIGNED_IN,
)
_OF_ROWS = closed_object(added=COUNT, removed=COUNT, changed=COUNT)
_DIFFERENCE = Operation(
    name="compare_snapshots",
    section="project",
    summary="Compare a snapshot with an earlier one",
    about=_OWNERS + "Counts the rows that were added, removed or changed since the other snapshot, and names the"
    " settings and documents that differ. All differences are in the file at url, one JSON object per line.",
    parameters=(*_NAMED, Parameter("from", COUNT, "Id of the other snapshot.")),
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


class SnapshotBody(Body):
    """A change of a snapshot."""

    public: bool = key(Boolean(), "Whether those who may read the answers may read it.")


class SnapshotsApi:
    """/api/project/<id>/snapshots."""

    def __init__(self, snapshots: Snapshots, projects: Projects, records: Records, base_url: str) -> None:
        self._snapshots, self._projects, self._records, self._base_url = snapshots, projects, records, base_url

    def routes(self) -> Iterator[Route]:
        yield get(_AT, self.listed, endpoint="snapshot", operation=_LIST)
        yield post(_AT, self.add, endpoint="snapshot", operation=_ADD)
        yield get(_ONE, self.one, endpoint="snapshot", operation=_GET)
        yield get(f"{_ONE}/difference", self.difference, endpoint="snapshot", operation=_DIFFERENCE)
        yield Route("PUT", _ONE, self.update, endpoint="snapshot", operation=_UPDATE, body=SnapshotBody)
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
        other_id = queries.parse_number(incoming.query.get("from", ""), "from", 0)
        after = await self._snapshots.one(incoming.who, checked_id(object_id), checked_id(snapshot_id))
        before = await self._snapshots.one(incoming.who, object_id, other_id)
        if before["hash"] is None or after["hash"] is None:
            raise ConflictError("Both snapshots must be done.")
        comparison = await self._snapshots.difference(before, after)
        at = f"{self._address(await self._row(incoming, object_id))}/{after['hash']}/difference/changes"
        return JsonResponse({**comparison.summary, "url": f"{at}?from={before['hash']}"})

    async def update(self, incoming: Incoming, object_id: int, snapshot_id: int, body: SnapshotBody) -> Response:
        snapshot = await self._snapshots.one(incoming.who, checked_id(object_id), checked_id(snapshot_id))
        await self._snapshots.set_public(incoming.who, snapshot, public=body.public)
        return await self.one(incoming, object_id, snapshot_id)

    async def delete(self, incoming: Incoming, object_id: int, snapshot_id: int) -> Response:
        await self._snapshots.delete(incoming.who, checked_id(object_id), checked_id(snapshot_id))
        return JsonResponse(None, 204)

    async def _row(self, incoming: Incoming, object_id: int) -> ProjectPage:
        view = await self._records.get(PROJECT, incoming.who, checked_id(object_id))
        return await self._projects.page(str(view["short_name"]), incoming.who)

    def _view(self, row: ProjectPage, snapshot: SnapshotRow) -> Values:
        return outward_rows([snapshot_view(snapshot, self._address(row), owns=rights.owns(row["roles"]))])[0]

    def _address(self, row: ProjectPage) -> str:
        return f"{self._base_url.rstrip('/')}/project/{row['short_name']}/snapshots"


_DEPOSIT_AT: Final = "/api/project/<int:object_id>/snapshots/<int:snapshot_id>/deposit"


_DEPOSIT = closed_object(
    id=COUNT,
    snapshot_id=COUNT,
    created=_TEXT,
    user_name=_or_null(_TEXT, "Who asked for it."),
    queue_item=_or_null(COUNT, "Its background task; null once that is forgotten."),
    state={"type": "string", "enum": ["waiting", "running", "failed", "cancelled", "uploaded", "published"]},
    done={**COUNT, "description": "Files that are in the repository."},
    total=_or_null(COUNT),
    error={**_TEXT, "description": "Why it failed."},
    url={**_TEXT, "description": "Address of the repository."},
    publish={"type": "boolean", "description": "Whether it is to be published when all files are there."},
    page={**_TEXT, "description": "Its page in the repository; empty until it is created there."},
    published=_or_null(_TEXT),
    doi={**_TEXT, "description": "Empty until it is published."},
)
_DEPOSIT_NAMED = (
    PROJECT_ID,
    Parameter("snapshot_id", COUNT, "Id of the snapshot.", where="path"),
)
_CHANGES = (*_REFUSALS, ConflictError)
_GET_DEPOSIT = Operation(
    name="get_deposit",
    section="project",
    summary="Read the deposit of a snapshot",
    about=_OWNERS,
    parameters=_DEPOSIT_NAMED,
    answer=_DEPOSIT,
    refusals=_REFUSALS,
    audience=Audience.SIGNED_IN,
)
_ADD_DEPOSIT = Operation(
    name="deposit_snapshot",
    section="project",
    summary="Deposit a snapshot in a repository",
    about=_OWNERS + "Starts a background task that creates a deposit at a site with the REST API of Zenodo and"
    " uploads the files. Nothing is published unless publish is true. It needs a licence and an author."
    " The token needs the scopes deposit:write and deposit:actions, is stored encrypted and is forgotten when the"
    " deposit is published or removed.",
    parameters=_DEPOSIT_NAMED,
    answer=_DEPOSIT,
    refusals=_CHANGES,
    audience=Audience.SIGNED_IN,
)
_UPDATE_DEPOSIT = Operation(
    name="continue_deposit",
    section="project",
    summary="Publish a deposit, or try again",
    about=_OWNERS + "Continues a deposit that failed, and publishes it if publish is true. This cannot be undone.",
    parameters=_DEPOSIT_NAMED,
    answer=_DEPOSIT,
    refusals=_CHANGES,
    audience=Audience.SIGNED_IN,
)
_DELETE_DEPOSIT = Operation(
    name="forget_deposit",
    section="project",
    summary="Forget a deposit",
    about=_OWNERS + "Removes the deposit and its token from this server. The repository keeps its files.",
    parameters=_DEPOSIT_NAMED,
    answer=None,
    refusals=_REFUSALS,
    audience=Audience.SIGNED_IN,
)


class PublishBody(Body):
    """Whether a deposit is published."""

    publish: bool = key(Boolean(), "Whether it is published when all files are there.", default=False)


class DepositBody(PublishBody):
    """A deposit in a repository."""

    url: str = key(Text(maximum=MAX_URL), "Address of the site.", default=PUBLIC)
    token: str = key(Text(maximum=MAX_TOKEN), "An access token of your account there.")


class DepositsApi:
    """/api/project/<id>/snapshots/<id>/deposit."""

    def __init__(self, deposits: Deposits) -> None:
        self._deposits = deposits

    def routes(self) -> Iterator[Route]:
        yield get(_DEPOSIT_AT, self.one, endpoint="snapshot", operation=_GET_DEPOSIT)
        yield post(_DEPOSIT_AT, self.add, endpoint="snapshot", operation=_ADD_DEPOSIT, body=DepositBody)
        yield Route("PUT", _DEPOSIT_AT, self.update, endpoint="snapshot", operation=_UPDATE_DEPOSIT, body=PublishBody)
        yield Route("DELETE", _DEPOSIT_AT, self.delete, endpoint="snapshot", operation=_DELETE_DEPOSIT)

    async def one(self, incoming: Incoming, object_id: int, snapshot_id: int) -> Response:
        deposit = await self._deposits.of(incoming.who, checked_id(object_id), checked_id(snapshot_id))
        return JsonResponse(_view(deposit))

    async def add(self, incoming: Incoming, object_id: int, snapshot_id: int, body: DepositBody) -> Response:
        ids = checked_id(object_id), checked_id(snapshot_id)
        destination = Destination(body.url, body.token, body.publish)
        return JsonResponse(_view(await self._deposits.add(incoming.who, *ids, destination)))

    async def update(self, incoming: Incoming, object_id: int, snapshot_id: int, body: PublishBody) -> Response:
        ids = checked_id(object_id), checked_id(snapshot_id)
        return JsonResponse(_view(await self._deposits.go_on(incoming.who, *ids, publish=body.publish)))

    async def delete(self, incoming: Incoming, object_id: int, snapshot_id: int) -> Response:
        await self._deposits.delete(incoming.who, checked_id(object_id), checked_id(snapshot_id))
        return JsonResponse(None, 204)


def _view(deposit: DepositRow) -> Values:
    return outward_rows([deposit])[0]
