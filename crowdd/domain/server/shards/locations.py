"""Where a project lives, as a server knows it: asked at home, and remembered for seconds."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Mapping
from functools import partial
from typing import Final, Generic, TypeVar

import attrs
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater

from crowdd.concurrency.batching import Batcher, BatcherFactory
from crowdd.errors import UnavailableError
from crowdd.kinds import KINDS
from crowdd.requester import Requester
from crowdd.storage.core import records
from crowdd.storage.database import Database
from crowdd.storage.server.shards import locations
from crowdd.storage.server.shards.preparing import IDS_OF_A_SHARD
from crowdd.storage.server.shards.rows import AccountState, Place

T = TypeVar("T")
HOME: Final = 0
QUEUE: Final = "queue"
"""The kind of background tasks."""

KNOWN_SECONDS: Final = 5.0
"""How long a server goes by what it was told. A move waits longer before it removes the rows that were moved."""

ARRIVAL_SECONDS: Final = 2.0
"""How long a request waits until a shard has the account that sends it."""

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


class _Known(Generic[T]):
    """Values for seconds; the oldest goes when there are too many."""

    def __init__(self, clock: IReactorTime, seconds: float) -> None:
        self._clock, self._seconds = clock, seconds
        self._kept: dict[Hashable, tuple[float, T]] = {}

    def get(self, key: Hashable) -> T | None:
        until, value = self._kept.get(key, (0.0, None))
        return value if until > self._clock.seconds() else None

    def keep(self, key: Hashable, value: T) -> None:
        self._kept.pop(key, None)
        while len(self._kept) >= _MAX_KNOWN:
            del self._kept[next(iter(self._kept))]
        self._kept[key] = (self._clock.seconds() + self._seconds, value)


class Locations:
    """Finds the database of a project. ``shards()`` are the databases by number, without home."""

    def __init__(
        self,
        clock: IReactorTime,
        new_batcher: BatcherFactory,
        home: Database,
        shards: Callable[[], Mapping[int, Database]],
    ) -> None:
        self._home, self._shards = home, shards
        self._by_id: _Known[int] = _Known(clock, KNOWN_SECONDS)
        self._by_name: _Known[int] = _Known(clock, KNOWN_SECONDS)
        self._of_row: _Known[int] = _Known(clock, KNOWN_SECONDS)
        self._asked: Batcher[int, Place] = new_batcher(partial(locations.by_id, home))

    def known(self, reference: Reference) -> int | None:
        """The number of the database, if it was asked for just now."""
        project = self._known_project(reference)
        return None if project is None else self._by_id.get(project)

    async def find(self, reference: Reference) -> int:
        """The number of the database; home for what does not exist. Raises UnavailableError."""
        project = self._known_project(reference)
        if project is None:
            project = await self._project(reference)
        if project is None:
            return HOME
        known = self._by_id.get(project)
        if known is None:
            known = (await self._asked.add(project)).shard
            self._by_id.keep(project, known)
        return known

    def _known_project(self, reference: Reference) -> int | None:
        if isinstance(reference, ProjectId):
            return reference.id
        return self._by_name.get(reference) if isinstance(reference, ShortName) else self._of_row.get(reference)

    async def _project(self, reference: Reference) -> int | None:
        if isinstance(reference, ShortName):
            found = await locations.id_of(self._home, reference.name)
            if found is not None:
                self._by_name.keep(reference, found)
            return found
        return await self._project_of_row(reference) if isinstance(reference, RowId) else reference.id

    async def _project_of_row(self, row: RowId) -> int | None:
        """Where it was made first: a row stays there unless its project was moved."""
        databases = {HOME: self._home, **self._shards()}
        made = row.id // IDS_OF_A_SHARD
        for number in sorted(databases, key=lambda each: each != made):
            if row.kind == QUEUE:
                found = await locations.project_of_task(databases[number], row.id)
            else:
                found = await records.project_of(databases[number], KINDS[row.kind], row.id)
            if found is not None:
                self._of_row.keep(row, found)
                return found
        return None


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
