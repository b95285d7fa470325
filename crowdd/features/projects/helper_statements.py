"""SQL of reviewers and translators. A role is a column of the project, ``<role>_ids``."""

from __future__ import annotations

from crowdd.database.access import Database, fetch_rows, one_or_none
from crowdd.features.projects.rows import Helper


async def list_helpers(db: Database, role: str, project_id: int) -> list[Helper]:
    """The people with a role in a project in the order in which they were added."""
    return await fetch_rows(
        db,
        Helper,
        f"SELECT a.id, a.name, a.fullname FROM project p CROSS JOIN unnest(p.{role}_ids) WITH ORDINALITY r(id, nth)"
        " JOIN account a ON a.id = r.id WHERE p.id = %(id)s ORDER BY r.nth",
        {"id": project_id},
    )


async def add_helper(db: Database, role: str, project_id: int, user_id: int, maximum: int) -> str:
    """Gives an account a role: added, present (also as an owner), or full when ``maximum`` people have it."""
    row = await one_or_none(
        db, f"SELECT {role}_ids AS ids, owners_ids FROM project WHERE id = %(id)s FOR UPDATE", {"id": project_id}
    )
    ids = row["ids"] if row else []
    if row and user_id in {*ids, *row["owners_ids"]}:
        return "present"
    if len(ids) >= maximum:
        return "full"
    await db.execute(
        f"UPDATE project SET {role}_ids = array_append({role}_ids, %(user)s::bigint) WHERE id = %(id)s",
        {"id": project_id, "user": user_id},
    )
    return "added"


async def remove_helper(db: Database, role: str, project_id: int, user_id: int) -> bool:
    """Takes a role away; False when the account does not have it."""
    sql = (
        f"UPDATE project SET {role}_ids = array_remove({role}_ids, %(user)s::bigint)"
        f" WHERE id = %(id)s AND {role}_ids @> ARRAY[%(user)s::bigint]"
    )
    return await db.execute(sql, {"id": project_id, "user": user_id}) > 0
