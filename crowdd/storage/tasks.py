"""Tasks: their wide rows and their ledger change together."""

from __future__ import annotations

from typing import Any

from crowdd.storage.database import Database, Row, as_json, one, one_or_none

_IN_LEDGER = frozenset({"n_answers", "priority_0"})


async def add(db: Database, project_id: int, tasks: list[dict[str, Any]]) -> list[int]:
    """The ids of new tasks (info, n_answers, priority_0, quorum, calibration each), in the order given."""
    row = await one(
        db, "SELECT add_tasks(%(project)s, %(tasks)s, clock()) AS ids", {"project": project_id, "tasks": as_json(tasks)}
    )
    return list(row["ids"])


async def lock(db: Database, task_id: int) -> None:
    """Holds the ledger row of a task, which comes before everything else about it."""
    await db.fetch(
        "SELECT FROM task_ledger WHERE (project_id, task_id) = (SELECT project_id, id FROM task WHERE id = %(id)s) FOR UPDATE",
        {"id": task_id},
    )


async def change(db: Database, project_id: int, task_id: int, changes: dict[str, Any]) -> None:
    """Writes changed attributes where each belongs; completion follows n_answers at once."""
    here = {"project": project_id, "task": task_id, "tasks": [task_id]}
    if "n_answers" in changes:
        await db.fetch(
            "SELECT set_redundancy(%(project)s, %(tasks)s, %(n)s, clock())", {**here, "n": changes["n_answers"]}
        )
    if "priority_0" in changes:
        await db.fetch(
            "SELECT set_priority(%(project)s, %(tasks)s, %(priority)s)", {**here, "priority": changes["priority_0"]}
        )
    wide = {name: as_json(v) if name == "info" else v for name, v in changes.items() if name not in _IN_LEDGER}
    if wide:
        sets = ", ".join(f"{name} = %({name})s" for name in wide)
        await db.execute(f"UPDATE task SET {sets} WHERE project_id = %(project)s AND id = %(task)s", {**here, **wide})


async def delete(db: Database, project_id: int, task_ids: list[int]) -> int:
    """Deletes tasks with their answers and results."""
    row = await one(
        db, "SELECT delete_tasks(%(project)s, %(tasks)s, clock()) AS n", {"project": project_id, "tasks": task_ids}
    )
    return int(row["n"])


async def project_of(db: Database, task_id: int) -> int | None:
    """The project of a task: the one look-up of a task without its project."""
    row = await one_or_none(db, "SELECT project_id FROM task WHERE id = %(id)s", {"id": task_id})
    return row["project_id"] if row else None


async def any_of(db: Database, project_id: int) -> Row | None:
    """Some task of the project: whether it has one at all."""
    return await one_or_none(
        db, "SELECT id FROM task WHERE project_id = %(id)s ORDER BY id LIMIT 1", {"id": project_id}
    )
