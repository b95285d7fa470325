"""Rows of a project as snapshots have them: what everybody may read where answers are public, one JSON object per line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from crowdd.kinds.kind import Kind
from crowdd.kinds.result import RESULT
from crowdd.kinds.task import TASK
from crowdd.kinds.task_run import TASK_RUN
from crowdd.storage.transfer.exports import Chosen, Lines, json_lines, rows_of
from crowdd.storage.transfer.snapshot_rows import SnapshotProject

FIELDS: Final[dict[Kind, tuple[str, ...]]] = {
    TASK: ("id", "created", "info", "n_answers", "priority_0", "state", "closed"),
    TASK_RUN: ("id", "task_id", "info", "created", "finish_time", "timeout", "media_url"),
    RESULT: (
        "id", "task_id", "task_run_ids", "last_version", "created", "reason", "confidence", "posterior", "consensus", "info",
    ),
}  # fmt: skip
"""Attributes of rows, all of which everybody may read (a test compares them with the declarations)."""
_TIMES: Final = frozenset({"created", "finish_time"})
# While a project has gold tasks, only its owners see its snapshots; they need the true state.
_OF_TASKS: Final = {
    name: f"(SELECT r.{name} FROM task_record r WHERE r.project_id = t.project_id AND r.id = t.id)"
    for name in ("state", "closed")
}
_CODE: Final = (
    "CASE WHEN NOT EXISTS (SELECT FROM withdrawn_volunteer w WHERE w.project_id = t.project_id AND w.word = t.volunteer)"
    " THEN t.volunteer END"
)


def lines(kind: Kind, project: SnapshotProject, *, complete: bool) -> Lines:
    """The rows of a kind. Gold tasks, trial answers and what they did are left out.

    ``complete``: only answers to complete tasks and their results.
    """
    chosen = Chosen(project.id, complete=complete, ordinary=True)
    pairs = [f"'{name}', {_value(name)}" for name in FIELDS[kind] if not (kind is TASK and name in _OF_TASKS)]
    if kind is TASK:
        pairs += [f"'{name}', {value}" for name, value in _states(project)]
    if kind is TASK_RUN:
        pairs.append(f"'volunteer', {_CODE}")
    return json_lines(rows_of(kind, chosen), chosen, f"json_build_object({', '.join(pairs)})::text", b"\n")


def _states(project: SnapshotProject) -> Iterator[tuple[str, str]]:
    for name, of in _OF_TASKS.items():
        if project.trial:
            yield name, "'ongoing'" if name == "state" else "NULL"
        else:
            yield name, of if project.has_gold else f"t.{name}"


def _value(name: str) -> str:
    if name in _TIMES:
        return f"""to_char(t."{name}" AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')"""
    return f't."{name}"'
