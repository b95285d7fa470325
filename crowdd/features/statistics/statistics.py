"""Figures of projects and of the site, series of two weeks, and the estimate when a project will be complete.

Figures are true at the moment they are asked for. Series have PyBossa's shapes (interface: projectstats-full). The
estimate follows from a project's last days.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, NotRequired, TypedDict

import attrs

from crowdd.core.records.records import Records, Views
from crowdd.database.access import Transactions
from crowdd.features.projects import list_statements as project_list_statements
from crowdd.features.projects.rows import Hour, ProjectFigures, TopVolunteers, TwoWeeks
from crowdd.features.projects.serializers import public_info
from crowdd.features.statistics import statements
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import JsonObject, Values
from crowdd.kinds.project_statistics import PROJECT_STATISTICS
from crowdd.sched import statements as sched_statements

_WIDTH = 1.2816  # standard deviations on both sides of which lie 80 of 100 outcomes
MIN_DAYS = 2
"""With less behind it a pace is chance: an hour's rush makes millions of answers a day."""
_MAX_DAYS = 36_500  # further ahead nothing can be said


@attrs.frozen
class Estimate:
    """``per_day`` is what was done on a day on average. In 4 of 5 cases the end lies between earliest and latest.

    ``latest`` is None when the days differ so much that the work may go on for any time.
    """

    per_day: float
    expected: date
    earliest: date
    latest: date | None


def estimate(remaining: float, days: Sequence[int], now: datetime, began: datetime) -> Estimate | None:
    """When ``remaining`` answers will have come; None where that cannot be said: nothing to do, or too little was seen.

    ``days`` are the answers that counted on each of the last days; the last is today, which is not over. ``began`` is
    when the project opened: it has to be MIN_DAYS ago, and answers have to have come on as many days.
    """
    today = (now.hour * 3600 + now.minute * 60 + now.second) / 86400
    length = min(len(days) - 1 + today, (now - began) / timedelta(days=1))
    done = sum(days)
    if remaining <= 0 or done <= 0 or length < MIN_DAYS or sum(day > 0 for day in days) < MIN_DAYS:
        return None
    mean = done / length
    earliest, latest = _spread(remaining, mean, _variance(days[:-1], mean), length)
    expected = remaining / mean
    if expected > _MAX_DAYS:
        return None
    last = _after(now, latest) if latest <= _MAX_DAYS else None
    return Estimate(mean, _after(now, expected), _after(now, earliest), last)


def _variance(full_days: Sequence[int], mean: float) -> float:
    """How much days differ: as they did, but never less than arrivals by chance would."""
    return max(mean, statistics.variance(full_days)) if len(full_days) > 1 else mean


def _spread(remaining: float, mean: float, variance: float, length: float) -> tuple[float, float]:
    """The days after which the work is done early and late.

    After n days n * mean has come, give or take the chance of these n days and that of the days that the mean is from:
    (n * mean - remaining)² = width² * variance * (n + n² / length), solved for n.
    """
    chance = _WIDTH**2 * variance
    square, line = mean**2 - chance / length, 2 * remaining * mean + chance
    root = math.sqrt(max(0.0, line**2 - 4 * square * remaining**2))
    early = 2 * remaining**2 / (line + root)
    return early, (line + root) / (2 * square) if square > 0 else math.inf


def _after(now: datetime, days: float) -> date:
    return (now + timedelta(days=days)).date()


DAYS = 14
_ALL, _ANONYMOUS, _AUTHENTICATED = "Anon + Auth", "Anonymous", "Authenticated"
Series = dict[str, object]


def days(since: date) -> list[date]:
    """The days of the two weeks that begin with ``since``."""
    return [since + timedelta(days=n) for n in range(DAYS)]


def per_day(hours: Iterable[Hour], since: date, of: Callable[[Hour], int]) -> list[int]:
    """A figure of each day, in order."""
    sums = dict.fromkeys(days(since), 0)
    for hour in hours:
        day = moment(hour["hour"]).date()
        if day in sums:
            sums[day] += of(hour)
    return list(sums.values())


def dates_stats(hours: Sequence[Hour], since: date, n_completed: int) -> list[Series]:
    """Answers of each day: all, anonymous, authenticated; then tasks completed by the end of each day.

    A value is a pair of the day's first millisecond since 1970 in UTC and the figure.
    """
    done = per_day(hours, since, lambda hour: hour["completed"])
    total, sums = n_completed - sum(done), []
    for count in done:
        total += count
        sums.append(total)
    return [
        {"label": _ALL, "values": _dated(since, per_day(hours, since, _runs_of_hour))},
        {"label": _ANONYMOUS, "values": _dated(since, per_day(hours, since, _anonymous))},
        {"label": _AUTHENTICATED, "values": _dated(since, per_day(hours, since, _authenticated))},
        {"label": "Completed Tasks", "disabled": "True", "values": _dated(since, sums)},
    ]


