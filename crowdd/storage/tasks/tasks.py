"""Tasks: their wide rows and their ledger change together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from crowdd.errors import NotFoundError
from crowdd.storage.database import Database, as_json, one, one_or_none

_IN_LEDGER = frozenset({"n_answers", "priority_0"})


async def add(db: Database, project_id: int, tasks: Sequence[Mapping[str, object]]) -> list[int]:
    """The ids of new tasks (info, n_answers, priority_0, quorum, calibration each), in the order given.

    Raises NotFoundError when the project has been deleted meanwhile.
    """
    row = await one(
        db, "SELECT add_tasks(%(project)s, %(tasks)s, clock()) AS ids", {"project": project_id, "tasks": as_json(tasks)}
    )
    if row["ids"] is None:
        raise NotFoundError("The project has been deleted.")
    return list(row["ids"])


async def lock(db: Database, task_id: int) -> None:
    """Holds the ledger row of a task, which comes before everything else about it, and that of its project before."""
    await db.fetch(
        "SELECT FROM project_ledger WHERE project_id = (SELECT project_id FROM task WHERE id = %(id)s) FOR NO KEY UPDATE",
        {"id": task_id},
    )
    await db.fetch(
        "SELECT FROM task_ledger WHERE (project_id, task_id) = (SELECT project_id, id FROM task WHERE id = %(id)s) FOR UPDATE",
        {"id": task_id},
    )


async def change(db: Database, project_id: int, task_id: int, changes: Mapping[str, object]) -> None:
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


async def project_of(db: Database, task_id: int) -> int | None:
    """The project of a task: the one look-up of a task without its project."""
    row = await one_or_none(db, "SELECT project_id FROM task WHERE id = %(id)s", {"id": task_id})
    return row["project_id"] if row else None


async def has_any(db: Database, project_id: int) -> bool:
    """Whether the project has a task."""
    rows = await db.fetch("SELECT FROM task WHERE project_id = %(id)s ORDER BY id LIMIT 1", {"id": project_id})
    return bool(rows)


async def hold_imports(db: Database, project_id: int, *, gold: bool = False) -> int:
    """Makes others who add tasks wait until the transaction ends, and says how many the project has had so far.

    ``gold``: some may come with their right answers. Raises NotFoundError when there is no such project.
    """
    if gold:  # the project first: it will be marked as one that has gold tasks
        await db.fetch("SELECT FROM project WHERE id = %(id)s FOR NO KEY UPDATE", {"id": project_id})
    row = await one_or_none(
        db, "SELECT n_ordinals FROM project_ledger WHERE project_id = %(id)s FOR UPDATE", {"id": project_id}
    )
    if row is None:
        raise NotFoundError("The project has been deleted.")
    return int(row["n_ordinals"])


async def digests(db: Database, project_id: int) -> Counter[str]:
    """How many tasks of the project have each digest: that of ``info`` as PostgreSQL writes it."""
    rows = await db.fetch(
        "SELECT md5(info::text) AS digest, count(*) AS n FROM task WHERE project_id = %(id)s GROUP BY 1",
        {"id": project_id},
    )
    return Counter({row["digest"]: row["n"] for row in rows})


async def digests_of(db: Database, infos: Sequence[object]) -> list[str]:
    """The digests of values as tasks with this ``info`` would have them, in order."""
    rows = await db.fetch(
        "SELECT md5(e::text) AS digest FROM jsonb_array_elements(%(infos)s) WITH ORDINALITY u(e, o) ORDER BY o",
        {"infos": as_json(infos)},
    )
    return [row["digest"] for row in rows]
