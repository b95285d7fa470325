"""Live updates of a project: its state for all who may see it, its events and the progress of work for its owners."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, Protocol

from crowdd.features.projects.projects import Projects
from crowdd.features.projects.rows import ProjectPage
from crowdd.features.signin.identity import Identity
from crowdd.features.statistics.live_updates import Broadcast, Live, is_open, state_of
from crowdd.http.edge.streams import SseConnection, event
from crowdd.http.request import Incoming
from crowdd.http.responses import JsonResponse, Response, Stream
from crowdd.http.routing import Route, get
from crowdd.kernel.errors import NOT_FOUND, InvalidValueError, NotFoundError
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import parse_number


class LivePages:
    """``live`` and ``events`` of a project."""

    def __init__(self, projects: Projects, live: Live, identity: Identity, broadcast: Broadcast) -> None:
        self._projects, self._live, self._identity, self._broadcast = projects, live, identity, broadcast

    def routes(self) -> Iterator[Route]:
        yield get("/project/<short_name>/live", self.state, page=False)
        yield get("/project/<short_name>/events", self.events, page=False)

    async def state(self, incoming: Incoming, short_name: str) -> Response:
        """A stream of the state, sent whenever it changes. Clients that want JSON get the state once."""
        if self._broadcast.is_open(short_name) and not incoming.wants_json:
            return Stream(lambda client: self._broadcast.watch_open(short_name, client))
        row = await self._projects.page(short_name, incoming.who)
        if incoming.wants_json:
            return JsonResponse(state_of(row))

        def begin(client: SseConnection) -> Callable[[], None]:
            if not is_open(row):
                client.judge = _judge(self._identity, incoming, lambda who: self._projects.page(short_name, who))
            return self._broadcast.watch(row, client)

        return Stream(begin)

    async def events(self, incoming: Incoming, short_name: str) -> Response:
        """A stream of the events after the one that the client names, or from now on."""
        row = await self._projects.owned(short_name, incoming.who)
        named = position(incoming)
        after = await self._live.last_event(row["id"]) if named is None else named

        def begin(client: SseConnection) -> Callable[[], None]:
            client.judge = _judge(self._identity, incoming, lambda who: self._projects.owned(short_name, who))
            client.send(event("position", {"sequence": after}, after))
            return self._broadcast.follow(row, client, after)

        return Stream(begin)


class Work(Protocol):
    """Work on a project that says how far it is: imports, batches of media."""

    async def progress(self, row: ProjectPage, work_id: int, /) -> Mapping[str, Any] | None:
        """How far it is, for owners of the project; None when it has been removed."""
        ...


class LiveProgress:
    """``live`` of an import (``kind`` import) or of a batch of media (media)."""

    def __init__(self, kind: str, projects: Projects, work: Work, identity: Identity, broadcast: Broadcast) -> None:
        self._kind, self._projects, self._work = kind, projects, work
        self._identity, self._broadcast = identity, broadcast

    def routes(self) -> Iterator[Route]:
        yield get(f"/project/<short_name>/tasks/{self._kind}/<int:work_id>/live", self.state, page=False)

    async def state(self, incoming: Incoming, short_name: str, work_id: int) -> Response:
        """A stream of how far it is. Clients that want JSON get the state once."""
        row = await self._projects.owned(short_name, incoming.who)
        state = await self._work.progress(row, work_id)
        if state is None:
            raise NotFoundError(NOT_FOUND)
        if incoming.wants_json:
            return JsonResponse(state)

        def begin(client: SseConnection) -> Callable[[], None]:
            client.judge = _judge(self._identity, incoming, lambda who: self._projects.owned(short_name, who))
            return self._broadcast.follow_state(row["id"], lambda: self._work.progress(row, work_id), client)

        return Stream(begin)


def _judge(
    identity: Identity, incoming: Incoming, find: Callable[[Requester], Awaitable[ProjectPage]]
) -> Callable[[], Awaitable[None]]:
    """A check that raises once the requester may no longer listen: signed out, not an owner, password changed."""

    async def judge() -> None:
        await find(await identity.find_again(incoming))

    return judge


def position(incoming: Incoming) -> int | None:
    """The number after which a client wants events: ``Last-Event-ID`` of a reconnecting browser, else ``after``."""
    text = incoming.header("last-event-id") or incoming.query.get("after", "")
    if not text:
        return None
    if (number := parse_number(text)) is None:
        raise InvalidValueError("The position of an event must be a whole number.")
    return number
