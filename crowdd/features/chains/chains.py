"""Chains for those who run projects: which project is the next step of which, by which rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypedDict

from crowdd.core import log_statements
from crowdd.core.records import rights
from crowdd.core.records import statements as record_statements
from crowdd.database.access import Database, Transactions
from crowdd.features.chains import following_statements, statements
from crowdd.features.chains.following import said_by
from crowdd.features.chains.parts import named, wanted_parts
from crowdd.features.chains.rows import ChangedTask, NextStep, OwnProject
from crowdd.kernel.errors import NOT_FOUND, ConflictError, InvalidValueError, NotFoundError
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import JsonObject
from crowdd.kinds.chains import ChainRule
from crowdd.kinds.roles import OWNERS, Role

MAX_NEXT: Final = 10
PREVIEWED: Final = 3  # complete tasks
MAX_SHOWN: Final = 20  # tasks that a preview shows of each
MAX_CHANGED: Final = 500
_MAX_LISTED: Final = 500
_MAX_ID: Final = 2**63 - 1


class PreviewedPart(TypedDict):
    """A task that would be made."""

    part: str
    info: JsonObject


class PreviewedSource(TypedDict):
    """What a complete task would become: ``n`` tasks, None where that cannot be said yet; the first ones of them."""

    task_id: int
    n: int | None
    parts: list[PreviewedPart]


class Chains:
    """For owners of the project; all raise NotFoundError, AnonymousError and ForbiddenError for others."""

    def __init__(self, db: Transactions, notify: Callable[[int], None]) -> None:
        self._db, self._notify = db, notify

    async def require(self, who: Requester, project_id: int) -> None:
        """Passes for owners of a project and administrators."""
        roles = await record_statements.roles_to_project(self._db, min(project_id, _MAX_ID), who)
        if roles is None or not roles & (OWNERS | {Role.REACHABLE}):
            raise NotFoundError(NOT_FOUND)
        rights.require(who, roles, OWNERS)
        rights.require_project_scope(who, project_id)

    async def next_steps(self, who: Requester, project_id: int) -> list[NextStep]:
        """The next steps with their rules, and what was made."""
        await self.require(who, project_id)
        return await statements.list_next(self._db, project_id)

    async def put(self, who: Requester, project_id: int, next_id: int, rule: ChainRule) -> None:
        """Makes a project the next step, or gives it another rule, which tasks that nobody has answered follow.

        Raises InvalidValueError for a circle; NotFoundError for a next project that is not theirs, too;
        ConflictError when it is the next step of another project, or the project has MAX_NEXT of them.
        """
        await self.require(who, project_id)
        rights.require_project_scope(who, next_id)
        user_id = None if who.acting_admin else who.acting_user

        async def work(tx: Database) -> str:
            state = await statements.link(tx, project_id, min(next_id, _MAX_ID), rule.as_json(), user_id, MAX_NEXT)
            if state == "ok":
                await _note(tx, who, "link_next_step", project_id, next_id)
            return state

        _require_ok(await self._db.transaction(work), next_id)
        self._notify(project_id)

    async def remove(self, who: Requester, project_id: int, next_id: int) -> None:
        """Ends a link. The tasks that were made stay."""
        await self.require(who, project_id)

        async def work(tx: Database) -> None:
            if not await statements.unlink(tx, project_id, min(next_id, _MAX_ID)):
                raise NotFoundError(NOT_FOUND)
            await _note(tx, who, "unlink_next_step", project_id, next_id)

        await self._db.transaction(work)

    async def preview(self, who: Requester, project_id: int, rule: ChainRule) -> list[PreviewedSource]:
        """What the tasks that were completed first would become by a rule."""
        await self.require(who, project_id)
        task_ids = await following_statements.list_complete(self._db, project_id, PREVIEWED)
        previews: list[PreviewedSource] = []
        for row in await following_statements.read_sources(self._db, project_id, task_ids):
            parts = wanted_parts(rule, said_by(row)) if row["complete"] else None
            shown = [*named(parts or [], {}).items()][:MAX_SHOWN]
            previews.append(
                {
                    "task_id": row["task_id"],
                    "n": None if parts is None else len(parts),
                    "parts": [{"part": name, "info": part.info} for name, part in shown],
                }
            )
        return previews

    async def changed(self, who: Requester, project_id: int, next_id: int) -> list[ChangedTask]:
        """The first MAX_CHANGED tasks of a next step whose source says something else by now."""
        if all(step["id"] != next_id for step in await self.next_steps(who, project_id)):
            raise NotFoundError(NOT_FOUND)
        return await statements.list_changed(self._db, next_id, MAX_CHANGED)

    async def candidates(self, who: Requester, project_id: int) -> list[OwnProject]:
        """The requester's newest projects that could be a next step."""
        if who.acting_user is None:
            return []
        return await statements.list_own(self._db, project_id, who.acting_user, _MAX_LISTED)

    async def columns(self, project_id: int) -> list[str]:
        """The columns of tasks that a form proposes."""
        return await statements.find_columns(self._db, project_id)


def _require_ok(state: str, next_id: int) -> None:
    if state == "unknown":
        raise NotFoundError(NOT_FOUND, hint=f"You own no project {next_id}, or nobody owns both projects.")
    if state == "circle":
        raise InvalidValueError(_("A project cannot come before itself."), code="circle")
    if state == "taken":
        raise ConflictError(_("The project is the next step of another one."), code="step_taken")
    if state == "many":
        raise ConflictError(
            _("A project can have at most %(maximum)s next steps.", maximum=MAX_NEXT), code="too_many_steps"
        )


async def _note(tx: Database, who: Requester, act: str, project_id: int, next_id: int) -> None:
    await log_statements.write_act(
        tx, who, act, "project", project_id, project_id=project_id, after={"next_project_id": next_id}
    )
