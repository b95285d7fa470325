"""How far a batch is, as its page and its stream tell it."""

from __future__ import annotations

from typing import Literal, TypedDict

from crowdd.features.batches.rows import BatchFigures, BatchProgress
from crowdd.sched.queue import pace

State = Literal["open", "working", "stopped", "done"]
_MOVING = frozenset({"waiting", "running"})


class BatchState(TypedDict):
    """``open``: files may come; ``working``: they are being prepared; ``stopped``: they should be, and are not.

    ``files`` = ``added`` + ``present`` + ``refused`` + ``left``. ``left`` are those that have come and have not become
    anything yet; ``arriving`` files are not among them.
    """

    state: State
    closed: bool
    arriving: int
    files: int
    added: int
    present: int
    refused: int
    left: int
    tasks: int
    files_per_second: float | None
    seconds_left: int | None


def state_of(figures: BatchFigures, row: BatchProgress) -> BatchState:
    """The state of a batch."""
    now = pace(row)
    settled = figures.added + figures.present + figures.refused
    left = figures.waiting + figures.prepared
    return {
        "state": _state(figures, row),
        "closed": row.closed is not None,
        "arriving": figures.arriving,
        "files": settled + left,
        "added": figures.added,
        "present": figures.present,
        "refused": figures.refused,
        "left": left,
        "tasks": figures.tasks,
        "files_per_second": None if now.rate is None else round(now.rate, 1),
        "seconds_left": None if now.eta is None else round(now.eta),
    }


def _state(figures: BatchFigures, row: BatchProgress) -> State:
    if row.state in _MOVING:
        return "working"
    if any(getattr(figures, name) for name in unsettled(closed=row.closed is not None)):
        return "stopped"
    return "done" if row.closed else "open"


def unsettled(*, closed: bool) -> tuple[str, ...]:
    """The states of files with which something is to be done now: tasks are made when the batch is closed.

    Several files arrive at a time: only then it is known which name comes first.
    """
    return ("waiting", "prepared") if closed else ("waiting",)
