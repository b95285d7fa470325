"""/api/queue: background tasks."""

from __future__ import annotations

from collections.abc import Iterator

from crowdd.http import queries
from crowdd.http.api.objects import checked_id
from crowdd.http.operation import Audience, Link, Operation, Parameter, Schema, array_of, closed_object
from crowdd.http.request import Incoming
from crowdd.http.responses import JsonResponse, Response
from crowdd.http.routing import Route, get, post
from crowdd.kernel.errors import AnonymousError, ConflictError, InvalidValueError, NotFoundError, UnknownFieldError
from crowdd.kernel.values import Values
from crowdd.kinds.kind import outward
from crowdd.kinds.types import Integer
from crowdd.sched.queue import STATES, Queue
from crowdd.sched.rows import QueueFilter

_SECTION = "queue"
_COUNT = Integer(minimum=0).schema()
_TEXT: Schema = {"type": "string"}


def _or_null(schema: Schema, doc: str) -> Schema:
    return {"anyOf": [schema, {"type": "null"}], "description": doc}


ITEM = closed_object(
    id=_COUNT,
    name={**_TEXT, "description": "Type of the background task."},
    project_id=_or_null(_COUNT, "Id of its project."),
    user_id=_or_null(_COUNT, "Id of the account that started it."),
    state={"enum": list(STATES), "description": "dead: failed too often and is not retried."},
    created=_TEXT,
    due={**_TEXT, "description": "Time of the next attempt, while it waits."},
    began=_or_null(_TEXT, "Start of the last attempt."),
    ended=_or_null(_TEXT, "When it succeeded, failed or was cancelled."),
    attempt={**_COUNT, "description": "Number of attempts so far."},
    done={**_COUNT, "description": "Units of work that are done."},
    total=_or_null(_COUNT, "Units of work in total, if known."),
    result={"description": "Result of the background task, if it has one."},
    error={**_TEXT, "description": "Last error."},
    cancelling={"type": "boolean", "description": "Whether it has been cancelled but has not stopped yet."},
    rate=_or_null({"type": "number"}, "Units of work per second."),
    eta=_or_null({"type": "number"}, "Estimated seconds until it is done."),
)
_ID = Parameter("item_id", _COUNT, "Id of the background task.", where="path")
_LIST = Operation(
    name="list_queue",
    section=_SECTION,
    summary="List background tasks",
    about="Returns your background tasks and those of projects that you own, newest first. They are kept for two weeks"
    " after their end, failed ones for three months.",
    parameters=(
        Parameter("limit", _COUNT, f"Maximum number, up to {queries.MAX_LIMIT}.", empty=True),
        Parameter("last_id", _COUNT, "Only background tasks before this one (for the next page).", empty=True),
        Parameter("state", {"enum": list(STATES)}, "Only background tasks in this state."),
        Parameter("project_id", _COUNT, "Only background tasks of this project.", empty=True),
    ),
    answer=array_of(ITEM),
    refusals=(AnonymousError, InvalidValueError, UnknownFieldError),
    audience=Audience.SIGNED_IN,
    links=(Link("read_queue_item", {"item_id": "/0/id"}),),
)
_READ = Operation(
    name="read_queue_item",
    section=_SECTION,
    summary="Read a background task",
    parameters=(_ID,),
    answer=ITEM,
    refusals=(AnonymousError, NotFoundError),
    audience=Audience.SIGNED_IN,
)
_CANCEL = Operation(
    name="cancel_queue_item",
    section=_SECTION,
    summary="Cancel a background task",
    about="A waiting background task is cancelled at once, a running one at its next step. Finished steps are kept.",
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
        queued_tasks = await self._queue.list(incoming.who, wanted(incoming.query))
        return JsonResponse([shown(item) for item in queued_tasks])

    async def read(self, incoming: Incoming, item_id: int) -> Response:
        return JsonResponse(shown(await self._queue.get(incoming.who, checked_id(item_id))))

    async def cancel(self, incoming: Incoming, item_id: int) -> Response:
        return JsonResponse(shown(await self._queue.cancel(incoming.who, checked_id(item_id))))


def wanted(query: dict[str, str]) -> QueueFilter:
    """The filter of a query. Raises UnknownFieldError and InvalidValueError."""
    for name in query.keys() - _NAMES - queries.UNSPECIFIC:
        raise UnknownFieldError(f"Background tasks cannot be filtered by {name}.")
    state = query.get("state") or None
    if state is not None and state not in STATES:
        raise InvalidValueError(f"state must be one of {', '.join(STATES)}.")
    limit = queries.parse_number(query.get("limit", ""), "limit", queries.DEFAULT_LIMIT)
    return QueueFilter(
        state=state,
        limit=min(limit, queries.MAX_LIMIT),
        project_id=_number(query, "project_id", "project_id"),
        before=_number(query, "last_id", "before"),
    )


def _number(query: dict[str, str], name: str, what: str) -> int | None:
    return queries.parse_number(query[name], what, 0) if query.get(name) else None


def shown(item: Values) -> Values:
    """A background task with times as the API writes them."""
    return {name: outward(value) for name, value in item.items()}
