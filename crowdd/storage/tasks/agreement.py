"""What the answers of completed tasks say together: comparing them again where that is due (definitions 27)."""

from __future__ import annotations

from crowdd.storage.database import Database, one

CHUNK = 100  # tasks, whose rows are locked for some 30 ms


async def due(db: Database) -> list[int]:
    """The ids of projects whose results are to be compared again: after an upgrade, or another key."""
    return [row["project_id"] for row in await db.fetch("SELECT project_id FROM agreement_due ORDER BY project_id")]


async def is_due(db: Database, project_id: int) -> bool:
    """Whether some results of a project are still compared by an old key, or not at all."""
    row = await one(
        db,
        "SELECT EXISTS (SELECT FROM agreement_due WHERE project_id = %(project)s) AS due",
        {"project": project_id},
    )
    return bool(row["due"])


async def compare(db: Database, project_id: int) -> int:
    """Compares the next results of a project that is due. How many; less than CHUNK when it may rest."""
    row = await one(
        db,
        "SELECT compare_results(%(project)s, %(maximum)s) AS n",
        {"project": project_id, "maximum": CHUNK},
    )
    return int(row["n"])


async def crowded(db: Database) -> list[int]:
    """The ids of projects in which the values counted together have doubled since those with a counter were chosen."""
    rows = await db.fetch("SELECT project_id FROM outcome_count WHERE kind = 'other' AND tasks >= due_at ORDER BY 1")
    return [row["project_id"] for row in rows]


async def choose_outcomes(db: Database, project_id: int) -> None:
    """Gives the most frequent values of a project counters of their own (definitions 51). Reads all its results."""
    await db.fetch("SELECT choose_outcomes(%(project)s)", {"project": project_id})
