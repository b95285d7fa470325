"""What came out of a project, for people: finished tasks with the shares of their answers, and all of them together."""

from __future__ import annotations

import attrs
import orjson

from crowdd import exact_json
from crowdd.domain.tasks.outcomes import alpha
from crowdd.domain.tasks.outcomes.alpha import Alpha
from crowdd.domain.tasks.outcomes.field_consensus import FieldSummary, by_field, summaries_by_field
from crowdd.domain.tasks.outcomes.result_charts import Charts, charts_of
from crowdd.errors import InvalidValueError
from crowdd.kinds import column_roles
from crowdd.kinds.answers import AnswerField, declared
from crowdd.kinds.result import RESULT
from crowdd.kinds.roles import OWNERS
from crowdd.languages import _
from crowdd.requester import Requester
from crowdd.storage.database import Database
from crowdd.storage.projects import overview
from crowdd.storage.projects.figure_rows import Contributors
from crowdd.storage.projects.rows import ProjectPage
from crowdd.storage.tasks import finished_tasks
from crowdd.storage.tasks.finished_tasks import ORDERS, Chosen
from crowdd.storage.tasks.outcomes.rows import FinishedTask, ResultSummary
from crowdd.values import Values

PER_PAGE = 20
OUTCOMES = 10  # most frequent answers that are shown with their number
NO_WINNER = "none"
"""The filter for results in which several answers are the most frequent."""
_VOTES = 5
_LEADERS = 5
_LOOKED_AT = 12  # newest results among which agreed ones are looked for
_MAX_ANSWER = 4000  # characters of the filter


@attrs.frozen
class Finished:
    """A page of finished tasks; ``next``: behind which result the next page begins."""

    tasks: list[Values]
    next: int | None


@attrs.frozen
class Together:
    """All finished tasks together: by the first field, and by each declared field, with Krippendorff's ``alpha``."""

    summary: ResultSummary
    fields: list[FieldSummary]
    alpha: list[Alpha]


class FinishedTasks:
    """Finished tasks of projects."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def may_see(self, row: ProjectPage) -> bool:
        """Whether who has this row of ``Projects.page`` may see answers: as in lists of results."""
        return bool(row["roles"] & RESULT.rights.see)

    async def page(self, row: ProjectPage, chosen: Chosen) -> Finished:
        """Those that are chosen; to be asked for those who may see them."""
        task_rows = await finished_tasks.page(self._db, row["id"], chosen, PER_PAGE + 1, _VOTES, owns=_owns(row))
        more = len(task_rows) > PER_PAGE
        fields = declared(row["info"])
        return Finished(
            [_task(one, fields) for one in task_rows[:PER_PAGE]], task_rows[PER_PAGE - 1]["id"] if more else None
        )

    async def agreed(self, row: ProjectPage, maximum: int) -> list[Values]:
        """The newest of the last results in which several answers have a most frequent one; at most ``maximum``.

        To be asked for those who may see answers. ``n`` of ``total`` answers are the most frequent one. Left out are
        those in which weights gave the consensus to another one.
        """
        task_rows = await finished_tasks.page(self._db, row["id"], Chosen(), _LOOKED_AT, 1, owns=_owns(row))
        agreed = [_task(one, []) for one in task_rows if one["won"] and one["total"] > 1 and _is_agreed(one)]
        return [{**one, **one["votes"][0]} for one in agreed[:maximum]]

    async def together(self, row: ProjectPage) -> Together:
        """All of them; to be asked for those who may see them."""
        fields = declared(row["info"])
        result_summaries = await finished_tasks.summaries(self._db, row["id"], OUTCOMES, len(fields) or 1)
        alphas = await alpha.of_project(self._db, row["id"], fields) if fields else []
        return Together(result_summaries[0], summaries_by_field(fields, result_summaries), alphas)

    async def alpha(self, row: ProjectPage) -> list[Alpha]:
        """Krippendorff's alpha of each declared field; to be asked for those who may see answers."""
        return await alpha.of_project(self._db, row["id"], declared(row["info"]))

    async def contributors(self, row: ProjectPage, who: Requester) -> Contributors:
        """Who gave the most answers, and how many are the requester's."""
        return await overview.contributors(self._db, row["id"], who.actor, _LEADERS)

    async def charts(self, row: ProjectPage, finished: Finished) -> Charts | None:
        """All of them by place and date, if the tasks of this page have any; to be asked for those who may see them."""
        return await charts_of(self._db, row["id"], finished.tasks, column_roles.of(row["info"]), owns=_owns(row))


def _is_agreed(task: FinishedTask) -> bool:
    """Whether several gave the most frequent answer, and it is the consensus as far as that is kept."""
    first = task["votes"][0]
    return first["n"] > 1 and (not task["short"] or task["consensus"] == first["answer"])


def _owns(row: ProjectPage) -> bool:
    return bool(row["roles"] & OWNERS)


def chosen(
    *,
    answer: str = "",
    min_agreement: int | None = None,
    max_agreement: int | None = None,
    order: str = "",
    before: int | None = None,
) -> Chosen:
    """What words of an address choose. Agreements are percentages, cut at the point: 33 chooses a third, too.

    ``answer`` is JSON, a text without quotes, or NO_WINNER. Raises InvalidValueError.
    """
    order = order or "newest"
    if order not in ORDERS:
        raise InvalidValueError(_("%(name)s must be one of %(choices)s.", name="orderby", choices=", ".join(ORDERS)))
    minimum = None if min_agreement is None else min_agreement / 100
    below = None if max_agreement is None or max_agreement >= 100 else (max_agreement + 1) / 100
    return Chosen(_json(answer), minimum, below, order, before)


def _json(answer: str) -> str | None:
    """The answer as JSON text; None for every answer, "" for none of them."""
    if not answer or answer == NO_WINNER:
        return "" if answer else None
    if len(answer) > _MAX_ANSWER:
        raise InvalidValueError(_("The answer may have at most %(maximum)s characters.", maximum=_MAX_ANSWER))
    try:
        value = exact_json.loads(answer)
    except orjson.JSONDecodeError:
        value = answer
    return orjson.dumps(value).decode()


def _task(row: FinishedTask, fields: list[AnswerField]) -> Values:
    """``share`` of an answer: 0 to 1 of those that count; ``others``: different answers that are not shown.

    ``fields``: what the answers say at each declared field.
    """
    votes = [{**vote, "share": vote["n"] / row["total"]} for vote in row["votes"]]
    return {
        "task_id": row["task_id"],
        "info": row["info"],
        "task_info": row["task_info"],
        "consensus": row["consensus"],
        "won": row["won"],
        "agreement": row["agreement"],
        "confidence": row["confidence"],
        "reason": row["reason"],
        "fields": by_field(fields, row),
        "total": row["total"],
        "votes": votes,
        "others": row["kinds"] - len(votes),
    }
