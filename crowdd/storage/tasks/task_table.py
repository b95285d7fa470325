"""Tasks of one project as a table: the keys of their ``info`` as columns, and what their answers say together."""

from __future__ import annotations

from collections.abc import Sequence

from crowdd.storage.core import hidden_columns
from crowdd.storage.database import Database, fetch_rows, one
from crowdd.storage.tasks.rows import ListedTask, TaskContent
from crowdd.storage.tasks.task_list import COLUMNS, PageStart

_EACH = 20  # tasks in which keys are looked for, at the beginning, at the end and in between
_MAX_KEYS = 40
_MAX_KEY = 100  # characters
_MAX_CELL = 300
_SAMPLE = (
    "(SELECT task_id AS id FROM task_ledger WHERE project_id = %(project)s ORDER BY task_id LIMIT %(each)s) UNION"
    " (SELECT task_id FROM task_ledger WHERE project_id = %(project)s ORDER BY task_id DESC LIMIT %(each)s) UNION"
    " SELECT l.task_id FROM project_ledger p CROSS JOIN generate_series(1, %(each)s) n CROSS JOIN LATERAL ("
    "SELECT task_id FROM task_ledger WHERE project_id = %(project)s AND ordinal = n * p.n_ordinals / (%(each)s + 1)) l"
    " WHERE p.project_id = %(project)s"
)
_LAST = "FROM result r WHERE r.project_id + 0 = %(project)s AND r.last_version AND r.agreement IS NOT NULL"


async def keys(db: Database, project_id: int, *, owns: bool) -> list[str]:
    """The keys that ``info`` of the first, the last and some tasks in between has, in the order in which they are found.

    Those in between are evenly spread by ordinal, so that each import of more than a twentieth of the tasks is seen.
    ``owns``: for an owner, who sees hidden columns; so everywhere here.
    """
    rows = await db.fetch(
        f"WITH t AS MATERIALIZED ({_SAMPLE})"
        f" SELECT k FROM (SELECT id, info FROM {hidden_columns.tasks(owns=owns)} JOIN t USING (id) WHERE project_id = %(project)s) t"
        " CROSS JOIN LATERAL jsonb_object_keys(CASE WHEN jsonb_typeof(t.info) = 'object' THEN t.info ELSE '{}' END)"
        " WITH ORDINALITY k(k, nth) WHERE length(k) BETWEEN 1 AND %(longest)s"
        " GROUP BY k ORDER BY min(t.id), min(nth) LIMIT %(maximum)s",
        {"project": project_id, "each": _EACH, "longest": _MAX_KEY, "maximum": _MAX_KEYS},
    )
    return [row["k"] for row in rows]


async def first(db: Database, project_id: int, maximum: int) -> list[int]:
    """The ids of the first tasks."""
    rows = await db.fetch(
        "SELECT task_id FROM task_ledger WHERE project_id = %(project)s ORDER BY task_id LIMIT %(maximum)s",
        {"project": project_id, "maximum": maximum},
    )
    return [row["task_id"] for row in rows]


async def contents(
    db: Database, project_id: int, ids: Sequence[int], columns: Sequence[str], *, owns: bool
) -> list[TaskContent]:
    """Of each task the values at these keys as texts (of a long one the beginning), and its last result.

    ``consensus`` is "…" where the most frequent answer is too long to be stored with the result.
    """
    return await fetch_rows(
        db,
        TaskContent,
        "SELECT t.id, coalesce((SELECT json_agg(CASE WHEN length(v) > %(longest)s THEN left(v, %(longest)s) || '…' ELSE v END ORDER BY nth)"
        " FROM (SELECT t.info->>key AS v, nth FROM unnest(%(columns)s::text[]) WITH ORDINALITY k(key, nth)) c), '[]') AS cells,"
        f" x.consensus, coalesce(x.won, false) AS won, x.agreement FROM {hidden_columns.tasks(owns=owns)} t LEFT JOIN LATERAL ("
        "SELECT CASE WHEN consensus IS NULL AND consensus_hash IS NOT NULL THEN '\"…\"' ELSE consensus END AS consensus, consensus_hash IS NOT NULL AS won, agreement::numeric::float8 AS agreement FROM result r"
        " WHERE r.project_id = t.project_id AND r.task_id = t.id AND last_version LIMIT 1) x ON true"
        " WHERE t.project_id = %(project)s AND t.id = ANY (%(ids)s::bigint[])",
        {"project": project_id, "ids": list(ids), "columns": list(columns), "longest": _MAX_CELL},
    )


async def by_agreement(
    db: Database,
    project_id: int,
    place: PageStart,
    minimum: float | None,
    below: float | None,
    limit: int,
    *,
    owns: bool,
) -> list[ListedTask]:
    """A page of the tasks with an agreement from ``minimum`` to less than ``below``, in the order of agreement."""
    backwards = place.before is not None
    way, sign = ("DESC", "<") if place.descending != backwards else ("ASC", ">")
    named = place.before if backwards else place.after
    beyond = "" if named is None else (
        f" AND (r.agreement, r.id) {sign} (SELECT x.agreement, x.id FROM result x"
        " WHERE x.project_id = %(project)s AND x.task_id = %(named)s AND x.last_version)"
    )  # fmt: skip
    # The index alone has what the inner statement reads, so that the rows that are passed over are not read.
    sql = (
        f"SELECT s.*, left(t.info::text, 300) AS info_text FROM ("
        f"SELECT {COLUMNS}, row_number() OVER (ORDER BY r.agreement {way}, r.id {way}) AS nth FROM ("
        f"SELECT r.agreement, r.id {_LAST}{_range(minimum, below)}{beyond}"
        f" ORDER BY r.agreement {way}, r.id {way} LIMIT %(limit)s OFFSET %(offset)s) r"
        " JOIN result x ON x.project_id = %(project)s AND x.id = r.id"
        " JOIN task_ledger l ON l.project_id = %(project)s AND l.task_id = x.task_id) s"
        f" LEFT JOIN LATERAL (SELECT info FROM {hidden_columns.tasks(owns=owns)} WHERE project_id = %(project)s AND id = s.id OFFSET 0) t ON true"
        f" ORDER BY s.nth {'DESC' if backwards else 'ASC'}"
    )
    values = {"project": project_id, "named": named, "limit": limit, "offset": place.offset}
    return await fetch_rows(db, ListedTask, sql, values | {"minimum": minimum, "below": below})


async def count_agreed(db: Database, project_id: int, minimum: float | None, below: float | None, maximum: int) -> int:
    """How many tasks have such an agreement, counted up to ``maximum``."""
    row = await one(
        db,
        # The order makes it read the index: the rows hold the ids of answers, and are many times as wide.
        f"SELECT count(*) AS n FROM (SELECT {_LAST}{_range(minimum, below)} ORDER BY r.agreement LIMIT %(maximum)s) r",
        {"project": project_id, "minimum": minimum, "below": below, "maximum": maximum},
    )
    return int(row["n"])


def _range(minimum: float | None, below: float | None) -> str:
    from_ = "" if minimum is None else " AND r.agreement >= %(minimum)s::real"
    return from_ if below is None else f"{from_} AND r.agreement < %(below)s::real"
