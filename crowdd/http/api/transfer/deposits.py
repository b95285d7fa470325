"""The deposit of a snapshot in a repository: /api/project/<id>/snapshots/<id>/deposit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from crowdd.domain.transfer.deposits.deposits import MAX_TOKEN, MAX_URL, Deposits
from crowdd.domain.transfer.deposits.repository import PUBLIC
from crowdd.errors import AnonymousError, ConflictError, InvalidValueError, NotFoundError, UnknownFieldError
from crowdd.http.api.objects import checked_id
from crowdd.http.api.operations import LIMIT
from crowdd.http.html.row_lists import outward_rows
from crowdd.http.operation import JSON, Audience, Operation, Parameter, Schema, closed_object
from crowdd.http.request import Incoming
from crowdd.http.responses import JsonResponse, Response
from crowdd.http.routing import Route, get, post
from crowdd.kinds.types import clean_text
from crowdd.storage.transfer.deposit_rows import DepositRow
from crowdd.values import Values

_AT: Final = "/api/project/<int:object_id>/snapshots/<int:snapshot_id>/deposit"
_COUNT: Final = LIMIT.schema
_TEXT: Final = {"type": "string"}


def _or_null(schema: Schema, doc: str = "") -> Schema:
    return {"anyOf": [schema, {"type": "null"}], **({"description": doc} if doc else {})}


_DEPOSIT = closed_object(
    id=_COUNT,
    snapshot_id=_COUNT,
    created=_TEXT,
    user_name=_or_null(_TEXT, "Who asked for it."),
    queue_item=_or_null(_COUNT, "Its background task; null once that is forgotten."),
    state={"type": "string", "enum": ["waiting", "running", "failed", "cancelled", "uploaded", "published"]},
    done={**_COUNT, "description": "Files that are in the repository."},
    total=_or_null(_COUNT),
    error={**_TEXT, "description": "Why it failed."},
    url={**_TEXT, "description": "Address of the repository."},
    publish={"type": "boolean", "description": "Whether it is to be published when all files are there."},
    page={**_TEXT, "description": "Its page in the repository; empty until it is created there."},
    published=_or_null(_TEXT),
    doi={**_TEXT, "description": "Empty until it is published."},
)
_NAMED = (
    Parameter("object_id", _COUNT, "Id of the project.", where="path"),
    Parameter("snapshot_id", _COUNT, "Id of the snapshot.", where="path"),
)
_REFUSALS = (AnonymousError, NotFoundError, InvalidValueError)
_CHANGES = (*_REFUSALS, ConflictError)
_OWNERS = "For owners of the project and administrators. "
_GET = Operation(
    name="get_deposit",
    section="project",
    summary="Read the deposit of a snapshot",
    about=_OWNERS,
    parameters=_NAMED,
    answer=_DEPOSIT,
    refusals=_REFUSALS,
    audience=Audience.SIGNED_IN,
)
_ADD = Operation(
    name="deposit_snapshot",
    section="project",
    summary="Deposit a snapshot in a repository",
    about=_OWNERS + "Starts a background task that creates a deposit at a site with the REST API of Zenodo and"
    " uploads the files. Nothing is published unless publish is true. It needs a licence and an author."
    " The token needs the scopes deposit:write and deposit:actions, is stored encrypted and is forgotten when the"
    " deposit is published or removed.",
    parameters=_NAMED,
    bodies={
        JSON: {
            "type": "object",
            "properties": {
                "url": {**_TEXT, "maxLength": MAX_URL, "description": f"Address of the site (default: {PUBLIC})."},
                "token": {**_TEXT, "maxLength": MAX_TOKEN, "description": "An access token of your account there."},
                "publish": {"type": "boolean"},
            },
            "required": ["token"],
            "additionalProperties": False,
        }
    },
    answer=_DEPOSIT,
    refusals=_CHANGES,
    audience=Audience.SIGNED_IN,
)
_UPDATE = Operation(
    name="continue_deposit",
    section="project",
    summary="Publish a deposit, or try again",
    about=_OWNERS + "Continues a deposit that failed, and publishes it if publish is true. This cannot be undone.",
    parameters=_NAMED,
    bodies={
        JSON: {
            "type": "object",
            "properties": {"publish": {"type": "boolean"}},
            "required": ["publish"],
            "additionalProperties": False,
        }
    },
    answer=_DEPOSIT,
    refusals=_CHANGES,
    audience=Audience.SIGNED_IN,
)
_DELETE = Operation(
    name="forget_deposit",
    section="project",
    summary="Forget a deposit",
    about=_OWNERS + "Removes the deposit and its token from this server. The repository keeps its files.",
    parameters=_NAMED,
    answer=None,
    refusals=_REFUSALS,
    audience=Audience.SIGNED_IN,
)


class DepositsApi:
    """/api/project/<id>/snapshots/<id>/deposit."""

    def __init__(self, deposits: Deposits) -> None:
        self._deposits = deposits

    def routes(self) -> Iterator[Route]:
        yield get(_AT, self.one, endpoint="snapshot", operation=_GET)
        yield post(_AT, self.add, endpoint="snapshot", operation=_ADD)
        yield Route("PUT", _AT, self.update, endpoint="snapshot", operation=_UPDATE)
        yield Route("DELETE", _AT, self.delete, endpoint="snapshot", operation=_DELETE)

    async def one(self, incoming: Incoming, object_id: int, snapshot_id: int) -> Response:
        deposit = await self._deposits.of(incoming.who, checked_id(object_id), checked_id(snapshot_id))
        return JsonResponse(_view(deposit))

    async def add(self, incoming: Incoming, object_id: int, snapshot_id: int) -> Response:
        body = _body(incoming.json_body(), ("url", "token", "publish"))
        url, token = _text(body, "url", PUBLIC), _text(body, "token", "")
        project_id, found_id = checked_id(object_id), checked_id(snapshot_id)
        publish = _flag(body, "publish")
        return JsonResponse(
            _view(await self._deposits.add(incoming.who, project_id, found_id, url, token, publish=publish))
        )

    async def update(self, incoming: Incoming, object_id: int, snapshot_id: int) -> Response:
        publish = _flag(_body(incoming.json_body(), ("publish",)), "publish")
        project_id, found_id = checked_id(object_id), checked_id(snapshot_id)
        return JsonResponse(_view(await self._deposits.go_on(incoming.who, project_id, found_id, publish=publish)))

    async def delete(self, incoming: Incoming, object_id: int, snapshot_id: int) -> Response:
        await self._deposits.delete(incoming.who, checked_id(object_id), checked_id(snapshot_id))
        return JsonResponse(None, 204)


def _view(deposit: DepositRow) -> Values:
    return outward_rows([deposit])[0]


def _body(body: object, names: tuple[str, ...]) -> Values:
    if not isinstance(body, dict):
        raise InvalidValueError("The body is not a JSON object.")
    for name in body:
        if name not in names:
            raise UnknownFieldError(f"Unknown attribute {str(name)[:100]}. Known attributes: {', '.join(names)}.")
    return body


def _text(body: Values, name: str, default: str) -> str:
    value = body.get(name, default)
    if not isinstance(value, str):
        raise InvalidValueError(f"{name} must be a text.")
    return clean_text(value)


def _flag(body: Values, name: str) -> bool:
    value = body.get(name, False)
    if not isinstance(value, bool):
        raise InvalidValueError(f"{name} must be true or false.")
    return value
