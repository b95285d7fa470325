"""Tasks of a project that match the filters of their list, as changes of many tasks choose them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import attrs

from crowdd.storage.core import hidden_columns
from crowdd.storage.database import Database, fetch_row
from crowdd.storage.tasks.rows import MatchingTasks
from crowdd.storage.tasks.task_list import STATES, patterns

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
        words = _WORDS.format(tasks=hidden_columns.tasks(owns=self.owns))
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


async def matching(
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


async def first_ids(db: Database, project_id: int, chosen: TaskFilter, maximum: int) -> list[int]:
    """The first tasks that match, by id."""
    rows = await db.fetch(
        f"SELECT l.task_id FROM task_ledger l WHERE l.project_id = %(project)s AND {chosen.condition}"
        " ORDER BY l.task_id LIMIT %(maximum)s",
        {**chosen.values, "project": project_id, "maximum": maximum},
    )
    return [row["task_id"] for row in rows]
