"""/api/favorites (interface: favorites)."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from crowdd.features.community.favourites import Favourites
from crowdd.features.tasks.contributions import Contributions
from crowdd.http.api import operations
from crowdd.http.api.objects import checked_id, listed, tagged
from crowdd.http.operation import Audience, Operation, Parameter, reference
from crowdd.http.request import Incoming
from crowdd.http.responses import JsonResponse, Response
from crowdd.http.routing import Route, get, post
from crowdd.kernel.errors import AnonymousError, NotFoundError, TooLargeError
from crowdd.kinds.body import Body, key
from crowdd.kinds.task import TASK
from crowdd.kinds.types import Integer

_SECTION = "favourites"
_LIST = attrs.evolve(
    operations.listing(TASK),
    name="list_favourites",
    section=_SECTION,
    summary="List your favourite tasks",
    about="Takes the same parameters as a list of tasks.",
    refusals=(AnonymousError,),
    audience=Audience.SIGNED_IN,
)
_ADD = Operation(
    name="add_favourite",
    section=_SECTION,
    summary="Add a task to your favourites",
    answer=reference("Task"),
    refusals=(AnonymousError, NotFoundError, TooLargeError),
    audience=Audience.SIGNED_IN,
)
_REMOVE = Operation(
    name="remove_favourite",
    section=_SECTION,
    summary="Remove a task from your favourites",
    parameters=(Parameter("task_id", Integer(minimum=0).schema(), "Id of the task.", where="path"),),
    answer=reference("Task"),
    refusals=(AnonymousError, NotFoundError),
    audience=Audience.SIGNED_IN,
)


class FavouriteBody(Body):
    """A task that becomes a favourite."""

    task_id: int = key(TASK.field("id").type, "Id of the task.")


class FavouritesApi:
    """/api/favorites and /api/favorites/<task_id>."""

    def __init__(self, favourites: Favourites, contributions: Contributions) -> None:
        self._favourites, self._contributions = favourites, contributions

    def routes(self) -> Iterator[Route]:
        yield get("/api/favorites", self.list, endpoint="favorites", operation=_LIST)
        yield post("/api/favorites", self.add, endpoint="favorites", operation=_ADD, body=FavouriteBody)
        yield Route("DELETE", "/api/favorites/<int:task_id>", self.remove, endpoint="favorites", operation=_REMOVE)

    async def list(self, incoming: Incoming) -> Response:
        query = await listed(TASK, incoming, self._contributions)
        return tagged(await self._favourites.list(query, incoming.who))

    async def add(self, incoming: Incoming, body: FavouriteBody) -> Response:
        return JsonResponse(await self._favourites.add(incoming.who, body.task_id))

    async def remove(self, incoming: Incoming, task_id: int) -> Response:
        return JsonResponse(await self._favourites.remove(incoming.who, checked_id(task_id)))
