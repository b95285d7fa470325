"""Who may decide the tasks of a project, beside its owners."""

from __future__ import annotations

from crowdd.storage.database import Database, fetch_rows, one_or_none
from crowdd.storage.tasks.review.rows import Reviewer


async def listed(db: Database, project_id: int) -> list[Reviewer]:
    """The reviewers of a project in the order in which they were added."""
    return await fetch_rows(
        db,
        Reviewer,
        "SELECT a.id, a.name, a.fullname FROM project p CROSS JOIN unnest(p.reviewer_ids) WITH ORDINALITY r(id, nth)"
        " JOIN account a ON a.id = r.id WHERE p.id = %(id)s ORDER BY r.nth",
        {"id": project_id},
    )


async def add(db: Database, project_id: int, user_id: int, maximum: int) -> str:
    """Makes an account a reviewer: added, present (also as an owner), or full when there are ``maximum``."""
    row = await one_or_none(
        db, "SELECT reviewer_ids, owners_ids FROM project WHERE id = %(id)s FOR UPDATE", {"id": project_id}
    )
    ids = row["reviewer_ids"] if row else []
    if row and user_id in {*ids, *row["owners_ids"]}:
        return "present"
    if len(ids) >= maximum:
        return "full"
    await db.execute(
        "UPDATE project SET reviewer_ids = array_append(reviewer_ids, %(user)s::bigint) WHERE id = %(id)s",
        {"id": project_id, "user": user_id},
    )
    return "added"


async def remove(db: Database, project_id: int, user_id: int) -> bool:
    """Takes the right away; False when there was none."""
    sql = (
        "UPDATE project SET reviewer_ids = array_remove(reviewer_ids, %(user)s::bigint)"
        " WHERE id = %(id)s AND reviewer_ids @> ARRAY[%(user)s::bigint]"
    )
    return await db.execute(sql, {"id": project_id, "user": user_id}) > 0
