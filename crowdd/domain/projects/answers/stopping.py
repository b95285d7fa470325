"""Adaptive redundancy: when a task is complete before it has all its answers (``info.trust``)."""

from __future__ import annotations

from typing import Final

from crowdd.domain.core.background_queue import Queue
from crowdd.domain.projects.answers.answer_recount import CHUNK, HANDLER
from crowdd.errors import InvalidValueError
from crowdd.languages import _
from crowdd.requester import Requester
from crowdd.storage.database import Database
from crowdd.storage.tasks import changes, rows
from crowdd.values import Values

STOPPING: Final = "trust"
"""The key of ``info``: ``{"min_answers", "confidence"}``, or null."""
MAX_ANSWERS: Final = 50
"""Tasks that need more answers than this do not stop early."""
MIN_CONFIDENCE, MAX_CONFIDENCE = 0.5, 0.999


def check_stopping(value: object) -> None:
    """Refuses anything but null and ``{"min_answers", "confidence"}`` within their limits."""
    if value is None:
        return
    if not isinstance(value, dict) or set(value) != {"min_answers", "confidence"}:
        raise InvalidValueError(_("`info.trust` must be an object with `min_answers` and `confidence`, or null."))
    minimum, confidence = value["min_answers"], value["confidence"]
    if type(minimum) is not int or not 1 <= minimum <= MAX_ANSWERS:
        raise InvalidValueError(
            _("`info.trust.min_answers` must be a whole number from 1 to %(max)s.", max=MAX_ANSWERS)
        )
    if type(confidence) not in (int, float) or not MIN_CONFIDENCE <= confidence <= MAX_CONFIDENCE:
        words = _(
            "`info.trust.confidence` must be a number from %(min)s to %(max)s.", min=MIN_CONFIDENCE, max=MAX_CONFIDENCE
        )
        raise InvalidValueError(words)


async def follow_stopping(
    tx: Database, queue: Queue, who: Requester, project_id: int, *, completed: bool
) -> rows.Effect | int:
    """Has all tasks follow what the project says by now, at once or by the queue: the effect, or the piece of work.

    ``completed``: also tasks that are complete.
    """
    values: Values = {"completed": completed}
    if (total := await changes.size(tx, project_id)) > CHUNK:
        arguments: Values = {"change": "stopping", "values": values, "task_ids": None, "total": total}
        return await queue.add(tx, HANDLER, arguments, who, project_id)
    ids = await changes.next_tasks(tx, project_id, 0, CHUNK)
    return await changes.apply(tx, "stopping", project_id, ids, values)
