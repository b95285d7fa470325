"""/api/queue: background tasks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypedDict

from crowdd.domain.core.background_queue import STATES, Queue
from crowdd.errors import AnonymousError, ConflictError, InvalidValueError, NotFoundError, UnknownFieldError
from crowdd.http import queries
from crowdd.http.api.objects import checked_id
from crowdd.http.operation import Audience, Link, Operation, Parameter, Schema, array_of, closed_object
from crowdd.http.request import Incoming
from crowdd.http.responses import JsonResponse, Response
from crowdd.http.routing import Route, get, post
from crowdd.kinds.kind import outward
from crowdd.kinds.types import Integer
from crowdd.values import Values

_SECTION = "queue"
_COUNT = Integer(minimum=0).schema()
_TEXT: Schema = {"type": "string"}


def _or_null(schema: Schema, doc: str) -> Schema:
    return {"anyOf": [schema, {"type": "null"}], "description": doc}


ITEM = closed_object(
    id=_COUNT,
    name={**_TEXT, "description": "Which work it is."},
    project_id=_or_null(_COUNT, "The project that it is about."),
    user_id=_or_null(_COUNT, "Who asked for it."),
    state={"enum": list(STATES), "description": "dead: given up after errors, and kept."},
    created=_TEXT,
    due={**_TEXT, "description": "While it waits: not begun before."},
    began=_or_null(_TEXT, "When the last attempt began."),
    ended=_or_null(_TEXT, "When it ended for good."),
    attempt={**_COUNT, "description": "How often it was begun."},
    done={**_COUNT, "description": "How far it is."},
    total=_or_null(_COUNT, "Out of how much."),
    result={"description": "What it left, where it says something."},
    error={**_TEXT, "description": "What went wrong last."},
    cancelling={"type": "boolean", "description": "It was asked to stop and has not done so yet."},
    rate=_or_null({"type": "number"}, "How much it does per second."),
    eta=_or_null({"type": "number"}, "Seconds to the end, if it goes on like that."),
)
_ID = Parameter("item_id", _COUNT, "The number of the item.", where="path")
_LIST = Operation(
    name="list_queue",
    section=_SECTION,
    summary="List the long work that you wait for",
    about="Yours and that of projects you own, the newest first; it is kept for two weeks after its end, for three"
    " months where it failed.",
    parameters=(
        Parameter("limit", _COUNT, f"How many, {queries.MAX_LIMIT} at most.", empty=True),
        Parameter("last_id", _COUNT, "Only items before this one (for the next page).", empty=True),
        Parameter("state", {"enum": list(STATES)}, "Only background tasks in this state."),
        Parameter("project_id", _COUNT, "Only what is about this project.", empty=True),
    ),
    answer=array_of(ITEM),
    refusals=(AnonymousError, InvalidValueError, UnknownFieldError),
    audience=Audience.SIGNED_IN,
    links=(Link("read_queue_item", {"item_id": "/0/id"}),),
)
_READ = Operation(
    name="read_queue_item",
    section=_SECTION,
    summary="See how far it is",
    parameters=(_ID,),
    answer=ITEM,
    refusals=(AnonymousError, NotFoundError),
    audience=Audience.SIGNED_IN,
)
_CANCEL = Operation(
    name="cancel_queue_item",
    section=_SECTION,
    summary="Stop",
    about="What waits is cancelled at once, what runs at its next step; what was done until then stays done.",
    parameters=(_ID,),
    answer=ITEM,
    refusals=(AnonymousError, NotFoundError, ConflictError),
    audience=Audience.SIGNED_IN,
)
_NAMES = {"limit", "last_id", "state", "project_id"}


class QueueApi:
    """Reading and cancelling. Other addresses start background tasks."""

    def __init__(self, queue: Queue) -> None:
        self._queue = queue

    def routes(self) -> Iterator[Route]:
        yield get("/api/queue", self.list, endpoint="queue", operation=_LIST)
        yield get("/api/queue/<int:item_id>", self.read, endpoint="queue", operation=_READ)
        yield post("/api/queue/<int:item_id>/cancel", self.cancel, endpoint="queue", operation=_CANCEL)

    async def list(self, incoming: Incoming) -> Response:
        found = await self._queue.list(incoming.who, **chosen(incoming.query))
        return JsonResponse([shown(item) for item in found])

    async def read(self, incoming: Incoming, item_id: int) -> Response:
        return JsonResponse(shown(await self._queue.get(incoming.who, checked_id(item_id))))

    async def cancel(self, incoming: Incoming, item_id: int) -> Response:
        return JsonResponse(shown(await self._queue.cancel(incoming.who, checked_id(item_id))))


class _Around(TypedDict, total=False):
    project_id: int
    before: int


class Filters(_Around):
    """The arguments of ``Queue.list``."""

    state: str | None
    limit: int


def chosen(query: dict[str, str]) -> Filters:
    """The filters of a query. Raises UnknownFieldError and InvalidValueError."""
    for name in query.keys() - _NAMES - queries.UNSPECIFIC:
        raise UnknownFieldError(f"Background tasks cannot be filtered by {name}.")
    state = query.get("state") or None
    if state is not None and state not in STATES:
        raise InvalidValueError(f"state must be one of {', '.join(STATES)}.")
    limit = queries.number(query.get("limit", ""), "limit", queries.DEFAULT_LIMIT)
    filters = Filters(state=state, limit=min(limit, queries.MAX_LIMIT))
    if query.get("project_id"):
        filters["project_id"] = queries.number(query["project_id"], "project_id", 0)
    if query.get("last_id"):
        filters["before"] = queries.number(query["last_id"], "before", 0)
    return filters


def shown(item: Values) -> Values:
    """A background task with times as the API writes them."""
    return {name: outward(value) for name, value in item.items()}
