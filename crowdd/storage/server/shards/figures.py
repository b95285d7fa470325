"""What shards tell home of their projects and people."""

from __future__ import annotations

from collections.abc import Sequence

from crowdd.storage.database import Database, as_json, fetch_rows, one
from crowdd.storage.server.shards.rows import Card, Place, Score

HOURS = 72
"""Hours of a project's activity that are told again with each change."""


async def be_the_only_one(shard: Database) -> None:
    """In a transaction on the shard: waits until nobody else tells home of its projects, and keeps others waiting."""
    await shard.fetch("SELECT pg_advisory_xact_lock(hashtextextended('tell_home', 0))")


async def changed(shard: Database, maximum: int) -> list[Card]:
    """The next projects whose rows or figures home does not know."""
    return await fetch_rows(
        shard,
        Card,
        "SELECT project_id, project::text, figures::text, card"
        " FROM changed_cards(clock() - make_interval(hours => %(hours)s), %(maximum)s)",
        {"hours": HOURS, "maximum": maximum},
    )


async def take(home: Database, number: int, card: Card) -> bool:
    """In a transaction at home: keeps what was told; False for a project that does not live there."""
    values = {"shard": number, "id": card.project_id, "card": as_json(card.card)}
    return bool((await one(home, "SELECT take_card(%(shard)s, %(id)s, %(card)s) AS taken", values))["taken"])


async def was_told(shard: Database, cards: Sequence[Card]) -> None:
    """Home has these."""
    await shard.execute(
        "INSERT INTO told_project (project_id, project, figures)"
        " SELECT id, project::xid, figures::xid FROM unnest(%(ids)s::bigint[], %(projects)s::text[], %(figures)s::text[]) u(id, project, figures)"
        " ON CONFLICT (project_id) DO UPDATE SET project = excluded.project, figures = excluded.figures",
        {
            "ids": [card.project_id for card in cards],
            "projects": [card.project for card in cards],
            "figures": [card.figures for card in cards],
        },
    )


async def changed_scores(shard: Database, maximum: int) -> list[Score]:
    """The next people who have given more or fewer answers than home knows."""
    return await fetch_rows(
        shard,
        Score,
        "SELECT coalesce(s.user_id, t.user_id) AS user_id, coalesce(s.runs, 0)::bigint AS runs"
        " FROM person_stat s FULL JOIN told_score t ON t.user_id = s.user_id"
        " WHERE coalesce(s.runs, 0) <> coalesce(t.runs, 0) ORDER BY 1 LIMIT %(maximum)s",
        {"maximum": maximum},
    )


async def take_scores(home: Database, number: int, scores: Sequence[Score]) -> None:
    """Keeps how many answers people have given on a shard."""
    await home.fetch(
        "SELECT take_scores(%(shard)s, %(users)s, %(runs)s)",
        {"shard": number, "users": [each.user_id for each in scores], "runs": [each.runs for each in scores]},
    )


async def scores_were_told(shard: Database, scores: Sequence[Score]) -> None:
    """Home has these."""
    await shard.execute(
        "INSERT INTO told_score (user_id, runs) SELECT * FROM unnest(%(users)s::bigint[], %(runs)s::bigint[])"
        " ON CONFLICT (user_id) DO UPDATE SET runs = excluded.runs",
        {"users": [each.user_id for each in scores], "runs": [each.runs for each in scores]},
    )


async def placed(home: Database, number: int, after: int, maximum: int) -> list[Place]:
    """The next projects that live on a shard and are not being moved."""
    return await fetch_rows(
        home,
        Place,
        "SELECT project_id, shard FROM project_place p WHERE shard = %(number)s AND project_id > %(after)s"
        " AND NOT EXISTS (SELECT FROM project_move m WHERE m.project_id = p.project_id) ORDER BY project_id LIMIT %(maximum)s",
        {"number": number, "after": after, "maximum": maximum},
    )


async def gone(shard: Database, project_ids: Sequence[int]) -> list[int]:
    """Those of the projects that a shard does not have."""
    rows = await shard.fetch(
        "SELECT id FROM unnest(%(ids)s::bigint[]) id WHERE NOT EXISTS (SELECT FROM project p WHERE p.id = id.id)",
        {"ids": [*project_ids]},
    )
    return [int(row["id"]) for row in rows]


async def drop_card(home: Database, number: int, project_id: int) -> None:
    """In a transaction: the project was deleted on the shard where it lived, and lives nowhere else by now."""
    await home.fetch(
        "SELECT drop_card(project_id) FROM project_place WHERE project_id = %(id)s AND shard = %(number)s"
        " AND NOT EXISTS (SELECT FROM project_move WHERE project_id = %(id)s) FOR UPDATE",
        {"id": project_id, "number": number},
    )
