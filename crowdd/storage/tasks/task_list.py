"""Tasks of one project as people look through them, and what was answered to one of them.

In the order of ids a page costs the same wherever it is: it begins behind a task, at an ordinal, or a bounded number of
rows from the beginning; by priority too. A state that few tasks have, and the order by answers, read the narrow ledger
rows of the whole project once: linear, some tenths of a second for a million.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import attrs

from crowdd.kinds.task_run import TASK_RUN
from crowdd.storage.core import hidden_columns
from crowdd.storage.core.list_size import MAX_LIST_BYTES, within
from crowdd.storage.database import Database, fetch_rows, one, one_or_none
from crowdd.storage.tasks.finished_tasks import SAID
from crowdd.storage.tasks.outcomes.rows import ChoiceProbability, Said, Vote
from crowdd.storage.tasks.rows import ListedRun, ListedTask

STATES = {"ongoing": "NOT (l.done OR l.retired)", "completed": "(l.done OR l.retired)"}
ORDERS = {"id": "l.task_id", "priority_0": "l.priority_0", "n_task_runs": "(l.answers + l.uncounted)"}
_LIKE, _ESCAPED = re.compile(r"([\\%_])"), r"\\\1"
_MAX_VOTE_BYTES = 4000
_LEDGER = "SELECT * FROM task_ledger l WHERE l.project_id = %(project)s"
COLUMNS = (
    "l.task_id AS id, l.ordinal, coalesce(l.max_answers, l.n_answers) AS n_answers, l.answers + l.uncounted AS n_task_runs, l.answers, l.priority_0, l.retired, l.done,"
    " l.leases, CASE WHEN l.done OR l.retired THEN 'completed' ELSE 'ongoing' END AS state"
)


@attrs.frozen
class PageStart:
    """Where a page begins: behind the task ``after`` or before ``before``, else ``offset`` rows from the beginning, or
    at an ``ordinal``. ``order`` and ``descending`` are those of the whole list.
    """

    state: str | None = None
    order: str = "id"
    descending: bool = False
    after: int | None = None
    before: int | None = None
    offset: int = 0
    ordinal: int | None = None


async def tasks(db: Database, project_id: int, place: PageStart, limit: int, *, owns: bool) -> list[ListedTask]:
    """A page of tasks in the order asked for, each with the beginning of its ``info`` as text.

    ``owns``: for an owner, who sees hidden columns.
    """
    backwards = place.before is not None
    down = place.descending != backwards
    way = "DESC" if down else "ASC"
    chosen = {"id": _by_id, "priority_0": _by_priority, "n_task_runs": _by_answers}[place.order](place, down)
    sql = (
        f"SELECT s.*, left(t.info::text, 300) AS info_text FROM (SELECT {COLUMNS}, row_number() OVER () AS nth"
        f" FROM (SELECT * FROM ({chosen}) l ORDER BY {_order(place.order, way)} LIMIT %(limit)s OFFSET %(offset)s) l) s"
        f" LEFT JOIN LATERAL (SELECT info FROM {hidden_columns.tasks(owns=owns)} WHERE project_id = %(project)s AND id = s.id OFFSET 0) t ON true"
        f" ORDER BY s.nth {'DESC' if backwards else 'ASC'}"
    )
    named = place.before if backwards else place.after
    values = {"project": project_id, "named": named, "limit": limit, "offset": place.offset, "ordinal": place.ordinal}
    return await fetch_rows(db, ListedTask, sql, values)


async def holding(
    db: Database, project_id: int, place: PageStart, words: Sequence[str], limit: int, maximum: int, *, owns: bool
) -> list[ListedTask]:
    """The first tasks whose ``info`` as text holds all words, in the order of ids, among the next ``maximum`` tasks."""
    sign, way = _beyond_id(place)
    state = "" if place.state is None else f" AND {STATES[place.state]}"
    return await fetch_rows(
        db,
        ListedTask,
        f"SELECT {COLUMNS}, left(w.words, 300) AS info_text FROM ("
        f"SELECT id, info::text AS words FROM {hidden_columns.tasks(owns=owns)} WHERE project_id = %(project)s{sign} ORDER BY id {way} LIMIT %(maximum)s) w"
        " JOIN LATERAL (SELECT * FROM task_ledger WHERE project_id = %(project)s AND task_id = w.id OFFSET 0) l ON true"
        f" WHERE w.words ILIKE ALL(%(patterns)s::text[]){state} ORDER BY w.id {way} LIMIT %(limit)s",
        {
            "project": project_id,
            "named": place.after,
            "maximum": maximum,
            "limit": limit,
            "patterns": patterns(words),
        },
    )


def patterns(words: Sequence[str]) -> list[str]:
    """Patterns of LIKE for texts that hold these words."""
    return [f"%{_LIKE.sub(_ESCAPED, word)}%" for word in words]


async def last_of(db: Database, project_id: int, place: PageStart, maximum: int) -> int | None:
    """The last of the next ``maximum`` tasks; None where there are no more behind it."""
    sign, way = _beyond_id(place)
    rows = await db.fetch(
        f"SELECT id FROM task WHERE project_id = %(project)s{sign} ORDER BY id {way} OFFSET %(before)s LIMIT 2",
        {"project": project_id, "named": place.after, "before": maximum - 1},
    )
    return int(rows[0]["id"]) if len(rows) > 1 else None


def _beyond_id(place: PageStart) -> tuple[str, str]:
    sign = "" if place.after is None else f" AND id {'<' if place.descending else '>'} %(named)s"
    return sign, "DESC" if place.descending else "ASC"


def _order(order: str, way: str) -> str:
    return f"l.task_id {way}" if order == "id" else f"{ORDERS[order]} {way}, l.task_id {way}"


def _by_id(place: PageStart, down: bool) -> str:
    """Walks along the tasks; what has another state is passed over."""
    where = _LEDGER
    if place.after is not None or place.before is not None:
        where += f" AND l.task_id {'<' if down else '>'} %(named)s"
    elif place.ordinal is not None:
        where += f" AND l.task_id {'<=' if down else '>='} (SELECT coalesce({_near(down)}, 0))"
    # The fence keeps the planner from sorting all tasks of a state that it takes to be rare.
    walk = f"{where} ORDER BY l.task_id {'DESC' if down else 'ASC'} OFFSET 0"
    return f"SELECT * FROM ({walk}) l WHERE {STATES[place.state]}" if place.state is not None else where


def _by_priority(place: PageStart, down: bool) -> str:
    """The best of the open tasks and of the others: each sort has its index."""
    state = "" if place.state is None else f" AND {STATES[place.state]}"
    rest = f"{state}{_beyond(place, down)} ORDER BY {_order(place.order, 'DESC' if down else 'ASC')}"
    ends = (f"({_LEDGER} AND {half}{rest} LIMIT %(limit)s + %(offset)s)" for half in ("l.open", "NOT l.open"))
    return " UNION ALL ".join(ends)


def _by_answers(place: PageStart, down: bool) -> str:
    """Sorts no more than the keys of all tasks, and then reads the rows of a page."""
    state = "" if place.state is None else f" AND {STATES[place.state]}"
    first = (
        f"SELECT l.task_id FROM task_ledger l WHERE l.project_id = %(project)s{state}{_beyond(place, down)}"
        f" ORDER BY {_order(place.order, 'DESC' if down else 'ASC')} LIMIT %(limit)s + %(offset)s"
    )
    return f"SELECT l.* FROM ({first}) k JOIN task_ledger l ON l.project_id = %(project)s AND l.task_id = k.task_id"


def _beyond(place: PageStart, down: bool) -> str:
    """Tasks behind the named one; none where it is gone."""
    if place.after is None and place.before is None:
        return ""
    key = ORDERS[place.order]
    here = f"SELECT {key} FROM task_ledger l WHERE l.project_id = %(project)s AND l.task_id = %(named)s"
    return f" AND ({key}, l.task_id) {'<' if down else '>'} (({here}), %(named)s::bigint)"


def _near(down: bool) -> str:
    """The first task at the ordinal or, where that one is gone, behind it. Ordinals rise with ids."""
    sign, way = ("<=", "DESC") if down else (">=", "ASC")
    exact = "SELECT task_id FROM task_ledger WHERE project_id = %(project)s AND ordinal = %(ordinal)s"
    near = (
        f"SELECT task_id FROM task_ledger WHERE project_id = %(project)s AND ordinal {sign} %(ordinal)s"
        f" ORDER BY ordinal {way} LIMIT 1"
    )
    return f"({exact}), ({near})"


async def ordinals(db: Database, project_id: int) -> int:
    """How many tasks the project has had: the last ordinal."""
    row = await one_or_none(
        db, "SELECT n_ordinals FROM project_ledger WHERE project_id = %(project)s", {"project": project_id}
    )
    return int(row["n_ordinals"]) if row else 0


async def has(db: Database, project_id: int, task_id: int) -> bool:
    """Whether the task is one of the project."""
    row = await one_or_none(
        db,
        "SELECT FROM task_ledger WHERE project_id = %(project)s AND task_id = %(task)s",
        {"project": project_id, "task": task_id},
    )
    return row is not None


async def votes(db: Database, project_id: int, task_id: int, maximum: int) -> list[Vote]:
    """What was answered to a task, among the answers that count: ``value`` and how many (``n``), the most frequent first.

    ``key``: where in the answers the values stand; None: they are the whole answers. ``counts`` in each row are the numbers
    of all values, in the same order. Of a large value only its beginning. Answers that leave it out are none of them.
    """
    return await fetch_rows(
        db,
        Vote,
        "WITH v AS MATERIALIZED (SELECT key, value, count(*)::int AS n, min(run) AS first FROM answer_values(%(project)s, %(task)s)"
        f" WHERE value IS NOT NULL GROUP BY key, value) SELECT key, CASE WHEN octet_length(value::text) <= {_MAX_VOTE_BYTES} THEN value"
        f" ELSE to_jsonb(left(value::text, {_MAX_VOTE_BYTES // 4})) END AS value, n, (SELECT array_agg(n ORDER BY n DESC) FROM v) AS counts"
        " FROM v ORDER BY n DESC, first LIMIT %(maximum)s",
        {"project": project_id, "task": task_id, "maximum": maximum},
    )


async def said(db: Database, project_id: int, task_id: int) -> Said | None:
    """What the counted answers to a task say together, finished or not; None without any."""
    rows = await fetch_rows(
        db,
        Said,
        f"SELECT {SAID} FROM consensus_with_compared(%(project)s, %(task)s) r",
        {"project": project_id, "task": task_id},
    )
    return rows[0] if rows else None


async def posterior(db: Database, project_id: int, task_id: int) -> list[ChoiceProbability] | None:
    """How probable each choice is: by the last result of a task, or by the answers to an open one so far."""
    row = await one(
        db,
        "SELECT coalesce((SELECT posterior_by_choice(r.project_id, r.generation, r.posterior) FROM result r"
        " WHERE r.project_id = %(project)s AND r.task_id = %(task)s AND r.last_version),"
        " (SELECT posterior_by_choice(%(project)s, w.generation, w.posterior) FROM weigh(%(project)s, %(task)s) w)) AS posterior",
        {"project": project_id, "task": task_id},
    )
    probabilities: list[ChoiceProbability] | None = row["posterior"]
    return probabilities


async def runs(db: Database, project_id: int, task_id: int, after: int, maximum: int) -> list[ListedRun]:
    """Answers to a task behind one, by id, with ``counted`` and the ``name`` and ``fullname`` of the account.

    They end before MAX_LIST_BYTES; ``n_rows`` is how many there would be.
    """
    sql = (
        "SELECT r.*, a.name, a.fullname, a.privacy_mode FROM ("
        "SELECT * FROM task_run_record WHERE project_id = %(project)s AND task_id = %(task)s AND id > %(after)s"
        " ORDER BY id LIMIT %(maximum)s) r LEFT JOIN account a ON a.id = r.user_id ORDER BY r.id"
    )
    values = {"project": project_id, "task": task_id, "after": after, "maximum": maximum, "max_bytes": MAX_LIST_BYTES}
    return await fetch_rows(db, ListedRun, within(TASK_RUN, sql), values)
