"""Makes the tasks of the next step, after the commit: each once, whatever happens in between (record 59).

Changes of the first project are followed from a position that goes on in the transaction that makes the tasks, and
a part of a task is one task by its key. So nothing is lost or made twice when the process is killed, or runs twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

import attrs

from crowdd.core.quotas import Quota
from crowdd.database.access import Database, Transactions
from crowdd.features.chains import following_statements
from crowdd.features.chains.parts import Part, Place, Source, named, wanted_parts
from crowdd.features.chains.rows import ChangedSource, KnownPart, Link, SourceRow
from crowdd.features.tasks import statements as task_statements
from crowdd.kernel.errors import CrowddError, UnavailableError
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Json, Values
from crowdd.kinds.chains import ChainRule, stored_rule
from crowdd.kinds.task import TASK

CHUNK: Final = 50  # tasks of the first project, in one transaction
_PARTS: Final = 200  # in one statement, about
_IDLE: Final = 1000  # transactions after which the position of a link goes on although nothing has changed there


@attrs.frozen
class Following:
    """Follows links. ``notify`` is told of the projects whose tasks have changed."""

    db: Transactions
    notify: Callable[[int], None]
    quota: Quota

    async def run(self) -> int:
        """Follows all links to their ends; how many tasks of next steps changed.

        What one project becomes may complete nothing in the next one by itself, so each link is followed once.
        """
        changed = 0
        for next_id in await following_statements.list_due(self.db, _IDLE):
            changed += await self.follow(next_id)
        return changed

    async def follow(self, next_id: int) -> int:
        """Follows one link to its end; how many tasks of the next step changed.

        What refuses that, such as a full account, is noted at the link, which is tried again.
        """
        changed, more = 0, True
        while more:
            try:
                step, more = await self.db.transaction(lambda tx: self._step(tx, next_id))
            except UnavailableError:
                raise
            except CrowddError as error:  # other links go on; a project that was deleted has none
                await following_statements.fail(self.db, next_id, str(error))
                return changed
            changed += step
            if step:
                self.notify(next_id)
        return changed

    async def _step(self, tx: Database, next_id: int) -> tuple[int, bool]:
        """Follows the next changes; how many tasks changed, and whether there may be more."""
        await task_statements.hold_imports(tx, next_id)
        link = await following_statements.find_link(tx, next_id)
        if link is None:
            return 0, False
        changes = await following_statements.list_changed(tx, link, CHUNK)
        left = await following_statements.list_open(tx, next_id, CHUNK) if len(changes) < CHUNK else []
        changed = await self._make(tx, link, {each["task_id"] for each in changes} | {*left})
        await _move(tx, link, changes)
        return changed, len(changes) == CHUNK

    async def _make(self, tx: Database, link: Link, task_ids: Iterable[int]) -> int:
        if not (ordered := sorted(task_ids)):
            return 0
        rows = await following_statements.read_sources(tx, link.project_id, ordered)
        known = await following_statements.list_parts(tx, link.next_project_id, ordered)
        rule = stored_rule(link.rule)
        changed, sources, n_parts = 0, list[Values](), 0
        for row in rows:
            sources.append(source_of(rule, row, known, link.n_answers))
            n_parts += len(sources[-1]["parts"] or ())
            if n_parts > _PARTS or row is rows[-1]:
                followed = await following_statements.follow(tx, link.next_project_id, sources)
                changed += followed.made + followed.updated + followed.deleted + followed.marked
                sources, n_parts = [], 0
        if changed:
            await self.quota.require(tx, Requester(user_id=link.owner_id, via="job"))
        return changed


TASK_END: Final = 2**63 - 1
"""Behind all tasks."""


async def _move(tx: Database, link: Link, found: Sequence[ChangedSource]) -> None:
    """Moves the position behind what was found; behind everything that has ended, if that was all."""
    position, task_id = link.horizon - 1, TASK_END
    if len(found) == CHUNK:
        position, task_id = found[-1]["changed"], found[-1]["task_id"]
    if found or link.failure is not None or position > link.position + _IDLE:
        await following_statements.move(tx, link, position, task_id)


def source_of(rule: ChainRule, row: SourceRow, known: Iterable[KnownPart], usual: int | None) -> Values:
    """What ``follow_sources`` takes of a task: ``parts`` is None where it cannot be said now what it becomes.

    A task that was deleted becomes nothing. ``usual``: as ``Link.n_answers``.
    """
    source: Values = {"task": row["task_id"], "result": row["result_id"], "parts": None}
    if row["complete"] is None:
        return source | {"parts": []}
    parts = wanted_parts(rule, said_by(row)) if row["complete"] else None
    if parts is None:
        return source
    earlier = {one["part"]: _place(one["place"]) for one in known if one["source_task_id"] == row["task_id"]}
    attributes = {
        "n_answers": rule.n_answers or usual or TASK.field("n_answers").default,
        "priority_0": row["priority_0"],
        "quorum": 0,
        "calibration": 0,
    }
    return source | {"parts": [_part(name, one) | attributes for name, one in named(parts, earlier).items()]}


def said_by(row: SourceRow) -> Source:
    """A complete task as rules look at it."""
    return Source(row["info"], dict(zip(row["names"], row["said"], strict=False)))


def _part(name: str, part: Part) -> Values:
    place: Json = None if part.place is None else [*part.place]
    return {"part": name, "place": place, "info": part.info}


def _place(stored: list[float] | None) -> Place | None:
    if stored is None:
        return None
    left, top, width, height = stored
    return left, top, width, height
