"""The roles of columns: chosen by the owner of a file, and written to the project when its import begins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from crowdd.errors import InvalidValueError
from crowdd.kinds import column_roles
from crowdd.kinds.column_roles import COLUMN_ROLES
from crowdd.kinds.project import PROJECT
from crowdd.languages import _
from crowdd.storage.core import records
from crowdd.storage.database import Database
from crowdd.storage.projects import projects
from crowdd.storage.transfer.rows import PendingImport
from crowdd.values import Values

_REMOVED = ""  # the role of a column that shall have none


def checked(roles: object, columns: Sequence[str]) -> dict[str, str]:
    """The roles that an owner chose for columns of a file, "" for none. Raises InvalidValueError."""
    if not isinstance(roles, Mapping):
        raise InvalidValueError(_("`roles` must be an object."))
    unknown = next((name for name in roles if columns and name not in columns), None)
    if unknown is not None:
        raise InvalidValueError(_("The file has no column %(name)s.", name=str(unknown)[:100]))
    column_roles.check({name: role for name, role in roles.items() if role != _REMOVED})
    return dict(roles)


def merged(before: object, chosen: Mapping[str, str]) -> dict[str, str]:
    """The roles of a project once those of a file are chosen. Raises InvalidValueError for too many."""
    known = before if isinstance(before, Mapping) else {}
    roles = {name: role for name, role in {**known, **chosen}.items() if role != _REMOVED}
    return column_roles.check(roles)


async def keep(tx: Database, row: PendingImport) -> None:
    """Writes the roles of an import that begins to its project: a column is hidden before the first task has it."""
    if not row["roles"]:
        return
    await records.lock(tx, PROJECT, row["project_id"])
    info: Values = await projects.info_of(tx, row["project_id"])
    columns = frozenset(row["columns"])
    roles = merged(info.get(COLUMN_ROLES), {name: role for name, role in row["roles"].items() if name in columns})
    if roles != info.get(COLUMN_ROLES, {}):
        await projects.tell(tx, row["project_id"], {COLUMN_ROLES: roles})
