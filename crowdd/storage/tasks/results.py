"""Results that owners fill, many at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from crowdd.kinds.kind import Write
from crowdd.kinds.result import RESULT
from crowdd.kinds.roles import EVERYONE, Role
from crowdd.requester import Requester
from crowdd.storage.core import records, roles
from crowdd.storage.core.projections import in_json, json_of
from crowdd.storage.database import Database, fetch_rows, one
from crowdd.storage.tasks.rows import ResultRow

_SMALL = ", ".join(
    f't."{field.name}"' for field in RESULT.fields if field.name != "info" and field.write is not Write.COMPUTED
)


@attrs.frozen
class SameRoles:
    """Results to which a requester has the same roles; ``answers`` is the number of answers that they name together."""

    roles: frozenset[Role]
    projects: frozenset[int]
    ids: frozenset[int]
    answers: int


async def groups(db: Database, who: Requester, ids: Sequence[int]) -> list[SameRoles]:
    """Results with these ids, as many as there are, by what the requester is to them; one statement for all."""
    sql = (
        "SELECT roles, array_agg(DISTINCT project_id) AS projects, array_agg(id) AS ids, sum(n) AS n FROM"
        f" (SELECT t.id, t.project_id, cardinality(t.task_run_ids) AS n, {roles.columns(RESULT)}"
        f" FROM {roles.source(RESULT)} WHERE t.id = ANY (%(ids)s::bigint[])) r GROUP BY roles"
    )
    rows = await db.fetch(sql, {**who.role_values(), "ids": list(ids)})
    return [
        SameRoles(row["roles"], frozenset(row["projects"]), frozenset(row["ids"]), int(row["n"]))
        for row in records.named(rows)
    ]


async def lock(tx: Database, ids: Sequence[int]) -> None:
    """Holds results until the transaction ends: their tasks first, by id as everybody takes them, also of several projects.

    Other transactions that change or replace one of these results come before or after this one.
    """
    await tx.fetch(
        "SELECT FROM task_ledger WHERE (project_id, task_id) IN"
        " (SELECT project_id, task_id FROM result WHERE id = ANY (%(ids)s::bigint[]))"
        " ORDER BY task_id FOR UPDATE",
        {"ids": list(ids)},
    )
    await tx.fetch("SELECT FROM result WHERE id = ANY (%(ids)s::bigint[]) ORDER BY id FOR UPDATE", {"ids": list(ids)})


async def without_info(tx: Database, ids: Sequence[int]) -> list[ResultRow]:
    """The attributes of results but for ``info``, in no order."""
    return await fetch_rows(
        tx, ResultRow, f"SELECT {_SMALL} FROM result t WHERE t.id = ANY (%(ids)s::bigint[])", {"ids": list(ids)}
    )


async def fill(tx: Database, items: str) -> int:
    """Writes ``info`` of results that have another; ``items`` is a JSON array of {id, info}. How many those are."""
    row = await one(
        tx,
        "WITH changed AS (UPDATE result r SET info = n.info"
        " FROM (SELECT (e->>'id')::bigint AS id, e->'info' AS info FROM jsonb_array_elements(%(items)s::jsonb) e) n"
        " WHERE r.id = n.id AND coalesce(r.info, 'null') <> n.info RETURNING 1) SELECT count(*) AS n FROM changed",
        {"items": items},
    )
    return int(row["n"])


async def views(tx: Database, ids: Sequence[int], base_url: str) -> list[str]:
    """Results as JSON texts, in the order of their ids in ``ids``: all who may change them see the same."""
    values: Mapping[str, object] = {"ids": list(ids), "base_url": in_json(base_url)}
    rows = await tx.fetch(
        f"SELECT {json_of(RESULT, EVERYONE)} AS view FROM unnest(%(ids)s::bigint[]) WITH ORDINALITY u(id, nth)"
        f" JOIN {RESULT.source} t ON t.id = u.id ORDER BY u.nth",
        values,
    )
    return [row["view"] for row in rows]
