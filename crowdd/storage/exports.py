"""Rows of one project as they leave in files, part by part.

Each part is a statement of its own that goes on behind an id, with an end that is fixed at the beginning: however slowly
somebody reads, no transaction and no connection waits for him.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from crowdd.kinds import RESULT, TASK, TASK_RUN, Kind
from crowdd.kinds.kind import Field, Standing
from crowdd.storage import projections
from crowdd.storage.database import Database, Row, one
from crowdd.storage.standings import COMPLETE

_SAMPLE = 1000  # rows at each end that say which keys info has
_MEASURED = 100  # rows that say how large one is


def _complete(kind: Kind, complete: bool) -> str:
    """A condition: only rows of complete tasks, where answers to others are not for everybody."""
    return f" AND {COMPLETE}" if complete and kind is not TASK else ""


async def last_id(db: Database, kind: Kind, project_id: int) -> int:
    """The newest row there is, 0 without any."""
    sql = f"SELECT coalesce((SELECT id FROM {kind.table} WHERE project_id = %(project)s ORDER BY id DESC LIMIT 1), 0) AS id"
    return int((await one(db, sql, {"project": project_id}))["id"])


@attrs.frozen
class Part:
    """Which rows leave: those of a project up to an id, ``most`` in a statement.

    ``named``: only of these tasks. ``complete``: only answers to complete tasks. ``mask``: the key of masked attributes.
    """

    project_id: int
    upto: int
    most: int
    named: Sequence[int] | None = None
    complete: bool = False
    mask: bytes = attrs.field(default=b"", repr=False)

    def where(self, kind: Kind) -> str:
        """Which rows of a kind t are the next ones, and their order."""
        of = "" if self.named is None else f" AND t.{'id' if kind is TASK else 'task_id'} = ANY(%(named)s::bigint[])"
        of += _complete(kind, self.complete)
        return f"t.project_id = %(project)s AND t.id > %(after)s AND t.id <= %(upto)s{of} ORDER BY t.id LIMIT %(most)s"

    def values(self, after: int) -> dict[str, Any]:
        """What stands for the names in it."""
        named = None if self.named is None else list(self.named)
        window = {"project": self.project_id, "after": after, "upto": self.upto, "most": self.most}
        return {**window, "named": named, "mask": self.mask}


async def as_json(
    db: Database, kind: Kind, standings: frozenset[Standing], base_url: str, of: Part, after: int
) -> list[Row]:
    """``id`` and ``body`` of the next rows: the row as ``Kind.view`` shows it to these standings, as a text of JSON."""
    shown = projections.json_of(kind, standings)
    sql = f"SELECT t.id, {shown}::text AS body FROM {kind.source} t WHERE {of.where(kind)}"
    return await db.fetch(sql, {"base_url": base_url, **of.values(after)})


async def as_columns(
    db: Database, kind: Kind, fields: Sequence[Field], standings: frozenset[Standing], of: Part, after: int
) -> list[Row]:
    """The next rows with these attributes, as these standings may see them."""
    shown = ((field.name, projections.column_of(kind, field, standings)) for field in fields)
    names = ", ".join(f'{column} AS "{name}"' for name, column in shown)
    return await db.fetch(f"SELECT {names} FROM {kind.source} t WHERE {of.where(kind)}", of.values(after))


async def info_keys(db: Database, kind: Kind, project_id: int, most: int, *, complete: bool = False) -> list[str]:
    """Keys that ``info`` has in the first and in the last rows, sorted; at most so many. ``complete``: as in Part."""
    ends = " UNION ALL ".join(
        f"(SELECT info FROM {kind.table} t WHERE project_id = %(project)s{_complete(kind, complete)}"
        f" ORDER BY id {way} LIMIT {_SAMPLE})"
        for way in ("ASC", "DESC")
    )
    rows = await db.fetch(
        f"SELECT DISTINCT k FROM ({ends}) s CROSS JOIN LATERAL"
        " jsonb_object_keys(CASE WHEN jsonb_typeof(info) = 'object' THEN info ELSE '{}' END) k ORDER BY k LIMIT %(most)s",
        {"project": project_id, "most": most},
    )
    return [row["k"] for row in rows]


async def sizes(db: Database, project_id: int) -> dict[str, float]:
    """About how many bytes a row of each kind has as JSON, by the name of its table; 0 without rows."""
    columns = ", ".join(
        f"(SELECT coalesce(avg(octet_length(info::text)), 0)::float8 FROM (SELECT info FROM {kind.table}"
        f" WHERE project_id = %(project)s ORDER BY id LIMIT {_MEASURED}) s) AS {kind.table}"
        for kind in (TASK, TASK_RUN, RESULT)
    )
    return {name: float(size) for name, size in (await one(db, f"SELECT {columns}", {"project": project_id})).items()}
