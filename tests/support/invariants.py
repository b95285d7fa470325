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


def invariants(connection: Any, highest: int = 0, share: int = 0) -> list[str]:
    """The rules that are broken, each with the first rows that break it; as seen by one snapshot.

    ``highest`` is what n_answers was at most, where it was lowered or the scheduler changed; 0 where neither happened.
    ``share`` is what counted_per_network was at most, where it was lowered or answers changed hands.
    """
    with connection.cursor() as cursor:
        cursor.execute(_STATEMENT, {"highest": highest, "share": share})
        return [f"{list(_RULES)[number]}: {row}" for number, row in cursor.fetchall()]
