"""What columns of tasks are for (``info.column_roles``): an object of column names and roles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from crowdd.kernel.errors import InvalidValueError
from crowdd.kernel.languages import _
from crowdd.kinds.types import require_object

COLUMN_ROLES: Final = "column_roles"
HIDDEN: Final = "hidden"
ROLES: Final = (
    "picture",
    "iiif",
    "sound",
    "video",
    "text",
    "caption",
    "title",
    "latitude",
    "longitude",
    "place",
    "date",
    "link",
    "identifier",
    HIDDEN,
)
"""A column is a medium, a text about it, a place or a date, something for owners, or hidden from volunteers."""
MAX_COLUMNS: Final = 500
MAX_NAME: Final = 200  # characters


def check(value: object) -> dict[str, str]:
    """The roles of columns. Raises InvalidValueError."""
    roles = require_object(value, "info.column_roles")
    if len(roles) > MAX_COLUMNS:
        raise InvalidValueError(_("`info.column_roles` may have at most %(max)s columns.", max=MAX_COLUMNS))
    for name, role in roles.items():
        if not 1 <= len(name) <= MAX_NAME or "\0" in name:
            words = _("`info.column_roles`: a column name must have 1 to %(max)s characters.", max=MAX_NAME)
            raise InvalidValueError(words)
        if role not in ROLES:
            words = _(
                "`info.column_roles`: %(role)s is not a role. Roles: %(roles)s.",
                role=str(role)[:100],
                roles=", ".join(ROLES),
            )
            raise InvalidValueError(words)
    return roles


def of(info: Mapping[str, object]) -> dict[str, str]:
    """The roles of the columns of a project with this ``info``."""
    roles = info.get(COLUMN_ROLES)
    return roles if isinstance(roles, dict) else {}


def hidden(info: Mapping[str, object]) -> set[str]:
    """The names of the columns that volunteers must not see."""
    return {name for name, role in of(info).items() if role == HIDDEN}
