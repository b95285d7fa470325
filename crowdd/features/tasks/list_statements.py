"""SQL of the list of tasks: pages, filters, one task with its answers, and the tasks as a table.

In the order of ids a page costs the same wherever it is: it begins behind a task, at an ordinal, or a bounded number of
rows from the beginning; by priority too. A state that few tasks have, and the order by answers, read the narrow ledger
rows of the whole project once: linear, some tenths of a second for a million. The table has the keys of ``info`` as
columns. Changes of many tasks choose them by the same filters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import attrs

from crowdd.core.records import statements as record_statements
from crowdd.core.records.statements import MAX_LIST_BYTES, limit_bytes
from crowdd.database.access import Database, fetch_row, fetch_rows, one, one_or_none
from crowdd.features.results.rows import ChoiceProbability, Said, Vote
from crowdd.features.results.statements import SAID
from crowdd.features.tasks.rows import ListedRun, ListedTask, MatchingTasks, TaskContent
from crowdd.kinds.task_run import TASK_RUN

_OF_TASK = "x.project_id = l.project_id AND x.task_id = l.task_id"
STATES = {
    "ongoing": "NOT (l.done OR l.retired)",
    "completed": "(l.done OR l.retired)",
    "skipped": f"EXISTS (SELECT FROM task_skip x WHERE {_OF_TASK})",
    "review": f"EXISTS (SELECT FROM retirement x WHERE {_OF_TASK} AND x.reason = 'skipped')",
}
"""``skipped``: somebody has skipped it; ``review``: so many have that it is retired until an owner has looked at it."""
OF_OWNERS = ("skipped", "review")
"""States and orders that are nobody else's business."""
_SKIPS = f"(SELECT coalesce(sum(x.n), 0) FROM task_skip x WHERE {_OF_TASK})"
ORDERS = {
    "id": "l.task_id",
    "priority_0": "l.priority_0",
    "n_task_runs": "(l.answers + l.uncounted)",
    "n_skips": _SKIPS,
}
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


async def list_tasks(db: Database, project_id: int, place: PageStart, limit: int, *, owns: bool) -> list[ListedTask]:
    """A page of tasks in the order asked for, each with the beginning of its ``info`` as text.

    ``owns``: for an owner, who sees hidden columns.
    """
    backwards = place.before is not None
    down = place.descending != backwards
    way = "DESC" if down else "ASC"
    chosen = {"id": _by_id, "priority_0": _by_priority, "n_task_runs": _by_key, "n_skips": _by_key}[place.order](
        place, down
    )
    sql = (
        f"SELECT s.*, left(t.info::text, 300) AS info_text FROM (SELECT {COLUMNS}, row_number() OVER () AS nth"
        f" FROM (SELECT * FROM ({chosen}) l ORDER BY {_order(place.order, way)} LIMIT %(limit)s OFFSET %(offset)s) l) s"
        f" LEFT JOIN LATERAL (SELECT info FROM {record_statements.task_relation(owns=owns)} WHERE project_id = %(project)s AND id = s.id OFFSET 0) t ON true"
        f" ORDER BY s.nth {'DESC' if backwards else 'ASC'}"
    )
    named = place.before if backwards else place.after
    values = {"project": project_id, "named": named, "limit": limit, "offset": place.offset, "ordinal": place.ordinal}
    return await fetch_rows(db, ListedTask, sql, values)


