"""Whether servers of an earlier version can use a database after a migration (record 214).

The first line of a migration says so::

    -- expands: <what is added>
    -- contracts after 2: <what goes; servers that know migration 2 do not use it>
    -- contracts: <what goes; every earlier version uses it>
"""

from __future__ import annotations

import re

import attrs

_DECLARATION = re.compile(r"-- (?:(expands)|contracts(?: after (\d+))?): \S")


@attrs.frozen
class MigrationKind:
    """``contracts``: something that earlier versions use goes. ``after``: those that know this migration do not use it."""

    contracts: bool
    after: int | None = None

    def is_borne_by(self, newest: int) -> bool:
        """Whether a server can go on that knows the migrations up to ``newest``."""
        return not self.contracts or (self.after is not None and self.after <= newest)


UNDECLARED = MigrationKind(contracts=True)


def kind_of(sql: str) -> MigrationKind:
    """What a migration says about itself. One that says nothing contracts."""
    declaration = _DECLARATION.match(sql)
    if declaration is None:
        return UNDECLARED
    return MigrationKind(not declaration[1], int(declaration[2]) if declaration[2] else None)


def is_declared(sql: str) -> bool:
    """Whether a migration says of which kind it is."""
    return _DECLARATION.match(sql) is not None
