"""/api/favorites (interface, special endpoints)."""

from __future__ import annotations

from collections.abc import Iterator

from crowdd.domain.domain import Domain
from crowdd.http.answers import Answer, Data
from crowdd.http.api.objects import small, tagged
from crowdd.http.incoming import Incoming
from crowdd.http.routing import Route, get, post


class FavouritesApi:
    """Listing, marking, unmarking."""

    def __init__(self, domain: Domain) -> None:
        self._favourites = domain.favourites

    def routes(self) -> Iterator[Route]:
        yield get("/api/favorites", self.list, endpoint="favorites")
        yield post("/api/favorites", self.add, endpoint="favorites")
        yield Route("DELETE", "/api/favorites/<int:task_id>", self.remove, endpoint="favorites")

    async def list(self, incoming: Incoming) -> Answer:
        return tagged(await self._favourites.list(incoming.who, incoming.query))

    async def add(self, incoming: Incoming) -> Answer:
        return Data(await self._favourites.add(incoming.who, incoming.json_body()))

    async def remove(self, incoming: Incoming, task_id: int) -> Answer:
        return Data(await self._favourites.remove(incoming.who, small(task_id)))