async def list_tasks_with_words(
    db: Database, project_id: int, place: PageStart, words: Sequence[str], limit: int, maximum: int, *, owns: bool
) -> list[ListedTask]:
    """The first tasks whose ``info`` as text holds all words, in the order of ids, among the next ``maximum`` tasks."""
    sign, way = _beyond_id(place)
    state = "" if place.state is None else f" AND {STATES[place.state]}"
    return await fetch_rows(
        db,
        ListedTask,
        f"SELECT {COLUMNS}, left(w.words, 300) AS info_text FROM ("
        f"SELECT id, info::text AS words FROM {record_statements.task_relation(owns=owns)} WHERE project_id = %(project)s{sign} ORDER BY id {way} LIMIT %(maximum)s) w"
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


async def find_last_of_next(db: Database, project_id: int, place: PageStart, maximum: int) -> int | None:
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


def _by_key(place: PageStart, down: bool) -> str:
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


async def count_in_state(db: Database, project_id: int, state: str) -> int:
    """How many tasks have a state of OF_OWNERS."""
    row = await one(
        db,
        f"SELECT count(*) AS n FROM task_ledger l WHERE l.project_id = %(project)s AND {STATES[state]}",
        {"project": project_id},
    )
    return int(row["n"])


async def has_task(db: Database, project_id: int, task_id: int) -> bool:
    """Whether the task is one of the project."""
    row = await one_or_none(
        db,
        "SELECT FROM task_ledger WHERE project_id = %(project)s AND task_id = %(task)s",
        {"project": project_id, "task": task_id},
    )
    return row is not None


async def count_votes(db: Database, project_id: int, task_id: int, maximum: int) -> list[Vote]:
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


async def find_consensus(db: Database, project_id: int, task_id: int) -> Said | None:
    """What the counted answers to a task say together, finished or not; None without any."""
    rows = await fetch_rows(
        db,
        Said,
        f"SELECT {SAID.format(task='%(task)s')} FROM consensus_with_compared(%(project)s, %(task)s) r"
        " LEFT JOIN result x ON x.project_id = %(project)s AND x.task_id = %(task)s AND x.last_version",
        {"project": project_id, "task": task_id},
    )
    return rows[0] if rows else None


async def find_posterior(db: Database, project_id: int, task_id: int) -> list[ChoiceProbability] | None:
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


async def list_runs(db: Database, project_id: int, task_id: int, after: int, maximum: int) -> list[ListedRun]:
    """Answers to a task behind one, by id, with ``counted`` and the ``name`` and ``fullname`` of the account.

    They end before MAX_LIST_BYTES; ``n_rows`` is how many there would be.
    """
    sql = (
        "SELECT r.*, a.name, a.fullname, a.privacy_mode, x.reason AS aside_reason, x.at AS aside_at, o.name AS aside_by FROM ("
        "SELECT * FROM task_run_record WHERE project_id = %(project)s AND task_id = %(task)s AND id > %(after)s"
        " ORDER BY id LIMIT %(maximum)s) r LEFT JOIN account a ON a.id = r.user_id"
        " LEFT JOIN aside_answer x ON x.project_id = r.project_id AND x.run = r.id LEFT JOIN account o ON o.id = x.user_id ORDER BY r.id"
    )
    values = {"project": project_id, "task": task_id, "after": after, "maximum": maximum, "max_bytes": MAX_LIST_BYTES}
    return await fetch_rows(db, ListedRun, limit_bytes(TASK_RUN, sql), values)


_AGREEMENT = (
    "EXISTS (SELECT FROM result r WHERE r.project_id = l.project_id AND r.task_id = l.task_id AND r.last_version"
    " AND r.agreement >= %(minimum)s::real AND r.agreement < %(below)s::real OFFSET 0)"
)
_WORDS = (
    "EXISTS (SELECT FROM {tasks} t WHERE t.project_id = l.project_id AND t.id = l.task_id"
    " AND t.info::text ILIKE ALL(%(patterns)s::text[]) OFFSET 0)"
)


def _texts(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(words)


@attrs.frozen
class TaskFilter:
    """What the tasks have in common: a state, words in ``info`` (as its JSON writes them), and an agreement.

    Agreements are from ``minimum`` to less than ``below``; tasks without a result have none. All None and no words: all tasks.
    ``owns``: an owner asks, whose words are looked for in hidden columns, too.
    """

    state: str | None = None
    words: tuple[str, ...] = attrs.field(default=(), converter=_texts)
    minimum: float | None = None
    below: float | None = None
    owns: bool = attrs.field(default=False, eq=False)

    @property
    def is_all(self) -> bool:
        """Whether every task of the project matches."""
        return self == TaskFilter()

    @property
    def condition(self) -> str:
        """A condition on ``task_ledger l``."""
        agreed = self.minimum is not None or self.below is not None
        words = _WORDS.format(tasks=record_statements.task_relation(owns=self.owns))
        parts = [*([STATES[self.state]] if self.state else []), *([_AGREEMENT] if agreed else [])]
        return " AND ".join([*parts, *([words] if self.words else [])]) or "true"

    @property
    def values(self) -> dict[str, Any]:
        """The values of the condition."""
        return {
            "patterns": patterns(self.words),
            "minimum": 0 if self.minimum is None else self.minimum,
            "below": 2 if self.below is None else self.below,
        }


async def list_matching_tasks(
    db: Database, project_id: int, chosen: TaskFilter, after: int, maximum: int, walked: int
) -> MatchingTasks:
    """At most ``maximum`` tasks that match, by id, among the next ``walked`` tasks behind one.

    ``last`` is the task that was come to, None if none is behind ``after``; ``walked`` is how many were looked at until then.
    """
    return await fetch_row(
        db,
        MatchingTasks,
        "WITH near AS MATERIALIZED (SELECT * FROM task_ledger WHERE project_id = %(project)s AND task_id > %(after)s"
        " ORDER BY task_id LIMIT %(walked)s),"
        f" found AS MATERIALIZED (SELECT task_id FROM near l WHERE {chosen.condition} ORDER BY task_id LIMIT %(maximum)s),"
        " came AS (SELECT CASE WHEN (SELECT count(*) FROM found) = %(maximum)s THEN (SELECT max(task_id) FROM found)"
        " ELSE (SELECT max(task_id) FROM near) END AS last)"
        " SELECT ARRAY(SELECT task_id FROM found ORDER BY task_id) AS ids, last,"
        " (SELECT count(*) FROM near WHERE task_id <= last) AS walked FROM came",
        {**chosen.values, "project": project_id, "after": after, "maximum": maximum, "walked": walked},
    )


def ids_of(chosen: TaskFilter) -> str:
    """A statement that gives the ids of all tasks that match, as an array."""
    return (
        "ARRAY(SELECT l.task_id FROM task_ledger l WHERE l.project_id = %(project)s"
        f" AND {chosen.condition} ORDER BY l.task_id)"
    )


async def list_first_matching(db: Database, project_id: int, chosen: TaskFilter, maximum: int) -> list[int]:
    """The first tasks that match, by id."""
    rows = await db.fetch(
        f"SELECT l.task_id FROM task_ledger l WHERE l.project_id = %(project)s AND {chosen.condition}"
        " ORDER BY l.task_id LIMIT %(maximum)s",
        {**chosen.values, "project": project_id, "maximum": maximum},
    )
    return [row["task_id"] for row in rows]


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


async def list_info_keys(db: Database, project_id: int, *, owns: bool) -> list[str]:
    """The keys that ``info`` of the first, the last and some tasks in between has, in the order in which they are found.

    Those in between are evenly spread by ordinal, so that each import of more than a twentieth of the tasks is seen.
    ``owns``: for an owner, who sees hidden columns; so everywhere here.
    """
    rows = await db.fetch(
        f"WITH t AS MATERIALIZED ({_SAMPLE})"
        f" SELECT k FROM (SELECT id, info FROM {record_statements.task_relation(owns=owns)} JOIN t USING (id) WHERE project_id = %(project)s) t"
        " CROSS JOIN LATERAL jsonb_object_keys(CASE WHEN jsonb_typeof(t.info) = 'object' THEN t.info ELSE '{}' END)"
        " WITH ORDINALITY k(k, nth) WHERE length(k) BETWEEN 1 AND %(longest)s"
        " GROUP BY k ORDER BY min(t.id), min(nth) LIMIT %(maximum)s",
        {"project": project_id, "each": _EACH, "longest": _MAX_KEY, "maximum": _MAX_KEYS},
    )
    return [row["k"] for row in rows]


async def list_first_tasks(db: Database, project_id: int, maximum: int) -> list[int]:
    """The ids of the first tasks."""
    rows = await db.fetch(
        "SELECT task_id FROM task_ledger WHERE project_id = %(project)s ORDER BY task_id LIMIT %(maximum)s",
        {"project": project_id, "maximum": maximum},
    )
    return [row["task_id"] for row in rows]


async def list_contents(
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
        " (SELECT coalesce(sum(n), 0)::int FROM task_skip s WHERE s.project_id = t.project_id AND s.task_id = t.id) AS skips,"
        " EXISTS (SELECT FROM retirement y WHERE y.project_id = t.project_id AND y.task_id = t.id AND y.reason = 'skipped') AS for_review,"
        f" x.consensus, coalesce(x.won, false) AS won, x.agreement FROM {record_statements.task_relation(owns=owns)} t LEFT JOIN LATERAL ("
        "SELECT CASE WHEN consensus IS NULL AND consensus_hash IS NOT NULL THEN '\"…\"' ELSE consensus END AS consensus, consensus_hash IS NOT NULL AS won, agreement::numeric::float8 AS agreement FROM result r"
        " WHERE r.project_id = t.project_id AND r.task_id = t.id AND last_version LIMIT 1) x ON true"
        " WHERE t.project_id = %(project)s AND t.id = ANY (%(ids)s::bigint[])",
        {"project": project_id, "ids": list(ids), "columns": list(columns), "longest": _MAX_CELL},
    )


async def list_by_agreement(
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
        f" LEFT JOIN LATERAL (SELECT info FROM {record_statements.task_relation(owns=owns)} WHERE project_id = %(project)s AND id = s.id OFFSET 0) t ON true"
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
