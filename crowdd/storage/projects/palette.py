"""What the command palette finds: own projects by words, the project that somebody looks at, and a task by its number.

Each statement holds the rights itself: nobody learns what other people's projects are called.
"""

from __future__ import annotations

from collections.abc import Sequence

from crowdd.kinds.project import PROJECT
from crowdd.kinds.roles import Role
from crowdd.requester import Requester
from crowdd.storage.core import roles
from crowdd.storage.database import Database, fetch_row_or_none, fetch_rows
from crowdd.storage.projects.list_rows import NumberedTask, OwnProject, ProjectName

_ROLES = roles.expressions(PROJECT)
_MAY_CHANGE = f"({_ROLES[Role.OWNER]} OR {_ROLES[Role.ADMIN]})"


async def own(
    db: Database, who: Requester, words: Sequence[str], recent: Sequence[str], limit: int
) -> list[OwnProject]:
    """Projects that the requester owns or co-owns and whose name has every word.

    Those in ``recent`` (short names) come first, in that order, then those that were changed last.
    """
    marks = {f"w{number}": word for number, word in enumerate(words)}
    every = "".join(f" AND strpos(lower(p.name || ' ' || p.short_name), lower(%({mark})s)) > 0" for mark in marks)
    return await fetch_rows(
        db,
        OwnProject,
        "SELECT p.id, p.name, p.short_name, p.published FROM project p"
        f" WHERE p.owners_ids @> ARRAY[%(me)s::bigint] AND {_ROLES[Role.OWNER]}{every}"
        " ORDER BY array_position(%(recent)s::text[], p.short_name), p.updated DESC, p.id DESC LIMIT %(limit)s",
        {**who.role_values(), **marks, "recent": list(recent), "limit": limit},
    )


async def project(db: Database, who: Requester, short_name: str) -> ProjectName | None:
    """The project of that short name if the requester may change it."""
    return await fetch_row_or_none(
        db,
        ProjectName,
        f"SELECT p.id, p.name, p.short_name FROM project p WHERE p.short_name = %(short_name)s AND {_MAY_CHANGE}",
        {**who.role_values(), "short_name": short_name},
    )


async def task(db: Database, who: Requester, number: int) -> NumberedTask | None:
    """The task of that id if the requester may change its project."""
    return await fetch_row_or_none(
        db,
        NumberedTask,
        "SELECT t.id, p.name, p.short_name FROM task t JOIN project p ON p.id = t.project_id"
        f" WHERE t.id = %(number)s AND {_MAY_CHANGE}",
        {**who.role_values(), "number": number},
    )
