"""Favourites over REST, and the lists of a person's own answers, favourites and projects.

Only the person themselves asks for these lists (record 19). Tasks and projects are read with the person's rights: of a
project that they may no longer see, an answer shows only what they gave themselves. (Interface: favorites.)
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import attrs

from crowdd.core.records import listing_statements, rights
from crowdd.core.records.listing_statements import Filter, Query
from crowdd.core.records.records import Records, Views
from crowdd.database.access import Database, Row, Transactions
from crowdd.features.community import statements
from crowdd.features.projects import list_statements as project_list_statements
from crowdd.features.projects.rows import ProjectSummary
from crowdd.features.projects.serializers import project_summary
from crowdd.kernel.errors import NOT_FOUND, AnonymousError, NotFoundError
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Values
from crowdd.kinds.kind import Kind, outward
from crowdd.kinds.project import PROJECT
from crowdd.kinds.task import TASK

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
        answer_rows = await statements.list_answers(self._db, _require_user(who), before or _LAST, PER_PAGE + 1)
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
        task_ids = await statements.list_favourites(self._db, _require_user(who), before or _LAST, PER_PAGE + 1)
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
        rows = await project_list_statements.list_projects_to_continue(self._db, f"u:{_require_user(who)}", _CONTINUED)
        return [project_summary(row) for row in rows]

    async def to_continue_from(self, who: Requester, project_id: int, maximum: int) -> list[ProjectSummary]:
        """The same as rows, at most so many; the project with this id comes first."""
        actor = f"u:{_require_user(who)}"
        rows = await project_list_statements.list_projects_to_continue(self._db, actor, _CONTINUED)
        return sorted(rows, key=lambda row: row["id"] != project_id)[:maximum]

    async def _visible(self, kind: Kind, who: Requester, ids: Iterable[int]) -> dict[int, Row]:
        wanted = list(ids)
        if not wanted:
            return {}
        query = Query(kind, filters=(Filter(kind.field("id"), wanted),), limit=len(wanted))
        return {row["id"]: row for row in await listing_statements.select(self._db, query, who)}


def _task(row: Row | None) -> Values | None:
    return None if row is None else {"id": row["id"], "info": row["info"]}


def _project(row: Row | None) -> Values | None:
    return None if row is None else {name: row[name] for name in ("id", "name", "short_name")}


def _require_user(who: Requester) -> int:
    if who.acting_user is None:
        raise AnonymousError(_("Sign in first."))
    return who.acting_user


class Favourites:
    """The marked tasks of a person."""

    def __init__(self, db: Transactions, records_: Records) -> None:
        self._db, self._records = db, records_

    async def list(self, query: Query, who: Requester) -> Views:
        """The tasks of a list that the requester marked and may (still) see, of all projects."""
        rows = await listing_statements.select(
            self._db, attrs.evolve(query, own=False, favourite_of=_require_favourites_user(who)), who
        )
        return [self._records.view(TASK, row) for row in rows]

    async def add(self, who: Requester, task_id: int) -> Values:
        """Marks a task, and gives it."""
        user_id = _require_favourites_user(who)
        row = await self._task(who, task_id)
        await statements.insert_favourite(self._db, user_id, row["id"])
        return self._records.view(TASK, row)

    async def remove(self, who: Requester, task_id: int) -> Values:
        """Takes the mark off a task, and gives it. NotFoundError when it has none."""
        user_id = _require_favourites_user(who)

        async def work(tx: Database) -> bool:
            return await statements.delete_favourite(tx, user_id, task_id)

        row = await self._task(who, task_id)
        if not await self._db.transaction(work):
            raise NotFoundError(NOT_FOUND)
        return self._records.view(TASK, row)

    async def _task(self, who: Requester, task_id: int) -> Row:
        row = await self._records.find(self._db, TASK, who, task_id)
        rights.require(who, row["roles"], TASK.rights.get)
        return row


def _require_favourites_user(who: Requester) -> int:
    if who.acting_user is None:
        raise AnonymousError("Sign in to use favourites.")
    return who.acting_user
