"""What an owner says of a file of tasks: which choices there are, and which of them cannot be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import attrs

from crowdd.domain.transfer import import_exports
from crowdd.errors import InvalidValueError
from crowdd.kinds.task import TASK
from crowdd.languages import _
from crowdd.storage.transfer.rows import PendingImport
from crowdd.values import Values

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


def checked(choices: Choices) -> Values:
    """Those choices that were made, as they are stored. Raises InvalidValueError."""
    made: Values = {}
    if choices.kind:
        made["kind"] = _one_of("kind", choices.kind, import_exports.KINDS)
    if choices.uses is not None:
        if not isinstance(choices.uses, Mapping):
            raise InvalidValueError(_("`uses` must be an object."))
        made["uses"] = dict(choices.uses)
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
    if wanted["key_name"] and wanted["kind"] == pending["kind"] and pending["kind"] not in ("", import_exports.TABLE):
        raise InvalidValueError(_("An export has no key column: its tasks are identified by their ids."))


def _one_of(name: str, value: str, choices: tuple[str, ...]) -> str:
    if value not in choices:
        raise InvalidValueError(_("%(name)s must be one of %(choices)s.", name=name, choices=", ".join(choices)))
    return value
