"""What a volunteer does with leased tasks, apart from answering them: keep, skip, give back, wait for.

A lease ends in the database (``end_lease`` and ``expire_leases`` in definitions/tasks/36_leases.sql), an expired
one when somebody asks for a task.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs

from crowdd.database.access import Database
from crowdd.features.tasks import statements
from crowdd.features.tasks.contributions import MAX_LEASES, Contributions, refusal
from crowdd.kernel.languages import _, ngettext
from crowdd.kernel.requester import Requester
from crowdd.kinds.body import Body, Listed, key
from crowdd.kinds.types import Boolean, Choice, Integer

MAX_COUNTED = 100  # tasks leased by others
REASONS = ("broken", "unsure", "disturbing")  # that somebody may give for skipping a task
NO_REASON = "none"


@attrs.frozen
class Lease:
    """How a volunteer stands to a task: leased, with the whole seconds that are left; late, answered or none."""

    state: str
    left: int | None


class ReleaseBody(Body):
    """How a task is given back."""

    skip: bool = key(Boolean(), "Whether the caller skips the task. It is then assigned to them last.", default=False)
    reason: str = key(
        Choice(choices=("", *REASONS)), "Reason for skipping. Owners see how often each was given.", default=""
    )
    also: Sequence[int] = key(
        Listed(of=Integer(minimum=0), maximum=MAX_LEASES),
        "Ids of other tasks of the project to release as well.",
        default=(),
    )


class Leases:
    """Renewing, releasing, and why there is no task."""

    def __init__(self, db: Database, notify: Callable[[int], None], contributions: Contributions) -> None:
        self._db, self._notify, self._contributions = db, notify, contributions

    async def lease(self, who: Requester, task_id: int, uid: str | None, bearer: str | None) -> str:
        """Reserves a named task: leased, late (it is full) or answered; ``uid`` and ``bearer`` as with newtask.

        Raises NotFoundError, and for people who may not have the project's tasks AnonymousError or ForbiddenError.
        """
        who, project_id = await self._contributions.known(who, task_id, uid, bearer)
        return await self._contributions.hold(who, project_id, task_id)

    async def renew(self, who: Requester, task_id: int, uid: str | None, bearer: str | None) -> Lease:
        """Prolongs the lease of a volunteer who works on the task; ``uid`` and ``bearer`` as with newtask.

        Raises NotFoundError, and for those who may not have the project's tasks AnonymousError or ForbiddenError.
        """
        who, project_id = await self._contributions.known(who, task_id, uid, bearer)
        network = await self._contributions.networks.of(who, project_id)
        row = await statements.renew_lease(self._db, who, network, project_id, task_id)
        if error := refusal(row.state, who):
            raise error
        left = row.left if row.state == "leased" else None
        return Lease(row.state, None if left is None else max(0, int(left)))

    async def give_back(
        self, who: Requester, task_id: int, uid: str | None, bearer: str | None, release: ReleaseBody
    ) -> bool:
        """Lets others have the task. False: they had none of those that are given back."""
        who, project_id = await self._contributions.known(who, task_id, uid, bearer)
        named = [task_id, *release.also]
        if not await statements.give_back_leases(self._db, who.actor, project_id, named, release.skip):
            return False
        if release.skip:
            await statements.count_skip(self._db, who.actor, project_id, task_id, release.reason or NO_REASON)
        self._notify(project_id)  # a late answer may count now
        return True

    async def skips(self, project_id: int, task_id: int) -> dict[str, int]:
        """How often a task was skipped, by the reason that was given; reasons that nobody gave are left out."""
        return await statements.list_skips(self._db, project_id, task_id)

    async def held_by_others(self, who: Requester, project_id: int) -> int:
        """Tasks that others are at and the volunteer could answer, at most MAX_COUNTED."""
        return await statements.count_held_by_others(self._db, who.actor, project_id)


def why_no_task(reason: str, held: int, retry_in: int | None, *, guest: bool) -> dict[str, object]:
    """The reason of an empty newtask, for programs and in words. ``guest``: of a group, which is as a network."""
    if reason == "network":
        in_group = _("Others in your group have answered the remaining tasks.")
        message = in_group if guest else _("Somebody in your network has answered the remaining tasks.")
        return {"reason": reason, "message": message}
    if reason != "wait":
        return {"reason": reason, "message": _("You have answered all the tasks available to you.")}
    if held >= MAX_COUNTED:
        message = _("Others are working on the last tasks, more than %(num)s of them.", num=MAX_COUNTED - 1)
    else:
        message = ngettext(
            "Others are working on the last task.", "Others are working on the last %(num)s tasks.", held
        )
    return {"reason": reason, "message": message, "held_tasks": held, "retry_after": retry_in}
