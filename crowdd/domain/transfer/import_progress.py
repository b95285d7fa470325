"""How far an import is, as its page and its stream tell it."""

from __future__ import annotations

from typing import Final, TypedDict

from crowdd.domain.core.background_queue import pace
from crowdd.storage.transfer.rows import ImportProgress

MOVING: Final = frozenset({"reading", "waiting", "running"})
"""The states of an import that goes on by itself."""


class ImportState(TypedDict):
    """``done`` of ``total`` steps; a file that is read and added at once takes two steps for each row.

    ``left``: rows that are to be read (``reading``) or added; None while nobody knows how many there are.
    """

    state: str
    reading: bool
    rows: int
    added: int
    updated: int
    present: int
    refused: int
    left: int | None
    done: int
    total: int | None
    rows_per_second: int | None
    seconds_left: int | None


def state_of(row: ImportProgress) -> ImportState:
    """The state of an import."""
    now = pace(row)
    return {
        "state": row.import_state,
        "reading": row.reading,
        "rows": row.rows,
        "added": row.added,
        "updated": row.updated,
        "present": row.present,
        "refused": row.refused,
        "left": _left(row),
        "done": row.done,
        "total": row.total,
        "rows_per_second": None if now.rate is None else max(1, round(now.rate)),
        "seconds_left": None if now.eta is None else round(now.eta),
    }


def _left(row: ImportProgress) -> int | None:
    if not row.rows:
        return None
    over = row.done if row.reading else row.added + row.updated + row.present + row.refused
    return max(0, row.rows - over)