def hours_stats(hours: Sequence[Hour]) -> list[Series]:
    """Answers by hour of the day: all, anonymous, authenticated. A value: hour, figure, and this as 0 to 5."""
    whole = _of_day(_ALL, hours, _runs_of_hour)
    return [
        {**whole, "disabled": "True"},
        _of_day(_ANONYMOUS, hours, _anonymous),
        _of_day(_AUTHENTICATED, hours, _authenticated),
    ]


def users_stats(
    n_anonymous: int, n_authenticated: int, anonymous: list[JsonObject], authenticated: list[JsonObject]
) -> Series:
    """People who answered, and of each sort the five who did most: ``ip`` or ``name`` and ``tasks``."""
    counts = ((_ANONYMOUS, n_anonymous), (_AUTHENTICATED, n_authenticated))
    return {
        "users": {"label": "User Statistics", "values": [{"label": label, "value": [0, n]} for label, n in counts]},
        "anon": {
            "label": "Anonymous Users",
            "values": [{"label": one["volunteer"], "value": [one["tasks"]]} for one in anonymous],
            "top5": anonymous,
            "locs": [],
        },
        "auth": {
            "label": "Authenticated Users",
            "values": [{"label": one["name"], "value": [one["tasks"]]} for one in authenticated],
            "top5": authenticated,
        },
        "n_anon": n_anonymous,
        "n_auth": n_authenticated,
    }


def moment(value: str | datetime) -> datetime:
    """A time of PostgreSQL, as JSON or not, in UTC."""
    return (datetime.fromisoformat(value) if isinstance(value, str) else value).astimezone(UTC)


def _of_day(label: str, hours: Iterable[Hour], of: Callable[[Hour], int]) -> Series:
    counts = [0] * 24
    for hour in hours:
        counts[moment(hour["hour"]).hour] += of(hour)
    maximum = max(counts)
    return {
        "label": label,
        "values": [[hour, count, count * 5 / maximum if maximum else 0] for hour, count in enumerate(counts)],
        "max": maximum,
    }


def _dated(since: date, counts: Sequence[int]) -> list[list[int]]:
    return [
        [int(datetime.combine(day, time(), UTC).timestamp() * 1000), count]
        for day, count in zip(days(since), counts, strict=True)
    ]


def _runs_of_hour(hour: Hour) -> int:
    return _anonymous(hour) + _authenticated(hour)


def _anonymous(hour: Hour) -> int:
    return int(hour["runs_anonymous"])


def _authenticated(hour: Hour) -> int:
    return int(hour["runs_authenticated"])


_BUSIEST = 5
_FEED = 100
_HOURS = 72  # shown on the home page, one bar per hour


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
        return await sched_statements.fold_counters(self._db)

    async def fill(self, views: Views) -> None:
        """Puts the figures of two weeks into the ``info`` of statistics records."""
        rows = {row["id"]: row for row in await statements.read_two_weeks(self._db, [view["id"] for view in views])}
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
        figures = await statements.read_project_figures(self._db, project_id)
        runs = figures["runs_anonymous"] + figures["runs_authenticated"]
        if not figures["n_tasks"] or not runs:
            return {"estimate": None}
        (recent,) = await statements.read_two_weeks(self._db, [project_id])
        best = await statements.list_top_volunteers(self._db, project_id)
        info = _info(recent, figures["n_completed_tasks"])
        return {
            "avg_contrib_time": figures["seconds"] / runs,
            "projectStats": {**_sides(figures, best), **_charts(info)},
            "userStats": _sides(_runs(recent), recent),
            "estimate": _outward(_estimate(figures, recent)),
        }

    async def of_site(self) -> Values:
        """``/api/globalstats`` (interface: globalstats): tasks are counted as the answers that they want."""
        site = await statements.read_site_figures(self._db)
        return {
            "n_projects": site["n_published"],
            "n_users": site["n_accounts"] + site["n_anonymous"],
            "n_tasks": site["n_wanted"],
            "n_task_runs": site["n_task_runs"],
            "n_pending_tasks": site["n_wanted"] - site["n_counted"],
            "n_results": site["n_results"],
            "categories": [
                {row["short_name"]: row["n"]} for row in await statements.count_projects_by_category(self._db)
            ],
        }

    async def for_everybody(self) -> StatisticsOfSite:
        """What the page of the site's statistics shows: ``stats``, and the projects with most answers of a day.

        Tasks, answers and people are those of projects that were published: what a draft has are trials.
        """
        site = await statements.read_site_figures(self._db, drafts=False)
        busiest = await statements.list_busiest_projects(self._db, _BUSIEST)
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
        return {
            **await statements.read_home_figures(self._db),
            "hours": await statements.count_last_hours(self._db, _HOURS),
        }

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
            for row in await project_list_statements.list_latest_acts(self._db, _FEED)
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
