"""SQL of groups (`community/82_groups.sql`)."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from crowdd.core.records import statements as record_statements
from crowdd.database.access import Database, fetch_each, fetch_row, fetch_row_or_none, fetch_rows
from crowdd.features.groups.rows import (
    BoardMember,
    Count,
    GroupRow,
    GuestNetwork,
    JoinedGroup,
    KnownGuest,
    ListedGroup,
    MemberHours,
    MemberRow,
    Membership,
    OpenGroup,
)
from crowdd.kernel.values import Values

KEPT_DAYS = 30
"""For so long a group that has ended is still there for its owner."""

_MAX_TIMED = 5000  # newest answers of a member whose time is added up


@attrs.frozen
class NewMember:
    """A new member: an account, or a guest with the hash of their number."""

    name: str
    actor: str
    user_id: int | None
    number_hash: bytes | None = attrs.field(repr=False)


async def find_networks(db: Database, pairs: Sequence[tuple[str, int]]) -> list[GuestNetwork | None]:
    """For each pair of a guest and a project the network that they are in there; None for those in no group."""
    actors, projects = [actor for actor, _ in pairs], [project for _, project in pairs]
    sql = "SELECT * FROM networks_of_guests(%(actors)s::text[], %(projects)s::bigint[])"
    return await fetch_each(db, GuestNetwork, sql, {"actors": actors, "projects": projects})


async def lock_groups(db: Database, user_id: int) -> None:
    """Makes others wait who add a group to an account, until the transaction ends."""
    await db.fetch("SELECT pg_advisory_xact_lock(hashtextextended('groups', %(user)s))", {"user": user_id})


async def list_groups(db: Database, user_id: int) -> list[ListedGroup]:
    """The groups that an account made, the newest first."""
    return await fetch_rows(
        db,
        ListedGroup,
        "SELECT g.id, g.name, g.size, g.last_day, group_lasts(g.last_day, clock()) AS lasts,"
        " (SELECT count(*) FROM group_member m WHERE m.group_id = g.id)::int AS n_members"
        " FROM volunteer_group g WHERE g.owner_id = %(user)s ORDER BY g.id DESC",
        {"user": user_id},
    )


async def list_joined(db: Database, user_id: int, maximum: int) -> list[JoinedGroup]:
    """The groups that an account is a member of, and its answers in them, the newest first."""
    return await fetch_rows(
        db,
        JoinedGroup,
        "SELECT g.id, g.name, g.last_day, greatest(coalesce(a.answers, 0) - m.answers_before, 0) AS answers"
        " FROM group_member m JOIN volunteer_group g ON g.id = m.group_id AND group_lasts(g.last_day, clock())"
        " LEFT JOIN answers_of(ARRAY['u:' || %(user)s]) a ON true WHERE m.user_id = %(user)s ORDER BY g.id DESC LIMIT %(maximum)s",
        {"user": user_id, "maximum": maximum},
    )


async def insert_group(db: Database, user_id: int, values: Values) -> int | None:
    """The id of a new group; None when its code is taken."""
    row = await fetch_row_or_none(
        db,
        Count,
        "INSERT INTO volunteer_group (owner_id, created, name, size, last_day, code)"
        " VALUES (%(user)s, clock(), %(name)s, %(size)s, %(last_day)s, %(code)s) ON CONFLICT (code) DO NOTHING RETURNING id AS n",
        {"user": user_id, **values},
    )
    return None if row is None else row["n"]


async def find_group(db: Database, user_id: int, group_id: int) -> GroupRow | None:
    """A group of its owner."""
    return await fetch_row_or_none(
        db,
        GroupRow,
        "SELECT id, name, size, last_day, group_lasts(last_day, clock()) AS lasts, code, shows_names, ranks"
        " FROM volunteer_group WHERE id = %(group)s AND owner_id = %(user)s",
        {"user": user_id, "group": group_id},
    )


async def update_group(db: Database, user_id: int, group_id: int, values: Values) -> bool:
    """Changes a group of its owner; False when there is none, or its size would be too small for its members."""
    sql = (
        "UPDATE volunteer_group SET name = %(name)s, size = %(size)s, last_day = %(last_day)s, shows_names = %(shows_names)s, ranks = %(ranks)s"
        " WHERE id = %(group)s AND owner_id = %(user)s"
        " AND NOT EXISTS (SELECT FROM group_member m WHERE m.group_id = %(group)s AND m.seat >= %(size)s)"
    )
    return await db.execute(sql, {"user": user_id, "group": group_id, **values}) > 0


async def set_code(db: Database, user_id: int, group_id: int, code: str | None) -> bool:
    """Gives a group another code, or none; False when there is no such group, or the code is taken."""
    sql = (
        "UPDATE volunteer_group SET code = %(code)s WHERE id = %(group)s AND owner_id = %(user)s"
        " AND NOT EXISTS (SELECT FROM volunteer_group o WHERE o.code = %(code)s)"
    )
    return await db.execute(sql, {"user": user_id, "group": group_id, "code": code}) > 0


async def delete_group(db: Database, user_id: int, group_id: int) -> bool:
    """Deletes a group with its members; False when there is none."""
    sql = "DELETE FROM volunteer_group WHERE id = %(group)s AND owner_id = %(user)s"
    return await db.execute(sql, {"user": user_id, "group": group_id}) > 0


async def list_members(db: Database, user_id: int, group_id: int) -> list[MemberRow]:
    """The members of a group, for its owner."""
    return await fetch_rows(
        db,
        MemberRow,
        "SELECT m.* FROM volunteer_group g, members_of(g.id) m WHERE g.id = %(group)s AND g.owner_id = %(user)s",
        {"user": user_id, "group": group_id},
    )


async def list_board(db: Database, user_id: int, group_id: int) -> list[BoardMember]:
    """The members of a group with what their answers are worth, for its owner."""
    return await fetch_rows(
        db,
        BoardMember,
        "SELECT m.* FROM volunteer_group g, time_of_members(g.id) m WHERE g.id = %(group)s AND g.owner_id = %(user)s",
        {"user": user_id, "group": group_id},
    )


async def set_on_board(db: Database, actor: str, on_board: bool) -> bool:
    """Whether the boards of their groups name a guest; False if the actor is no guest of a group."""
    sql = "UPDATE group_member SET off_board = NOT %(on)s WHERE actor = %(actor)s AND user_id IS NULL"
    return await db.execute(sql, {"actor": actor, "on": on_board}) > 0


async def list_hours(db: Database, user_id: int, group_id: int) -> list[MemberHours]:
    """The members of a group and their time, for its owner: that of the newest answers until its last day."""
    run = "SELECT active_seconds(r.circumstances, r.created, r.finish_time) AS seconds FROM task_run r"
    within = "NOT r.trial AND r.finish_time >= m.joined AND group_lasts(g.last_day, r.finish_time)"
    return await fetch_rows(
        db,
        MemberHours,
        f"""
        SELECT x.name, x.joined, x.answers, (
               SELECT coalesce(sum(seconds), 0)::float8 FROM (
                   ({run} WHERE r.user_id = m.user_id AND {within} ORDER BY r.id DESC LIMIT {_MAX_TIMED}) UNION ALL
                   ({run} WHERE m.user_id IS NULL AND r.actor = m.actor AND r.actor LIKE 'c:%%' AND {within} ORDER BY r.id DESC LIMIT {_MAX_TIMED})) s) AS seconds
          FROM volunteer_group g CROSS JOIN members_of(g.id) x JOIN group_member m ON m.id = x.id
         WHERE g.id = %(group)s AND g.owner_id = %(user)s ORDER BY x.id""",
        {"user": user_id, "group": group_id},
    )


async def remove_member(db: Database, user_id: int, group_id: int, member_id: int) -> bool:
    """Takes somebody out of a group, for its owner; False when there is nobody."""
    sql = (
        "DELETE FROM group_member m USING volunteer_group g WHERE g.id = m.group_id AND m.id = %(member)s"
        " AND g.id = %(group)s AND g.owner_id = %(user)s"
    )
    return await db.execute(sql, {"user": user_id, "group": group_id, "member": member_id}) > 0


async def leave(db: Database, group_id: int, user_id: int) -> bool:
    """Takes an account out of a group; False when it was no member."""
    sql = "DELETE FROM group_member WHERE group_id = %(group)s AND user_id = %(user)s"
    return await db.execute(sql, {"group": group_id, "user": user_id}) > 0


async def find_open_group(db: Database, code: str, *, lock: bool = False) -> OpenGroup | None:
    """The group of a code; ``lock``: others who join it wait until the transaction ends."""
    sql = f"SELECT id, name, size FROM volunteer_group WHERE code = %(code)s AND group_lasts(last_day, clock()){' FOR UPDATE' if lock else ''}"
    return await fetch_row_or_none(db, OpenGroup, sql, {"code": code})


async def find_guest(db: Database, group_id: int, name: str) -> KnownGuest | None:
    """The guest of that name in a group."""
    return await fetch_row_or_none(
        db,
        KnownGuest,
        "SELECT actor, number_hash FROM group_member WHERE group_id = %(group)s AND lower(name) = lower(%(name)s) AND user_id IS NULL",
        {"group": group_id, "name": name},
    )


async def insert_member(db: Database, group: OpenGroup, member: NewMember) -> bool:
    """Adds somebody to a locked group, unless they are in it; False when it is full.

    Raises ConflictError when the name is taken.
    """
    row = await fetch_row(
        db,
        Count,
        "WITH seat AS (SELECT min(n) AS free FROM generate_series(0, %(size)s - 1) n"
        "               WHERE NOT EXISTS (SELECT FROM group_member m WHERE m.group_id = %(group)s AND m.seat = n)),"
        " made AS (INSERT INTO group_member (group_id, seat, name, actor, user_id, number_hash, joined, answers_before)"
        "          SELECT %(group)s, free, %(name)s, %(actor)s, %(user_id)s, %(number_hash)s, clock(),"
        "                 coalesce((SELECT answers FROM answers_of(ARRAY[%(actor)s])), 0)"
        "            FROM seat WHERE free IS NOT NULL ON CONFLICT (group_id, actor) DO NOTHING RETURNING id)"
        " SELECT (SELECT count(*) FROM made) + (SELECT count(*) FROM group_member WHERE group_id = %(group)s AND actor = %(actor)s) AS n",
        {"group": group["id"], "size": group["size"], **attrs.asdict(member)},
    )
    return row["n"] > 0


async def find_membership(db: Database, actor: str) -> Membership | None:
    """The group of a guest."""
    return await fetch_row_or_none(
        db,
        Membership,
        "SELECT g.name, m.name AS member, NOT m.off_board AS on_board, g.last_day, f.own AS answers, f.n_members, f.answers AS group_answers"
        "  FROM group_member m JOIN volunteer_group g ON g.id = m.group_id AND group_lasts(g.last_day, clock()),"
        "       LATERAL (SELECT count(*)::int AS n_members, sum(x.answers)::bigint AS answers,"
        "                       max(x.answers) FILTER (WHERE x.id = m.id) AS own FROM members_of(g.id) x) f"
        " WHERE m.actor = %(actor)s AND m.user_id IS NULL",
        {"actor": actor},
    )


async def set_number(db: Database, actor: str, number_hash: bytes) -> bool:
    """Give a guest another number; False if the actor is no guest of a group."""
    sql = "UPDATE group_member SET number_hash = %(hash)s WHERE actor = %(actor)s AND user_id IS NULL"
    return await db.execute(sql, {"actor": actor, "hash": number_hash}) > 0


async def sweep(db: Database) -> int:
    """Deletes groups that ended long ago, with their members."""
    condition = f"last_day < (clock() AT TIME ZONE 'UTC')::date - {KEPT_DAYS}"
    return await record_statements.delete_in_batches(db, "volunteer_group", condition, {})
