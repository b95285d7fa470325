"""What changed since a cursor (record 30): the cursor, and the lines that follow it."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Final, Self

import attrs
import orjson

from crowdd.database.access import Database
from crowdd.features.exports import table_statements
from crowdd.features.exports.statements import Chosen, Lines
from crowdd.features.exports.table_statements import START_POSITION, Feed
from crowdd.kernel.errors import ForbiddenError, InvalidValueError, OutdatedError
from crowdd.kinds.kind import Kind
from crowdd.kinds.result import RESULT
from crowdd.kinds.task import TASK
from crowdd.kinds.task_run import TASK_RUN

KINDS: Final = (TASK_RUN, TASK, RESULT)
"""Kinds that can be followed."""
NOT_FOLLOWED: Final = ("fav_user_ids",)
"""Attributes whose changes have no position."""
MAX_CURSOR: Final = 100  # characters
_OWN, _PUBLIC = "o", "p"
_ERA = 40  # bits: so much is added to positions when the database moves
_FORM = re.compile(rf"(?P<kind>[a-z_]+)-(?P<audience>[{_OWN}{_PUBLIC}])(?P<epoch>\d{{1,9}})-(?P<position>\d{{1,18}})")
WriteLines = Callable[[Lines], Awaitable[int]]
"""Writes lines; returns how many there were."""


@attrs.frozen
class Cursor:
    """A place in the changes of a kind in a project; the first one is before all of them.

    ``owns``: its rows were shown to an owner. ``epoch``: as ``Feed``.
    """

    kind: Kind
    owns: bool
    epoch: int = 0
    position: int = START_POSITION

    @classmethod
    def parse(cls, text: str, kind: Kind, *, owns: bool) -> Self:
        """The cursor that a text is; the first one if it is empty. ``kind`` and ``owns`` are what is asked for now.

        Raises InvalidValueError if it is none or of another kind, OutdatedError if it was made with other rights.
        """
        if not text:
            return cls(kind, owns)
        match = _FORM.fullmatch(text) if len(text) <= MAX_CURSOR and text.isascii() else None
        if match is None or match["kind"] != kind.table:
            raise InvalidValueError(f"since must be a cursor of {kind.table}, or empty to begin a copy.")
        if match["audience"] != (_OWN if owns else _PUBLIC):
            raise OutdatedError("The cursor was made with other rights.")
        return cls(kind, owns, int(match["epoch"]), int(match["position"]))

    def __str__(self) -> str:
        return f"{self.kind.table}-{_OWN if self.owns else _PUBLIC}{self.epoch}-{self.position}"

    def require(self, feed: Feed) -> None:
        """Passes if the changes behind it are all there. Raises OutdatedError otherwise."""
        if self.position == START_POSITION:
            return
        if self.epoch != feed.epoch:
            raise OutdatedError("All rows look different since the cursor was made.")
        if self.position < feed.pruned:
            raise OutdatedError("The cursor is older than the deletions that are kept.")
        if self.position >= feed.horizon or not _exists(self.position, feed):
            raise OutdatedError("The cursor is ahead of the data: the database was restored.")

    def moved(self, feed: Feed, last: int | None) -> Self:
        """The cursor behind the changes of a feed up to ``last``, a position; None: there were none."""
        position = max(self.position, feed.pruned, last or 0)
        return attrs.evolve(self, epoch=feed.epoch, position=position)


def _exists(position: int, feed: Feed) -> bool:
    """Whether the database has ever been at a position; what it had before it moved may not have moved with it."""
    era = position >> _ERA
    return era == feed.base >> _ERA or (era == feed.moved >> _ERA and position <= feed.moved)


def require_followed(kind: Kind, chosen: Chosen, *, plain: bool) -> None:
    """Passes for rows whose changes can be followed; ``plain``: as lines of the objects of ``/api``.

    Raises InvalidValueError, ForbiddenError.
    """
    if kind not in KINDS:
        raise InvalidValueError(f"since requires type={', '.join(known.table for known in KINDS)}.")
    if not plain:
        raise InvalidValueError("since requires format=ndjson, without info, rows and analysis.")
    if chosen.named is not None or chosen.volunteer:
        raise InvalidValueError("since requires all rows: leave out task_ids and volunteer.")
    if chosen.complete:
        raise ForbiddenError("Only owners can follow a project whose answers become public with their task.")


async def has_any(db: Database, cursor: Cursor, project_id: int) -> bool:
    """Whether anything follows a cursor. Raises OutdatedError."""
    feed = await table_statements.read_feed(db, project_id, cursor.kind.table)
    cursor.require(feed)
    return (
        await table_statements.find_last_change(db, project_id, cursor.kind.table, cursor.position, feed.horizon)
        is not None
    )


async def write(
    tx: Database, cursor: Cursor, chosen: Chosen, rows: Callable[[Chosen], Lines], write_lines: WriteLines
) -> bytes:
    """Writes what follows a cursor, deletions first: a row may have come back under its id. Returns the last line.

    The transaction sees one moment. ``rows`` makes the lines of rows. Raises OutdatedError before anything is written.
    """
    feed = await table_statements.read_feed(tx, chosen.project_id, cursor.kind.table)
    cursor.require(feed)
    last = await table_statements.find_last_change(
        tx, chosen.project_id, cursor.kind.table, cursor.position, feed.horizon
    )
    n = 0
    if last is not None:
        window = attrs.evolve(chosen, changed=(cursor.position, last + 1))
        lines = rows(window)
        if cursor.position != START_POSITION:  # a new copy has nothing that was deleted
            lines = lines.behind(table_statements.select_tombstones(cursor.kind.table, window))
        n = await write_lines(lines)
    line = orjson.dumps({"cursor": str(cursor.moved(feed, last))})
    return (b"\n" if n else b"") + line + b"\n"
