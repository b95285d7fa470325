"""What those who watch a project are told: its state, and its events."""

from __future__ import annotations

import attrs

from crowdd.kinds.types import iso
from crowdd.storage.database import Database
from crowdd.storage.projects import live
from crowdd.storage.projects.figure_rows import ProjectState
from crowdd.storage.projects.rows import ProjectPage
from crowdd.storage.webhooks import events
from crowdd.storage.webhooks.rows import Event
from crowdd.values import Values

MAX_EVENTS = 200  # read at once


@attrs.frozen
class Live:
    """Reads what is told; who may hear it is asked before."""

    db: Database

    async def state(self, project_id: int) -> ProjectState | None:
        """What ``state_of`` and ``access`` are made of, or None when the project is gone."""
        return await live.state(self.db, project_id)

    async def events(self, project: ProjectPage, after: int) -> list[Values]:
        """The next events of a project (its record) with a number above ``after``, at most MAX_EVENTS."""
        return [
            event_view(row, project["short_name"])
            for row in await events.after(self.db, project["id"], after, MAX_EVENTS)
        ]

    async def last_event(self, project_id: int) -> int:
        """The number of the last event, 0 before the first."""
        return await events.last_seq(self.db, project_id)


def state_of(row: ProjectState | ProjectPage) -> Values:
    """The state of a project as everybody who may see it is told."""
    last = row["last_activity_raw"]
    paused = row["first_published"] is not None and not row["published"]
    return {
        "status": "open" if row["published"] else "paused" if paused else "draft",
        "n_tasks": int(row["n_tasks"]),
        "n_completed_tasks": int(row["n_completed_tasks"]),
        "n_task_runs": int(row["n_task_runs"]),
        "n_volunteers": int(row["n_volunteers"]),
        "overall_progress": int(row["overall_progress"]),
        "last_activity": None if last is None else iso(last),
    }


def is_open(row: ProjectState | ProjectPage) -> bool:
    """Whether everybody may see the state: the project was published once and has no password."""
    return row["lock_id"] is None and row["draft_key"] is None


def access(row: ProjectState | ProjectPage) -> object:
    """What decides who may see the state: as long as it stays equal, nobody gains or loses by the project itself."""
    keys = row["lock_id"], row["draft_key"], tuple(row["owners_ids"])
    return row["short_name"], None if is_open(row) else keys


def event_view(row: Event, short_name: str) -> Values:
    """An event as owners are told, with the keys that webhooks have."""
    return {
        "event": row["kind"],
        "sequence": row["seq"],
        "fired_at": iso(row["at"]),
        "project_id": row["project_id"],
        "project_short_name": short_name,
        "task_id": row["task_id"],
        "result_id": row["result_id"],
        **row["data"],
    }
