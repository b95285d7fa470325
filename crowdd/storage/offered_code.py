"""What the schema ``code`` offers to statements, and which of it the statements of this program use.

Functions are listed with each number of arguments that they can be called with, so that a further argument with a default
leaves the earlier ways to call them. Views are listed column by column.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from crowdd.storage.database import Database, Row

_FUNCTIONS = """
SELECT p.proname AS name, p.pronargs - p.pronargdefaults AS fewest, pg_get_function_result(p.oid) AS result,
       ARRAY(SELECT format_type(t, NULL) FROM unnest(p.proargtypes::oid[]) WITH ORDINALITY a(t, nth) ORDER BY nth) AS types,
       ARRAY(SELECT concat(p.proargnames[n], ' ', format_type(p.proallargtypes[n], NULL))
               FROM generate_subscripts(p.proargmodes, 1) n WHERE p.proargmodes[n] <> 'i' ORDER BY n) AS columns
  FROM pg_proc p WHERE p.pronamespace = 'code'::regnamespace
"""
_COLUMNS = """
SELECT c.relname AS view, a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
 WHERE c.relnamespace = 'code'::regnamespace AND c.relkind IN ('v', 'm') AND a.attnum > 0 AND NOT a.attisdropped
"""


async def offered(db: Database) -> list[str]:
    """All that statements can name, sorted."""
    functions = [way for row in await db.fetch(_FUNCTIONS) for way in _ways_to_call(row)]
    columns = [f"{row['view']}.{row['name']} {row['type']}" for row in await db.fetch(_COLUMNS)]
    return sorted([*functions, *columns])


def _ways_to_call(row: Row) -> Iterator[str]:
    gives = f"{row['result']} ({', '.join(row['columns'])})" if row["columns"] else row["result"]
    for number in range(row["fewest"], len(row["types"]) + 1):
        yield f"{row['name']}({', '.join(row['types'][:number])}) -> {gives}"


def used(ways: Iterable[str], words: Collection[str]) -> list[str]:
    """Those that statements with these words may use: functions that they name, and every column of a view.

    Functions that only other functions call may come and go.
    """
    return [way for way in ways if "(" not in way or " -> " not in way or way.partition("(")[0] in words]


def words_of_statements(folder: Path) -> frozenset[str]:
    """The words of all modules below a folder."""
    return frozenset(
        word for path in folder.rglob("*.py") for word in re.findall(r"[a-z_][a-z0-9_]*", path.read_text("utf-8"))
    )
