"""The figures of an import, what its owner has to decide by them, and its progress for page and stream. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, TypedDict

from crowdd.features.imports.reader import Chunk
from crowdd.features.imports.rows import ImportProgress, PendingImport
from crowdd.kernel.languages import _
from crowdd.kernel.values import Values
from crowdd.sched.queue import pace

MAX_ATOMIC_ROWS = 50_000  # rows of one transaction where the owner wants all or nothing
_FATES = {
    "no task": _("Its task has not been imported."),
    "other": _("Its volunteer has another answer to this task."),
    "open": _("Its task is not complete. Import its answers first."),
    "earlier": _("It is an earlier version. Only the last version of a result is imported."),
}


def figures() -> tuple[str, ...]:
    """What is counted of an import: rows = added + updated + present + refused; present has twice and kept."""
    return ("rows", "added", "updated", "present", "twice", "kept", "refused", "empty")


def tally(chunk: Chunk, fates: Sequence[str], refused: Sequence[object]) -> dict[str, int]:
    """The figures of a chunk whose rows have these fates."""
    n = Counter(fates)
    return {
        "rows": chunk.rows,
        "added": n["added"],
        "updated": n["updated"],
        "present": n["present"] + n["same"] + n["kept"] + chunk.twice,
        "twice": chunk.twice,
        "kept": n["kept"],
        "refused": len(refused),
        "empty": chunk.empty,
    }


def refusals(chunk: Chunk, fates: Sequence[str]) -> list[Values]:
    """The answers or results of a chunk that find no place, as refused rows."""
    return [
        {"line": each["line"], "reason": str(_FATES[fate]), "text": _ids(each)}
        for each, fate in zip(chunk.taken, fates, strict=True)
        if fate in _FATES
    ]


def _ids(taken: Mapping[str, object]) -> str:
    row_id = taken["run"] if "run" in taken else taken["result"]
    return f"task_id {taken['task']}" if row_id is None else f"id {row_id}, task_id {taken['task']}"


def undecided(row: PendingImport, on_error: str | None) -> str | None:
    """What the owner of an import that has been read has to say before it begins, as a sentence; None: nothing."""
    if row["check_error"]:
        return str(row["check_error"])
    if row["preview"] is None:
        return str(_("The file is still being read."))
    n, rows = row["preview"]["refused"], row["preview"]["rows"]
    if on_error == "stop" and n:
        return _("%(refused)s of %(rows)s rows are refused, so nothing is added.", refused=f"{n:,}", rows=f"{rows:,}")
    if on_error == "stop" and rows > MAX_ATOMIC_ROWS:
        return _("“All or nothing” works only for files of up to %(max)s rows.", max=f"{MAX_ATOMIC_ROWS:,}")
    if on_error is None and n:
        return _(
            "%(refused)s of %(rows)s rows are refused. Choose to skip them (`on_error=skip`), or correct the file.",
            refused=f"{n:,}",
            rows=f"{rows:,}",
        )
    return None


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
