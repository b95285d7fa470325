"""Where a project lives, as a server knows it: asked at home, and remembered for seconds."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Mapping
from functools import partial
from typing import Final

import attrs
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater

from crowdd.concurrency.batching import Batcher, BatcherFactory
from crowdd.errors import UnavailableError
from crowdd.kinds import KINDS
from crowdd.requester import Requester
from crowdd.storage.database import Database
from crowdd.storage.server.shards import locations
from crowdd.storage.server.shards.preparing import IDS_OF_A_SHARD
from crowdd.storage.server.shards.rows import AccountState, Place

HOME: Final = 0
QUEUE: Final = "queue"
"""The kind of background tasks."""

KNOWN_SECONDS: Final = 5.0
"""How long a server goes by what it was told. A move waits longer before it removes the rows that were moved."""

ARRIVAL_SECONDS: Final = 2.0
"""How long a request waits until a shard has the account that sends it."""

_NO_PROJECT: Final = 0  # as the id of a project
_MAX_KNOWN: Final = 20_000
_PAUSES: Final = (0.01, 0.02, 0.05, 0.1)


@attrs.frozen
class ProjectId:
    """A project by its id."""

    id: int


@attrs.frozen
class ShortName:
    """A project by its short name."""

    name: str


@attrs.frozen
class RowId:
    """The project of a row; ``kind`` is a key of KINDS, or QUEUE."""

    kind: str
    id: int


Reference = ProjectId | ShortName | RowId


class _Known:
    """Numbers for seconds after they were asked for; the oldest goes when there are too many."""

    def __init__(self, clock: IReactorTime) -> None:
        self._clock = clock
        self._kept: dict[Hashable, tuple[float, int]] = {}

    def get(self, key: Hashable) -> int | None:
        until, value = self._kept.get(key, (0.0, None))
        return value if until > self._clock.seconds() else None

    def keep(self, key: Hashable, value: int, asked: float) -> None:
        self._kept.pop(key, None)
        while len(self._kept) >= _MAX_KNOWN:
            del self._kept[next(iter(self._kept))]
        self._kept[key] = (asked + KNOWN_SECONDS, value)


class Locations:
    """Finds the database of a project. ``shards()`` are the databases by number, without home.

    Questions that come together are one statement, so that many requests for what does not exist cost little.
    """

    def __init__(
        self,
        clock: IReactorTime,
        new_batcher: BatcherFactory,
        home: Database,
        shards: Callable[[], Mapping[int, Database]],
    ) -> None:
        self._clock, self._new_batcher, self._home, self._shards = clock, new_batcher, home, shards
        self._by_id, self._by_name, self._of_row = _Known(clock), _Known(clock), _Known(clock)
        self._ids: Batcher[int, Place] = new_batcher(partial(locations.by_id, home))
        self._names: Batcher[str, int] = new_batcher(partial(locations.by_name, home))
        self._rows: dict[tuple[int, str], Batcher[int, int]] = {}

    def known(self, reference: Reference) -> int | None:
        """The number of the database, if it was asked for just now."""
        project = self._known_project(reference)
        return project if project in (None, _NO_PROJECT) else self._by_id.get(project)

    async def find(self, reference: Reference) -> int:
        """The number of the database; home for what does not exist. Raises UnavailableError."""
        project = self._known_project(reference)
        if project is None:
            project = await self._project(reference)
        if project == _NO_PROJECT:
            return HOME
        known = self._by_id.get(project)
        if known is None:
            asked = self._clock.seconds()
            known = (await self._ids.add(project)).shard
            self._by_id.keep(project, known, asked)
        return known

    def _known_project(self, reference: Reference) -> int | None:
        if isinstance(reference, ProjectId):
            return reference.id
        return self._by_name.get(reference) if isinstance(reference, ShortName) else self._of_row.get(reference)

    async def _project(self, reference: Reference) -> int:
        if isinstance(reference, ProjectId):
            return reference.id
        asked = self._clock.seconds()
        if isinstance(reference, ShortName):
            project_id = await self._names.add(reference.name)
            self._by_name.keep(reference, project_id, asked)  # none, too: a new project is at home
            return project_id
        project_id = await self._project_of_row(reference)
        if project_id != _NO_PROJECT:
            self._of_row.keep(reference, project_id, asked)
        return project_id

    async def _project_of_row(self, row: RowId) -> int:
        """Looks first where it was made: a row stays there unless its project was moved."""
        databases, made = {HOME: self._home, **self._shards()}, row.id // IDS_OF_A_SHARD
        for number in sorted(databases, key=lambda each: each != made):
            project_id = await self._asked_of(number, databases[number], row.kind).add(row.id)
            if project_id != _NO_PROJECT:
                return project_id
        return _NO_PROJECT

    def _asked_of(self, number: int, database: Database, kind: str) -> Batcher[int, int]:
        if (number, kind) not in self._rows:
            table = "queue_item" if kind == QUEUE else KINDS[kind].table
            self._rows[number, kind] = self._new_batcher(partial(locations.by_row, database, table))
        return self._rows[number, kind]


class AccountCopies:
    """Whether a shard has the account that sends a request as home knows it."""

    def __init__(self, clock: IReactorTime, new_batcher: BatcherFactory, shard: Database) -> None:
        self._clock = clock
        self._seen: dict[int, AccountState] = {}
        self._asked: Batcher[int, AccountState | None] = new_batcher(partial(locations.accounts, shard))

    async def require(self, who: Requester) -> None:
        """Waits for it. Raises UnavailableError when it takes too long."""
        if who.user_id is None:
            return
        state = AccountState(who.user_id, who.user_name, who.fullname, who.admin, who.locale)
        if self._seen.get(state.id) == state:
            return
        await self._arrive(state)
        while len(self._seen) >= _MAX_KNOWN:
            del self._seen[next(iter(self._seen))]
        self._seen[state.id] = state

    async def _arrive(self, state: AccountState) -> None:
        pauses, pause, end = iter(_PAUSES), 0.0, self._clock.seconds() + ARRIVAL_SECONDS
        while await self._asked.add(state.id) != state:
            if self._clock.seconds() >= end:
                raise UnavailableError(
                    "The database of this project has not received the last change of your account yet.", retry_after=1
                )
            pause = next(pauses, pause)
            await deferLater(self._clock, pause)


Arrived = Callable[[Requester], Awaitable[None]]
