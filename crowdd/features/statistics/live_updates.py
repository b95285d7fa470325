"""Live updates of projects: who follows one, its state for everybody, and its events for owners."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Mapping
from contextlib import aclosing
from typing import Any

import attrs
import orjson
from twisted.internet.defer import Deferred, DeferredSemaphore, ensureDeferred
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater
from twisted.logger import Logger

from crowdd.core.change_notifier import ANY, ChangeNotifier
from crowdd.database.access import Database
from crowdd.features.projects.rows import ProjectPage, ProjectState
from crowdd.features.statistics import statements
from crowdd.http.edge.streams import SseConnection, event
from crowdd.http.errors import error_object
from crowdd.kernel.concurrency.throttling import Throttled
from crowdd.kernel.errors import CrowddError, UnavailableError
from crowdd.kernel.values import Values
from crowdd.kinds.types import iso
from crowdd.sched import event_statements
from crowdd.sched.event_statements import Event

log = Logger()


MAX_EVENTS = 200  # read at once


@attrs.frozen
class Live:
    """Reads what is told; who may hear it is asked before."""

    db: Database

    async def state(self, project_id: int) -> ProjectState | None:
        """What ``state_of`` and ``access`` are made of, or None when the project is gone."""
        return await statements.read_project_state(self.db, project_id)

    async def events(self, project: ProjectPage, after: int) -> list[Values]:
        """The next events of a project (its record) with a number above ``after``, at most MAX_EVENTS."""
        return [
            event_view(row, project["short_name"])
            for row in await event_statements.list_events_after(self.db, project["id"], after, MAX_EVENTS)
        ]

    async def last_event(self, project_id: int) -> int:
        """The number of the last event, 0 before the first."""
        return await event_statements.find_last_seq(self.db, project_id)


def state_of(row: ProjectState | ProjectPage) -> Values:
    """The state of a project as everybody who may see it is told."""
    last = row["last_activity_raw"]
    paused = row["first_published"] is not None and not row["published"]
    return {
        "status": "open" if row["published"] else "paused" if paused else "draft",
        "n_tasks": int(row["n_tasks"]),
        "n_completed_tasks": int(row["n_completed_tasks"]),
        "n_task_runs": int(row["n_task_runs"]),
        "n_volunteers": int(row["n_volunteers"]),
        "overall_progress": int(row["overall_progress"]),
        "last_activity": None if last is None else iso(last),
    }


def is_open(row: ProjectState | ProjectPage) -> bool:
    """Whether everybody may see the state: the project was published once and has no password."""
    return row["lock_id"] is None and row["draft_key"] is None


def access(row: ProjectState | ProjectPage) -> object:
    """What decides who may see the state: as long as it stays equal, nobody gains or loses by the project itself."""
    keys = row["lock_id"], row["draft_key"], tuple(row["owners_ids"])
    return row["short_name"], None if is_open(row) else keys


def event_view(row: Event, short_name: str) -> Values:
    """An event as owners are told, with the keys that webhooks have."""
    return {
        "event": row["kind"],
        "sequence": row["seq"],
        "fired_at": iso(row["at"]),
        "project_id": row["project_id"],
        "project_short_name": short_name,
        "task_id": row["task_id"],
        "result_id": row["result_id"],
        **row["data"],
    }


STATE_PAUSE = 0.5  # seconds between two reads of a project's state
EVENTS_PAUSE = 0.05  # seconds between two looks for events
LOOK_EVERY = 15  # seconds after which both are looked for though nobody rang
TOLD_AT_ONCE = 250  # some 5 ms
ReadState = Callable[[], Coroutine[Deferred[Any], Any, Mapping[str, object] | None]]
Ready = Callable[[], Coroutine[Deferred[Any], Any, bool]]
Batch = Callable[[], AsyncGenerator[bytes, None]]
"""Lines in parts that end with one."""
MAX_READS = 2  # at once, so that listeners never take the connections of those who work


class LiveState:
    """A project whose state somebody watches: one read for all of them, at most two a second."""

    def __init__(
        self, clock: IReactorTime, read: Callable[[], Awaitable[ProjectState | None]], row: ProjectPage
    ) -> None:
        self._clock, self._read, self._clients = clock, read, set[SseConnection]()
        self.project_id, self.short_name, self._open = row["id"], row["short_name"], is_open(row)
        self._access, self._event = access(row), event("state", state_of(row))
        self._throttled = Throttled(clock, self._look, STATE_PAUSE, LOOK_EVERY)
        self.ask = self._throttled.ask

    @property
    def open(self) -> bool:
        """Whether everybody may watch, for all that is known: no notification came that was not looked at."""
        return self._open and not self._throttled.due

    def join(self, client: SseConnection) -> None:
        """Tells the state now and whenever it changes."""
        self._clients.add(client)
        client.ready = lambda: client.send(self._event)  # what came while it was full is in here, too
        client.send(self._event)

    def leave(self, client: SseConnection) -> bool:
        """Whether nobody is left."""
        self._clients.discard(client)
        if not self._clients:
            self._throttled.stop()
        return not self._clients

    async def _look(self) -> None:
        row = await self._read()
        if row is None or access(row) != self._access:
            self._open = False
            for client in list(self._clients):
                client.end()  # who may still see it comes back
            return
        now = event("state", state_of(row))
        if now != self._event:
            self._event = now
            await self._tell(now)

    async def _tell(self, event: bytes) -> None:
        """In parts, so that thousands who watch hold nobody up who asks for something."""
        for number, client in enumerate(list(self._clients), 1):
            if not client.full:
                client.send(event)
            if number % TOLD_AT_ONCE == 0:
                await deferLater(self._clock, 0)


class EventFollower:
    """Follows the events of a project from a number on, as fast as the client reads them.

    Before it sends any, it asks whether the client may still listen.
    """

    def __init__(
        self,
        clock: IReactorTime,
        read: Callable[[int], Awaitable[list[Values]]],
        client: SseConnection,
        after: int,
    ) -> None:
        self._read, self._client, self._after = read, client, after
        self._throttled = Throttled(clock, self._look, EVENTS_PAUSE, LOOK_EVERY)
        self.ask, self.stop = self._throttled.ask, self._throttled.stop
        client.ready = self.ask

    async def _look(self) -> None:
        while not (self._client.full or self._client.ended):
            events = await self._read(self._after)
            if events and await self._client.may_listen():
                self._client.send(b"".join(event(one["event"], one, one["sequence"]) for one in events))
                self._after = events[-1]["sequence"]
            if len(events) < MAX_EVENTS:
                return


class ChangeFollower:
    """Sends a client the changes of a project in lines, as fast as the client reads them.

    A stream that cannot go on ends with an error object. What follows the last cursor comes again in the next stream.
    """

    def __init__(
        self, clock: IReactorTime, ready: Callable[[], Awaitable[bool]], batch: Batch, client: SseConnection
    ) -> None:
        self._ready, self._batch, self._client = ready, batch, client
        self._throttled = Throttled(clock, self._look, STATE_PAUSE, LOOK_EVERY)
        self._room: Deferred[None] | None = None
        self.ask = self._throttled.ask
        client.ready = self._go_on

    def stop(self) -> None:
        """The client has gone."""
        self._throttled.stop()
        self._go_on()

    def _go_on(self) -> None:
        room, self._room = self._room, None
        if room is not None:
            room.callback(None)

    async def _look(self) -> None:
        try:
            due = await self._ready()
        except UnavailableError:
            raise  # nothing new can be read until the database is back
        except CrowddError as error:
            self._end(error)
            return
        if due and not self._client.ended:
            try:
                await self._send()
            except CrowddError as error:
                self._end(error)
            except Exception:
                log.failure("could not send changes, stream closed")
                self._client.abort()

    def _end(self, error: CrowddError) -> None:
        self._client.end(orjson.dumps(error_object(error, "GET", "project")) + b"\n")

    async def _send(self) -> None:
        async with aclosing(self._batch()) as parts:
            async for part in parts:
                if self._client.full:
                    self._room = Deferred()
                    await self._room
                if self._client.ended:
                    return
                self._client.send(part)


class StateFollower:
    """Tells a client its state whenever it changes, if it may still listen.

    ``read`` gives None once there is nothing to tell of.
    """

    def __init__(self, clock: IReactorTime, read: ReadState, client: SseConnection) -> None:
        self._read, self._client, self._told = read, client, b""
        self._throttled = Throttled(clock, self._look, STATE_PAUSE, LOOK_EVERY)
        self.ask, self.stop = self._throttled.ask, self._throttled.stop
        client.ready = self.ask

    async def _look(self) -> None:
        state = await self._read()
        now = b"" if state is None else event("state", state)
        if not now:
            self._client.end()
        elif now != self._told and not self._client.full and await self._client.may_listen():
            self._told = now
            self._client.send(now)


class Broadcast:
    """All listeners of this process by project."""

    def __init__(self, clock: IReactorTime, live: Live, change_notifier: ChangeNotifier) -> None:
        self._clock, self._live = clock, live
        self._live_states: dict[int, LiveState] = {}
        self._names: dict[str, LiveState] = {}
        self._followers: dict[int, set[EventFollower | StateFollower | ChangeFollower]] = {}
        self._reads = DeferredSemaphore(MAX_READS)
        change_notifier.listen(self._changed)

    def watch(self, row: ProjectPage, client: SseConnection) -> Callable[[], None]:
        """Tells the client the state of a project, whose record the row is, until what is returned is called."""
        return self._join(self._live_states.get(row["id"]) or self._begin(row), client)

    def is_open(self, short_name: str) -> bool:
        """Whether somebody watches a project of that name, and everybody may: then nobody need be asked."""
        return short_name in self._names and self._names[short_name].open

    def watch_open(self, short_name: str, client: SseConnection) -> Callable[[], None]:
        """The same for a project that is open."""
        return self._join(self._names[short_name], client)

    def _begin(self, row: ProjectPage) -> LiveState:
        watched = LiveState(self._clock, lambda: self._state(row["id"]), row)
        self._live_states[watched.project_id] = self._names[watched.short_name] = watched
        watched.ask()  # for what happened since the row was read
        return watched

    def _join(self, watched: LiveState, client: SseConnection) -> Callable[[], None]:
        watched.join(client)

        def leave() -> None:
            if not watched.leave(client):
                return
            if self._live_states.get(watched.project_id) is watched:
                del self._live_states[watched.project_id]
            if self._names.get(watched.short_name) is watched:
                del self._names[watched.short_name]

        return leave

    def follow(self, row: ProjectPage, client: SseConnection, after: int) -> Callable[[], None]:
        """Sends the client every event of a project with a number above ``after``, until what is returned is called."""
        return self._enter(
            row["id"], EventFollower(self._clock, lambda number: self._events(row, number), client, after)
        )

    def follow_state(self, project_id: int, read: ReadState, client: SseConnection) -> Callable[[], None]:
        """Sends the client what ``read`` gives, now and whenever the project changes it, at most twice a second."""
        return self._enter(project_id, StateFollower(self._clock, lambda: self._read(read), client))

    def follow_changes(self, project_id: int, ready: Ready, batch: Batch, client: SseConnection) -> Callable[[], None]:
        """Sends the client the changes of a project in batches, at most two a second, whenever one is ``ready``.

        ``ready`` raises CrowddError when the client may not read them any more.
        """

        async def is_ready() -> bool:
            return await self._reads.run(lambda: ensureDeferred(ready()))

        return self._enter(project_id, ChangeFollower(self._clock, is_ready, batch, client))

    def _enter(self, project_id: int, follower: EventFollower | StateFollower | ChangeFollower) -> Callable[[], None]:
        self._followers.setdefault(project_id, set()).add(follower)
        follower.ask()

        def leave() -> None:
            follower.stop()
            self._followers[project_id].discard(follower)
            if not self._followers[project_id]:
                del self._followers[project_id]

        return leave

    def _changed(self, project_id: int) -> None:
        for changed in [*self._live_states, *self._followers] if project_id == ANY else [project_id]:
            if changed in self._live_states:
                self._live_states[changed].ask()
            for follower in self._followers.get(changed, ()):
                follower.ask()

    async def _state(self, project_id: int) -> ProjectState | None:
        return await self._reads.run(lambda: ensureDeferred(self._live.state(project_id)))

    async def _read(self, read: ReadState) -> Mapping[str, object] | None:
        return await self._reads.run(lambda: ensureDeferred(read()))

    async def _events(self, row: ProjectPage, after: int) -> list[Values]:
        return await self._reads.run(lambda: ensureDeferred(self._live.events(row, after)))
