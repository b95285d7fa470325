"""REST on every kind: list, read, create, change, delete (interface: record-list, record-create)."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Hashable, Iterator, Mapping
from functools import partial
from typing import Any, Final

import orjson

from crowdd.core.quotas import Once, parse_idempotency_key
from crowdd.core.records.listing_statements import Query
from crowdd.core.records.records import Records, RecordTexts, Views
from crowdd.core.site import Viewpoint
from crowdd.core.uploads import Upload, WithUpload
from crowdd.http import queries
from crowdd.http.api import operations
from crowdd.http.auth.cookies import bearer_token
from crowdd.http.edge.headers import etag, etag_of, prefers_next, require_match
from crowdd.http.interfaces import Contributions, Statistics
from crowdd.http.queries import PastObjects
from crowdd.http.request import Incoming
from crowdd.http.responses import JsonResponse, Response
from crowdd.http.routing import Route, get, post
from crowdd.kernel import exact_json
from crowdd.kernel.concurrency.cache import Cache
from crowdd.kernel.errors import NotFoundError
from crowdd.kernel.requester import Requester
from crowdd.kinds import KINDS
from crowdd.kinds.kind import Kind
from crowdd.kinds.project import PROJECT
from crowdd.kinds.project_statistics import PROJECT_STATISTICS
from crowdd.kinds.types import Json

_MAX_ID = 2**63 - 1
KEPT_SECONDS: Final = 5.0  # that a response is sent again while nothing is committed
MAX_KEPT_BYTES: Final = 4_000_000
_ONE_ID: Final = re.compile(r"[0-9]{1,18}")
_ACTIONS: Final[Mapping[str, str]] = {"prediction": "predict"}
"""What creating a row of a kind is to tokens, where it is not just writing."""
_OVERHEAD = 1000  # bytes beside those of a text


class Objects:
    """The same five operations for each kind."""

    def __init__(
        self,
        records: Records,
        texts: RecordTexts,
        contributions: Contributions,
        statistics: Statistics,
        responses: Cache[JsonResponse],
        past: PastObjects,
    ) -> None:
        """``responses`` is for what several requesters want at the same time."""
        self._parts = records, texts, contributions, statistics, responses, past

    def routes(self) -> Iterator[Route]:
        """/api/<kind> and /api/<kind>/<id>."""
        for kind in KINDS.values():
            yield from _Kind(kind, *self._parts).routes()


class _Kind:
    def __init__(
        self,
        kind: Kind,
        records: Records,
        texts: RecordTexts,
        contributions: Contributions,
        statistics: Statistics,
        responses: Cache[JsonResponse],
        past: PastObjects,
    ) -> None:
        self._kind, self._records, self._texts, self._responses = kind, records, texts, responses
        self._contributions, self._statistics, self._past = contributions, statistics, past
        self._also = queries.CONTROL_OF.get(kind.name, frozenset()) - {"external_uid"}

    def routes(self) -> Iterator[Route]:
        kind, name, methods = self._kind, self._kind.name, self._kind.methods
        rows, row = f"/api/{name}", f"/api/{name}/<int:object_id>"
        yield get(rows, self.list, endpoint=name, operation=operations.listing(kind), hot=True)
        yield get(row, self.read, endpoint=name, operation=operations.reading(kind), hot=True)
        if "POST" in methods:
            answers = name == "taskrun"
            create, action = (self.submit, "answer") if answers else (self.create, _ACTIONS.get(name, ""))
            doc = operations.creating(kind)
            admits = self.admit_answers if answers else self.admit_creator
            yield post(
                rows, create, endpoint=name, operation=doc, hot=answers, action=action, by_role=True, admits=admits
            )
        if "PUT" in methods:
            doc = operations.changing(kind)
            yield Route("PUT", row, self.change, endpoint=name, operation=doc, admits=self.admit_changer)
        if "DELETE" in methods:
            doc = operations.deleting(kind)
            yield Route("DELETE", row, self.delete, endpoint=name, operation=doc, admits=self.admit_deleter)

    async def list(self, incoming: Incoming) -> Response:
        if queries.asks_past(self._kind.name, incoming.query):
            return tagged(await self._past.list(self._kind.name, incoming.who, incoming.query))
        query = await listed(self._kind, incoming, self._contributions)
        if not self._brings_more(incoming):
            seen = await self._viewpoint(incoming)
            key = self._texts.list_key(query, seen.who)
            return await self._shared(key, seen, partial(self._list_text, query, seen.who))
        listing = self._records.list_related if incoming.query.get("related") else self._records.list
        views = await listing(query, incoming.who)
        if self._kind == PROJECT and incoming.query.get("stats"):
            await self._statistics.bring_along(incoming.who, views)
        return tagged(await self._in_full(incoming, views))

    async def read(self, incoming: Incoming, object_id: int) -> Response:
        if queries.asks_past(self._kind.name, incoming.query):
            past_view = await self._past.get(self._kind.name, incoming.who, checked_id(object_id), incoming.query)
            return tagged(past_view)
        if not self._brings_more(incoming):
            row_id, seen = checked_id(object_id), await self._viewpoint(incoming)
            key = self._texts.row_key(self._kind, seen.who, row_id)
            return await self._shared(key, seen, partial(self._row_text, seen.who, row_id))
        view = await self._records.get(self._kind, incoming.who, checked_id(object_id))
        return tagged((await self._in_full(incoming, [view]))[0])

    async def _viewpoint(self, incoming: Incoming) -> Viewpoint:
        return await self._texts.viewpoint(self._kind, incoming.who, again=bool(incoming.header("if-none-match")))

    async def _shared(
        self, key: Hashable | None, seen: Viewpoint, make: Callable[[], Awaitable[JsonResponse]]
    ) -> JsonResponse:
        """A response that is made once for those who ask at the same time, and while nothing is committed."""
        return await (make() if key is None else self._responses.get(key, make, seen.moment, fresh=True))

    async def _list_text(self, query: Query, who: Requester) -> JsonResponse:
        return tagged_list(await self._texts.list(query, who))

    async def _row_text(self, who: Requester, row_id: int) -> JsonResponse:
        return tagged_text(await self._texts.get(self._kind, who, row_id))

    def _brings_more(self, incoming: Incoming) -> bool:
        """Whether a word of the query asks for what belongs to the rows, too."""
        return any(incoming.query.get(word) for word in ("related", *self._also))

    async def _in_full(self, incoming: Incoming, views: Views) -> Views:
        """The views. Statistics with ``full`` also get the figures of two weeks."""
        if self._kind == PROJECT_STATISTICS and incoming.query.get("full"):
            await self._statistics.fill(views)
        return views

    async def admit_creator(self, incoming: Incoming) -> None:
        """Passes for those who may create such rows (``Route.admits``)."""
        await self._records.require_creator(self._kind, incoming.who, incoming.numbers_after("project_id"))

    async def admit_changer(self, incoming: Incoming, object_id: int) -> None:
        """Passes for those who may change the row."""
        await self._records.require_role(self._kind, incoming.who, checked_id(object_id), self._kind.rights.update)

    async def admit_deleter(self, incoming: Incoming, object_id: int) -> None:
        """Passes for those who may delete the row."""
        await self._records.require_role(self._kind, incoming.who, checked_id(object_id), self._kind.rights.delete)

    async def admit_answers(self, incoming: Incoming) -> None:
        """Passes for a volunteer who asked for a task that the body names."""
        uid = incoming.query.get("external_uid")
        await self._contributions.require_asker(incoming.who, uid, incoming.numbers_after("task_id"))

    async def create(self, incoming: Incoming) -> Response:
        queries.require_known(self._kind, incoming.query)
        body, upload = self._body(incoming)
        return JsonResponse(await self._records.create(self._kind, incoming.who, body, upload, _once(incoming)))

    async def submit(self, incoming: Incoming) -> Response:
        """Stores an answer. It needs a lease, so it does not go through ``Records``."""
        queries.require_known(self._kind, incoming.query)
        uid = incoming.query.get("external_uid")
        bearer, once = bearer_token(incoming), _once(incoming, uid)
        body = self._with_upload(incoming) if incoming.content_type == "multipart/form-data" else incoming.json_body()
        submit = partial(self._contributions.submit, incoming.who, body, uid, bearer, once)
        made = await submit(brings_next=prefers_next(incoming.header("prefer")))
        return JsonResponse(made, headers={"Preference-Applied": "next"} if "next_task" in made else {})

    async def change(self, incoming: Incoming, object_id: int) -> Response:
        queries.require_known(self._kind, incoming.query)
        body, upload = self._body(incoming)
        match = partial(require_match, incoming.header("if-match"))
        changed = await self._records.change(self._kind, incoming.who, checked_id(object_id), body, upload, match)
        return tagged(changed)

    def _body(self, incoming: Incoming) -> tuple[Any, Upload | None]:
        """A JSON body, or the fields and the file of a multipart one."""
        if not (self._kind.files and incoming.content_type == "multipart/form-data"):
            return incoming.json_body(), None
        sent = self._with_upload(incoming)
        return sent.attributes, sent.upload

    def _with_upload(self, incoming: Incoming) -> WithUpload:
        upload = incoming.upload("file")
        if upload is None:
            raise self._kind.unknown("file")
        return WithUpload({name: self._from_form(name, value) for name, value in incoming.form.items()}, upload)

    def _from_form(self, name: str, value: Any) -> Any:
        """A field of a form; JSON attributes come as JSON text."""
        field = self._kind.by_name.get(name)
        return field.from_text(value) if field and isinstance(field.type, Json) else value

    async def delete(self, incoming: Incoming, object_id: int) -> Response:
        queries.require_known(self._kind, incoming.query)
        await self._records.delete(self._kind, incoming.who, checked_id(object_id))
        return JsonResponse(None, 204)


async def listed(kind: Kind, incoming: Incoming, contributions: Contributions) -> Query:
    """The list that a request asks for. With ``participated``, it may name an external user; see ``identify``."""
    uid = incoming.query.get("external_uid")
    if uid is None or not queries.asks_participated(kind, incoming.query):
        return queries.parse_query(kind, incoming.query, incoming.who)
    text = incoming.query.get("project_id", "")
    project_id = int(text) if _ONE_ID.fullmatch(text) else None
    volunteer = await contributions.identify(incoming.who, project_id, uid, bearer_token(incoming), reads=True)
    return queries.parse_query(kind, incoming.query, incoming.who, volunteer)


def tagged(value: object) -> JsonResponse:
    """The value with its ETag. A list is serialised only once."""
    if isinstance(value, list):
        return tagged_list(orjson.dumps(value))
    return JsonResponse(value, headers={"ETag": etag(value)})


def tagged_list(text: str | bytes) -> JsonResponse:
    """A list as JSON with its ETag."""
    text = text.encode() if isinstance(text, str) else text
    return JsonResponse(text, headers={"ETag": etag_of(text)})


def tagged_text(text: str) -> JsonResponse:
    """An object as JSON with the ETag that ``tagged`` gives its value."""
    return JsonResponse(text.encode(), headers={"ETag": etag(exact_json.stored(text))})


def kept_size(answer: JsonResponse) -> int:
    """Bytes of a response that is kept."""
    return len(answer.json()) + _OVERHEAD


def _once(incoming: Incoming, uid: str | None = None) -> Once | None:
    caller = f"{incoming.who.actor} {uid}" if uid is not None else incoming.who.actor
    return parse_idempotency_key(caller, incoming.path, incoming.header("idempotency-key"), incoming.raw_body)


def checked_id(object_id: int) -> int:
    """An id that PostgreSQL can hold; what is larger does not exist."""
    if object_id > _MAX_ID:
        raise NotFoundError("404 Not Found")
    return object_id
