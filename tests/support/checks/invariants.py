"""What must hold in the ledger at every moment: the rules are in invariants.sql."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

_TEXT = Path(__file__).with_suffix(".sql").read_text("utf-8")
_RULES = dict(re.findall(r"^--- (.+?)\n(.+?)(?=^---|\Z)", _TEXT, re.MULTILINE | re.DOTALL))
# Materialized, or PostgreSQL plans for the first five rows and takes for ever to find that there are none.
_STATEMENT = " UNION ALL ".join(
    f"SELECT * FROM (WITH b AS MATERIALIZED ({sql})"
    f" SELECT {number} AS number, to_jsonb(b)::text AS row FROM b LIMIT 5) r{number}"
    for number, sql in enumerate(_RULES.values())
)


_PLANNED_AT = {0, *(8**power for power in range(1, 8))}


class Watch:
    """Looks for broken rules on one session again and again.

    To plan the statement takes four times as long as to run it on small tables. It is planned again at the first look,
    after eight looks, after 64 and so on, because tables grow meanwhile.
    """

    def __init__(self, connection: Any) -> None:
        self._connection, self._looks = connection, 0
        self._planned: tuple[int, int] | None = None

    def begin(self) -> None:
        """The tables are empty again; what was planned then will do."""
        self._looks = min(self._looks, 1)

    def broken(self, highest: int = 0, share: int = 0) -> list[str]:
        """See ``invariants``."""
        with self._connection.cursor() as cursor:
            if self._looks in _PLANNED_AT or self._planned != (highest, share):
                self._plan(cursor, highest, share)
            self._looks += 1
            cursor.execute("EXECUTE invariants")
            return _told(cursor.fetchall())

    def _plan(self, cursor: Any, highest: int, share: int) -> None:
        # Without parameters: otherwise PostgreSQL would plan the first executions one by one.
        if self._planned is not None:
            cursor.execute("DEALLOCATE invariants")
        cursor.execute(f"PREPARE invariants AS {_STATEMENT}", {"highest": highest, "share": share})
        self._planned = (highest, share)


def invariants(connection: Any, highest: int = 0, share: int = 0) -> list[str]:
    """The rules that are broken, each with the first rows that break it; as seen by one snapshot.

    ``highest`` is what n_answers was at most, where it was lowered or the scheduler changed; 0 where neither happened.
    ``share`` is what counted_per_network was at most, where it was lowered or answers changed hands.
    """
    with connection.cursor() as cursor:
        cursor.execute(_STATEMENT, {"highest": highest, "share": share})
        return _told(cursor.fetchall())


def _told(found: list[tuple[int, str]]) -> list[str]:
    return [f"{list(_RULES)[number]}: {row}" for number, row in found]
