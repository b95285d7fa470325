"""Who owns a project: its owner and the co-owners."""

from __future__ import annotations

from crowdd.storage.database import Database, fetch_row_or_none, fetch_rows
from crowdd.storage.projects.list_rows import ProjectName
from crowdd.storage.projects.owner_rows import Invitation, ProjectOwner, ProjectOwners


async def lock(db: Database, project_id: int) -> ProjectOwners | None:
    """The owners of a project, locked until the transaction ends."""
    return await fetch_row_or_none(
        db, ProjectOwners, "SELECT owner_id, owners_ids FROM project WHERE id = %(id)s FOR UPDATE", {"id": project_id}
    )


async def set_owners(db: Database, project_id: int, owner_id: int, owners_ids: list[int]) -> None:
    """Writes who owns a project; the owner is one of them. Scores follow: answers in one's own project do not count."""
    await db.fetch(
        "SELECT set_owners(%(id)s, %(owner)s, %(owners)s::bigint[], clock())",
        {"id": project_id, "owner": owner_id, "owners": owners_ids},
    )


async def owners(db: Database, project_id: int) -> list[ProjectOwner]:
    """The owner first, then the co-owners in the order in which they were added."""
    return await fetch_rows(
        db,
        ProjectOwner,
        "SELECT u.*, s.score, s.score AS n_answers, s.rank, s.total, u.id = p.owner_id AS is_creator"
        " FROM project p CROSS JOIN unnest(p.owners_ids) WITH ORDINALITY o(id, nth) JOIN person_record u ON u.id = o.id"
        " CROSS JOIN LATERAL place_of(u.id) s WHERE p.id = %(id)s ORDER BY u.id = p.owner_id DESC, o.nth",
        {"id": project_id},
    )


async def invitation(db: Database, subject: bytes, purpose: str) -> Invitation | None:
    """The open invitation to a project."""
    return await fetch_row_or_none(
        db,
        Invitation,
        "SELECT created, expires FROM one_time_link WHERE subject = %(subject)s AND purpose = %(purpose)s AND expires > clock()",
        {"subject": subject, "purpose": purpose},
    )


async def named(db: Database, project_id: int) -> ProjectName | None:
    """What a project is called."""
    return await fetch_row_or_none(
        db, ProjectName, "SELECT id, name, short_name FROM project WHERE id = %(id)s", {"id": project_id}
    )
