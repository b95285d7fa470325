"""Watching a project: its state for everybody who may see it, its events for its owners."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator

import attrs

from crowdd.domain.projects.live_state import state_of
from crowdd.domain.server.services import Services
from crowdd.errors import InvalidValueError
from crowdd.http.auth.identity import Identity
from crowdd.http.live_updates import Broadcast
from crowdd.http.request import Incoming
from crowdd.http.responses import JsonResponse, Response, Stream
from crowdd.http.routing import Route, get
from crowdd.http.transport.streams import SseConnection, event
from crowdd.storage.projects.rows import ProjectPage
from crowdd.values import Requester

_MAX_DIGITS = 18


class LivePages:
    """``live`` and ``events`` of a project."""

    def __init__(self, services: Services, identity: Identity, broadcast: Broadcast) -> None:
        self._projects, self._live, self._identity = services.projects, services.live, identity
        self._broadcast = broadcast

    def routes(self) -> Iterator[Route]:
        yield get("/project/<short_name>/live", self.state, page=False)
        yield get("/project/<short_name>/events", self.events, page=False)

    async def state(self, incoming: Incoming, short_name: str) -> Response:
        """The state whenever it changes; once, as JSON, for who asks for that."""
        if self._broadcast.is_open(short_name) and not incoming.wants_json:
            return Stream(lambda client: self._broadcast.watch_open(short_name, client))
        row = await self._projects.page(short_name, incoming.who)
        if incoming.wants_json:
            return JsonResponse(state_of(row))

        def begin(client: SseConnection) -> Callable[[], None]:
            if row["lock_id"] is not None or row["draft_key"] is not None:
                client.judge = self._judge(incoming, lambda who: self._projects.page(short_name, who))
            return self._broadcast.watch(row, client)

        return Stream(begin)

    async def events(self, incoming: Incoming, short_name: str) -> Response:
        """Every event after the one that the client names, or from now on."""
        row = await self._projects.owned(short_name, incoming.who)
        named = position(incoming)
        after = await self._live.last_event(row["id"]) if named is None else named

        def begin(client: SseConnection) -> Callable[[], None]:
            client.judge = self._judge(incoming, lambda who: self._projects.owned(short_name, who))
            client.send(event("position", {"sequence": after}, after))
            return self._broadcast.follow(row, client, after)

        return Stream(begin)

    def _judge(
        self, incoming: Incoming, find: Callable[[Requester], Awaitable[ProjectPage]]
    ) -> Callable[[], Awaitable[None]]:
        """Raises when who asked may do so no longer: signed out, no owner any more, another password."""
        opened = incoming.who.unlocked if incoming.header("x-project-password") else ()  # X-Draft-Key is read again

        async def judge() -> None:
            who = await self._identity.find(incoming, renew=False)
            await find(attrs.evolve(who, unlocked=(*who.unlocked, *opened)))

        return judge


def position(incoming: Incoming) -> int | None:
    """The number after which a client wants events: what a browser says when it comes back, else ``after``."""
    text = incoming.header("last-event-id") or incoming.query.get("after", "")
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS):
        raise InvalidValueError("The position of an event must be a whole number.")
    return int(text)
