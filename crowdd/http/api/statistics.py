"""/api/globalstats: statistics of the site. Those of projects are a kind (``PROJECT_STATISTICS``)."""

from __future__ import annotations

from collections.abc import Iterator

from crowdd.domain.projects.statistics import Statistics
from crowdd.http.api.objects import tagged
from crowdd.http.operation import Operation, array_of, closed_object
from crowdd.http.request import Incoming
from crowdd.http.responses import Response
from crowdd.http.routing import Route, get
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


class StatisticsApi:
    """/api/globalstats."""

    def __init__(self, statistics: Statistics) -> None:
        self._statistics = statistics

    def routes(self) -> Iterator[Route]:
        yield get("/api/globalstats", self.of_site, endpoint="globalstats", operation=_SITE)

    async def of_site(self, incoming: Incoming) -> Response:
        return tagged(await self._statistics.of_site())
