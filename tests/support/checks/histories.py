"""Times of the test clock, and what is asked with ``at``."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote


async def clock(served: Any) -> str:
    """The time as the interface says it."""
    ((row),) = await served.database.fetch("SELECT clock() AT TIME ZONE 'UTC' AS now")
    return str(row["now"].isoformat(timespec="microseconds"))


async def after(served: Any, while_: str = "1 second") -> str:
    """A time after all that has happened and before all that happens next."""
    step = "UPDATE clock_shift SET ahead = ahead + %(step)s::interval"
    await served.database.execute(step, {"step": while_})
    now = await clock(served)
    await served.database.execute(step, {"step": "1 second"})
    return now


def at(path: str, time: str) -> str:
    """The address of what there was at a time."""
    return f"{path}{'&' if '?' in path else '?'}at={quote(time)}"


async def answer(client: Any, project: dict[str, Any], task: int, info: Any = "fox") -> int:
    """The id of an answer of somebody to a task."""
    assert (await client.post(f"/api/task/{task}/lease", json={})).status == 200
    body = {"project_id": project["id"], "task_id": task, "info": info}
    made = await client.post("/api/taskrun", json=body)
    assert made.status == 200, made.text
    return int(made.json()["id"])
