"""Links between the actors of one person (`tasks/23_same_person.sql`)."""

from __future__ import annotations

from crowdd.database.access import Database, fetch_rows, one
from crowdd.features.accounts.rows import ActorLink, Answered


async def link(db: Database, actor: str, other: str) -> None:
    """Links an account with the volunteer of a browser, in all projects."""
    await db.fetch("SELECT link_actors(%(actor)s, %(other)s, 0, clock())", {"actor": actor, "other": other})


async def due(db: Database, maximum: int) -> list[ActorLink]:
    """Links whose double answers are to be looked for now."""
    return await fetch_rows(
        db, ActorLink, "SELECT actor, other, project_id, due::text FROM due_links(%(maximum)s)", {"maximum": maximum}
    )


async def answered_twice(db: Database, actors: ActorLink, maximum: int) -> list[Answered]:
    """Tasks to which both have given answers of which neither is set aside, in the order of their projects."""
    return await fetch_rows(
        db,
        Answered,
        "SELECT * FROM answered_twice(%(actor)s, %(other)s, %(project)s, %(maximum)s)",
        {**_values(actors), "maximum": maximum},
    )


async def keep_earlier(db: Database, actors: ActorLink, project_id: int, task_ids: list[int]) -> int:
    """Sets the later of both answers to each of these tasks aside for good; how many."""
    row = await one(
        db,
        "SELECT keep_earlier(%(in)s, %(tasks)s::bigint[], %(actor)s, %(other)s, clock()) AS n",
        {**_values(actors), "in": project_id, "tasks": task_ids},
    )
    return int(row["n"])


async def settled(db: Database, actors: ActorLink) -> None:
    """Notes that the double answers of a link have been looked for."""
    await db.fetch(
        "SELECT link_settled(%(actor)s, %(other)s, %(project)s, %(due)s)", _values(actors) | {"due": actors.due}
    )


def _values(actors: ActorLink) -> dict[str, object]:
    return {"actor": actors.actor, "other": actors.other, "project": actors.project_id}
