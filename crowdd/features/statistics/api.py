"""Statistics of the site, and how far volunteers agree in a project.

Other figures of projects are a kind (``PROJECT_STATISTICS``).
"""

from __future__ import annotations

from collections.abc import Iterator

from crowdd.core.records import rights
from crowdd.core.records.records import Records
from crowdd.features.projects.projects import Projects
from crowdd.features.results.results import FinishedTasks
from crowdd.features.statistics.statistics import Statistics
from crowdd.http.api.objects import checked_id, tagged
from crowdd.http.api.operations import PASSWORD, PROJECT_ID
from crowdd.http.operation import Operation, array_of, closed_object
from crowdd.http.request import Incoming
from crowdd.http.responses import Response
from crowdd.http.routing import Route, get
from crowdd.kernel.errors import AnonymousError, ForbiddenError, NotFoundError
from crowdd.kinds.answers import TYPES
from crowdd.kinds.project import PROJECT
from crowdd.kinds.result import RESULT
from crowdd.kinds.types import Integer

_COUNT = Integer(minimum=0).schema()
_CATEGORY = {"type": "object", "additionalProperties": _COUNT, "minProperties": 1, "maxProperties": 1}
_SITE = Operation(
    name="globalstats",
    section="statistics",
    summary="Read the statistics of the site",
    about="n_tasks is the number of answers that all tasks need together, n_pending_tasks the number still missing."
    " categories counts published projects by category, featured projects and drafts, each in an object with one key.",
    answer=closed_object(
        n_projects=_COUNT,
        n_users=_COUNT,
        n_tasks=_COUNT,
        n_task_runs=_COUNT,
        n_pending_tasks=_COUNT,
        n_results=_COUNT,
        categories=array_of(_CATEGORY),
    ),
)


_TEXT = {"type": "string"}
_BOUND = {"anyOf": [{"type": "number", "maximum": 1}, {"type": "null"}]}
_AGREEMENT = Operation(
    name="get_agreement",
    section="project",
    summary="Read how far volunteers agree in a project",
    about="Returns Krippendorff's alpha of each answer field, for those who may see the results.",
    parameters=(PROJECT_ID, PASSWORD),
    answer=array_of(
        closed_object(
            name={**_TEXT, "description": "Name of the answer field."},
            type={"type": "string", "enum": list(TYPES)},
            alpha={**_BOUND, "description": "Krippendorff's alpha; null if it is not known."},
            low={**_BOUND, "description": "From where alpha lies in 95 of 100 cases; null if it is not known."},
            high={**_BOUND, "description": "Up to where it lies."},
            tasks={**_COUNT, "description": "Completed tasks with two comparable answers or more."},
            answers={**_COUNT, "description": "Answers to these tasks that could be compared."},
            pending={"type": "boolean", "description": "Whether alpha is still to be computed."},
            failure={
                "anyOf": [_TEXT, {"type": "null"}],
                "description": "Why alpha could not be computed so far; null if it could.",
            },
        )
    ),
    refusals=(AnonymousError, NotFoundError, ForbiddenError),
)


class StatisticsApi:
    """/api/globalstats and /api/project/<id>/agreement."""

    def __init__(
        self, statistics: Statistics, records: Records, projects: Projects, finished_tasks: FinishedTasks
    ) -> None:
        self._statistics, self._records = statistics, records
        self._projects, self._finished_tasks = projects, finished_tasks

    def routes(self) -> Iterator[Route]:
        yield get("/api/globalstats", self.of_site, endpoint="globalstats", operation=_SITE)
        yield get("/api/project/<int:object_id>/agreement", self.agreement, endpoint="agreement", operation=_AGREEMENT)

    async def agreement(self, incoming: Incoming, object_id: int) -> Response:
        project = await self._records.get(PROJECT, incoming.who, checked_id(object_id))
        row = await self._projects.page(project["short_name"], incoming.who)
        rights.require(incoming.who, row["roles"], RESULT.rights.see)
        return tagged(await self._finished_tasks.alpha(row))

    async def of_site(self, incoming: Incoming) -> Response:
        return tagged(await self._statistics.of_site())
