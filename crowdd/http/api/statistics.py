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
    summary="Figures of the whole site",
    about="n_tasks is how many answers all tasks want together, n_pending_tasks how many of them are still to come."
    " categories has published projects by category, featured ones and drafts, each as an object of one key.",
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
