"""Figures of projects and of the site, true at the moment they are asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict

from crowdd.domain.core.records import Records, Views
from crowdd.domain.projects.completion_estimate import Estimate, estimate
from crowdd.domain.projects.pybossa_series import dates_stats, hours_stats, moment, per_day, users_stats
from crowdd.domain.projects.serializers import public_info
from crowdd.kinds.project_statistics import PROJECT_STATISTICS
from crowdd.requester import Requester
from crowdd.storage.database import Transactions
from crowdd.storage.projects import feed, statistics
from crowdd.storage.projects.figure_rows import ProjectFigures, TopVolunteers, TwoWeeks
from crowdd.values import Values

_BUSIEST = 5
_FEED = 100
_HOURS = 72  # drawn on the home page, a stroke each


class StatisticsOfSite(TypedDict):
    """The figures of the site, and the projects with most answers of a day."""

    stats: dict[str, int]
    top5_projects_24_hours: list[Values]


class StatisticsOfProject(TypedDict):
    """The figures of a project. Only ``estimate`` is there while there is no task or no answer, and is None then."""

    estimate: Values | None
    avg_contrib_time: NotRequired[float]
    projectStats: NotRequired[Values]
    userStats: NotRequired[Values]


class Statistics:
    """What pages and API tell of projects and of the site."""

    def __init__(self, db: Transactions, records: Records) -> None:
        self._db, self._records = db, records

    async def fold(self) -> int:
        """Folds what has been appended, and lets days go that are over; returns how many rows were folded."""
        return await statistics.fold(self._db)

    async def fill(self, views: Views) -> None:
        """Puts the figures of two weeks into the ``info`` of statistics records."""
        rows = {row["id"]: row for row in await statistics.two_weeks(self._db, [view["id"] for view in views])}
        for view in views:
            view["info"] = _info(rows[view["id"]], view["n_completed_tasks"])

    async def bring_along(self, who: Requester, views: Views) -> None:
        """Gives each of some projects its statistics record as ``stats``, in full."""
        stats_by_project = await self._records.of_ids(PROJECT_STATISTICS, who, [view["id"] for view in views])
        await self.fill(list(stats_by_project.values()))
        for view in views:
            view["stats"] = stats_by_project.get(view["id"], {})

    async def of_project(self, project_id: int) -> StatisticsOfProject:
        """What the page of a project's statistics shows (interface: page-stats).

        Empty while there is no task or no answer, but for ``estimate``, which is None then.
        """
        figures = await statistics.figures(self._db, project_id)
        runs = figures["runs_anonymous"] + figures["runs_authenticated"]
        if not figures["n_tasks"] or not runs:
            return {"estimate": None}
        (recent,) = await statistics.two_weeks(self._db, [project_id])
        best = await statistics.top_of_all_time(self._db, project_id)
        info = _info(recent, figures["n_completed_tasks"])
        return {
            "avg_contrib_time": figures["seconds"] / runs,
            "projectStats": {**_sides(figures, best), **_charts(info)},
            "userStats": _sides(_runs(recent), recent),
            "estimate": _outward(_estimate(figures, recent)),
        }

    async def of_site(self) -> Values:
        """``/api/globalstats`` (interface: globalstats): tasks are counted as the answers that they want."""
        site = await statistics.of_site(self._db)
        return {
            "n_projects": site["n_published"],
            "n_users": site["n_accounts"] + site["n_anonymous"],
            "n_tasks": site["n_wanted"],
            "n_task_runs": site["n_task_runs"],
            "n_pending_tasks": site["n_wanted"] - site["n_counted"],
            "n_results": site["n_results"],
            "categories": [{row["short_name"]: row["n"]} for row in await statistics.projects_by_category(self._db)],
        }

    async def for_everybody(self) -> StatisticsOfSite:
        """What the page of the site's statistics shows: ``stats``, and the projects with most answers of a day.

        Tasks, answers and people are those of projects that were published: what a draft has are trials.
        """
        site = await statistics.of_site(self._db, drafts=False)
        busiest = await statistics.busiest_projects(self._db, _BUSIEST)
        return {
            "stats": {
                "n_auth": site["n_accounts"],
                "n_anon": site["n_anonymous"],
                "n_total_users": site["n_accounts"] + site["n_anonymous"],
                "n_published_projects": site["n_published"],
                "n_draft_projects": site["n_draft"],
                "n_total_projects": site["n_published"] + site["n_draft"],
                "n_tasks": site["n_tasks"],
                "n_task_runs": site["n_task_runs"],
                "n_results": site["n_results"],
            },
            "top5_projects_24_hours": [{**row, "info": public_info(row["info"])} for row in busiest],
        }

    async def for_home(self) -> Values:
        """``n_answers``, ``n_people`` who gave them; projects ``n_open``, ``of_category``; answers of ``hours``."""
        return {**await statistics.of_home(self._db), "hours": await statistics.last_hours(self._db, _HOURS)}

    async def update_feed(self) -> list[Values]:
        """What happened lately, the last first; ``updated`` is in seconds since 1970."""
        return [
            {
                "action_updated": row["action"],
                "updated": row["at"].timestamp(),
                "u_name": row["person"],
                "p_name": row["name"],
                "p_short_name": row["short_name"],
                "category_id": row["category_id"],
            }
            for row in await feed.latest(self._db, _FEED)
        ]


def _info(row: TwoWeeks, n_completed: int) -> Values:
    since = row["since"]
    return {
        "hours_stats": hours_stats(row["hours"]),
        "dates_stats": dates_stats(row["hours"], since, n_completed),
        "users_stats": users_stats(
            row["people_anonymous"], row["people_authenticated"], row["anonymous"], row["authenticated"]
        ),
    }


def _sides(figures: Mapping[str, Any], best: TopVolunteers) -> Values:
    """Answers and people with an account and without; the shares are whole per cent that make 100."""
    anonymous, authenticated = figures["runs_anonymous"], figures["runs_authenticated"]
    share = anonymous * 100 // (anonymous + authenticated) if anonymous + authenticated else 0
    shares = {"anonymous": share, "authenticated": 100 - share if anonymous + authenticated else 0}
    top: Mapping[str, object] = best
    sides = {
        side: {
            "taskruns": figures[f"runs_{side}"],
            "users": figures[f"people_{side}"],
            "pct_taskruns": shares[side],
            "top5": top[side],
        }
        for side in shares
    }
    return {**sides, "geo": False}


def _runs(recent: TwoWeeks) -> dict[str, int]:
    """Answers and people of two weeks."""
    return {
        "runs_anonymous": sum(hour["runs_anonymous"] for hour in recent["hours"]),
        "runs_authenticated": sum(hour["runs_authenticated"] for hour in recent["hours"]),
        "people_anonymous": recent["people_anonymous"],
        "people_authenticated": recent["people_authenticated"],
    }


def _charts(info: Values) -> Values:
    """The series under the names that PyBossa's page has for them."""
    users = info["users_stats"]
    return {
        "userStats": users["users"],
        "userAnonStats": users["anon"],
        "userAuthStats": users["auth"],
        "dayStats": info["dates_stats"],
        "hourStats": info["hours_stats"],
    }


def _estimate(figures: ProjectFigures, recent: TwoWeeks) -> Estimate | None:
    if not figures["published"] or figures["first_published"] is None:
        return None  # a draft has trials, and a pause has no pace
    since, now, began = recent["since"], moment(recent["now"]), moment(figures["first_published"])
    counts = per_day(recent["hours"], since, lambda hour: max(0, int(hour["counted"])))
    idle = max(0, min((began.date() - since).days, len(counts) - 1))
    return estimate(figures["n_wanted"] - figures["n_counted"], counts[idle:], now, began)


def _outward(completion: Estimate | None) -> Values | None:
    if completion is None:
        return None
    latest = completion.latest.isoformat() if completion.latest else None
    return {
        "per_day": completion.per_day,
        "expected": completion.expected.isoformat(),
        "earliest": completion.earliest.isoformat(),
        "latest": latest,
    }
