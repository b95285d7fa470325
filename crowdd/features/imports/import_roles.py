"""What an owner chooses for an import: the roles of columns and the options of the file, and which cannot be.

The roles are written to the project when its import begins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs

from crowdd.core.records import statements as record_statements
from crowdd.database.access import Database
from crowdd.features.imports import exported_files
from crowdd.features.imports.rows import PendingImport
from crowdd.features.projects import statements as project_statements
from crowdd.kernel.errors import InvalidValueError
from crowdd.kernel.languages import _
from crowdd.kernel.values import Values
from crowdd.kinds import column_roles
from crowdd.kinds.column_roles import COLUMN_ROLES
from crowdd.kinds.project import PROJECT
from crowdd.kinds.task import TASK
from crowdd.kinds.types import require_object

_REMOVED = ""  # the role of a column that shall have none


def check_roles(roles: object, columns: Sequence[str]) -> dict[str, str]:
    """The roles that an owner chose for columns of a file, "" for none. Raises InvalidValueError."""
    sent = require_object(roles, "roles")
    unknown = next((name for name in sent if columns and name not in columns), None)
    if unknown is not None:
        raise InvalidValueError(_("The file has no column %(name)s.", name=str(unknown)[:100]))
    column_roles.check({name: role for name, role in sent.items() if role != _REMOVED})
    return dict(sent)


def merge_roles(before: object, chosen: Mapping[str, str]) -> dict[str, str]:
    """The roles of a project once those of a file are chosen. Raises InvalidValueError for too many."""
    known = before if isinstance(before, Mapping) else {}
    roles = {name: role for name, role in {**known, **chosen}.items() if role != _REMOVED}
    return column_roles.check(roles)


async def write_roles(tx: Database, row: PendingImport) -> None:
    """Writes the roles of an import that begins to its project: a column is hidden before the first task has it."""
    if not row["roles"]:
        return
    await record_statements.lock_row(tx, PROJECT, row["project_id"])
    info: Values = await project_statements.read_info(tx, row["project_id"])
    columns = frozenset(row["columns"])
    roles = merge_roles(info.get(COLUMN_ROLES), {name: role for name, role in row["roles"].items() if name in columns})
    if roles != info.get(COLUMN_ROLES, {}):
        await project_statements.write_info_keys(tx, row["project_id"], {COLUMN_ROLES: roles})


ON_ERROR: Final = ("skip", "stop")


@attrs.frozen
class Choices:
    """What an owner says of a file. None leaves it as it is, or as it is usual.

    ``roles``: what columns are for, by their names (``kinds.column_roles``), "" for nothing special.
    ``key``: the column by which tasks are found again, "" for none. ``keep_columns``: tasks that are found by their key
    keep the columns that the file does not have. ``on_error``: "" for undecided. ``begin``: add its
    rows when it has been read; unless ``sure``, only when no choice has changed its figures.
    """

    dialect: Mapping[str, Any] | None = None
    kind: str | None = None
    uses: Any = None
    roles: Any = None
    key: str | None = None
    keep_columns: bool | None = None
    again: bool | None = None
    n_answers: Any = None
    on_error: str | None = None
    begin: bool = True
    sure: bool = True


def check_choices(choices: Choices) -> Values:
    """Those choices that were made, as they are stored. Raises InvalidValueError."""
    made: Values = {}
    if choices.kind:
        made["kind"] = _one_of("kind", choices.kind, exported_files.KINDS)
    if choices.uses is not None:
        made["uses"] = dict(require_object(choices.uses, "uses"))
    if choices.key is not None:
        made["key_name"] = choices.key or None
    for name, chosen in (("again", choices.again), ("keep_columns", choices.keep_columns)):
        if chosen is not None:
            made[name] = chosen
    if choices.n_answers not in (None, ""):
        try:
            made["n_answers"] = TASK.field("n_answers").parse(choices.n_answers)
        except InvalidValueError as error:
            raise InvalidValueError(f"n_answers {error}.") from None
    if choices.on_error:
        _one_of("on_error", choices.on_error, ON_ERROR)
    return made


def require_no_key(wanted: Mapping[str, object], pending: PendingImport) -> None:
    """Raises InvalidValueError for a key column of an export."""
    if wanted["key_name"] and wanted["kind"] == pending["kind"] and pending["kind"] not in ("", exported_files.TABLE):
        raise InvalidValueError(_("An export has no key column: its tasks are identified by their ids."))


def _one_of(name: str, value: str, choices: tuple[str, ...]) -> str:
    if value not in choices:
        raise InvalidValueError(_("%(name)s must be one of %(choices)s.", name=name, choices=", ".join(choices)))
    return value
