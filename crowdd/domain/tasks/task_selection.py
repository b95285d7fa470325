"""The tasks that a change of many tasks is about: named ones, those that match a filter, or all."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from crowdd.errors import InvalidValueError
from crowdd.languages import _
from crowdd.storage.database import Database
from crowdd.storage.tasks import changes, selection
from crowdd.storage.tasks.changes import Chosen
from crowdd.storage.tasks.selection import TaskFilter
from crowdd.values import Values

MAX_NAMED = 100_000  # tasks that one request may name
MAX_SEARCHED = 200_000  # tasks of a project in which words choose tasks, which no index can do
MAX_WALKED = 20_000  # tasks that one step looks through for those that match


@attrs.frozen
class Chunk:
    """Tasks of one step: their ids, the last task that was come to, and how many were looked at."""

    ids: Sequence[int]
    last: int
    walked: int


async def chunk(db: Database, project_id: int, chosen: Chosen, after: int, maximum: int) -> Chunk | None:
    """The next tasks behind one, None at the end. ``ids`` may be empty where none of those looked at match."""
    if isinstance(chosen, TaskFilter):
        batch = await selection.matching(db, project_id, chosen, after, maximum, MAX_WALKED)
        return None if batch.last is None else Chunk(batch.ids, batch.last, batch.walked)
    if chosen is None:
        ids: Sequence[int] = await changes.next_tasks(db, project_id, after, maximum)
    else:
        ids = [task_id for task_id in chosen if task_id > after][:maximum]
    return Chunk(ids, ids[-1], len(ids)) if ids else None


async def few(db: Database, project_id: int, chosen: Chosen, maximum: int) -> Sequence[int] | None:
    """All the tasks; None if they are more than ``maximum``, or if it takes long to find them."""
    first = await chunk(db, project_id, chosen, 0, maximum + 1)
    if first is None:
        return []
    too_many = len(first.ids) > maximum
    return None if too_many or (isinstance(chosen, TaskFilter) and first.walked >= MAX_WALKED) else first.ids


async def require_searchable(db: Database, project_id: int, chosen: Chosen) -> None:
    """Raises InvalidValueError for words in a project with more than MAX_SEARCHED tasks."""
    if not isinstance(chosen, TaskFilter) or not chosen.words:
        return
    if await changes.size(db, project_id) > MAX_SEARCHED:
        maximum = f"{MAX_SEARCHED:,}"
        raise InvalidValueError(
            _("Words can select tasks only in projects of up to %(maximum)s tasks.", maximum=maximum)
        )


async def named(db: Database, project_id: int, matching: TaskFilter) -> list[int] | None:
    """The tasks that match, by id; None for all. Raises InvalidValueError for more than MAX_NAMED."""
    if matching.is_all:
        return None
    await require_searchable(db, project_id, matching)
    ids = await selection.first_ids(db, project_id, matching, MAX_NAMED + 1)
    if len(ids) > MAX_NAMED:
        maximum = f"{MAX_NAMED:,}"
        raise InvalidValueError(
            _("At most %(maximum)s tasks can be selected. Export all tasks instead.", maximum=maximum)
        )
    return ids


def asked_for(arguments: Values) -> Chosen:
    """The tasks of a background task: those that are named or match, or all (None)."""
    matching = arguments.get("matching")
    named: list[int] | None = arguments["task_ids"]
    return named if matching is None else TaskFilter(**matching)
