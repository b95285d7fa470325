"""Moves a paused project to another database.

Nothing is lost and there are never two copies in use, wherever it stops: the map at home names one database at any
moment, and the same call finishes what was begun, or begins again (record 235).
"""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

import attrs

from crowdd.config import Settings
from crowdd.domain.server.shards.locations import HOME, KNOWN_SECONDS
from crowdd.errors import ConfigError, ConflictError, NotFoundError, UnavailableError
from crowdd.storage.server.shards import moving
from crowdd.storage.server.shards.moving import Session, Underway

WAIT_SECONDS: Final = KNOWN_SECONDS + 25.0
"""So long a request may be on its way to the old place: a server goes by what it knows, then the request waits for a
connection, then for its statement. Until then changes there are refused. Later they would meet what is left at home.
"""

_ARRIVAL_SECONDS: Final = 10.0


@attrs.frozen
class Side:
    """One of the two databases: its number, its connection string, and the data folder of servers for it."""

    number: int
    name: str
    dsn: str
    folder: Path


def sides_of(settings: Settings, home: Session) -> dict[int, Side]:
    """Home and the shards that were added, by number, with connections as the roles that own the tables."""
    numbers, folder = moving.numbers(home), settings.data.dir
    sides = {HOME: Side(HOME, "home", settings.db.migrate_dsn or settings.db.dsn, folder)}
    for name, dsn in settings.db.shards:
        if name in numbers:
            sides[numbers[name]] = Side(numbers[name], name, dsn, folder / "shards" / name)
    return sides


def move_named(settings: Settings, project: str, target: str, grace: float = WAIT_SECONDS) -> Moved | None:
    """As ``Mover.move``, for the short name or id of a project and the name of a shard or "home".

    ``grace``: seconds before the rows at the old place go.

    Raises NotFoundError and ConfigError, too.
    """
    home = Session(settings.db.migrate_dsn or settings.db.dsn)
    try:
        sides = sides_of(settings, home)
        project_id = moving.project_of(home, project)
    finally:
        home.close()
    if project_id is None:
        raise NotFoundError(f"Project {project} does not exist.")
    number = next((side.number for side in sides.values() if side.name == target), None)
    if number is None:
        raise ConfigError(f"[db] shards has no shard {target} that was added. Run: crowdctl shards list")
    return Mover(sides, grace).move(project_id, number)


@attrs.frozen
class Moved:
    """What was moved. ``seconds``: how long changes of the project were refused."""

    rows: Mapping[str, int]
    seconds: float


@attrs.frozen
class Mover:
    """``sides`` are home and the shards by number. ``wait`` waits so many seconds."""

    sides: Mapping[int, Side]
    grace: float = WAIT_SECONDS
    wait: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic

    def move(self, project_id: int, target: int) -> Moved | None:
        """Moves it, or finishes a move that was begun; None if the project lives there already.

        Raises ConflictError with what is in the way, UnavailableError and ConfigError. Then the project is where it
        was, or the same call finishes the move.
        """
        with self._session(HOME) as home:
            if not moving.hold(home, project_id):
                raise ConflictError("Somebody else is moving this project.")
            begun = moving.underway(home, project_id)
            if begun is not None and begun.target != target:
                name = self.sides[begun.target].name
                raise ConflictError(f"The project is being moved to {name}. Finish that first.")
            here = moving.place(home, project_id)
            if begun is None and here == target:
                return None
            begun = begun or Underway(here, target, False)
            with self._session(begun.source) as source:
                return self._carry_out(home, source, project_id, begun)

    @contextlib.contextmanager
    def _session(self, number: int) -> Iterator[Session]:
        session = Session(self.sides[number].dsn)
        try:
            yield session
        finally:
            session.close()

    def _carry_out(self, home: Session, source: Session, project_id: int, move: Underway) -> Moved:
        rows: dict[str, int] = {}
        began = self.clock()
        if not move.switched:
            with self._session(move.target) as target:
                rows = self._copy(home, source, target, project_id, move)
        seconds = self.clock() - began
        self.wait(self.grace)
        source.work_unseen()
        with source.transaction():
            moving.leave(source, project_id, home=move.source == HOME)
        moving.release(source, project_id)
        moving.end(home, project_id)
        shutil.rmtree(self._files(move.source, project_id), ignore_errors=True)
        return Moved(rows, seconds)

    def _copy(self, home: Session, source: Session, target: Session, project_id: int, move: Underway) -> dict[str, int]:
        """Up to the moment from which the project lives at the target. Before it, the source has all of it."""
        self._require_possible(source, target, project_id)
        target.work_unseen()
        if moving.underway(home, project_id) is None:
            moving.begin(home, project_id, move.source, move.target)
        moving.guard(source, project_id)
        try:
            source.work_unseen()
            self._require_possible(source, target, project_id)  # by now nobody can change it
            moving.settle(source, project_id)
            self._copy_files(project_id, move)
            with target.transaction():
                rows = self._copied(source, target, project_id)
                if move.target == HOME:
                    moving.switch(target, project_id, move.target)
            if move.target != HOME:
                with home.transaction():
                    moving.switch(home, project_id, move.target)
        except Exception:
            if not self._is_switched(home, project_id):
                moving.release(source, project_id)
                moving.end(home, project_id)
            raise
        return rows

    def _copied(self, source: Session, target: Session, project_id: int) -> dict[str, int]:
        with source.transaction(one_snapshot=True):
            base = moving.change_base(source)
            sums_by_table = moving.copy(source, target, project_id)
        if moving.sums(target, project_id) != sums_by_table:
            raise ConflictError("The copy differs from the project. Nothing was moved.")
        moving.adapt(target, project_id, base)
        return {table: table_sum.rows for table, table_sum in sums_by_table.items() if table_sum.rows}

    def _is_switched(self, home: Session, project_id: int) -> bool:
        """Whether it is, as far as can be told; when home does not answer, the next call looks."""
        try:
            begun = moving.underway(home, project_id)
        except Exception:
            return True
        return begun is None or begun.switched

    def _require_possible(self, source: Session, target: Session, project_id: int) -> None:
        words = moving.obstacle(source, project_id)
        if words:
            raise ConflictError(words)
        if moving.shape(source) != moving.shape(target):
            raise ConflictError("The databases are of different versions. Run: crowdctl db upgrade")
        if moving.too_late(source, target, project_id):
            raise ConflictError(
                "The project has rows whose ids are larger than those that the other database gives next.",
                hint="Projects move to shards with a higher number only, once they have rows of their own.",
            )
        end = self.clock() + _ARRIVAL_SECONDS
        while moving.lacks_accounts(source, target):
            if self.clock() >= end:
                raise UnavailableError("The other database has not received all accounts. Run: crowdctl shards check")
            self.wait(0.1)

    def _files(self, number: int, project_id: int) -> Path:
        return self.sides[number].folder / "uploads" / f"project-{project_id}"

    def _copy_files(self, project_id: int, move: Underway) -> None:
        source, target = self._files(move.source, project_id), self._files(move.target, project_id)
        if source.is_dir():
            shutil.rmtree(target, ignore_errors=True)
            # Made now, so that the job that removes what no row names leaves them until the rows are there.
            shutil.copytree(source, target, copy_function=shutil.copy)
