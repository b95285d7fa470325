"""The part of a person in projects: their answers, their favourites, and projects to go on with.

Only the person themselves asks for these lists (record 132). Tasks and projects are read with the person's rights: of a
project that they may no longer see, an answer shows only what they gave themselves.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import attrs

from crowdd.domain.projects.serializers import project_summary
from crowdd.errors import AnonymousError
from crowdd.kinds.kind import Kind, outward
from crowdd.kinds.project import PROJECT
from crowdd.kinds.task import TASK
from crowdd.languages import _
from crowdd.requester import Requester
from crowdd.storage.core import listing
from crowdd.storage.core.listing import Filter, Query
from crowdd.storage.database import Database, Row
from crowdd.storage.projects import project_lists
from crowdd.storage.tasks import participation
from crowdd.values import Values

PER_PAGE: Final = 24
_CONTINUED: Final = 20
_LAST: Final = 2**63 - 1


@attrs.frozen
class OwnPage:
    """Some rows, the newest first; ``next``: before which id the next page begins."""

    rows: list[Values]
    next: int | None


class Participation:
    """Lists of what the requester did."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def answers(self, who: Requester, before: int | None) -> OwnPage:
        """The answers of the requester, each with its ``task`` and ``project`` (None: they may not see it any more)."""
        answer_rows = await participation.answers(self._db, _me(who), before or _LAST, PER_PAGE + 1)
        shown = answer_rows[:PER_PAGE]
        tasks = await self._visible(TASK, who, {row["task_id"] for row in shown})
        projects = await self._visible(PROJECT, who, {row["project_id"] for row in shown})
        rows = [
            {name: outward(value) for name, value in row.items() if name != "project_id"}
            | {"task": _task(tasks.get(row["task_id"])), "project": _project(projects.get(row["project_id"]))}
            for row in shown
        ]
        return OwnPage(rows, shown[-1]["id"] if len(answer_rows) > PER_PAGE else None)

    async def favourites(self, who: Requester, before: int | None) -> OwnPage:
        """The tasks that the requester marked and may see, each with its ``project``."""
        task_ids = await participation.favourites(self._db, _me(who), before or _LAST, PER_PAGE + 1)
        shown = task_ids[:PER_PAGE]
        tasks = await self._visible(TASK, who, shown)
        projects = await self._visible(PROJECT, who, {row["project_id"] for row in tasks.values()})
        rows = [
            {"task": _task(tasks[number]), "project": _project(projects.get(tasks[number]["project_id"]))}
            for number in shown
            if number in tasks
        ]
        return OwnPage(rows, shown[-1] if len(task_ids) > PER_PAGE else None)

    async def to_continue(self, who: Requester) -> list[Values]:
        """Published projects in which the requester answered and can answer more tasks, as lists show projects."""
        rows = await project_lists.to_continue(self._db, f"u:{_me(who)}", _CONTINUED)
        return [project_summary(row) for row in rows]

    async def _visible(self, kind: Kind, who: Requester, ids: Iterable[int]) -> dict[int, Row]:
        wanted = list(ids)
        if not wanted:
            return {}
        query = Query(kind, filters=(Filter(kind.field("id"), wanted),), limit=len(wanted))
        return {row["id"]: row for row in await listing.select(self._db, query, who)}


def _task(row: Row | None) -> Values | None:
    return None if row is None else {"id": row["id"], "info": row["info"]}


def _project(row: Row | None) -> Values | None:
    return None if row is None else {name: row[name] for name in ("id", "name", "short_name")}


def _me(who: Requester) -> int:
    if who.acting_user is None:
        raise AnonymousError(_("Sign in first."))
    return who.acting_user
