"""Hidden columns of tasks: what a statement reads, by who will see it (definitions 58)."""

from __future__ import annotations

from crowdd.kinds.kind import Kind
from crowdd.kinds.roles import OWNERS
from crowdd.kinds.task import TASK
from crowdd.storage.core import roles


def tasks(*, owns: bool) -> str:
    """The relation with the tasks as owners may read them, or as others may."""
    return "task" if owns else "public_task"


def source(kind: Kind, *, owns: bool) -> str:
    """The relation with the rows of a kind as owners may read them, or as others may."""
    return kind.source if owns or kind is not TASK else "public_task_record"


def info() -> str:
    """An expression: ``info`` of a task t of a project p as the requester may read it."""
    whole = f"p.hidden_columns IS NULL OR {roles.any_of(TASK, OWNERS)}"
    return f"(CASE WHEN {whole} THEN t.info ELSE without_keys(t.info, p.hidden_columns) END)"
